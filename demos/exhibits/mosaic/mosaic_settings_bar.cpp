// The mosaic's settings, in fields above it.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/exhibits/mosaic/mosaic_words.h"
#include "demos/kit/run_form.h"
#include "demos/options/parse.h"
#include "engine/data/points_2d.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t sizes[] = {8, 16, 32, 64};
constexpr std::size_t mostBatch = 256; // of every network: thousands share the device's memory
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

void sizeField(Ui& ui, RunForm& form, PopulationSpec& spec) {
    form.add("size", "Networks", 90, [&](const char* control) {
        std::vector<std::string> names;
        for (const std::size_t size : sizes) names.push_back(fmt::format("{} x {}", size, size));
        std::string chosen = fmt::format("{} x {}", spec.columns, spec.rows);
        if (!chooseText(ui, control, chosen, names)) return false;
        spec.columns = spec.rows = std::stoul(chosen);
        return true;
    });
}

/// `other` is the other axis, which gets what this one had when it takes the other's hyperparameter.
void axisFields(Ui& ui, RunForm& form, const char* axisName, PopulationAxis& axis, PopulationAxis& other) {
    form.add(axisName, axisName, 94, [&](const char* control) {
        Hyperparameter parameter = axis.parameter;
        if (!chooseName(ui, control, parameter, parameters)) return false;
        if (parameter == other.parameter)
            std::swap(axis, other);
        else
            axis = usualAxis(parameter);
        return true;
    });
    form.text(fmt::format("{} range", axisName), "from : to", 108, rangeText(axis),
              [&](const std::string& typed) {
                  axis = populationAxisFromText(fmt::format("{}={}", name(axis.parameter), typed));
              });
}

/// What all networks share; a hyperparameter that lies along an axis is not among it.
void furtherFields(Ui& ui, RunForm& form, MosaicSettings& settings) {
    PopulationSpec& spec = settings.population;
    const auto shared = [&](Hyperparameter parameter) { return spec.axisOf(parameter) == nullptr; };
    if (shared(Hyperparameter::noise)) form.noise(spec.dataOptions.noise);
    form.hidden(spec.hidden);
    if (shared(Hyperparameter::activation)) form.activation(spec.activation);
    form.optimizer(spec.train.optimizer);
    if (shared(Hyperparameter::learningRate)) form.rate(spec.train.optimizer);
    form.batch(spec.train.batch, mostBatch);
    form.text("steps", "Steps", 72, std::to_string(spec.steps),
              [&](const std::string& typed) { spec.steps = wholeNumberFromText(typed, "steps are"); });
    form.choice("layout", "GPU layout", 104, settings.layout, layouts);
    form.add("cpu", "CPU", 36, [&](const char* control) { return ui.checkbox(control, settings.cpu); });
}

} // namespace

MosaicSettings drawMosaicSettings(const MosaicPanel& panel, bool everything) {
    Ui& ui = panel.ui;
    MosaicSettings settings = panel.model.settings();
    PopulationSpec& spec = settings.population;
    RunForm form(ui, "mosaic/");
    sizeField(ui, form, spec);
    form.data(spec.data, {points2dNames.begin(), points2dNames.end()});
    axisFields(ui, form, "x", spec.x, spec.y);
    axisFields(ui, form, "y", spec.y, spec.x);
    if (everything)
        furtherFields(ui, form, settings);
    else
        form.popup("Settings##mosaic", [&] {
            RunForm further(ui, "mosaic/");
            furtherFields(ui, further, settings);
            further.end();
        });
    form.end();
    return settings;
}

} // namespace lockstep::demos
