// The mosaic's settings, in fields above it.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/exhibits/mosaic/mosaic_words.h"
#include "demos/kit/fields.h"
#include "demos/options/parse.h"
#include "engine/data/points_2d.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t sizes[] = {8, 16, 32, 64};
constexpr Hyperparameter parameters[] = {Hyperparameter::learningRate, Hyperparameter::initialScale,
                                         Hyperparameter::momentum,     Hyperparameter::weightDecay,
                                         Hyperparameter::noise,        Hyperparameter::seed,
                                         Hyperparameter::activation};
constexpr PopulationLayout layouts[] = {PopulationLayout::best, PopulationLayout::invocation,
                                        PopulationLayout::subgroup, PopulationLayout::workgroup};

/// "0.0001:1:log" of "lr=0.0001:1:log".
std::string rangeText(const PopulationAxis& axis) {
    const std::string text = axis.text();
    return text.substr(text.find('=') + 1);
}

void sizeField(Ui& ui, FieldFlow& fields, PopulationSpec& spec) {
    fields.field("##mosaic/size", "Networks", 90, [&](const char* control) {
        std::vector<std::string> names;
        for (const std::size_t size : sizes) names.push_back(fmt::format("{} x {}", size, size));
        const std::string now = fmt::format("{} x {}", spec.columns, spec.rows);
        auto chosen = static_cast<std::size_t>(std::ranges::find(names, now) - names.begin());
        if (chosen == names.size()) names.push_back(now);
        if (ui.combo(control, chosen, names) && chosen < std::size(sizes))
            spec.columns = spec.rows = sizes[chosen];
    });
}

void dataField(Ui& ui, FieldFlow& fields, PopulationSpec& spec) {
    fields.field("##mosaic/data", "Data", 116, [&](const char* control) {
        chooseText(ui, control, spec.data, {points2dNames.begin(), points2dNames.end()});
    });
}

void noiseField(Ui& ui, FieldFlow& fields, PopulationSpec& spec) {
    if (spec.axisOf(Hyperparameter::noise) != nullptr) return;
    fields.field("##mosaic/noise", "Noise", 84, [&](const char* control) {
        auto noise = static_cast<float>(spec.dataOptions.noise);
        if (ui.slider(control, noise, 0, 0.8f)) spec.dataOptions.noise = std::clamp(rounded(noise), 0.0, 0.8);
    });
}

/// `other` is the other axis, which gets what this one had when it takes the other's hyperparameter.
void axisFields(Ui& ui, FieldFlow& fields, const char* axisName, PopulationAxis& axis, PopulationAxis& other,
                std::string& text, bool& stale) {
    const std::string control = fmt::format("##mosaic/{}", axisName);
    const std::string range = fmt::format("##mosaic/{} range", axisName);
    fields.field(control.c_str(), axisName, 94, [&](const char* label) {
        Hyperparameter parameter = axis.parameter;
        if (!chooseName(ui, label, parameter, parameters)) return;
        if (parameter == other.parameter)
            std::swap(axis, other);
        else
            axis = usualAxis(parameter);
    });
    fields.field(range.c_str(), "from : to", 108, [&](const char* label) {
        const auto read = [&](const std::string& typed) {
            axis = populationAxisFromText(fmt::format("{}={}", name(axis.parameter), typed));
        };
        stale |= textEntered(ui, label, text, read);
    });
}

/// Where all networks share it.
void rateField(Ui& ui, FieldFlow& fields, PopulationSpec& spec) {
    if (spec.axisOf(Hyperparameter::learningRate) != nullptr) return;
    fields.field("##mosaic/rate", "Learning rate", 84, [&](const char* control) {
        auto rate = static_cast<float>(spec.train.optimizer.effectiveLearningRate());
        if (ui.logSlider(control, rate, 1e-5f, 10, "%.3g"))
            spec.train.optimizer.learningRate = std::clamp(rounded(rate), 1e-5, 10.0);
    });
}

void networkFields(Ui& ui, FieldFlow& fields, PopulationSpec& spec, MosaicView& view) {
    fields.field("##mosaic/layers", "Hidden layers", 98, [&](const char* control) {
        const auto read = [&](const std::string& text) { spec.hidden = widthsFromText(text); };
        view.textsStale |= textEntered(ui, control, view.hiddenText, read);
    });
    if (spec.axisOf(Hyperparameter::activation) == nullptr)
        fields.field("##mosaic/activation", "Activation", 104,
                     [&](const char* control) { chooseName(ui, control, spec.activation, allActivations); });
    fields.field("##mosaic/optimizer", "Optimizer", 106, [&](const char* control) {
        OptimizerSettings& optimizer = spec.train.optimizer;
        if (!chooseName(ui, control, optimizer.kind, allOptimizers)) return;
        optimizer.learningRate = 0; // each has a rate and a decay of its own that suit it
        optimizer.weightDecay = -1;
    });
    rateField(ui, fields, spec);
    fields.field("##mosaic/batch", "Batch", 84,
                 [&](const char* control) { ui.powerSlider(control, spec.train.batch, 1, 256); });
    fields.field("##mosaic/steps", "Steps", 72, [&](const char* control) {
        const auto read = [&](const std::string& text) {
            spec.steps = wholeNumberFromText(text, "steps are");
        };
        view.textsStale |= textEntered(ui, control, view.stepsText, read);
    });
}

void furtherFields(Ui& ui, FieldFlow& fields, MosaicSettings& settings, MosaicView& view) {
    noiseField(ui, fields, settings.population);
    networkFields(ui, fields, settings.population, view);
    fields.field("##mosaic/layout", "GPU layout", 104,
                 [&](const char* control) { chooseName(ui, control, settings.layout, layouts); });
    fields.field("##mosaic/cpu", "CPU", 36, [&](const char* control) { ui.checkbox(control, settings.cpu); });
}

void furtherPopup(Ui& ui, FieldFlow& fields, MosaicSettings& settings, MosaicView& view) {
    ImVec2 below;
    fields.field("Settings##mosaic", "", 60, [&](const char* control) {
        if (ui.button(control)) ImGui::OpenPopup("settings");
        below = {ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + ui.px(4)};
    });
    ImGui::SetNextWindowPos(below, ImGuiCond_Always, {1, 0});
    ImGui::SetNextWindowSize({std::min(ui.px(440), ImGui::GetIO().DisplaySize.x), 0});
    if (!ImGui::BeginPopup("settings")) return;
    ui.heading("Settings");
    FieldFlow more(ui);
    furtherFields(ui, more, settings, view);
    more.end();
    ImGui::EndPopup();
}

void renewTexts(MosaicView& view, const PopulationSpec& spec) {
    view.xText = rangeText(spec.x);
    view.yText = rangeText(spec.y);
    view.hiddenText = widthsText(spec.hidden);
    view.stepsText = std::to_string(spec.steps);
    view.textsStale = false;
}

} // namespace

MosaicSettings drawMosaicSettings(const MosaicPanel& panel, bool everything) {
    Ui& ui = panel.ui;
    MosaicView& view = panel.view;
    MosaicSettings settings = panel.model.settings();
    PopulationSpec& spec = settings.population;
    if (view.textsStale) renewTexts(view, spec);
    FieldFlow fields(ui);
    sizeField(ui, fields, spec);
    dataField(ui, fields, spec);
    axisFields(ui, fields, "x", spec.x, spec.y, view.xText, view.textsStale);
    axisFields(ui, fields, "y", spec.y, spec.x, view.yText, view.textsStale);
    if (everything)
        furtherFields(ui, fields, settings, view);
    else
        furtherPopup(ui, fields, settings, view);
    fields.end();
    return settings;
}

} // namespace lockstep::demos
