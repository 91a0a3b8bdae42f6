#include "engine/step/whole_step.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "engine/net/activation.h"
#include "engine/plan/rewrites.h"
#include "engine/plan/work.h"
#include "engine/step/step_trace.h"

namespace lockstep {

namespace {

using gpu::asUint;

// A, Z where kept, dZ, and the loss.
std::size_t floatsPerRow(const NetShape& shape) {
    const std::size_t all = std::accumulate(shape.widths.begin(), shape.widths.end(), std::size_t{0});
    const std::size_t behindInputs = all - shape.inputs();
    return all + behindInputs * (anyLayerKeepsSums(shape) ? 2 : 1) + 1;
}

// Rounds that one invocation's loops make in a step, as whole_step.comp nests them.
std::size_t roundsPerStep(const NetShape& shape, std::size_t batch, std::size_t chunk,
                          std::size_t groupSize) {
    constexpr std::size_t orderRounds = 40; // of a place in the order: its bits, and some walks
    const auto turns = [groupSize](std::size_t items) { return turnsOf(items, groupSize); };
    const std::size_t outputLoops = 6 * loopRounds(shape.outputs());
    std::size_t rounds = loopRounds(turns(chunk * shape.inputs()), orderRounds);
    rounds += loopRounds(turns(chunk), outputLoops) + 3 * loopRounds(chunk); // and the sum of the losses
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const std::size_t inputs = shape.widths[layer];
        const std::size_t outputs = shape.widths[layer + 1];
        rounds += loopRounds(turns(chunk * outputs), loopRounds(inputs));
        if (layer > 0) rounds += loopRounds(turns(chunk * inputs), loopRounds(outputs));
        rounds += loopRounds(turns(inputs * outputs), loopRounds(chunk)) +
                  loopRounds(turns(outputs), loopRounds(chunk));
        rounds += 8 * shape.layers(); // where tensors begin
    }
    return loopRounds(turnsOf(batch, chunk), rounds) + 1;
}

// Those of a dispatch besides its steps: parameters are loaded and stored.
std::size_t roundsPerDispatch(const NetShape& shape, std::size_t groupSize) {
    std::size_t rounds = 0;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        rounds += loopRounds(turnsOf(shape.widths[layer] * shape.widths[layer + 1], groupSize)) +
                  loopRounds(turnsOf(shape.widths[layer + 1], groupSize));
    return 2 * rounds;
}

WholeStepLayout requiredLayout(const gpu::Device& device, const TrainJob& job) {
    WholeStepLayout layout = wholeStepLayout(device, job);
    if (layout.refusal.empty()) return layout;
    throw std::runtime_error("'" + device.report().name + "' cannot run gpu:whole-step: " + layout.refusal);
}

} // namespace

WholeStepLayout wholeStepLayout(const gpu::Device& device, const TrainJob& job) {
    const gpu::Limits& limits = device.limits();
    const NetShape& shape = job.shape;
    const auto refuse = [](std::string reason) { return WholeStepLayout{.refusal = std::move(reason)}; };
    if (job.settings.changeSteps())
        return refuse("its steps keep nothing that could be computed again, taken in parts or copied out");
    if (job.settings.precision.rounds()) return refuse("its steps store nothing that could be rounded");
    if (shape.layers() > shared::wholeStepLayers)
        return refuse("it takes at most " + std::to_string(shared::wholeStepLayers) +
                      " layers, this network has " + std::to_string(shape.layers()));
    const std::size_t floats = limits.sharedMemory / sizeof(float) - 8; // one word for a flag
    const std::size_t perRow = floatsPerRow(shape) + 1;                 // and the number of the row's example
    const std::size_t parameters = shape.parameters();
    if (parameters + perRow > floats)
        return refuse("its shared memory holds " + std::to_string(floats) + " numbers, and the parameters (" +
                      std::to_string(parameters) + ") with one row of a batch (" + std::to_string(perRow) +
                      ") are " + std::to_string(parameters + perRow));
    const std::size_t batch = std::min(job.settings.batch, job.data->train.count);
    const std::size_t chunk = std::min(batch, (floats - parameters) / perRow);

    // On a GPU an invocation for every value of the widest level, as far as they go. Software Vulkan runs a
    // workgroup on one core, a vector of invocations after the other: more than one vector only adds to the
    // cost of barriers.
    const std::size_t most = std::min({limits.groupInvocations, limits.groupSize[0], 256u});
    const std::size_t widest = *std::ranges::max_element(shape.widths.begin() + 1, shape.widths.end());
    const std::size_t wanted =
        device.software() ? limits.subgroupSize : std::max<std::size_t>(std::bit_ceil(chunk * widest), 32);
    std::size_t groupSize = std::min<std::size_t>(wanted, std::bit_floor(most));

    const auto rounds = [&] { return roundsPerStep(shape, batch, chunk, groupSize); };
    const auto left = [&] {
        return mostLoopRounds - std::min(mostLoopRounds, roundsPerDispatch(shape, groupSize));
    };
    while (device.software() && rounds() > left() && groupSize * 2 <= most) groupSize *= 2;
    if (device.software() && rounds() > left())
        return refuse("a step takes about " + std::to_string(rounds()) +
                      " rounds of its loops, and software Vulkan computes at most " + std::to_string(left()) +
                      " correctly; try a smaller batch");
    // On a GPU a dispatch is to end after a few milliseconds: about 50 nanoseconds a round.
    const std::size_t steps = std::clamp<std::size_t>(left() / rounds(), 1, 1024);
    const std::size_t sharedFloats = parameters + chunk * floatsPerRow(shape);
    return {asUint(groupSize), asUint(chunk), asUint(sharedFloats), asUint(steps)};
}

WholeStep::WholeStep(Kernels& kernels, GpuArenas& arenas, const TrainJob& job)
    : arenas_(arenas), layout_(requiredLayout(kernels.device(), job)),
      kernel_(kernels.wholeStep(job.shape, job.settings.optimizer.kind, layout_.groupSize, layout_.chunk,
                                layout_.sharedFloats)),
      work_(sizesOf(job.shape, job.settings.optimizer, *job.data)),
      operation_(wholeStepPlan(job.shape).operations.front()) {}

std::string WholeStep::describe() const {
    return "whole-step: " + std::to_string(layout_.groupSize) + " invocations, " +
           std::to_string(layout_.chunk) + " rows at a time, " + std::to_string(layout_.stepsPerDispatch) +
           " steps per dispatch";
}

void WholeStep::record(gpu::Recorder& recorder, const TrainSettings& settings, std::uint64_t first,
                       std::uint64_t count) {
    const std::size_t outputs = arenas_.shape.outputs();
    gpu::Buffer& ring = arenas_.stepRecords.value();
    for (std::uint64_t begin = first; begin < first + count;) {
        // Records of one dispatch lie beside each other: it ends where the ring does.
        const std::uint64_t slot = begin % GpuMemory::stepRecords;
        const std::uint64_t steps = std::min(
            {first + count - begin, std::uint64_t{layout_.stepsPerDispatch}, GpuMemory::stepRecords - slot});
        std::vector<shared::StepRecord> records;
        Work work;
        for (std::uint64_t step = begin; step < begin + steps; ++step) {
            const StepSettings now = stepSettings(settings, arenas_.order, step);
            const std::size_t rows = now.batch.rows;
            const auto terms = static_cast<double>(lossTerms(arenas_.shape.loss, rows, outputs));
            records.push_back({static_cast<std::uint32_t>(step),
                               static_cast<std::uint32_t>(step % GpuMemory::ringSlots),
                               asUint(now.batch.first), asUint(rows), static_cast<float>(1.0 / terms),
                               arenas_.order.keys(now.batch.epoch), now.update});
            // Parameters stay in shared memory: a dispatch reads and writes them once, whatever its steps.
            const Work one = work_.of(operation_, rows);
            work = step == begin ? one : work + Work{one.flops, dataBytes(work_.sizes(), rows)};
        }
        ring.writeValues<shared::StepRecord>(records, slot * sizeof(shared::StepRecord));
        const shared::WholeStepParams params{asUint(steps),
                                             asUint(slot),
                                             asUint(arenas_.train.count),
                                             arenas_.order.shuffles() ? 1u : 0u,
                                             arenas_.train.sourceStride,
                                             arenas_.pixels ? 1u : 0u,
                                             arenas_.targetKind,
                                             arenas_.targetWidth,
                                             asUint(outputs)};
        recorder.dispatch(kernel_, {1, 1, 1}, params,
                          {arenas_.train.source.view(), arenas_.train.answers.view(), ring.view(),
                           arenas_.losses.view(), arenas_.status.view(), arenas_.parameters.view(),
                           arenas_.state(0).view(), arenas_.state(1).view(), arenas_.gradients.view()},
                          {work.flops, work.bytes, traceTag(Operation::wholeStep, 0)});
        begin += steps;
    }
}

} // namespace lockstep
