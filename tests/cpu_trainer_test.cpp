// The processor's trainer as a whole: its rungs agree with each other, repeat themselves bit by bit, go on
// from a stored state, and stop where a loss is no number.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/net/activation.h"
#include "engine/net/initial_weights.h"
#include "engine/net/random.h"
#include "engine/train/cpu_trainer.h"

using namespace lockstep;

namespace {

/// Examples whose class depends on their values, so that there is something to learn.
Examples blobs(std::size_t count, std::size_t inputs, std::size_t classes, std::uint64_t seed) {
    Examples examples;
    examples.count = count;
    for (std::size_t example = 0; example < count; ++example) {
        const std::size_t label = example % classes;
        for (std::size_t i = 0; i < inputs; ++i) {
            const shared::Random4 words = randomWords(seed, RandomStream::data, example * inputs + i);
            const double center = (i + label) % classes == 0 ? 1.0 : -0.3;
            examples.values.push_back(static_cast<float>(center + 0.7 * normalFromWords(words.x, words.y)));
        }
        examples.labels.push_back(static_cast<std::uint32_t>(label));
    }
    return examples;
}

Dataset classData(std::size_t inputs = 7, std::size_t classes = 3, std::size_t count = 100) {
    Dataset data;
    data.name = "blobs";
    data.inputs = inputs;
    data.classes = classes;
    for (std::size_t c = 0; c < classes; ++c) data.classNames.push_back(std::string(1, char('a' + c)));
    data.train = blobs(count, inputs, classes, 1);
    data.test = blobs(count / 3, inputs, classes, 2);
    return data;
}

/// The same examples as bytes, as images come.
Dataset pixelData(std::size_t inputs, std::size_t classes, std::size_t count) {
    Dataset data = classData(inputs, classes, count);
    for (Examples* split : {&data.train, &data.test}) {
        for (const float value : split->values)
            split->pixels.push_back(
                static_cast<std::uint8_t>(std::clamp(value * 60.0f + 90.0f, 0.0f, 255.0f)));
        split->values.clear();
    }
    return data;
}

/// Two targets per example: smooth functions of its values.
Dataset valueData() {
    Dataset data = classData();
    data.name = "curves";
    data.classes = 0;
    data.classNames.clear();
    data.targetWidth = 2;
    for (Examples* split : {&data.train, &data.test}) {
        split->labels.clear();
        for (std::size_t example = 0; example < split->count; ++example) {
            const float* x = split->values.data() + example * data.inputs;
            split->targets.push_back(std::sin(x[0]) + 0.5f * x[1]);
            split->targets.push_back(x[2] - x[3] * 0.3f);
        }
    }
    return data;
}

TrainJob jobFor(const Dataset& data, std::vector<std::size_t> hidden) {
    TrainJob job;
    job.data = &data;
    job.shape.widths = {data.inputs};
    job.shape.widths.insert(job.shape.widths.end(), hidden.begin(), hidden.end());
    job.shape.widths.push_back(outputsFor(data, job.shape.loss));
    job.settings.batch = 32; // 100 examples: the last batch of an epoch has 4
    job.settings.seed = 5;
    return job;
}

std::vector<LossPoint> train(Trainer& trainer, std::uint64_t steps) {
    std::vector<LossPoint> losses;
    trainer.run(steps);
    trainer.finish();
    trainer.takeLosses(losses);
    return losses;
}

/// Largest relative difference of the losses of two runs.
double lossDistance(const std::vector<LossPoint>& a, const std::vector<LossPoint>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        REQUIRE(a[i].step == b[i].step);
        const double scale = std::max(std::abs(static_cast<double>(b[i].loss)), 1e-6);
        largest = std::max(largest,
                           std::abs(static_cast<double>(a[i].loss) - static_cast<double>(b[i].loss)) / scale);
    }
    return largest;
}

bool sameBits(const TrainerState& a, const TrainerState& b) {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
        return std::ranges::equal(x, y, [](float p, float q) {
            return std::bit_cast<std::uint32_t>(p) == std::bit_cast<std::uint32_t>(q);
        });
    };
    if (a.step != b.step || !same(a.parameters, b.parameters)) return false;
    return std::ranges::equal(a.optimizerState, b.optimizerState, same);
}

struct Rung {
    std::string_view name;
    std::size_t threads;
};
constexpr Rung rungs[] = {{"scalar", 1}, {"simd", 1}, {"best", 1}, {"best", 2}, {"best", 3}};

/// A network large enough that `best` really splits its steps: 2 * 100k weights * 64 rows.
TrainJob largeJob(const Dataset& data) {
    TrainJob job = jobFor(data, {133, 65});
    job.settings.batch = 64;
    return job;
}

} // namespace

TEST_CASE("all rungs agree for every activation, loss and optimizer") {
    const Dataset classes = classData();
    const Dataset values = valueData();
    for (const Activation activation :
         {Activation::identity, Activation::relu, Activation::leakyRelu, Activation::elu, Activation::gelu,
          Activation::tanh, Activation::sigmoid, Activation::silu})
        for (const Loss loss : {Loss::crossEntropy, Loss::meanSquared, Loss::huber, Loss::binaryCrossEntropy})
            for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::rmsprop,
                                              Optimizer::adam, Optimizer::adamw}) {
                CAPTURE(name(activation));
                CAPTURE(name(loss));
                CAPTURE(name(optimizer));
                TrainJob job = jobFor(loss == Loss::huber ? values : classes, {33, 13});
                job.shape.activation = activation;
                job.shape.loss = loss;
                job.settings.optimizer.kind = optimizer;
                job.settings.optimizer.learningRate = optimizer == Optimizer::sgd ? 0.05 : 0.003;
                const auto reference = train(*makeCpuTrainer(job, "scalar", 1), 100);
                REQUIRE(reference.size() == 100);
                CHECK(reference.back().loss < reference.front().loss);
                CHECK(lossDistance(train(*makeCpuTrainer(job, "simd", 1), 100), reference) < 1e-4);
                CHECK(lossDistance(train(*makeCpuTrainer(job, "best", 2), 100), reference) < 1e-4);
            }
}

TEST_CASE("rungs and thread counts agree on a network worth splitting") {
    const Dataset data = pixelData(784, 10, 500);
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
        TrainJob job = largeJob(data);
        job.settings.optimizer.kind = optimizer;
        const auto reference = train(*makeCpuTrainer(job, "scalar", 1), 100);
        for (const Rung& rung : rungs) {
            CAPTURE(rung.name);
            CAPTURE(rung.threads);
            const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
            CHECK(trainer->machine().threads == rung.threads);
            CHECK(lossDistance(train(*trainer, 100), reference) < 1e-4);
        }
    }
}

TEST_CASE("regularised SGD agrees too, folded or not") {
    const Dataset data = classData();
    for (const double l1 : {0.0, 0.001}) {
        TrainJob job = jobFor(data, {33});
        job.settings.optimizer.kind = Optimizer::sgd;
        job.settings.optimizer.weightDecay = 0.01;
        job.settings.optimizer.l1 = l1;
        const auto reference = train(*makeCpuTrainer(job, "scalar", 1), 100);
        CHECK(lossDistance(train(*makeCpuTrainer(job, "simd", 1), 100), reference) < 1e-4);
        CHECK(lossDistance(train(*makeCpuTrainer(job, "best", 1), 100), reference) < 1e-4);
    }
}

TEST_CASE("the same rung twice is bit-identical, and resumes as if it had never stopped") {
    const Dataset data = pixelData(784, 10, 500);
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adamw})
        for (const Rung& rung : rungs) {
            CAPTURE(name(optimizer));
            CAPTURE(rung.name);
            CAPTURE(rung.threads);
            TrainJob job = largeJob(data);
            job.settings.optimizer.kind = optimizer;
            const auto first = makeCpuTrainer(job, rung.name, rung.threads);
            const auto losses = train(*first, 15);
            const auto second = makeCpuTrainer(job, rung.name, rung.threads);
            train(*second, 6);
            const TrainerState middle = second->state();
            CHECK(middle.step == 6);
            const auto third = makeCpuTrainer(job, rung.name, rung.threads);
            train(*third, 2); // somewhere else, to be overwritten
            third->restore(middle);
            const auto rest = train(*third, 9);
            CHECK(sameBits(third->state(), first->state()));
            REQUIRE(rest.size() == 9);
            for (std::size_t i = 0; i < rest.size(); ++i) {
                CHECK(rest[i].step == i + 6);
                CHECK(rest[i].loss == losses[i + 6].loss);
            }
        }
}

TEST_CASE("a new trainer starts at the seed's weights, with nothing done") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {9});
    for (const Rung& rung : rungs) {
        const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
        const TrainerState state = trainer->state();
        CHECK(state.step == 0);
        CHECK(state.parameters == initialWeights(job.shape, job.settings.seed));
        for (const auto& array : state.optimizerState)
            CHECK(std::ranges::all_of(array, [](float value) { return value == 0; }));
        CHECK(trainer->completedSteps() == 0);
        CHECK(trainer->operations().empty());
        CHECK(trainer->trainingSeconds() == 0);
        CHECK(trainer->warmUpSeconds() > 0);
    }
}

TEST_CASE("evaluation counts what the plain twin counts, over both splits and all threads") {
    const Dataset data = pixelData(784, 10, 1000); // more than a chunk of an evaluation
    const TrainJob job = largeJob(data);
    const auto reference = makeCpuTrainer(job, "scalar", 1);
    train(*reference, 20);
    for (const Rung& rung : rungs) {
        CAPTURE(rung.name);
        const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
        trainer->restore(reference->state());
        for (const Split split : {Split::train, Split::test}) {
            const Evaluation expected = reference->evaluate(split);
            const Evaluation found = trainer->evaluate(split);
            CHECK(found.count == expected.count);
            CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-5));
            CHECK(found.accuracy == doctest::Approx(expected.accuracy).epsilon(2.0 / 333));
            std::uint64_t all = 0;
            std::uint64_t right = 0;
            REQUIRE(found.confusion.size() == 100);
            for (std::size_t k = 0; k < 100; ++k) all += found.confusion[k];
            for (std::size_t k = 0; k < 10; ++k) right += found.confusion[k * 11];
            CHECK(all == found.count);
            CHECK(static_cast<double>(right) / static_cast<double>(all) == doctest::Approx(found.accuracy));
        }
        CHECK(trainer->trainingSeconds() == 0); // evaluating is not training
    }
}

TEST_CASE("predictions are the rows asked for, without padding") {
    const Dataset data = classData(7, 3, 1000);
    const TrainJob job = jobFor(data, {9});
    const auto reference = makeCpuTrainer(job, "scalar", 1);
    const std::vector<float> all = reference->predict(Split::train, 0, 1000);
    REQUIRE(all.size() == 3000);
    for (const Rung& rung : rungs) {
        const auto some = makeCpuTrainer(job, rung.name, rung.threads)->predict(Split::train, 333, 600);
        REQUIRE(some.size() == 1800);
        for (std::size_t i = 0; i < some.size(); ++i)
            REQUIRE(some[i] == doctest::Approx(all[999 + i]).epsilon(1e-4));
    }
    CHECK_THROWS_AS(reference->predict(Split::train, 999, 2), std::invalid_argument);
    CHECK(reference->predict(Split::train, 1000, 0).empty());
}

TEST_CASE("accuracy and confusion are not known in regression") {
    const Dataset data = valueData();
    TrainJob job = jobFor(data, {9});
    job.shape.loss = Loss::meanSquared;
    for (const Rung& rung : rungs) {
        const Evaluation evaluation = makeCpuTrainer(job, rung.name, rung.threads)->evaluate(Split::test);
        CHECK(std::isfinite(evaluation.loss));
        CHECK(std::isnan(evaluation.accuracy));
        CHECK(evaluation.confusion.empty());
    }
}

TEST_CASE("a rate that is far too high stops every rung at the same step, with the weights it found") {
    const Dataset data = classData();
    for (const Rung& rung : rungs) {
        CAPTURE(rung.name);
        TrainJob job = jobFor(data, {33});
        job.shape.loss = Loss::meanSquared;
        job.settings.optimizer.kind = Optimizer::sgd;
        job.settings.optimizer.learningRate = 1e3;
        const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
        trainer->run(1000);
        std::vector<LossPoint> losses;
        CHECK_THROWS_AS(trainer->takeLosses(losses), NonFiniteError);
        REQUIRE(!losses.empty());
        REQUIRE(losses.size() < 100);
        const TrainerState state = trainer->state();
        CHECK(state.step == losses.size());
        try {
            trainer->completedSteps();
            FAIL("the failed step was not reported");
        } catch (const NonFiniteError& error) {
            CHECK(error.step == losses.size());
            CHECK(std::string(error.what()).find("learning rate") != std::string::npos);
            CHECK(std::string(error.what()).find(error.where) != std::string::npos);
        }
        trainer->run(10); // frozen
        CHECK(sameBits(trainer->state(), state));
        trainer->restore({0, initialWeights(job.shape, job.settings.seed), {}});
        CHECK(train(*trainer, 1).front().loss == losses.front().loss);
    }
}

TEST_CASE("the place that is not finite is named") {
    Dataset data = classData();
    TrainJob job = jobFor(data, {33, 13});
    job.settings.shuffle = false;
    const ParamLayout layout(job.shape);
    const std::vector<float> good = initialWeights(job.shape, 5);
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();

    std::vector<float> weights = good;
    weights[layout.layer(1).weightOffset + 40] = nan;
    CHECK(explainNonFinite(job, 0, weights).where == "layer 2 (33 -> 13): its weights");

    std::vector<float> bias = good;
    bias[layout.layer(2).biasOffset + 2] = std::numeric_limits<float>::infinity();
    CHECK(explainNonFinite(job, 0, bias).where == "layer 3 (13 -> 3): its biases");

    std::vector<float> large = good;
    for (std::size_t k = 0; k < layout.layer(0).weightCount(); ++k) large[k] *= 1e38f;
    CHECK(explainNonFinite(job, 0, large).where == "layer 1 (7 -> 33): its outputs");

    CHECK(explainNonFinite(job, 0, good).where == "the loss"); // everything before it is finite

    data.train.values[17 * 7 + 3] = nan;
    const NonFiniteError error = explainNonFinite(job, 4, good); // the fifth step begins the second epoch
    CHECK(error.step == 4);
    CHECK(error.where == "the inputs of example 17");
    for (const Rung& rung : rungs) {
        const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
        trainer->run(1);
        CHECK_THROWS_WITH_AS(trainer->completedSteps(), doctest::Contains("example 17"), NonFiniteError);
        CHECK(trainer->state().parameters == initialWeights(job.shape, job.settings.seed));
    }
}

TEST_CASE("operations are timed under the shaders' names, and a folded update is absent") {
    const Dataset data = pixelData(784, 10, 500);
    TrainJob job = largeJob(data);
    const auto namesOf = [&](const char* rung, Optimizer optimizer) {
        job.settings.optimizer.kind = optimizer;
        const auto trainer = makeCpuTrainer(job, rung, 1);
        train(*trainer, 33); // steps 0, 16 and 32 are sampled
        std::string names;
        for (const OperationTiming& timing : trainer->operations()) {
            CHECK(timing.milliseconds > 0);
            CHECK(timing.bytes > 0);
            CHECK(timing.calls % 3 == 0);
            names += timing.name + " ";
            if (timing.name == "dense")
                CHECK(timing.flops == 2.0 * 3 * 64 * (784 * 133 + 133 * 65 + 65 * 10));
        }
        return names;
    };
    const std::string common =
        "gather_batch dense loss_and_gradient dense_backward_inputs dense_backward_weights ";
    CHECK(namesOf("scalar", Optimizer::sgd) == common + "update ");
    CHECK(namesOf("simd", Optimizer::adam) == common + "update ");
    CHECK(namesOf("best", Optimizer::adam) == common + "update ");
    CHECK(namesOf("best", Optimizer::sgd) == common);
}

TEST_CASE("small steps are done by few threads, large ones by all") {
    NetShape tiny;
    tiny.widths = {2, 8, 8, 2};
    CHECK(usefulThreads(tiny, 10, 16) == 1);
    NetShape fashion;
    fashion.widths = {784, 256, 128, 10};
    CHECK(usefulThreads(fashion, 128, 16) == 16);
    CHECK(usefulThreads(fashion, 1, 16) == 1);
}

TEST_CASE("what does not fit together is refused with a reason") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {9});
    CHECK_THROWS_WITH_AS(makeCpuTrainer(job, "bset", 1), doctest::Contains("did you mean 'best'"),
                         std::invalid_argument);
    CHECK_THROWS_AS(makeCpuTrainer(TrainJob{}, "best", 1), std::invalid_argument);
    const auto trainer = makeCpuTrainer(job, "best", 1);
    TrainerState state = trainer->state();
    state.parameters.pop_back();
    CHECK_THROWS_AS(trainer->restore(state), std::invalid_argument);
    state = trainer->state();
    state.optimizerState.pop_back();
    CHECK_THROWS_AS(trainer->restore(state), std::invalid_argument);
    job.settings.batch = 0;
    CHECK_THROWS_WITH_AS(job.validate(), doctest::Contains("batch"), std::invalid_argument);
    job.settings.batch = 32;
    job.shape.widths.front() = 8;
    CHECK_THROWS_AS(job.validate(), std::invalid_argument);

    Dataset broken = classData();
    job = jobFor(broken, {9});
    broken.train.labels[3] = 7;
    CHECK_THROWS_WITH_AS(job.validate(), doctest::Contains("example 3"), std::invalid_argument);
    broken = classData();
    broken.test.values.pop_back();
    CHECK_THROWS_WITH_AS(job.validate(), doctest::Contains("test split"), std::invalid_argument);
}
