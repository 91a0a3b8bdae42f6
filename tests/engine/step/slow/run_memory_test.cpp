// What a run takes is known before it begins, to the byte: on a Vulkan device by the driver's own counting,
// on the processor by that of operator new. And tensors do not disturb each other, whatever lies where they
// lie.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>

#include "engine/step/cpu_arenas.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/gpu_memory.h"
#include "engine/step/half_arenas.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::atomic<std::uint64_t> alignedBytes{0}; // of AlignedArray, alive

} // namespace

// These count what is aligned to 64 bytes, as arenas are. In front of each array stands where its memory
// begins, and its size.
struct Front {
    void* begin;
    std::size_t size;
};

void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto grain = std::max(static_cast<std::size_t>(alignment), sizeof(Front));
    std::size_t room = size + 2 * grain;
    void* const begin = std::malloc(room);
    if (begin == nullptr) throw std::bad_alloc();
    void* memory = static_cast<char*>(begin) + sizeof(Front);
    room -= sizeof(Front);
    std::align(grain, size, memory, room);
    const Front front{begin, grain == 64 ? size : 0};
    alignedBytes += front.size;
    std::memcpy(static_cast<char*>(memory) - sizeof front, &front, sizeof front);
    return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept {
    if (memory == nullptr) return;
    Front front;
    std::memcpy(&front, static_cast<char*>(memory) - sizeof front, sizeof front);
    alignedBytes -= front.size;
    std::free(front.begin);
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
    operator delete(memory, alignment);
}

namespace {

struct ShapeCase {
    std::vector<std::size_t> hidden;
    std::size_t batch;
    Activation activation;
    Optimizer optimizer;
};

const std::vector<ShapeCase> twentyShapes = {
    {{}, 32, Activation::relu, Optimizer::sgd},
    {{}, 1, Activation::tanh, Optimizer::adam},
    {{1}, 7, Activation::gelu, Optimizer::momentum},
    {{3}, 100, Activation::silu, Optimizer::rmsprop},
    {{8}, 32, Activation::relu, Optimizer::adam},
    {{16}, 33, Activation::gelu, Optimizer::adamw},
    {{17}, 64, Activation::sigmoid, Optimizer::sgd},
    {{64}, 99, Activation::leakyRelu, Optimizer::momentum},
    {{65}, 2, Activation::elu, Optimizer::sgd},
    {{100}, 50, Activation::silu, Optimizer::adam},
    {{128}, 100, Activation::relu, Optimizer::sgd},
    {{8, 8}, 10, Activation::tanh, Optimizer::sgd},
    {{5, 9}, 32, Activation::gelu, Optimizer::adam},
    {{33, 13}, 40, Activation::relu, Optimizer::momentum},
    {{64, 64}, 64, Activation::silu, Optimizer::rmsprop},
    {{4, 3, 2}, 32, Activation::sigmoid, Optimizer::adam},
    {{20, 20, 20}, 25, Activation::gelu, Optimizer::sgd},
    {{7, 31, 15}, 100, Activation::relu, Optimizer::adamw},
    {{2, 2, 2, 2}, 16, Activation::tanh, Optimizer::momentum},
    {{12, 10, 8, 6, 4}, 48, Activation::silu, Optimizer::adam},
};

/// None, each by itself, and all.
std::vector<MemorySettings> remediesFor(std::size_t batch) {
    const std::size_t parts = std::min<std::size_t>(batch, 3);
    return {{},
            {.recompute = 2},
            {.accumulate = parts},
            {.offload = Offload::optimizer},
            {.offload = Offload::activations},
            {.recompute = 3, .accumulate = parts, .offload = Offload::both}};
}

TrainJob jobOf(const Dataset& data, const ShapeCase& shape) {
    TrainJob job = jobFor(data, shape.hidden);
    job.settings.batch = shape.batch;
    job.shape.activation = shape.activation;
    job.settings.optimizer.kind = shape.optimizer;
    return job;
}

std::vector<std::pair<ShapeCase, MemorySettings>> withRemedies() {
    std::vector<std::pair<ShapeCase, MemorySettings>> all;
    for (const ShapeCase& shape : twentyShapes)
        for (const MemorySettings& memory : remediesFor(shape.batch)) all.emplace_back(shape, memory);
    return all;
}

std::uint64_t total(const std::vector<MemoryUse>& uses) {
    return std::accumulate(uses.begin(), uses.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const MemoryUse& use) { return sum + use.bytes; });
}

std::uint64_t bytesOf(const std::vector<MemoryUse>& uses, MemoryCategory category) {
    std::uint64_t bytes = 0;
    for (const MemoryUse& use : uses)
        if (use.category == category) bytes += use.bytes;
    return bytes;
}

void checkSame(const std::vector<MemoryUse>& predicted, const std::vector<MemoryUse>& allocated) {
    for (std::size_t category = 0; category < std::size(memoryCategories); ++category) {
        CAPTURE(memoryCategories[category]);
        CHECK(bytesOf(predicted, MemoryCategory(category)) == bytesOf(allocated, MemoryCategory(category)));
    }
}

std::vector<std::uint64_t> heapsNow() {
    std::vector<std::uint64_t> heaps;
    for (std::uint32_t heap = 0; heap < testDevice().memory().memoryHeapCount; ++heap)
        heaps.push_back(testDevice().counters().heapBytes[heap]);
    return heaps;
}

std::vector<std::uint64_t> since(const std::vector<std::uint64_t>& before) {
    std::vector<std::uint64_t> heaps = heapsNow();
    for (std::size_t heap = 0; heap < before.size(); ++heap) heaps[heap] -= before[heap];
    return heaps;
}

StepKernels kernelsLike(const RungRow& row) {
    return {.layers = {}, .foldsUpdate = row.foldsUpdate, .half = row.half};
}

/// Null where this device or rung cannot train it: a network too large for whole steps, no matrix units.
std::unique_ptr<Trainer> trainerHere(const RungRow& row, const TrainJob& job) {
    try {
        if (!row.gpu()) return makeCpuTrainer(job, row.rung, 2);
        return makeGpuTrainer(job, row.rung, testDevice());
    } catch (const gpu::GpuError&) {
        throw;
    } catch (const std::runtime_error&) {
        return nullptr;
    }
}

std::vector<const RungRow*> gpuRungs() {
    std::vector<const RungRow*> rows;
    for (const RungRow& row : rungTable)
        if (row.gpu() && row.trains) rows.push_back(&row);
    return rows;
}

void checkArenas(const RungRow& row, const TrainJob& job, const StepKernels& how) {
    const GpuMemory memory(testDevice(), job, row.rung, how);
    const std::vector<std::uint64_t> before = heapsNow();
    GpuArenas arenas(testDevice(), job, memory);
    std::optional<HalfArenas> half;
    if (how.half) half.emplace(testDevice(), arenas, initialWeights(job.shape, 1));
    const std::vector<std::uint64_t> allocated = since(before);
    CHECK(allocated == memory.heapBytes(testDevice()));
    CHECK(total(memory.uses(testDevice())) ==
          std::accumulate(allocated.begin(), allocated.end(), std::uint64_t{0}));
    std::uint64_t states = 0;
    for (const gpu::Buffer& state : arenas.optimizerState) states += state.allocated();
    const std::vector<MemoryUse> uses = memory.uses(testDevice());
    CHECK(bytesOf(uses, MemoryCategory::optimizer) == states);
    CHECK(bytesOf(uses, MemoryCategory::gradients) == arenas.gradients.allocated());
}

/// All that a trainer allocates, for good.
void checkTrainer(const RungRow& row, const TrainJob& job) {
    const std::vector<std::uint64_t> before = heapsNow();
    const auto trainer = trainerHere(row, job);
    if (!trainer) return;
    const std::vector<std::uint64_t> allocated = since(before);
    const std::vector<MemoryUse> uses = trainer->memory();
    CHECK(total(uses) == std::accumulate(allocated.begin(), allocated.end(), std::uint64_t{0}));
    checkSame(trainer->predictedMemory(), uses);
    StepKernels how = kernelsLike(row);
    const std::vector<MemoryUse> most = GpuMemory(testDevice(), job, row.rung, how).uses(testDevice());
    // `best` decides by measuring whether gradients are stored.
    how.foldsUpdate = how.foldsUpdate ||
                      bytesOf(uses, MemoryCategory::gradients) < bytesOf(most, MemoryCategory::gradients);
    CHECK(GpuMemory(testDevice(), job, row.rung, how).heapBytes(testDevice()) == allocated);
    if (row.rung != Rung::best) CHECK(how.foldsUpdate == row.foldsUpdate);
}

} // namespace

TEST_CASE("a device allocates what was predicted, on every rung") {
    const Dataset data = classData();
    for (const ShapeCase& shape : twentyShapes) {
        TrainJob job = jobOf(data, shape);
        for (const RungRow* row : gpuRungs()) {
            CAPTURE(row->lane);
            CAPTURE(job.shape.widths.size());
            CAPTURE(shape.batch);
            for (const MemorySettings& memory : remediesFor(shape.batch)) {
                job.settings.memory = memory;
                const bool folds = memory.accumulate == 1; // parts add up gradients that are stored
                if (folds || !row->foldsUpdate) checkArenas(*row, job, kernelsLike(*row));
                if (folds && row->rung == Rung::best)
                    checkArenas(*row, job, {.layers = {}, .foldsUpdate = true});
            }
        }
    }
}

TEST_CASE("rounded operands: copies of the weights, and a word for each tensor with a scale") {
    const Dataset data = classData();
    for (const OperandFormat format : allOperandFormats) {
        CAPTURE(name(format));
        TrainJob job = jobFor(data, {24, 17});
        job.shape.activation = Activation::gelu;
        job.settings.precision.format = format;
        const std::uint64_t weights = (24 * 8 + 17 * 24 + 3 * 20) * sizeof(float); // rows in fours
        for (const std::size_t every : {1, 2}) {
            job.settings.memory.recompute = every;
            for (const RungRow* row : gpuRungs()) {
                CAPTURE(row->lane);
                if (row->half || row->rung == Rung::wholeStep) continue;
                checkArenas(*row, job, kernelsLike(*row));
            }
            CpuArenas arenas(job, scalarKernels(), 2);
            checkSame(arenas.uses(), arenas.memory());
            const std::uint64_t copies = bytesOf(arenas.memory(), MemoryCategory::copies);
            CHECK(copies >= (format == OperandFormat::fp32 ? 0 : weights));
            CHECK(copies <= (format == OperandFormat::fp32 ? 0 : weights + 3 * 64));
        }
        checkTrainer(rowOf(Rung::tiled), job);
        checkTrainer(rowOf(Rung::best), job);
        if (!canStoreParameters(format)) continue;
        job.settings.precision.masterWeights = false; // then there is nothing to copy
        CpuArenas arenas(job, scalarKernels(), 2);
        checkSame(arenas.uses(), arenas.memory());
        CHECK(bytesOf(arenas.memory(), MemoryCategory::copies) == 0);
        checkArenas(rowOf(Rung::tiled), job, kernelsLike(rowOf(Rung::tiled)));
        checkTrainer(rowOf(Rung::tiled), job);
    }
}

TEST_CASE("a trainer allocates nothing besides") {
    const Dataset data = classData();
    for (const std::size_t batch : {32, 100}) { // the larger one does not fit into whole steps at once
        TrainJob job = jobFor(data, {60, 24});
        job.settings.batch = batch;
        job.settings.optimizer.kind = Optimizer::adam;
        for (const RungRow* row : gpuRungs()) {
            CAPTURE(row->lane);
            checkTrainer(*row, job);
        }
    }
}

TEST_CASE("whatever the data set is made of") {
    const std::vector<Dataset> sets = {pixelData(30, 10, 200), valueData()};
    for (const Dataset& data : sets) {
        TrainJob job = jobFor(data, {24});
        job.shape.loss = data.classes > 0 ? Loss::crossEntropy : Loss::meanSquared;
        job.shape.widths.back() = outputsFor(data, job.shape.loss);
        for (const Rung rung : {Rung::blocked, Rung::fused, Rung::half})
            checkArenas(rowOf(rung), job, kernelsLike(rowOf(rung)));
    }
    Dataset without = classData(); // no test examples
    without.test = {};
    checkTrainer(rowOf(Rung::blocked), jobFor(without, {8}));
}

TEST_CASE("a processor allocates what was predicted, on every rung") {
    const Dataset data = classData();
    for (const RungRow& row : rungTable) {
        if (row.gpu() || !row.trains) continue;
        CAPTURE(row.lane);
        for (const std::size_t threads : {1, 3}) {
            const CpuKernels& kernels = trainingKernels(row, threads, CoreCount{});
            for (const auto& [shape, memory] : withRemedies()) {
                TrainJob job = jobOf(data, shape);
                job.settings.memory = memory;
                job.settings.memory.offload = Offload::none; // as makeCpuTrainer() does
                for (const bool byNeuron : {false, true}) {
                    if (byNeuron && job.settings.memory.changeSteps()) continue; // not for those kernels
                    const std::uint64_t before = alignedBytes;
                    CpuArenas arenas(job, kernels, threads, byNeuron);
                    CHECK(alignedBytes - before == total(arenas.memory()));
                    checkSame(arenas.uses(), arenas.memory());
                    OptimizerSettings other = job.settings.optimizer;
                    other.l1 = 1e-5; // gradients are stored now
                    arenas.setOptimizer(other);
                    CHECK(alignedBytes - before == total(arenas.memory()));
                    checkSame(arenas.uses(), arenas.memory());
                    CHECK(bytesOf(arenas.memory(), MemoryCategory::gradients) > 0);
                }
            }
        }
    }
}

TEST_CASE("half precision needs half of the activations, and the fused rungs no gradients") {
    const Dataset data = pixelData(64, 10, 6000);
    TrainJob job = jobFor(data, {128, 96});
    job.settings.batch = 4096;
    job.shape.activation = Activation::gelu; // keeps Z
    const auto usesOf = [&](Rung rung) { return makeGpuTrainer(job, rung, testDevice())->memory(); };
    const std::vector<MemoryUse> single = usesOf(Rung::blocked);
    const std::vector<MemoryUse> half = usesOf(Rung::half);
    MESSAGE("activations of ", 4096, " rows: fp32 ", bytesOf(single, MemoryCategory::activations), ", fp16 ",
            bytesOf(half, MemoryCategory::activations), " bytes; in all ", total(single), " and ",
            total(half));
    // Evaluations compute in fp32, but fewer rows at a time, and two levels.
    CHECK(10 * bytesOf(half, MemoryCategory::activations) < 7 * bytesOf(single, MemoryCategory::activations));
    CHECK(total(half) < total(single));
    CHECK(bytesOf(usesOf(Rung::fused), MemoryCategory::gradients) < 4096); // the smallest buffer
}

// After weights that are not numbers, an evaluation leaves no number in the arenas that it shares with steps.
TEST_CASE("a step reads nothing that it has not written") {
    const Dataset data = classData(13, 3, 150);
    for (const bool keepsSums : {false, true}) {
        TrainJob job =
            jobFor(data, keepsSums ? std::vector<std::size_t>{5, 18, 7} : std::vector<std::size_t>{9, 6});
        job.shape.activation = keepsSums ? Activation::gelu : Activation::relu;
        const auto check = [&](Trainer& trainer) {
            const TrainerState good = trainer.state();
            const std::vector<LossPoint> expected = train(trainer, 9);
            const std::vector<float> trained = trainer.state().parameters;
            TrainerState bad = good;
            for (float& weight : bad.parameters) weight = std::numeric_limits<float>::quiet_NaN();
            trainer.restore(bad);
            trainer.evaluate(Split::train);
            trainer.restore(good);
            const std::vector<LossPoint> again = train(trainer, 9);
            REQUIRE(again.size() == expected.size());
            for (std::size_t step = 0; step < again.size(); ++step)
                CHECK(again[step].loss == expected[step].loss);
            CHECK(trainer.state().parameters == trained);
        };
        for (const RungRow& row : rungTable) {
            if (!row.trains || row.slow) continue;
            CAPTURE(row.lane);
            if (const auto trainer = trainerHere(row, job)) check(*trainer);
        }
    }
}

TEST_CASE("what does not fit is refused by the exact number of bytes") {
    const Dataset data = classData(7, 3, 100);
    TrainJob job = jobFor(data, {2048});
    job.settings.batch = 100;
    const std::vector<std::uint64_t> heaps =
        GpuMemory(testDevice(), job, Rung::blocked, {}).heapBytes(testDevice());
    const std::uint64_t needed = heaps.front();
    // A device that has just so much left, then a byte less.
    std::atomic<std::uint64_t>& taken = testDevice().counters().heapBytes[0];
    const std::uint64_t before = taken;
    taken += testDevice().memory().memoryHeaps[0].size - before - needed;
    CHECK_NOTHROW(requireMemory(testDevice(), job, Rung::blocked));
    taken += 1;
    CHECK_THROWS_AS(requireMemory(testDevice(), job, Rung::blocked), gpu::OutOfMemoryError);
    taken = before;
}
