#include "engine/step/gpu_memory.h"

#include <algorithm>
#include <limits>

#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/plan/rounding.h"
#include "engine/plan/work.h"
#include "engine/step/half_arenas.h"
#include "engine/step/kernels.h"
#include "engine/step/whole_step.h"

namespace lockstep {

namespace {

static_assert(std::size(runBuffers) == static_cast<std::size_t>(RunBuffer::exchanged) + 1);
static_assert(static_cast<std::size_t>(RunBuffer::weightCopies) ==
              static_cast<std::size_t>(TensorArena::weightCopies)); // arenas first, in their order

constexpr std::size_t mostEvaluationRows = 2048; // enough to keep a GPU busy

MemoryPlace placeOf(gpu::Memory memory) {
    switch (memory) {
    case gpu::Memory::device: return MemoryPlace::device;
    case gpu::Memory::readback: return MemoryPlace::readback;
    case gpu::Memory::upload: return MemoryPlace::upload;
    }
    throw std::invalid_argument("no such memory");
}

std::size_t evaluationRowsOf(const gpu::Device& device, const TrainJob& job) {
    const std::size_t examples = std::max(job.data->train.count, job.data->test.count);
    return std::min({mostEvaluationRows, examples, bindableRows(device, job.shape)});
}

// Hits, and the confusion matrix.
std::uint64_t scoreCountBytes(std::size_t classes) {
    return (1 + std::uint64_t{classes} * classes) * sizeof(std::uint32_t);
}

// Sums of losses that an evaluation leaves behind: one per workgroup, of at most rowsPerGroup rows.
std::size_t scoreGroups(const TrainJob& job, std::size_t evaluationRows) {
    const std::size_t rows = std::min<std::size_t>(Kernels::rowsPerGroup, evaluationRows);
    return std::max(job.data->train.count, job.data->test.count) / rows + 1;
}

std::uint64_t inputBytes(const Dataset& data, const Examples& examples) {
    return std::uint64_t{4} * wordsPerExample(data) * examples.count;
}

std::uint64_t answerBytes(const Dataset& data, const Examples& examples) {
    return std::uint64_t{4} * examples.count * (data.classes > 0 ? 1 : data.targetWidth);
}

// Whether the run has whole steps, or may come to have them.
bool mayTakeWholeSteps(Rung rung, const WholeStepLayout& layout) {
    return rung == Rung::wholeStep || (rung == Rung::best && layout.refusal.empty());
}

// What is bound as a whole has to fit into one binding.
void requireBinding(const gpu::Device& device, std::uint64_t bytes, const char* what, const char* hint) {
    const std::uint64_t range = device.limits().storageRange;
    if (bytes > range)
        throw gpu::GpuError(std::string(what) + " take " + std::to_string(bytes) + " bytes, and '" +
                            device.report().name + "' binds at most " + std::to_string(range) + " at once. " +
                            hint);
}

void requireLimits(const gpu::Device& device, const TrainJob& job) {
    const Dataset& data = *job.data;
    requireBinding(device, std::max(inputBytes(data, data.train), inputBytes(data, data.test)),
                   "the examples", "Try fewer of them.");
    requireBinding(device, scoreCountBytes(data.classes), "the confusion matrix", "Try fewer classes.");
    requireShape(device, job.shape);
}

// A batch has no more: one workgroup has at least 8 rows of them, and a weight gradient goes over all rows in
// fours.
std::size_t mostRows(const gpu::Device& device) {
    const std::size_t dispatched = std::size_t{8} * device.limits().groupCount[1];
    return device.software() ? std::min(dispatched, softwareLoopRounds + 1) : dispatched;
}

// Bytes of the values of the widest layer for the rows at hand, which are bound at once.
std::uint64_t widestBytes(const TrainJob& job) {
    return std::uint64_t{job.pieceRows()} * roundUpToFour(job.shape.widest()) * sizeof(float);
}

// The heap that has the least room for what a run asks of it.
struct HeapNeed {
    std::uint64_t needed = 0;
    std::uint64_t left = 0;

    bool fits() const { return needed <= left; }
};

constexpr std::uint64_t noBudget = std::numeric_limits<std::uint64_t>::max();

// The same of the device's own memory, with the budget as what is left.
HeapNeed needWithin(const GpuMemory& memory, const gpu::Device& device, std::uint64_t budget) {
    HeapNeed need{0, budget};
    for (const MemoryUse& use : memory.uses(device))
        if (use.place == MemoryPlace::device) need.needed += use.bytes;
    return need;
}

HeapNeed tightestHeap(const gpu::Device& device, const TrainJob& job, Rung rung, std::uint64_t budget) {
    const GpuMemory memory = gpuMemoryOf(device, job, rung);
    const std::vector<std::uint64_t> heaps = memory.heapBytes(device);
    HeapNeed tightest = needWithin(memory, device, budget);
    if (tightest.fits()) tightest = {0, device.memoryLeft()};
    for (std::uint32_t heap = 0; heap < heaps.size(); ++heap) {
        const HeapNeed need{heaps[heap], device.heapLeft(heap)};
        const auto missing = [](const HeapNeed& of) { return of.needed - std::min(of.needed, of.left); };
        if (missing(need) > missing(tightest)) tightest = need;
    }
    return tightest;
}

bool fitsInto(const gpu::Device& device, const TrainJob& job, Rung rung, std::uint64_t budget) {
    return widestBytes(job) <= device.limits().storageRange && job.pieceRows() <= mostRows(device) &&
           tightestHeap(device, job, rung, budget).fits();
}

std::string optionsOf(const MemorySettings& memory) {
    std::string options;
    const auto add = [&](const char* option, const auto& value) {
        options += concat(options.empty() ? "" : " ", option, " ", value);
    };
    if (memory.recompute > 1) add("--recompute", memory.recompute);
    if (memory.accumulate > 1) add("--accumulate", memory.accumulate);
    if (memory.offload != Offload::none) add("--offload", name(memory.offload));
    return options;
}

// The mildest remedies with which the job fits, besides those that it has: each by itself or, where none of
// them is enough, all together. Empty: nothing helps.
template <class Fits>
std::string remediesThatFit(const TrainJob& job, const RungRow& rung, const Fits& fits) {
    if (rung.rung == Rung::wholeStep) return {}; // keeps nothing of a step
    const MemorySettings& own = job.settings.memory;
    std::string found;
    const auto tryOut = [&](const MemorySettings& memory) {
        TrainJob saving = job;
        saving.settings.memory = memory;
        if (!fits(saving)) return false;
        found += concat(found.empty() ? "" : " or ", optionsOf(memory));
        return true;
    };
    const std::size_t layers = job.shape.layers();
    MemorySettings all = own;
    // Beyond the square root of the depth, the layers between two kept ones soon take more than is saved.
    for (std::size_t every = 2; own.recompute == 1 && every < layers && every * every <= 4 * layers;
         ++every) {
        if (every * every <= layers) all.recompute = every;
        MemorySettings with = own;
        with.recompute = every;
        if (tryOut(with)) break;
    }
    const std::size_t mostParts = rung.foldsUpdate ? 1 : std::min<std::size_t>(job.settings.batch, 256);
    for (std::size_t parts = 2 * own.accumulate; parts <= mostParts; parts *= 2) {
        MemorySettings with = own;
        with.accumulate = parts;
        if (tryOut(with)) break;
    }
    const auto leave = [&](Offload what) {
        MemorySettings with = own;
        with.offload = own.offload | what;
        if (with != own) tryOut(with);
    };
    if (job.settings.optimizer.stateArrays() > 0) leave(Offload::optimizer);
    leave(Offload::activations);
    for (const Offload what : {Offload::optimizer, Offload::activations}) { // the latter if need be
        if (what == Offload::activations || job.settings.optimizer.stateArrays() > 0)
            all.offload = all.offload | what;
        for (std::size_t parts = own.accumulate;
             found.empty() && parts <= std::max(mostParts, own.accumulate); parts *= 2) {
            all.accumulate = parts;
            if (all != own) tryOut(all);
        }
    }
    return found;
}

} // namespace

std::vector<MemoryUse> usesOf(std::span<const AllocatedBuffer> buffers) {
    std::vector<MemoryUse> all;
    for (const AllocatedBuffer& each : buffers)
        addUse(all, {rowOf(each.which).category, placeOf(each.buffer.memory()), each.buffer.allocated()});
    return all;
}

std::uint32_t wordsPerExample(const Dataset& data) {
    const std::size_t words = data.bytes() ? (data.inputs + 3) / 4 : data.inputs;
    return static_cast<std::uint32_t>(roundUpToFour(words));
}

std::size_t bindableRows(const gpu::Device& device, const NetShape& shape) {
    const std::uint64_t range = std::min(device.limits().storageRange, device.limits().texelRange);
    return std::max<std::size_t>(1, range / (roundUpToFour(shape.widest()) * sizeof(float)));
}

// What one invocation does has to end, too.
void requireShape(const gpu::Device& device, const NetShape& shape) {
    requireBinding(device, ParamLayout(shape).size() * sizeof(float), "the parameters",
                   "Try narrower layers.");
    if (!device.software()) return;
    const auto atMost = [](std::size_t value, std::size_t most, const char* what) {
        if (value > most)
            throw gpu::GpuError("software Vulkan computes at most " + std::to_string(most) + " " + what +
                                " correctly; this network has " + std::to_string(value) + "; use a CPU lane");
    };
    atMost(shape.outputs(), 13000, "outputs"); // the loss goes five times over a row's
    atMost(shape.widest(), softwareLoopRounds, "neurons in a layer");
}

std::uint32_t lastLayerGroups(std::size_t rows) {
    return static_cast<std::uint32_t>((rows + 127) / 128 * 128 / shared::lastLayerRows);
}

GpuMemory::GpuMemory(const gpu::Device& device, const TrainJob& job, Rung rung, const StepKernels& how)
    : batch(job.order().batch()), pieceRows(job.pieceRows()), evaluationRows(evaluationRowsOf(device, job)),
      bytes_(std::size(runBuffers)), offload_(job.settings.memory.offload) {
    const MemorySettings& memory = job.settings.memory;
    const Dataset& data = *job.data;
    const OptimizerSettings& optimizer = job.settings.optimizer;
    const std::size_t targetWidth = data.classes > 0 ? 1 : data.targetWidth;
    plan = how.plan(job.shape, job.settings);
    step = TensorTable(job.shape, optimizer, plan,
                       {.rows = pieceRows,
                        .gradientRows = pieceRows,
                        .targetWidth = targetWidth,
                        .alignment = alignment,
                        .half = how.half,
                        .reuse = memory.shareMemory(),
                        .share = job.settings.share});
    const auto evaluationOf = [&](std::size_t rows) {
        return TensorTable(job.shape, optimizer, forwardPass(job.shape),
                           {.rows = rows, .targetWidth = targetWidth, .alignment = alignment, .reuse = true});
    };
    evaluation = evaluationOf(evaluationRows);
    // A run that is to save memory takes no more for evaluations than its steps take anyway.
    const auto takesMore = [&] {
        for (const TensorArena arena :
             {TensorArena::activations, TensorArena::targets, TensorArena::sums, TensorArena::dSums})
            if (evaluation.arenaBytes(arena) > step.arenaBytes(arena)) return true;
        return false;
    };
    while (memory.changeSteps() && evaluationRows > pieceRows && takesMore()) {
        evaluationRows = std::max(pieceRows, evaluationRows / 2);
        evaluation = evaluationOf(evaluationRows);
    }

    const auto set = [&](RunBuffer buffer, std::uint64_t bytes) {
        bytes_[static_cast<std::size_t>(buffer)] = bytes;
    };
    for (std::size_t at = 0; at < tensorArenas; ++at) {
        const auto arena = static_cast<TensorArena>(at);
        const std::uint64_t bytes = std::max(step.arenaBytes(arena), evaluation.arenaBytes(arena));
        const bool optional = arena == TensorArena::hostActivations || arena == TensorArena::state1 ||
                              arena == TensorArena::state2 || arena == TensorArena::weightCopies;
        if (bytes > 0 || !optional) set(static_cast<RunBuffer>(at), bytes);
    }
    set(RunBuffer::trainInputs, inputBytes(data, data.train));
    set(RunBuffer::trainAnswers, answerBytes(data, data.train));
    if (data.test.count > 0) {
        set(RunBuffer::testInputs, inputBytes(data, data.test));
        set(RunBuffer::testAnswers, answerBytes(data, data.test));
    }
    set(RunBuffer::losses, ringSlots * sizeof(float));
    set(RunBuffer::status, sizeof(std::uint32_t));
    set(RunBuffer::lossPartials, job.settings.addsGradients()
                                     ? memory.accumulate * partialsOfPiece(pieceRows)
                                     : (batch / Kernels::rowsPerGroup + 1) * sizeof(float));
    set(RunBuffer::lastLayerPartials, (1 + lastLayerGroups(batch)) * sizeof(float));
    set(RunBuffer::scoreSums, scoreGroups(job, evaluationRows) * sizeof(float));
    set(RunBuffer::scoreCounts, scoreCountBytes(data.classes));
    set(RunBuffer::layerPlaces,
        job.shape.layers() * (how.half ? HalfArenas::placeBytes : sizeof(shared::WeightGradientsLayer)));
    if (how.half) set(RunBuffer::lossScale, HalfArenas::lossScaleBytes);
    if (scales(job.settings.precision))
        set(RunBuffer::largestOperands, scaleSlots(job.shape.layers()) * sizeof(std::uint32_t));
    if (!job.settings.share.alone()) set(RunBuffer::exchanged, ParamLayout(job.shape).size() * sizeof(float));
    const WholeStepLayout whole = wholeStepLayout(device, job);
    if (!mayTakeWholeSteps(rung, whole)) return;
    set(RunBuffer::stepRecords, stepRecords * sizeof(shared::StepRecord));
    if (whole.chunk < batch) // a chunk's gradients wait for those of the next one
        set(RunBuffer::gradients, ParamLayout(job.shape).size() * sizeof(float));
}

std::uint64_t GpuMemory::partialsOfPiece(std::size_t pieceRows) {
    const std::uint64_t groups = pieceRows / Kernels::rowsPerGroup + 1;
    return (groups * sizeof(float) + alignment - 1) / alignment * alignment;
}

// Kernels read and write the host's memory over the bus, in order, each number once: a copy in the device's
// own would be read and written as often.
gpu::Memory GpuMemory::memoryOf(RunBuffer buffer) const {
    const bool away =
        includes(offload_, Offload::optimizer) && rowOf(buffer).category == MemoryCategory::optimizer;
    return away ? gpu::Memory::readback : rowOf(buffer).memory;
}

gpu::BufferSpec GpuMemory::specOf(RunBuffer buffer) const {
    const std::string name(rowOf(buffer).name);
    if (!has(buffer)) throw std::logic_error("the run has no buffer '" + name + "'");
    return {*bytes_[static_cast<std::size_t>(buffer)], memoryOf(buffer), name};
}

std::vector<MemoryUse> GpuMemory::uses(const gpu::Device& device) const {
    std::vector<MemoryUse> all;
    for (std::size_t at = 0; at < bytes_.size(); ++at) {
        if (!bytes_[at]) continue;
        const gpu::Memory memory = memoryOf(static_cast<RunBuffer>(at));
        addUse(all, {runBuffers[at].category, placeOf(memory),
                     gpu::footprintOf(device, *bytes_[at], memory).bytes});
    }
    return all;
}

std::vector<std::uint64_t> GpuMemory::heapBytes(const gpu::Device& device) const {
    std::vector<std::uint64_t> heaps(device.memory().memoryHeapCount);
    for (std::size_t at = 0; at < bytes_.size(); ++at) {
        if (!bytes_[at]) continue;
        const gpu::Footprint footprint =
            gpu::footprintOf(device, *bytes_[at], memoryOf(static_cast<RunBuffer>(at)));
        if (footprint.heaps.empty()) continue;
        const auto hasRoom = [&](std::uint32_t heap) {
            return heaps[heap] + footprint.bytes <= device.heapLeft(heap);
        };
        const auto found = std::ranges::find_if(footprint.heaps, hasRoom);
        heaps[found == footprint.heaps.end() ? footprint.heaps.front() : *found] += footprint.bytes;
    }
    return heaps;
}

GpuMemory gpuMemoryOf(const gpu::Device& device, const TrainJob& job, Rung rung) {
    const RungRow& row = rowOf(rung);
    return {device, job, rung, StepKernels{.layers = {}, .foldsUpdate = row.foldsUpdate, .half = row.half}};
}

std::string memoryAdvice(const gpu::Device& device, const TrainJob& job, Rung rung, std::uint64_t budget) {
    const auto fits = [&](const TrainJob& with) { return fitsInto(device, with, rung, budget); };
    TrainJob smaller = job;
    MemorySettings& memory = smaller.settings.memory;
    std::size_t& batch = smaller.settings.batch;
    batch = job.order().batch();
    memory.accumulate = std::min(memory.accumulate, batch);
    const std::string remedies = remediesThatFit(smaller, rowOf(rung), fits);
    while (batch > 1 && !fits(smaller)) {
        batch /= 2;
        memory.accumulate = std::min(memory.accumulate, batch);
    }
    const bool fewer = fits(smaller);
    if (fewer && !remedies.empty())
        return concat("A batch of ", batch, " fits; or the same batch with ", remedies, ".");
    if (fewer) return concat("A batch of ", batch, " fits.");
    return remedies.empty() ? std::string() : concat("It fits with ", remedies, ".");
}

void requireMemory(const gpu::Device& device, const TrainJob& job, Rung rung) {
    requireLimits(device, job);
    if (fitsInto(device, job, rung, noBudget)) return;
    const HeapNeed heap = tightestHeap(device, job, rung, noBudget);
    const std::size_t rows = job.pieceRows();
    std::string message = "training on '" + device.report().name + "' ";
    if (!heap.fits())
        message += "needs " + std::to_string(heap.needed >> 20) + " MiB of its memory; " +
                   std::to_string(heap.left >> 20) + " MiB are free. ";
    else if (rows > mostRows(device))
        message += "cannot compute " + std::to_string(rows) + " rows at once correctly, only " +
                   std::to_string(mostRows(device)) + ". ";
    else
        message += "needs a buffer of " + std::to_string(widestBytes(job)) + " bytes; the limit is " +
                   std::to_string(device.limits().storageRange) + ". ";
    const std::string advice = memoryAdvice(device, job, rung, noBudget);
    message += advice.empty() ? "No batch fits: try narrower layers, or fewer of them." : advice;
    throw gpu::OutOfMemoryError(message, heap.needed, heap.left);
}

} // namespace lockstep
