// Every optimizer of the project, one row each, as torch.optim computes it. To add one, add a row: C++ compiles its step for
// single floats and doubles (engine/net/plain_update.cpp) and for SIMD vectors (engine/cpu/simd/update.inl), GLSL for the kernels
// (common/update.glsl), and options, files, help and menus list it (engine/net/optimizer.h).
//
// Columns:
//   number, id   kernels know the optimizer by its number, C++ as Optimizer::id, GLSL as optimizer_id
//   name         in options and files
//   rate         the learning rate that it starts with
//   states       numbers that it keeps of every parameter, at most 2, and PyTorch's names for them
//   traits       which settings it uses, and how (engine/net/optimizer.h)
//   operations   of floating point per parameter, for the FLOP counts of the tables
//   formula      for people
//   step         the new w, m and v
//
// A step reads g, the gradient with l1 and l2 regularisation; rate, the learning rate of this step; momentum (beta1 for an
// optimizer with usesBetas); decay (alpha, or beta2); epsilon; nesterov; and, from torch's formulas,
//   keep       1 - rate * weight decay where the optimizer decouplesDecay, else 1
//   secondScale  1 / sqrt(1 - beta2^t) where it correctsBias, else 1; `rate` is divided by 1 - beta1^t then
// m and v are the states, 0 before the first step. The words are those of activations.h, and multiplyAdd(a, b, c) = a b + c: so no
// compiler chooses what it contracts, and a machine rounds alike in all of its kernels.
#ifndef LOCKSTEP_OPTIMIZERS_H
#define LOCKSTEP_OPTIMIZERS_H

#define LOCKSTEP_OPTIMIZERS(ROW)                                                                                              \
    ROW(0, sgd, "sgd", 0.1, 0, "", "", usesNothing, 2,                                                                        \
        "W -= lr dW",                                                                                                         \
        w = multiplyAdd(-rate, g, w))                                                                                         \
    ROW(1, momentum, "momentum", 0.1, 1, "momentum_buffer", "", usesMomentum, 4,                                              \
        "m = µ m + dW\nW -= lr m",                                                                                            \
        m = multiplyAdd(momentum, m, g);                                                                                      \
        w = multiplyAdd(-rate, nesterov ? multiplyAdd(momentum, m, g) : m, w))                                                \
    ROW(2, rmsprop, "rmsprop", 0.01, 1, "square_avg", "", usesAlpha | usesEpsilon, 9,                                         \
        "m = α m + (1 - α) dW²\nW -= lr dW / (√m + ε)",                                                                       \
        m = multiplyAdd(decay, m, (1 - decay) * g * g);                                                                       \
        w -= rate * g / (squareRoot(m) + epsilon))                                                                            \
    ROW(3, adam, "adam", 0.001, 2, "exp_avg", "exp_avg_sq", usesBetas | usesEpsilon | correctsBias, 13,                       \
        "m = β₁ m + (1 - β₁) dW\nv = β₂ v + (1 - β₂) dW²\nW -= lr m' / (√v' + ε)",                                            \
        m = multiplyAdd(momentum, m, (1 - momentum) * g);                                                                     \
        v = multiplyAdd(decay, v, (1 - decay) * g * g);                                                                       \
        w -= rate * m / multiplyAdd(squareRoot(v), secondScale, epsilon))                                                     \
    ROW(4, adamw, "adamw", 0.001, 2, "exp_avg", "exp_avg_sq", usesBetas | usesEpsilon | correctsBias | decouplesDecay, 14,    \
        "W *= 1 - lr decay\nm = β₁ m + (1 - β₁) dW\nv = β₂ v + (1 - β₂) dW²\nW -= lr m' / (√v' + ε)",                         \
        m = multiplyAdd(momentum, m, (1 - momentum) * g);                                                                     \
        v = multiplyAdd(decay, v, (1 - decay) * g * g);                                                                       \
        w = multiplyAdd(keep, w, -rate * m / multiplyAdd(squareRoot(v), secondScale, epsilon)))

#ifndef __cplusplus
#define ROW(number, id, name, rate, states, state1, state2, traits, operations, formula, step) const uint optimizer_##id = number;
LOCKSTEP_OPTIMIZERS(ROW)
#undef ROW
#endif

#endif
