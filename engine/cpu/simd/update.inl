// The optimizers for vectors. The formulas are in shaders/shared/optimizers.h, a row for each.
#pragma once

namespace lockstep {
namespace {

/// The numbers of a step, in registers; in a population each network has its own.
struct StepNumbers {
    explicit LOCKSTEP_INLINE StepNumbers(const shared::UpdateParams& params)
        : rate(splat(params.learningRate)), momentum(splat(params.momentum)), l2(splat(params.l2)),
          keep(splat(params.weightKeep)), common(params) {}
    explicit LOCKSTEP_INLINE StepNumbers(const PopulationRates& rates)
        : rate(load(rates.learningRate)), momentum(load(rates.momentum)), l2(load(rates.l2)),
          keep(load(rates.weightKeep)), common(rates.common) {}
    Floats rate, momentum, l2, keep;
    shared::UpdateParams common;
};

/// Changes w and what the optimizer keeps of it.
template <Optimizer optimizer>
LOCKSTEP_INLINE void optimizerStep(const StepNumbers& numbers, Floats gradient, Floats& w,
                                   [[maybe_unused]] Floats& m, [[maybe_unused]] Floats& v) {
    const shared::UpdateParams& common = numbers.common;
    Floats g = multiplyAdd(numbers.l2, w, gradient);
    const Floats one = splat(common.l1);
    if (common.l1 != 0) g += (w > 0.0f ? one : Floats{}) - (w < 0.0f ? one : Floats{});
    [[maybe_unused]] const Floats rate = numbers.rate, momentum = numbers.momentum, keep = numbers.keep;
    [[maybe_unused]] const float decay = common.secondDecay, epsilon = common.epsilon;
    [[maybe_unused]] const float secondScale = common.secondScale;
    [[maybe_unused]] const bool nesterov = common.nesterov != 0;
#define ROW(number, id, name, rate_, states, state1, state2, traits, operations, formula, step)              \
    if constexpr (optimizer == Optimizer::id) {                                                              \
        step;                                                                                                \
    }
    LOCKSTEP_OPTIMIZERS(ROW)
#undef ROW
}

/// One step of `count` elements at `k`; states are read and written in place.
template <Optimizer optimizer>
LOCKSTEP_INLINE void updateElements(const StepNumbers& numbers, std::size_t k, std::size_t count,
                                    const float* gradients, float* weights, float* state1, float* state2) {
    constexpr std::size_t states = infoOf(optimizer).states;
    Floats w = loadFirst(weights + k, count), m{}, v{};
    if constexpr (states >= 1) m = loadFirst(state1 + k, count);
    if constexpr (states == 2) v = loadFirst(state2 + k, count);
    optimizerStep<optimizer>(numbers, loadFirst(gradients + k, count), w, m, v);
    if constexpr (states >= 1) storeFirst(state1 + k, m, count);
    if constexpr (states == 2) storeFirst(state2 + k, v, count);
    storeFirst(weights + k, w, count);
}

// The numbers are taken by value: behind a reference, every store of a weight could have changed them.
template <Optimizer optimizer>
void updateRange(const shared::UpdateParams params, std::size_t begin, std::size_t end,
                 const float* gradients, float* weights, float* state1, float* state2) {
    const StepNumbers numbers(params);
    std::size_t k = begin;
    for (; k + elements <= end; k += elements)
        updateElements<optimizer>(numbers, k, elements, gradients, weights, state1, state2);
    if (k < end) updateElements<optimizer>(numbers, k, end - k, gradients, weights, state1, state2);
}

inline void update(Optimizer optimizer, const shared::UpdateParams& params, std::size_t begin,
                   std::size_t end, const float* gradients, float* weights, float* state1, float* state2) {
    switch (optimizer) {
#define ROW(number, id, ...)                                                                                 \
    case Optimizer::id:                                                                                      \
        return updateRange<Optimizer::id>(params, begin, end, gradients, weights, state1, state2);
        LOCKSTEP_OPTIMIZERS(ROW)
#undef ROW
    }
}

/// One step of `count` parameters of the networks that learn, one in each element.
template <Optimizer optimizer>
void updatePopulation(const PopulationRates& rates, const PopulationLosses& losses, std::size_t count,
                      const float* gradients, float* parameters, float* state1, float* state2) {
    constexpr std::size_t states = infoOf(optimizer).states;
    const StepNumbers numbers(rates);
    const Ints learns = bitsOf(load(reinterpret_cast<const float*>(losses.learns)));
    for (std::size_t at = 0; at < count * elements; at += elements) {
        const Floats before = load(parameters + at);
        Floats w = before, m{}, v{};
        if constexpr (states >= 1) m = load(state1 + at);
        if constexpr (states == 2) v = load(state2 + at);
        optimizerStep<optimizer>(numbers, load(gradients + at), w, m, v);
        store(parameters + at, learns != 0 ? w : before);
        if constexpr (states >= 1) store(state1 + at, m);
        if constexpr (states == 2) store(state2 + at, v);
    }
}

inline void populationUpdate(Optimizer optimizer, const PopulationRates& rates,
                             const PopulationLosses& losses, std::size_t count, const float* gradients,
                             float* parameters, float* state1, float* state2) {
    switch (optimizer) {
#define ROW(number, id, ...)                                                                                 \
    case Optimizer::id:                                                                                      \
        return updatePopulation<Optimizer::id>(rates, losses, count, gradients, parameters, state1, state2);
        LOCKSTEP_OPTIMIZERS(ROW)
#undef ROW
    }
}

} // namespace
} // namespace lockstep
