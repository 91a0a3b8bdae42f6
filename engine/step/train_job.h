// The values of a training run: what is trained, what came out, and what it takes to go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/net/dataset.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"

namespace lockstep {

/// Everything that machines in a race must agree on. `data` must outlive every trainer made from the job.
struct TrainJob {
    const Dataset* data = nullptr;
    NetShape shape;
    TrainSettings settings;

    /// Throws std::invalid_argument when shape, data and settings do not fit together.
    void validate() const;
};

/// The loss of a step, and when the host learned of it: seconds of training since the trainer was made,
/// evaluation and pauses not counted.
struct LossPoint {
    std::uint64_t step = 0;
    float loss = 0;
    double seconds = 0;
};

/// Time of one operation, from the steps that were sampled (one step in every 64th submission of a
/// GPU, one step in sixteen of a CPU, one in 256 where a step takes about a microsecond).
struct OperationTiming {
    std::string name; ///< as in Ops and in the shader's file name: "dense", "dense_backward_weights", ...
    double milliseconds = 0; ///< total of the timed calls
    std::uint64_t calls = 0; ///< calls that were timed
    double flops = 0;        ///< total of the timed calls
    double bytes = 0;        ///< total of the timed calls, each tensor counted once per call
};

struct Evaluation {
    double loss = 0;
    double accuracy = 0; ///< share of the examples answered rightly; NaN in regression
    std::size_t count = 0;
    std::vector<std::uint64_t> confusion; ///< [true class][answered class]; empty in regression
};

/// How a lane of half precision scales its loss (shaders/step/loss_scale.glsl).
struct LossScaling {
    float scale = shared::lossScaleMost; ///< of the next step, a power of two
    std::uint32_t goodSteps = 0;         ///< since it changed
    std::uint32_t skippedSteps = 0;      ///< so far: gradients overflowed, and nothing was learned from them
    bool operator==(const LossScaling&) const = default;
};

/// All that a run needs to go on: bit-identical to never having stopped, on the same rung with the same
/// threads.
struct TrainerState {
    std::uint64_t step = 0;                         ///< steps done
    std::vector<float> parameters;                  ///< arena, ParamLayout
    std::vector<std::vector<float>> optimizerState; ///< OptimizerSettings::stateArrays() arenas
    LossScaling lossScaling;                        ///< of half precision; others leave it alone
};

/// What computes, as results name it.
struct MachineInfo {
    std::string
        device; ///< "AMD Ryzen 9 9950X", "NVIDIA GeForce RTX 4070", "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string driver; ///< name and version, empty for a CPU
    bool gpu = false;
    bool software = false;   ///< a Vulkan driver that computes on the processor: not a GPU
    std::size_t threads = 0; ///< CPU threads that train; 0 for a GPU
    std::string
        kernels; ///< which kernels run, for humans: "oneDNN 2.6 sgemm, AVX-512", "dense: blocked 16x16, ..."
};

} // namespace lockstep
