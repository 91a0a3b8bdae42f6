// Exhibit: a small network that learns points of the plane, with everything about it to be seen and changed.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/playground/playground_view.h"
#include "demos/kit/exhibit.h"
#include "demos/report/tuning_notice.h"
#include "demos/words/text.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

constexpr std::uint64_t undoSteps = 100;
constexpr std::uint64_t longRunSteps = 5000;
enum Page : std::size_t { networkPage, dataPage, settingsPage, curvesPage, answerPage };

/// The model keeps them itself, with the weights that they replaced.
class PlaygroundEdits final : public EditHistory {
  public:
    explicit PlaygroundEdits(PlaygroundModel& model) : model_(model) {}
    void note(bool) override {}
    std::uint64_t undoable() const override { return model_.undoableEdit(); }
    std::uint64_t redoable() const override { return model_.redoableEdit(); }
    void undo() override { model_.undoEdit(); }
    void redo() override { model_.redoEdit(); }

  private:
    PlaygroundModel& model_;
};

constexpr std::string_view undoStepsWords = "Puts the weights back to where they were 100 steps ago.";

class PlaygroundExhibit : public Exhibit {
  public:
    std::string_view id() const override { return "playground"; }
    const char* title() const override { return "Playground"; }
    const char* blurb() const override { return "A small network learns 2-D points"; }
    const char* words() const override {
        return "Trains a small network on points in the plane and shows what every neuron computes.";
    }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // Two neurons into one.
        const float r = size / 2;
        const ImVec2 out{centre.x + 0.65f * r, centre.y};
        for (const float side : {-0.6f, 0.6f}) {
            const ImVec2 in{centre.x - 0.65f * r, centre.y + side * r};
            draw.AddLine(in, out, faded(colour, 0.5f), size / 12);
            draw.AddCircleFilled(in, size / 7, colour);
        }
        draw.AddCircleFilled(out, size / 5, colour);
    }

    void update(Ui& ui) override {
        const auto maker = [&](const TrainJob& job) {
            const std::string& lane = model_.settings().lane;
            return ui.machines.maker(job, lane.empty() ? chooseTrainLane({}, ui.machines).lanes.front()
                                                       : laneSpecFromText(lane));
        };
        pictures_.beginFrame();
        model_.holdEdit(ImGui::IsMouseDown(0) || ImGui::IsMouseDown(1));
        if (std::exchange(replaced_, false) && !ui.lessonShown) // which brings it back itself
            ui.say(Severity::info, "Another network has replaced the one that was here.",
                   "Ctrl+Z brings it back.");
        model_.update(maker, ui.delta, ui.scripted);
        view_.passages.update(model_, ui.delta);
        renewPictures(ui);
        if (model_.failed() && !told_) ui.say(Severity::error, model_.failure());
        told_ = model_.failed();
    }

    void draw(Ui& ui) override {
        if (const LaneSnapshot lane = model_.laneSnapshot(); lane.status == LaneStatus::preparing &&
                                                             lane.tuning.going() &&
                                                             tuning_.draw(ui, "gpu:best", lane.tuning))
            model_.skipTuning();
        const ImVec2 room = ImGui::GetContentRegionAvail();
        if (model_.failed()) drawFailure(ui);
        if (room.x >= ui.px(640) && room.y >= ui.px(520))
            drawWide(ui);
        else
            drawPages(ui);
        drawEditor(parts(ui));
    }

    void drawDetails(Ui& ui) override {
        ui.heading("Playground");
        if (!ui.lessonShown)
            ui.paragraph(
                "From a few points, a network learns which colour belongs where in the plane. Each tile "
                "shows one neuron's output over the plane: orange above 0, blue below.");
        ui.paragraph("Hover over a neuron or a link to see its formula and numbers. Click to edit it.");
        if (ui.more("more about the playground")) drawMore(ui);
    }

    void drawMore(Ui& ui) const {
        const MachineInfo machine = model_.machine();
        if (!machine.device.empty()) {
            ui.heading("Trains on");
            ui.paragraph(ui.masked ? "-" : honestDevice(machine), ui.theme.muted);
            const LaneSnapshot shot = model_.laneSnapshot();
            ui.row("samples/s", ui.timing(shortRate(shot.recentRate)));
        }
        const NetShape shape = model_.shape();
        ui.heading("Network");
        ui.row("layers", shape.describeWidths());
        ui.row("parameters", grouped(shape.parameters()));
        ui.row("step", grouped(model_.step()));
        ui.row("epoch",
               fixed(static_cast<double>(model_.step()) / static_cast<double>(model_.order().stepsPerEpoch()),
                     2));
        ui.row("learning rate now",
               translatedFormat("{:.3g}", learningRate(model_.settings().train.optimizer, model_.step())));
        ui.heading("Points");
        ui.row("training", grouped(model_.dataset().train.count));
        ui.row("test", grouped(model_.dataset().test.count));
    }

    void drawMenu(Ui& ui) override {
        if (ui.menuItem("Undo 100 steps", undoStepsWords, nullptr, false, model_.canUndo()))
            model_.undo(undoSteps);
        if (ui.menuItem("Save weights with the state",
                        "Stores all weights in state files too, so that training continues from them.",
                        nullptr, view_.keepWeights))
            view_.keepWeights = !view_.keepWeights;
    }

    bool running() const override { return model_.running(); }
    std::uint64_t trainedExamples() const override { return model_.laneSnapshot().examples; }
    bool moving() const override {
        return model_.busy() || view_.sampling.valid() || pictures_.busy() || view_.passages.going();
    }
    void preview(Ui&) override { view_.passages.start(); }
    void run(Ui& ui) override {
        if (!model_.trainable()) {
            ui.say(Severity::warning, "There are no points to train on.",
                   "Draw some on the map, or choose a data set.");
            return;
        }
        model_.run();
    }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override {
        return unit != StepUnit::kernel && model_.trainable() && !model_.failed();
    }
    void step(Ui&, StepUnit unit) override {
        model_.step(unit == StepUnit::epoch ? model_.stepsToEpochEnd() : 1);
    }
    void reset(Ui&) override { model_.reset(); }
    void reroll(Ui&) override { model_.reroll(); }
    void setSpeed(Speed stepsPerSecond) override { model_.setSpeed(stepsPerSecond); }
    Speed usualSpeed() const override { return 60; } // slow enough to be watched
    EditHistory& edits() override { return edits_; }

    /// "playground.steps", ".edits" (changes of a person), ".train_loss", ".test_loss", ".accuracy" on the
    /// test points; ".best_test_loss", the lowest of the curve, and the ".best_step" at which it was.
    void measured(MeasuredValues& values) const override {
        const Moment& moment = model_.moment();
        values["playground.steps"].number = static_cast<double>(model_.step());
        values["playground.edits"].number = static_cast<double>(model_.edits());
        values["playground.train_loss"].number = moment.train.loss;
        values["playground.test_loss"].number = moment.test.loss;
        values["playground.accuracy"].number = moment.test.accuracy;
        const auto [step, loss] = model_.history().lowestTest();
        values["playground.best_test_loss"].number = loss;
        values["playground.best_step"].number = step;
    }
    nlohmann::ordered_json state() const override { return stateWith(view_.keepWeights); }
    nlohmann::ordered_json lastState() const override { return stateWith(true); }
    nlohmann::ordered_json stateWith(bool keepWeights) const {
        nlohmann::ordered_json json = toJson(model_.settings());
        json["view"] = toJson(view_);
        json["plot"] = plot_.state();
        const std::vector<float>& weights = model_.parameters();
        // A network that has diverged comes back with fresh weights: its own may be finite, but would fail
        // again, and JSON has no NaN.
        if (keepWeights && !model_.failedLayer() && weights.size() == ParamLayout(model_.shape()).size() &&
            std::ranges::all_of(weights, [](float w) { return std::isfinite(w); })) {
            json["step"] = model_.step();
            if (model_.changed()) json["weights"] = weightsToJson(weights); // else the seed says them
        }
        return json;
    }

    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        if (!state.is_object()) throw std::invalid_argument("the playground's state must be an object");
        nlohmann::ordered_json json = state;
        const auto taken = [&json](const char* field, const nlohmann::ordered_json& usual) {
            nlohmann::ordered_json value;
            if (const auto found = json.find(field); found != json.end()) value = *found, json.erase(field);
            return value.is_null() ? usual : value;
        };
        const nlohmann::ordered_json view = taken("view", toJson(ViewSettings{}));
        const nlohmann::ordered_json plot = taken("plot", Plot().state());
        const nlohmann::ordered_json weights = taken("weights", nullptr);
        const nlohmann::ordered_json step = taken("step", 0u);
        const PlaygroundSettings settings = playgroundSettingsFromJson(json);
        const ViewSettings newView = viewFromJson(view);
        if (!step.is_number_unsigned() || step.get<std::uint64_t>() > mostSteps)
            throw std::invalid_argument(
                fmt::format("the field 'step' must be a whole number up to {}", mostSteps));
        const auto steps = step.get<std::uint64_t>();
        std::vector<float> values;
        if (!weights.is_null()) values = weightsFromJson(weights, settings.shape());
        Plot newPlot;
        newPlot.setState(plot);
        return [this, settings, newView, values, steps, newPlot] {
            plot_ = newPlot;
            model_.pause();
            const std::size_t before = model_.edits();
            const bool untouched =
                before == 0 && model_.step() == 0 && model_.settings() == PlaygroundSettings{};
            model_.holdEdit(false);
            model_.holdEdit(true);
            model_.change(settings);
            model_.reset();
            if (!values.empty()) model_.setWeights(values, steps);
            model_.holdEdit(false);
            if (untouched) model_.forgetEdits();
            replaced_ = before > loaded_;
            loaded_ = model_.edits();
            static_cast<ViewSettings&>(view_) = newView;
            view_.drawing = false;
            view_.edited.reset();
        };
    }

    bool takeDigit(int digit) override {
        if (!view_.drawing || digit < 1) return false;
        view_.drawnClass = static_cast<std::uint32_t>(digit - 1);
        return true;
    }

    bool dropFile(Ui& ui, const std::filesystem::path& file) override {
        if (!isTableFile(file)) return false;
        PlaygroundSettings settings = model_.settings();
        const bool scaled = takeOwnPoints(settings, file);
        model_.change(settings);
        ui.say(Severity::info,
               translatedFormat("{} points from {}", settings.own.size(), file.filename().string()),
               scaled ? "Columns outside -6 to 6 were scaled into that range." : "");
        return true;
    }

    std::string releaseDevice() override {
        const bool training = model_.releaseDevice();
        pictures_.release();
        if (!training) return {};
        return translatedFormat("The playground continues from step {}.", grouped(model_.step()));
    }

  private:
    PlaygroundParts parts(Ui& ui) { return {ui, model_, view_, pictures_}; }

    // If memory runs out for pictures of the network, everything else is still drawn, so it can be made
    // smaller.
    void renewPictures(Ui& ui) {
        try {
            pictures_.update(ui, model_, view_.discretise);
        } catch (const gpu::DeviceLostError&) {
            throw;
        } catch (const gpu::GpuError& error) {
            ui.say(Severity::error, error.what());
        }
    }

    // Everything at once: data above, then the network and the answer as large as they can be, and below them
    // the curves beside the numbers.
    void drawWide(Ui& ui) {
        constexpr float titledUnits = 520; // height that has room for a title
        if (ImGui::GetContentRegionAvail().y >= ui.px(titledUnits)) ui.headline(headlineText(ui));
        drawDataPanel(parts(ui), true);
        if (view_.settingsShown) drawSettingsBar(parts(ui), false);
        renewPictures(ui); // settings above may have made it another network
        const ImVec2 room = ImGui::GetContentRegionAvail();
        const float gap = ui.px(14);
        const float tabs = ImGui::GetFrameHeightWithSpacing();
        const float plane = std::clamp(room.y - ui.px(150) - tabs, ui.px(210), room.x * 0.56f);
        const float upper = plane + tabs;
        drawNetwork(parts(ui), {room.x - plane - gap, upper});
        renewPictures(ui);
        ImGui::SameLine(0, gap);
        drawAnswer(parts(ui), {plane, upper}, false);
        const float lower = room.y - upper - ImGui::GetStyle().ItemSpacing.y;
        const float numbers = ui.px(230);
        ImGui::BeginChild("lower", {room.x - numbers - gap, lower}, false, ImGuiWindowFlags_NoScrollbar);
        drawLower(ui);
        ImGui::EndChild();
        ImGui::SameLine(0, gap);
        ImGui::BeginChild("numbers", {numbers, lower}, false, ImGuiWindowFlags_NoScrollbar);
        drawNumbers(parts(ui), numbers);
        ImGui::EndChild();
    }

    // One thing at a time, where the window is small or the letters are large.
    void drawPages(Ui& ui) {
        const std::string names[] = {"Network", "Data", "Settings", "Curves", "Answer"};
        constexpr std::string_view pageWords = "Which part is shown where the window has no room for all.";
        const bool narrow = ImGui::GetContentRegionAvail().x < ui.px(380);
        const float gap = ui.px(10);
        if (narrow) {
            ImGui::SetNextItemWidth(-1);
            ui.combo("##page", pageWords, view_.page, names);
        } else {
            if (view_.page == answerPage) view_.page = networkPage; // which shows both
            ui.segments("##page", pageWords, view_.page, std::span(names).first(answerPage));
        }
        const ImVec2 room = ImGui::GetContentRegionAvail();
        if (view_.page == curvesPage) return drawLower(ui);
        if (view_.page == settingsPage) {
            ImGui::BeginChild("settings", room);
            drawSettingsBar(parts(ui), true);
            ImGui::EndChild();
            return;
        }
        if (view_.page == dataPage) {
            ImGui::BeginChild("data", {narrow ? room.x : ui.px(190), room.y});
            drawDataPanel(parts(ui), false);
            ImGui::EndChild();
            renewPictures(ui);
        } else if (view_.page == networkPage) {
            drawNetwork(parts(ui), {narrow ? room.x : (room.x - gap) * 0.48f, room.y});
            renewPictures(ui);
        }
        if (narrow && view_.page != answerPage) return;
        if (!narrow) ImGui::SameLine(0, gap);
        drawAnswer(parts(ui), {0, 0}, true);
    }

    /// What it has learned, once most of what it was not trained on is right.
    std::string headlineText(const Ui& ui) const {
        constexpr double learned = 0.95;
        const double accuracy = model_.moment().test.accuracy;
        if (ui.masked || model_.step() == 0 || model_.settings().classes() == 0 || !(accuracy >= learned))
            return std::string(translated("Can this network learn which colour belongs where?"));
        // With the digits of the figure on the right: the two are one number.
        return translatedFormat("It has learned which colour belongs where: {:.1f} % right", 100 * accuracy);
    }

    void drawFailure(Ui& ui) {
        ui.paragraph(translatedParts(model_.failure()), ui.theme.bad);
        if (ui.primaryButton("Undo 100 steps##failure", undoStepsWords)) model_.undo(undoSteps);
        ImGui::SameLine();
        if (ui.button("A tenth of the learning rate##failure",
                      "Divides the learning rate by 10, so that training no longer diverges."))
            model_.edit([](PlaygroundSettings& settings) {
                settings.train.optimizer.learningRate = settings.train.optimizer.effectiveLearningRate() / 10;
            });
    }

    void drawLower(Ui& ui) {
        const std::string names[] = {"Losses", "Weights"};
        ui.segments("##lower", "What is shown below: losses by step, or histograms of the weights.",
                    view_.lower, names);
        if (!model_.failed()) {
            ImGui::SameLine(0, ui.px(16));
            if (ui.button("Undo 100 steps##undo", undoStepsWords, model_.canUndo())) model_.undo(undoSteps);
            ImGui::SameLine();
            if (ui.button("Undo##edit", "Takes back the last change that you made by hand.",
                          model_.edits() > 0))
                model_.undoEdit();
            ui.explainItem({.title = "Undo", .text = "Takes back your last change. Ctrl+Y makes it again."});
        }
        if (view_.lower == weightsBelow)
            drawWeights(parts(ui));
        else
            drawCurves(ui);
    }

    void drawCurves(Ui& ui) {
        const LossHistory& history = model_.history();
        const std::span<const double> steps = history.steps();
        // Flat out, all that happens early would soon be a line along the axis.
        const bool longRun = model_.flatOut() && model_.step() > longRunSteps;
        const PlotLine lines[] = {
            {.name = "train", .colour = ui.theme.text, .x = steps, .y = history.train()},
            {.name = "test", .colour = ui.theme.muted, .dashed = true, .x = steps, .y = history.test()}};
        plot_.draw(ui, "playground losses",
                   "Loss on training points and on test points, step by step. A growing gap is overfitting.",
                   lines,
                   {.x = {.title = "step", .unit = "", .log = longRun, .whole = true},
                    .y = {.title = "loss", .unit = ""},
                    .empty = "Press Run to see the losses here."});
    }

    PlaygroundModel model_;
    PlaygroundEdits edits_{model_};
    PlaygroundView view_;
    PlanePictures pictures_;
    TuningNotice tuning_;
    Plot plot_;
    bool told_ = false;      // of the failure
    bool replaced_ = false;  // work that no file holds, by another state: to be said
    std::size_t loaded_ = 0; // edits when a state was last loaded: later ones are such work
};

} // namespace

std::unique_ptr<Exhibit> makePlayground() { return std::make_unique<PlaygroundExhibit>(); }

} // namespace lockstep::demos
