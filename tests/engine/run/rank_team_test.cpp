// Ranks that share a training compute what one computes: every optimizer and loss, uneven batches and layers,
// processors and devices, with and without shards.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/run/make_trainer.h"
#include "engine/run/rank_team.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

TrainJob unevenJob(const Dataset& data) {
    TrainJob job = jobFor(data, {13, 7, 18, 5});
    job.settings.batch = 37; // 100 examples: the last batch of an epoch has 26
    job.settings.optimizer.kind = Optimizer::adam;
    return job;
}

TrainJob sharedBy(TrainJob job, std::size_t ranks, std::size_t shard = 0) {
    job.settings.share = {0, ranks, shard};
    return job;
}

std::unique_ptr<Trainer> teamOf(const TrainJob& job, const LaneSpec& spec,
                                const ExchangeSettings& settings = {}) {
    const auto make = [spec](const TrainJob& own, std::size_t) -> std::unique_ptr<Trainer> {
        if (spec.gpu) return makeGpuTrainer(own, spec.rung, testDevice());
        return makeCpuTrainer(own, spec.rung, spec.rung == Rung::scalar ? 1 : 2);
    };
    if (job.settings.share.alone()) return make(job, 0);
    return makeRankTeam(job, make, settings);
}

std::vector<float> lossesOf(Trainer& trainer, std::uint64_t steps) {
    trainer.run(steps);
    trainer.finish();
    std::vector<LossPoint> points;
    trainer.takeLosses(points);
    std::vector<float> losses;
    for (const LossPoint& point : points) losses.push_back(point.loss);
    return losses;
}

double largestDifference(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]) /
                                        std::max(std::abs(a[i]), std::abs(b[i])));
    return largest;
}

/// Relative, over 100 steps.
constexpr double tolerance = 1e-5;
constexpr std::uint64_t steps = 100;

const LaneSpec scalar{false, Rung::scalar, {}};
const LaneSpec simd{false, Rung::best, {}};
const LaneSpec texel{true, Rung::texel, {}};

} // namespace

TEST_CASE("1 to 4 ranks, all optimizers, with and without shards: the losses of one rank alone") {
    const Dataset data = classData();
    for (const Optimizer optimizer : allOptimizers) {
        TrainJob job = unevenJob(data);
        job.shape.activation = Activation::tanh;
        job.settings.optimizer = {};
        job.settings.optimizer.kind = optimizer;
        const std::vector<float> alone = lossesOf(*teamOf(job, scalar), steps);
        for (const std::size_t ranks : {2, 3, 4})
            for (const std::size_t shard : {0, 1}) {
                CAPTURE(name(optimizer));
                CAPTURE(ranks);
                CAPTURE(shard);
                const auto team = teamOf(sharedBy(job, ranks, shard), scalar);
                const std::vector<float> shared = lossesOf(*team, steps);
                CHECK(largestDifference(alone, shared) < tolerance);
                const auto again = teamOf(sharedBy(job, ranks, shard), scalar);
                CHECK(lossesOf(*again, steps) == shared); // to the bit
                CHECK(again->state().parameters == team->state().parameters);
            }
    }
}

TEST_CASE("every loss, parts of a batch, formats, and a last batch with fewer examples than ranks") {
    const Dataset classes = classData();
    const Dataset values = valueData();
    const auto check = [](const TrainJob& job, double most) {
        for (const LaneSpec& spec : {scalar, simd}) {
            CAPTURE(spec.text());
            const std::vector<float> alone = lossesOf(*teamOf(job, spec), steps);
            for (const std::size_t ranks : {2, 4}) {
                CAPTURE(ranks);
                CHECK(largestDifference(alone, lossesOf(*teamOf(sharedBy(job, ranks, 1), spec), steps)) <
                      most);
            }
        }
    };
    for (const Loss loss : {Loss::crossEntropy, Loss::meanSquared, Loss::huber, Loss::binaryCrossEntropy}) {
        TrainJob job = unevenJob(loss == Loss::crossEntropy ? classes : values);
        job.shape.loss = loss;
        if (loss == Loss::binaryCrossEntropy) job.data = &classes;
        job.shape.widths.back() = outputsFor(*job.data, loss);
        job.shape.activation = Activation::tanh;
        CAPTURE(name(loss));
        check(job, tolerance);
    }
    TrainJob job = unevenJob(classes);
    job.shape.activation = Activation::tanh;
    job.settings.batch = 33; // the last one has 1
    check(job, tolerance);
    job.settings.memory = {.recompute = 2, .accumulate = 3};
    check(job, tolerance);
    job.settings.memory = {};
    job.settings.precision.format = OperandFormat::bf16; // sums in another order round to other neighbours
    check(job, 1e-2);
}

TEST_CASE("devices, and devices beside processors") {
    const Dataset data = pixelData(20, 3, 100);
    TrainJob job = jobFor(data, {24, 18});
    job.shape.activation = Activation::tanh;
    job.settings.optimizer.kind = Optimizer::adam;
    job.settings.batch = 37;
    const std::vector<float> alone = lossesOf(*teamOf(job, texel), steps);
    for (const std::size_t ranks : {2, 3})
        for (const std::size_t shard : {0, 1}) {
            CAPTURE(ranks);
            CAPTURE(shard);
            const auto team = teamOf(sharedBy(job, ranks, shard), texel);
            const std::vector<float> shared = lossesOf(*team, steps);
            CHECK(largestDifference(alone, shared) < tolerance);
            CHECK(lossesOf(*teamOf(sharedBy(job, ranks, shard), texel), steps) == shared);
            CHECK(team->machine().ranks == ranks);
        }
    const auto mixed = [](const TrainJob& own, std::size_t rank) {
        return rank == 1 ? makeGpuTrainer(own, Rung::tiled, testDevice())
                         : makeCpuTrainer(own, Rung::best, 1);
    };
    CHECK(largestDifference(alone, lossesOf(*makeRankTeam(sharedBy(job, 3, 1), mixed, {}), steps)) < 1e-4);
}

TEST_CASE("a run goes on with another number of ranks, and with none") {
    const Dataset data = classData();
    TrainJob job = unevenJob(data);
    job.shape.activation = Activation::tanh;
    const std::vector<float> whole = lossesOf(*teamOf(job, scalar), 60);
    for (const LaneSpec& spec : {scalar, texel}) {
        CAPTURE(spec.text());
        std::vector<float> losses;
        TrainerState state;
        const auto train = [&](const TrainJob& part) {
            const auto team = teamOf(part, spec);
            if (!losses.empty()) team->restore(state);
            for (const float loss : lossesOf(*team, 20)) losses.push_back(loss);
            state = team->state();
            CHECK(state.step == losses.size());
        };
        train(sharedBy(job, 3, 1));
        train(job);
        train(sharedBy(job, 2, 0));
        CHECK(largestDifference(whole, losses) < tolerance);
    }
}

TEST_CASE("what ranks take is known before, and shards of the optimizer's state take less") {
    const Dataset data = classData();
    const TrainJob job = unevenJob(data);
    const auto optimizerOf = [](const std::vector<MemoryUse>& uses) {
        std::uint64_t bytes = 0;
        for (const MemoryUse& use : uses)
            if (use.category == MemoryCategory::optimizer) bytes += use.bytes;
        return bytes;
    };
    std::uint64_t whole = 0;
    for (const std::size_t shard : {0, 1}) {
        const auto team = teamOf(sharedBy(job, 4, shard), scalar);
        const auto byRank = team->memoryByRank();
        REQUIRE(byRank.size() == 4);
        const auto predicted = team->predictedMemory();
        std::uint64_t sum = 0;
        for (const RankMemory& rank : byRank)
            for (const MemoryUse& use : rank.allocated) sum += use.bytes;
        std::uint64_t expected = 0;
        for (const MemoryUse& use : predicted) expected += use.bytes;
        CHECK(sum == expected);
        if (shard == 0) whole = optimizerOf(byRank.front().allocated);
        std::uint64_t parts = 0;
        for (const RankMemory& rank : byRank) parts += optimizerOf(rank.allocated);
        CHECK(parts == (shard == 0 ? 4 * whole : whole));
        // What a rank takes is known without the others, too.
        TrainJob second = sharedBy(job, 4, shard);
        second.settings.share.rank = 1;
        CHECK(optimizerOf(cpuMemoryOf(second, Rung::scalar, 1).uses()) == optimizerOf(byRank[1].allocated));
    }
    for (const std::size_t shard : {0, 1}) {
        const auto team = teamOf(sharedBy(job, 2, shard), texel);
        std::uint64_t difference = 0;
        for (const MemoryUse& use : team->memory()) difference += use.bytes;
        for (const MemoryUse& use : team->predictedMemory()) difference -= use.bytes;
        CHECK(difference == 0);
    }
}

TEST_CASE("exchanges without overlap give the same bits; in fewer bits, the loss stays near") {
    const Dataset data = classData(20, 3, 200);
    TrainJob job = sharedBy(jobFor(data, {64, 32}), 3);
    job.shape.activation = Activation::tanh;
    const auto lossesBy = [&](const ExchangeSettings& settings) {
        return lossesOf(*teamOf(job, simd, settings), 200);
    };
    const std::vector<float> usual = lossesBy({});
    CHECK(lossesBy({.overlap = false}) == usual);
    for (const AllReduce way : {AllReduce::tree, AllReduce::naive})
        CHECK(largestDifference(std::vector(usual.begin(), usual.begin() + 50), [&] {
                  std::vector<float> other = lossesBy({.allReduce = way});
                  other.resize(50);
                  return other;
              }()) < tolerance);
    CHECK(std::abs(lossesBy({.format = ExchangeFormat::fp16}).back() - usual.back()) < 0.02);
    CHECK(std::abs(lossesBy({.format = ExchangeFormat::topK, .topShare = 0.1}).back() - usual.back()) < 0.2);
}

TEST_CASE("a loss that is not finite ends all ranks at the same step, a failing rank ends the others") {
    Dataset data = classData();
    TrainJob job = sharedBy(unevenJob(data), 3);
    job.settings.shuffle = false;
    data.train.values[7 * 40] = INFINITY; // of rank 0's examples in the second batch
    for (const LaneSpec& spec : {scalar, texel}) {
        CAPTURE(spec.text());
        const auto team = teamOf(job, spec);
        team->run(5);
        team->finish();
        CHECK_THROWS_AS(team->completedSteps(), NonFiniteError);
        CHECK(team->state().step == 1);
    }
    const auto failing = [](const TrainJob& own, std::size_t rank) {
        if (rank == 2) throw std::runtime_error("no third card");
        return makeCpuTrainer(own, Rung::scalar, 1);
    };
    CHECK_THROWS_WITH_AS(makeRankTeam(job, failing, {}), "no third card", std::runtime_error);
}

TEST_CASE("what ranks cannot do is refused by name") {
    const Dataset data = classData();
    const TrainJob job = sharedBy(unevenJob(data), 2);
    CHECK_THROWS_AS(makeCpuTrainer(job, Rung::scalar, 1), std::logic_error); // without an exchange
    const auto team = teamOf(job, scalar);
    CHECK_THROWS_WITH_AS(team->runFor(std::chrono::milliseconds(1)),
                         doctest::Contains("same number of steps"), std::invalid_argument);
    CHECK(team->rehearse(0.1, 0.2, [] { return true; }).steps == 0);
    TrainJob few = job;
    few.settings.batch = 1;
    CHECK_THROWS_WITH_AS(few.validate(), doctest::Contains("2 ranks"), std::invalid_argument);
    few = sharedBy(job, 2, 3);
    CHECK_THROWS_AS(few.validate(), std::invalid_argument);
}
