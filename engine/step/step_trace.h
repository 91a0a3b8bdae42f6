// One training step taken apart: when each operation ran, what it cost, and which tensors it read and wrote.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gpu/workgroup_clock.h"
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

/// Notation as in ops.h. `state1` and `state2` are what the optimizer keeps (momentum, mean squares).
enum class TensorKind {
    activations,
    targets,
    sums,
    dSums,
    weights,
    bias,
    dWeights,
    dBias,
    weightState1,
    biasState1,
    weightState2,
    biasState2,
};

/// Where a tensor lies: with the batch, or in an arena with the layout of the parameters.
enum class TensorArena { batch, parameters, gradients, state1, state2 };

struct TensorRow {
    std::string_view letters;
    TensorArena arena = TensorArena::batch;
    bool vector = false; ///< of a layer's biases, not of its weights
};

/// In the order of TensorKind.
inline constexpr TensorRow tensorTable[] = {
    {"A"},
    {"t"},
    {"Z"},
    {"dZ"},
    {"W", TensorArena::parameters},
    {"b", TensorArena::parameters, true},
    {"dW", TensorArena::gradients},
    {"db", TensorArena::gradients, true},
    {"m of W", TensorArena::state1},
    {"m of b", TensorArena::state1, true},
    {"v of W", TensorArena::state2},
    {"v of b", TensorArena::state2, true},
};

constexpr const TensorRow& rowOf(TensorKind kind) { return tensorTable[static_cast<std::size_t>(kind)]; }

/// Identifies a tensor of a step. A step writes every tensor at most once. Parameters and the optimizer's
/// state exist twice: as the step found them, and `updated`.
struct TensorId {
    TensorKind kind = TensorKind::activations;
    std::size_t layer = 0; ///< A's level, or the layer
    bool updated = false;

    auto operator<=>(const TensorId&) const = default; // NOLINT(modernize-use-nullptr): LLVM 14
};

/// "A[1]", "W[0]", "dZ[1]", "dW[0]", "b[0]", "m of W[0]", "t"; the same whether `updated` or not.
std::string name(const TensorId& id);

struct TracedTensor {
    TensorId id;
    std::size_t rows = 0; ///< of the whole tensor
    std::size_t columns = 0;
    std::vector<float> values; ///< [keptRows()][columns], no padding

    std::size_t keptRows() const { return columns == 0 ? 0 : values.size() / columns; }
};

struct TracedOperation {
    std::string name;   ///< as in Ops and in the shader's file name: "dense", "dense_backward_weights", ...
    std::string source; ///< stem of the shader's file: "dense_blocked"; empty on a CPU
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
    std::vector<gpu::WorkgroupTime> workgroups; ///< in the order of their ends

    double milliseconds() const { return endMs - beginMs; }
};

struct StepTrace {
    std::uint64_t step = 0; ///< counted from 0
    MachineInfo machine;
    float loss = 0;
    bool timed = true; ///< false: a device without timestamps; all times but wallMs are 0
    /// The batch, activations and gradients of preactivations are stored as fp16; products read weights as
    /// fp16.
    bool half = false;
    bool skipped = false;      ///< gradients overflowed (fp16), so the update was skipped
    bool oneSubmission = true; ///< false: the step is long, so each operation was submitted separately
    std::vector<TracedOperation> operations; ///< in the order in which they ran
    double totalMs = 0;                      ///< from the step's begin to its end, by the machine's own clock
    bool clocked = false;                    ///< TraceOptions::workgroups was asked for
    std::string noWorkgroups;                ///< why its operations have none then; empty: they have
    double wallMs = 0;                       ///< by the host's clock: recording, launch and waiting included
    std::map<TensorId, TracedTensor> tensors; ///< empty unless requested

    /// Null if the tensor was not kept.
    const TracedTensor* find(const TensorId& id) const {
        const auto found = tensors.find(id);
        return found == tensors.end() ? nullptr : &found->second;
    }
};

/// The operations of one step that a GPU has traced; pieces of one product become a single operation. Shapes
/// and tensors are left to keepAfter().
std::vector<TracedOperation> operationsOf(std::span<const gpu::TracedDispatch> dispatches);

/// What a trainer says of the step that it traces.
struct TracedStep {
    const TrainJob& job;
    std::size_t rows;  ///< of its batch
    bool foldsUpdate;  ///< see Ops::foldsUpdate()
    TraceOptions keep; ///< which tensors
    /// Returns the first `floats` floats of a tensor as the trainer's memory holds them now (rows padded to a
    /// multiple of four; targets as words). Ignores `updated`.
    std::function<std::vector<float>(const TensorId& id, std::size_t floats)> source;
};

/// Before the step: copies parameters and the optimizer's state.
void keepBefore(const TracedStep& step, StepTrace& trace);
/// After the step: fills in shapes, reads and writes of its operations, whose names, sources and layers are
/// known, and copies all other tensors that they name.
void keepAfter(const TracedStep& step, StepTrace& trace);

} // namespace lockstep
