// The kernels of operations that one dispatch takes together (rewrites.h), and which of them a device, a
// network and the kernels beside them allow. On a GPU a small step's time is that of starting dispatches and
// waiting at barriers: 784-256-128-10 has ten dispatches and eight barriers one by one, and five of each with
// all of these.
//
// Results are the same bit for bit, whatever is fused: every sum is added in the same order. So `best` may
// choose by time alone (GpuTrainer), and a step is traced operation by operation. step_fusions_test
// compares.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/gpu/recorder.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/kernels.h"
#include "engine/step/ops.h"
#include "engine/step/step_kernels.h"

namespace lockstep {

/// What operations may be joined into.
inline constexpr Operation joinedOperations[] = {Operation::lastLayer, Operation::weightGradients,
                                                 Operation::gatheredDense};

class StepFusions {
  public:
    /// All references must outlive the object. Nothing is fused at first.
    StepFusions(Kernels& kernels, GpuArenas& arenas, const TrainSettings& settings, const StepKernels& how);

    /// Whether the device and the network allow it, next to the kernels `how`.
    bool possible(Operation joined) const { return possible_.at(indexOf(joined)); }
    bool on(Operation joined) const { return on_.at(indexOf(joined)); }
    /// Throws std::logic_error where it is not possible.
    void set(Operation joined, bool on);
    /// The plan of `how`, with what is on.
    const StepPlan& plan() const { return plan_; }
    /// The plan of `how`, every operation by itself.
    const StepPlan& apart() const { return apart_; }

    void gatheredDense(gpu::Recorder& recorder, const StepSettings& step, const gpu::Cost& cost) const;
    void lastLayer(gpu::Recorder& recorder, const StepSettings& step, const gpu::Cost& cost) const;
    void weightGradients(gpu::Recorder& recorder, const StepSettings& step, const gpu::Cost& cost) const;

  private:
    using Flags = std::array<bool, std::size(joinedOperations)>;
    static std::size_t indexOf(Operation joined) {
        return static_cast<std::size_t>(std::ranges::find(joinedOperations, joined) -
                                        std::begin(joinedOperations));
    }
    void placeLayers();
    gpu::BufferView tensor(const TensorId& id, std::size_t rows) const {
        return arenas_.view(arenas_.memory.step, id, rows);
    }
    gpu::BufferView saved(std::size_t layer, std::size_t rows) const {
        return tensor(savedOf(arenas_.shape, layer), rows);
    }

    Kernels& kernels_;
    GpuArenas& arenas_;
    const Optimizer optimizer_;
    ProductKernel forward_; ///< tiled
    ProductKernel weights_; ///< tiled
    const StepPlan apart_;
    StepPlan plan_;
    Flags possible_{};
    Flags on_{};
    std::uint32_t groups_ = 0; ///< of weightGradients()
};

} // namespace lockstep
