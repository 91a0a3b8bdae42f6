// The ladder: the same training step on every rung, from one invocation at a time to the fastest kernels.
#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/ladder/access_view.h"
#include "demos/exhibits/ladder/crossover.h"
#include "demos/exhibits/ladder/ladder_model.h"
#include "demos/exhibits/ladder/loss_chart.h"
#include "demos/exhibits/ladder/rung_charts.h"
#include "demos/exhibits/ladder/rung_question.h"
#include "demos/exhibits/ladder/rung_words.h"
#include "demos/exhibits/ladder/source_diff.h"
#include "demos/kit/exhibit.h"
#include "demos/kit/run_form.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

constexpr std::string_view tabWords[] = {"rungs", "memory", "source", "roofline", "crossover", "training"};
constexpr std::string_view productWords[] = {"forward", "inputs", "weights"};

/// "measuring gpu:tiled, 3 of 12, about 0:40 left", or less where that is too wide: "3 of 12".
std::string shortened(std::string doing, float width) {
    const auto comma = [&] { return doing.find(", "); };
    if (textWidth(doing) > width && comma() != std::string::npos) doing.erase(0, comma() + 2);
    if (textWidth(doing) > width && comma() != std::string::npos) doing.erase(comma());
    return doing;
}

constexpr std::string_view measureAllWords =
    "Verifies and times every rung of the ladder on the current batch size.";
constexpr std::string_view measureOneWords = "Verifies and times the selected rung only.";

class LadderExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "ladder"; }
    const char* title() const override { return "Ladder"; }
    const char* blurb() const override { return "The same step, from the slowest kernel to the fastest"; }
    const char* words() const override {
        return "Measures one matrix product in many versions, each faster for a reason.";
    }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // Two rails and three rungs.
        const float r = size / 2;
        const float thickness = size / 10;
        for (const float x : {-0.5f, 0.5f})
            draw.AddLine({centre.x + x * r, centre.y - r}, {centre.x + x * r, centre.y + r}, colour,
                         thickness);
        for (const float y : {-0.55f, 0.0f, 0.55f})
            draw.AddLine({centre.x - 0.5f * r, centre.y + y * r}, {centre.x + 0.5f * r, centre.y + y * r},
                         colour, thickness);
    }

    void update(Ui& ui) override {
        if (tab_ == Tab::memory) access_.update(ui.delta);
        model_.update(ui.machines, ui.graphics.device(), ui.delta, ui.scripted, ui.masked);
    }
    void draw(Ui& ui) override {
        ui.beginCard("ladder/tabs", {0, std::max(ImGui::GetContentRegionAvail().y, ui.px(72))});
        drawTabRow(ui);
        RunOptions settings = model_.settings();
        const bool changed = settingsShown_ && drawSettings(ui, settings);
        drawTab(ui);
        ui.endCard();
        if (changed) model_.change(settings); // may throw, so only once nothing is half drawn
    }
    void drawDetails(Ui& ui) override {
        drawIdea(ui, model_.rung(), answerShown_);
        ImGui::Dummy({0, ui.px(2)});
        const RungResult* result = model_.result(model_.picked());
        if (result == nullptr || !result->timed())
            ui.paragraph(result == nullptr ? pickedState() : checkText(*result),
                         result == nullptr ? ui.theme.muted : ui.theme.bad);
        if (result == nullptr) return;
        const auto numbers = numbersOf(*result, model_.roof());
        const auto rest =
            std::ranges::find_if(numbers, [](const auto& row) { return row.first == "samples"; });
        const auto drawNumbers = [&](auto from, auto to) {
            for (; from != to; ++from) ui.row(from->first, ui.timing(from->second));
        };
        if (result->timed()) ui.muted("Whole steps, measured alone");
        drawNumbers(numbers.begin(), rest);
        if (const std::string gain = model_.speedUp(model_.picked()); !gain.empty())
            ui.row("speed-up", ui.timing(gain));
        if (!result->refused()) ui.paragraph(honestDevice(result->measure.machine), ui.theme.muted);
        if (!ui.more("more about this rung")) return;
        drawNumbers(rest, numbers.end());
        if (result->timed()) ui.paragraph(checkText(*result), ui.theme.good);
        if (!result->uncounted.empty())
            ui.paragraph(translatedFormat("Bytes: {}.", translated(result->uncounted)));
        if (result->timed() && result->spec.gpu)
            ui.paragraph(
                "Bytes moved: what the kernels of the matrix products request from memory, counted by "
                "the kernels themselves. Caches may serve much of it. At least: every matrix once.");
        const Roof* roof = model_.roof();
        if (roof == nullptr) return;
        ImGui::Dummy({0, ui.px(6)});
        ui.heading("The roof");
        ui.row("multiply-adds", ui.timing(amountText(roof->gflops * 1e9, "FLOP/s")));
        if (roof->matrixGflops > 0)
            ui.row("matrix units", ui.timing(amountText(roof->matrixGflops * 1e9, "FLOP/s")));
        ui.row("copy", ui.timing(amountText(roof->gigabytesPerSecond * 1e9, "B/s")));
        ui.row("fastest product", ui.timing(amountText(roof->productGflops * 1e9, "FLOP/s")));
        ui.paragraph(
            "Measured on this device. The roof: multiply-adds in registers and a copy in device memory. Last "
            "row: the fastest kernel on a large square product.");
    }
    void drawMenu(Ui& ui) override {
        if (ui.menuItem("Measure all rungs", measureAllWords)) measureAll();
        if (ui.menuItem("Measure this rung", measureOneWords)) model_.measurePicked();
    }

    void preview(Ui&) override {
        model_.preview();
        if (tab_ == Tab::memory) access_.playFromStart(); // as where its tab is pressed
    }
    bool running() const override { return model_.running(); }
    /// "ladder.batch.finished" (1), ".crossover" (the size from which on the GPU is faster) and
    /// ".crossover_text" (a sentence), of the sweep over batches; the same of "ladder.width".
    void measured(MeasuredValues& values) const override {
        for (const SweepBy by : {SweepBy::batch, SweepBy::width}) {
            const std::string name = fmt::format("ladder.{}.", nameOf(by));
            for (const char* each : {"finished", "crossover", "crossover_text"}) values[name + each] = {};
            if (!model_.swept(by)) continue;
            values[name + "finished"].number = 1;
            values[name + "crossover_text"].text = crossingText(model_.sweep(by), by);
            for (const Crossing& crossing : crossingsOf(model_.sweep(by)))
                if (crossing.gpuFasterBeyond) values[name + "crossover"].number = std::round(crossing.value);
        }
    }
    bool timesProcessor() const override { return model_.busy(); } // a sweep times both machines
    void run(Ui&) override {
        model_.run();
        tab_ = Tab::training; // where the losses appear
    }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit == StepUnit::batch; }
    void step(Ui&, StepUnit unit) override {
        if (unit != StepUnit::batch) return;
        model_.pause();
        model_.step();
        tab_ = Tab::training;
    }
    void reset(Ui&) override { model_.reset(); }
    void reroll(Ui&) override {
        RunOptions settings = model_.settings();
        ++settings.settings.seed;
        model_.change(settings);
    }
    void setSpeed(Speed speed) override { model_.setRate(speed); }
    EditHistory& edits() override { return edits_; }
    bool moving() const override {
        return running() || model_.busy() || (tab_ == Tab::memory && access_.playing);
    }

    nlohmann::ordered_json state() const override {
        nlohmann::ordered_json json = toJson(model_.settings());
        json["rung"] = model_.rung().lane;
        json["tab"] = tabWords[static_cast<std::size_t>(tab_)];
        json["product"] = productWords[static_cast<std::size_t>(access_.product)];
        json["access"] = access_.moment;
        json["all_lines"] = source_.whole;
        json["sweep_by"] = nameOf(sweepBy_);
        json["answer_shown"] = answerShown_;
        return json;
    }
    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        constexpr std::string_view own[] = {"rung",      "tab",      "product",     "access",
                                            "all_lines", "sweep_by", "answer_shown"};
        const RunOptions settings = runFromJson(state, firstLadderRun(), "ladder", own, drawnLimits);
        const std::vector<RungRow>& rungs = model_.rungs();
        const std::string lane = laneSpecFromText(jsonValueOr(state, "rung", std::string("gpu:naive")))
                                     .text(); // says what there is
        const auto rung = std::ranges::find(rungs, lane, &RungRow::lane);
        if (rung == rungs.end())
            throw std::invalid_argument(fmt::format("field 'rung': '{}' is not a rung", lane));
        const auto index = static_cast<std::size_t>(rung - rungs.begin());
        const auto tab = static_cast<Tab>(jsonWordOr(state, "tab", tabWords));
        const auto product = static_cast<Product>(jsonWordOr(state, "product", productWords));
        const auto moment = jsonValueOr(state, "access", std::size_t{0});
        const bool chosenAccess = state.contains("access");
        const bool whole = jsonValueOr(state, "all_lines", false);
        const auto by = static_cast<SweepBy>(jsonWordOr(state, "sweep_by", sweepWords));
        const bool answer = jsonValueOr(state, "answer_shown", false);
        return [this, settings, index, tab, product, moment, chosenAccess, whole, by, answer] {
            model_.change(settings);
            pick(index);
            tab_ = tab;
            rungChosen_ = index != firstRungOf(tab);
            access_.product = product;
            access_.moment = moment;
            access_.kept = true;
            access_.opened = !chosenAccess;
            source_.whole = whole;
            sweepBy_ = by;
            answerShown_ = answer;
        };
    }
    bool dropFile(Ui& ui, const std::filesystem::path& file) override {
        if (!isTableFile(file)) return false;
        RunOptions settings = model_.settings();
        const std::string filled = takeDroppedFile(settings, file);
        if (!filled.empty()) ui.say(Severity::warning, filled);
        model_.change(settings);
        return true;
    }
    std::string releaseDevice() override {
        access_.playing = false;
        const bool trained = !model_.losses().empty();
        model_.releaseDevice();
        return std::string(
            translated(trained ? "Measurements stay. Training restarts from its first step." : ""));
    }

  private:
    enum class Tab : std::size_t { rungs, memory, source, roofline, crossover, training };

    void measureAll() {
        model_.measureAll();
        tab_ = Tab::rungs; // where the results appear
    }

    /// What a tab shows until somebody chooses a rung. Two kernels stand beside each other under Memory; the
    /// source of the upper one tells what it changes in the lower one.
    std::size_t firstRungOf(Tab tab) const {
        const std::size_t first = LadderModel().picked();
        return tab == Tab::source ? rungBeside(model_.rungs(), first).value_or(first) : first;
    }

    void show(const Ui& ui, Tab tab) {
        tab_ = tab;
        if (const std::size_t first = firstRungOf(tab); !rungChosen_ && first != model_.picked()) {
            pick(first);
            rungChosen_ = false;
        }
        if (tab == Tab::memory && !ui.scripted) access_.playing = true; // what stands still explains little
    }

    void pick(std::size_t rung) {
        model_.pick(rung);
        rungChosen_ = true;
        answerShown_ = false;
        read_.reset();
    }

    /// The state of a rung without a result, in a sentence.
    std::string pickedState() const {
        return fmt::format("{}: {}.", model_.rung().lane, translated(model_.stateOf(model_.picked())));
    }

    std::string settingsText() const {
        const RunOptions& run = model_.settings();
        const std::string layers(run.hiddenWidths ? widthsText(*run.hiddenWidths) : translated("automatic"));
        return translatedFormat("{}; hidden layers {}; {}; batch {}", run.data, layers,
                                name(run.settings.optimizer.kind), run.settings.batch);
    }

    /// True when they were changed.
    static bool drawSettings(Ui& ui, RunOptions& settings) {
        RunForm form(ui, "ladder/");
        form.data(settings.data);
        form.table(settings.dataOptions.table, settings.data, {});
        form.hidden(settings.hiddenWidths, settings.data);
        form.optimizer(settings.settings.optimizer);
        form.batch(settings.settings.batch);
        form.seed(settings.settings.seed);
        form.end();
        return form.changed();
    }

    /// Tabs on the left; on the right what is there in each of them, and between both what is being measured.
    void drawTabRow(Ui& ui) {
        const std::array<std::string, 6> names{"Rungs",    "Memory",    "Source",
                                               "Roofline", "Crossover", "Training"};
        const ImVec2 start = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x;
        auto tab = static_cast<std::size_t>(tab_);
        if (ui.segments(
                "##ladder/tab",
                "What is shown of the rung: training, memory accesses, source, roofline or crossover.", tab,
                names))
            show(ui, static_cast<Tab>(tab));
        const std::string doing = model_.doing();
        const float room = start.x + width - ImGui::GetItemRectMax().x - ui.px(12);
        const ImGuiStyle& style = ImGui::GetStyle();
        const auto widthOf = [&](std::initializer_list<const char*> labels) {
            float sum = -style.ItemSpacing.x;
            for (const char* label : labels)
                sum += textWidth(label) + 2 * style.FramePadding.x + style.ItemSpacing.x;
            return sum;
        };
        // Where there is no room for both, Stop takes the other's place.
        const bool measuring = model_.measuringMany();
        float buttons = widthOf({"Measure all rungs", "This rung", "Stop", "Settings"});
        const bool all = buttons <= room;
        if (!all) buttons = widthOf({measuring ? "Stop" : "Measure all rungs", "Settings"});
        const float between = room - buttons - ui.px(12);
        const std::string text = doing.empty() ? settingsText() : shortened(doing, between);
        if (textWidth(text) <= between) { // half a number is another one
            ImGui::SameLine(0, ui.px(12));
            ImGui::AlignTextToFramePadding();
            ui.muted(text);
        }
        if (buttons <= room) {
            ImGui::SameLine();
            ImGui::SetCursorScreenPos({start.x + width - buttons, start.y});
        }
        if (all || !measuring) {
            // The rest of the picture.
            const bool first = tab_ == Tab::rungs && (model_.timedRungs() == 0 || model_.previewed());
            if (first ? ui.primaryButton("Measure all rungs", measureAllWords)
                      : ui.button("Measure all rungs", measureAllWords))
                measureAll();
        }
        if (all) {
            ImGui::SameLine();
            if (ui.button("This rung##ladder", measureOneWords)) model_.measurePicked();
            ImGui::SameLine();
        }
        if ((all || measuring) &&
            ui.button("Stop##ladder", "Stops measuring; results so far stay.", !doing.empty()))
            model_.stopMeasuring();
        ImGui::SameLine();
        if (ui.toggle("Settings##ladder", settingsWords, settingsShown_)) settingsShown_ = !settingsShown_;
        if (doing.empty()) return;
        const float y = start.y + ImGui::GetFrameHeight() + ui.px(3);
        const float done = width * static_cast<float>(model_.measuredShare());
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        draw.AddLine({start.x, y}, {start.x + width, y}, ui.theme.raised, ui.line(2));
        draw.AddLine({start.x, y}, {start.x + done, y}, ui.theme.accent, ui.line(2));
    }

    /// The title, the rungs, and below them what there is to do with the picked one.
    void drawRungs(Ui& ui) {
        const float height = ImGui::GetContentRegionAvail().y;
        const bool roomy = height >= ui.px(320);
        const bool high = height >= ui.px(highRungs);
        if (roomy) drawClimb(ui, model_, high);
        const float spacing = ImGui::GetStyle().ItemSpacing.y;
        const float below = roomy ? pickedHeight(ui, high) + 2 * spacing : 0;
        const auto clicked = drawStaircase(ui, model_, ImGui::GetContentRegionAvail().y - below);
        if (roomy) drawPicked(ui, high);
        if (!clicked) return;
        rungChosen_ = true;
        if (*clicked == model_.picked() && hasMemory())
            openMemory(ui);
        else
            pick(*clicked);
    }

    static constexpr float highRungs = 460; // from here on there is a line for each thing beside the rungs
    static constexpr float pickedGap = 12;  // with a line in it
    static constexpr const char* memoryLabel = "Its memory##ladder";
    bool hasMemory() const { return model_.rung().gpu() && model_.rung().unrecorded.empty(); }

    void openMemory(const Ui& ui) {
        show(ui, Tab::memory);
        access_.playFromStart();
        access_.playing = !ui.scripted;
    }

    /// Below the ladder: the picked rung's name, what it does, and its question; without much height, name
    /// and question in one line.
    float pickedHeight(Ui& ui, bool high) const {
        const float name = ui.px(pickedGap) + ImGui::GetFrameHeight();
        if (ui.detailPanel) return name; // the panel has the question
        const float width = ImGui::GetContentRegionAvail().x;
        if (!high)
            return ui.px(pickedGap) + questionHeight(ui, model_.rung(), answerShown_, pickedWidth(ui), width);
        return name + ImGui::GetStyle().ItemSpacing.y +
               questionHeight(ui, model_.rung(), answerShown_, 0, width);
    }
    float memoryWidth() const {
        return textWidth(shownLabel(memoryLabel)) + 2 * ImGui::GetStyle().FramePadding.x;
    }
    /// What stands before the picked rung's question where both share a line.
    float pickedWidth(const Ui& ui) const {
        ImGui::PushFont(ui.fonts.strong);
        const float name = lettersWidth(model_.rung().lane);
        ImGui::PopFont();
        return name + memoryWidth() + ui.px(22);
    }
    void drawPicked(Ui& ui, bool high) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x;
        ImGui::GetWindowDrawList()->AddLine({at.x, at.y + ui.px(pickedGap) / 2},
                                            {at.x + width, at.y + ui.px(pickedGap) / 2}, ui.theme.border,
                                            ui.line());
        ImGui::SetCursorScreenPos({at.x, at.y + ui.px(pickedGap)});
        ImGui::AlignTextToFramePadding();
        ui.heading(std::string(model_.rung().lane));
        ImGui::SameLine(0, ui.px(10));
        // A measured rung's row has a bar in place of its sentence.
        if (high && model_.result(model_.picked()) != nullptr) {
            ui.muted(fittedText(std::string(translated(wordsOf(model_.rung()).plain)),
                                ImGui::GetContentRegionAvail().x - memoryWidth() - ui.px(12)));
            ImGui::SameLine(0, ui.px(12));
        }
        if (ui.button(memoryLabel, "Shows which words this kernel reads and writes, beside its neighbour.",
                      hasMemory()))
            openMemory(ui);
        if (ui.detailPanel) return;
        if (!high) ImGui::SameLine(0, ui.px(10));
        drawQuestion(ui, model_.rung(), answerShown_);
    }

    void drawTab(Ui& ui) {
        drawRungRow(ui);
        switch (tab_) {
        case Tab::memory: drawMemory(ui); return;
        case Tab::source: source_.draw(ui, model_.rung()); return;
        case Tab::rungs: drawRungs(ui); return;
        case Tab::roofline:
            if (const auto batch = drawRoofline(ui, model_, rooflinePlot_)) {
                RunOptions settings = model_.settings();
                settings.settings.batch = *batch;
                model_.change(settings);
            }
            return;
        case Tab::crossover: drawCrossover(ui, model_, sweepBy_, crossoverPlot_); return;
        case Tab::training: drawTraining(ui); return;
        }
    }

    /// The choice of a rung, and its question about memory where there is room; else the tab goes on beside
    /// it.
    void drawRungRow(Ui& ui) {
        if (tab_ == Tab::crossover || tab_ == Tab::rungs) return; // that has them all
        const bool asked =
            tab_ == Tab::memory && !ui.detailPanel && ImGui::GetContentRegionAvail().y >= ui.px(440);
        std::vector<std::string> lanes;
        for (const RungRow& rung : model_.rungs()) lanes.emplace_back(rung.lane);
        ImGui::SetNextItemWidth(std::min(ui.px(164), ImGui::GetContentRegionAvail().x));
        std::size_t rung = model_.picked();
        if (ui.combo("##ladder/rung", "The rung shown: one version of the kernel.", rung, lanes)) pick(rung);
        ImGui::SameLine(0, ui.px(10));
        if (asked) drawQuestion(ui, model_.rung(), answerShown_);
    }

    /// Accesses of the picked rung and the one beside it, and the source of one of the two.
    void drawMemory(Ui& ui) {
        const float room = ImGui::GetContentRegionAvail().y;
        const bool reads = room >= ui.px(680) && !model_.rung().file.empty() && model_.rung().gpu();
        const float source = reads ? room * 0.27f : 0;
        const std::vector<std::size_t> shown = access_.draw(ui, model_, room - source);
        if (!reads) return;
        std::vector<std::string> names;
        names.reserve(shown.size());
        for (const std::size_t rung : shown)
            names.push_back(translatedFormat("Source: {}", model_.rungs()[rung].lane));
        auto at = std::ranges::find(shown, read_.value_or(model_.picked()));
        auto chosen = static_cast<std::size_t>((at == shown.end() ? shown.begin() : at) - shown.begin());
        if (ui.segments("##ladder/read", "Which of the two kernels' source is shown below.", chosen, names))
            read_ = shown[chosen];
        reading_.drawPlain(ui, model_.rungs()[shown[chosen]]);
    }

    void drawTraining(Ui& ui) {
        if (!ui.lessonAsks && !ui.masked && model_.losses().empty()) model_.lossPreview();
        const std::vector<LadderLoss>& preview = model_.knownLossPreview();
        const bool again = !model_.earlier().empty();
        const auto difference = model_.differenceTo(again ? model_.earlier() : preview);
        if (const RungResult* result = model_.result(model_.picked()))
            ui.paragraph(checkText(*result), result->timed() ? ui.theme.good : ui.theme.bad);
        else
            ui.muted(pickedState());
        if (difference) {
            const std::string within = scientific(std::max(*difference, 1e-8), 1);
            ImGui::PushFont(ui.fonts.title);
            ui.paragraph(
                again ? translatedFormat("The loss curve matches the earlier run's to within {}.", within)
                      : translatedFormat("The loss curve matches the preview's to within {}.", within),
                *difference < Agreement::floatTolerance ? 0 : ui.theme.warning);
            ImGui::PopFont();
        }
        const bool begun = !model_.losses().empty() || !model_.earlier().empty() || model_.running();
        if (!begun && drawStart(ui, preview)) run(ui);
        drawLosses(ui, model_, lossPlot_);
    }

    /// What training would show, and the button for it. Returns whether it was pressed.
    bool drawStart(Ui& ui, const std::vector<LadderLoss>& preview) {
        ImGui::PushFont(ui.fonts.title);
        ui.paragraph(translatedFormat("How does the loss fall on {}?", model_.rung().lane));
        ImGui::PopFont();
        const bool pressed =
            ui.primaryButton("Train on this rung##ladder",
                             "Trains the network on this rung and draws its loss, step by step.");
        ImGui::SameLine(0, ui.px(12));
        ImGui::AlignTextToFramePadding();
        ImGui::BeginGroup();
        if (preview.empty())
            ui.paragraph("Every rung trains the same network on the same batches.", ui.theme.muted);
        else
            ui.paragraph(translatedFormat(
                             "Preview: the first {} steps on {}. Every rung trains the same network on the "
                             "same batches, so its curve should cover this one.",
                             preview.size(), model_.rungs()[preview.front().rung].lane),
                         ui.theme.muted);
        ImGui::EndGroup();
        return pressed;
    }

    LadderModel model_;
    ValueHistory<RunOptions> edits_{
        [this] { return model_.settings(); },
        [this](const RunOptions& wanted, const RunOptions&) { model_.change(wanted); }};
    AccessView access_;
    SourceDiffView source_;
    SourceDiffView reading_;          // beside the accesses
    std::optional<std::size_t> read_; // the rung in it; none: the picked one
    Plot lossPlot_;
    Plot rooflinePlot_;
    Plot crossoverPlot_;
    SweepBy sweepBy_ = SweepBy::batch;
    Tab tab_ = Tab::rungs;
    bool rungChosen_ = false;
    bool answerShown_ = false;
    bool settingsShown_ = false;
};

} // namespace

std::unique_ptr<Exhibit> makeLadder() { return std::make_unique<LadderExhibit>(); }

} // namespace lockstep::demos
