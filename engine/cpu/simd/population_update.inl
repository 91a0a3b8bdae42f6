// Many small networks, one in each lane: the optimizers, with numbers of its own for each network. Layout:
// population_kernels.h; formulas: net/plain_ops.h.
#pragma once

namespace lockstep {
namespace {

/// The numbers of a step, each in a register.
struct LaneRates {
    explicit LOCKSTEP_INLINE LaneRates(const PopulationRates& rates)
        : rate(load(rates.learningRate)), momentum(load(rates.momentum)), l2(load(rates.l2)),
          keep(load(rates.weightKeep)), common(rates.common) {}
    Floats rate, momentum, l2, keep;
    shared::UpdateParams common;
};

/// The new weight; `m` and `v` are the states.
template <Optimizer optimizer>
LOCKSTEP_INLINE Floats updatedWeight(const LaneRates& rates, Floats g, Floats w, Floats& m, Floats& v) {
    if constexpr (optimizer == Optimizer::sgd) return w - rates.rate * g;
    if constexpr (optimizer == Optimizer::momentum) {
        m = rates.momentum * m + g;
        return w - rates.rate * (rates.common.nesterov != 0 ? g + rates.momentum * m : m);
    }
    const float decay = rates.common.secondDecay;
    if constexpr (optimizer == Optimizer::rmsprop) {
        m = decay * m + (1.0f - decay) * g * g;
        return w - rates.rate * g / (squareRoot(m) + rates.common.epsilon);
    }
    if constexpr (optimizer == Optimizer::adamw) w *= rates.keep;
    m = rates.momentum * m + (1.0f - rates.momentum) * g;
    v = decay * v + (1.0f - decay) * g * g;
    return w - rates.rate * m / (squareRoot(v) * rates.common.secondScale + rates.common.epsilon);
}

template <Optimizer optimizer>
void updatePopulation(const PopulationRates& given, const PopulationLosses& losses, std::size_t count,
                      const float* gradients, float* parameters, float* state1, float* state2) {
    constexpr bool hasFirst = optimizer != Optimizer::sgd;
    constexpr bool hasSecond = optimizer == Optimizer::adam || optimizer == Optimizer::adamw;
    const LaneRates rates(given);
    const Ints learns = bitsOf(load(reinterpret_cast<const float*>(losses.learns)));
    const Floats one = splat(rates.common.l1);
    for (std::size_t at = 0; at < count * lanes; at += lanes) {
        const Floats w = load(parameters + at);
        Floats g = load(gradients + at) + rates.l2 * w;
        if (rates.common.l1 != 0) g += (w > 0.0f ? one : Floats{}) - (w < 0.0f ? one : Floats{});
        Floats m{}, v{};
        if constexpr (hasFirst) m = load(state1 + at);
        if constexpr (hasSecond) v = load(state2 + at);
        const Floats updated = updatedWeight<optimizer>(rates, g, w, m, v);
        store(parameters + at, learns != 0 ? updated : w);
        if constexpr (hasFirst) store(state1 + at, m);
        if constexpr (hasSecond) store(state2 + at, v);
    }
}

inline void populationUpdate(Optimizer optimizer, const PopulationRates& rates,
                             const PopulationLosses& losses, std::size_t count, const float* gradients,
                             float* parameters, float* state1, float* state2) {
    const auto run = [&](auto function) {
        function(rates, losses, count, gradients, parameters, state1, state2);
    };
    switch (optimizer) {
    case Optimizer::sgd: return run(updatePopulation<Optimizer::sgd>);
    case Optimizer::momentum: return run(updatePopulation<Optimizer::momentum>);
    case Optimizer::rmsprop: return run(updatePopulation<Optimizer::rmsprop>);
    case Optimizer::adam: return run(updatePopulation<Optimizer::adam>);
    case Optimizer::adamw: return run(updatePopulation<Optimizer::adamw>);
    }
}

} // namespace
} // namespace lockstep
