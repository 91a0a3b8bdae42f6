// Checks the products of every rung and instruction set against plain loops in double, for awkward shapes.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "engine/net/activation.h"
#include "tests/cpu_tables.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::vector<DenseShape> awkwardShapes() {
    std::vector<DenseShape> shapes;
    for (const std::size_t rows : {1, 7, 33, 127, 1000})
        for (const std::size_t inputs : {1, 7, 33, 127, 784})
            for (const std::size_t outputs : {1, 7, 33, 127, 784})
                if (rows * inputs * outputs <= 30'000'000)
                    shapes.push_back({rows, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)});
    shapes.push_back({64, 300, 256, 300, 256}); // large enough for a library
    shapes.push_back({5, 64, 64, 64, 64});      // whole vectors, whole tiles
    shapes.push_back({9, 14, 11, 14, 11});      // rows without padding
    return shapes;
}

std::string describe(const DenseShape& shape) {
    return std::to_string(shape.rows) + " rows, " + std::to_string(shape.inputs) + " -> " +
           std::to_string(shape.outputs);
}

} // namespace

TEST_CASE("dense matches the plain twin over awkward shapes") {
    for (const DenseShape& shape : awkwardShapes()) {
        const auto x = numbers(shape.rows, shape.inputs, shape.inputStride, 1);
        const auto w = numbers(shape.outputs, shape.inputs, shape.inputStride, 2);
        const auto b = numbers(1, shape.outputs, roundUpToFour(shape.outputs), 3);
        std::vector<double> y(shape.rows * shape.outputStride);
        plain::dense<double>(shape, doubles(x).data(), doubles(w).data(), doubles(b).data(),
                             Activation::identity, y.data(), nullptr);
        for (const Table& table : tables()) {
            CAPTURE(table.name);
            CAPTURE(describe(shape));
            std::vector<float> found(y.size() + 1, notANumber); // what is overwritten must not be read
            found.back() = canary;
            table.kernels->dense(shape, x.data(), w.data(), b.data(), Activation::identity, found.data(),
                                 nullptr);
            CHECK(found.back() == canary);
            found.pop_back();
            CHECK(distance(found, y) < tolerance(shape.inputs));
        }
    }
}

TEST_CASE("dense with every activation, and the sums it keeps") {
    for (const DenseShape& shape : {DenseShape{33, 7, 37, 8, 40}, DenseShape{97, 130, 71, 132, 72}}) {
        const auto x = numbers(shape.rows, shape.inputs, shape.inputStride, 1, 3);
        const auto w = numbers(shape.outputs, shape.inputs, shape.inputStride, 2);
        const auto b = numbers(1, shape.outputs, roundUpToFour(shape.outputs), 3);
        for (const Activation activation : allActivations)
            for (const Table& table : tables()) {
                CAPTURE(table.name);
                CAPTURE(name(activation));
                std::vector<double> y(shape.rows * shape.outputStride);
                std::vector<double> z(y.size());
                plain::dense<double>(shape, doubles(x).data(), doubles(w).data(), doubles(b).data(),
                                     activation, y.data(), z.data());
                std::vector<float> outputs(y.size(), notANumber);
                std::vector<float> sums(y.size(), notANumber);
                table.kernels->dense(shape, x.data(), w.data(), b.data(), activation, outputs.data(),
                                     sums.data());
                CHECK(distance(outputs, y) < 3 * tolerance(shape.inputs));
                CHECK(distance(sums, z) < 3 * tolerance(shape.inputs));
            }
    }
}

TEST_CASE("activations are right far from 0, and a NaN stays one") {
    const DenseShape shape{1, 1, 64, 4, 64};
    std::vector<float> w(64 * 4);
    for (std::size_t o = 0; o < 64; ++o) w[o * 4] = static_cast<float>(static_cast<int>(o) - 32) * 4.0f;
    const std::vector<float> one = {1, 0, 0, 0};
    const std::vector<float> b(64);
    for (const Activation activation : allActivations)
        for (const Table& table : tables()) {
            CAPTURE(table.name);
            CAPTURE(name(activation));
            std::vector<float> y(64);
            table.kernels->dense(shape, one.data(), w.data(), b.data(), activation, y.data(), nullptr);
            for (std::size_t o = 0; o < 64; ++o) {
                const double expected = activate(activation, static_cast<double>(w[o * 4]));
                CHECK(static_cast<double>(y[o]) == doctest::Approx(expected).epsilon(2e-6));
            }
            std::vector<float> broken = w;
            broken[5 * 4] = notANumber;
            table.kernels->dense(shape, one.data(), broken.data(), b.data(), activation, y.data(), nullptr);
            CHECK(std::isnan(y[5]));
            CHECK(std::isfinite(y[4]));
        }
}

TEST_CASE("input gradients match the plain twin over awkward shapes and activations") {
    std::size_t next = 0;
    for (const DenseShape& shape : awkwardShapes()) {
        const Activation activation = allActivations[next++ % std::size(allActivations)];
        const auto dz = numbers(shape.rows, shape.outputs, shape.outputStride, 1);
        const auto w = numbers(shape.outputs, shape.inputs, shape.inputStride, 2);
        const auto saved = numbers(shape.rows, shape.inputs, shape.inputStride, 3);
        std::vector<double> expected(shape.rows * shape.inputStride);
        plain::denseBackwardInputs<double>(shape, doubles(dz).data(), doubles(w).data(), activation,
                                           doubles(saved).data(), expected.data());
        for (const Table& table : tables()) {
            CAPTURE(table.name);
            CAPTURE(name(activation));
            CAPTURE(describe(shape));
            std::vector<float> found(expected.size() + 1, notANumber);
            found.back() = canary;
            table.kernels->denseBackwardInputs(shape, dz.data(), w.data(), activation, saved.data(),
                                               found.data());
            CHECK(found.back() == canary);
            found.pop_back();
            CHECK(distance(found, expected) < 2 * tolerance(shape.outputs));
        }
    }
}

TEST_CASE("columns of a layer are what the whole layer has there, and the others are left alone") {
    const DenseShape whole{34, 150, 210, 152, 212};
    const auto x = numbers(whole.rows, whole.inputs, whole.inputStride, 1);
    const auto w = numbers(whole.outputs, whole.inputs, whole.inputStride, 2);
    const auto b = numbers(1, whole.outputs, whole.outputStride, 3);
    const auto dz = numbers(whole.rows, whole.outputs, whole.outputStride, 4);
    std::vector<double> y(whole.rows * whole.outputStride);
    std::vector<double> z(y.size());
    std::vector<double> dx(whole.rows * whole.inputStride);
    plain::dense<double>(whole, doubles(x).data(), doubles(w).data(), doubles(b).data(), Activation::silu,
                         y.data(), z.data());
    plain::denseBackwardInputs<double>(whole, doubles(dz).data(), doubles(w).data(), Activation::silu,
                                       doubles(x).data(), dx.data());
    // The distance over columns [begin, end), and whether all others still hold the canary.
    const auto distanceInside = [](std::vector<float> found, std::vector<double> expected, std::size_t stride,
                                   Share inside) {
        for (std::size_t k = 0; k < found.size(); ++k)
            if (k % stride < inside.begin || k % stride >= inside.end) {
                CHECK(found[k] == canary);
                found[k] = 0;
                expected[k] = 0;
            }
        return distance(found, expected);
    };
    for (const Table& table : tables())
        for (const Share outputs : {Share{0, 64}, Share{64, 212}}) {
            CAPTURE(table.name);
            CAPTURE(outputs.begin);
            DenseShape part = whole;
            part.outputs = std::min<std::size_t>(outputs.end, whole.outputs) - outputs.begin;
            std::vector<float> found(y.size(), canary);
            std::vector<float> sums(y.size(), canary);
            table.kernels->dense(part, x.data(), w.data() + outputs.begin * whole.inputStride,
                                 b.data() + outputs.begin, Activation::silu, found.data() + outputs.begin,
                                 sums.data() + outputs.begin);
            CHECK(distanceInside(found, y, whole.outputStride, outputs) < 3 * tolerance(whole.inputs));
            CHECK(distanceInside(sums, z, whole.outputStride, outputs) < 3 * tolerance(whole.inputs));
        }
    for (const Table& table : tables())
        for (const Share inputs : {Share{0, 64}, Share{64, 152}}) {
            CAPTURE(table.name);
            CAPTURE(inputs.begin);
            DenseShape part = whole;
            part.inputs = std::min<std::size_t>(inputs.end, whole.inputs) - inputs.begin;
            std::vector<float> found(dx.size(), canary);
            table.kernels->denseBackwardInputs(part, dz.data(), w.data() + inputs.begin, Activation::silu,
                                               x.data() + inputs.begin, found.data() + inputs.begin);
            CHECK(distanceInside(found, dx, whole.inputStride, inputs) < 3 * tolerance(whole.outputs));
        }
}

TEST_CASE("weight gradients match the plain twin, whole and in slices") {
    for (const DenseShape& shape : awkwardShapes()) {
        const auto dz = numbers(shape.rows, shape.outputs, shape.outputStride, 1);
        const auto x = numbers(shape.rows, shape.inputs, shape.inputStride, 2);
        std::vector<double> dw(shape.outputs * shape.inputStride);
        std::vector<double> db(shape.outputs);
        plain::denseBackwardWeights<double>(shape, doubles(dz).data(), doubles(x).data(), 0, shape.outputs,
                                            dw.data(), db.data());
        for (const Table& table : tables())
            for (const std::size_t threads : {1, 2, 3}) {
                CAPTURE(table.name);
                CAPTURE(threads);
                CAPTURE(describe(shape));
                std::vector<float> weights(dw.size(), notANumber);
                std::vector<float> bias(db.size(), notANumber);
                for (std::size_t thread = 0; thread < threads; ++thread) {
                    const Share share = shareOf(shape.outputs, thread, threads);
                    if (share.begin < share.end)
                        table.kernels->denseBackwardWeights(shape, dz.data(), x.data(), share.begin,
                                                            share.end, 0, 1, weights.data(), bias.data());
                }
                CHECK(distance(weights, dw) < tolerance(shape.rows));
                CHECK(distance(bias, db) < tolerance(shape.rows));
            }
    }
}

TEST_CASE("a slice of weight gradients leaves the other rows alone") {
    const DenseShape shape{33, 50, 41, 52, 44};
    const auto dz = numbers(shape.rows, shape.outputs, shape.outputStride, 1);
    const auto x = numbers(shape.rows, shape.inputs, shape.inputStride, 2);
    for (const Table& table : tables()) {
        CAPTURE(table.name);
        std::vector<float> weights(shape.outputs * shape.inputStride, canary);
        std::vector<float> bias(shape.outputs, canary);
        table.kernels->denseBackwardWeights(shape, dz.data(), x.data(), 7, 30, 0, 1, weights.data(),
                                            bias.data());
        for (std::size_t o = 0; o < shape.outputs; ++o) {
            const bool inside = o >= 7 && o < 30;
            CHECK((bias[o] == canary) == !inside);
            CHECK((weights[o * shape.inputStride] == canary) == !inside);
            CHECK((weights[o * shape.inputStride + shape.inputStride - 1] == canary) == !inside);
        }
    }
}

TEST_CASE("the folded update is the gradient followed by plain SGD") {
    for (const DenseShape& shape : awkwardShapes()) {
        const auto dz = numbers(shape.rows, shape.outputs, shape.outputStride, 1);
        const auto x = numbers(shape.rows, shape.inputs, shape.inputStride, 2);
        const auto w = numbers(shape.outputs, shape.inputs, shape.inputStride, 3);
        const auto b = numbers(1, shape.outputs, shape.outputs, 4);
        std::vector<double> dw(w.size());
        std::vector<double> db(b.size());
        plain::denseBackwardWeights<double>(shape, doubles(dz).data(), doubles(x).data(), 0, shape.outputs,
                                            dw.data(), db.data());
        shared::UpdateParams params{};
        params.learningRate = 0.25f;
        params.l2 = 0.125f;
        auto expectedWeights = doubles(w);
        auto expectedBias = doubles(b);
        plain::update<double>(Optimizer::sgd, params, 0, w.size(), dw.data(), expectedWeights.data(), nullptr,
                              nullptr);
        plain::update<double>(Optimizer::sgd, params, 0, b.size(), db.data(), expectedBias.data(), nullptr,
                              nullptr);
        for (const Table& table : tables()) {
            if (table.kernels == &scalarKernels()) continue; // keeps gradients
            CAPTURE(table.name);
            CAPTURE(describe(shape));
            std::vector<float> weights = w;
            std::vector<float> bias = b;
            REQUIRE(table.kernels->folds);
            for (std::size_t thread = 0; thread < 3; ++thread) {
                const Share share = shareOf(shape.outputs, thread, 3);
                if (share.begin < share.end)
                    table.kernels->denseBackwardWeights(shape, dz.data(), x.data(), share.begin, share.end,
                                                        1 - 0.25f * 0.125f, -0.25f, weights.data(),
                                                        bias.data());
            }
            CHECK(distance(weights, expectedWeights) < tolerance(shape.rows));
            CHECK(distance(bias, expectedBias) < tolerance(shape.rows));
        }
    }
    CHECK_FALSE(scalarKernels().folds);
}
