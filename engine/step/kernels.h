// The kernels of the engine on Vulkan, one line each: shader, params struct, specialisation.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/gpu/kernel.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"
#include "engine/plan/rounding.h"
#include "engine/step/dense_kernel.h"
#include "engine/step/shaders.h"
#include "shaders/shared/params.h"

namespace lockstep {

/// Pipelines of a device, created on first use and kept. References stay valid as long as the object lives.
/// Several threads may ask for kernels at once, so that drivers compile them side by side.
class Kernels {
  public:
    /// workgroupClock   all kernels note when their workgroups run (engine/gpu/workgroup_clock.h). For
    /// devices
    ///                  with Limits::deviceClock
    explicit Kernels(gpu::Device& device, bool workgroupClock = false)
        : device_(device), workgroupClock_(workgroupClock) {}

    gpu::Device& device() const { return device_; }

    /// From now on, kernels use these shaders instead of the built-in ones; those requested before stay as
    /// they are. Throws std::invalid_argument for a name that no shader has.
    void replace(ReplacedShaders shaders);
    bool replaced(std::string_view shader) const { return replaced_.contains(shader); }
    const ReplacedShaders& replacedShaders() const { return replaced_; }

    /// A kernel of this shader has been asked for.
    bool made(std::string_view shader);

    /// adds   weight gradients are added to what is there: those of earlier parts of the batch
    DenseKernel dense(Product product, const ProductKernel& how, Activation activation, bool adds = false);
    const DenseUpdateKernel& denseUpdate(const ProductKernel& how, Optimizer optimizer);
    /// `half`: the batch is stored as fp16; likewise the outputs and the gradients of sums below.
    const gpu::Kernel<shared::GatherBatchParams>& gatherBatch(bool pixels, bool half) {
        return find<shared::GatherBatchParams>("gather_batch",
                                               {{0, 8}, {1, 8}, {2, pixels ? 1 : 0}, {3, half ? 1 : 0}});
    }
    const gpu::Kernel<shared::LossParams>& lossAndGradient(Loss loss, Activation output, bool half) {
        return find<shared::LossParams>(
            "loss_and_gradient",
            {{0, rowsPerGroup}, {1, gpu::asUint(loss)}, {2, gpu::asUint(output)}, {3, half ? 1 : 0}});
    }
    const gpu::Kernel<shared::LossSumParams>& lossSum() { // the same operation's second half
        return find<shared::LossSumParams>("loss_sum", {{0, rowsPerGroup}}, "loss_and_gradient");
    }
    /// The last layer forward, lossAndGradient() and the gradient passed on to the layer below, in one
    /// dispatch (fp32, two layers at least); an item is a workgroup.
    const gpu::Kernel<shared::LossParams>& lastLayer(const NetShape& shape);
    /// The weight gradients of all layers, and the update; an item is a workgroup. `how`: tiled.
    const gpu::Kernel<shared::WeightGradientsParams>& weightGradients(const ProductKernel& how,
                                                                      Optimizer optimizer);
    /// gatherBatch(), and the first layer's forward product. `how`: tiled.
    const gpu::Kernel<shared::GatheredDenseParams>& gatheredDense(const ProductKernel& how, bool pixels,
                                                                  Activation activation);
    const gpu::Kernel<shared::ScoreParams>& score(Loss loss, Activation output) {
        return find<shared::ScoreParams>(
            "score", {{0, rowsPerGroup}, {1, gpu::asUint(loss)}, {2, gpu::asUint(output)}});
    }
    const gpu::Kernel<shared::UpdateParams>& update(Optimizer optimizer) {
        return find<shared::UpdateParams>("update",
                                          {{0, 64}, {shared::updateOptimizer, gpu::asUint(optimizer)}});
    }
    /// The same, and fp16 copies of the weights; lossScale() runs before it and tells whether gradients
    /// overflowed.
    const gpu::Kernel<shared::UpdateHalfParams>& updateHalf(Optimizer optimizer) {
        return find<shared::UpdateHalfParams>(
            "update_half", {{0, 64}, {shared::updateOptimizer, gpu::asUint(optimizer)}}, "update");
    }
    const gpu::Kernel<shared::LossScaleParams>& lossScale() {
        return find<shared::LossScaleParams>("loss_scale", {{0, 64}}, "update");
    }
    /// The largest number of an operand that is rounded with a scale, and the rounding.
    const gpu::Kernel<shared::RoundParams>& largestOperand(Operation shownAs) {
        return find<shared::RoundParams>("largest_operand", {{0, 64}}, std::string(name(shownAs)));
    }
    const gpu::Kernel<shared::RoundParams>& roundOperand(const Rounding& how, Operation shownAs) {
        return find<shared::RoundParams>("round_operand",
                                         {{0, 64}, {1, gpu::asUint(how.kind)}, {2, how.scaled ? 1 : 0}},
                                         std::string(name(shownAs)), {0, 0, 0}, gpu::TexelFormat::floats,
                                         std::string(rowOf(how.kind).name));
    }
    const gpu::Kernel<shared::RoundParametersParams>& roundParameters(FloatKind kind, RoundingMode mode) {
        return find<shared::RoundParametersParams>(
            "round_parameters",
            {{0, 64}, {1, gpu::asUint(kind)}, {2, mode == RoundingMode::stochastic ? 1 : 0}}, "update",
            {0, 0, 0}, gpu::TexelFormat::floats,
            std::string(rowOf(kind).name) + " " + std::string(lockstep::name(mode)));
    }
    /// One workgroup of `groupSize` invocations; see whole_step.h.
    const gpu::Kernel<shared::WholeStepParams>& wholeStep(const NetShape& shape, Optimizer optimizer,
                                                          std::uint32_t groupSize, std::uint32_t chunk,
                                                          std::uint32_t sharedFloats);

    /// Multiply-adds in registers: what nothing can be faster than. An item is an invocation.
    const gpu::Kernel<shared::RoofParams>& roof() {
        return find<shared::RoofParams>("roof", {{shared::denseGroupSize, roofGroup}});
    }
    /// The same of matrix units, where the device has them (Limits::matrixTiles).
    ///   int8   tiles of int8 with int32 sums, instead of fp16 with fp32 sums
    const gpu::Kernel<shared::RoofParams>& roofMatrix(bool int8 = false);

    const gpu::Kernel<shared::PlaneInputsParams>& planeInputs() {
        return find<shared::PlaneInputsParams>("plane_inputs", {{0, 64}});
    }
    const gpu::Kernel<shared::PlanePictureParams>& planePicture(Loss loss, Activation output) {
        return find<shared::PlanePictureParams>("plane_picture",
                                                {{0, 64}, {1, gpu::asUint(loss)}, {2, gpu::asUint(output)}});
    }
    const gpu::Kernel<shared::NeuronPictureParams>& neuronPicture() { // its items are tiles
        return find<shared::NeuronPictureParams>("neuron_picture", {{0, 64}}, {}, {1, 1, 1});
    }

    /// Rows of one workgroup of lossAndGradient and of score.
    static constexpr std::uint32_t rowsPerGroup = 128;
    /// Invocations of one workgroup of roof and roofMatrix.
    static constexpr std::uint32_t roofGroup = 64;

    /// A kernel of any shader.
    /// stem      of the shader's file
    /// shownAs   the operation in timings; empty: the stem
    template <class Params>
    const gpu::Kernel<Params>& find(const std::string& stem, gpu::SpecConstants constants,
                                    const std::string& shownAs = {}, gpu::WorkItems itemsPerGroup = {0, 0, 0},
                                    gpu::TexelFormat texels = gpu::TexelFormat::floats,
                                    std::string variant = {}) {
        const std::string key = keyOf(stem, constants) + (shownAs.empty() ? "" : " as " + shownAs);
        const gpu::AnyKernel* kernel = known(key);
        if (kernel == nullptr) {
            gpu::KernelSource source{.name = shownAs.empty() ? stem : shownAs,
                                     .words = shaderWords(stem),
                                     .constants = std::move(constants),
                                     .itemsPerGroup = itemsPerGroup,
                                     .texels = texels,
                                     .shader = stem,
                                     .variant = std::move(variant),
                                     .workgroupClock = workgroupClock_};
            useReplacement(source);
            kernel = &keep(key, std::make_unique<gpu::Kernel<Params>>(device_, source));
        }
        return static_cast<const gpu::Kernel<Params>&>(*kernel); // a shader has one params struct
    }

  private:
    std::string keyOf(const std::string& stem, const gpu::SpecConstants& constants) const;
    void useReplacement(gpu::KernelSource& source) const;
    const gpu::AnyKernel* known(const std::string& key);
    /// The one that was there first, if another thread was faster.
    const gpu::AnyKernel& keep(const std::string& key, std::unique_ptr<gpu::AnyKernel> made);

    gpu::Device& device_;
    bool workgroupClock_;
    ReplacedShaders replaced_;
    std::mutex mutex_;                                            ///< guards made_
    std::map<std::string, std::unique_ptr<gpu::AnyKernel>> made_; ///< by shader and constants
};

} // namespace lockstep
