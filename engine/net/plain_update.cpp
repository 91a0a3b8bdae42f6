// The optimizers: one step on a range of the arena, element by element. The formulas are in
// shaders/shared/optimizers.h, a row for each.
#include "engine/net/activation.h"
#include "engine/net/plain_ops.h"

namespace lockstep::plain {

namespace {

template <class T> T multiplyAdd(T a, T b, T c) {
    return a * b + c;
} // with two roundings: engine/CMakeLists.txt
template <class T> T sign(T value) { return T((value > T(0)) - (value < T(0))); }

} // namespace

template <class T>
void update(Optimizer optimizer, const shared::UpdateParams& params, std::size_t begin, std::size_t end,
            const T* gradients, T* weights, T* state1, T* state2) {
    using namespace scalar;
    const std::size_t states = infoOf(optimizer).states;
    const T rate(params.learningRate), momentum(params.momentum), decay(params.secondDecay),
        epsilon(params.epsilon), secondScale(params.secondScale), keep(params.weightKeep);
    const bool nesterov = params.nesterov != 0;
    T none = 0;
    for (std::size_t k = begin; k < end; ++k) {
        T& w = weights[k];
        T& m = states >= 1 ? state1[k] : none;
        T& v = states == 2 ? state2[k] : none;
        const T g = gradients[k] + T(params.l2) * w + T(params.l1) * sign(w);
        switch (optimizer) {
#define ROW(number, id, name, rate_, states_, first, second, traits, operations, formula, step)              \
    case Optimizer::id: step; break; // NOLINT(bugprone-macro-parentheses): statements
            LOCKSTEP_OPTIMIZERS(ROW)
#undef ROW
        }
    }
}

template void update(Optimizer, const shared::UpdateParams&, std::size_t, std::size_t, const float*, float*,
                     float*, float*);
template void update(Optimizer, const shared::UpdateParams&, std::size_t, std::size_t, const double*, double*,
                     double*, double*);

} // namespace lockstep::plain
