// Training whose products read rounded operands: what they read is what the format says, on both machines and
// on every rung that can; a run repeats, is resumed and is split over threads to the same bits; and what is
// known of each format shows.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "engine/cpu/cpu_info.h"
#include "engine/data/data_source.h"
#include "engine/net/param_layout.h"
#include "engine/plan/rounding.h"
#include "engine/run/race.h"
#include "engine/run/settings_json.h"
#include "engine/step/step_trace.h"
#include "tests/sanitized.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr OperandFormat allRounding[] = {OperandFormat::tf32, OperandFormat::bf16, OperandFormat::fp16,
                                         OperandFormat::fp8};
/// Sanitizers look at the one that does most.
constexpr auto rounding = std::span(allRounding).last(sanitized ? 1 : std::size(allRounding));

std::unique_ptr<Trainer> trainerOf(std::string_view lane, const TrainJob& job) {
    const LaneSpec spec = laneSpecFromText(lane);
    return makeTrainer(job, spec, {.threads = 2}, spec.gpu ? &testDevice() : nullptr);
}

TrainJob with(TrainJob job, const PrecisionSettings& precision) {
    job.settings.precision = precision;
    return job;
}

std::vector<std::string_view> lanesThatRound() {
    std::vector<std::string_view> lanes;
    for (const std::string_view lane : knownLanes()) {
        const RungRow& row = laneSpecFromText(lane).row();
        if (!row.half && row.rung != Rung::wholeStep) lanes.push_back(lane);
    }
    return lanes;
}

const std::vector<float>& valuesOf(const StepTrace& trace, TensorKind kind, std::size_t layer) {
    const TracedTensor* found = trace.find({kind, layer});
    REQUIRE(found != nullptr);
    return found->values;
}

/// The values as an operation rounds them, by the conversions of single numbers.
std::vector<float> roundedBy(const Rounding& how, std::vector<float> values) {
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    const int scale = how.scaled ? scaleFor(largest, how.kind, how.mostScale) : 0;
    for (float& value : values) value = rounded(value, how.kind, scale);
    return values;
}

bool sameValues(const std::vector<float>& a, const std::vector<float>& b) {
    return std::ranges::equal(a, b, [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
    });
}

/// Parameters in a format, with both ways of rounding.
std::vector<PrecisionSettings> storedParameters() {
    std::vector<PrecisionSettings> all;
    for (const OperandFormat format : {OperandFormat::bf16, OperandFormat::fp16})
        for (const RoundingMode mode : allRoundingModes)
            all.push_back({.format = format, .masterWeights = false, .rounding = mode});
    return all;
}

bool areOf(FloatKind kind, const std::vector<float>& values) {
    return std::ranges::all_of(values, [&](float value) { return rounded(value, kind) == value; });
}

/// Examples, weights and rates that leave no sum and no product for a machine to round.
Dataset exactData() {
    Dataset data;
    data.name = "whole numbers";
    data.inputs = 3;
    data.targetWidth = 2;
    data.train.count = 16;
    for (std::size_t example = 0; example < data.train.count; ++example) {
        for (std::size_t i = 0; i < 3; ++i)
            data.train.values.push_back(static_cast<float>((example + 5 * i) % 7) - 3);
        for (std::size_t output = 0; output < 2; ++output)
            data.train.targets.push_back(static_cast<float>((3 * example + output) % 5));
    }
    return data;
}

Dataset spiral() { return loadDataset("spiral", {.samples = 300}); }

} // namespace

TEST_CASE("products read the batch, activations, gradients and weights rounded, on both machines") {
    Dataset data = classData(13, 3, 40);
    for (std::size_t at = 0; at < data.train.values.size(); ++at)
        data.train.values[at] *= std::ldexp(1.0f, static_cast<int>(at % 31) - 26);
    TrainJob job = jobFor(data, {9, 7});
    job.settings.batch = 40;
    job.settings.shuffle = false;
    job.shape.activation = Activation::tanh;
    for (const OperandFormat format : rounding) {
        CAPTURE(name(format));
        const PrecisionSettings precision{format};
        for (const std::string_view lane : {"cpu:scalar", "cpu:threads", "gpu:naive", "gpu:texel"}) {
            CAPTURE(lane);
            const auto trainer = trainerOf(lane, with(job, precision));
            const StepTrace trace = trainer->traceStep({});
            const auto by = [&](Operation operation) { return roundingOf(precision, operation); };
            CHECK(sameValues(valuesOf(trace, TensorKind::activations, 0),
                             roundedBy(by(Operation::roundActivations), data.train.values)));
            for (std::size_t layer = 0; layer < 3; ++layer) {
                CAPTURE(layer);
                CHECK(sameValues(
                    valuesOf(trace, TensorKind::weightCopies, layer),
                    roundedBy(by(Operation::roundWeights), valuesOf(trace, TensorKind::weights, layer))));
                CHECK_FALSE(sameValues(valuesOf(trace, TensorKind::weightCopies, layer),
                                       valuesOf(trace, TensorKind::weights, layer)));
                // What is rounded already stays.
                const std::vector<float>& inputs = valuesOf(trace, TensorKind::activations, layer);
                CHECK(sameValues(inputs, roundedBy(by(Operation::roundActivations), inputs)));
                const std::vector<float>& dSums = valuesOf(trace, TensorKind::dSums, layer);
                CHECK(sameValues(dSums, roundedBy(by(Operation::roundDSums), dSums)));
            }
            const std::vector<float>& outputs = valuesOf(trace, TensorKind::activations, 3);
            CHECK_FALSE(sameValues(outputs, roundedBy(by(Operation::roundActivations), outputs)));
            CHECK(trainer->machine().kernels.find(std::string(name(format)) + ", emulated") !=
                  std::string::npos);
        }
    }
}

TEST_CASE("emulated fp16 reads and writes what the rung of half precision does") {
    const Dataset data = pixelData(50, 4, 64);
    TrainJob job = jobFor(data, {40, 24});
    job.settings.batch = 64;
    const StepTrace half = trainerOf("gpu:half", job)->traceStep({});
    for (const std::string_view lane : {"cpu:scalar", "gpu:texel"}) {
        const StepTrace emulated = trainerOf(lane, with(job, {OperandFormat::fp16}))->traceStep({});
        CHECK(sameValues(valuesOf(half, TensorKind::activations, 0),
                         valuesOf(emulated, TensorKind::activations, 0)));
        for (const std::size_t level : {1, 2}) { // sums in another order now and then round otherwise
            const std::vector<float>& a = valuesOf(half, TensorKind::activations, level);
            const std::vector<float>& b = valuesOf(emulated, TensorKind::activations, level);
            std::size_t same = 0;
            for (std::size_t at = 0; at < a.size(); ++at) same += a[at] == b[at] ? 1 : 0;
            CHECK(100 * same > 95 * a.size());
        }
        CHECK(half.loss == doctest::Approx(emulated.loss).epsilon(1e-3)); // halves go into the loss there
    }
}

// Operands are rounded alike, so the first loss differs by the order of sums alone. Later ones also do
// because an operand is rounded where a product reads it: gradients of biases and derivatives of activations
// are those of numbers that are not rounded.
TEST_CASE("the processor's own bf16 trains as emulated bf16 does") {
    const Dataset data = pixelData(50, 4, 100);
    TrainJob job = jobFor(data, {33, 20, 13});
    job.settings.batch = 37;
    job.settings.optimizer.kind = Optimizer::momentum;
    job.settings.optimizer.learningRate = 0.02;
    if (!hasBf16Instructions()) {
        CHECK_THROWS_WITH_AS(makeCpuTrainer(job, Rung::bf16, 1),
                             doctest::Contains("cannot run cpu:bf16: it needs AVX-512 BF16"),
                             std::runtime_error);
        return;
    }
    for (const Activation activation : {Activation::relu, Activation::tanh, Activation::gelu}) {
        CAPTURE(name(activation));
        job.shape.activation = activation;
        const std::vector<LossPoint> exact = train(*trainerOf("cpu:scalar", job), 20);
        const std::vector<LossPoint> emulated =
            train(*trainerOf("cpu:scalar", with(job, {OperandFormat::bf16})), 20);
        const auto native = makeCpuTrainer(job, Rung::bf16, 1);
        CHECK(native->machine().kernels.find("bf16, native") != std::string::npos);
        CHECK(native->machine().kernels.find("emulated") == std::string::npos);
        const std::vector<LossPoint> losses = train(*native, 20);
        const auto firstOf = [](const std::vector<LossPoint>& a, const std::vector<LossPoint>& b) {
            return lossDistance({a.front()}, {b.front()});
        };
        const double distance = lossDistance(losses, emulated);
        MESSAGE(name(activation), ": native bf16 differs from emulated by ", distance, " (at first by ",
                firstOf(losses, emulated), "), fp32 by ", lossDistance(exact, emulated), " (",
                firstOf(exact, emulated), ")");
        CHECK(firstOf(losses, emulated) < 1e-6);
        CHECK(firstOf(exact, emulated) > 1e-5); // it does round
        CHECK(distance < 2e-3);
        CHECK(2 * distance < lossDistance(exact, emulated));

        const auto team = makeCpuTrainer(job, Rung::bf16, 3); // however it is shared out: the same bits
        CHECK(lossDistance(train(*team, 20), losses) == 0);
        CHECK(sameValues(team->state().parameters, native->state().parameters));

        const auto vectors = makeCpuTrainer(job, Rung::simd, 1); // evaluations are those of fp32
        vectors->restore(native->state());
        CHECK(native->evaluate(Split::test).loss == vectors->evaluate(Split::test).loss);
    }
    CHECK_THROWS_WITH_AS(makeCpuTrainer(with(job, {OperandFormat::bf16}), Rung::bf16, 1),
                         doctest::Contains("'cpu:bf16' always computes in bf16; --format bf16 is for cpu:"),
                         std::invalid_argument);
}

// Sums are added in another order, so now and then an operand falls on the other side of a tie: it differs by
// one unit of the format then. The losses' tolerance is what such units do in so few steps.
TEST_CASE("all rungs train alike in every format") {
    const Dataset data = pixelData(30, 5, 120);
    TrainJob job = jobFor(data, {33, 13});
    job.settings.optimizer.kind = Optimizer::momentum;
    job.settings.optimizer.learningRate = 0.02;
    job.shape.activation = Activation::gelu;
    const std::vector<LossPoint> exact = train(*trainerOf("cpu:scalar", job), 10);
    for (const OperandFormat format : rounding) {
        CAPTURE(name(format));
        const TrainJob own = with(job, {format});
        const auto reference = trainerOf("cpu:scalar", own);
        const std::vector<LossPoint> expected = train(*reference, 10);
        const double fromExact = lossDistance(expected, exact);
        CHECK(fromExact > 0); // the format does something
        double most = 0;
        for (const std::string_view lane : lanesThatRound()) {
            CAPTURE(lane);
            const auto trainer = trainerOf(lane, own);
            const double distance = lossDistance(train(*trainer, 10), expected);
            most = std::max(most, distance);
            CHECK(distance < Agreement::floatTolerance);
            CHECK(trainer->predictedMemory().size() == trainer->memory().size());
        }
        MESSAGE(name(format), ": losses differ from fp32 by ", fromExact, ", between rungs by ", most);
    }
}

TEST_CASE("more threads, a rest in between, layers computed again: the same bits in every format") {
    const Dataset data = pixelData(50, 4, 100);
    TrainJob job = jobFor(data, {33, 20, 12});
    job.settings.optimizer.kind = Optimizer::adam;
    job.shape.activation = Activation::silu;
    std::vector<PrecisionSettings> all = storedParameters();
    for (const OperandFormat format : rounding) all.push_back({format});
    for (const PrecisionSettings& precision : all) {
        CAPTURE(emulationText(precision));
        const TrainJob own = with(job, precision);
        const auto one = makeCpuTrainer(own, Rung::scalar, 1);
        train(*one, 9);
        for (const std::size_t threads : {2, 3}) {
            const auto many = makeCpuTrainer(own, Rung::threads, threads);
            train(*many, 9);
            CHECK(sameBits(many->state(), one->state()));
        }
        for (const std::string_view lane : {"cpu:scalar", "cpu:best", "gpu:tiled", "gpu:fused", "gpu:best"}) {
            CAPTURE(lane);
            const auto whole = trainerOf(lane, own);
            train(*whole, 9);
            const auto begun = trainerOf(lane, own);
            train(*begun, 4);
            begun->evaluate(Split::train);
            const auto resumed = trainerOf(lane, own);
            resumed->restore(begun->state());
            train(*resumed, 5);
            CHECK(sameBits(resumed->state(), whole->state()));
            for (const MemorySettings& memory :
                 {MemorySettings{.recompute = 2}, MemorySettings{.offload = Offload::activations}}) {
                TrainJob saving = own;
                saving.settings.memory = memory;
                const auto again = trainerOf(lane, saving);
                train(*again, 9);
                CHECK(sameBits(again->state(), whole->state()));
            }
        }
    }
}

TEST_CASE("threads that share the rows of a large step agree on the scales") {
    const Dataset data = pixelData(784, 10, 500);
    for (const OperandFormat format : {OperandFormat::fp16, OperandFormat::fp8}) {
        const TrainJob job = with(largeJob(data), {format});
        const auto one = makeCpuTrainer(job, Rung::scalar, 1);
        const std::vector<LossPoint> expected = train(*one, sanitized ? 4 : 10);
        for (const std::size_t threads : {2, 3}) {
            const auto team = makeCpuTrainer(job, Rung::threads, threads);
            train(*team, sanitized ? 4 : 10);
            CHECK(sameBits(team->state(), one->state()));
            const auto best = makeCpuTrainer(job, Rung::best, threads);
            CHECK(lossDistance(train(*best, sanitized ? 4 : 10), expected) < Agreement::halfTolerance);
        }
    }
}

TEST_CASE("a batch in parts: each part has its own scales, and the losses stay close") {
    const Dataset data = pixelData(30, 5, 120);
    TrainJob job = with(jobFor(data, {33, 13}), {OperandFormat::fp8});
    job.settings.optimizer.learningRate = 0.002;
    for (const std::string_view lane : {"cpu:simd", "cpu:threads", "gpu:tiled"}) {
        CAPTURE(lane);
        const std::vector<LossPoint> whole = train(*trainerOf(lane, job), 10);
        TrainJob parts = job;
        parts.settings.memory.accumulate = 3;
        CHECK(lossDistance(train(*trainerOf(lane, parts), 10), whole) < Agreement::halfTolerance);
    }
}

TEST_CASE("a spiral is learned in every format") {
    const Dataset data = spiral();
    TrainJob job = jobFor(data, {24, 24});
    job.shape.activation = Activation::tanh;
    job.settings.optimizer.kind = Optimizer::adam;
    job.settings.optimizer.learningRate = 0.01;
    const auto lossOf = [&](OperandFormat format) {
        const auto trainer = trainerOf("cpu:simd", with(job, {format}));
        train(*trainer, sanitized ? 300 : 1500);
        return trainer->evaluate(Split::train);
    };
    const Evaluation exact = lossOf(OperandFormat::fp32);
    MESSAGE("fp32: loss ", exact.loss, ", accuracy ", exact.accuracy);
    for (const OperandFormat format : rounding) {
        const Evaluation found = lossOf(format);
        MESSAGE(name(format), ": loss ", found.loss, ", accuracy ", found.accuracy);
        CHECK(found.loss < exact.loss + (format == OperandFormat::fp8 ? 0.1 : 0.02));
    }
}

TEST_CASE("without loss scaling, small gradients become 0 in fp16") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, std::vector<std::size_t>(9, 12));
    job.shape.activation = Activation::sigmoid; // divides gradients by 4 in every layer, at least
    job.shape.init = InitScheme::lecun;
    job.settings.optimizer.kind = Optimizer::sgd;
    for (const std::string_view lane : {"cpu:scalar", "gpu:texel"}) {
        CAPTURE(lane);
        const auto zeros = [&](const PrecisionSettings& precision) {
            const StepTrace trace = trainerOf(lane, with(job, precision))->traceStep({});
            const std::vector<float>& lowest = valuesOf(trace, TensorKind::dSums, 0);
            return static_cast<double>(std::ranges::count(lowest, 0.0f)) / static_cast<double>(lowest.size());
        };
        CHECK(zeros({}) == 0);
        CHECK(zeros({OperandFormat::bf16}) == 0);
        CHECK(zeros({OperandFormat::fp16, true}) < 0.05);
        CHECK(zeros({OperandFormat::fp16, false}) > 0.5);
        CHECK(zeros({OperandFormat::fp8, true}) < 0.05);
        CHECK(zeros({OperandFormat::fp8, false}) == 1);
    }
}

TEST_CASE("numbers beyond a format's range end training with a reason, unless they are scaled") {
    Dataset data = classData();
    data.train.values[3] = 1e5f; // an infinite half
    const TrainJob job = jobFor(data, {8});
    for (const std::string_view lane : {"cpu:scalar", "gpu:tiled"}) {
        const auto halves = trainerOf(lane, with(job, {OperandFormat::fp16}));
        CHECK_THROWS_AS(train(*halves, 5), NonFiniteError);
        const auto scaled = trainerOf(lane, with(job, {OperandFormat::fp8}));
        CHECK(train(*scaled, 5).size() == 5);
    }
}

TEST_CASE("without master weights, parameters are numbers of the format, and products read no copies") {
    const Dataset data = pixelData(30, 5, 120);
    TrainJob job = jobFor(data, {33, 13});
    job.settings.optimizer.kind = Optimizer::momentum;
    for (const PrecisionSettings& precision : storedParameters()) {
        CAPTURE(emulationText(precision));
        const FloatKind kind = roundingOf(precision, Operation::roundParameters).kind;
        const TrainJob own = with(job, precision);
        std::vector<float> initial = initialWeights(job.shape, job.settings.seed);
        CHECK_FALSE(areOf(kind, initial));
        roundStored(precision, initial);
        const std::vector<LossPoint> expected = train(*trainerOf("cpu:scalar", own), 10);
        for (const std::string_view lane : lanesThatRound()) {
            CAPTURE(lane);
            const auto trainer = trainerOf(lane, own);
            CHECK(sameValues(trainer->state().parameters, initial));
            CHECK(lossDistance(train(*trainer, 10), expected) < Agreement::halfTolerance);
            const TrainerState state = trainer->state();
            CHECK(areOf(kind, state.parameters));
            CHECK_FALSE(areOf(kind, state.optimizerState[0])); // stays fp32
            CHECK_FALSE(sameValues(state.parameters, initial));
            for (const MemoryUse& use : trainer->memory())
                if (use.category == MemoryCategory::copies) CHECK(use.bytes == 0);
            // Parameters from elsewhere are rounded before the first step reads them.
            TrainerState other = state;
            other.parameters = initialWeights(job.shape, 9);
            trainer->restore(other);
            CHECK(areOf(kind, trainer->state().parameters));
        }
    }
}

TEST_CASE("the chance in stochastic rounding is the same on both machines, and another for each seed") {
    const Dataset data = exactData();
    TrainJob job;
    job.data = &data;
    job.shape = {.widths = {3, 2}, .loss = Loss::meanSquared, .init = InitScheme::zeros};
    job.settings.batch = 1;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = std::ldexp(1.0, -9);
    job = with(job, {.format = OperandFormat::bf16, .masterWeights = false});
    const auto after = [&](std::string_view lane, RoundingMode mode, std::uint64_t seed) {
        TrainJob own = job;
        own.settings.precision.rounding = mode;
        own.settings.seed = seed;
        own.settings.shuffle = false;
        const auto trainer = trainerOf(lane, own);
        train(*trainer, 16);
        return trainer->state().parameters;
    };
    for (const RoundingMode mode : allRoundingModes) {
        const std::vector<float> expected = after("cpu:scalar", mode, 1);
        for (const std::string_view lane : {"cpu:threads", "gpu:naive", "gpu:tiled", "gpu:fused"})
            CHECK(sameValues(after(lane, mode, 1), expected));
        CHECK(sameValues(after("cpu:scalar", mode, 2), expected) == (mode == RoundingMode::nearest));
        const std::uint64_t far = std::uint64_t{1} << 32; // the seed's upper half counts, too
        CHECK(sameValues(after("gpu:naive", mode, 1 + far), after("cpu:scalar", mode, 1 + far)));
    }
}

// Adam moves a weight by about the learning rate. Half the distance between two numbers of bf16 is more
// from 1/2 on: to the nearest, such weights never move.
TEST_CASE("bf16 without master weights: rounding to nearest stalls, and stochastic rounding learns as fp32") {
    const Dataset data = spiral();
    TrainJob job = jobFor(data, {24, 24});
    job.shape.activation = Activation::tanh;
    job.settings.batch = 128;
    job.settings.optimizer.kind = Optimizer::adam;
    job.settings.optimizer.learningRate = 0.001;
    const auto lossOf = [&](const PrecisionSettings& precision) {
        const auto trainer = trainerOf("cpu:simd", with(job, precision));
        train(*trainer, 4000);
        const Evaluation found = trainer->evaluate(Split::train);
        MESSAGE(emulationText(precision), ": loss ", found.loss, ", accuracy ", found.accuracy);
        return found.loss;
    };
    const double exact = lossOf({});
    const double copies = lossOf({.format = OperandFormat::bf16});
    const double nearest = lossOf({.format = OperandFormat::bf16, .masterWeights = false});
    const double stochastic =
        lossOf({.format = OperandFormat::bf16, .masterWeights = false, .rounding = RoundingMode::stochastic});
    CHECK(std::abs(copies - exact) < 0.03);
    CHECK(nearest > exact + 0.15);
    CHECK(std::abs(stochastic - exact) < 0.05);
}

TEST_CASE("parameters in tf32 and fp8 are refused, in a job and in a file") {
    const Dataset data = classData();
    for (const OperandFormat format : {OperandFormat::tf32, OperandFormat::fp8}) {
        const TrainJob job = with(jobFor(data, {8}), {.format = format, .masterWeights = false});
        CHECK_THROWS_WITH_AS(trainerOf("cpu:scalar", job), doctest::Contains("needs master weights"),
                             std::invalid_argument);
        CHECK_THROWS_AS(trainSettingsFromJson(toJson(job.settings)), std::invalid_argument);
    }
    // In fp32 there is nothing to round.
    const TrainJob exact = with(jobFor(data, {8}), {.masterWeights = false});
    const auto trainer = trainerOf("cpu:scalar", exact);
    CHECK(sameValues(trainer->state().parameters, initialWeights(exact.shape, exact.settings.seed)));
}

TEST_CASE("rungs that cannot round say so, and name those that can") {
    const Dataset data = classData();
    const TrainJob job = with(jobFor(data, {8}), {OperandFormat::bf16});
    for (const std::string_view lane : {"gpu:half", "gpu:matrix"})
        CHECK_THROWS_WITH_AS(trainerOf(lane, job),
                             doctest::Contains("always computes in fp16; --format bf16 is for gpu:one"),
                             std::invalid_argument);
    CHECK_THROWS_WITH_AS(trainerOf("gpu:whole-step", job), doctest::Contains("nothing that could be rounded"),
                         std::invalid_argument);
    const auto best = trainerOf("gpu:best", job); // does without kernels that join operations
    CHECK(best->machine().kernels.find("whole-step") == std::string::npos);
    CHECK(best->machine().kernels.find("fused:") == std::string::npos);
}

TEST_CASE("settings keep the format, and older ones are in fp32") {
    const Dataset data = classData();
    const TrainSettings settings = with(jobFor(data, {8}), {OperandFormat::fp16, false}).settings;
    nlohmann::ordered_json json = toJson(settings);
    CHECK(json["format"] == "fp16");
    CHECK(trainSettingsFromJson(json).precision == settings.precision);
    const PrecisionSettings stored = storedParameters().back();
    const nlohmann::ordered_json other = toJson(with(jobFor(data, {8}), stored).settings);
    CHECK(other["master_weights"] == false);
    CHECK(other["rounding"] == "stochastic");
    CHECK(trainSettingsFromJson(other).precision == stored);
    json["format"] = "fp17";
    CHECK_THROWS_WITH(trainSettingsFromJson(json), doctest::Contains("fp16"));
    json["format"] = "fp16";
    for (const char* key : {"master_weights", "rounding"}) json.erase(key); // from before there were these
    CHECK(trainSettingsFromJson(json).precision == settings.precision);
    for (const char* key : {"format", "loss_scaling"}) json.erase(key);
    CHECK(trainSettingsFromJson(json).precision == PrecisionSettings{});
}
