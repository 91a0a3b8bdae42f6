#include "demos/exhibits/race/race_setup.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/exhibits/race/race_finish.h"
#include "demos/exhibits/race/race_flow.h"
#include "demos/options/parse.h"

namespace lockstep::demos {

namespace {

constexpr Activation activations[] = {Activation::relu,    Activation::leakyRelu, Activation::elu,
                                      Activation::gelu,    Activation::silu,      Activation::tanh,
                                      Activation::sigmoid, Activation::identity};
constexpr Optimizer optimizers[] = {Optimizer::adam, Optimizer::adamw, Optimizer::sgd, Optimizer::momentum,
                                    Optimizer::rmsprop};
constexpr std::size_t fewestSamples = 64;
constexpr std::size_t mostSamples = std::size_t{1} << 20;

template <class Enum, std::size_t N>
bool chooseName(Ui& ui, const char* label, Enum& value, const Enum (&all)[N]) {
    std::vector<std::string> names;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < N; ++i) {
        names.emplace_back(name(all[i]));
        if (all[i] == value) chosen = i;
    }
    if (!ui.combo(label, chosen, names)) return false;
    value = all[chosen];
    return true;
}

/// Enter, or leaving the field with something new in it. What `read` throws becomes a message.
template <class Read> bool textEntered(Ui& ui, const char* label, std::string& text, Read read) {
    const bool entered = ui.textField(label, text);
    if (!entered && !ImGui::IsItemDeactivatedAfterEdit()) return false;
    try {
        read(text);
    } catch (const std::exception& error) {
        ui.say(Severity::error, error.what());
    }
    return true;
}

std::vector<std::string> dataNames(const std::string& chosen) {
    std::vector<std::string> names = {"fashion-mnist"};
    for (const std::string_view spec : dataSpecs())
        if (spec != "fashion-mnist" && spec.find(':') == std::string_view::npos) names.emplace_back(spec);
    if (std::ranges::find(names, chosen) == names.end()) names.push_back(chosen);
    return names;
}

bool generated(const std::string& data) {
    return data != "fashion-mnist" && data.find(':') == std::string::npos;
}

std::uint64_t wholeNumber(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("a seed is a whole number from 0 on, not '" + text + "'");
    return value;
}

/// Three digits are what a slider can tell.
double rounded(float value) { return std::stod(fmt::format("{:.3g}", static_cast<double>(value))); }

} // namespace

std::vector<LaneSpec> plannedLanes(const RaceSettings& settings) {
    if (!settings.run.lanes.empty()) return settings.run.lanes;
    return {laneSpecFromText("cpu:best"), laneSpecFromText("gpu:best")};
}

std::string setupText(const RaceSettings& settings) {
    const RunOptions& run = settings.run;
    const OptimizerSettings& optimizer = run.settings.optimizer;
    const std::string layers = !run.hiddenWidths ? "usual layers"
                               : run.hiddenWidths->empty()
                                   ? "no hidden layer"
                                   : fmt::format("{}", fmt::join(*run.hiddenWidths, "-"));
    const std::string finish = finishText(run.finish);
    return fmt::format("{}  ·  {} {}  ·  {} {:g}  ·  batch {}  ·  seed {}  ·  {}  ·  {}", run.data, layers,
                       name(run.activation), name(optimizer.kind), optimizer.effectiveLearningRate(),
                       run.settings.batch, run.settings.seed, finish.empty() ? "usual finish" : finish,
                       settings.together ? "head to head" : "time trial");
}

void RaceSetup::readTexts(const RunOptions& run) {
    layers_ = !run.hiddenWidths           ? ""
              : run.hiddenWidths->empty() ? "none"
                                          : fmt::format("{}", fmt::join(*run.hiddenWidths, ","));
    seed_ = std::to_string(run.settings.seed);
    finish_ = finishValueText(run.finish);
    fresh_ = false;
}

void RaceSetup::draw(Ui& ui, RaceSettings& settings) {
    findDevices(ui.scripted);
    if (fresh_) readTexts(settings.run);
    SetupFlow flow(ui);
    drawData(ui, flow, settings.run);
    drawNetwork(ui, flow, settings.run);
    drawTraining(ui, flow, settings.run);
    drawFinish(ui, flow, settings);
    flow.newRow();
    drawLanes(ui, flow, settings.run);
}

void RaceSetup::drawData(Ui& ui, SetupFlow& flow, RunOptions& run) {
    const std::vector<std::string> names = dataNames(run.data);
    std::size_t chosen = static_cast<std::size_t>(std::ranges::find(names, run.data) - names.begin());
    if (flow.begin("##race data", "Data", 150)) {
        if (ui.combo("##race data", chosen, names)) run.data = names[chosen];
        flow.end();
    }
    if (!generated(run.data)) return;
    if (flow.begin("##race samples", "Points", 110)) {
        ui.powerSlider("##race samples", run.dataOptions.samples, fewestSamples, mostSamples);
        flow.end();
    }
    if (flow.begin("##race noise", "Noise", 90)) {
        auto noise = static_cast<float>(run.dataOptions.noise);
        if (ui.slider("##race noise", noise, 0, 0.8f)) run.dataOptions.noise = rounded(noise);
        flow.end();
    }
}

void RaceSetup::drawNetwork(Ui& ui, SetupFlow& flow, RunOptions& run) {
    if (flow.begin("##race layers", "Hidden layers", 130)) {
        const auto read = [&run](const std::string& text) {
            if (text.empty())
                run.hiddenWidths.reset();
            else
                run.hiddenWidths = widthsFromText(text);
        };
        if (textEntered(ui, "##race layers", layers_, read)) fresh_ = true;
        if (layers_.empty() && !ImGui::IsItemActive()) {
            const ImVec2 at = ImGui::GetItemRectMin();
            const ImVec2 padding = ImGui::GetStyle().FramePadding;
            ImGui::GetWindowDrawList()->AddText({at.x + padding.x, at.y + padding.y}, ui.theme.muted,
                                                "as usual");
        }
        flow.end();
    }
    if (flow.begin("##race activation", "Activation", 116)) {
        chooseName(ui, "##race activation", run.activation, activations);
        flow.end();
    }
}

void RaceSetup::drawTraining(Ui& ui, SetupFlow& flow, RunOptions& run) {
    OptimizerSettings& optimizer = run.settings.optimizer;
    if (flow.begin("##race optimizer", "Optimizer", 116)) {
        if (chooseName(ui, "##race optimizer", optimizer.kind, optimizers)) {
            optimizer.learningRate = 0; // each has a rate and a decay of its own that suit it
            optimizer.weightDecay = -1;
        }
        flow.end();
    }
    if (flow.begin("##race rate", "Learning rate", 116)) {
        auto rate = static_cast<float>(optimizer.effectiveLearningRate());
        if (ui.logSlider("##race rate", rate, 1e-5f, 3.0f, "%.3g")) optimizer.learningRate = rounded(rate);
        flow.end();
    }
    if (flow.begin("##race batch", "Batch", 116)) {
        ui.powerSlider("##race batch", run.settings.batch, 1, largestBatch);
        flow.end();
    }
    if (flow.begin("##race seed", "Seed", 80)) {
        const auto read = [&run](const std::string& text) { run.settings.seed = wholeNumber(text); };
        if (textEntered(ui, "##race seed", seed_, read)) fresh_ = true;
        flow.end();
    }
}

void RaceSetup::drawFinish(Ui& ui, SetupFlow& flow, RaceSettings& settings) {
    FinishLine& line = settings.run.finish;
    const FinishKind before = finishKind(line);
    auto kind = static_cast<std::size_t>(before);
    if (flow.begin("##race finish", "Finish line", 130)) {
        if (ui.combo("##race finish", kind, finishKindNames())) {
            line = usualFinish(static_cast<FinishKind>(kind));
            fresh_ = true;
        }
        flow.end();
    }
    if (before != FinishKind::usual && flow.begin("##race finish at", finishUnit(before), 80)) {
        const auto read = [&](const std::string& text) { line = finishFromText(before, text); };
        if (textEntered(ui, "##race finish at", finish_, read)) fresh_ = true;
        flow.end();
    }
    static const std::vector<std::string> modes = {"time trial", "head to head"};
    auto mode = static_cast<std::size_t>(settings.together ? 1 : 0);
    if (flow.begin("##race mode", "The lanes run", 210)) {
        if (ui.segments("##race mode", mode, modes)) settings.together = mode == 1;
        flow.end();
    }
}

} // namespace lockstep::demos
