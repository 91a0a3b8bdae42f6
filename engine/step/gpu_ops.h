// The operations of a training step on a Vulkan device: each records the dispatches that compute it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/plan/work.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/half_arenas.h"
#include "engine/step/kernels.h"
#include "engine/step/ops.h"
#include "engine/step/step_fusions.h"
#include "engine/step/step_kernels.h"

namespace lockstep {

/// The push constants of a training step's batch and of its loss.
shared::GatherBatchParams gatherParams(const GpuArenas& arenas, const StepSettings& step);
shared::LossParams lossParams(const GpuArenas& arenas, const StepSettings& step);

class GpuOps final : public Ops {
  public:
    /// All references must outlive the object. `half` holds the operands of fp16 kernels; null for fp32.
    /// `fusions` has the kernels of plans in which operations are joined; null where none are.
    GpuOps(gpu::Recorder& recorder, GpuArenas& arenas, Kernels& kernels, const TrainSettings& settings,
           const StepKernels& how, const HalfArenas* half = nullptr, const StepFusions* fusions = nullptr);

    void gatherBatch(const StepSettings& step) override;
    void dense(std::size_t layer) override;
    void lossAndGradient(const StepSettings& step) override;
    void denseBackwardInputs(std::size_t layer) override;
    void denseBackwardWeights(std::size_t layer) override;
    void update(const StepSettings& step, std::size_t first, std::size_t layers) override;
    void carryOut(const PlannedOperation& operation, const StepSettings& step) override;
    void denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step) override;
    void gatheredDense(const StepSettings& step) override;
    void lastLayer(const StepSettings& step) override;
    void weightGradients(const StepSettings& step) override;
    void gatherRange(Split split, std::size_t first, std::size_t rows) override;
    void score() override;

    /// Number of partial sums of the loss that score() has written since beginEvaluation().
    std::uint32_t scoredGroups() const { return scoreSlot_; }

    /// Clears the count of correct predictions and the confusion matrix, and restarts the partial sums.
    void beginEvaluation();

    /// True: every operation becomes a submission of its own. For steps that would take too long as one: some
    /// systems reset a GPU that does not respond for two seconds.
    void submitEachOperation(bool on) { submitEach_ = on; }

    /// True: exchanges with other ranks take place. False at first: what warms up or is compared exchanges
    /// nothing, for ranks do so in different numbers.
    void exchange(bool on) { exchanging_ = on; }

    /// The last step's loss, of all ranks, was not finite: all of them have to stop at that step.
    bool ranksFailed() const { return failed_; }

    /// True: of a product in many pieces (rung `one`), record only the first, to compile its pipeline.
    void firstPiecesOnly(bool on) { firstPiecesOnly_ = on; }

  private:
    bool takesPieces() const override { return true; }
    // The pipelines of one layer, looked up once.
    struct LayerPipelines {
        DenseKernel forward;
        DenseKernel backwardInputs;  // empty for the first layer
        DenseKernel backwardWeights; // empty if the update is folded into it
        DenseKernel addedWeights;    // the same for later pieces of a batch, if there are any
        const DenseUpdateKernel* denseUpdate = nullptr; // null if not
    };

    gpu::Cost cost(const PlannedOperation& alone);
    const StepFusions& fusions() const;
    void gather(const GpuExamples& examples, const TensorTable& tensors,
                const shared::GatherBatchParams& params);
    void product(const DenseKernel& kernel, const PlannedOperation& operation,
                 std::initializer_list<gpu::BufferView> views);
    void updateWithHalves(const shared::UpdateParams& params);
    /// values   rows * stride of them; `columns` in each row count
    void round(const PlannedOperation& operation, std::size_t rows, std::size_t columns,
               const gpu::BufferView& from, const gpu::BufferView& to);
    void roundParameters(const PlannedOperation& operation, const StepSettings& step);
    /// To the host's memory, or back.
    void copyActivations(const PlannedOperation& operation);
    void beginExchange(std::size_t layer, const StepSettings& step);
    void awaitExchange(std::size_t layer, const StepSettings& step);
    void sendOff(const StepSettings& step);
    gpu::BufferView exchangedView(std::size_t first, std::size_t floats) const {
        return arenas_.exchanged->view(first * sizeof(float), floats * sizeof(float));
    }
    /// Of the loss of the whole batch.
    double termsOf(const StepSettings& step) const {
        return static_cast<double>(lossTerms(arenas_.shape.loss, step.batch.rows, arenas_.shape.outputs()));
    }
    void gatherParameters(const StepSettings& step);
    void endOperation() {
        if (submitEach_) recorder_.submitAndGoOn();
    }
    gpu::BufferView activations(std::size_t level) const {
        return arenas_.view(*tensors_, {TensorKind::activations, level}, rows_);
    }
    /// Z[layer], or its outputs when not kept: what the activation's derivative is computed from.
    gpu::BufferView sums(std::size_t layer) const {
        return arenas_.view(*tensors_, savedOf(arenas_.shape, layer), rows_);
    }
    gpu::BufferView dSums(std::size_t layer) const {
        return arenas_.view(*tensors_, {TensorKind::dSums, layer}, rows_);
    }
    gpu::BufferView weightCopy(std::size_t layer) const {
        return arenas_.view(arenas_.memory.step, {TensorKind::weightCopies, layer},
                            arenas_.layout.layer(layer).outputs);
    }
    /// As the operation at hand reads them.
    gpu::BufferView weights(std::size_t layer) const {
        if (half_ != nullptr) return half_->weights(layer);
        return planned() != nullptr && planned()->rounded ? weightCopy(layer) : arenas_.weights(layer);
    }

    /// Most invocations of one update; beyond, each takes several vec4s.
    std::uint32_t updateLimit() const {
        return std::min(kernels_.device().limits().groupCount[0], 1u << 20) * 64;
    }

    gpu::Recorder& recorder_;
    GpuArenas& arenas_;
    Kernels& kernels_;
    StepWork work_;
    const HalfArenas* half_; // null: fp32
    const PrecisionSettings precision_;
    const std::uint64_t seed_;
    std::vector<LayerPipelines> layers_;
    const gpu::Kernel<shared::GatherBatchParams>& gatherBatch_;
    const gpu::Kernel<shared::LossParams>& lossAndGradient_;
    const gpu::Kernel<shared::LossSumParams>& lossSum_;
    const gpu::Kernel<shared::ScoreParams>& score_;
    const gpu::Kernel<shared::UpdateParams>* update_ = nullptr;         // fp32, if not folded
    const gpu::Kernel<shared::UpdateHalfParams>* updateHalf_ = nullptr; // fp16
    const gpu::Kernel<shared::LossScaleParams>* lossScale_ = nullptr;   // fp16
    const StepFusions* fusions_ = nullptr;
    const TensorTable* tensors_;  ///< where those of the current batch or range lie
    std::size_t rows_ = 0;        ///< of the current batch or range
    std::uint32_t scoreSlot_ = 0; ///< where the next score() puts its sums
    bool submitEach_ = false;
    bool firstPiecesOnly_ = false;
    bool exchanging_ = false;
    bool failed_ = false; ///< the ranks' loss was not finite
    struct OnItsWay {
        std::size_t layer;
        gpu::Ticket ticket; ///< after it, the layer's gradients are in the host's memory
    };
    std::vector<OnItsWay> onTheirWay_;
};

} // namespace lockstep
