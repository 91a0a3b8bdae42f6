// Training on a Vulkan device: the same losses as the processor on every rung, bit by bit the same when
// repeated, nothing uploaded and nobody waiting in between.
#include <doctest/doctest.h>

#include <iterator>
#include <limits>

#include "engine/gpu/error.h"
#include "engine/net/param_layout.h"
#include "engine/run/make_trainer.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/step_trace.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// Those that agree with the processor to rounding and take no special network; slow ones are checked in
// gpu_products_test.
const std::vector<std::string_view> rungs = [] {
    std::vector<std::string_view> names;
    for (const RungRow& row : rungTable)
        if (row.gpu() && row.trains && !row.half && !row.slow && row.rung != Rung::wholeStep)
            names.push_back(row.name());
    return names;
}();

std::vector<LossPoint> trainOnCpu(const TrainJob& job, std::uint64_t steps) {
    return train(*makeCpuTrainer(job, "scalar", 1), steps);
}

std::vector<LossPoint> trainOnGpu(const TrainJob& job, std::string_view rung, std::uint64_t steps) {
    return train(*makeGpuTrainer(job, rung, testDevice()), steps);
}

} // namespace

// Software Vulkan, slow to compile them, makes every pair of the three: no kernel knows all of them.
TEST_CASE("the first 100 losses agree with the processor's for every activation, loss and optimizer") {
    const Dataset classes = classData();
    const Dataset values = valueData();
    const auto leftOut = [](Activation activation, Loss loss, Optimizer optimizer) {
        const auto at = [](auto value) { return static_cast<std::size_t>(value); };
        return testDevice().software() && (at(activation) + at(optimizer)) % 4 != at(loss) % 4;
    };
    for (const Activation activation : allActivations)
        for (const Loss loss : {Loss::crossEntropy, Loss::meanSquared, Loss::huber, Loss::binaryCrossEntropy})
            for (const Optimizer optimizer : allOptimizers) {
                if (leftOut(activation, loss, optimizer)) continue;
                CAPTURE(name(activation));
                CAPTURE(name(loss));
                CAPTURE(name(optimizer));
                TrainJob job = jobFor(loss == Loss::huber ? values : classes, {33, 13});
                job.shape.activation = activation;
                job.shape.loss = loss;
                job.settings.optimizer.kind = optimizer;
                job.settings.optimizer.learningRate = optimizer == Optimizer::sgd ? 0.05 : 0.003;
                const auto reference = trainOnCpu(job, 100);
                CHECK(lossDistance(trainOnGpu(job, "blocked", 100), reference) < 1e-4);
            }
}

TEST_CASE("every rung agrees, with pixels and values, classes and curves, any batch") {
    const Dataset pixels = pixelData(784, 10, 300);
    const Dataset values = valueData();
    const std::uint64_t steps = testDevice().software() ? 25 : 100; // two epochs of the middle batch and more
    for (const Dataset* data : {&pixels, &values})
        for (const std::size_t batch : {1, 33, 1000}) {
            CAPTURE(data->name);
            CAPTURE(batch);
            TrainJob job = jobFor(*data, {33, 13});
            job.shape.activation = Activation::tanh;
            job.shape.loss = data == &values ? Loss::meanSquared : Loss::crossEntropy;
            job.settings.batch = batch;
            const auto reference = trainOnCpu(job, steps);
            for (const std::string_view rung : rungs) {
                CAPTURE(rung);
                CHECK(lossDistance(trainOnGpu(job, rung, steps), reference) < 1e-4);
            }
        }
}

TEST_CASE("all rungs sum in the same order, so they agree bit for bit for any choice of kernels") {
    const Dataset data = pixelData(784, 10, 300);
    TrainJob job = jobFor(data, {65, 33});
    const auto reference = makeGpuTrainer(job, "naive", testDevice());
    train(*reference, 30);
    for (const std::string_view rung : rungs) {
        CAPTURE(rung);
        const auto trainer = makeGpuTrainer(job, rung, testDevice());
        train(*trainer, 30);
        CHECK(sameBits(trainer->state(), reference->state()));
    }
}

TEST_CASE("schedules, regularisation, Nesterov, file order and a single output agree too") {
    const Dataset data = classData(2, 2, 100);
    TrainJob job = jobFor(data, {8, 8});
    job.shape.widths.back() = 1;
    job.shape.loss = Loss::binaryCrossEntropy;
    job.shape.activation = Activation::tanh;
    job.settings.shuffle = false;
    job.settings.optimizer.kind = Optimizer::momentum;
    job.settings.optimizer.nesterov = true;
    job.settings.optimizer.learningRate = 0.05;
    job.settings.optimizer.weightDecay = 0.01;
    job.settings.optimizer.l1 = 0.001;
    job.settings.optimizer.schedule = Schedule::cosine;
    job.settings.optimizer.scheduleSteps = 80;
    job.settings.optimizer.warmupSteps = 10;
    for (const Loss loss : {Loss::binaryCrossEntropy, Loss::meanSquared})
        for (const Activation output : {Activation::identity, Activation::tanh, Activation::sigmoid}) {
            if (loss == Loss::binaryCrossEntropy && output != Activation::identity) continue;
            CAPTURE(name(loss));
            CAPTURE(name(output));
            job.shape.loss = loss;
            job.shape.outputActivation = output;
            CHECK(lossDistance(trainOnGpu(job, "best", 100), trainOnCpu(job, 100)) < 1e-4);
        }
}

TEST_CASE("minimum limits, staged memory and descriptor sets change nothing") {
    const Dataset data = pixelData(49, 3, 200);
    TrainJob job = jobFor(data, {33});
    job.shape.activation = Activation::tanh;
    const auto reference = trainOnCpu(job, 60);
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    options.forceStaging = true;
    options.pushDescriptors = false;
    gpu::Device device(options);
    for (const std::string_view rung : rungs) {
        if (rung == "subgroup") { // no subgroup operation is required of a device
            CHECK_THROWS_AS(makeGpuTrainer(job, rung, device), std::runtime_error);
            continue;
        }
        const auto trainer = makeGpuTrainer(job, rung, device);
        CHECK(lossDistance(train(*trainer, 60), reference) < 1e-4);
        CHECK(trainer->deviceSeconds() > 0); // from the host's clock: these limits have no timestamps
        CHECK(trainer->evaluate(Split::test).count == data.test.count);
    }
}

TEST_CASE("the same rung twice is bit-identical, and resumes as if it had never stopped") {
    const Dataset data = pixelData(784, 10, 500);
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adamw})
        for (const std::string_view rung : rungs) {
            // Those that do not update by themselves share one kernel for that, which "naive" stands for.
            const bool updates =
                rowOf(rungFromName(rung, true)).foldsUpdate || rung == "best" || rung == "naive";
            if (testDevice().software() && optimizer != Optimizer::adamw && !updates) continue;
            CAPTURE(name(optimizer));
            CAPTURE(rung);
            TrainJob job = jobFor(data, {65, 33});
            job.settings.optimizer.kind = optimizer;
            const auto first = makeGpuTrainer(job, rung, testDevice());
            const auto losses = train(*first, 15);
            const auto second = makeGpuTrainer(job, rung, testDevice());
            train(*second, 6);
            const TrainerState middle = second->state();
            CHECK(middle.step == 6);
            const auto third = makeGpuTrainer(job, rung, testDevice());
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
    const auto trainer = makeGpuTrainer(job, "best", testDevice());
    const TrainerState state = trainer->state();
    CHECK(state.step == 0);
    CHECK(state.parameters == initialWeights(job.shape, job.settings.seed));
    for (const auto& array : state.optimizerState)
        CHECK(std::ranges::all_of(array, [](float value) { return value == 0; }));
    CHECK(trainer->completedSteps() == 0);
    CHECK(trainer->operations().empty());
    CHECK(trainer->deviceSeconds() == 0);
    CHECK(trainer->warmUpSeconds() > 0);
    CHECK(trainer->machine().gpu);
    CHECK(trainer->machine().software == testDevice().software());
}

TEST_CASE("a thousand steps: few submissions, fewer waits, no upload") {
    const Dataset data = classData(7, 3, 640);
    const TrainJob job = jobFor(data, {9});
    const auto trainer = makeGpuTrainer(job, "best", testDevice());
    train(*trainer, 50); // the size of a submission has been found
    const gpu::DeviceCounters& counters = testDevice().counters();
    const std::uint64_t submissions = counters.submissions;
    const std::uint64_t waits = counters.hostWaits;
    const std::uint64_t uploaded = counters.bytesUploaded;
    const std::uint64_t downloaded = counters.bytesDownloaded;
    train(*trainer, 1000);
    MESSAGE("1,000 steps: ", counters.submissions - submissions, " submissions, ", counters.hostWaits - waits,
            " host waits, ", counters.bytesUploaded - uploaded, " bytes uploaded, ",
            counters.bytesDownloaded - downloaded, " bytes downloaded");
    // Whole steps upload 80 bytes per step, for what changes from step to step, and nothing else.
    CHECK(counters.bytesUploaded - uploaded <= 1000 * sizeof(shared::StepRecord));
    CHECK(counters.bytesDownloaded == downloaded);
    CHECK(counters.submissions - submissions <= 500);
    CHECK(counters.hostWaits - waits <= counters.submissions - submissions);
}

TEST_CASE("the warm-up dispatches all that a run will: the smaller last batch and evaluation, too") {
    const Dataset data = pixelData(49, 3, 300);
    TrainJob job = jobFor(data, {33, 13});
    job.settings.batch = 64; // and 44 in the last batch of an epoch
    const gpu::DeviceCounters& counters = testDevice().counters();
    for (const std::string_view rung : {"one", "naive", "tiled", "pipelined", "blocked", "texel", "subgroup",
                                        "fused", "whole-step", "best"}) {
        CAPTURE(rung);
        const std::uint64_t before = counters.coldDispatches;
        const auto trainer = makeGpuTrainer(job, rung, testDevice());
        const std::uint64_t warm = counters.coldDispatches;
        CHECK(warm > before); // the counter counts
        train(*trainer, 12);
        trainer->evaluate(Split::train);
        trainer->evaluate(Split::test);
        trainer->traceStep(TraceOptions{});
        CHECK(counters.coldDispatches == warm);
    }
}

TEST_CASE("evaluation and prediction match the plain loops") {
    const Dataset data = pixelData(784, 10, 6000); // several chunks, the last one smaller
    const TrainJob job = jobFor(data, {33});
    const auto reference = makeCpuTrainer(job, "scalar", 1);
    train(*reference, 20);
    for (const std::string_view rung : {"naive", "best"}) {
        const auto trainer = makeGpuTrainer(job, rung, testDevice());
        trainer->restore(reference->state());
        for (const Split split : {Split::train, Split::test}) {
            const Evaluation expected = reference->evaluate(split);
            const Evaluation found = trainer->evaluate(split);
            CHECK(found.count == expected.count);
            CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-5));
            CHECK(found.accuracy == doctest::Approx(expected.accuracy).epsilon(1e-3));
            REQUIRE(found.confusion.size() == 100);
            std::uint64_t all = 0;
            std::uint64_t right = 0;
            for (const std::uint64_t cell : found.confusion) all += cell;
            for (std::size_t label = 0; label < 10; ++label) right += found.confusion[label * 11];
            CHECK(all == found.count);
            CHECK(static_cast<double>(right) / static_cast<double>(all) == doctest::Approx(found.accuracy));
        }
        const std::vector<float> expected = reference->predict(Split::train, 3333, 2500);
        const std::vector<float> found = trainer->predict(Split::train, 3333, 2500);
        REQUIRE(found.size() == expected.size());
        for (std::size_t at = 0; at < found.size(); ++at)
            REQUIRE(static_cast<double>(found[at]) ==
                    doctest::Approx(static_cast<double>(expected[at])).epsilon(1e-3));
        CHECK_THROWS_AS(trainer->predict(Split::train, 5999, 2), std::invalid_argument);
        CHECK(trainer->trainingSeconds() < 0.05); // nothing was trained
    }
}

TEST_CASE("accuracy and confusion are not known in regression") {
    const Dataset data = valueData();
    TrainJob job = jobFor(data, {9});
    job.shape.loss = Loss::meanSquared;
    const Evaluation found = makeGpuTrainer(job, "best", testDevice())->evaluate(Split::test);
    const Evaluation expected = makeCpuTrainer(job, "scalar", 1)->evaluate(Split::test);
    CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-5));
    CHECK(std::isnan(found.accuracy));
    CHECK(found.confusion.empty());
}

TEST_CASE("a rate that is far too high stops at the processor's step, with the weights it found") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {33});
    job.shape.loss = Loss::meanSquared;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 1e3;
    const auto trainer = makeGpuTrainer(job, "best", testDevice());
    trainer->run(1000);
    trainer->finish();
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
    }
    trainer->run(10); // frozen
    CHECK(sameBits(trainer->state(), state));
    trainer->restore({0, initialWeights(job.shape, job.settings.seed), {}, {}, {}});
    CHECK(train(*trainer, 1).front().loss == losses.front().loss);
}

TEST_CASE("times add up") {
    const Dataset data = pixelData(784, 10, 500);
    const TrainJob job = jobFor(data, {65});
    const auto trainer = makeGpuTrainer(job, "blocked", testDevice());
    const auto losses = train(*trainer, 200);
    CHECK(trainer->trainingSeconds() > 0);
    CHECK(trainer->deviceSeconds() > 0);
    CHECK(trainer->deviceSeconds() < 1.2 * trainer->trainingSeconds());
    for (std::size_t at = 1; at < losses.size(); ++at) REQUIRE(losses[at].seconds >= losses[at - 1].seconds);
    CHECK(losses.back().seconds <= trainer->trainingSeconds());
    const auto operations = trainer->operations();
    std::vector<std::string> names;
    for (const OperationTiming& operation : operations) {
        names.push_back(operation.name);
        CHECK(operation.calls > 0);
        CHECK(operation.milliseconds > 0);
    }
    CHECK(names == std::vector<std::string>{"dense", "dense_backward_inputs", "dense_backward_weights",
                                            "gather_batch", "loss_and_gradient", "update"});
}

TEST_CASE("a job that exceeds the device's memory is rejected with a suggestion that fits") {
    const Dataset data = pixelData(784, 10, 100);
    TrainJob job = jobFor(data, {64000, 64000}); // 16 GB of weights
    const auto messageOf = [&](const TrainJob& tooLarge) -> std::string {
        try {
            requireMemory(testDevice(), tooLarge, Rung::blocked);
        } catch (const gpu::OutOfMemoryError& error) {
            return error.what();
        } catch (const gpu::GpuError& error) { // more than can be bound at once
            return error.what();
        }
        return "";
    };
    if (testDevice().report().memory < std::uint64_t{64} << 30) {
        CHECK(messageOf(job).find("narrower layers") != std::string::npos);
        CHECK_THROWS_AS(makeGpuTrainer(job, "naive", testDevice()), gpu::GpuError);
    }

    // Batches so large that activations alone overflow the device; the batch that the message names fits.
    const std::size_t count = testDevice().report().memory / 4096;
    Dataset many = classData(7, 3, 10);
    many.train.count = count; // sizes only: nothing is allocated
    job = jobFor(many, {2048});
    job.settings.batch = count;
    const std::string message = messageOf(job);
    const std::size_t at = message.find("A batch of ");
    REQUIRE(at != std::string::npos);
    job.settings.batch = std::stoull(message.substr(at + 11));
    CHECK(messageOf(job) == "");
    job.settings.batch *= 4;
    CHECK(messageOf(job) != "");

    // Found now, not by the first evaluation: a confusion matrix that cannot be bound.
    Dataset classes = classData(7, 3, 10);
    classes.classes = 100000;
    CHECK(messageOf(jobFor(classes, {4})).find("fewer classes") != std::string::npos);
    if (!testDevice().software()) return;
    many.train.count = 100000;
    job = jobFor(many, {8});
    job.settings.batch = 100000;
    CHECK(messageOf(job).find("rows at once correctly, only 65536. A batch of 50000 fits") !=
          std::string::npos);
}

TEST_CASE("more parameters than one dispatch has workgroups for, and pictures larger than a chunk of an "
          "evaluation") {
    const Dataset data = pixelData(2048, 3, 300);
    TrainJob job = jobFor(data, {8300}); // 17 million weights: 66,000 workgroups of the update
    job.settings.batch = 8;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 0.01;
    const auto trainer = makeGpuTrainer(job, "blocked", testDevice());
    const auto reference = makeCpuTrainer(job, "simd", 1);
    CHECK(lossDistance(train(*trainer, 3), train(*reference, 3)) < 1e-4);
    CHECK(trainer->state().parameters.back() ==
          doctest::Approx(reference->state().parameters.back()).epsilon(1e-4));

    // 900 rows of it are more than lavapipe binds at once.
    Dataset large = pixelData(40000, 3, 9);
    const Examples nine = large.train;
    for (int repeat = 1; repeat < 100; ++repeat) {
        std::ranges::copy(nine.pixels, std::back_inserter(large.train.pixels));
        std::ranges::copy(nine.labels, std::back_inserter(large.train.labels));
    }
    large.train.count = 900;
    job = jobFor(large, {8});
    job.settings.batch = 8;
    CHECK(makeGpuTrainer(job, "blocked", testDevice())->evaluate(Split::train).count == 900);
}

TEST_CASE("without test examples there is nothing to say of them") {
    Dataset data = classData();
    data.test = {};
    const Evaluation evaluation =
        makeGpuTrainer(jobFor(data, {9}), "blocked", testDevice())->evaluate(Split::test);
    CHECK(evaluation.count == 0);
    CHECK(std::isnan(evaluation.accuracy));
}

TEST_CASE("an unknown rung is refused") {
    const Dataset data = classData();
    CHECK_THROWS_AS(makeGpuTrainer(jobFor(data, {9}), "fast", testDevice()), std::invalid_argument);
}
