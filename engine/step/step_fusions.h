// Operations of a training step that one dispatch takes together. On a GPU a small step's time is that of
// starting dispatches and waiting at barriers: 784-256-128-10 has ten dispatches and eight barriers one by
// one, and five of each with all of these.
//
// Results are the same bit for bit, whatever is fused: every sum is added in the same order. So `best` may
// choose by time alone (GpuTrainer), and a step is traced operation by operation. tests/step_fusions_test.cpp
// compares.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "engine/gpu/recorder.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/kernels.h"
#include "engine/step/ops.h"

namespace lockstep {

struct StepKernels; // engine/step/gpu_ops.h

enum class Fusion {
    lastLayer,       ///< its forward product, the loss, and the gradient passed to the layer below
    weightGradients, ///< those of all layers, with the update
    gather,          ///< the batch, and the first layer's forward product
};
inline constexpr Fusion allFusions[] = {Fusion::lastLayer, Fusion::weightGradients, Fusion::gather};
/// "last layer", "weight gradients", "gather".
std::string_view name(Fusion fusion);

class StepFusions {
  public:
    /// All references must outlive the object. Nothing is fused at first.
    StepFusions(Kernels& kernels, const GpuArenas& arenas, const TrainSettings& settings,
                const StepKernels& how);

    /// Whether the device and the network allow it, next to the kernels `how`.
    bool possible(Fusion fusion) const { return possible_[at(fusion)]; }
    bool on(Fusion fusion) const { return on_[at(fusion)]; }
    /// Throws std::logic_error where it is not possible.
    void set(Fusion fusion, bool on);

    void gatheredDense(gpu::Recorder& recorder, const StepSettings& step, const gpu::Cost& cost) const;
    void lastLayer(gpu::Recorder& recorder, const StepSettings& step, const gpu::Cost& cost) const;
    void weightGradients(gpu::Recorder& recorder, const StepSettings& step, const gpu::Cost& cost) const;

  private:
    static constexpr std::size_t at(Fusion fusion) { return static_cast<std::size_t>(fusion); }
    void placeLayers();

    Kernels& kernels_;
    const GpuArenas& arenas_;
    const Optimizer optimizer_;
    ProductKernel forward_; ///< tiled
    ProductKernel weights_; ///< tiled
    std::array<bool, 3> possible_{};
    std::array<bool, 3> on_{};
    std::uint32_t groups_ = 0;          ///< of weightGradients()
    std::optional<gpu::Buffer> layers_; ///< of weightGradients(): where each layer lies
};

} // namespace lockstep
