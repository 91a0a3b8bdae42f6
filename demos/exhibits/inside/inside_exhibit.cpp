#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/kit/exhibit.h"
#include "demos/report/tuning_notice.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

constexpr double enteringSeconds = 0.4; // in which the inputs alone are seen
constexpr double layerSeconds = 0.6;
constexpr double restingSeconds = 1.5; // for the outputs to be read
constexpr double correctionSeconds = 0.6;

/// The first operation after the forward pass.
std::size_t firstCorrection(const StepTrace& trace) {
    const auto found = std::ranges::find_if(trace.operations, [](const TracedOperation& operation) {
        return operation.shownAs() == Operation::lossAndGradient;
    });
    return static_cast<std::size_t>(found - trace.operations.begin());
}

} // namespace

float PassingExample::layersPassed() const {
    return static_cast<float>(std::max((seconds - enteringSeconds) / layerSeconds, 0.0));
}

float PassingExample::correctionsShown(std::size_t layers) const {
    const double forward = enteringSeconds + layerSeconds * static_cast<double>(layers) + restingSeconds;
    return static_cast<float>((seconds - forward) / correctionSeconds);
}

void PassingExample::advance(double delta, std::size_t layers, std::size_t examples,
                             std::size_t corrections) {
    seconds += delta;
    if (correctionsShown(layers) < static_cast<float>(corrections)) return;
    seconds = 0;
    example = examples == 0 ? 0 : (example + 1) % examples;
}

OperationAt Inside::chosen() const {
    OperationAt shown = view.selected;
    if (model.trace(shown.machine) == nullptr && model.trace(1 - shown.machine) != nullptr)
        shown.machine = 1 - shown.machine;
    const StepTrace* trace = model.trace(shown.machine);
    if (trace == nullptr || trace->operations.empty()) return shown;
    shown.index = std::min(shown.index, trace->operations.size() - 1);
    return shown;
}

OperationAt Inside::at() const {
    OperationAt shown = chosen();
    const StepTrace* trace = model.trace(shown.machine);
    if (trace == nullptr || !examplesPass()) return shown;
    if (correction()) {
        const auto done = static_cast<std::size_t>(passing.correctionsShown(model.shown()->shape.layers()));
        shown.index = std::min(firstCorrection(*trace) + done, trace->operations.size() - 1);
        return shown;
    }
    TracedOperation passed;
    passed.operation = Operation::dense;
    passed.layer =
        std::min(static_cast<std::size_t>(passing.layersPassed()), model.shown()->shape.layers() - 1);
    const std::size_t index = counterpartOf(passed, *trace);
    if (index < trace->operations.size()) shown.index = index;
    return shown;
}

std::optional<float> Inside::correction() const {
    if (!examplesPass() || corrections() == 0) return std::nullopt;
    const float shown = passing.correctionsShown(model.shown()->shape.layers());
    if (shown < 0) return std::nullopt;
    return shown - std::floor(shown);
}

std::size_t Inside::corrections() const {
    const StepTrace* trace = model.trace(chosen().machine);
    return trace == nullptr ? 0 : trace->operations.size() - firstCorrection(*trace);
}

void Inside::select(OperationAt wanted) {
    view.selected = wanted;
    view.examples = playing = false;
    played = 0;
}

void Inside::moveSelection(std::ptrdiff_t by) {
    const OperationAt now = chosen();
    const StepTrace* trace = model.trace(now.machine);
    if (trace == nullptr || trace->operations.empty()) return;
    const auto last = static_cast<std::ptrdiff_t>(trace->operations.size()) - 1;
    const std::ptrdiff_t next = static_cast<std::ptrdiff_t>(now.index) + by;
    view.examples = false;
    played = 0;
    if (next > last) {
        model.step(1);
        startOver = true;
        return;
    }
    view.selected = {now.machine, static_cast<std::size_t>(std::max<std::ptrdiff_t>(next, 0))};
    timeline.reveal(*selected());
}

void Inside::change(const RunOptions& settings) {
    model.change(settings);
    timeline.view.reset();
    picked.reset();
    passing = {};
    playing = startOver = false;
}

const TracedOperation* Inside::operation(OperationAt at) const {
    const StepTrace* trace = model.trace(at.machine);
    return trace == nullptr || at.index >= trace->operations.size() ? nullptr : &trace->operations[at.index];
}

namespace {

constexpr std::string_view machineWords[] = {"cpu", "gpu"};
constexpr std::string_view tabWords[] = {"network", "tensors", "source", "workgroups"};
constexpr std::string_view paneWords[] = {"both", "glsl", "c++"};

/// The field "shown_ms": null or missing is all of the step.
std::optional<std::array<double, 2>> shownFrom(const nlohmann::ordered_json& state) {
    if (!state.contains("shown_ms") || state["shown_ms"].is_null()) return std::nullopt;
    const auto shown = jsonValue<std::vector<double>>(state, "shown_ms");
    if (shown.size() != 2 || !(shown[0] >= 0 && shown[1] > shown[0]))
        throw std::invalid_argument("field 'shown_ms': must be two numbers, the smaller first");
    return std::array{shown[0], shown[1]};
}

class InsideExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "inside"; }
    const char* title() const override { return "Inside a step"; }
    const char* blurb() const override { return "One training step, operation by operation"; }
    const char* words() const override {
        return "Shows each operation of one training step: its time, its tensors and its source.";
    }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // Two rows of bars.
        const float r = size / 2;
        const auto bar = [&](float from, float to, float row) {
            draw.AddRectFilled({centre.x + from * r, centre.y + (row - 0.28f) * r},
                               {centre.x + to * r, centre.y + (row + 0.28f) * r}, colour, size / 16);
        };
        bar(-1, -0.3f, -0.45f);
        bar(-0.15f, 0.25f, -0.45f);
        bar(-1, -0.65f, 0.45f);
        bar(-0.5f, 0.45f, 0.45f);
        bar(0.6f, 1, 0.45f);
    }

    void update(Ui& ui) override {
        inside_.model.clockWorkgroups(inside_.view.tab == workgroupsTab);
        if (inside_.view.tab == workgroupsTab) inside_.model.clockFirst();
        inside_.model.update(ui.machines, ui.graphics.device(), ui.delta, ui.scripted);
        if (inside_.model.revision() != seenRevision_) {
            seenRevision_ = inside_.model.revision();
            if (inside_.startOver) inside_.view.selected.index = 0;
            inside_.startOver = false;
        }
        if (inside_.model.complete()) inside_.view.selected = inside_.chosen();
        messages_.tell(ui, inside_.model.edits(), insideEdits);
        if (inside_.examplesPass()) passOn(ui.delta);
        if (!inside_.playing || inside_.selected() == nullptr || inside_.startOver) return;
        inside_.played += ui.delta * static_cast<double>(inside_.view.slowSpeed);
        if (inside_.played >= 1) inside_.moveSelection(1);
    }
    void draw(Ui& ui) override {
        if (const TuningProgress tuning = inside_.model.tuning(); tuning.going())
            if (tuning_.draw(ui, inside_.model.settings().lanes[1].text(), tuning))
                inside_.model.skipTuning();
        drawInside(ui, inside_);
    }
    void drawDetails(Ui& ui) override { drawInsideDetails(ui, inside_); }
    void drawMenu(Ui& ui) override {
        if (ui.menuItem("All of the step", "Zooms the timeline out to the whole step.", nullptr, false,
                        inside_.timeline.view.has_value()))
            inside_.timeline.view.reset();
    }

    bool running() const override { return inside_.model.running(); }
    void run(Ui&) override {
        inside_.playing = false;
        inside_.model.run();
    }
    void pause() override { inside_.model.pause(); }
    bool canStep(StepUnit unit) const override { return unit != StepUnit::epoch; }
    void step(Ui&, StepUnit unit) override {
        if (unit == StepUnit::kernel) {
            inside_.playing = false;
            inside_.model.pause();
            inside_.moveSelection(1);
        } else if (unit == StepUnit::batch) {
            inside_.model.pause();
            inside_.model.step(1);
        }
    }
    void reset(Ui&) override {
        toFirst();
        inside_.model.reset();
    }
    void reroll(Ui&) override {
        toFirst();
        inside_.model.reroll();
    }
    void setSpeed(Speed speed) override {
        constexpr double steady = 4;   // as often as a person can follow
        constexpr double fastest = 20; // a picture per step: more could not be seen
        inside_.model.setRate(speed <= 0 ? steady : std::min(speed, fastest));
    }
    bool moving() const override {
        return running() || inside_.playing || inside_.examplesPass() || inside_.model.busy();
    }
    EditHistory& edits() override { return edits_; }

    /// "inside.steps" that were traced; of the last one, by machine: "inside.gpu.operations", ".milliseconds"
    /// (its own clock), ".wall_milliseconds" (the host's). Of edited shaders "inside.edited.passed" and
    /// ".failed".
    void measured(MeasuredValues& values) const override {
        for (std::size_t machine = 0; machine < machineCount; ++machine) {
            const std::string name = machine == 0 ? "inside.cpu." : "inside.gpu.";
            // A step of earlier settings is none of these.
            const StepTrace* trace = inside_.model.outdated() ? nullptr : inside_.model.trace(machine);
            const auto add = [&](const char* what, auto number) {
                values[name + what].number =
                    trace == nullptr ? Measured().number : static_cast<double>(number(*trace));
            };
            add("operations", [](const StepTrace& of) { return of.operations.size(); });
            add("milliseconds", [](const StepTrace& of) { return of.totalMs; });
            add("wall_milliseconds", [](const StepTrace& of) { return of.wallMs; });
            if (trace != nullptr) values["inside.steps"].number = static_cast<double>(trace->step + 1);
        }
        values.try_emplace("inside.steps");
        values["inside.edited.passed"] = measuredVerdict(inside_.model.edits().tried());
        values["inside.edited.failed"] = measuredFailure(inside_.model.edits().tried());
    }
    nlohmann::ordered_json state() const override {
        nlohmann::ordered_json json = toJson(inside_.model.settings());
        json["machine"] = machineWords[inside_.view.selected.machine];
        json["operation"] = inside_.view.selected.index;
        json["tab"] = tabWords[inside_.view.tab];
        json["examples"] = inside_.view.examples;
        json["slow_motion"] = inside_.view.slowSpeed;
        json["settings_shown"] = inside_.view.settingsShown;
        json["editing"] = inside_.source.editing;
        json["source"] = paneWords[inside_.source.panes];
        json["shaders"] = toJson(inside_.model.edits().texts());
        json["shown_ms"] = nullptr;
        if (inside_.timeline.view) json["shown_ms"] = *inside_.timeline.view;
        return json;
    }
    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        constexpr std::string_view own[] = {"machine",     "operation",      "tab",     "examples",
                                            "slow_motion", "settings_shown", "editing", "source",
                                            "shaders",     "shown_ms"};
        const RunOptions settings = tracedRunFromJson(state, own);
        const ShaderTexts texts = editedShadersFromJson(state);
        InsideView view;
        view.selected.machine = jsonWordOr(state, "machine", machineWords, 1);
        view.selected.index = jsonValueOr(state, "operation", std::size_t{0});
        view.tab = jsonWordOr(state, "tab", tabWords);
        // Who names an operation wants to see that one.
        view.examples = jsonValueOr(state, "examples", !state.contains("operation"));
        view.slowSpeed = static_cast<float>(std::clamp(jsonValueOr(state, "slow_motion", 2.0), 0.25, 20.0));
        view.settingsShown = jsonValueOr(state, "settings_shown", false);
        const bool editing = jsonValueOr(state, "editing", false);
        const std::size_t panes = jsonWordOr(state, "source", paneWords);
        const auto shown = shownFrom(state);
        return [this, settings, texts, editing, panes, view, shown] {
            inside_.change(settings);
            if (texts != inside_.model.edits().texts()) inside_.model.edits().show(texts);
            inside_.source.editing = editing;
            inside_.source.panes = panes;
            inside_.view = view;
            inside_.timeline.view = shown;
        };
    }
    bool dropFile(Ui& ui, const std::filesystem::path& file) override {
        if (!isTableFile(file)) return false;
        RunOptions settings = inside_.model.settings();
        const std::string filled = takeDroppedFile(settings, file);
        if (!filled.empty()) ui.say(Severity::warning, filled);
        inside_.change(settings);
        return true;
    }
    std::string releaseDevice() override {
        inside_.playing = inside_.startOver = false;
        inside_.model.releaseDevice();
        inside_.tensors.clear();
        if (inside_.model.trace(0) == nullptr) return {};
        return "The traces stay. The next step continues after them.";
    }

  private:
    void toFirst() {
        inside_.playing = inside_.startOver = false;
        inside_.view.selected.index = 0;
        inside_.passing = {};
    }
    void passOn(double seconds) {
        const ShownStep* step = inside_.model.shown();
        const std::size_t layers =
            step != nullptr ? step->shape.layers() : outlineOf(inside_.model.settings()).layers();
        const TracedTensor* inputs =
            step == nullptr ? nullptr
                            : inside_.model.trace(inside_.at().machine)->find({TensorKind::activations, 0});
        inside_.passing.advance(seconds, layers, inputs == nullptr ? 0 : inputs->keptRows(),
                                inside_.corrections());
    }

    struct Edited {
        RunOptions settings;
        ShaderTexts shaders;

        bool operator==(const Edited&) const = default;
    };
    void restore(const Edited& wanted) {
        if (wanted.settings != inside_.model.settings()) inside_.change(wanted.settings);
        ShaderEdits& edits = inside_.model.edits();
        if (wanted.shaders == edits.texts()) return;
        edits.setTexts(wanted.shaders);
        // A draft waits: nobody has tried it, or it has hung the device.
        if (wanted.shaders.empty() || edits.hasPassed(wanted.shaders)) edits.submit();
    }

    Inside inside_;
    TuningNotice tuning_;
    ValueHistory<Edited> edits_{[this] {
                                    return Edited{inside_.model.settings(), inside_.model.edits().texts()};
                                },
                                [this](const Edited& wanted, const Edited&) { restore(wanted); }};
    std::uint64_t seenRevision_ = 0;
    EditMessages messages_;
};

} // namespace

std::unique_ptr<Exhibit> makeInside() { return std::make_unique<InsideExhibit>(); }

} // namespace lockstep::demos
