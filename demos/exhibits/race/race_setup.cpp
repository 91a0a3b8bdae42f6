#include "demos/exhibits/race/race_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/exhibits/race/race_finish.h"
#include "demos/kit/fields.h"
#include "demos/options/parse.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t fewestSamples = 64;
constexpr std::size_t mostSamples = std::size_t{1} << 20;

bool generated(const std::string& data) {
    return data != "fashion-mnist" && data.find(':') == std::string::npos;
}

} // namespace

std::vector<LaneSpec> plannedLanes(const RaceSettings& settings) {
    if (!settings.run.lanes.empty()) return settings.run.lanes;
    return {laneSpecFromText("cpu:best"), laneSpecFromText("gpu:best")};
}

std::string setupText(const RaceSettings& settings) {
    const RunOptions& run = settings.run;
    const OptimizerSettings& optimizer = run.settings.optimizer;
    const auto widths = run.hiddenWidths ? run.hiddenWidths : suitableLayers(run.data);
    const std::string layers = !widths           ? "layers to suit the data"
                               : widths->empty() ? "no hidden layer"
                                                 : fmt::format("{}", fmt::join(*widths, "-"));
    const std::string finish = finishText(run.finish);
    return fmt::format("{}  ·  {} {}  ·  {} {:g}  ·  batch {}  ·  seed {}  ·  {}  ·  {}", run.data, layers,
                       name(run.activation), name(optimizer.kind), optimizer.effectiveLearningRate(),
                       run.settings.batch, run.settings.seed, finish.empty() ? "automatic finish" : finish,
                       settings.together ? "head to head" : "time trial");
}

void RaceSetup::readTexts(const RunOptions& run) {
    layers_ = run.hiddenWidths ? widthsText(*run.hiddenWidths) : "";
    seed_ = std::to_string(run.settings.seed);
    finish_ = finishValueText(run.finish);
    fresh_ = false;
}

void RaceSetup::draw(Ui& ui, RaceSettings& settings) {
    findDevices(ui.scripted);
    if (fresh_) readTexts(settings.run);
    FieldFlow flow(ui, ImGui::GetStyle().WindowPadding.x);
    drawData(ui, flow, settings.run);
    drawNetwork(ui, flow, settings.run);
    drawTraining(ui, flow, settings.run);
    drawFinish(ui, flow, settings);
    flow.newRow();
    drawLanes(ui, flow, settings.run);
    flow.end();
}

void RaceSetup::drawData(Ui& ui, FieldFlow& flow, RunOptions& run) {
    flow.field("##race data", "Data", 150,
               [&](const char* control) { chooseText(ui, control, run.data, dataNames()); });
    if (!generated(run.data)) return;
    flow.field("##race samples", "Points", 110, [&](const char* control) {
        ui.powerSlider(control, run.dataOptions.samples, fewestSamples, mostSamples);
    });
    flow.field("##race noise", "Noise", 90, [&](const char* control) {
        auto noise = static_cast<float>(run.dataOptions.noise);
        if (ui.slider(control, noise, 0, 0.8f)) run.dataOptions.noise = rounded(noise);
    });
}

void RaceSetup::drawNetwork(Ui& ui, FieldFlow& flow, RunOptions& run) {
    flow.field("##race layers", "Hidden layers", 130, [&](const char* control) {
        const auto read = [&run](const std::string& text) {
            if (text.empty())
                run.hiddenWidths.reset();
            else
                run.hiddenWidths = widthsFromText(text);
        };
        fresh_ |= textEntered(ui, control, layers_, read);
        if (!layers_.empty() || ImGui::IsItemActive()) return;
        const ImVec2 at = ImGui::GetItemRectMin();
        const ImVec2 padding = ImGui::GetStyle().FramePadding;
        const auto suitable = suitableLayers(run.data);
        ImGui::GetWindowDrawList()->AddText({at.x + padding.x, at.y + padding.y}, ui.theme.muted,
                                            suitable ? widthsText(*suitable).c_str() : "to suit the data");
    });
    flow.field("##race activation", "Activation", 116,
               [&](const char* control) { chooseName(ui, control, run.activation, allActivations); });
}

void RaceSetup::drawTraining(Ui& ui, FieldFlow& flow, RunOptions& run) {
    OptimizerSettings& optimizer = run.settings.optimizer;
    flow.field("##race optimizer", "Optimizer", 116, [&](const char* control) {
        if (!chooseName(ui, control, optimizer.kind, allOptimizers)) return;
        optimizer.learningRate = 0; // each has a rate and a decay of its own that suit it
        optimizer.weightDecay = -1;
    });
    flow.field("##race rate", "Learning rate", 116, [&](const char* control) {
        auto rate = static_cast<float>(optimizer.effectiveLearningRate());
        if (ui.logSlider(control, rate, 1e-5f, 3.0f, "%.3g")) optimizer.learningRate = rounded(rate);
    });
    flow.field("##race batch", "Batch", 116,
               [&](const char* control) { ui.powerSlider(control, run.settings.batch, 1, largestBatch); });
    flow.field("##race seed", "Seed", 80, [&](const char* control) {
        const auto read = [&run](const std::string& text) { run.settings.seed = seedFromText(text); };
        fresh_ |= textEntered(ui, control, seed_, read);
    });
}

void RaceSetup::drawFinish(Ui& ui, FieldFlow& flow, RaceSettings& settings) {
    FinishLine& line = settings.run.finish;
    const FinishKind before = finishKind(line);
    auto kind = static_cast<std::size_t>(before);
    flow.field("##race finish", "Finish line", 130, [&](const char* control) {
        if (!ui.combo(control, kind, finishKindNames())) return;
        line = usualFinish(static_cast<FinishKind>(kind));
        fresh_ = true;
    });
    if (before != FinishKind::usual)
        flow.field("##race finish at", finishUnit(before), 80, [&](const char* control) {
            const auto read = [&](const std::string& text) { line = finishFromText(before, text); };
            fresh_ |= textEntered(ui, control, finish_, read);
        });
    static const std::vector<std::string> modes = {"time trial", "head to head"};
    auto mode = static_cast<std::size_t>(settings.together ? 1 : 0);
    flow.field("##race mode", "The lanes run", 210, [&](const char* control) {
        if (ui.segments(control, mode, modes)) settings.together = mode == 1;
    });
}

} // namespace lockstep::demos
