#include "engine/tune/trial_numbers.h"

#include <cmath>

#include "engine/net/random.h"

namespace lockstep {

std::vector<float> randomMatrix(std::size_t rows, std::size_t width, std::size_t stride, std::uint64_t seed) {
    std::vector<float> matrix(rows * stride);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < width; ++column) {
            const std::uint32_t word = randomWords(seed, RandomStream::test, row * width + column).x;
            matrix[row * stride + column] = static_cast<float>(2 * uniform01(word) - 1);
        }
    return matrix;
}

double largestOf(std::span<const float> values) {
    double largest = 1e-30;
    for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
    return largest;
}

double largestDifference(std::span<const float> expected, std::span<const float> actual, double scale) {
    double difference = 0;
    for (std::size_t at = 0; at < expected.size(); ++at) {
        const double here = std::abs(static_cast<double>(expected[at]) - static_cast<double>(actual[at]));
        if (!(here <= difference)) difference = std::isnan(here) ? INFINITY : here;
    }
    return difference / scale;
}

} // namespace lockstep
