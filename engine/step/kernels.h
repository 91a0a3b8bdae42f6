// The kernels of the engine on Vulkan, one line each: shader, params struct, specialisation.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/gpu/kernel.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"
#include "engine/step/dense_kernel.h"
#include "engine/step/shaders.h"
#include "shaders/shared/params.h"

namespace lockstep {

/// Pipelines of a device, created on first use and kept. References stay valid as long as the object lives.
class Kernels {
  public:
    explicit Kernels(gpu::Device& device) : device_(device) {}

    gpu::Device& device() const { return device_; }

    /// From now on, kernels use these shaders instead of the built-in ones; those requested before stay as
    /// they are. Throws std::invalid_argument for a name that no shader has.
    void replace(ReplacedShaders shaders);
    bool replaced(std::string_view shader) const { return replaced_.contains(shader); }
    const ReplacedShaders& replacedShaders() const { return replaced_; }

    DenseKernel dense(Product product, const ProductKernel& how, Activation activation);
    const DenseUpdateKernel& denseUpdate(const ProductKernel& how, Optimizer optimizer);
    /// `half`: the batch is stored as fp16; likewise the outputs and the gradients of sums below.
    const gpu::Kernel<shared::GatherBatchParams>& gatherBatch(bool pixels, bool half);
    const gpu::Kernel<shared::LossParams>& lossAndGradient(Loss loss, Activation outputActivation, bool half);
    const gpu::Kernel<shared::LossSumParams>& lossSum();
    const gpu::Kernel<shared::ScoreParams>& score(Loss loss, Activation outputActivation);
    const gpu::Kernel<shared::UpdateParams>& update(Optimizer optimizer);
    /// The same, and fp16 copies of the weights; lossScale() runs before it and tells whether gradients
    /// overflowed.
    const gpu::Kernel<shared::UpdateHalfParams>& updateHalf(Optimizer optimizer);
    const gpu::Kernel<shared::LossScaleParams>& lossScale();
    /// One workgroup of `groupSize` invocations; see whole_step.h.
    const gpu::Kernel<shared::WholeStepParams>& wholeStep(const NetShape& shape, Optimizer optimizer,
                                                          std::uint32_t groupSize, std::uint32_t chunk,
                                                          std::uint32_t sharedFloats);

    /// Multiply-adds in registers: what nothing can be faster than. An item is an invocation.
    const gpu::Kernel<shared::RoofParams>& roof();
    /// The same of matrix units, where matrixTileOf() the device is not zero.
    const gpu::Kernel<shared::RoofParams>& roofMatrix();

    const gpu::Kernel<shared::PlaneInputsParams>& planeInputs();
    const gpu::Kernel<shared::PlanePictureParams>& planePicture(Loss loss, Activation outputActivation);
    const gpu::Kernel<shared::NeuronPictureParams>& neuronPicture(); ///< its items are tiles

    /// Rows of one workgroup of lossAndGradient and of score.
    static constexpr std::uint32_t rowsPerGroup = 128;
    /// Invocations of one workgroup of roof and roofMatrix.
    static constexpr std::uint32_t roofGroup = 64;

  private:
    /// `stem` names the shader, `shownAs` the operation in timings.
    template <class Params>
    const gpu::Kernel<Params>& find(const std::string& stem, const std::string& shownAs,
                                    gpu::SpecConstants constants, gpu::WorkItems itemsPerGroup = {0, 0, 0},
                                    gpu::TexelFormat texels = gpu::TexelFormat::floats,
                                    std::string variant = {});

    gpu::Device& device_;
    ReplacedShaders replaced_;
    std::map<std::string, std::unique_ptr<gpu::AnyKernel>> made_; ///< by shader and constants
};

} // namespace lockstep
