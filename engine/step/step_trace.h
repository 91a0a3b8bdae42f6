// One training step taken apart: when each operation ran, what it cost, and which tensors it read and wrote.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/step/train_job.h"

namespace lockstep {

struct TraceOptions {
    bool tensors = true;                           ///< copy what the operations read and wrote, too
    std::size_t mostValues = std::size_t{1} << 20; ///< of each tensor: its first rows where it has more
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

/// Which tensor of a step. Every tensor is written at most once in it, but for parameters and the optimizer's
/// state: those are there twice, as the step found them and `updated`.
struct TensorId {
    TensorKind kind = TensorKind::activations;
    std::size_t layer = 0; ///< A's level, or the layer
    bool updated = false;

    auto operator<=>(const TensorId&) const = default; // NOLINT(modernize-use-nullptr): LLVM 14
};

/// "A[1]", "W[0]", "dZ[1]", "dW[0]", "b[0]", "m of W[0]", "t": as it is written, `updated` or not.
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
    std::string source; ///< stem of the shader's file: "dense_blocked"; empty for a CPU
    bool replaced = false; ///< its shader is not the built-in one (see makeGpuTrainer)
    std::string kernel;    ///< how it is computed, for humans: "blocked 16x16, group 1x8"; may be empty
    std::size_t layer = 0; ///< of products; else 0
    double beginMs = 0;    ///< since the step began, by the machine's own clock
    double endMs = 0;
    double flops = 0;
    double bytes = 0;           ///< each tensor counted once
    std::string shapes;         ///< "A[0] 128x784, W[0] 256x784, b[0] 256 -> A[1] 128x256"
    bool barrierBefore = false; ///< it had to wait for what ran before (CPU: for the other threads)
    std::vector<TensorId> reads;
    std::vector<TensorId> writes;

    double milliseconds() const { return endMs - beginMs; }
};

struct StepTrace {
    std::uint64_t step = 0; ///< that was traced, counted from 0
    MachineInfo machine;
    float loss = 0;
    bool timed = true; ///< false: a device without timestamps; all times but wallMs are 0
    bool half =
        false; ///< batch, activations, gradients of sums are rounded to 16 bits, and weights in products
    bool skipped = false;      ///< gradients overflowed (half precision): nothing was learned from them
    bool oneSubmission = true; ///< false: too long for one, the operations went to the device one by one
    std::vector<TracedOperation> operations; ///< in the order in which they ran
    double totalMs = 0;                      ///< from the step's begin to its end, by the machine's own clock
    double wallMs = 0;                       ///< as the host saw it: recording, launch and waiting included
    std::map<TensorId, TracedTensor> tensors; ///< empty where none were asked for

    /// Null when it was not kept.
    const TracedTensor* find(const TensorId& id) const;
};

/// Describes the operations of a network's step and keeps their tensors. Used by trainers.
class StepTracer {
  public:
    /// The first `floats` floats of a tensor as it lies in the trainer's memory (rows padded to four; targets
    /// as words). `updated` does not matter: what is there at the moment of the call.
    using Source = std::function<std::vector<float>(const TensorId& id, std::size_t floats)>;

    /// foldsUpdate   dense_backward_weights updates the weights itself: no gradients, no `update`
    StepTracer(const TrainJob& job, std::size_t rows, std::uint32_t targetKind, bool foldsUpdate);

    /// Fills in shapes, reads and writes of an operation whose name, source and layer are known.
    void describe(TracedOperation& operation) const;
    /// Before the step: parameters and the optimizer's state as it finds them.
    void keepBefore(const TraceOptions& options, const Source& source, StepTrace& trace) const;
    /// After it: everything else that its operations name.
    void keepAfter(const TraceOptions& options, const Source& source, StepTrace& trace) const;

  private:
    struct Size {
        std::size_t rows = 0;
        std::size_t columns = 0;
    };

    Size sizeOf(const TensorId& id) const;
    std::size_t strideOf(const TensorId& id) const;
    TensorId savedOf(std::size_t layer) const;
    std::vector<TensorId> parametersOf(std::size_t layer, bool updated) const;
    std::vector<TensorId> statesOf(std::size_t layer, bool updated) const;
    void describeWeights(TracedOperation& operation) const;
    void describeUpdate(TracedOperation& operation) const;
    void describeWholeStep(TracedOperation& operation) const;
    std::string shapesOf(const std::vector<TensorId>& ids) const;
    TracedTensor copied(const TensorId& id, const TraceOptions& options, const Source& source) const;

    NetShape shape_;
    std::size_t states_;
    std::size_t rows_;
    std::size_t targetWidth_;
    bool targetsAreValues_;
    bool foldsUpdate_;
};

} // namespace lockstep
