// The optimizers: one step on a range of the arena, element by element.
#include <cmath>

#include "engine/net/plain_ops.h"

namespace lockstep::plain {

namespace {

template <class T> T sign(T value) { return T((value > T(0)) - (value < T(0))); }

/// The numbers of a step in the arithmetic of the weights.
template <class T> struct Rates {
    explicit Rates(const shared::UpdateParams& params)
        : learningRate(T(params.learningRate)), momentum(T(params.momentum)),
          secondDecay(T(params.secondDecay)), epsilon(T(params.epsilon)), secondScale(T(params.secondScale)),
          weightKeep(T(params.weightKeep)), nesterov(params.nesterov != 0) {}
    T learningRate, momentum, secondDecay, epsilon, secondScale, weightKeep;
    bool nesterov;
};

template <class T> void momentumStep(const Rates<T>& rates, T g, T& w, T& m) {
    m = rates.momentum * m + g;
    w -= rates.learningRate * (rates.nesterov ? g + rates.momentum * m : m);
}

template <class T> void rmspropStep(const Rates<T>& rates, T g, T& w, T& v) {
    v = rates.secondDecay * v + (T(1) - rates.secondDecay) * g * g;
    w -= rates.learningRate * g / (std::sqrt(v) + rates.epsilon);
}

template <class T> void adamStep(const Rates<T>& rates, T g, T& w, T& m, T& v) {
    m = rates.momentum * m + (T(1) - rates.momentum) * g;
    v = rates.secondDecay * v + (T(1) - rates.secondDecay) * g * g;
    w -= rates.learningRate * m / (std::sqrt(v) * rates.secondScale + rates.epsilon);
}

} // namespace

template <class T>
void update(Optimizer optimizer, const shared::UpdateParams& params, std::size_t begin, std::size_t end,
            const T* gradients, T* weights, T* state1, T* state2) {
    const Rates<T> rates(params);
    for (std::size_t k = begin; k < end; ++k) {
        T& w = weights[k];
        const T g = gradients[k] + T(params.l2) * w + T(params.l1) * sign(w);
        switch (optimizer) {
        case Optimizer::sgd: w -= rates.learningRate * g; break;
        case Optimizer::momentum: momentumStep(rates, g, w, state1[k]); break;
        case Optimizer::rmsprop: rmspropStep(rates, g, w, state1[k]); break;
        case Optimizer::adamw: w *= rates.weightKeep; [[fallthrough]];
        case Optimizer::adam: adamStep(rates, g, w, state1[k], state2[k]); break;
        }
    }
}

template void update(Optimizer, const shared::UpdateParams&, std::size_t, std::size_t, const float*, float*,
                     float*, float*);
template void update(Optimizer, const shared::UpdateParams&, std::size_t, std::size_t, const double*, double*,
                     double*, double*);

} // namespace lockstep::plain
