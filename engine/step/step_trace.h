// One training step taken apart: when each operation ran, what it cost, and which tensors it read and wrote.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gpu/workgroup_clock.h"
#include "engine/plan/plan.h"
#include "engine/step/train_job.h"

namespace lockstep {

namespace gpu {
struct TracedDispatch; // engine/gpu/recorder.h
}

struct TraceOptions {
    bool tensors = true;                           ///< also copy what the operations read and write
    std::size_t mostValues = std::size_t{1} << 20; ///< per tensor: the first rows of a larger one
    /// On a GPU: before the step, makes it once with a clock in every shader, and takes it back, so that the
    /// operations have `workgroups`.
    bool workgroups = false;
};

struct TracedTensor {
    TensorId id;
    std::size_t rows = 0; ///< of the whole tensor
    std::size_t columns = 0;
    std::vector<float> values; ///< [keptRows()][columns], no padding

    std::size_t keptRows() const { return columns == 0 ? 0 : values.size() / columns; }
};

struct TracedOperation {
    Operation operation = Operation::gatherBatch;
    std::string source;    ///< stem of the shader's file: "dense_blocked"; empty on a CPU
    bool replaced = false; ///< its shader is not the built-in one (see makeGpuTrainer)
    std::string kernel;    ///< how it is computed, for humans: "blocked 16x16, group 1x8"; may be empty
    std::size_t layer = 0; ///< of products; 0 for other operations
    double beginMs = 0;    ///< since the step began, by the machine's own clock
    double endMs = 0;
    double flops = 0;
    double bytes = 0;           ///< each tensor counted once
    std::string shapes;         ///< "A[0] 128x784, W[0] 256x784, b[0] 256 -> A[1] 128x256"
    bool barrierBefore = false; ///< it waited for earlier operations (CPU: for the other threads)
    std::vector<TensorId> reads;
    std::vector<TensorId> writes;
    /// Items that one of its workgroups computes along x and y: of a product, columns and rows of outputs. 0
    /// on a CPU.
    std::array<std::size_t, 2> itemsPerGroup{};
    std::vector<gpu::WorkgroupTime> workgroups; ///< in the order of their ends

    /// The recipe's operation whose name it has: "dense", "dense_backward_weights", ..., or "whole_step".
    Operation shownAs() const { return rowOf(operation).shownAs; }
    std::string_view name() const { return lockstep::name(shownAs()); }
    double milliseconds() const { return endMs - beginMs; }
};

struct StepTrace {
    std::uint64_t step = 0; ///< counted from 0
    MachineInfo machine;
    float loss = 0;
    bool timed = true;      ///< false: a device without timestamps; all times but wallMs are 0
    double clockStepMs = 0; ///< by which the device's clock moves; 0: not known; infinity: it did not
    /// The batch, activations and gradients of preactivations are stored as fp16; products read weights as
    /// fp16.
    bool half = false;
    bool bf16 = false;         ///< everything is stored as fp32; products read it rounded to bf16
    bool skipped = false;      ///< gradients overflowed (fp16), so the update was skipped
    bool oneSubmission = true; ///< false: the step is long, so each operation was submitted separately
    std::vector<TracedOperation> operations; ///< in the order in which they ran
    double totalMs = 0;                      ///< from the step's begin to its end, by the machine's own clock
    bool clocked = false;                    ///< TraceOptions::workgroups was asked for
    std::string noWorkgroups;                ///< why its operations have none then; empty: they have
    double wallMs = 0;                       ///< by the host's clock: recording, launch and waiting included
    std::map<TensorId, TracedTensor> tensors; ///< empty unless requested

    /// Whether the clock moved only once in that time, or not at all.
    bool tooShort(const TracedOperation& operation) const {
        return clockStepMs > 0 && operation.milliseconds() < 1.5 * clockStepMs;
    }
    /// Null if the tensor was not kept.
    const TracedTensor* find(const TensorId& id) const {
        const auto found = tensors.find(id);
        return found == tensors.end() ? nullptr : &found->second;
    }
};

/// What a dispatch of an operation has for its gpu::Cost::tag, by which it is recognised in a trace.
constexpr std::uint64_t traceTag(Operation operation, std::size_t layer) {
    return (static_cast<std::uint64_t>(operation) + 1) << 32 | layer; // 0: none
}
/// Throws std::logic_error where the dispatch had no such tag.
Operation tracedOperation(std::uint64_t tag);

/// The operations of one step that a GPU has traced, dispatched with traceTag(); pieces of one product become
/// a single operation. Shapes and tensors are left to keepAfter().
std::vector<TracedOperation> operationsOf(std::span<const gpu::TracedDispatch> dispatches);

/// What a trainer says of the step that it traces.
struct TracedStep {
    const TrainJob& job;
    std::size_t rows;  ///< of its batch
    TraceOptions keep; ///< which tensors
    /// Returns the first `floats` floats of a tensor as the trainer's memory holds them now (rows padded to a
    /// multiple of four; targets as words). Ignores `updated`.
    std::function<std::vector<float>(const TensorId& id, std::size_t floats)> source;
};

/// Before the step: copies parameters and the optimizer's state.
void keepBefore(const TracedStep& step, StepTrace& trace);
/// After the step: fills in shapes, reads and writes of its operations, which `plan` holds, and copies all
/// other tensors that they name.
void keepAfter(const TracedStep& step, const StepPlan& plan, StepTrace& trace);

} // namespace lockstep
