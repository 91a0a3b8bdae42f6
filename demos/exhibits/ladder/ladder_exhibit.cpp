// The ladder: the same training step on every rung, from one invocation at a time to the fastest kernels.
#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/ladder/crossover.h"
#include "demos/exhibits/ladder/ladder_views.h"
#include "demos/kit/exhibit.h"
#include "demos/kit/run_form.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

constexpr std::string_view tabWords[] = {"training", "memory", "source", "roofline", "crossover", "rungs"};
constexpr std::string_view productWords[] = {"forward", "inputs", "weights"};

/// Steps and losses of one rung's stretches, with a gap between two of them.
Curve curveOf(const std::vector<LadderLoss>& losses, std::size_t rung) {
    Curve curve;
    bool gap = false;
    for (const LadderLoss& loss : losses) {
        if (loss.rung != rung) {
            gap = !curve.x.empty();
            continue;
        }
        if (gap) { // from the last one before it, a line would cross what others have trained
            curve.x.push_back(static_cast<double>(loss.step) - 0.5);
            curve.y.push_back(std::numeric_limits<double>::quiet_NaN());
            gap = false;
        }
        curve.x.push_back(static_cast<double>(loss.step));
        curve.y.push_back(static_cast<double>(loss.loss));
    }
    return curve;
}

class LadderExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "ladder"; }
    const char* title() const override { return "Ladder"; }
    const char* blurb() const override { return "From one invocation to all of the device"; }
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
        access_.update(ui.delta);
        model_.update(ui.machines, ui.graphics.device(), ui.delta, ui.scripted, ui.masked);
    }
    void draw(Ui& ui) override {
        // A presenter has no room for settings.
        if (!ui.presenter) drawSettings(ui);
        drawMeasuring(ui);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        // Where there is no room beside them (a presenter's large letters), the rungs are one of the tabs.
        const bool wide = room.x >= ui.px(640);
        if (wide) {
            ui.beginCard("ladder/rungs", {room.x * 0.44f, std::max(room.y, ui.px(72))});
            drawRungs(ui);
            ui.endCard();
            ImGui::SameLine(0, ui.px(10));
        }
        ui.beginCard("ladder/tabs", {0, std::max(ImGui::GetContentRegionAvail().y, ui.px(72))});
        drawTabs(ui, wide);
        ui.endCard();
    }
    void drawDetails(Ui& ui) override {
        drawIdea(ui);
        ImGui::Dummy({0, ui.px(2)});
        const RungResult* result = model_.result(model_.picked());
        if (result == nullptr) {
            ui.paragraph("Measure this rung: it is checked against the plain loops first, then timed.",
                         ui.theme.muted);
            return;
        }
        if (!result->refused()) ui.paragraph(honestDevice(result->measure.machine), ui.theme.muted);
        for (const auto& [name, value] : numbersOf(*result, model_.roof())) ui.row(name, ui.timing(value));
        ui.paragraph(checkText(*result), result->timed() ? ui.theme.good : ui.theme.bad);
        if (!result->uncounted.empty()) ui.paragraph("Bytes: " + result->uncounted + ".", ui.theme.muted);
        if (result->timed() && result->spec.gpu)
            ui.paragraph(
                "Bytes moved: what the kernels of the matrix products request from memory, counted by "
                "the kernels themselves. Caches may serve much of it. At least: every matrix once.",
                ui.theme.muted);
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
            "row: the fastest kernel on a large square product.",
            ui.theme.muted);
    }
    void drawMenu(Ui& ui) override {
        if (ImGui::MenuItem("Measure all rungs", nullptr, false)) model_.measureAll();
        ui.noteControl("menu/Measure all rungs");
    }

    bool running() const override { return model_.running(); }
    void run(Ui&) override { model_.run(); }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit == StepUnit::batch; }
    void step(Ui&, StepUnit unit) override {
        if (unit != StepUnit::batch) return;
        model_.pause();
        model_.step();
    }
    void reset(Ui&) override { model_.reset(); }
    void reroll(Ui&) override {
        RunOptions settings = model_.settings();
        ++settings.settings.seed;
        model_.change(settings);
    }
    void setSpeed(Speed speed) override { model_.setRate(speed); }
    bool moving() const override { return running() || model_.busy() || access_.playing; }

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
        if (rung == rungs.end()) throw std::invalid_argument("field 'rung': '" + lane + "' is not a rung");
        const auto index = static_cast<std::size_t>(rung - rungs.begin());
        const auto tab = static_cast<Tab>(jsonWordOr(state, "tab", tabWords));
        const auto product = static_cast<Product>(jsonWordOr(state, "product", productWords));
        const auto moment = jsonValueOr(state, "access", std::size_t{0});
        const bool whole = jsonValueOr(state, "all_lines", false);
        const auto by = static_cast<SweepBy>(jsonWordOr(state, "sweep_by", sweepWords));
        const bool answer = jsonValueOr(state, "answer_shown", false);
        return [this, settings, index, tab, product, moment, whole, by, answer] {
            model_.change(settings);
            model_.pick(index);
            tab_ = tab;
            access_.product = product;
            access_.moment = moment;
            access_.kept = true;
            source_.whole = whole;
            sweepBy_ = by;
            answerShown_ = answer;
        };
    }
    bool dropFile(Ui&, const std::filesystem::path& file) override {
        if (file.extension() != ".csv") return false;
        RunOptions settings = model_.settings();
        takeDroppedFile(settings, file);
        model_.change(settings);
        return true;
    }
    std::string releaseDevice() override {
        access_.playing = false;
        const bool trained = !model_.losses().empty();
        model_.releaseDevice();
        return trained ? "Measurements stay. Training restarts from its first step." : "";
    }

  private:
    enum class Tab : std::size_t { training, memory, source, roofline, crossover, rungs };
    static constexpr std::size_t wideTabs = 5; ///< of these; the rungs stand beside them

    void drawSettings(Ui& ui) {
        RunOptions settings = model_.settings();
        RunForm form(ui, "ladder/");
        form.data(settings.data);
        form.hidden(settings.hiddenWidths, settings.data);
        form.optimizer(settings.settings.optimizer);
        form.batch(settings.settings.batch);
        form.seed(settings.settings.seed);
        form.end();
        if (form.changed()) model_.change(settings); // may throw, so only once nothing is half drawn
    }

    void drawMeasuring(Ui& ui) {
        if (ui.primaryButton("Measure all rungs")) model_.measureAll();
        ImGui::SameLine();
        if (ui.button("This rung##ladder")) model_.measurePicked();
        const std::string doing = model_.doing();
        const auto& machine = model_.gpuMachine();
        const std::string idle =
            machine ? "GPU rungs: " + honestDevice(*machine, 70) : "nothing measured yet";
        ImGui::SameLine();
        if (ui.button("Stop##ladder", !doing.empty())) model_.stopMeasuring();
        ImGui::SameLine(0, ui.px(12));
        ImGui::AlignTextToFramePadding();
        ui.muted(fittedText(doing.empty() ? idle : doing, ImGui::GetContentRegionAvail().x));
    }

    void drawRungs(Ui& ui) {
        const Roof* roof = model_.roof();
        ui.paragraph(roof != nullptr
                         ? "Log scale; mark: roof, " + ui.timing(amountText(roof->gflops * 1e9, "FLOP/s"))
                         : "Whole steps, log scale.",
                     ui.theme.muted);
        if (const auto& machine = model_.gpuMachine(); machine && machine->software)
            ui.paragraph(honestDevice(*machine), ui.theme.warning);
        if (const auto clicked = drawStaircase(ui, model_, ImGui::GetContentRegionAvail().y)) {
            model_.pick(*clicked);
            answerShown_ = false;
        }
        if (sidePanels(ui).details > 0) return; // they begin with it
        ImGui::Dummy({0, ui.px(4)});
        drawIdea(ui);
    }

    void drawIdea(Ui& ui) {
        const RungRow& rung = model_.rung();
        ui.heading(std::string(rung.lane));
        ui.paragraph(rung.idea);
        if (rung.question.empty()) return;
        ImGui::Dummy({0, ui.px(2)});
        ui.paragraph(rung.question, ui.theme.accent);
        if (ui.toggle("Answer##ladder", answerShown_)) answerShown_ = !answerShown_;
        if (answerShown_) ui.paragraph(rung.answer, ui.theme.muted);
    }

    void drawTabs(Ui& ui, bool wide) {
        const std::array<std::string, 6> names{"Training", "Memory",    "Source",
                                               "Roofline", "Crossover", "Rungs"};
        // What is not among the tabs is beside them.
        const Tab shown = wide && tab_ == Tab::rungs ? Tab::training : tab_;
        auto tab = static_cast<std::size_t>(shown);
        if (ui.segments("##ladder/tab", tab, std::span(names).first(wide ? wideTabs : names.size())))
            tab_ = static_cast<Tab>(tab);
        switch (shown) {
        case Tab::training: drawTraining(ui); return;
        case Tab::memory: access_.draw(ui, model_); return;
        case Tab::source: source_.draw(ui, model_.rung()); return;
        case Tab::roofline:
            if (const auto batch = drawRoofline(ui, model_, rooflinePlot_)) {
                RunOptions settings = model_.settings();
                settings.settings.batch = *batch;
                model_.change(settings);
            }
            return;
        case Tab::crossover: drawCrossover(ui, model_, sweepBy_, crossoverPlot_); return;
        case Tab::rungs: drawRungs(ui); return;
        }
    }

    void drawTraining(Ui& ui) {
        const RungResult* result = model_.result(model_.picked());
        const NetShape* live = model_.shape();
        if (const double rate = model_.recentRate(); running() && rate > 0 && live != nullptr)
            ui.row("training now",
                   ui.timing(fmt::format("{} samples/s, {}", shortRate(rate),
                                         amountText(rate * live->flopsPerExample(), "FLOP/s"))));
        if (result == nullptr)
            ui.muted("This rung has not been measured.");
        else if (result->timed()) {
            const std::string share = roofShare(result, model_.roof());
            ui.row("speed",
                   ui.timing(shortResult(result) + (share.empty() ? "" : ", " + share + " of the roof")));
            ui.row("bytes moved per step",
                   ui.timing(result->productBytes > 0 ? amountText(result->bytes(), "B") : "not counted"));
        }
        if (result != nullptr)
            ui.paragraph(checkText(*result), result->timed() ? ui.theme.good : ui.theme.bad);
        if (const auto difference = model_.differenceToEarlier())
            ui.paragraph(fmt::format("The loss curve matches the earlier run's to within {:.0e}.",
                                     std::max(*difference, 1e-8)),
                         *difference < Agreement::floatTolerance ? ui.theme.good : ui.theme.warning);
        drawLosses(ui);
    }

    void drawLosses(Ui& ui) {
        std::vector<Curve> curves;
        std::vector<PlotLine> lines;
        curves.reserve(2 * model_.rungs().size());
        for (const bool earlier : {true, false})
            for (std::size_t rung = 0; rung < model_.rungs().size(); ++rung) {
                Curve curve = curveOf(earlier ? model_.earlier() : model_.losses(), rung);
                if (curve.x.empty()) continue;
                const Curve& kept = curves.emplace_back(std::move(curve));
                lines.push_back({.name = std::string(model_.rungs()[rung].lane),
                                 .colour = seriesColour(ui.theme, rung),
                                 .dashed = rung % 2 == 1,
                                 .faint = earlier,
                                 .x = kept.x,
                                 .y = kept.y});
            }
        const ImVec2 room = ImGui::GetContentRegionAvail();
        lossPlot_.draw(ui, "ladder loss", lines,
                       {.x = {.title = "step", .unit = "", .whole = true},
                        .y = {.title = "loss", .unit = ""},
                        .size = {room.x, std::max(room.y, ui.px(120))},
                        .empty = "Press Run to train the network on this rung."});
    }

    LadderModel model_;
    AccessView access_;
    SourceDiffView source_;
    Plot lossPlot_;
    Plot rooflinePlot_;
    Plot crossoverPlot_;
    SweepBy sweepBy_ = SweepBy::batch;
    Tab tab_ = Tab::training;
    bool answerShown_ = false;
};

} // namespace

std::unique_ptr<Exhibit> makeLadder() { return std::make_unique<LadderExhibit>(); }

} // namespace lockstep::demos
