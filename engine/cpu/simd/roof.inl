// The most that a core can compute: multiply-adds in registers, none of which waits for the one before.
#pragma once

namespace lockstep {
namespace {

constexpr std::size_t roofChains = 12; ///< independent sums: more than an addition's latency, fewer than registers

/// The sum is returned so that no compiler leaves anything out.
float multiplyAdds(std::size_t rounds) {
    const Floats factor = splat(0.999f);
    const Floats summand = splat(0.001f);
    Floats sum[roofChains];
    for (std::size_t i = 0; i < roofChains; ++i) sum[i] = splat(static_cast<float>(i));
    for (std::size_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
        for (std::size_t i = 0; i < roofChains; ++i) sum[i] = sum[i] * factor + summand;
    for (std::size_t i = 1; i < roofChains; ++i) sum[0] += sum[i];
    return sum[0][0];
}

} // namespace
} // namespace lockstep
