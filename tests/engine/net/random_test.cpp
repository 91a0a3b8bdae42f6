// The random generator: known answers, streams that do not touch, numbers distributed as promised; and the
// initial weights made from it.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

#include "engine/net/param_layout.h"
#include "engine/net/random.h"

using namespace lockstep;

namespace {

bool same(const shared::Random4& a, const shared::Random4& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

struct Moments {
    double mean = 0;
    double variance = 0;
    double kurtosis = 0; ///< fourth central moment / variance^2: 3 for a normal distribution
};

Moments momentsOf(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    Moments result;
    for (double value : values) result.mean += value / count;
    double fourth = 0;
    for (double value : values) {
        const double square = (value - result.mean) * (value - result.mean);
        result.variance += square / count;
        fourth += square * square / count;
    }
    result.kurtosis = result.variance > 0 ? fourth / (result.variance * result.variance) : 0;
    return result;
}

std::vector<double> weightsOf(const std::vector<float>& arena, const LayerLayout& layer) {
    std::vector<double> weights;
    for (std::size_t o = 0; o < layer.outputs; ++o)
        for (std::size_t i = 0; i < layer.inputs; ++i)
            weights.push_back(static_cast<double>(arena[layer.weightOffset + o * layer.rowStride + i]));
    return weights;
}

NetShape shapeWith(InitScheme init) {
    NetShape shape;
    shape.widths = {301, 203, 10};
    shape.init = init;
    return shape;
}

} // namespace

TEST_CASE("philox4x32-10 gives the known answers of its authors") {
    CHECK(same(shared::philox({0, 0, 0, 0}, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    const std::uint32_t ones = 0xffffffff;
    CHECK(same(shared::philox({ones, ones, ones, ones}, ones, ones),
               {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    CHECK(same(shared::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_CASE("a number depends on all of seed, stream, index and subindex, 64 bits where 64 are given") {
    const std::uint64_t high = std::uint64_t{1} << 32;
    std::set<std::uint32_t> seen;
    for (std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, high})
        for (RandomStream stream : {RandomStream::weights, RandomStream::order, RandomStream::test})
            for (std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, high})
                for (std::uint32_t subindex : {0u, 1u})
                    seen.insert(randomWords(seed, stream, index, subindex).x);
    CHECK(seen.size() == 3 * 3 * 3 * 2);
}

TEST_CASE("uniform01 covers [0, 1) and normal numbers are finite at its ends") {
    CHECK(uniform01(0) == 0.0);
    CHECK(uniform01(0x80000000u) == 0.5);
    CHECK(uniform01(0xffffffffu) < 1.0);
    CHECK(std::isfinite(normalFromWords(0xffffffffu, 0)));
    CHECK(normalFromWords(0, 0) == 0.0);
    CHECK(normalFromWords(0xffffffffu, 0) == doctest::Approx(std::sqrt(64 * std::log(2.0))));
}

TEST_CASE("normal numbers have mean 0, variance 1 and a normal distribution's tails") {
    std::vector<double> values;
    for (std::uint64_t i = 0; i < 100000; ++i) {
        const shared::Random4 words = randomWords(7, RandomStream::test, i);
        values.push_back(normalFromWords(words.x, words.y));
        values.push_back(normalFromWords(words.z, words.w));
    }
    // Bounds are over four standard errors: sqrt(1 / n) = 0.0022, sqrt(2 / n) = 0.0032, sqrt(24 / n) = 0.011.
    const Moments moments = momentsOf(values);
    CHECK(std::abs(moments.mean) < 0.010);
    CHECK(std::abs(moments.variance - 1) < 0.014);
    CHECK(std::abs(moments.kurtosis - 3) < 0.050);
}

TEST_CASE("initial weights have each scheme's mean and variance") {
    struct Expected {
        InitScheme scheme;
        double variance, kurtosis;
    };
    const LayerLayout layer = ParamLayout(shapeWith(InitScheme::he)).layer(0);
    const Expected table[] = {{InitScheme::he, 2.0 / 301, 3},
                              {InitScheme::xavier, 2.0 / (301 + 203), 3},
                              {InitScheme::lecun, 1.0 / 301, 3},
                              {InitScheme::uniform, 1.0 / 12, 1.8}};
    for (const Expected& expected : table) {
        CAPTURE(name(expected.scheme));
        const Moments moments = momentsOf(weightsOf(initialWeights(shapeWith(expected.scheme), 1), layer));
        // 61,103 weights: over four standard errors each.
        CHECK(std::abs(moments.mean) < 0.017 * std::sqrt(expected.variance));
        CHECK(std::abs(moments.variance / expected.variance - 1) < 0.024);
        CHECK(std::abs(moments.kurtosis - expected.kurtosis) < 0.09);
    }
}

TEST_CASE("uniform weights stay in [-0.5, 0.5), zeros are zero") {
    const LayerLayout layer = ParamLayout(shapeWith(InitScheme::uniform)).layer(0);
    double smallest = 1, largest = -1;
    for (double weight : weightsOf(initialWeights(shapeWith(InitScheme::uniform), 3), layer)) {
        smallest = std::min(smallest, weight);
        largest = std::max(largest, weight);
    }
    CHECK(smallest >= -0.5);
    CHECK(smallest < -0.499);
    CHECK(largest < 0.5);
    CHECK(largest > 0.499);
    for (float weight : initialWeights(shapeWith(InitScheme::zeros), 3)) REQUIRE(weight == 0.0f);
}

TEST_CASE("biases and padding start at 0") {
    const NetShape shape = shapeWith(InitScheme::he);
    const ParamLayout layout(shape);
    const std::vector<float> arena = initialWeights(shape, 5);
    REQUIRE(arena.size() == layout.size());
    std::vector<bool> isWeight(arena.size(), false);
    for (std::size_t l = 0; l < layout.layers(); ++l)
        for (std::size_t o = 0; o < layout.layer(l).outputs; ++o)
            for (std::size_t i = 0; i < layout.layer(l).inputs; ++i)
                isWeight[layout.layer(l).weightOffset + o * layout.layer(l).rowStride + i] = true;
    for (std::size_t k = 0; k < arena.size(); ++k)
        if (!isWeight[k]) REQUIRE(arena[k] == 0.0f);
}

TEST_CASE("initial weights depend on the seed and on the layer, and on nothing else") {
    const NetShape shape = shapeWith(InitScheme::he);
    CHECK(initialWeights(shape, 1) == initialWeights(shape, 1));
    CHECK(initialWeights(shape, 1) != initialWeights(shape, 2));

    NetShape square;
    square.widths = {8, 8, 8};
    const ParamLayout layout(square);
    const std::vector<float> arena = initialWeights(square, 1);
    CHECK(weightsOf(arena, layout.layer(0)) != weightsOf(arena, layout.layer(1)));
}
