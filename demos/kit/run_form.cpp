#include "demos/kit/run_form.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep::demos {

namespace {

constexpr Schedule schedules[] = {Schedule::constant, Schedule::step, Schedule::cosine};
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
    popup(button.c_str(), [&] {
        RunForm form(ui_, prefix_ + "table ");
        form.text("target", "Target", 120, table.target,
                  [&](const std::string& typed) { table.target = typed; });
        form.choice("task", "Task", 104, table.task, tableTasks);
        form.choice("scale", "Scale", 104, table.scale, inputScales);
        form.choice("missing", "Missing cells", 104, table.missing, missingCells);
        form.text("ignore", "Leave out", 120, fmt::format("{}", fmt::join(table.ignore, ",")),
                  [&](const std::string& typed) { table.ignore = namesFromText(typed); });
        form.choice("header", "Header", 104, table.header, tableHeaders);
        form.choice("separator", "Separator", 104, table.separator, tableSeparators);
        form.choice("decimal", "Decimal sign", 104, table.decimal, tableDecimals);
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
        const bool entered = textEntered(ui_, control, widths ? widthsText(*widths) : "", read);
        if (widths || ImGui::IsItemActive() || ui_.hidden(control)) return entered;
        const auto suitable = suitableLayers(data);
        const ImVec2 at = ImGui::GetItemRectMin();
        const ImVec2 padding = ImGui::GetStyle().FramePadding;
        ImGui::GetWindowDrawList()->AddText({at.x + padding.x, at.y + padding.y}, ui_.theme.muted,
                                            suitable ? widthsText(*suitable).c_str() : "automatic");
        return entered;
    });
}

void RunForm::init(InitScheme& value) { choice("init", "Initial weights", 104, value, schemes); }

void RunForm::optimizer(OptimizerSettings& settings) {
    add("optimizer", "Optimizer", 106, [&](const char* control) {
        if (!chooseName(ui_, control, settings.kind, allOptimizers)) return false;
        settings.learningRate.reset(); // to the optimizer's own
        settings.weightDecay.reset();
        if (!infoOf(settings.kind).has(usesMomentum)) settings.nesterov = false;
        return true;
    });
}

void RunForm::rate(OptimizerSettings& settings) {
    double rate = settings.effectiveLearningRate();
    if (number("rate", "Learning rate", rate, lowestRate, highestRate, "%.3g")) settings.learningRate = rate;
}

void RunForm::regularisation(OptimizerSettings& settings) {
    double decay = settings.effectiveWeightDecay();
    if (number("l2", "L2", decay, 0, 1, "%.3g")) settings.weightDecay = decay;
    number("l1", "L1", settings.l1, 0, 1, "%.3g");
}

void RunForm::moments(OptimizerSettings& settings) {
    const OptimizerInfo info = infoOf(settings.kind);
    if (info.has(usesMomentum)) {
        number("momentum", "Momentum", settings.momentum, 0.01f, 0.999f, "%.3f", Scale::linear);
        add("nesterov", "Nesterov", 92,
            [&](const char* control) { return ui_.checkbox(control, settings.nesterov); });
    }
    if (info.has(usesBetas)) {
        number("beta1", "Beta 1", settings.beta1, 0, 0.999f, "%.3f", Scale::linear);
        number("beta2", "Beta 2", settings.beta2, 0, 0.9999f, "%.4f", Scale::linear);
    }
    if (info.has(usesAlpha)) number("alpha", "Alpha", settings.alpha, 0, 0.999f, "%.3f", Scale::linear);
    if (info.has(usesEpsilon)) number("epsilon", "Epsilon", settings.epsilon, 1e-10f, 1e-2f, "%.1e");
}

void RunForm::schedule(OptimizerSettings& settings) {
    choice("schedule", "Schedule", 104, settings.schedule, schedules);
    if (settings.schedule != Schedule::constant)
        count("schedule steps", "Schedule steps", settings.scheduleSteps, 10, 100000);
    if (settings.schedule == Schedule::step)
        number("gamma", "Factor", settings.scheduleGamma, 0.01f, 1, "%.2f", Scale::linear);
    count("warm-up", "Warm-up steps", settings.warmupSteps, 0, 10000);
}

void RunForm::threads(std::size_t& threads, std::size_t all) {
    add("threads", "CPU threads", 90, [&](const char* control) {
        std::size_t stop = (threads == 0 ? all : std::min(threads, all)) - 1;
        if (!ui_.stopSlider(control, stop, all, threads == 0 ? "all" : std::to_string(threads))) return false;
        threads = stop + 1 < all ? stop + 1 : 0;
        return true;
    });
}

void RunForm::workgroups(std::size_t& workgroups) {
    constexpr std::size_t powers = 13; // 1 to 4,096, which is what the largest GPUs take; then "all"
    add("workgroups", "GPU workgroups", 100, [&](const char* control) {
        std::size_t stop =
            workgroups == 0 ? powers : static_cast<std::size_t>(std::bit_width(workgroups)) - 1;
        stop = std::min(stop, powers);
        const std::string shown = workgroups == 0 ? "all" : std::to_string(workgroups);
        if (!ui_.stopSlider(control, stop, powers + 1, shown)) return false;
        workgroups = stop < powers ? std::size_t{1} << stop : 0;
        return true;
    });
}

bool RunForm::number(std::string_view field, const char* title, double& value, float from, float to,
                     const char* format, Scale scale) {
    bool moved = false;
    add(field, title, 86, [&](const char* control) {
        auto shown = static_cast<float>(value);
        moved = scale == Scale::logarithmic ? ui_.logSlider(control, shown, from, to, format)
                                            : ui_.slider(control, shown, from, to, format);
        // Ctrl and a click let any number be typed. Without a float's last digits: 0.03f as 0.03.
        if (moved) value = std::stod(fmt::format("{}", std::clamp(shown, from, to)));
        return moved;
    });
    return moved;
}

void RunForm::count(std::string_view field, const char* title, std::uint64_t& value, float from, float to) {
    auto shown = static_cast<double>(value);
    if (number(field, title, shown, from, to, "%.0f"))
        value = static_cast<std::uint64_t>(std::llround(shown));
}

} // namespace lockstep::demos
