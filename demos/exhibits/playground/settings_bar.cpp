// The playground's settings of training: the ones that a lesson turns to in a row, all others in a popup.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/playground/playground_view.h"
#include "demos/kit/fields.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

namespace {

constexpr Loss losses[] = {Loss::binaryCrossEntropy, Loss::crossEntropy, Loss::meanSquared, Loss::huber};
constexpr Loss valueLosses[] = {Loss::meanSquared, Loss::huber};
constexpr Schedule schedules[] = {Schedule::constant, Schedule::step, Schedule::cosine};
constexpr InitScheme schemes[] = {InitScheme::xavier, InitScheme::he, InitScheme::lecun, InitScheme::uniform,
                                  InitScheme::zeros};

/// Fields for names and numbers.
class Fields : public FieldFlow {
  public:
    explicit Fields(Ui& ui) : FieldFlow(ui), ui_(ui) {}

    template <class Enum, std::size_t N>
    bool choice(const char* name, const char* control, float units, Enum& value, const Enum (&all)[N]) {
        bool changed = false;
        field(control, name, units, [&](const char* label) { changed = chooseName(ui_, label, value, all); });
        return changed;
    }

    bool number(const char* name, const char* control, double& value, float from, float to,
                const char* format, bool logarithmic = true) {
        bool changed = false;
        field(control, name, 84, [&](const char* label) {
            auto shown = static_cast<float>(value);
            changed = logarithmic ? ui_.logSlider(label, shown, from, to, format)
                                  : ui_.slider(label, shown, from, to, format);
            if (changed)
                value = std::clamp(static_cast<double>(shown), static_cast<double>(from),
                                   static_cast<double>(to));
        });
        return changed;
    }

    bool plain(const char* name, const char* control, double& value, float from, float to,
               const char* format) {
        return number(name, control, value, from, to, format, false);
    }

    bool steps(const char* name, const char* control, std::uint64_t& value, float from, float to) {
        auto real = static_cast<double>(value);
        if (!number(name, control, real, from, to, "%.0f")) return false;
        value = static_cast<std::uint64_t>(std::llround(real));
        return true;
    }

  private:
    Ui& ui_;
};

bool lossField(Fields& fields, PlaygroundSettings& settings) {
    Loss loss = settings.effectiveLoss();
    const bool values = settings.classes() == 0;
    const bool changed = values ? fields.choice("Loss", "##loss", 136, loss, valueLosses)
                                : fields.choice("Loss", "##loss", 136, loss, losses);
    if (changed) settings.loss = loss;
    return changed;
}

bool commonFields(Fields& fields, PlaygroundSettings& settings) {
    OptimizerSettings& optimizer = settings.train.optimizer;
    bool changed = fields.choice("Activation", "##activation", 108, settings.activation, allActivations);
    changed |= lossField(fields, settings);
    if (fields.choice("Optimizer", "##optimizer", 116, optimizer.kind, allOptimizers)) {
        if (!infoOf(optimizer.kind).has(usesMomentum)) optimizer.nesterov = false;
        changed = true;
    }
    changed |= fields.number("Learning rate", "##rate", optimizer.learningRate, 1e-5f, 10, "%.3g");
    changed |= fields.number("L2", "##l2", optimizer.weightDecay, 0, 1, "%.3g");
    changed |= fields.number("L1", "##l1", optimizer.l1, 0, 1, "%.3g");
    return changed;
}

bool optimizerFields(Ui& ui, Fields& fields, OptimizerSettings& optimizer) {
    bool changed = false;
    const OptimizerInfo info = infoOf(optimizer.kind);
    if (info.has(usesMomentum)) {
        changed |= fields.plain("Momentum", "##momentum", optimizer.momentum, 0.01f, 0.999f, "%.3f");
        fields.field("##nesterov", "Nesterov", 92,
                     [&](const char* label) { changed |= ui.checkbox(label, optimizer.nesterov); });
    }
    if (info.has(usesBetas)) {
        changed |= fields.plain("Beta 1", "##beta1", optimizer.beta1, 0, 0.999f, "%.3f");
        changed |= fields.plain("Beta 2", "##beta2", optimizer.beta2, 0, 0.9999f, "%.4f");
    }
    if (info.has(usesAlpha)) changed |= fields.plain("Alpha", "##alpha", optimizer.alpha, 0, 0.999f, "%.3f");
    if (info.has(usesEpsilon))
        changed |= fields.number("Epsilon", "##epsilon", optimizer.epsilon, 1e-10f, 1e-2f, "%.1e");
    return changed;
}

bool scheduleFields(Fields& fields, OptimizerSettings& optimizer) {
    bool changed = fields.choice("Schedule", "##schedule", 104, optimizer.schedule, schedules);
    if (optimizer.schedule != Schedule::constant)
        changed |= fields.steps("Its steps", "##schedule steps", optimizer.scheduleSteps, 10, 100000);
    if (optimizer.schedule == Schedule::step)
        changed |= fields.plain("Factor", "##gamma", optimizer.scheduleGamma, 0.01f, 1, "%.2f");
    changed |= fields.steps("Warm-up steps", "##warm-up", optimizer.warmupSteps, 0, 10000);
    return changed;
}

bool laneField(Ui& ui, Fields& fields, PlaygroundSettings& settings) {
    bool changed = false;
    fields.field("##lane", "Trains on", 120, [&](const char* label) {
        std::vector<std::string> names{"automatic"};
        std::size_t chosen = 0;
        for (const std::string_view lane : knownLanes()) {
            if (lane == settings.lane) chosen = names.size();
            names.emplace_back(lane);
        }
        changed = ui.combo(label, chosen, names);
        if (changed) settings.lane = chosen == 0 ? "" : names[chosen];
    });
    return changed;
}

bool seedField(Ui& ui, Fields& fields, PlaygroundSettings& settings) {
    bool changed = false;
    fields.field("##seed", "Seed", 92, [&](const char* label) {
        auto seed = static_cast<int>(std::min<std::uint64_t>(settings.train.seed, 9999));
        changed = ui.intSlider(label, seed, 0, 9999);
        if (changed) settings.train.seed = static_cast<std::uint64_t>(std::clamp(seed, 0, 9999));
    });
    return changed;
}

bool furtherFields(Ui& ui, Fields& fields, PlaygroundSettings& settings) {
    bool changed = optimizerFields(ui, fields, settings.train.optimizer);
    changed |= scheduleFields(fields, settings.train.optimizer);
    if (settings.allowsOutputActivation())
        changed |= fields.choice("Output activation", "##output activation", 104, settings.outputActivation,
                                 allActivations);
    changed |= fields.choice("First weights", "##init", 104, settings.init, schemes);
    changed |= seedField(ui, fields, settings);
    fields.field("##shuffle", "Shuffle", 60,
                 [&](const char* label) { changed |= ui.checkbox(label, settings.train.shuffle); });
    changed |= laneField(ui, fields, settings);
    return changed;
}

} // namespace

void drawSettingsBar(const PlaygroundParts& parts, bool everything) {
    Ui& ui = parts.ui;
    PlaygroundSettings settings = parts.model.settings();
    Fields fields(ui);
    bool changed = commonFields(fields, settings);
    if (everything) {
        changed |= furtherFields(ui, fields, settings);
    } else {
        ImVec2 below;
        fields.field("Settings##playground", "", 60, [&](const char* label) {
            if (ui.button(label)) ImGui::OpenPopup("settings");
            below = {ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + ui.px(4)};
        });
        ImGui::SetNextWindowPos(below, ImGuiCond_Always, {1, 0});
        ImGui::SetNextWindowSize({std::min(ui.px(440), ImGui::GetIO().DisplaySize.x), 0});
        if (ImGui::BeginPopup("settings")) {
            ui.heading("Settings");
            Fields more(ui);
            changed |= furtherFields(ui, more, settings);
            more.end();
            ui.paragraph("First weights and seed count from the next Reset.", ui.theme.muted);
            ImGui::EndPopup();
        }
    }
    fields.end();
    if (changed) parts.model.change(settings);
}

} // namespace lockstep::demos
