// The values of a training run: what is trained, what came out, and what it takes to go on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/net/dataset.h"
#include "engine/net/net_shape.h"
#include "engine/net/plain_ops.h"
#include "engine/net/settings.h"

namespace lockstep {

class Exchange; // engine/many/exchange.h

namespace gpu {
class Device;
}

/// Everything that the machines in a race have in common. `data` must outlive every trainer made from the
/// job.
struct TrainJob {
    const Dataset* data = nullptr;
    NetShape shape;
    TrainSettings settings;
    Exchange* exchange = nullptr; ///< with the other ranks, where there are any (settings.share)

    /// Throws std::invalid_argument when shape, data and settings do not fit together.
    void validate() const;
    /// Throws std::logic_error where ranks share the job, and there is no exchange between as many.
    void requireExchange() const;
    /// Rows that a step has at hand at once: the batch, or the largest of the parts in which it is taken.
    std::size_t pieceRows() const;
    /// Which examples each step takes.
    BatchOrder order() const { return {data->train.count, settings.batch, settings.seed, settings.shuffle}; }
};

/// The loss of a step, and when the host learned of it: seconds of training since the trainer was made,
/// without evaluation and pauses.
struct LossPoint {
    std::uint64_t step = 0;
    float loss = 0;
    double seconds = 0;
};

/// Time of one operation, from a sample of the steps: on a GPU one step in every 64th submission, on a CPU
/// one step in 16, or in 256 where a step takes about a microsecond.
struct OperationTiming {
    std::string name; ///< as in Ops and in the shader's file name: "dense", "dense_backward_weights", ...
    double milliseconds = 0; ///< total of the timed calls
    std::uint64_t calls = 0; ///< calls that were timed
    double flops = 0;        ///< total of the timed calls
    double bytes = 0;        ///< total of the timed calls, each tensor counted once per call
};

struct Evaluation {
    double loss = 0;
    double accuracy = 0; ///< share of correct predictions; NaN in regression
    std::size_t count = 0;
    std::vector<std::uint64_t> confusion; ///< [true class][predicted class]; empty in regression
};

/// What `sum` over a whole split amounts to, without the confusion matrix; NaN where the split is empty.
Evaluation meanOf(const TrainJob& job, Split split, const ScoreSum& sum);
/// The evaluation of a split from a network's outputs for it, [count][outputs] without padding.
Evaluation evaluate(const TrainJob& job, Split split, std::span<const float> outputs);

/// How a rung of half precision scales its loss (shaders/step/loss_scale.glsl).
struct LossScaling {
    float scale = shared::lossScaleMost; ///< of the next step, a power of two
    std::uint32_t goodSteps = 0;         ///< since the scale changed
    std::uint32_t skippedSteps = 0;      ///< so far, because gradients overflowed
    bool operator==(const LossScaling&) const = default;
};

/// Everything needed to resume a run. On the same rung with the same number of threads, it then computes the
/// same bits as if it had never stopped.
struct TrainerState {
    std::uint64_t step = 0;                         ///< steps done
    std::vector<float> parameters;                  ///< arena, ParamLayout
    std::vector<std::vector<float>> optimizerState; ///< OptimizerSettings::stateArrays() arenas
    LossScaling lossScaling;                        ///< of half precision; other rungs leave it alone
    /// gpu:best: whether it trains in whole steps (engine/step/whole_step.h), which round differently from
    /// single operations. Empty: a rung without that choice, or a file from before it was recorded.
    std::optional<bool> wholeSteps;
};

/// How much of a machine a run may use. It changes times; on a CPU also the rounding, never on a GPU.
struct MachineShare {
    std::size_t threads = 0;    ///< of CPU rungs that use all cores, at most; 0: one per core
    std::size_t workgroups = 0; ///< of a GPU at once, at most (Recorder::limitWorkgroups); 0: as many as fit
};

/// What computes, as results name it.
struct MachineInfo {
    std::string
        device; ///< "AMD Ryzen 9 9950X", "NVIDIA GeForce RTX 4070", "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string driver{}; ///< name and version, empty for a CPU
    std::string uuid{};   ///< of a GPU: 32 hexadecimal digits
    bool gpu = false;
    bool software = false;   ///< a Vulkan driver that computes on the processor: not a GPU
    std::size_t threads = 0; ///< CPU threads that trained for most of the time; 0 for a GPU
    std::string kernels{};   ///< which kernels run, for humans: "built-in kernels, AVX-512", "dense: blocked
                             ///< 16x16, ..."
    /// A training step's dispatches on a GPU, and the barriers between them; 0 where a step takes long, or
    /// many make one dispatch.
    std::size_t dispatches = 0;
    std::size_t barriers = 0;
    /// How a run is throttled (MachineShare): the threads that it would have had, and the most workgroups at
    /// once. 0: it is not.
    std::size_t ofThreads = 0;
    std::size_t workgroups = 0;
    std::size_t ranks = 1; ///< that share the training, this one included

    bool throttled() const { return ofThreads > 0 || workgroups > 0; }
};

/// The first `width` values of every `stride`: rows of a matrix without their padding.
std::vector<float> withoutPadding(std::span<const float> rows, std::size_t width, std::size_t stride);
/// The reverse: rows of `width` values at every `stride`, with zeros between them.
template <class T>
std::vector<T> withPadding(std::span<const T> rows, std::size_t width, std::size_t stride) {
    std::vector<T> padded(rows.size() / width * stride);
    for (std::size_t row = 0; row < rows.size() / width; ++row)
        std::copy_n(rows.data() + row * width, width, padded.data() + row * stride);
    return padded;
}

/// A Vulkan device, without `kernels`.
MachineInfo machineOf(const gpu::Device& device);

} // namespace lockstep
