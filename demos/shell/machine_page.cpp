#include "demos/shell/machine_page.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/card/card_rows.h"
#include "demos/draw/png.h"
#include "engine/files/atomic_file.h"

namespace lockstep::demos {

namespace {

constexpr const char* cardFile = "lockstep-card"; // .png and .json, in the current folder
constexpr double scriptSeconds = 3;

/// A bar for each machine, one below the other, over `width` pixels from `left`.
void drawBars(const Ui& ui, const CardRow& row, const Decades& decades, float left, float width) {
    const ImVec2 min = ImGui::GetItemRectMin();
    const float height = (ImGui::GetItemRectMax().y - min.y) / 3;
    float top = min.y + height / 2;
    for (const auto& [value, colour] : {std::pair{row.cpu, ui.theme.cpu}, std::pair{row.gpu, ui.theme.gpu}}) {
        const float length = value > 0 ? static_cast<float>(decades.share(value)) * width : 0;
        if (value > 0)
            ImGui::GetWindowDrawList()->AddRectFilled(
                {left, top}, {left + std::max(length, ui.px(2)), top + height}, colour);
        top += height;
    }
}

/// A line per row: name, bars, both numbers; below them, what could not be measured.
void drawPart(Ui& ui, const CardPart& part) {
    const float right = ImGui::GetWindowContentRegionMax().x;
    const float numbers = ui.px(80);
    const auto put = [&](float edge, const std::string& text, ImU32 colour) {
        ImGui::SameLine(edge - textWidth(text));
        ui.text(text, colour);
    };
    const ImU32 cpu = legible(ui.theme, ui.theme.cpu);
    const ImU32 gpu = legible(ui.theme, ui.theme.gpu);
    const ImVec2 origin = ImGui::GetWindowPos();
    float names = 0;
    for (const CardRow& row : part.rows) names = std::max(names, textWidth(row.name));
    names += ui.px(16);
    ImGui::Dummy({0, ui.px(8)});
    ui.heading(part.title);
    ImGui::SameLine();
    ui.muted(part.unit);
    put(right - numbers, "CPU", cpu);
    put(right, "GPU", gpu);
    const Decades decades(part);
    for (const CardRow& row : part.rows) {
        ui.text(row.name);
        drawBars(ui, row, decades, origin.x + names, right - 2 * numbers - names);
        put(right - numbers, cardCell(row, row.cpu), row.cpu > 0 ? cpu : ui.theme.muted);
        put(right, cardCell(row, row.gpu), row.gpu > 0 ? gpu : ui.theme.muted);
    }
    for (const std::string& note : cardNotes(part)) ui.paragraph(note, ui.theme.muted);
    if (!part.remark.empty()) ui.paragraph(part.remark, ui.theme.muted);
}

} // namespace

void MachinePage::start(const Ui& ui, const std::string& device) {
    if (!worker_)
        worker_ = std::make_unique<Worker<News>>([this](Worker<News>& worker) {
            while (const auto request =
                       worker.next([](News& news) { return std::exchange(news.request, std::nullopt); })) {
                std::optional<Card> card;
                std::string failure;
                try {
                    card = measureCard(
                        *request,
                        [&](const CardProgress& progress) {
                            worker.with([&](News& news) { news.progress = progress; });
                        },
                        stop_);
                } catch (const std::exception& error) {
                    failure = error.what();
                }
                worker.with([&](News& news) {
                    news.card = std::move(card);
                    news.failure = failure;
                });
            }
        });
    stop_ = false;
    failure_.clear();
    CardRequest request;
    request.device = device;
    if (ui.scripted) request.quick = true, request.seconds = scriptSeconds;
    worker_->with([&](News& news) { news.request = request, news.progress = {}; });
}

bool MachinePage::draw(Ui& ui, const std::string& device) {
    if (worker_) {
        if (ui.scripted) worker_->wait();
        worker_->takeNews([this](News& news) {
            if (news.card) card_ = std::exchange(news.card, std::nullopt);
            if (!news.failure.empty()) failure_ = std::exchange(news.failure, {});
        });
    }
    if (measuring()) {
        drawProgress(ui);
        return false;
    }
    if (!card_)
        ui.paragraph(
            "One page about this machine: how fast its processor and its graphics card compute, copy and "
            "train, and the width and batch size at which the GPU overtakes the CPU. Save it, and compare it "
            "with other machines: lockstep card --compare A.json B.json");
    if (!failure_.empty()) ui.paragraph(failure_, ui.theme.bad);
    const bool started = ui.primaryButton(
        card_ ? "Measure again##machine" : "Measure##machine",
        card_ ? "Measures both machines once more."
              : "Measures both machines in turn, in about two and a half minutes. Running exhibits pause.");
    if (started) start(ui, device);
    if (!card_) {
        ImGui::SameLine();
        ui.muted("takes about two and a half minutes; training pauses");
        return started;
    }
    ImGui::SameLine();
    if (ui.button("Save card##machine",
                  "Saves the page as lockstep-card.png and lockstep-card.json in the current folder."))
        save(ui);
    drawCard(ui);
    return started;
}

void MachinePage::drawProgress(Ui& ui) {
    const auto progress = worker_->read([](const News& news) { return news.progress; });
    ui.heading("Measuring");
    ui.paragraph(progress.part.empty() ? "Starting" : progress.text());
    ImGui::ProgressBar(static_cast<float>(progress.done), {-1, ui.px(10)}, "");
    if (ui.button("Stop##machine", "Stops after the current line. Anything missing shows as not measured.",
                  !stop_))
        stop_ = true;
    ImGui::SameLine();
    ui.muted(stop_ ? "stops after the current line" : "don't use the machine until this finishes");
}

void MachinePage::drawCard(Ui& ui) const {
    if (ui.masked) return; // nothing but measured numbers
    ui.text("GPU  " + card_->gpuName(), legible(ui.theme, ui.theme.gpu));
    ui.text("CPU  " + card_->cpuName(), legible(ui.theme, ui.theme.cpu));
    if (!card_->facts.empty()) ui.paragraph(factsLine(*card_), ui.theme.muted);
    for (const CardPart& part : card_->parts) drawPart(ui, part);
    ImGui::Dummy({0, ui.px(4)});
    ui.paragraph(cardOrigin(*card_) + " Bars are logarithmic. " + cardSigns({&*card_, 1}), ui.theme.muted);
}

void MachinePage::save(Ui& ui) const {
    const std::string name = cardFile;
    writePng(name + ".png", cardPicture(*card_));
    writeFileAtomically(name + ".json", std::string_view(cardJson(*card_).dump(1) + "\n"));
    ui.say(Severity::info, fmt::format("Saved {0}.png and {0}.json in the current folder.", name));
}

} // namespace lockstep::demos
