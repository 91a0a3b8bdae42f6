// The optimizers on whole vectors. Formulas: net/plain_ops.h.
#pragma once

namespace lockstep {
namespace {

/// New weights for `count` lanes at `k`; states are read and written in place.
template <Optimizer optimizer>
LOCKSTEP_INLINE void updateLanes(const shared::UpdateParams& p, std::size_t k, std::size_t count,
                                 const float* gradients, float* weights, float* state1, float* state2) {
    Floats w = loadFirst(weights + k, count);
    Floats g = loadFirst(gradients + k, count) + p.l2 * w;
    const Floats one = splat(p.l1);
    if (p.l1 != 0) g += (w > 0.0f ? one : Floats{}) - (w < 0.0f ? one : Floats{});
    if constexpr (optimizer == Optimizer::sgd) w -= p.learningRate * g;
    if constexpr (optimizer == Optimizer::momentum) {
        const Floats m = p.momentum * loadFirst(state1 + k, count) + g;
        storeFirst(state1 + k, m, count);
        w -= p.learningRate * (p.nesterov != 0 ? g + p.momentum * m : m);
    }
    if constexpr (optimizer == Optimizer::rmsprop) {
        const Floats v = p.secondDecay * loadFirst(state1 + k, count) + (1.0f - p.secondDecay) * g * g;
        storeFirst(state1 + k, v, count);
        w -= p.learningRate * g / (squareRoot(v) + p.epsilon);
    }
    if constexpr (optimizer == Optimizer::adam || optimizer == Optimizer::adamw) {
        if constexpr (optimizer == Optimizer::adamw) w *= p.weightKeep;
        const Floats m = p.momentum * loadFirst(state1 + k, count) + (1.0f - p.momentum) * g;
        const Floats v = p.secondDecay * loadFirst(state2 + k, count) + (1.0f - p.secondDecay) * g * g;
        storeFirst(state1 + k, m, count);
        storeFirst(state2 + k, v, count);
        w -= p.learningRate * m / (squareRoot(v) * p.secondScale + p.epsilon);
    }
    storeFirst(weights + k, w, count);
}

// The numbers are taken by value: behind a reference, every store of a weight could have changed them.
template <Optimizer optimizer>
void updateRange(const shared::UpdateParams params, std::size_t begin, std::size_t end,
                 const float* gradients, float* weights, float* state1, float* state2) {
    std::size_t k = begin;
    for (; k + lanes <= end; k += lanes)
        updateLanes<optimizer>(params, k, lanes, gradients, weights, state1, state2);
    if (k < end) updateLanes<optimizer>(params, k, end - k, gradients, weights, state1, state2);
}

inline void update(Optimizer optimizer, const shared::UpdateParams& params, std::size_t begin,
                   std::size_t end, const float* gradients, float* weights, float* state1, float* state2) {
    const auto run = [&](auto function) { function(params, begin, end, gradients, weights, state1, state2); };
    switch (optimizer) {
    case Optimizer::sgd: return run(updateRange<Optimizer::sgd>);
    case Optimizer::momentum: return run(updateRange<Optimizer::momentum>);
    case Optimizer::rmsprop: return run(updateRange<Optimizer::rmsprop>);
    case Optimizer::adam: return run(updateRange<Optimizer::adam>);
    case Optimizer::adamw: return run(updateRange<Optimizer::adamw>);
    }
}

} // namespace
} // namespace lockstep
