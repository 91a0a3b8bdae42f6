// The ends of the floats' range in training: every lane against the same step, or the same run, in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engine/grid/population.h"
#include "engine/net/plain_training.h"
#include "engine/run/make_trainer.h"
#include "tests/extremes.h"
#include "tests/reference_traces.h" // largestDifference
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// All lanes in full precision; half precision has no such numbers (half_test).
std::vector<const RungRow*> fullPrecision() {
    std::vector<const RungRow*> rows;
    for (const RungRow& row : rungTable)
        if (row.trains && !row.half) rows.push_back(&row);
    return rows;
}

/// Lanes whose losses and updates are computed by different kernels: operation by operation, folded into
/// products, in whole steps, or whatever a machine's best is.
std::vector<const RungRow*> differentLosses() {
    std::vector<const RungRow*> rows;
    for (const RungRow* row : fullPrecision())
        if (!row->gpu() || row->rung == Rung::naive || row->rung == Rung::blocked || row->foldsUpdate ||
            row->rung == Rung::wholeStep || row->rung == Rung::best)
            rows.push_back(row);
    return rows;
}

std::unique_ptr<Trainer> makeOn(const RungRow& row, const TrainJob& job) {
    return makeTrainer(job, {.gpu = row.gpu(), .rung = row.rung, .device = {}}, MachineShare{},
                       &testDevice());
}

/// Values in, values out.
Dataset valuesData(std::size_t inputs, std::size_t outputs, std::vector<float> values,
                   std::vector<float> targets) {
    Dataset data;
    data.name = "extremes";
    data.inputs = inputs;
    data.classes = 0;
    data.targetWidth = outputs;
    data.train.count = targets.size() / outputs;
    data.train.values = std::move(values);
    data.train.targets = std::move(targets);
    data.test = data.train;
    return data;
}

TrainJob jobOn(const Dataset& data, std::vector<std::size_t> widths, Loss loss) {
    TrainJob job;
    job.data = &data;
    job.shape.widths = std::move(widths);
    job.shape.loss = loss;
    job.settings.batch = 1;
    job.settings.shuffle = false;
    job.settings.optimizer.kind = Optimizer::momentum; // whose first state is the first step's gradient
    job.settings.optimizer.learningRate = 1e-30;
    return job;
}

/// Goes on from `state` for one step; returns its loss, NaN or infinite where the trainer refuses the step.
double stepFrom(Trainer& trainer, const TrainerState& state) {
    trainer.restore(state);
    try {
        const std::vector<LossPoint> losses = train(trainer, 1);
        return losses.empty() ? NAN : static_cast<double>(losses.back().loss);
    } catch (const NonFiniteError&) {
        return INFINITY;
    }
}

void checkValue(float found, double exact, Tolerance tolerance) {
    CAPTURE(found);
    CAPTURE(exact);
    CHECK(tolerance.holds(static_cast<double>(found), exact));
}

} // namespace

// One input, which is 1, into a hidden neuron per number; one output, far above its target, so that Huber's
// gradient is 1. Then the gradient of the second layer is f(z), that of the first layer's biases is f'(z)
// times the second layer's weight: a power of two, small enough for the sum to stay finite.
TEST_CASE("activations and derivatives on every lane") {
    const std::vector<float> z = extremeNumbers();
    const Dataset data = valuesData(1, 1, {1}, {-1e20f});
    for (const RungRow* row : fullPrecision())
        for (const Activation activation : allActivations) {
            TrainJob job = jobOn(data, {1, z.size(), 1}, Loss::huber);
            job.shape.activation = activation;
            const ParamLayout layout(job.shape);
            const LayerLayout& first = layout.layer(0);
            const LayerLayout& second = layout.layer(1);
            const auto trainer = makeOn(*row, job);
            TrainerState state = trainer->state();
            std::ranges::fill(state.parameters, 0.0f);
            for (std::size_t k = 0; k < z.size(); ++k) {
                const int exponent = std::clamp(std::ilogb(std::max(1.0f, std::abs(z[k]))), 0, 100);
                state.parameters[first.weightOffset + k * first.rowStride] = z[k];
                state.parameters[second.weightOffset + k] = std::ldexp(1.0f, -exponent);
            }
            const std::vector<float> weights = state.parameters;
            CAPTURE(row->lane);
            CAPTURE(name(activation));
            CHECK(stepFrom(*trainer, state) == doctest::Approx(1e20));
            const std::vector<float> gradient = trainer->state().optimizerState.at(0);
            for (std::size_t k = 0; k < z.size(); ++k) {
                CAPTURE(z[k]);
                const auto exact = static_cast<double>(z[k]);
                checkValue(gradient[second.weightOffset + k], activate(activation, exact),
                           valueTolerance(activation, exact));
                Tolerance tolerance = derivativeTolerance(activation, exact);
                const float weight = weights[second.weightOffset + k];
                tolerance.absolute += flushed / static_cast<double>(weight);
                checkValue(gradient[first.biasOffset + k] / weight, exactDerivative(activation, exact),
                           tolerance);
            }
        }
}

// Five outputs whose biases are the numbers; an example per target.
TEST_CASE("losses on lanes with different kernels") {
    for (const RungRow* row : differentLosses())
        for (const Loss loss : {Loss::meanSquared, Loss::huber, Loss::binaryCrossEntropy}) {
            std::vector<float> targetsOf = {0, 1, 0.3f, 1e-38f};
            if (loss != Loss::binaryCrossEntropy) targetsOf.insert(targetsOf.end(), {1e3f, 1e38f});
            std::vector<float> targets;
            for (const float target : targetsOf) targets.insert(targets.end(), 5, target);
            const Dataset data = valuesData(1, 5, std::vector<float>(targetsOf.size()), targets);
            const TrainJob job = jobOn(data, {1, 5}, loss);
            const ParamLayout layout(job.shape);
            const auto trainer = makeOn(*row, job);
            const TrainerState fresh = trainer->state();
            for (std::size_t example = 0; example < targetsOf.size(); ++example)
                for (const float y : extremeNumbers()) {
                    TrainerState state = fresh;
                    state.step = example;
                    std::ranges::fill(state.parameters, 0.0f);
                    std::fill_n(state.parameters.begin() +
                                    static_cast<std::ptrdiff_t>(layout.layer(0).biasOffset),
                                5, y);
                    LossShape shape;
                    shape.rows = 1;
                    shape.outputs = 1;
                    shape.stride = 4;
                    shape.loss = loss;
                    shape.targetKind = shared::targetValues;
                    const std::vector<double> output(4, static_cast<double>(y));
                    std::vector<double> gradient(4);
                    const auto word = std::bit_cast<TargetWord>(targetsOf[example]);
                    const double exact = plain::lossAndGradient<double>(shape, output.data(), output.data(),
                                                                        &word, gradient.data());
                    CAPTURE(row->lane);
                    CAPTURE(name(loss));
                    CAPTURE(y);
                    CAPTURE(targetsOf[example]);
                    const double found = stepFrom(*trainer, state);
                    // The sum of five terms is a float, too.
                    if (std::isfinite(asFloat(5 * exact))) {
                        CAPTURE(found);
                        CAPTURE(exact);
                        CHECK(Tolerance{3e-6, loss == Loss::binaryCrossEntropy ? 5e-7 : flushed}.holds(
                            found, exact));
                        const std::vector<float> own = trainer->state().optimizerState.at(0);
                        for (std::size_t j = 0; j < 5; ++j)
                            checkValue(own[layout.layer(0).biasOffset + j], gradient[0] / 5, {3e-6, 1e-7});
                    } else {
                        CHECK(!std::isfinite(found));
                    }
                }
        }
}

TEST_CASE("cross-entropy on lanes with different kernels") {
    Dataset data;
    data.name = "extremes";
    data.inputs = 1;
    data.classes = 5;
    data.classNames = {"a", "b", "c", "d", "e"};
    data.train.count = 5;
    data.train.values.assign(5, 0.0f);
    data.train.labels = {0, 1, 2, 3, 4};
    data.test = data.train;
    const std::vector<std::vector<float>> rows = {{0, 0, 0, 0, 0},
                                                  {-0.0f, 1e-40f, -1e-38f, 1e-30f, 0},
                                                  {88, 87, -88, 0, 1},
                                                  {89, -89, 104, -104, 0},
                                                  {1e3f, -1e3f, 0, 1e3f, 999},
                                                  {1e38f, 1e38f, -1e38f, 0, 1},
                                                  {3e38f, -3e38f, 3e38f, 0, -1},
                                                  {-1e38f, -1e38f, -1e38f, -1e38f, -1e38f},
                                                  {-20, -90, 0, -200, -50}};
    for (const RungRow* row : differentLosses()) {
        const TrainJob job = jobOn(data, {1, 5}, Loss::crossEntropy);
        const ParamLayout layout(job.shape);
        const auto trainer = makeOn(*row, job);
        const TrainerState fresh = trainer->state();
        for (std::size_t which = 0; which < rows.size(); ++which)
            for (TargetWord label = 0; label < 5; ++label) {
                CAPTURE(row->lane);
                CAPTURE(which);
                CAPTURE(label);
                TrainerState state = fresh;
                state.step = label;
                std::ranges::fill(state.parameters, 0.0f);
                std::ranges::copy(rows[which], state.parameters.begin() +
                                                   static_cast<std::ptrdiff_t>(layout.layer(0).biasOffset));
                LossShape shape;
                shape.rows = 1;
                shape.outputs = 5;
                shape.stride = 8;
                std::vector<double> z(rows[which].begin(), rows[which].end());
                z.resize(8);
                std::vector<double> gradient(8);
                const double exact =
                    plain::lossAndGradient<double>(shape, z.data(), z.data(), &label, gradient.data());
                const double found = stepFrom(*trainer, state);
                if (std::isfinite(asFloat(exact))) {
                    CHECK(Tolerance{2e-6, 1e-6}.holds(found, exact));
                    const std::vector<float> own = trainer->state().optimizerState.at(0);
                    for (std::size_t j = 0; j < 5; ++j)
                        checkValue(own[layout.layer(0).biasOffset + j], gradient[j], {3e-6, 1e-7});
                } else {
                    CHECK(!std::isfinite(found));
                }
            }
    }
}

// Huber's gradient is -1 here, so that of the weights is minus the example; the states before are the
// table's.
TEST_CASE("optimizers on lanes with different kernels") {
    const std::vector<float> gradients = {0,     1e-45f, 1e-38f,  1e-30f, 1e-20f, 1e-8f, 1,
                                          1e10f, 1e19f,  1.9e19f, 1e20f,  1e22f,  1e30f, 1e37f};
    std::vector<float> x, m, v;
    for (const float g : gradients)
        for (const auto& [first, second] :
             {std::pair{0.0f, 0.0f}, {1e-20f, 1e-37f}, {1e-3f, 1e-30f}, {-1e19f, 1e38f}, {1e20f, infinite}}) {
            x.push_back(-g);
            m.push_back(first);
            v.push_back(second);
        }
    const Dataset data = valuesData(x.size(), 1, x, {1e30f});
    for (const RungRow* row : differentLosses())
        for (const Optimizer optimizer : allOptimizers) {
            TrainJob job = jobOn(data, {x.size(), 1}, Loss::huber);
            job.settings.optimizer.kind = optimizer;
            job.settings.optimizer.learningRate = 0.01;
            const OptimizerInfo info = infoOf(optimizer);
            const bool rootOfFirst = info.states == 1 && info.has(usesEpsilon);
            const auto trainer = makeOn(*row, job);
            TrainerState state = trainer->state();
            std::ranges::fill(state.parameters, 0.0f);
            for (std::size_t k = 0; k < x.size(); ++k) {
                if (info.states >= 1) state.optimizerState[0][k] = rootOfFirst ? v[k] : m[k];
                if (info.states == 2) state.optimizerState[1][k] = v[k];
            }
            state.step = 3;
            const shared::UpdateParams params = stepSettings(job.settings, job.order(), state.step).update;
            CAPTURE(row->lane);
            CAPTURE(name(optimizer));
            CHECK(stepFrom(*trainer, state) == doctest::Approx(1e30));
            const TrainerState after = trainer->state();
            for (std::size_t k = 0; k < x.size(); ++k) {
                CAPTURE(x[k]);
                CAPTURE(m[k]);
                CAPTURE(v[k]);
                const double g = -static_cast<double>(x[k]);
                double exactW = 0;
                auto exactM = static_cast<double>(rootOfFirst ? v[k] : m[k]);
                auto exactV = static_cast<double>(v[k]);
                plain::update<double>(optimizer, params, 0, 1, &g, &exactW, &exactM, &exactV);
                // A mean of squares beyond the floats is infinite, in PyTorch, too, and divides the step.
                if (info.has(usesEpsilon) && std::isinf(asFloat(rootOfFirst ? exactM : exactV))) exactW = 0;
                checkValue(after.parameters[k], exactW, {5e-6, 2e-32});
                if (info.states >= 1) checkValue(after.optimizerState[0][k], exactM, {3e-6, flushed});
                if (info.states == 2) checkValue(after.optimizerState[1][k], exactV, {2e-5, flushed});
            }
        }
}

// x = +-10,000 and weights of thousands: every neuron's output is 1 or -1 to the bit, and right. So the loss
// is 0, and Adam, which makes whole steps of the smallest gradients, has none to make them of.
TEST_CASE("a population of saturated networks stays as it is, in every layout") {
    Dataset data;
    data.name = "two points";
    data.inputs = 1;
    data.classes = 2;
    data.classNames = {"minus", "plus"};
    data.train.count = 2;
    data.train.values = {-1e4f, 1e4f};
    data.train.labels = {0, 1};
    data.test = data.train;
    PopulationJob job;
    job.data = {&data};
    job.shape.widths = {1, 3, 1};
    job.shape.outputActivation = Activation::tanh;
    job.shape.loss = Loss::meanSquared;
    job.settings.batch = 2;
    job.settings.optimizer.kind = Optimizer::adam;
    job.steps = 20;
    const ParamLayout layout(job.shape);
    const LayerLayout& first = layout.layer(0);
    const LayerLayout& second = layout.layer(1);
    for (std::uint64_t seed = 1; job.members.size() < 5; ++seed) {
        job.members.push_back({.seed = seed, .learningRate = 0.01, .initialScale = 1e4});
        const std::vector<float> weights = job.initialParameters(job.members.size() - 1);
        float sum = 0; // of the output neuron, for the second point
        for (std::size_t h = 0; h < 3; ++h)
            sum += std::copysign(weights[second.weightOffset + h],
                                 weights[first.weightOffset + h * first.rowStride] *
                                     weights[second.weightOffset + h]);
        if (sum < 100) job.members.pop_back();
    }
    for (const std::string_view lane : knownPopulationLanes()) {
        CAPTURE(lane);
        const auto population =
            makePopulation(job, laneSpecFromText(lane, knownPopulationLanes()), 1, &testDevice());
        population->trainTo(job.steps);
        const std::vector<MemberResult> results = population->results();
        for (std::size_t member = 0; member < job.members.size(); ++member) {
            CAPTURE(job.members[member].seed);
            CHECK(results[member].steps == job.steps);
            CHECK(results[member].batchLoss == 0);
            CHECK(population->parameters(member) == job.initialParameters(member));
        }
    }
}

namespace {

/// Features as incomes or prices have them: N(0, 1000).
Dataset largeFeatures() {
    Dataset data;
    data.name = "large features";
    data.inputs = 4;
    data.classes = 5;
    for (std::size_t c = 0; c < data.classes; ++c) data.classNames.push_back(std::string(1, char('a' + c)));
    data.train.count = 44;
    for (std::size_t k = 0; k < data.train.count; ++k) {
        for (std::size_t i = 0; i < data.inputs; ++i) {
            const shared::Random4 words = randomWords(20, RandomStream::data, k * data.inputs + i);
            data.train.values.push_back(static_cast<float>(1000 * normalFromWords(words.x, words.y)));
        }
        data.train.labels.push_back(static_cast<std::uint32_t>(k % data.classes));
    }
    data.test = data.train;
    return data;
}

} // namespace

// In floats, sigmoid's y (1 - y) is 0 from z = 17 on, in PyTorch, too, and in doubles it is not: Adam tells
// them apart. So that one is compared with floats. Activations without bounds give losses of thousands, which
// a network this large cannot repeat for a hundred steps in any floats; reference_test has those.
TEST_CASE("features of a thousand: all lanes train tanh as double does, and sigmoid as floats do") {
    const Dataset data = largeFeatures();
    constexpr std::uint64_t steps = 100;
    for (const Activation activation : {Activation::tanh, Activation::sigmoid}) {
        TrainJob job = jobFor(data, {9});
        job.shape.activation = activation;
        job.settings.batch = 10;
        job.settings.shuffle = false;
        job.settings.optimizer.kind = Optimizer::adam;
        job.settings.optimizer.learningRate = 0.01;
        const std::vector<float> initial = initialWeights(job.shape, job.settings.seed);
        PlainNetwork<double> exact(data, job.shape, initial);
        PlainNetwork<float> floats(data, job.shape, initial);
        const bool inDouble = activation == Activation::tanh;
        std::vector<double> losses;
        for (std::uint64_t step = 0; step < steps; ++step)
            losses.push_back(inDouble ? exact.trainStep(job.settings, step)
                                      : floats.trainStep(job.settings, step));
        const std::vector<double> expected =
            inDouble ? exact.parameters
                     : std::vector<double>(floats.parameters.begin(), floats.parameters.end());
        double worstLoss = 0;
        double worstWeight = 0;
        for (const RungRow* row : fullPrecision()) {
            CAPTURE(row->lane);
            CAPTURE(name(activation));
            const auto trainer = makeOn(*row, job);
            const std::vector<LossPoint> found = train(*trainer, steps);
            REQUIRE(found.size() == steps);
            double byLoss = 0;
            for (std::size_t k = 0; k < steps; ++k)
                byLoss = std::max(byLoss, std::abs(static_cast<double>(found[k].loss) / losses[k] - 1));
            const double byWeight = largestDifference(trainer->state().parameters, expected);
            CHECK(byLoss < 1e-5);
            CHECK(byWeight < 5e-5); // 1.7e-5 measured; with a tanh that ends below 1: 0.4
            worstLoss = std::max(worstLoss, byLoss);
            worstWeight = std::max(worstWeight, byWeight);
        }
        MESSAGE(name(activation) << ": largest differences, loss (relative) " << worstLoss
                                 << ", weights (absolute) " << worstWeight);
    }
}
