// tanh as a quotient of two polynomials, for kernels that spend most of their time in it:
//   tanh x = x P(x^2) / Q(x^2),  P = p0 + p1 u + ... + p4 u^4,  Q = 1 + q1 u + ... + q4 u^4,  u = x^2
// Fitted for the least relative error over [-8, 8]: 7e-9 in exact arithmetic, 3e-7 in floats. Beyond, the quotient passes 1 at
// 8.4, and at tanhLimit it is above 1 by twenty units in the last place. So x clamped to [-tanhLimit, tanhLimit] and the quotient
// clamped to [-1, 1] give exactly 1 from there on, and the derivative 1 - y^2 is exactly 0: 4e-7 would be multiplied by inputs of
// any size, and optimizers that divide by the gradient's size make whole steps of it.
#ifndef LOCKSTEP_TANH_H
#define LOCKSTEP_TANH_H
#include "shared.h"

SHARED_BEGIN

SHARED_CONST float tanhLimit = 9.1f;
SHARED_CONST float tanhP0 = 0.999999994f;
SHARED_CONST float tanhP1 = 0.1344457f;
SHARED_CONST float tanhP2 = 0.00357168498f;
SHARED_CONST float tanhP3 = 2.18961721e-05f;
SHARED_CONST float tanhP4 = 1.52327314e-08f;
SHARED_CONST float tanhQ1 = 0.467778973f;
SHARED_CONST float tanhQ2 = 0.0261647699f;
SHARED_CONST float tanhQ3 = 0.000341143729f;
SHARED_CONST float tanhQ4 = 8.52334206e-07f;

SHARED_END

// The quotient for a clamped x and u = x * x, not yet clamped itself. multiplyAdd(a, b, c) is a b + c, rounded as the caller likes.
#define LOCKSTEP_TANH_QUOTIENT(x, u, multiplyAdd) \
    (x * LOCKSTEP_TANH_SERIES(u, multiplyAdd, tanhP4, tanhP3, tanhP2, tanhP1, tanhP0) / \
     LOCKSTEP_TANH_SERIES(u, multiplyAdd, tanhQ4, tanhQ3, tanhQ2, tanhQ1, 1))
#define LOCKSTEP_TANH_SERIES(u, multiplyAdd, c4, c3, c2, c1, c0) \
    multiplyAdd(multiplyAdd(multiplyAdd(multiplyAdd(number(c4), u, number(c3)), u, number(c2)), u, number(c1)), u, number(c0))

#endif
