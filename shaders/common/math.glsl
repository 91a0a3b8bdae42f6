// The functions of the formulas in shaders/shared/activations.h and optimizers.h, accurate to a few units in the last place of a
// float. GLSL leaves the precision of its built-in functions to the driver, and some are a hundred times coarser; CPU and GPU
// must do the same arithmetic. `precise`: no compiler may contract a product and a sum to one instruction, which it might do in
// one kernel and not in another.
#ifndef LOCKSTEP_MATH_GLSL
#define LOCKSTEP_MATH_GLSL

#define squareRoot sqrt // also of vectors
#define multiplyAdd(a, b, c) ((a) * (b) + (c))
#define absolute abs

// A constant of a formula.
float number(float x) { return x; }

// These look at the bits: a driver may assume that numbers are finite and fold isnan() and isinf() away.
bool isNotNumber(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) > 0x7F800000u; }
bool isNotFinite(float x) { return (floatBitsToUint(x) & 0x7F800000u) == 0x7F800000u; }

// e^x = 2^n e^r with n = round(x / ln 2), so |r| <= ln(2) / 2; e^r by its Taylor series up to r^7 (error below 2^-25).
// ln 2 is split in two, so that n ln 2 is subtracted without rounding.
precise float exponential(float x) {
    float n = round(clamp(x, -104.0, 89.0) * 1.44269504088896341);
    float r = fma(n, -0.693145751953125, clamp(x, -104.0, 89.0));
    r = fma(n, -1.42860682030941723e-6, r);
    float p = 1.0 / 5040.0;
    p = fma(p, r, 1.0 / 720.0);
    p = fma(p, r, 1.0 / 120.0);
    p = fma(p, r, 1.0 / 24.0);
    p = fma(p, r, 1.0 / 6.0);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    // 2^n in two factors, because n may lie outside the exponents of a float where the product does not.
    int half1 = int(n) / 2;
    int half2 = int(n) - half1;
    float result = p * uintBitsToFloat(uint(half1 + 127) << 23) * uintBitsToFloat(uint(half2 + 127) << 23);
    return isNotNumber(x) ? x : result;
}

// e^x - 1 without cancellation near 0.
precise float exponentialMinusOne(float x) {
    if (abs(x) > 0.35) return exponential(x) - 1.0;
    float p = 1.0 / 40320.0;
    p = fma(p, x, 1.0 / 5040.0);
    p = fma(p, x, 1.0 / 720.0);
    p = fma(p, x, 1.0 / 120.0);
    p = fma(p, x, 1.0 / 24.0);
    p = fma(p, x, 1.0 / 6.0);
    p = fma(p, x, 0.5);
    return fma(p * x, x, x);
}

// ln x for x > 0: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and ln m = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...) with
// s = (m - 1) / (m + 1), |s| < 0.172.
precise float logarithm(float x) {
    if (isNotFinite(x)) return x;
    uint bits = floatBitsToUint(x);
    int e = int(bits >> 23) - 127;
    float m = uintBitsToFloat((bits & 0x007FFFFFu) | 0x3F800000u);
    if (m > 1.41421356) {
        m *= 0.5;
        e += 1;
    }
    float s = (m - 1.0) / (m + 1.0);
    float q = s * s;
    float p = 1.0 / 11.0;
    p = fma(p, q, 1.0 / 9.0);
    p = fma(p, q, 1.0 / 7.0);
    p = fma(p, q, 1.0 / 5.0);
    p = fma(p, q, 1.0 / 3.0);
    float tail = p * q * s;
    float n = float(e);
    return fma(n, 0.693145751953125, fma(n, 1.42860682030941723e-6, 2.0 * (s + tail)));
}

// ln(1 + x) for x in [0, 1], accurate for small x, too.
precise float logOnePlus(float x) {
    float y = 1.0 + x;
    return y == 1.0 ? x : logarithm(y) + (x - (y - 1.0)) / y;
}

precise float hyperbolicTangent(float x) {
    float a = min(abs(x), 10.0);
    float e = exponentialMinusOne(2.0 * a);
    float result = a < 9.1 ? e / (e + 2.0) : 1.0; // a driver's quotient of equal numbers may be beside 1
    return isNotNumber(x) ? x : (x < 0.0 ? -result : result);
}

// max(0, x), but NaN stays NaN.
precise float positivePart(float x) { return x > 0.0 ? x : (isNotNumber(x) ? x : 0.0); }

precise float sigmoid(float x) { return 1.0 / (1.0 + exponential(-x)); }

// sin x for |x| up to some thousands: x = n pi + r with pi split in three and |r| <= pi / 2, and sin r by its Taylor series
// up to r^11 (error below 6e-8).
precise float sine(float x) {
    float n = round(x * 0.318309886183790672);
    float r = fma(n, -3.140625, x);
    r = fma(n, -9.67502593994140625e-4, r);
    r = fma(n, -1.50995799097837e-7, r);
    float q = r * r;
    float p = -1.0 / 39916800.0;
    p = fma(p, q, 1.0 / 362880.0);
    p = fma(p, q, -1.0 / 5040.0);
    p = fma(p, q, 1.0 / 120.0);
    p = fma(p, q, -1.0 / 6.0);
    float result = fma(p * q, r, r);
    return (int(n) & 1) == 0 ? result : -result;
}

// erf with an absolute error below 2e-7 (Abramowitz and Stegun 7.1.26).
precise float errorFunction(float x) {
    float a = abs(x);
    float t = 1.0 / fma(0.3275911, a, 1.0);
    float p = 1.061405429;
    p = fma(p, t, -1.453152027);
    p = fma(p, t, 1.421413741);
    p = fma(p, t, -0.284496736);
    p = fma(p, t, 0.254829592);
    float result = 1.0 - p * t * exponential(-a * a);
    return isNotNumber(x) ? x : (x < 0.0 ? -result : result);
}

// Phi(x), the probability of a standard normal number below x, and its derivative.
precise float normalCdf(float x) { return 0.5 * (1.0 + errorFunction(x * 0.707106781186547524)); }
precise float normalDensity(float x) { return 0.398942280401432678 * exponential(-0.5 * x * x); }

#endif
