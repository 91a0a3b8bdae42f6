#include "demos/kit/run_form.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/options/setting_words.h"

namespace lockstep::demos {

namespace {

constexpr NameOf<Schedule> schedules[] = {
    {Schedule::constant, "constant"}, {Schedule::step, "in steps"}, {Schedule::cosine, "cosine"}};
constexpr InitScheme schemes[] = {InitScheme::xavier, InitScheme::he, InitScheme::lecun, InitScheme::uniform,
                                  InitScheme::zeros};

} // namespace

std::vector<std::string> rungNames(std::optional<bool> gpu) {
    std::vector<std::string> names;
    for (const std::string_view lane : knownLanes())
        if (!gpu || lane.starts_with(*gpu ? "gpu" : "cpu")) names.emplace_back(lane);
    return names;
}

void RunForm::table(TableOptions& table, const std::string& data,
                    const std::vector<std::string>& understood) {
    if (!data.starts_with("csv:")) return;
    const std::string button = "Table##" + prefix_ + "table";
    popup(button.c_str(),
          "How the table is read: its target, what is left out, missing cells, and the scale of its numbers.",
          [&] {
              RunForm form(ui_, prefix_ + "table ");
              form.text("target", "Target",
                        "The target's column: a name, a number from 1, first or last; several, separated by "
                        "commas, for several values. Empty: inferred.",
                        120, table.target, [&](const std::string& typed) { table.target = typed; });
              form.choice("task", "Task",
                          "Whether the target is a class or a value. Automatic: classes for words and small "
                          "whole numbers.",
                          104, table.task, tableTasks);
              form.choice("scale", "Scale",
                          "What happens to the numbers: standard (mean 0, deviation 1), pixels (divided by "
                          "255), or none.",
                          104, table.scale, inputScales);
              form.choice("missing", "Missing cells",
                          "Rows with an empty cell: an error, left out, or filled in with the column's mean.",
                          104, table.missing, missingCells);
              form.text("ignore", "Leave out",
                        "Columns to leave out, by name or number, separated by commas. none keeps even those "
                        "that only number the rows.",
                        120, fmt::format("{}", fmt::join(table.ignore, ",")),
                        [&](const std::string& typed) { table.ignore = namesFromText(typed); });
              form.choice("header", "Header", "Whether the first row has the columns' names.", 104,
                          table.header, tableHeaders);
              form.choice("separator", "Separator", "What stands between the table's fields.", 104,
                          table.separator, tableSeparators);
              form.choice("decimal", "Decimal sign", "The decimal sign of the table's numbers.", 104,
                          table.decimal, tableDecimals);
              form.end();
              for (const std::string& sentence : understood) ui_.paragraph(sentence, ui_.theme.muted);
              changed_ |= form.changed();
          });
}

void RunForm::hidden(std::optional<std::vector<std::size_t>>& widths, const std::string& data) {
    add("layers", "Hidden layers", 110, [&](const char* control) {
        const auto read = [&](const std::string& typed) {
            widths = typed.empty() ? std::nullopt : std::optional(widthsFromText(typed));
        };
        const bool entered = textEntered(ui_, control, layersWords, widths ? widthsText(*widths) : "", read);
        if (widths || ImGui::IsItemActive() || ui_.hidden(control)) return entered;
        const auto suitable = suitableLayers(data);
        const ImVec2 at = ImGui::GetItemRectMin();
        const ImVec2 padding = ImGui::GetStyle().FramePadding;
        ImGui::GetWindowDrawList()->AddText({at.x + padding.x, at.y + padding.y}, ui_.theme.muted,
                                            suitable ? widthsText(*suitable).c_str() : "automatic");
        return entered;
    });
}

void RunForm::init(InitScheme& value) {
    choice("init", "Initial weights",
           "Distribution of the initial weights. It decides whether signals keep their size from layer to "
           "layer.",
           104, value, schemes);
}

void RunForm::optimizer(OptimizerSettings& settings) {
    add("optimizer", "Optimizer", 106, [&](const char* control) {
        if (!chooseName(ui_, control,
                        "The rule that turns a gradient into new weights. Choosing one also sets its usual "
                        "learning rate.",
                        settings.kind, allOptimizers))
            return false;
        settings.learningRate.reset(); // to the optimizer's own
        settings.weightDecay.reset();
        if (!infoOf(settings.kind).has(usesMomentum)) settings.nesterov = false;
        return true;
    });
}

void RunForm::setting(OptimizerSettings& settings, std::string_view key) {
    const SettingRow& row = settingRow(key);
    const SettingWords& words = settingWords(key);
    const auto moved = [&](double& shown) {
        return number(words.control, words.title, words.explanation, shown, words.from, words.to,
                      words.format, words.logarithmic ? Scale::logarithmic : Scale::linear);
    };
    if (const auto* own = std::get_if<OwnOrSet>(&row.field)) {
        double shown = (settings.*(own->effective))();
        if (moved(shown)) settings.*(own->field) = shown;
    } else if (const auto* value = std::get_if<double OptimizerSettings::*>(&row.field)) {
        moved(settings.*(*value));
    } else if (const auto* count = std::get_if<std::uint64_t OptimizerSettings::*>(&row.field)) {
        auto shown = static_cast<double>(settings.*(*count));
        if (moved(shown)) settings.*(*count) = static_cast<std::uint64_t>(std::llround(shown));
    } else {
        bool& on = settings.*std::get<bool OptimizerSettings::*>(row.field);
        add(words.control, words.title, 92,
            [&](const char* control) { return ui_.checkbox(control, words.explanation, on); });
    }
}

void RunForm::rate(OptimizerSettings& settings) { setting(settings, "lr"); }

void RunForm::regularisation(OptimizerSettings& settings) {
    for (const char* key : {"weight_decay", "l1"}) setting(settings, key);
}

void RunForm::moments(OptimizerSettings& settings) {
    for (const SettingRow& row : settingTable)
        if (row.users != usesNothing && infoOf(settings.kind).has(row.users)) setting(settings, row.key);
}

void RunForm::schedule(OptimizerSettings& settings) {
    choice("schedule", "Schedule",
           "How the learning rate changes with the step: constant, in steps, or down a cosine.", 104,
           settings.schedule, schedules);
    if (settings.schedule != Schedule::constant) setting(settings, "schedule_steps");
    if (settings.schedule == Schedule::step) setting(settings, "schedule_gamma");
    setting(settings, "warmup_steps");
}

void RunForm::threads(std::size_t& threads, std::size_t all) {
    add("threads", "CPU threads", 90, [&](const char* control) {
        std::size_t stop = (threads == 0 ? all : std::min(threads, all)) - 1;
        if (!ui_.stopSlider(control, "CPU lanes that use all cores take at most so many threads.", stop, all,
                            threads == 0 ? "all" : std::to_string(threads)))
            return false;
        threads = stop + 1 < all ? stop + 1 : 0;
        return true;
    });
}

namespace {

enum class StoredAs { master, nearest, stochastic };
constexpr NameOf<StoredAs> storedAsNames[] = {{StoredAs::master, "master weights"},
                                              {StoredAs::nearest, "to nearest"},
                                              {StoredAs::stochastic, "stochastic"}};

} // namespace

void RunForm::parameters(PrecisionSettings& precision) {
    if (!canStoreParameters(precision.format)) {
        precision.masterWeights = true;
        return;
    }
    storage(precision);
}

void RunForm::storage(PrecisionSettings& precision) {
    const bool stochastic = precision.rounding == RoundingMode::stochastic;
    StoredAs stored = precision.masterWeights ? StoredAs::master
                      : stochastic            ? StoredAs::stochastic
                                              : StoredAs::nearest;
    choice("parameters", "Parameters",
           "Master weights: the optimizer changes fp32 parameters, and products read rounded copies. "
           "Otherwise the parameters themselves are rounded after each update: to the nearest number, which "
           "loses small updates, or stochastically, which keeps them on average.",
           136, stored, storedAsNames);
    precision.masterWeights = stored == StoredAs::master;
    if (!precision.masterWeights)
        precision.rounding =
            stored == StoredAs::stochastic ? RoundingMode::stochastic : RoundingMode::nearest;
}

void RunForm::memory(TrainSettings& settings, std::size_t hiddenLayers) {
    constexpr std::size_t mostParts = 256;
    const int mostKept = static_cast<int>(std::clamp<std::size_t>(hiddenLayers, 1, 1024));
    constexpr Offload offloads[] = {Offload::none, Offload::optimizer, Offload::activations, Offload::both};
    MemorySettings& memory = settings.memory;
    const std::string button = "Memory##" + prefix_ + "memory";
    popup(button.c_str(),
          "Ways to train with less memory. Each costs time; results stay the same, up to rounding.", [&] {
              RunForm form(ui_, prefix_ + "memory ");
              form.add("recompute", "Keep one layer in", 120, [&](const char* control) {
                  int every = static_cast<int>(memory.recompute);
                  if (!ui_.intSlider(
                          control,
                          "Of so many layers, one layer's outputs are kept for the backward pass. The others "
                          "are computed again: the same bits, for up to a third more arithmetic.",
                          every, 1, mostKept))
                      return false;
                  memory.recompute = static_cast<std::size_t>(std::clamp(every, 1, mostKept));
                  return true;
              });
              form.add("accumulate", "Batch in parts", 120, [&](const char* control) {
                  return ui_.powerSlider(
                      control,
                      "Takes each batch in so many parts, one after the other, and adds up their "
                      "gradients before the weights change.",
                      memory.accumulate, 1, std::min(mostParts, std::bit_floor(settings.batch)));
              });
              form.choice(
                  "offload", "In the host's memory",
                  "What GPU lanes leave in the host's memory: the optimizer's state, which kernels then read "
                  "and write over the bus; layers' outputs, which are copied there and back for the backward "
                  "pass; or both.",
                  140, memory.offload, offloads);
              form.end();
              changed_ |= form.changed();
          });
    // The batch or the network may have become smaller.
    memory.accumulate = std::min(memory.accumulate, settings.batch);
    memory.recompute = std::min(memory.recompute, static_cast<std::size_t>(mostKept));
}

void RunForm::workgroups(std::size_t& workgroups) {
    constexpr std::size_t powers = 13; // 1 to 4,096, which is what the largest GPUs take; then "all"
    add("workgroups", "GPU workgroups", 100, [&](const char* control) {
        std::size_t stop =
            workgroups == 0 ? powers : static_cast<std::size_t>(std::bit_width(workgroups)) - 1;
        stop = std::min(stop, powers);
        const std::string shown = workgroups == 0 ? "all" : std::to_string(workgroups);
        if (!ui_.stopSlider(control,
                            "At most so many workgroups of a GPU lane run at once. Every dispatch of a step "
                            "is cut into pieces of that size; each piece waits for the one before. On "
                            "llvmpipe, no more run at once than it has threads.",
                            stop, powers + 1, shown))
            return false;
        workgroups = stop < powers ? std::size_t{1} << stop : 0;
        return true;
    });
}

bool RunForm::number(std::string_view field, const char* title, std::string_view words, double& value,
                     float from, float to, const char* format, Scale scale) {
    bool moved = false;
    add(field, title, 86, [&](const char* control) {
        auto shown = static_cast<float>(value);
        moved = scale == Scale::logarithmic ? ui_.logSlider(control, words, shown, from, to, format)
                                            : ui_.slider(control, words, shown, from, to, format);
        // Ctrl and a click let any number be typed. Without a float's last digits: 0.03f as 0.03.
        if (moved) value = std::stod(fmt::format("{}", std::clamp(shown, from, to)));
        return moved;
    });
    return moved;
}

} // namespace lockstep::demos
