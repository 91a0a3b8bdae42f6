#include "demos/shell/machine_page.h"

#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"

namespace lockstep::demos {

namespace {

constexpr const char* cardFile = "lockstep-card"; // .png and .json, in the current folder
constexpr double scriptSeconds = 3;

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
                        [&](const std::string& what, double done) {
                            worker.with([&](News& news) { news.doing = what, news.done = done; });
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
    worker_->with([&](News& news) { news.request = request, news.doing.clear(), news.done = 0; });
}

bool MachinePage::draw(Ui& ui, const std::string& device) {
    if (worker_) {
        if (ui.scripted) worker_->wait();
        worker_->with([this](News& news) {
            if (news.card) card_ = std::exchange(news.card, std::nullopt), picture_.reset();
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
            "train, and from which size the card wins. Save it, and compare it with other machines: "
            "lockstep card --compare A.json B.json");
    if (!failure_.empty()) ui.paragraph(failure_, ui.theme.bad);
    const bool started = ui.primaryButton(card_ ? "Measure again##machine" : "Measure##machine");
    if (started) start(ui, device);
    if (!card_) {
        ImGui::SameLine();
        ui.muted("takes about two minutes; training pauses");
        return started;
    }
    ImGui::SameLine();
    if (ui.button("Save card##machine")) save(ui);
    drawCard(ui);
    return started;
}

void MachinePage::drawProgress(Ui& ui) {
    const auto [doing, done] =
        worker_->read([](const News& news) { return std::pair(news.doing, news.done); });
    ui.heading("Measuring");
    ui.paragraph(doing.empty() ? "getting ready" : doing);
    ImGui::ProgressBar(static_cast<float>(done), {-1, ui.px(10)}, "");
    if (ui.button("Stop##machine", !stop_)) stop_ = true;
    ImGui::SameLine();
    ui.muted(stop_ ? "stops after this line" : "leave the machine alone until it is done");
}

void MachinePage::drawCard(Ui& ui) {
    if (!picture_) {
        const Pixels pixels = cardPicture(*card_);
        std::vector<std::uint32_t> words(pixels.rgba.size() / 4);
        std::memcpy(words.data(), pixels.rgba.data(), pixels.rgba.size());
        picture_ = std::make_unique<Picture>(ui.graphics, pixels.width, pixels.height, true);
        picture_->upload(words);
    }
    if (ui.masked) return; // nothing but measured numbers
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::Image(picture_->id(), {width, width * static_cast<float>(picture_->height()) /
                                             static_cast<float>(picture_->width())});
}

void MachinePage::save(Ui& ui) const {
    const std::string name = cardFile;
    writePng(name + ".png", cardPicture(*card_));
    writeFileAtomically(name + ".json", std::string_view(cardJson(*card_).dump(1) + "\n"));
    ui.say(Severity::info, fmt::format("Saved {0}.png and {0}.json in the current folder.", name));
}

void MachinePage::releaseDevice() {
    stop_ = true;
    worker_.reset();
    picture_.reset();
}

} // namespace lockstep::demos
