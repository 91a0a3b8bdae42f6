#include "engine/net/settings.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/net/names.h"
#include "engine/net/setting_table.h"

namespace lockstep {

namespace {

constexpr NameOf<Optimizer> optimizerNames[] = {
#define ROW(number, id, text, ...) {Optimizer::id, text},
    LOCKSTEP_OPTIMIZERS(ROW)
#undef ROW
};

constexpr NameOf<Schedule> scheduleNames[] = {
    {Schedule::constant, "constant"},
    {Schedule::step, "step"},
    {Schedule::cosine, "cosine"},
};

constexpr NameOf<Offload> offloadNames[] = {{Offload::none, "none"},
                                            {Offload::optimizer, "optimizer"},
                                            {Offload::activations, "activations"},
                                            {Offload::both, "both"}};

constexpr NameOf<OperandFormat> operandFormatNames[] = {
    {OperandFormat::fp32, "fp32"}, {OperandFormat::tf32, "tf32"}, {OperandFormat::bf16, "bf16"},
    {OperandFormat::fp16, "fp16"}, {OperandFormat::fp8, "fp8"},   {OperandFormat::fp64, "fp64"}};

constexpr NameOf<RoundingMode> roundingModeNames[] = {{RoundingMode::nearest, "nearest"},
                                                      {RoundingMode::stochastic, "stochastic"}};

void requireRange(const SettingRow& row, double value) {
    const bool enough = row.aboveZero ? value > 0 : value >= 0;
    if (enough && (value < row.most || (row.mostIncluded && value == row.most))) return;
    throw std::invalid_argument(std::string(row.title) + " is " + shortestText(value) +
                                "; it must be a number " +
                                (row.aboveZero      ? "above 0, up to "
                                 : row.mostIncluded ? "from 0 to "
                                                    : "from 0 to below ") +
                                shortestText(row.most));
}

/// A decay as a float, below 1 even after rounding: an average with decay 1 would never change.
float belowOne(double decay) { return std::min(static_cast<float>(decay), std::nextafter(1.0f, 0.0f)); }

} // namespace

double OptimizerSettings::effectiveLearningRate() const {
    return learningRate.value_or(infoOf(kind).learningRate);
}

double OptimizerSettings::effectiveWeightDecay() const {
    return weightDecay.value_or(infoOf(kind).has(decouplesDecay) ? 0.01 : 0.0);
}

OptimizerSettings effectiveSettings(OptimizerSettings settings) {
    for (const SettingRow& row : settingTable)
        if (const auto* own = std::get_if<OwnOrSet>(&row.field))
            settings.*(own->field) = (settings.*(own->effective))();
    return settings;
}

void OptimizerSettings::validate() const {
    if (learningRate == 0.0)
        throw std::invalid_argument(
            "the learning rate is 0; no weight would change; leave it empty for the optimizer's own");
    if (epsilon == 0)
        throw std::invalid_argument("epsilon is 0; a weight with gradient 0 would become 0 / 0");
    for (const SettingRow& row : settingTable) {
        if (const auto* own = std::get_if<OwnOrSet>(&row.field))
            requireRange(row, (this->*own->effective)());
        else if (const auto* field = std::get_if<double OptimizerSettings::*>(&row.field))
            requireRange(row, this->*(*field));
    }
    if (scheduleSteps == 0) throw std::invalid_argument("a schedule needs at least 1 step");
    if (nesterov && (!infoOf(kind).has(usesMomentum) || momentum == 0))
        throw std::invalid_argument("Nesterov needs --optimizer " + optimizersWith(usesMomentum) +
                                    " with a momentum above 0");
}

void MemorySettings::validate(std::size_t batch) const {
    if (recompute == 0)
        throw std::invalid_argument(
            "'recompute' is 0; 1 keeps the outputs of every layer, 2 of every second");
    if (accumulate == 0)
        throw std::invalid_argument("'accumulate' is 0; a batch is taken in 1 part at least");
    if (accumulate > batch)
        throw std::invalid_argument("'accumulate' is " + std::to_string(accumulate) + "; a batch of " +
                                    std::to_string(batch) + " has no more parts than examples");
}

void RankShare::validate(std::size_t batch) const {
    if (rank >= ranks)
        throw std::invalid_argument("rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                                    " ranks; they count from 0");
    if (ranks > batch)
        throw std::invalid_argument("a batch of " + std::to_string(batch) + " cannot be shared by " +
                                    std::to_string(ranks) + " ranks; each needs an example at least");
    if (shard > 2)
        throw std::invalid_argument(
            "'shard' is " + std::to_string(shard) +
            "; 0 keeps everything on every rank, 1 shares out the optimizer's state, 2 the "
            "gradients, too");
}

void PrecisionSettings::validate() const {
    if (!storesParameters() || canStoreParameters(format)) return;
    throw std::invalid_argument(std::string(name(format)) + " needs master weights" +
                                (format == OperandFormat::tf32
                                     ? ": it is how products read numbers stored as fp32"
                                     : ": its range is too small for parameters without a scale") +
                                "; parameters can be stored as bf16 and fp16");
}

double learningRate(const OptimizerSettings& settings, std::uint64_t step) {
    const double base = settings.effectiveLearningRate();
    const auto t = static_cast<double>(step);
    const auto period = static_cast<double>(settings.scheduleSteps);
    double rate = base;
    if (settings.schedule == Schedule::step)
        rate = base * std::pow(settings.scheduleGamma, std::floor(t / period));
    if (settings.schedule == Schedule::cosine)
        rate = base * 0.5 * (1 + std::cos(std::numbers::pi * std::min(t, period) / period));
    if (step < settings.warmupSteps) rate *= (t + 1) / static_cast<double>(settings.warmupSteps);
    return rate;
}

std::string optimizersWith(OptimizerTraits trait) {
    std::vector<std::string_view> names;
    for (const Optimizer optimizer : allOptimizers)
        if (infoOf(optimizer).has(trait)) names.push_back(name(optimizer));
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += std::string(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
    return text;
}

StepSettings stepSettings(const TrainSettings& settings, const BatchOrder& order, std::uint64_t step) {
    const OptimizerSettings& optimizer = settings.optimizer;
    StepSettings result;
    result.step = step;
    result.batch = order.range(step);

    const double rate = learningRate(optimizer, step);
    const double decay = optimizer.effectiveWeightDecay();
    const OptimizerInfo info = infoOf(optimizer.kind);
    shared::UpdateParams& update = result.update;
    update.momentum = belowOne(info.has(usesBetas) ? optimizer.beta1 : optimizer.momentum);
    update.secondDecay = belowOne(info.has(usesBetas) ? optimizer.beta2 : optimizer.alpha);
    // The corrections are made for the betas that the kernels see: 1 - float(0.999) is off by 1.3e-5, and so
    // is every average made with it, unless it is divided by the sum of its own weights.
    const auto updates = static_cast<double>(step) + 1;
    const auto sumOfWeights = [&info, updates](double beta) {
        // beta^n <= e^(-n (1 - beta)): from 38 on, 1 - beta^n is 1 to the bit, and powers so small take long.
        const bool counts = info.has(correctsBias) && updates * (1 - beta) < 38;
        return counts ? 1 - std::pow(beta, updates) : 1.0;
    };
    update.learningRate = static_cast<float>(rate / sumOfWeights(update.momentum));
    update.epsilon = static_cast<float>(optimizer.epsilon);
    update.secondScale = static_cast<float>(1 / std::sqrt(sumOfWeights(update.secondDecay)));
    const bool decoupled = info.has(decouplesDecay);
    update.weightKeep = static_cast<float>(decoupled ? 1 - rate * decay : 1.0);
    update.l1 = static_cast<float>(optimizer.l1);
    update.l2 = static_cast<float>(decoupled ? 0.0 : decay);
    update.nesterov = optimizer.nesterov ? 1 : 0;
    return result;
}

std::string_view name(Optimizer value) { return nameOf(optimizerNames, value); }
std::string_view name(Offload value) { return nameOf(offloadNames, value); }
Offload offloadFromName(std::string_view text) { return valueFromName(offloadNames, "offload", text); }
std::string_view name(OperandFormat value) { return nameOf(operandFormatNames, value); }
OperandFormat operandFormatFromName(std::string_view text) {
    return valueFromName(operandFormatNames, "format", text);
}
std::string_view name(RoundingMode value) { return nameOf(roundingModeNames, value); }
RoundingMode roundingModeFromName(std::string_view text) {
    return valueFromName(roundingModeNames, "rounding", text);
}
std::string_view name(Schedule value) { return nameOf(scheduleNames, value); }
Optimizer optimizerFromName(std::string_view text) {
    return valueFromName(optimizerNames, "optimizer", text);
}
Schedule scheduleFromName(std::string_view text) { return valueFromName(scheduleNames, "schedule", text); }

} // namespace lockstep
