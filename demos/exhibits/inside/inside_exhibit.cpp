#include "demos/exhibits/inside/inside_exhibit.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/exhibits/inside/shader_edits.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

void InsideExhibit::drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const {
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

void InsideExhibit::update(Ui& ui) {
    model_.update(ui.machines, ui.graphics.device(), ui.delta, ui.scripted);
    if (model_.revision() != seenRevision_) {
        seenRevision_ = model_.revision();
        if (startOver_) view_.selected.index = 0;
        startOver_ = false;
    }
    const StepTrace* trace = model_.trace(view_.selected.machine);
    if (trace != nullptr && !trace->operations.empty())
        view_.selected.index = std::min(view_.selected.index, trace->operations.size() - 1);
    tellOfTrials(ui);
    // Slow motion: operation by operation, and the next step after the last one.
    if (!playing_ || selected() == nullptr || startOver_) return;
    played_ += ui.delta * static_cast<double>(view_.slowSpeed);
    if (played_ >= 1) moveSelection(1);
}

// The source may be out of sight, and a log has nothing else.
void InsideExhibit::tellOfTrials(Ui& ui) {
    const ShaderEdits& edits = model_.edits();
    if (edits.ended() == seenTrials_) return;
    seenTrials_ = edits.ended();
    if (edits.last() == nullptr || edits.last()->verdict == Verdict::passed) return;
    const TrialReport& report = *edits.last();
    const bool unused = report.verdict == Verdict::notUsed;
    ui.say(unused ? Severity::warning : Severity::error,
           report.errors.empty() ? statusOf(edits).text : describe(report.errors.front()),
           unused ? "" : "The previous kernels keep running.");
}

void InsideExhibit::moveSelection(std::ptrdiff_t by) {
    const StepTrace* trace = model_.trace(view_.selected.machine);
    if (trace == nullptr || trace->operations.empty()) return;
    const auto last = static_cast<std::ptrdiff_t>(trace->operations.size()) - 1;
    const std::ptrdiff_t next = static_cast<std::ptrdiff_t>(view_.selected.index) + by;
    played_ = 0;
    if (next > last) {
        model_.step(1);
        startOver_ = true;
        return;
    }
    view_.selected.index = static_cast<std::size_t>(std::max<std::ptrdiff_t>(next, 0));
    timeline_.reveal(*selected());
}

void InsideExhibit::step(Ui&, StepUnit unit) {
    if (unit == StepUnit::kernel) {
        playing_ = false;
        model_.pause();
        moveSelection(1);
    } else if (unit == StepUnit::batch) {
        model_.pause();
        model_.step(1);
    }
}

void InsideExhibit::toFirst() {
    playing_ = startOver_ = false;
    view_.selected.index = 0;
}

void InsideExhibit::change(const RunOptions& settings) {
    model_.change(settings);
    timeline_.view.reset();
    playing_ = startOver_ = false;
}

TimelineRows InsideExhibit::rows() const {
    const auto row = [this](std::size_t machine) {
        return TimelineRow{model_.trace(machine), model_.settings().lanes[machine], model_.edits(),
                           model_.status(machine)};
    };
    return {row(0), row(1)};
}

const TracedOperation* InsideExhibit::operation(OperationAt at) const {
    const StepTrace* trace = model_.trace(at.machine);
    return trace == nullptr || at.index >= trace->operations.size() ? nullptr : &trace->operations[at.index];
}

namespace {

constexpr std::string_view machineWords[] = {"cpu", "gpu"};
constexpr std::string_view tabWords[] = {"tensors", "source", "network"};

/// The field "shown_ms": null or missing is all of the step.
std::optional<std::array<double, 2>> shownFrom(const nlohmann::ordered_json& state) {
    if (!state.contains("shown_ms") || state["shown_ms"].is_null()) return std::nullopt;
    const auto shown = jsonValue<std::vector<double>>(state, "shown_ms");
    if (shown.size() != 2 || !(shown[0] >= 0 && shown[1] > shown[0]))
        throw std::invalid_argument("field 'shown_ms': must be two numbers, the smaller first");
    return std::array{shown[0], shown[1]};
}

} // namespace

nlohmann::ordered_json InsideExhibit::state() const {
    nlohmann::ordered_json json = toJson(model_.settings());
    json["machine"] = machineWords[view_.selected.machine];
    json["operation"] = view_.selected.index;
    json["tab"] = tabWords[static_cast<std::size_t>(view_.tab)];
    json["slow_motion"] = view_.slowSpeed;
    json["settings_shown"] = view_.settingsShown;
    json["editing"] = source_.editing;
    json["shaders"] = toJson(model_.edits().texts());
    json["shown_ms"] = nullptr;
    if (timeline_.view) json["shown_ms"] = *timeline_.view;
    return json;
}

std::function<void()> InsideExhibit::readState(const nlohmann::ordered_json& state) {
    constexpr std::string_view own[] = {"machine",        "operation", "tab",     "slow_motion",
                                        "settings_shown", "editing",   "shaders", "shown_ms"};
    const RunOptions settings = tracedRunFromJson(state, own);
    const ShaderTexts texts = shaderTextsFromJson(state);
    View view;
    view.selected.machine = jsonWordOr(state, "machine", machineWords, 1);
    view.selected.index = jsonValueOr(state, "operation", std::size_t{0});
    view.tab = static_cast<Tab>(jsonWordOr(state, "tab", tabWords));
    view.slowSpeed = static_cast<float>(std::clamp(jsonValueOr(state, "slow_motion", 2.0), 0.25, 20.0));
    view.settingsShown = jsonValueOr(state, "settings_shown", true);
    const bool editing = jsonValueOr(state, "editing", false);
    const auto shown = shownFrom(state);
    return [this, settings, texts, editing, view, shown] {
        change(settings);
        if (texts != model_.edits().texts()) model_.edits().setTexts(texts);
        source_.editing = editing;
        view_ = view;
        timeline_.view = shown;
    };
}

bool InsideExhibit::dropFile(Ui&, const std::filesystem::path& file) {
    if (file.extension() != ".csv") return false;
    RunOptions settings = model_.settings();
    takeDroppedFile(settings, file);
    change(settings);
    return true;
}

std::string InsideExhibit::releaseDevice() {
    playing_ = startOver_ = false;
    model_.releaseDevice();
    tensors_.release();
    if (model_.trace(0) == nullptr) return {};
    return "The traces stay. The next step continues after them.";
}

std::unique_ptr<Exhibit> makeInside() { return std::make_unique<InsideExhibit>(); }

} // namespace lockstep::demos
