// What the tests of the processor's kernels share: the tables, numbers to feed them, and how to compare.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/cpu/simd_kernels.h"
#include "engine/net/random.h"

namespace lockstep::test {

inline constexpr float canary = 12345.0f;
inline constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

struct Table {
    std::string name;
    const CpuKernels* kernels;
};

/// Every table that this processor can run.
inline std::vector<Table> tables() {
    std::vector<Table> result = {{"scalar", &scalarKernels()}, {"best", &bestKernels()}};
    for (const VectorLevel level : {VectorLevel::baseline, VectorLevel::avx2, VectorLevel::avx512})
        if (level <= vectorLevel())
            result.push_back({std::string("simd ") + name(level), &vectorTables(level).simd});
    return result;
}

/// Numbers in [-1, 1), padding 0 from `width` to `stride`.
inline std::vector<float> numbers(std::size_t rows, std::size_t width, std::size_t stride, std::uint64_t seed,
                                  float scale = 1) {
    std::vector<float> result(rows * stride);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t k = 0; k < width; ++k) {
            const double u = uniform01(randomWords(seed, RandomStream::data, row * width + k).x);
            result[row * stride + k] = static_cast<float>(2 * u - 1) * scale;
        }
    return result;
}

inline std::vector<double> doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

/// Largest difference; infinite when a value is no number.
inline double distance(const std::vector<float>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    double largest = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
        const double difference = std::abs(static_cast<double>(found[k]) - expected[k]);
        largest = difference <= largest ? largest : difference;
        if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    }
    return largest;
}

/// What rounding may add up to in a sum of `depth` products of numbers around 1.
inline double tolerance(std::size_t depth) { return 4e-6 * (1 + std::sqrt(static_cast<double>(depth))); }

} // namespace lockstep::test
