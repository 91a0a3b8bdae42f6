// Every activation and its derivative, every loss and every optimizer at the ends of the floats' range, on
// every table of the processor's kernels, against the formulas in double.
#include <doctest/doctest.h>

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "tests/cpu_tables.h"
#include "tests/extremes.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr std::size_t grain = mostElements;

/// A kernel that computes something for every number of a list.
struct Numbers {
    std::string name;
    std::function<std::vector<float>(Activation, const std::vector<float>&)> of;
};

std::vector<VectorLevel> levels() {
    std::vector<VectorLevel> result;
    for (const VectorLevel level : {VectorLevel::baseline, VectorLevel::avx2, VectorLevel::avx512})
        if (level <= vectorLevel()) result.push_back(level);
    return result;
}

std::vector<float> repeated(const std::vector<float>& values, std::size_t times) {
    std::vector<float> result;
    for (const float value : values) result.insert(result.end(), times, value);
    return result;
}

/// Every `step`-th of the first `count * step`.
std::vector<float> everyOf(const std::vector<float>& values, std::size_t count, std::size_t step) {
    std::vector<float> result(count);
    for (std::size_t k = 0; k < count; ++k) result[k] = values[k * step];
    return result;
}

/// All kernels that compute f(z): a layer with one input, which is 1, whose weights are the numbers.
std::vector<Numbers> activations() {
    std::vector<Numbers> result;
    for (const Table& table : tables())
        result.push_back({table.name, [kernels = table.kernels](Activation f, const std::vector<float>& z) {
                              const DenseShape shape{1, 1, z.size(), 4, roundUpToFour(z.size())};
                              std::vector<float> weights(z.size() * 4);
                              for (std::size_t k = 0; k < z.size(); ++k) weights[k * 4] = z[k];
                              const std::vector<float> one = {1, 0, 0, 0};
                              const std::vector<float> bias(shape.outputStride);
                              std::vector<float> y(shape.outputStride);
                              kernels->dense(shape, one.data(), weights.data(), bias.data(), f, y.data(),
                                             nullptr);
                              return everyOf(y, z.size(), 1);
                          }});
    for (const VectorLevel level : levels()) {
        const VectorTables& table = vectorTables(level);
        result.push_back({std::string("behind a library's product, ") + name(level),
                          [&table](Activation f, const std::vector<float>& z) {
                              const DenseShape shape{1, 1, z.size(), 4, roundUpToFour(z.size())};
                              std::vector<float> y = z;
                              y.resize(shape.outputStride);
                              const std::vector<float> bias(shape.outputStride);
                              table.finishDense(shape, bias.data(), f, y.data(), nullptr);
                              return everyOf(y, z.size(), 1);
                          }});
        result.push_back(
            {std::string("small, ") + name(level), [&table](Activation f, const std::vector<float>& z) {
                 const SmallShape shape{1, 1, z.size(), 4, grain};
                 std::vector<float> weights(z.size() * 4);
                 for (std::size_t k = 0; k < z.size(); ++k) weights[k * 4] = z[k];
                 const std::vector<float> ones(grain * grain, 1.0f);
                 const std::vector<float> bias(roundUpToGrain(z.size()));
                 std::vector<float> y(roundUpToGrain(z.size()) * grain);
                 table.small.dense(shape, ones.data(), weights.data(), bias.data(), f, y.data(), nullptr);
                 return everyOf(y, z.size(), grain);
             }});
        result.push_back(
            {std::string("population, ") + name(level), [&table](Activation f, const std::vector<float>& z) {
                 const std::size_t elements = table.population.elements;
                 std::vector<float> parameters = repeated(z, elements);
                 parameters.resize(2 * parameters.size()); // biases
                 const std::vector<float> ones(elements, 1.0f);
                 std::vector<float> y(z.size() * elements);
                 table.population.dense({1, 1, z.size()}, ones.data(), parameters.data(), f, y.data(),
                                        nullptr);
                 return everyOf(y, z.size(), elements);
             }});
    }
    return result;
}

/// All kernels that compute f'(saved): a layer with one output, whose weights and gradient are 1.
std::vector<Numbers> derivatives() {
    std::vector<Numbers> result;
    for (const Table& table : tables())
        result.push_back(
            {table.name, [kernels = table.kernels](Activation f, const std::vector<float>& saved) {
                 const DenseShape shape{1, saved.size(), 1, roundUpToFour(saved.size()), 4};
                 const std::vector<float> ones(shape.inputStride, 1.0f);
                 std::vector<float> below = saved;
                 below.resize(shape.inputStride);
                 std::vector<float> d(shape.inputStride);
                 kernels->denseBackwardInputs(shape, ones.data(), ones.data(), f, below.data(), d.data());
                 return everyOf(d, saved.size(), 1);
             }});
    for (const VectorLevel level : levels()) {
        const VectorTables& table = vectorTables(level);
        result.push_back({std::string("behind a library's product, ") + name(level),
                          [&table](Activation f, const std::vector<float>& saved) {
                              const DenseShape shape{1, saved.size(), 1, roundUpToFour(saved.size()), 4};
                              std::vector<float> below = saved;
                              below.resize(shape.inputStride);
                              std::vector<float> d(shape.inputStride, 1.0f);
                              table.finishBackwardInputs(shape, f, below.data(), d.data());
                              return everyOf(d, saved.size(), 1);
                          }});
        result.push_back(
            {std::string("small, ") + name(level), [&table](Activation f, const std::vector<float>& saved) {
                 const std::size_t rows = roundUpToGrain(saved.size());
                 const SmallShape shape{1, saved.size(), 1, rows, grain};
                 const std::vector<float> weights(rows, 1.0f);
                 std::vector<float> dz(grain * grain);
                 std::fill_n(dz.begin(), grain, 1.0f);
                 std::vector<float> below = repeated(saved, grain);
                 below.resize(rows * grain);
                 std::vector<float> d(rows * grain);
                 table.small.denseBackwardInputs(shape, dz.data(), weights.data(), f, below.data(), d.data());
                 return everyOf(d, saved.size(), grain);
             }});
        result.push_back({std::string("population, ") + name(level),
                          [&table](Activation f, const std::vector<float>& saved) {
                              const std::size_t elements = table.population.elements;
                              const std::vector<float> ones((saved.size() + 1) * elements, 1.0f);
                              const std::vector<float> below = repeated(saved, elements);
                              std::vector<float> d(below.size());
                              table.population.denseBackwardInputs({1, saved.size(), 1}, ones.data(),
                                                                   ones.data(), f, below.data(), d.data());
                              return everyOf(d, saved.size(), elements);
                          }});
    }
    return result;
}

struct LossResult {
    double loss = 0;
    std::vector<float> gradient;
};

/// A kernel that computes the loss of one row of outputs.
struct LossKernel {
    std::string name;
    std::function<LossResult(const LossShape&, const std::vector<float>&, const std::vector<TargetWord>&)> of;
};

std::vector<LossKernel> losses() {
    std::vector<LossKernel> result;
    for (const Table& table : tables())
        result.push_back({table.name, [kernels = table.kernels](LossShape shape, std::vector<float> y,
                                                                const std::vector<TargetWord>& targets) {
                              shape.stride = roundUpToFour(shape.outputs);
                              y.resize(shape.stride);
                              std::vector<float> d(shape.stride);
                              const double loss = kernels->lossAndGradient(shape, y.data(), y.data(),
                                                                           targets.data(), d.data());
                              d.resize(shape.outputs);
                              return LossResult{loss, d};
                          }});
    for (const VectorLevel level : levels()) {
        const VectorTables& table = vectorTables(level);
        const auto words = [](const std::vector<TargetWord>& targets, std::size_t times) {
            std::vector<TargetWord> all;
            for (const TargetWord word : targets) all.insert(all.end(), times, word);
            return all;
        };
        result.push_back({std::string("small, ") + name(level),
                          [&table, words](LossShape shape, const std::vector<float>& y,
                                          const std::vector<TargetWord>& targets) {
                              shape.stride = grain;
                              const std::vector<float> outputs = repeated(y, grain);
                              std::vector<float> d(outputs.size());
                              const double loss =
                                  table.small.lossAndGradient(shape, outputs.data(), outputs.data(),
                                                              words(targets, grain).data(), d.data());
                              return LossResult{loss, everyOf(d, y.size(), grain)};
                          }});
        result.push_back({std::string("population, ") + name(level),
                          [&table, words](const LossShape& shape, const std::vector<float>& y,
                                          const std::vector<TargetWord>& targets) {
                              const std::size_t elements = table.population.elements;
                              const std::vector<float> outputs = repeated(y, elements);
                              std::vector<float> d(outputs.size());
                              PopulationLosses sums{};
                              table.population.lossAndGradient(shape, outputs.data(), outputs.data(),
                                                               words(targets, elements).data(), d.data(),
                                                               sums);
                              return LossResult{sums.sum[0], everyOf(d, y.size(), elements)};
                          }});
    }
    return result;
}

struct UpdateCase {
    float gradient, weight, first, second;
};

/// A kernel that updates weights and what the optimizer keeps of them, in place.
struct UpdateKernel {
    std::string name;
    std::function<void(Optimizer, const shared::UpdateParams&, const std::vector<float>&, std::vector<float>&,
                       std::vector<float>&, std::vector<float>&)>
        run;
};

std::vector<UpdateKernel> updates() {
    std::vector<UpdateKernel> result;
    for (const Table& table : tables())
        result.push_back(
            {table.name, [kernels = table.kernels](Optimizer optimizer, const shared::UpdateParams& params,
                                                   const std::vector<float>& g, std::vector<float>& w,
                                                   std::vector<float>& m, std::vector<float>& v) {
                 kernels->update(optimizer, params, 0, g.size(), g.data(), w.data(), m.data(), v.data());
             }});
    for (const VectorLevel level : levels()) {
        const VectorTables& table = vectorTables(level);
        result.push_back(
            {std::string("population, ") + name(level),
             [&table](Optimizer optimizer, const shared::UpdateParams& params, const std::vector<float>& g,
                      std::vector<float>& w, std::vector<float>& m, std::vector<float>& v) {
                 const std::size_t elements = table.population.elements;
                 PopulationRates rates{};
                 PopulationLosses learning{};
                 rates.common = params;
                 std::fill_n(rates.learningRate, elements, params.learningRate);
                 std::fill_n(rates.momentum, elements, params.momentum);
                 std::fill_n(rates.l2, elements, params.l2);
                 std::fill_n(rates.weightKeep, elements, params.weightKeep);
                 std::fill_n(learning.learns, elements, -1);
                 std::vector<float> ws = repeated(w, elements);
                 std::vector<float> ms = repeated(m, elements);
                 std::vector<float> vs = repeated(v, elements);
                 table.population.update(optimizer, rates, learning, g.size(), repeated(g, elements).data(),
                                         ws.data(), ms.data(), vs.data());
                 w = everyOf(ws, w.size(), elements);
                 m = everyOf(ms, m.size(), elements);
                 v = everyOf(vs, v.size(), elements);
             }});
    }
    return result;
}

void checkValue(float found, double exact, Tolerance tolerance) {
    CAPTURE(found);
    CAPTURE(exact);
    CHECK(tolerance.holds(static_cast<double>(found), exact));
}

} // namespace

TEST_CASE("the tolerances tell a wrong value from a right one") {
    // What kernels returned whose exponential ended at 88, and whose tanh ended at 7.9988.
    CHECK_FALSE(valueTolerance(Activation::silu, -1e38).holds(-0.61, 0));
    CHECK_FALSE(valueTolerance(Activation::tanh, 1e3).holds(1 - 1.2e-7, 1));
    CHECK_FALSE(valueTolerance(Activation::tanh, 9.1).holds(1 - 6e-8, std::tanh(9.1)));
    CHECK_FALSE(derivativeTolerance(Activation::tanh, 1e3).holds(3.6e-7, 0));
    CHECK_FALSE(derivativeTolerance(Activation::gelu, 1e38).holds(1.6, 1));
    CHECK_FALSE(derivativeTolerance(Activation::elu, -20).holds(0, exactDerivative(Activation::elu, -20)));
    CHECK_FALSE(Tolerance{1e-6, 0}.holds(NAN, 1));
    CHECK_FALSE(Tolerance{1e-6, 0}.holds(1, NAN));
    CHECK_FALSE(Tolerance{1e-6, 0}.holds(3.4e38, 4e38)); // infinite in a float
    CHECK(Tolerance{1e-6, 0}.holds(INFINITY, 4e38));
}

// Infinities and NaN give what the formula gives in double, which is what PyTorch gives: silu(-inf) and
// gelu(-inf) are -inf * 0, a NaN, there as here.
TEST_CASE("activations at extremes") {
    std::vector<float> z = extremeNumbers();
    for (const float more : {infinite, -infinite, notANumber}) z.push_back(more);
    for (const Numbers& kernel : activations())
        for (const Activation activation : allActivations) {
            CAPTURE(kernel.name);
            CAPTURE(name(activation));
            const std::vector<float> found = kernel.of(activation, z);
            for (std::size_t k = 0; k < z.size(); ++k) {
                CAPTURE(z[k]);
                const auto exact = static_cast<double>(z[k]);
                checkValue(found[k], activate(activation, exact), valueTolerance(activation, exact));
            }
        }
}

TEST_CASE("derivatives at extremes, from what the kernels themselves have saved") {
    const std::vector<float> z = extremeNumbers();
    const std::vector<Numbers> forward = activations();
    const std::vector<Numbers> backward = derivatives();
    REQUIRE(forward.size() == backward.size());
    for (std::size_t kernel = 0; kernel < forward.size(); ++kernel)
        for (const Activation activation : allActivations) {
            CAPTURE(forward[kernel].name);
            CAPTURE(name(activation));
            const std::vector<float> saved =
                derivativeNeedsSum(activation) ? z : forward[kernel].of(activation, z);
            const std::vector<float> found = backward[kernel].of(activation, saved);
            for (std::size_t k = 0; k < z.size(); ++k) {
                CAPTURE(z[k]);
                const auto exact = static_cast<double>(z[k]);
                checkValue(found[k], exactDerivative(activation, exact),
                           derivativeTolerance(activation, exact));
            }
        }
}

TEST_CASE("a NaN stays one in every derivative that depends on its number") {
    for (const Numbers& kernel : derivatives())
        for (const Activation activation :
             {Activation::gelu, Activation::silu, Activation::tanh, Activation::sigmoid, Activation::elu}) {
            CAPTURE(kernel.name);
            CAPTURE(name(activation));
            const std::vector<float> found = kernel.of(activation, {1.0f, notANumber, 1.0f});
            CHECK(std::isfinite(found[0]));
            CHECK(std::isnan(found[1]));
            CHECK(std::isfinite(found[2]));
        }
}

TEST_CASE("tanh is within [-1, 1], and 1 to the bit from 9 on") {
    std::vector<float> z;
    for (int k = 0; k <= 4000; ++k) z.push_back(7.0f + static_cast<float>(k) / 1000);
    for (const Numbers& kernel : activations()) {
        CAPTURE(kernel.name);
        const std::vector<float> found = kernel.of(Activation::tanh, z);
        std::size_t wrong = 0;
        for (std::size_t k = 0; k < z.size(); ++k) {
            const auto exact = static_cast<double>(z[k]);
            const bool good = found[k] <= 1 && (z[k] < 9.02f || found[k] == 1) &&
                              std::abs(static_cast<double>(found[k]) - std::tanh(exact)) < 4e-7;
            wrong += good ? 0 : 1;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("elementwise losses and their gradients at extremes") {
    std::vector<float> outputs;
    for (const float y : extremeNumbers())
        if (std::abs(y) < 3.3e38f) outputs.push_back(y); // 2 (y - t) of the largest float is infinite
    for (const float more : {infinite, -infinite, notANumber}) outputs.push_back(more);
    for (const LossKernel& kernel : losses())
        for (const Loss loss : {Loss::meanSquared, Loss::huber, Loss::binaryCrossEntropy})
            for (const float y : outputs)
                for (const float target : {0.0f, 1.0f, 0.3f, -1.0f, 1e-38f, 1e3f, 1e38f, -3e38f}) {
                    const bool binary = loss == Loss::binaryCrossEntropy;
                    if (binary && (target < 0 || target > 1)) continue;
                    LossShape shape;
                    shape.rows = 1;
                    shape.outputs = 5; // the vector kernels leave fewer to the plain loops
                    shape.targetWidth = 5;
                    shape.loss = loss;
                    shape.targetKind = shared::targetValues;
                    shape.scale = 0.125;
                    const auto word = std::bit_cast<TargetWord>(target);
                    const std::vector<TargetWord> targets(5, word);
                    std::vector<double> exactGradient(8);
                    LossShape exactShape = shape;
                    exactShape.outputs = 1;
                    exactShape.targetWidth = 1;
                    exactShape.stride = 8;
                    const std::vector<double> exactOutputs(8, static_cast<double>(y));
                    const double exact =
                        plain::lossAndGradient<double>(exactShape, exactOutputs.data(), exactOutputs.data(),
                                                       targets.data(), exactGradient.data());
                    CAPTURE(kernel.name);
                    CAPTURE(name(loss));
                    CAPTURE(y);
                    CAPTURE(target);
                    const LossResult found = kernel.of(shape, std::vector<float>(5, y), targets);
                    // The sum of five is in floats.
                    CAPTURE(found.loss);
                    CHECK(Tolerance{2e-6, binary ? 2e-6 : 5 * flushed}.holds(found.loss, 5 * exact));
                    // 2 (y - t) in front of the mean's factor: infinite where the loss is, too.
                    if (std::isfinite(asFloat(exact)) || std::abs(exactGradient[0]) < 4e37)
                        for (const float d : found.gradient) checkValue(d, exactGradient[0], {2e-6, 1e-8});
                }
}

TEST_CASE("cross-entropy and its gradient at extremes") {
    const std::vector<std::vector<float>> rows = {
        {0, 0, 0, 0, 0},
        {-0.0f, 1e-40f, -1e-38f, 1e-30f, 0},
        {88, 87, -88, 0, 1},
        {89, -89, 104, -104, 0},
        {1e3f, -1e3f, 0, 1e3f, 999},
        {1e38f, 1e38f, -1e38f, 0, 1},
        {3e38f, -3e38f, 3e38f, 0, -1},
        {-1e38f, -1e38f, -1e38f, -1e38f, -1e38f},
        {-20, -90, 0, -200, -50},
        {-infinite, 0, 1, 2, 3},
        {infinite, 0, 1, 2, 3},
        {-infinite, -infinite, -infinite, -infinite, -infinite},
        {notANumber, 0, 1, 2, 3},
        {0, 1, 2, 3, notANumber},
    };
    LossShape shape;
    shape.rows = 1;
    shape.outputs = 5;
    shape.stride = 8;
    shape.scale = 0.125;
    for (const LossKernel& kernel : losses())
        for (std::size_t row = 0; row < rows.size(); ++row)
            for (TargetWord target = 0; target < 5; ++target) {
                CAPTURE(kernel.name);
                CAPTURE(row);
                CAPTURE(target);
                std::vector<double> z(rows[row].begin(), rows[row].end());
                z.resize(8);
                std::vector<double> exactGradient(8);
                const double exact =
                    plain::lossAndGradient<double>(shape, z.data(), z.data(), &target, exactGradient.data());
                const LossResult found = kernel.of(shape, rows[row], {target});
                if (std::isfinite(exact)) {
                    CHECK(Tolerance{2e-6, 5e-7}.holds(found.loss, exact));
                    for (std::size_t j = 0; j < 5; ++j)
                        checkValue(found.gradient[j], exactGradient[j], {2e-6, 1e-8});
                } else {
                    CHECK(!std::isfinite(found.loss)); // such a step is not taken
                }
            }
}

TEST_CASE("optimizers at extremes: an infinite second moment stops a weight, as in PyTorch") {
    std::vector<UpdateCase> cases;
    for (const float g : {0.0f, -0.0f, 1e-45f, 1e-38f, -1e-30f, 1e-20f, 1e-8f, -1.0f, 1e10f, -1e19f, 1.9e19f,
                          1e20f, -1e22f, 1e30f, 1e38f})
        for (const float w : {0.0f, 1.0f, -1e-38f, 1e5f})
            for (const auto& [m, v] : {std::pair{0.0f, 0.0f},
                                       {1e-20f, 1e-38f},
                                       {1e-3f, 1e-40f},
                                       {-1e19f, 1e38f},
                                       {1e20f, infinite},
                                       {0.0f, infinite}})
                cases.push_back({g, w, m, v});
    shared::UpdateParams params{};
    params.learningRate = 0.01f;
    params.momentum = 0.9f;
    params.secondDecay = 0.999f;
    params.epsilon = 1e-8f;
    params.secondScale = 1.5f;
    params.weightKeep = 0.98f;
    for (const UpdateKernel& kernel : updates())
        for (const Optimizer optimizer : allOptimizers)
            for (const bool regularised : {false, true}) {
                params.l1 = regularised ? 0.25f : 0;
                params.l2 = regularised ? 0.5f : 0;
                params.nesterov = regularised && optimizer == Optimizer::momentum ? 1 : 0;
                const bool rootOfFirst = infoOf(optimizer).states == 1 && infoOf(optimizer).has(usesEpsilon);
                std::vector<float> g, w, m, v;
                for (const UpdateCase& one : cases) {
                    g.push_back(one.gradient);
                    w.push_back(one.weight);
                    m.push_back(rootOfFirst ? one.second : one.first);
                    v.push_back(one.second);
                }
                const std::vector<float> before = w;
                std::vector<double> exactW = doubles(w);
                std::vector<double> exactM = doubles(m);
                std::vector<double> exactV = doubles(v);
                plain::update<double>(optimizer, params, 0, g.size(), doubles(g).data(), exactW.data(),
                                      exactM.data(), exactV.data());
                kernel.run(optimizer, params, g, w, m, v);
                const bool divides = infoOf(optimizer).has(usesEpsilon);
                for (std::size_t k = 0; k < g.size(); ++k) {
                    CAPTURE(kernel.name);
                    CAPTURE(name(optimizer));
                    CAPTURE(regularised);
                    CAPTURE(cases[k].gradient);
                    CAPTURE(cases[k].weight);
                    CAPTURE(cases[k].first);
                    CAPTURE(cases[k].second);
                    // A mean of squares beyond the floats is infinite, and the step is divided by it.
                    if (divides && std::isinf(asFloat(rootOfFirst ? exactM[k] : exactV[k])))
                        exactW[k] = static_cast<double>(before[k]) *
                                    (infoOf(optimizer).has(decouplesDecay) ? 0.98 : 1.0);
                    const double step = exactW[k] - static_cast<double>(before[k]);
                    // A gradient that is a denormal has few digits, and epsilon divides it.
                    checkValue(w[k], exactW[k], {2e-7, 2e-32 + 4e-6 * std::abs(step)});
                    if (infoOf(optimizer).states >= 1) checkValue(m[k], exactM[k], {2e-6, flushed});
                    if (infoOf(optimizer).states == 2) checkValue(v[k], exactV[k], {2e-5, flushed});
                }
            }
}

TEST_CASE("optimizers: what is not a number stays so") {
    shared::UpdateParams params{};
    params.learningRate = 0.01f;
    params.momentum = 0.9f;
    params.secondDecay = 0.999f;
    params.epsilon = 1e-8f;
    params.secondScale = 1;
    params.weightKeep = 1;
    for (const UpdateKernel& kernel : updates())
        for (const Optimizer optimizer : allOptimizers) {
            CAPTURE(kernel.name);
            CAPTURE(name(optimizer));
            std::vector<float> w = {1, 1, notANumber};
            std::vector<float> m(3), v(3);
            kernel.run(optimizer, params, {1, notANumber, 1}, w, m, v);
            CHECK(std::isfinite(w[0]));
            CHECK(std::isnan(w[1]));
            CHECK(std::isnan(w[2]));
        }
}

// One example, whose sum is w = +-1000. It is told to move w by a billion times the derivative, which is 0.
TEST_CASE("maps: a hidden neuron far out gives 1 to the bit, and its weights stay") {
    const float inputs[] = {1, 0};
    const float second = 1;
    for (const VectorLevel level : levels())
        for (const float weight : {9.1f, 1e3f, -1e3f, 1e30f, -3e38f}) {
            CAPTURE(name(level));
            CAPTURE(weight);
            const float target = 0.5f;
            const float first[] = {weight, 0};
            MapProblem problem;
            problem.columns = 2;
            problem.hidden = 1;
            problem.examples = 1;
            problem.steps = 2;
            problem.tail = 1;
            problem.inputs = inputs;
            problem.targets = &target;
            problem.firstWeights = first;
            problem.secondWeights = &second;
            const shared::MapStart start{.firstStep = 1e30f, .secondStep = 0, .scale = 1};
            shared::MapEnd end{};
            vectorTables(level).map.train(problem, &start, 1, &end);
            const float error = weight > 0 ? 0.5f : -1.5f;
            CHECK(end.step == 2);
            CHECK(end.first == error * error);
            CHECK(end.last == error * error);
        }
}
