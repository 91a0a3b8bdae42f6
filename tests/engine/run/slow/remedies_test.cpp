// What remedies for memory change: bytes and seconds, and no result.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "engine/cpu/cpu_info.h"
#include "engine/gpu/error.h"
#include "engine/run/settings_json.h"
#include "engine/step/gpu_memory.h"
#include "engine/step/step_trace.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// Deep enough to have several kept layers, and widths that are no multiples of anything.
TrainJob deepJob(const Dataset& data, Activation activation, Optimizer optimizer) {
    TrainJob job = jobFor(data, {13, 7, 18, 5, 9, 11, 6});
    job.settings.batch = 48; // 100 examples: the last batch of an epoch has 4
    job.shape.activation = activation;
    job.settings.optimizer.kind = optimizer;
    return job;
}

TrainJob with(TrainJob job, const MemorySettings& memory) {
    job.settings.memory = memory;
    return job;
}

std::unique_ptr<Trainer> trainerOf(const RungRow& row, const TrainJob& job) {
    if (!row.gpu()) return makeCpuTrainer(job, row.rung, 3);
    return makeGpuTrainer(job, row.rung, testDevice());
}

/// Calls `check` for every rung that trains on this machine step by step.
/// all   else only those that neither take long nor choose their kernels by measuring
void forEachRung(bool all, const std::function<void(const RungRow&)>& check) {
    for (const RungRow& row : rungTable) {
        if (!row.trains || row.rung == Rung::wholeStep) continue;
        if (!all && (row.slow || (row.gpu() && row.rung == Rung::best))) continue;
        if (row.rung == Rung::matrix && testDevice().limits().matrixTiles.tile().m == 0) continue;
        if (row.rung == Rung::bf16 && !hasBf16Instructions()) continue;
        CAPTURE(row.lane);
        check(row);
    }
}

std::uint64_t bytesOf(const Trainer& trainer, MemoryCategory category) {
    std::uint64_t bytes = 0;
    for (const MemoryUse& use : trainer.memory())
        if (use.category == category) bytes += use.bytes;
    return bytes;
}

void checkPredicted(const Trainer& trainer) {
    const auto sorted = [](std::vector<MemoryUse> uses) {
        std::ranges::sort(
            uses, {}, [](const MemoryUse& use) { return std::tuple(use.category, use.place, use.bytes); });
        std::erase_if(uses, [](const MemoryUse& use) { return use.bytes == 0; });
        std::vector<std::tuple<MemoryCategory, MemoryPlace, std::uint64_t>> plain;
        for (const MemoryUse& use : uses) plain.emplace_back(use.category, use.place, use.bytes);
        return plain;
    };
    CHECK(sorted(trainer.predictedMemory()) == sorted(trainer.memory()));
}

} // namespace

TEST_CASE("computing layers again, and what the host keeps meanwhile: the same bits, on every rung") {
    const Dataset data = classData();
    for (const auto& [activation, optimizer] :
         {std::pair{Activation::tanh, Optimizer::adam}, {Activation::gelu, Optimizer::sgd}}) {
        const TrainJob job = deepJob(data, activation, optimizer);
        forEachRung(optimizer == Optimizer::adam, [&](const RungRow& row) {
            const auto plain = trainerOf(row, job);
            const std::vector<LossPoint> losses = train(*plain, 7);
            for (const MemorySettings& memory :
                 {MemorySettings{.recompute = 2}, MemorySettings{.recompute = 3},
                  MemorySettings{.recompute = 7}, MemorySettings{.offload = Offload::optimizer},
                  MemorySettings{.offload = Offload::activations},
                  MemorySettings{.recompute = 3, .offload = Offload::both}}) {
                CAPTURE(memory.recompute);
                CAPTURE(name(memory.offload));
                if (row.slow && memory.recompute != 3) continue;
                const auto saving = trainerOf(row, with(job, memory));
                // cpu:best has kernels for small networks, which round differently; whole steps, too.
                const bool others = row.rung == Rung::best && memory.changeSteps();
                const std::vector<LossPoint> again = train(*saving, 7);
                CHECK(lossDistance(again, losses) <= (others ? 1e-5 : 0));
                if (!others) CHECK(sameBits(saving->state(), plain->state()));
                CHECK(saving->evaluate(Split::test).loss ==
                      doctest::Approx(plain->evaluate(Split::test).loss).epsilon(1e-5));
                checkPredicted(*saving);
            }
        });
    }
}

TEST_CASE("a batch in parts: the same up to rounding, on every rung that stores gradients") {
    const Dataset data = classData();
    for (const auto& [activation, optimizer] :
         {std::pair{Activation::silu, Optimizer::momentum}, {Activation::tanh, Optimizer::sgd}}) {
        const TrainJob job = deepJob(data, activation, optimizer);
        forEachRung(optimizer == Optimizer::momentum, [&](const RungRow& row) {
            if (row.foldsUpdate) return;
            const std::vector<LossPoint> losses = train(*trainerOf(row, job), 7);
            for (const std::size_t parts : {3, 48}) { // the last batch has fewer examples than that
                CAPTURE(parts);
                if (row.slow && parts != 3) continue;
                const auto saving = trainerOf(row, with(job, {.accumulate = parts}));
                CHECK(lossDistance(train(*saving, 7), losses) < (row.half ? 2e-3 : 1e-5));
                checkPredicted(*saving);
                if (parts != 3) continue;
                for (const MemorySettings& more :
                     {MemorySettings{.recompute = 2, .accumulate = parts},
                      MemorySettings{.accumulate = parts, .offload = Offload::activations}}) {
                    const auto both = trainerOf(row, with(job, more));
                    train(*both, 7);
                    CHECK(sameBits(both->state(), saving->state()));
                    checkPredicted(*both);
                }
            }
        });
    }
}

// Losses are added up over workgroups of 128 rows, and over parts.
TEST_CASE("parts of many rows: the loss is the whole batch's") {
    const Dataset data = classData(7, 3, 1000);
    TrainJob job = jobFor(data, {16, 8});
    job.settings.batch = 900; // then 100, with fewer workgroups
    for (const Rung rung : {Rung::naive, Rung::tiled, Rung::blocked}) {
        const std::vector<LossPoint> whole = train(*makeGpuTrainer(job, rung, testDevice()), 6);
        for (const std::size_t parts : {2, 5})
            CHECK(
                lossDistance(train(*makeGpuTrainer(with(job, {.accumulate = parts}), rung, testDevice()), 6),
                             whole) < 1e-5);
    }
}

TEST_CASE("a run that saves memory goes on to the same bits") {
    const Dataset data = classData();
    const TrainJob job = with(deepJob(data, Activation::gelu, Optimizer::adam),
                              {.recompute = 2, .accumulate = 3, .offload = Offload::both});
    for (const std::string_view lane : {"cpu:simd", "cpu:threads", "cpu:best", "gpu:tiled", "gpu:best"}) {
        CAPTURE(lane);
        const RungRow& row = laneSpecFromText(lane).row();
        const auto whole = trainerOf(row, job);
        train(*whole, 9);
        const auto begun = trainerOf(row, job);
        train(*begun, 4);
        begun->evaluate(Split::train);
        const auto resumed = trainerOf(row, job);
        resumed->restore(begun->state());
        train(*resumed, 5);
        CHECK(sameBits(resumed->state(), whole->state()));
    }
    const TrainSettings read = trainSettingsFromJson(toJson(job.settings));
    CHECK(read.memory == job.settings.memory);
    nlohmann::ordered_json older = toJson(job.settings);
    for (const char* name : {"recompute", "accumulate", "offload"}) older.erase(name);
    CHECK(trainSettingsFromJson(older).memory == MemorySettings{});
}

TEST_CASE("remedies take less memory, on both machines") {
    const Dataset data = classData(64, 3, 600);
    TrainJob job = jobFor(data, std::vector<std::size_t>(31, 64));
    job.settings.batch = 512;
    job.settings.optimizer.kind = Optimizer::adam;
    for (const std::string_view lane : {"cpu:best", "gpu:texel"}) {
        CAPTURE(lane);
        const auto activations = [&](const MemorySettings& memory) {
            return bytesOf(*trainerOf(laneSpecFromText(lane).row(), with(job, memory)),
                           MemoryCategory::activations);
        };
        const std::uint64_t plain = activations({});
        // 32 layers with 6 kept ones and 6 of a segment, instead of 33; and dZ, of which two are alive.
        CHECK(4 * activations({.recompute = 6}) < plain);
        CHECK(activations({.accumulate = 8}) < plain / 7);
        CHECK(activations({.recompute = 6, .accumulate = 8}) < plain / 28);
    }
}

TEST_CASE("activations in the host's memory: bytes of the device, and copies that a trace shows") {
    const Dataset data = classData(64, 3, 600);
    TrainJob job = jobFor(data, std::vector<std::size_t>(31, 64));
    job.settings.batch = 512;
    const auto bytesIn = [](const Trainer& trainer, MemoryPlace place) {
        std::uint64_t bytes = 0;
        for (const MemoryUse& use : trainer.memory())
            if (use.category == MemoryCategory::activations && use.place == place) bytes += use.bytes;
        return bytes;
    };
    const RungRow& texel = rowOf(Rung::texel);
    const auto plain = trainerOf(texel, job);
    const auto away = trainerOf(texel, with(job, {.offload = Offload::activations}));
    const std::uint64_t level = 512 * 64 * sizeof(float);
    CHECK(bytesIn(*plain, MemoryPlace::readback) == 0);
    CHECK(bytesIn(*plain, MemoryPlace::device) >= 63 * level);   // A and dZ of 32 layers
    CHECK(bytesIn(*away, MemoryPlace::readback) == 31 * level);  // all but that of the last hidden layer
    CHECK(bytesIn(*away, MemoryPlace::device) < 5 * level);      // two of each at a time, and the labels
    CHECK(lossDistance(train(*away, 4), train(*plain, 4)) == 0); // the next batch is a whole one

    CHECK_THROWS_AS(away->traceStep({.tensors = true}), std::invalid_argument);
    const StepTrace trace = away->traceStep({.tensors = false});
    for (const Operation copy : {Operation::storeActivations, Operation::fetchActivations})
        CHECK(std::ranges::count(trace.operations, copy, &TracedOperation::operation) == 31);
    const auto fetched =
        std::ranges::find(trace.operations, Operation::fetchActivations, &TracedOperation::operation);
    REQUIRE(fetched != trace.operations.end());
    CHECK(fetched->name() == "fetch_activations");
    CHECK(fetched->shapes == "A on the host[30] 512x64 -> A[30] 512x64");
    CHECK(fetched->bytes == 2 * level);
    if (trace.timed) CHECK(fetched->endMs > fetched->beginMs);
    CHECK((fetched + 1)->operation == Operation::denseBackwardWeights);
    CHECK_FALSE((fetched + 1)->barrierBefore); // which runs beside the copy

    TrainJob gelu = job; // whose derivative needs Z, too
    gelu.shape.activation = Activation::gelu;
    const auto sums = trainerOf(texel, with(gelu, {.offload = Offload::activations}));
    CHECK(bytesIn(*sums, MemoryPlace::readback) == (31 + 30) * level);
    CHECK(bytesIn(*sums, MemoryPlace::device) < 6 * level); // of Z, one at a time
}

TEST_CASE("what cannot save anything says so") {
    const Dataset data = classData();
    const TrainJob job = deepJob(data, Activation::tanh, Optimizer::adam);
    const auto refusal = [&](Rung rung, const MemorySettings& memory) -> std::string {
        try {
            makeGpuTrainer(with(job, memory), rung, testDevice());
            return {};
        } catch (const std::exception& error) {
            return error.what();
        }
    };
    CHECK(refusal(Rung::fused, {.accumulate = 2}).find("no gradients") != std::string::npos);
    CHECK(refusal(Rung::fused, {.recompute = 2}).empty());
    CHECK(refusal(Rung::wholeStep, {.recompute = 2}).find("nothing that could be") != std::string::npos);
    CHECK(refusal(Rung::wholeStep, {.offload = Offload::activations}).find("or copied out") !=
          std::string::npos);
    CHECK(refusal(Rung::fused, {.offload = Offload::both}).empty());
    CHECK(refusal(Rung::tiled, {.recompute = 0}).find("'recompute' is 0") != std::string::npos);
    CHECK(refusal(Rung::tiled, {.recompute = 8}).find("with 8 layers, it can be at most 7") !=
          std::string::npos);
    CHECK(refusal(Rung::tiled, {.accumulate = 0}).find("'accumulate' is 0") != std::string::npos);
    CHECK(refusal(Rung::tiled, {.accumulate = 49}).find("a batch of 48") != std::string::npos);

    const auto trainer = trainerOf(rowOf(Rung::tiled), with(job, {.recompute = 2}));
    CHECK_THROWS_AS(trainer->traceStep({.tensors = true}), std::invalid_argument);
    const StepTrace times = trainer->traceStep({.tensors = false});
    CHECK(std::ranges::count(times.operations, Operation::dense, &TracedOperation::operation) ==
          8 + 3); // 13-7-18-5-9-11-6: A[1], A[3] and A[5] again; A[7] is above the last kept one
}

TEST_CASE("a network that does not fit is refused with what would fit, and trains with it") {
    const Dataset data = classData(64, 3, 600);
    TrainJob job = jobFor(data, std::vector<std::size_t>(31, 64));
    job.settings.batch = 512;
    job.settings.optimizer.kind = Optimizer::adam;
    std::atomic<std::uint64_t>& taken = testDevice().counters().heapBytes[0];
    const std::uint64_t before = taken;
    const auto limit = [&](std::uint64_t left) { taken = testDevice().memory().memoryHeaps[0].size - left; };
    const auto refusal = [&](const TrainJob& of) -> std::string {
        try {
            requireMemory(testDevice(), of, Rung::tiled);
            return {};
        } catch (const gpu::OutOfMemoryError& error) {
            return error.what();
        }
    };
    const auto needed = [&](const MemorySettings& memory) {
        return GpuMemory(testDevice(), with(job, memory), Rung::tiled, {}).heapBytes(testDevice()).front();
    };
    limit(needed({.recompute = 4})); // one that needs less than that, and no more
    const std::string message = refusal(job);
    CAPTURE(message);
    CHECK(message.find("; or the same batch with --recompute ") != std::string::npos);
    CHECK(message.find(" or --accumulate ") != std::string::npos);
    CHECK(refusal(with(job, {.recompute = 4})).empty());
    taken += 1;
    CHECK(refusal(with(job, {.recompute = 4})).find("A batch of ") != std::string::npos);
    taken = before;
}
