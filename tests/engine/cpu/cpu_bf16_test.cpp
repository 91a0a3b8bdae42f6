// Products in bf16 by the processor's own instructions: those of rounded numbers, for awkward shapes.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "engine/net/activation.h"
#include "engine/net/float_formats.h"
#include "tests/cpu_tables.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// Also depths of more than one stretch of a product (512), odd ones, and more rows than a block has (256).
std::vector<DenseShape> shapesOfPairs() {
    std::vector<DenseShape> shapes;
    for (const std::size_t rows : {1, 7, 33, 600})
        for (const std::size_t inputs : {1, 2, 7, 31, 127, 784, 1025})
            for (const std::size_t outputs : {1, 7, 33, 127, 515})
                if (rows * inputs * outputs <= 40'000'000)
                    shapes.push_back({rows, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)});
    shapes.push_back({1100, 9, 13, 12, 16});
    shapes.push_back({9, 14, 11, 14, 11}); // rows without padding
    return shapes;
}

std::string describe(const DenseShape& shape) {
    return std::to_string(shape.rows) + " rows, " + std::to_string(shape.inputs) + " -> " +
           std::to_string(shape.outputs);
}

std::vector<double> roundedDoubles(std::vector<float> values) {
    for (float& value : values) value = rounded(value, FloatKind::bf16);
    return doubles(values);
}

bool sameNumbers(const std::vector<float>& a, const std::vector<float>& b) {
    return std::ranges::equal(a, b, [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
    });
}

bool absent() {
    if (hasBf16Instructions()) return false;
    MESSAGE("this processor has no AVX-512 BF16");
    return true;
}

} // namespace

TEST_CASE("the three products in bf16 are those of rounded operands") {
    if (absent()) return;
    std::size_t next = 0;
    for (const DenseShape& shape : shapesOfPairs()) {
        CAPTURE(describe(shape));
        const Activation activation = allActivations[next++ % std::size(allActivations)];
        CAPTURE(name(activation));
        const auto x = numbers(shape.rows, shape.inputs, shape.inputStride, 1);
        const auto w = numbers(shape.outputs, shape.inputs, shape.inputStride, 2);
        const auto b = numbers(1, shape.outputs, roundUpToFour(shape.outputs), 3);
        const auto dz = numbers(shape.rows, shape.outputs, shape.outputStride, 4);
        const auto saved = numbers(shape.rows, shape.inputs, shape.inputStride, 5);
        const auto rx = roundedDoubles(x);
        const auto rw = roundedDoubles(w);
        const auto rdz = roundedDoubles(dz);

        std::vector<double> y(shape.rows * shape.outputStride);
        std::vector<double> z(y.size());
        plain::dense<double>(shape, rx.data(), rw.data(), doubles(b).data(), activation, y.data(), z.data());
        std::vector<float> outputs(y.size() + 1, notANumber); // what is overwritten must not be read
        std::vector<float> sums(y.size(), notANumber);
        outputs.back() = canary;
        bf16Kernels().dense(shape, x.data(), w.data(), b.data(), activation, outputs.data(), sums.data());
        CHECK(outputs.back() == canary);
        outputs.pop_back();
        CHECK(distance(outputs, y) < 3 * tolerance(shape.inputs));
        CHECK(distance(sums, z) < tolerance(shape.inputs));

        std::vector<double> dx(shape.rows * shape.inputStride);
        plain::denseBackwardInputs<double>(shape, rdz.data(), rw.data(), activation, doubles(saved).data(),
                                           dx.data());
        std::vector<float> below(dx.size() + 1, notANumber);
        below.back() = canary;
        bf16Kernels().denseBackwardInputs(shape, dz.data(), w.data(), activation, saved.data(), below.data());
        CHECK(below.back() == canary);
        below.pop_back();
        CHECK(distance(below, dx) < 2 * tolerance(shape.outputs));

        std::vector<double> dw(w.size());
        std::vector<double> db(shape.outputs);
        plain::denseBackwardWeights<double>(shape, rdz.data(), rx.data(), 0, shape.outputs, dw.data(),
                                            db.data());
        plain::denseBackwardWeights<double>( // biases are sums of numbers that are not rounded
            shape, doubles(dz).data(), rx.data(), 0, shape.outputs, std::vector<double>(w.size()).data(),
            db.data());
        std::vector<float> weights(dw.size() + 1, notANumber);
        std::vector<float> bias(db.size(), notANumber);
        weights.back() = canary;
        bf16Kernels().denseBackwardWeights(shape, dz.data(), x.data(), 0, shape.outputs, 0, 1, weights.data(),
                                           bias.data());
        CHECK(weights.back() == canary);
        weights.pop_back();
        CHECK(distance(weights, dw) < tolerance(shape.rows));
        CHECK(distance(bias, db) < tolerance(shape.rows));
    }
}

TEST_CASE("a number times one is the number, rounded to the nearest bf16") {
    if (absent()) return;
    std::vector<float> values = numbers(1, 500, 500, 7, 1e20f);
    for (const std::uint32_t tail : {0x7FFFu, 0x8000u, 0x8001u, 0x18000u, 0x17FFFu}) // ties, and beside them
        for (const std::uint32_t head : {0x3F800000u, 0xC0490000u, 0x7F7E0000u, 0x00900000u})
            values.push_back(std::bit_cast<float>(head + tail));
    values.push_back(std::numeric_limits<float>::infinity());
    const DenseShape shape{values.size(), 1, 1, 1, 1};
    const float one = 1;
    const float zero = 0;
    std::vector<float> found(values.size());
    bf16Kernels().dense(shape, values.data(), &one, &zero, Activation::identity, found.data(), nullptr);
    for (std::size_t at = 0; at < values.size(); ++at) {
        CAPTURE(values[at]);
        CHECK(found[at] == rounded(values[at], FloatKind::bf16));
    }
    // What the instruction does otherwise: a denormal number counts as 0. A NaN stays one.
    const float odd[] = {std::bit_cast<float>(0x00400000u), notANumber};
    bf16Kernels().dense({2, 1, 1, 1, 1}, odd, &one, &zero, Activation::identity, found.data(), nullptr);
    CHECK(found[0] == 0);
    CHECK(std::isnan(found[1]));
}

TEST_CASE("products in bf16 are the same bits, wherever they are cut") {
    if (absent()) return;
    const DenseShape whole{301, 1030, 70, 1032, 72};
    const auto x = numbers(whole.rows, whole.inputs, whole.inputStride, 1);
    const auto w = numbers(whole.outputs, whole.inputs, whole.inputStride, 2);
    const auto b = numbers(1, whole.outputs, whole.outputStride, 3);
    const auto dz = numbers(whole.rows, whole.outputs, whole.outputStride, 4);
    const CpuKernels& kernels = bf16Kernels();
    REQUIRE(kernels.anyCut);
    std::vector<float> y(whole.rows * whole.outputStride);
    std::vector<float> dx(x.size());
    std::vector<float> dw(w.size());
    std::vector<float> db(whole.outputs);
    kernels.dense(whole, x.data(), w.data(), b.data(), Activation::tanh, y.data(), nullptr);
    kernels.denseBackwardInputs(whole, dz.data(), w.data(), Activation::tanh, x.data(), dx.data());
    kernels.denseBackwardWeights(whole, dz.data(), x.data(), 0, whole.outputs, 0, 1, dw.data(), db.data());

    std::vector<float> rows(y.size(), canary);
    std::vector<float> below(dx.size(), canary);
    for (const Share share : {Share{0, 5}, Share{5, 290}, Share{290, 301}}) {
        DenseShape part = whole;
        part.rows = share.end - share.begin;
        kernels.dense(part, x.data() + share.begin * whole.inputStride, w.data(), b.data(), Activation::tanh,
                      rows.data() + share.begin * whole.outputStride, nullptr);
        kernels.denseBackwardInputs(part, dz.data() + share.begin * whole.outputStride, w.data(),
                                    Activation::tanh, x.data() + share.begin * whole.inputStride,
                                    below.data() + share.begin * whole.inputStride);
    }
    CHECK(sameNumbers(rows, y));
    CHECK(sameNumbers(below, dx));

    std::vector<float> columns(y.size(), 0.0f);
    for (const Share share : {Share{0, 16}, Share{16, 70}}) {
        DenseShape part = whole;
        part.outputs = share.end - share.begin;
        kernels.dense(part, x.data(), w.data() + share.begin * whole.inputStride, b.data() + share.begin,
                      Activation::tanh, columns.data() + share.begin, nullptr);
    }
    CHECK(sameNumbers(columns, y));

    // Rows [7, 30) of the weights alone; then a folded step on all of them: w = w / 2 - 3 dW.
    std::vector<float> slice(w.size(), canary);
    std::vector<float> bias(whole.outputs, canary);
    kernels.denseBackwardWeights(whole, dz.data(), x.data(), 7, 30, 0, 1, slice.data(), bias.data());
    for (std::size_t o = 0; o < whole.outputs; ++o)
        for (std::size_t i = 0; i < whole.inputStride; ++i)
            REQUIRE(slice[o * whole.inputStride + i] ==
                    (o >= 7 && o < 30 ? dw[o * whole.inputStride + i] : canary));
    REQUIRE(kernels.folds);
    std::vector<float> weights = w;
    std::vector<float> biases = b;
    std::vector<double> expected(w.size());
    for (std::size_t at = 0; at < w.size(); ++at)
        expected[at] = 0.5 * static_cast<double>(w[at]) - 3.0 * static_cast<double>(dw[at]);
    kernels.denseBackwardWeights(whole, dz.data(), x.data(), 0, whole.outputs, 0.5f, -3, weights.data(),
                                 biases.data());
    CHECK(distance(weights, expected) < 3 * tolerance(whole.rows));
}
