// Checks every kernel of the dense products against the plain loops, for shapes that tiles do not divide.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include "engine/gpu/error.h"
#include "engine/step/kernels.h"
#include "engine/tune/kernel_choice.h"
#include "engine/tune/kernel_trial.h"
#include "engine/tune/product_candidates.h"
#include "tests/data_files.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"
#include "tests/trainers_by_name.h"

using namespace lockstep;

namespace {

constexpr Product products[] = {Product::forward, Product::backwardInputs, Product::backwardWeights};

DenseShape shapeOf(std::size_t rows, std::size_t inputs, std::size_t outputs) {
    return {rows, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)};
}

/// 784-2048-2048-10, batch 512.
struct TrainingSet {
    Dataset data = test::pixelData(784, 10, 512);
    TrainJob job = test::jobFor(data, {2048, 2048});
    TrainingSet() { job.settings.batch = 512; }
};

void checkAll(gpu::Device& device, Kernels& kernels, Product product, const DenseShape& shape,
              Activation activation) {
    ProductTrial trial(device, product, shape, activation, scalarKernels());
    for (const ProductKernel& candidate : candidates(device, product, shape)) {
        const TrialResult result = trial.measure(kernels.dense(product, candidate, activation), 0);
        INFO(std::string(name(product)), " ", shape.rows, "x", shape.inputs, "x", shape.outputs, " ",
             std::string(name(activation)), " ", candidate.describe(), ": difference ",
             result.largestDifference);
        CHECK(result.verified());
    }
}

} // namespace

TEST_CASE("awkward shapes") {
    Kernels kernels(testDevice());
    for (const Product product : products)
        for (const std::size_t rows : {1, 7, 33, 127, 1000})
            for (const auto& [inputs, outputs] : {std::pair<std::size_t, std::size_t>{1, 1},
                                                  {7, 33},
                                                  {33, 7},
                                                  {127, 1},
                                                  {1, 127},
                                                  {784, 33},
                                                  {64, 64}})
                checkAll(testDevice(), kernels, product, shapeOf(rows, inputs, outputs), Activation::relu);
}

TEST_CASE("sums over the largest batch: software drivers end long loops in silence") {
    Kernels kernels(testDevice());
    checkAll(testDevice(), kernels, Product::backwardWeights, shapeOf(65536, 4, 4), Activation::identity);
}

TEST_CASE("every activation and its derivative") {
    Kernels kernels(testDevice());
    for (const Product product : {Product::forward, Product::backwardInputs})
        for (const Activation activation : allActivations)
            for (const ProductKernel& kernel :
                 {ProductKernel{Rung::one, 1, 1}, ProductKernel{Rung::naiveStrided, 8, 4},
                  ProductKernel{Rung::naive, 8, 4}, ProductKernel{Rung::tiled, 8, 4, 4, 4, 8},
                  ProductKernel{Rung::pipelined, 8, 4, 4, 4, 8}, ProductKernel{Rung::blocked, 8, 4, 4, 4},
                  ProductKernel{Rung::texel, 8, 4, 4, 4}, ProductKernel{Rung::subgroup, 32, 1, 4, 4, 0, 4}}) {
                const DenseShape shape = shapeOf(33, 65, 31);
                ProductTrial trial(testDevice(), product, shape, activation, scalarKernels());
                const TrialResult result = trial.measure(kernels.dense(product, kernel, activation), 0);
                INFO(std::string(name(product)), " ", std::string(name(activation)), " ", kernel.describe(),
                     ": difference ", result.largestDifference);
                CHECK(result.verified());
            }
}

TEST_CASE("the smallest limits that Vulkan allows: 128 invocations, 16 KiB of shared memory") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    Kernels kernels(device);
    for (const Product product : products) {
        const DenseShape shape = shapeOf(127, 784, 33);
        std::set<Rung> rungs;
        for (const ProductKernel& candidate : candidates(device, product, shape))
            rungs.insert(candidate.rung);
        std::set<Rung> expected; // no invocation reads another's registers
        for (const RungRow& row : rungTable)
            if (!row.half && row.rung != Rung::subgroup &&
                !shaderWords(shaderName("dense", {row.rung})).empty())
                expected.insert(row.rung);
        CHECK(rungs == expected);
        checkAll(device, kernels, product, shape, Activation::tanh);
    }
}

TEST_CASE("loads shared by as many invocations as a subgroup has, or fewer") {
    const std::uint32_t most = testDevice().limits().broadcastInvocations;
    REQUIRE(most >= 4);
    Kernels kernels(testDevice());
    for (const Product product : products)
        for (const auto& [tileM, tileN] : {std::pair{4u, 4u}, {12u, 8u}, {32u, 4u}})
            for (std::uint32_t sharers = 1; sharers <= most; sharers *= 2) {
                ProductTrial trial(testDevice(), product, shapeOf(33, 65, 31), Activation::relu,
                                   scalarKernels());
                const ProductKernel kernel{Rung::subgroup, 32, 1, tileM, tileN, 0, sharers};
                const TrialResult result = trial.measure(kernels.dense(product, kernel, Activation::relu), 0);
                INFO(std::string(name(product)), " ", kernel.describe(), ", ", sharers,
                     " sharers: difference ", result.largestDifference);
                CHECK(result.verified());
            }
}

TEST_CASE("a rung that the device cannot run is refused with the reason, and `best` goes without it") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    Kernels kernels(device);
    const auto reason = [&](Rung rung, const NetShape& shape) -> std::string {
        try {
            chooseKernels(device, kernels, rung, shape, Optimizer::sgd, 32);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(reason(Rung::subgroup, {{20, 12, 3}}).find("subgroupBroadcast") != std::string::npos);
    const NetShape wide{{784, 512, 10}}; // 784 x 512 weights are more than the 65,536 texels of four
    CHECK(reason(Rung::texel, {{20, 12, 3}}).empty());
    CHECK(reason(Rung::texel, wide).find("1048576 bytes as texels") != std::string::npos);
    CHECK(reason(Rung::blocked, wide).empty());
    CHECK(
        chooseKernels(device, kernels, Rung::best, wide, Optimizer::sgd, 32, 0).layers.front().forward.rung !=
        Rung::texel);
}

TEST_CASE("updates folded into the weights' gradients: every optimizer, awkward shapes") {
    Kernels kernels(testDevice());
    for (const Optimizer optimizer : allOptimizers)
        for (const DenseShape& shape : {shapeOf(1, 1, 1), shapeOf(33, 65, 31), shapeOf(7, 784, 33)}) {
            UpdateTrial trial(testDevice(), shape, optimizer);
            for (const ProductKernel& kernel :
                 {ProductKernel{Rung::tiled, 8, 4, 4, 4, 8}, ProductKernel{Rung::pipelined, 8, 4, 4, 4, 8},
                  ProductKernel{Rung::blocked, 8, 4, 4, 4}, ProductKernel{Rung::texel, 8, 4, 4, 4},
                  ProductKernel{Rung::texel, 4, 2, 8, 16}}) {
                const TrialResult result = trial.measureFolded(kernels.denseUpdate(kernel, optimizer), 0);
                INFO(std::string(name(optimizer)), " ", shape.rows, "x", shape.inputs, "x", shape.outputs,
                     " ", kernel.describe(), ": difference ", result.largestDifference);
                CHECK(result.verified());
            }
        }
}

TEST_CASE("sums that several invocations share, of floats and of halves, with the update folded in, too") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    Kernels kernels(device);
    for (const ProductKernel& kernel : {ProductKernel{Rung::tiled, 8, 4, 4, 4, 16, 0, false, 2},
                                        ProductKernel{Rung::tiled, 4, 4, 4, 4, 4, 0, false, 4},
                                        ProductKernel{Rung::pipelined, 8, 4, 4, 4, 8, 0, false, 2},
                                        ProductKernel{Rung::pipelined, 4, 4, 4, 4, 4, 0, false, 4},
                                        ProductKernel{Rung::pipelined, 4, 4, 8, 4, 4, 0, false, 3},
                                        ProductKernel{Rung::tiled, 4, 4, 2, 4, 8, 0, true, 4},
                                        ProductKernel{Rung::tiled, 8, 4, 2, 4, 16, 0, true, 3}})
        for (const DenseShape& shape : {shapeOf(1, 1, 1), shapeOf(33, 65, 10), shapeOf(1000, 31, 7)}) {
            CAPTURE(kernel.describe());
            CAPTURE(shape.rows);
            for (const Product product : products) {
                CAPTURE(std::string(name(product)));
                ProductTrial trial(device, product, shape, Activation::tanh, scalarKernels(), kernel.half);
                CHECK(trial.measure(kernels.dense(product, kernel, Activation::tanh), 0).verified());
            }
            if (kernel.half) continue;
            UpdateTrial trial(device, shape, Optimizer::adam);
            CHECK(trial.measureFolded(kernels.denseUpdate(kernel, Optimizer::adam), 0).verified());
        }
}

TEST_CASE(
    "where sums are shared depends on sizes alone, and then all kernels to choose from share them alike") {
    const gpu::Device& device = testDevice();
    const DenseShape last = shapeOf(4096, 4096, 10);
    CHECK(splitsSums(device, Product::backwardWeights, last) == !device.software());
    CHECK_FALSE(splitsSums(device, Product::backwardWeights, shapeOf(128, 4096, 10)));
    CHECK_FALSE(splitsSums(device, Product::backwardWeights, shapeOf(4096, 4096, 4096)));
    CHECK(splitsSums(device, Product::forward, shapeOf(128, 784, 256)) == !device.software());
    CHECK_FALSE(splitsSums(device, Product::forward, shapeOf(128, 256, 128)));
    CHECK_FALSE(splitsSums(device, Product::forward, shapeOf(4096, 4096, 4096)));
    for (const Product product : products)
        for (const ProductKernel& kernel : fastCandidates(device, product, last)) {
            CHECK((kernel.slices > 1) == splitsSums(device, product, last));
            if (kernel.slices > 1) CHECK(kernel.slices == 4); // what the order of sums follows from
        }
}

TEST_CASE("a wrong update is seen: another optimizer's") {
    Kernels kernels(testDevice());
    UpdateTrial trial(testDevice(), shapeOf(33, 65, 31), Optimizer::adam);
    const ProductKernel kernel{Rung::blocked, 8, 4, 4, 4};
    CHECK_FALSE(trial.measureFolded(kernels.denseUpdate(kernel, Optimizer::momentum), 0).verified());
    CHECK(trial.measureUpdate(kernels.update(Optimizer::adam), 1) > 0);
}

TEST_CASE("a product in pieces: each output once, none larger than a shader's loops may be") {
    for (const auto& [m, n, k] :
         {std::tuple{128u, 256u, 784u}, {1u, 4u, 1u}, {3u, 8u, 59999u}, {2u, 4u, 65000u}}) {
        std::uint32_t next = 0;
        for (const ProductPiece& piece : piecesOf({Rung::one, 1, 1}, {m, n, k})) {
            CHECK(piece.first == next);
            CHECK(piece.count >= 1);
            CHECK((piece.count == 1 || piece.count * (k + 2) <= 65000));
            next += piece.count;
        }
        CHECK(next == m * n);
        CHECK(piecesOf({Rung::naive, 8, 8}, {m, n, k}).size() == 1);
    }
}

TEST_CASE("a wrong result is seen") {
    Kernels kernels(testDevice());
    const DenseShape shape = shapeOf(33, 65, 31);
    ProductTrial trial(testDevice(), Product::forward, shape, Activation::identity, scalarKernels());
    const ProductKernel naive{Rung::naive, 8, 8, 1, 1, 0};
    // The right product with the wrong activation stands for a faulty kernel.
    const TrialResult result = trial.measure(kernels.dense(Product::forward, naive, Activation::relu), 1);
    CHECK_FALSE(result.verified());
    CHECK(result.milliseconds == 0); // and never timed
    CHECK(trial.measure(kernels.dense(Product::forward, naive, Activation::identity), 1).milliseconds > 0);
}

TEST_CASE("the choice of `best` is measured once and remembered; a broken memory is ignored") {
    constexpr double patience = 300; // seconds: every candidate is compared, however slow the machine
    const NetShape shape{{20, 12, 3}};
    Kernels kernels(testDevice());
    const auto first = chooseKernels(testDevice(), kernels, Rung::best, shape, Optimizer::adam, 32, patience);
    const auto second =
        chooseKernels(testDevice(), kernels, Rung::best, shape, Optimizer::adam, 32, patience);
    REQUIRE(first.layers.size() == 2);
    REQUIRE(second.layers.size() == 2);
    CHECK(first.foldsUpdate == second.foldsUpdate);
    for (std::size_t layer = 0; layer < 2; ++layer) {
        CHECK(first.layers[layer].forward == second.layers[layer].forward);
        CHECK(first.layers[layer].backwardWeights == second.layers[layer].backwardWeights);
    }
}

TEST_CASE("a choice that ran out of time is gone on with at the next start") {
    const test::CacheFolder folder;
    gpu::Device device(testDeviceOptions());
    const NetShape shape{{20, 12, 3}};
    Kernels kernels(device);
    const auto submissionsOf = [&](double seconds) {
        const std::uint64_t before = device.counters().submissions;
        chooseKernels(device, kernels, Rung::best, shape, Optimizer::adam, 32, seconds);
        return device.counters().submissions - before;
    };
    const auto measured = [&] { // what is final, of the one device
        std::ifstream file(folder.path() / "kernels.json");
        nlohmann::json entries = nlohmann::json::parse(file).front();
        for (auto entry = entries.begin(); entry != entries.end();)
            entry = entry.value()["complete"].get<bool>() ? std::next(entry) : entries.erase(entry);
        return entries;
    };
    constexpr double patience = 300;
    CHECK(submissionsOf(1e-6) > 0);
    const auto hurried = measured();
    CHECK(submissionsOf(patience) > 0);
    const auto all = measured();
    CHECK(submissionsOf(patience) == 0); // all is known
    CHECK(!hurried.empty());
    CHECK(hurried.size() < all.size());
    for (const auto& [operation, entry] : hurried.items())
        CHECK(all[operation] == entry); // not measured again
}

TEST_CASE("a comparison that is skipped ends soon, trains, and remembers nothing incomplete") {
    const test::CacheFolder folder;
    gpu::Device device(testDeviceOptions());
    const Dataset data = test::pixelData(784, 10, 256);
    TrainJob job = test::jobFor(data, {256});
    job.settings.batch = 128;
    const auto lossesOf = [](Trainer& trainer) {
        std::vector<LossPoint> losses;
        trainer.run(3);
        trainer.finish();
        trainer.takeLosses(losses);
        return losses;
    };
    const auto entries = [&] { // of the one device; null: there is no file
        std::ifstream file(folder.path() / "kernels.json");
        return file ? nlohmann::json::parse(file).front() : nlohmann::json();
    };
    const auto plain = lossesOf(*makeGpuTrainer(job, "naive", device));
    std::uint64_t begun = 0; // when it was skipped, in kernels
    SUBCASE("before it begins") {}
    SUBCASE("on the way") { begun = 3; }
    constexpr double patience = 300; // seconds: it would compare everything
    Tuning tuning(begun == 0 ? 0 : patience);
    auto making = std::async(
        std::launch::async, [&] { return makeGpuTrainer(job, Rung::best, device, {}, nullptr, 0, &tuning); });
    double share = 0;
    while (tuning.progress().kernels < begun &&
           making.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
        const TuningProgress now = tuning.progress();
        CHECK(now.share() >= share);
        share = now.share();
        CHECK((now.expected == 0 || now.expected >= now.seconds));
        CHECK((now.kernels == 0 || now.going()));
    }
    tuning.skip();
    const auto trainer = making.get();

    const TuningProgress end = tuning.progress();
    CHECK(end.skipped);
    CHECK_FALSE(end.going());
    CHECK(end.share() == 1);
    CHECK(end.comparisons > 5);
    CHECK(end.compared < end.comparisons);
    CHECK(end.kernels < begun + 3); // the one under way, and its successor at most
    CHECK(end.keptIn == folder.path() / "kernels.json");
    const std::string said = "comparison skipped after " + std::to_string(end.compared) + " of ";
    CHECK(trainer->machine().kernels.find(said) != std::string::npos);
    const auto losses = lossesOf(*trainer);
    REQUIRE(losses.size() == plain.size());
    for (std::size_t step = 0; step < losses.size(); ++step)
        CHECK(losses[step].loss == doctest::Approx(plain[step].loss).epsilon(1e-4));

    std::size_t choices = 0; // of a whole comparison; the others are of one kernel each
    const nlohmann::json kept = entries();
    for (const auto& [operation, entry] : kept.items()) {
        CHECK(entry["complete"] == true);
        choices += operation.find(", ") == std::string::npos ? 1 : 0;
    }
    CHECK(choices <= end.compared);
    CHECK((begun > 0 || kept.is_null()));

    Tuning next(patience); // makes up for it, but for what is known
    makeGpuTrainer(job, Rung::best, device, {}, nullptr, 0, &next);
    CHECK(next.progress().compared == next.progress().comparisons);
    CHECK(next.progress().kernels > 0);
    for (const auto& [operation, entry] : kept.items()) CHECK(entries()[operation] == entry);
    Tuning known(patience);
    CHECK(
        makeGpuTrainer(job, Rung::best, device, {}, nullptr, 0, &known)->machine().kernels.find("skipped") ==
        std::string::npos);
    CHECK(known.progress().comparisons == 0);
}

TEST_CASE("a choice that is cancelled ends soon, and its times are kept") {
    const test::CacheFolder folder;
    gpu::Device device(testDeviceOptions());
    const TrainingSet wide; // its comparison takes many seconds in software
    const gpu::DeviceCounters& counters = device.counters();
    const auto cancelledAfter = [&](std::uint64_t kernels) { // seconds until it ended
        std::atomic<bool> cancelled{false};
        Tuning tuning;
        auto making = std::async(std::launch::async, [&] {
            CHECK_THROWS_AS(makeGpuTrainer(wide.job, Rung::best, device, {}, &cancelled, 0, &tuning),
                            gpu::Cancelled);
            return std::chrono::steady_clock::now();
        });
        while (tuning.progress().kernels < kernels &&
               making.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
        }
        const auto set = std::chrono::steady_clock::now();
        cancelled = true;
        return std::chrono::duration<double>(making.get() - set).count();
    };
    const auto known = [&] {
        std::ifstream file(folder.path() / "kernels.json");
        return nlohmann::json::parse(file).front();
    };
    const std::uint64_t allocated = counters.bytesAllocated;
    CHECK(cancelledAfter(3) < 1); // a tenth on a quiet machine
    CHECK(counters.bytesAllocated == allocated);
    const nlohmann::json before = known();
    CHECK(before.size() >= 1);
    CHECK(cancelledAfter(1) < 1);
    for (const auto& [operation, entry] : before.items()) CHECK(known()[operation] == entry);
}
