// The strip of settings above the timeline.
#include <vector>

#include "demos/exhibits/inside/inside_exhibit.h"
#include "demos/kit/fields.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"

namespace lockstep::demos {

namespace {

std::vector<std::string> laneNames(bool gpu) {
    std::vector<std::string> names;
    for (const std::string_view lane : knownLanes())
        if (lane.starts_with(gpu ? "gpu" : "cpu")) names.emplace_back(lane);
    return names;
}

} // namespace

void InsideExhibit::drawSettings(Ui& ui) {
    InsideSettings settings = model_.settings();
    if (textsStale_) {
        hiddenText_ = widthsText(settings.hidden);
        seedText_ = std::to_string(settings.seed);
        textsStale_ = false;
    }
    FieldFlow fields(ui);
    fields.field("##inside/data", "Data", 130,
                 [&](const char* control) { chooseText(ui, control, settings.data, dataNames()); });
    fields.field("##inside/layers", "Hidden layers", 98, [&](const char* control) {
        const auto read = [&](const std::string& text) { settings.hidden = widthsFromText(text); };
        textsStale_ |= textEntered(ui, control, hiddenText_, read);
    });
    fields.field("##inside/activation", "Activation", 106,
                 [&](const char* control) { chooseName(ui, control, settings.activation, allActivations); });
    fields.field("##inside/optimizer", "Optimizer", 106,
                 [&](const char* control) { chooseName(ui, control, settings.optimizer, allOptimizers); });
    fields.field("##inside/batch", "Batch", 86,
                 [&](const char* control) { ui.powerSlider(control, settings.batch, 1, 4096); });
    fields.field("##inside/seed", "Seed", 50, [&](const char* control) {
        const auto read = [&](const std::string& text) { settings.seed = seedFromText(text); };
        textsStale_ |= textEntered(ui, control, seedText_, read);
    });
    fields.keepTogether(2 * 122 + 10);
    for (LaneSpec& lane : settings.lanes)
        fields.field(lane.gpu ? "##inside/gpu" : "##inside/cpu", lane.gpu ? "GPU, below" : "CPU, above", 122,
                     [&](const char* control) {
                         std::string text = lane.text();
                         if (chooseText(ui, control, text, laneNames(lane.gpu)))
                             lane = laneSpecFromText(text);
                     });
    fields.end();
    // Only now, when nothing is half drawn, may what makes no sense be thrown.
    if (settings == model_.settings()) return;
    textsStale_ = true;
    change(settings);
}

} // namespace lockstep::demos
