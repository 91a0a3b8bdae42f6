// Exhibit: what this machine can do, on one card.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "demos/card/card_rows.h"
#include "demos/draw/png.h"
#include "demos/exhibits/machine/card_tiles.h"
#include "demos/exhibits/machine/machine_facts.h"
#include "demos/exhibits/machine/machine_model.h"
#include "demos/kit/exhibit.h"
#include "demos/words/text.h"
#include "engine/cpu/cpu_info.h"
#include "engine/files/atomic_file.h"

namespace lockstep::demos {

namespace {

constexpr const char* cardFile = "lockstep-card.png"; // the numbers beside it, as .json
constexpr double scriptSeconds = 3;
constexpr float columnUnits = 400; // of the card, at least
constexpr std::size_t mostColumns = 3;
constexpr const char* measureWords =
    "Measures both machines in turn, in about two and a half minutes. Nothing else runs meanwhile.";

/// Where a part of the card stands on the screen.
struct Column {
    float left;
    float right;
    float y; ///< of what comes next
};

/// A bar for each machine, one below the other, in the middle of a line from `low`, over `width` pixels.
void drawBars(const Ui& ui, const CardRow& row, const Decades& decades, ImVec2 low, float width) {
    const float height = std::round(0.38f * ImGui::GetTextLineHeight());
    float top = low.y + (ImGui::GetTextLineHeight() - 2 * height) / 2;
    for (const auto& [value, colour] : {std::pair{row.cpu, ui.theme.cpu}, std::pair{row.gpu, ui.theme.gpu}}) {
        const float length = value > 0 ? static_cast<float>(decades.share(value)) * width : 0;
        if (value > 0)
            ImGui::GetWindowDrawList()->AddRectFilled(
                {low.x, top}, {low.x + std::max(length, ui.px(2)), top + height}, colour);
        top += height;
    }
}

/// Rows without any number, in a line: those that say why are told with their reason (cardNotes).
std::string leftOut(const CardPart& part) {
    std::string names;
    for (const CardRow& row : part.rows)
        if (!(row.cpu > 0 || row.gpu > 0) && row.note.empty())
            names.append(names.empty() ? "" : ", ").append(translated(row.name));
    return names.empty() ? names : translatedFormat("Not measured: {}.", names);
}

/// A line per row with a number: name, bars, both numbers; below them, what could not be measured.
void drawPart(Ui& ui, const CardPart& part, Column& at) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight();
    const float step = line + ui.px(5);
    const float number = textWidth("88.8k*") + ui.px(10);
    const float numbers = at.right - 2 * number;
    const ImU32 cpu = legible(ui.theme, ui.theme.cpu);
    const ImU32 gpu = legible(ui.theme, ui.theme.gpu);
    const auto put = [&](float right, const std::string& text, ImU32 colour) {
        draw.AddText({right - lettersWidth(text), at.y}, colour, text.c_str());
    };
    const std::string title = fittedText(part.title, numbers - at.left);
    draw.AddText({at.left, at.y}, ui.theme.text, title.c_str());
    std::size_t numbersShown = 0; // a bar alone has nothing to be compared with
    for (const CardRow& row : part.rows) numbersShown += (row.cpu > 0 ? 1 : 0) + (row.gpu > 0 ? 1 : 0);
    if (numbersShown > 0) {
        put(at.right - number, "CPU", cpu);
        put(at.right, "GPU", gpu);
    }
    // Behind the title, or below it.
    const std::string scale = numbersShown > 1 ? translatedFormat("{}, log scale", part.unit) : part.unit;
    float unit = at.left + lettersWidth(title) + ui.px(8);
    if (unit + textWidth(scale) > numbers) {
        unit = at.left;
        at.y += step;
    }
    drawText(draw, {unit, at.y}, ui.theme.muted, scale);
    at.y += step;
    draw.AddLine({at.left, at.y}, {at.right, at.y}, ui.theme.border, ui.line());
    at.y += ui.px(3);
    const auto tell = [&](std::string_view words, ImU32 colour) {
        ImGui::SetCursorScreenPos({at.left, at.y});
        ui.paragraph(words, colour, at.right - at.left);
        at.y = ImGui::GetItemRectMax().y + ui.px(2);
    };
    // A name that would leave its bars too little stands on a line of its own.
    const float most = 0.6f * (numbers - at.left);
    float names = ui.px(12);
    for (const CardRow& row : part.rows)
        if (const float name = textWidth(row.name) + ui.px(12); name <= most) names = std::max(names, name);
    const Decades decades(part);
    const auto shown = [](const CardRow& row) { return row.cpu > 0 || row.gpu > 0; };
    const float top = at.y;
    float bottom = top;
    for (const CardRow& row : part.rows) {
        if (!shown(row)) continue;
        bottom += textWidth(row.name) + ui.px(12) > most ? 2 * step : step;
    }
    if (numbersShown > 1)
        for (const double share : decades.lines()) {
            const float x =
                std::round(at.left + names + static_cast<float>(share) * (numbers - at.left - names));
            draw.AddLine({x, top}, {x, bottom - ui.px(3)}, ui.theme.grid, ui.line());
        }
    for (const CardRow& row : part.rows) {
        if (!shown(row)) continue;
        drawText(draw, {at.left, at.y}, ui.theme.muted, fittedText(row.name, at.right - at.left));
        if (textWidth(row.name) + ui.px(12) > most) at.y += step;
        if (numbersShown > 1)
            drawBars(ui, row, decades, {at.left + names, at.y}, numbers - at.left - names - ui.px(6));
        put(at.right - number, cardCell(row, row.cpu), row.cpu > 0 ? cpu : ui.theme.muted);
        put(at.right, cardCell(row, row.gpu), row.gpu > 0 ? gpu : ui.theme.muted);
        at.y += step;
    }
    const SmallLetters small(ui);
    if (const std::string rows = leftOut(part); !rows.empty()) tell(rows, ui.theme.muted);
    for (const std::string& note : cardNotes(part)) tell(note, ui.theme.muted);
    if (!part.remark.empty()) tell(part.remark, ui.theme.muted);
    at.y += ui.px(10);
}

/// Lines that a part takes, for columns of about the same height.
std::size_t linesOf(const CardPart& part) {
    return part.rows.size() + cardNotes(part).size() + (part.remark.empty() ? 2 : 4);
}

/// The column of every part. Of three, the first has the roofs and the last the ladder, as in the picture
/// that is saved; of fewer, each gets about as many lines.
std::vector<std::size_t> columnsOf(const Card& card, std::size_t columns) {
    std::size_t all = 0;
    for (const CardPart& part : card.parts) all += linesOf(part);
    std::vector<std::size_t> places;
    std::size_t before = 0;
    for (const CardPart& part : card.parts) {
        if (columns == mostColumns) {
            const bool first = part.id == "roofs" || part.id == "copies";
            places.push_back(first ? 0 : part.id == "ladder" ? 2 : 1);
            continue;
        }
        const std::size_t middle = before + linesOf(part) / 2;
        places.push_back(std::min(columns - 1, middle * columns / std::max<std::size_t>(all, 1)));
        before += linesOf(part);
    }
    return places;
}

class MachineExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "machine"; }
    const char* title() const override { return "My machine"; }
    const char* blurb() const override { return "What this machine can do, on one card"; }
    const char* words() const override {
        return "Measures the processor and the graphics card, and puts the results on one page.";
    }

    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // A chip with its pins.
        const float r = size * 0.3f;
        const float pin = size * 0.17f;
        draw.AddRect({centre.x - r, centre.y - r}, {centre.x + r, centre.y + r}, colour, size / 12, 0,
                     size / 12);
        for (const float at : {-0.5f, 0.0f, 0.5f})
            for (const float side : {-1.0f, 1.0f}) {
                draw.AddLine({centre.x + side * r, centre.y + at * r},
                             {centre.x + side * (r + pin), centre.y + at * r}, colour, size / 14);
                draw.AddLine({centre.x + at * r, centre.y + side * r},
                             {centre.x + at * r, centre.y + side * (r + pin)}, colour, size / 14);
            }
    }

    void update(Ui& ui) override { model_.update(ui.scripted); }

    void draw(Ui& ui) override {
        const std::optional<Card>& card = model_.card();
        const bool answered = card && !model_.measuring() && !ui.masked; // with nothing but measured numbers
        const std::string answer = answered ? cardHeadline(*card) : std::string();
        ui.headline(answer.empty() ? "What can this machine do?" : answer);
        if (model_.measuring()) return drawProgress(ui);
        if (!card)
            ui.paragraph(
                "What the processor and the graphics device do best, measured here, on a card to share.");
        if (!model_.failure().empty()) ui.paragraph(translatedParts(model_.failure()), ui.theme.bad);
        if (card ? ui.button("Measure again##machine", measureWords)
                 : ui.primaryButton("Measure##machine", measureWords))
            run(ui);
        ImGui::SameLine();
        if (!card) {
            ui.muted("takes about two and a half minutes");
            if (model_.previewed() && !ui.masked)
                ui.muted(
                    "Preview: the processor's arithmetic and copies, measured in a second. Measure fills the "
                    "rest.");
            drawBlank(ui);
            return;
        }
        if (ui.button("Save card##machine",
                      "Saves the card as a picture to post, and its numbers beside it as JSON."))
            save(ui);
        if (answered) drawCard(ui, *card);
    }

    void drawDetails(Ui& ui) override {
        ui.paragraph(blurb());
        ui.paragraph("To compare machines, save the card on each of them, then run in a terminal: lockstep "
                     "card --compare "
                     "A.json B.json",
                     ui.theme.muted);
    }

    void preview(Ui& ui) override {
        if (!ui.scripted) model_.preview();
    }
    bool trains() const override { return false; }
    bool running() const override { return model_.measuring(); }
    bool timesProcessor() const override { return model_.measuring(); }
    bool moving() const override { return model_.busy(); }
    void run(Ui& ui) override {
        CardRequest request;
        request.device = ui.machines.device();
        if (ui.scripted) request.quick = true, request.seconds = scriptSeconds;
        model_.start(request);
    }
    void pause() override { model_.stop(); }
    void reset(Ui&) override {
        model_.stop();
        model_.setCard({});
    }
    EditHistory& edits() override { return edits_; }

    nlohmann::ordered_json state() const override { return nlohmann::ordered_json::object(); }
    nlohmann::ordered_json lastState() const override {
        nlohmann::ordered_json json = state();
        if (model_.card()) json["card"] = cardJson(*model_.card());
        return json;
    }
    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        if (!state.is_object()) throw std::invalid_argument("the state of 'machine' must be an object");
        const auto found = state.find("card");
        if (found == state.end()) return [] {}; // nothing that a person has set
        try {
            return [this, card = cardFromJson(*found, "machine.card")] { model_.setCard(card); };
        } catch (const std::runtime_error& error) {
            throw std::invalid_argument(error.what());
        }
    }
    /// What measures has a device of its own.
    std::string releaseDevice() override { return {}; }

  private:
    /// What is measured, and below it what will be answered.
    void drawProgress(Ui& ui) {
        const CardProgress progress = model_.progress();
        ui.heading("Measuring");
        ui.paragraph(progress.part.empty() ? "Starting" : translatedParts(progress.text()));
        ImGui::ProgressBar(static_cast<float>(progress.done), {-1, ui.px(10)}, "");
        const bool stopping = model_.stopping();
        if (ui.button("Stop##machine",
                      "Stops after the current line. Anything missing shows as not measured.", !stopping))
            model_.stop();
        ImGui::SameLine();
        ui.muted(stopping ? std::string(translated("stops after the current line"))
                          : translatedFormat("at most {} left; don't use the machine until this finishes",
                                             ui.timing(clockTime(progress.secondsLeft))));
        drawBlank(ui, progress.parts);
    }

    /// The card before it is measured: whose it will be, what is known of it, and what will stand on it.
    /// parts   measured so far; none: the preview's numbers stand for them
    void drawBlank(Ui& ui, const std::vector<CardPart>& parts = {}) {
        const gpu::DeviceReport& device = ui.graphics.device().report();
        const bool software = device.type == gpu::DeviceType::software;
        if (!blank_) blank_ = blankCard(device.name);
        blank_->gpu.gpu = true;
        blank_->gpu.software = software;
        Card card = *blank_;
        drawMachines(ui, card.gpuName(), graphicsFacts(device), cpuName(), processorFacts());
        for (CardPart& part : card.parts)
            if (const auto soFar = std::ranges::find(parts, part.id, &CardPart::id); soFar != parts.end())
                part.rows = soFar->rows;
        if (const std::optional<Roof>& preview = model_.previewed(); preview && parts.empty())
            for (CardPart& part : card.parts)
                for (CardRow& row : part.rows) {
                    if (part.id == "roofs" && row.name == cardRoofRow) row.cpu = preview->gflops;
                    if (part.id == "copies" && row.name == cardCopyRow)
                        row.cpu = preview->gigabytesPerSecond / 2;
                }
        if (ui.masked) card = *blank_;
        drawTiles(ui, card, parts.empty() ? 0 : parts.size() - 1);
    }

    static void drawMachines(Ui& ui, const std::string& gpu, const MachineFacts& ofGpu,
                             const std::string& cpu, const MachineFacts& ofCpu) {
        const auto known = [&](const std::string& name, const MachineFacts& facts, ImU32 colour) {
            return KnownMachine{ui.timing(name), ui.masked ? MachineFacts() : facts, colour};
        };
        const KnownMachine machines[] = {known(gpu, ofGpu, ui.theme.gpu), known(cpu, ofCpu, ui.theme.cpu)};
        drawKnownMachines(ui, machines);
    }

    /// A finding for every part; every number, and why some are missing, under More.
    void drawCard(Ui& ui, const Card& card) {
        MachineFacts gpu = shownFacts(card.facts); // kept in English
        for (auto& fact : gpu) fact.second = translatedParts(fact.second);
        if (!card.gpu.driver.empty()) gpu.emplace_back("driver", card.gpu.driver);
        // A card of another processor tells no more than its name.
        drawMachines(ui, card.gpuName(), gpu, card.cpuName(),
                     card.cpu.device == cpuName() ? processorFacts() : MachineFacts());
        drawTiles(ui, card, card.parts.size());
        {
            const SmallLetters small(ui);
            ui.paragraph(cardOrigin(card), ui.theme.muted);
        }
        if (!ui.more("more##machine")) return;
        ImGui::Dummy({0, ui.px(4)});
        drawParts(ui, translatedCard(card));
        const SmallLetters small(ui);
        ui.paragraph(std::string(translated("On a log scale, equal distances are equal factors. "))
                         .append(cardSigns({&card, 1})),
                     ui.theme.muted);
    }

    // Side by side as far as the width allows.
    static void drawParts(Ui& ui, const Card& card) {
        const ImVec2 start = ImGui::GetCursorScreenPos();
        const float room = ImGui::GetContentRegionAvail().x;
        const auto columns =
            std::clamp<std::size_t>(static_cast<std::size_t>(room / ui.px(columnUnits)), 1, mostColumns);
        const std::vector<std::size_t> places = columnsOf(card, columns);
        const float gap = ui.px(28);
        const float width = (room - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
        float bottom = start.y;
        for (std::size_t column = 0; column < columns; ++column) {
            const float left = start.x + static_cast<float>(column) * (width + gap);
            Column at{left, left + width, start.y};
            for (std::size_t i = 0; i < card.parts.size(); ++i)
                if (places[i] == column) drawPart(ui, card.parts[i], at);
            bottom = std::max(bottom, at.y);
        }
        ImGui::SetCursorScreenPos(start);
        ImGui::Dummy({room, bottom - start.y});
    }

    void save(Ui& ui) const {
        const Card card = *model_.card();
        ui.saveWish =
            SaveWish{cardFile, [&ui, card](const std::filesystem::path& picture) {
                         std::filesystem::path numbers = picture;
                         numbers.replace_extension(".json");
                         writePng(picture, cardPicture(card));
                         writeFileAtomically(numbers, std::string_view(cardJson(card).dump(1) + "\n"));
                         ui.say(Severity::info, translatedFormat("Card saved to {}, its numbers to {}",
                                                                 std::filesystem::absolute(picture).string(),
                                                                 numbers.filename().string()));
                     }};
    }

    MachineModel model_;
    std::optional<Card> blank_; // its lines, without numbers
    ValueHistory<int> edits_{[] { return 0; }, [](const int&, const int&) {}};
};

} // namespace

std::unique_ptr<Exhibit> makeMachine() { return std::make_unique<MachineExhibit>(); }

} // namespace lockstep::demos
