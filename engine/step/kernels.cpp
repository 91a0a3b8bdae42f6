#include "engine/step/kernels.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace lockstep {

namespace {

using gpu::asUint;

} // namespace

void Kernels::replace(ReplacedShaders shaders) {
    for (const auto& [shader, words] : shaders)
        if (shaderWords(shader).empty())
            throw std::invalid_argument("there is no shader '" + shader + "' to be replaced");
    replaced_ = std::move(shaders);
}

template <class Params>
const gpu::Kernel<Params>& Kernels::find(const std::string& stem, const std::string& shownAs,
                                         gpu::SpecConstants constants, gpu::WorkItems itemsPerGroup,
                                         gpu::TexelFormat texels, std::string variant) {
    const auto replacement = replaced_.find(stem);
    std::string key = stem;
    if (replacement != replaced_.end()) key += " replaced";
    for (const auto& [id, value] : constants) key += " " + std::to_string(id) + "=" + std::to_string(value);
    std::unique_ptr<gpu::AnyKernel>& kernel = made_[key];
    if (!kernel) {
        gpu::KernelSource source{shownAs, shaderWords(stem), std::move(constants), itemsPerGroup};
        source.texels = texels;
        source.shader = stem;
        source.variant = std::move(variant);
        if (replacement != replaced_.end()) {
            source.buffersOf = std::exchange(source.words, replacement->second);
            const gpu::SpecConstants known = gpu::reflect(source.words, {}, shownAs).specConstants;
            std::erase_if(source.constants,
                          [&](const auto& constant) { return !known.contains(constant.first); });
        }
        kernel = std::make_unique<gpu::Kernel<Params>>(device_, source);
    }
    return static_cast<const gpu::Kernel<Params>&>(*kernel); // a shader has one params struct
}

DenseKernel Kernels::dense(Product product, const ProductKernel& how, Activation activation) {
    gpu::SpecConstants constants = constantsOf(how, device_);
    if (product != Product::backwardWeights) constants[shared::denseActivation] = asUint(activation);
    const std::string operation(name(product));
    const auto texels = how.half ? gpu::TexelFormat::halves : gpu::TexelFormat::floats;
    return {&find<shared::DenseParams>(shaderName(operation, how), operation, std::move(constants),
                                       how.outputsPerGroup(), texels, how.describe()),
            product, how};
}

const DenseUpdateKernel& Kernels::denseUpdate(const ProductKernel& how, Optimizer optimizer) {
    gpu::SpecConstants constants = constantsOf(how, device_);
    constants[shared::updateOptimizer] = asUint(optimizer);
    const std::string operation(name(Product::backwardWeights));
    return find<shared::DenseUpdateParams>(shaderName(operation + "_update", how), operation,
                                           std::move(constants), how.outputsPerGroup(),
                                           gpu::TexelFormat::floats, how.describe());
}

const gpu::Kernel<shared::GatherBatchParams>& Kernels::gatherBatch(bool pixels, bool half) {
    return find<shared::GatherBatchParams>("gather_batch", "gather_batch",
                                           {{0, 8}, {1, 8}, {2, pixels ? 1 : 0}, {3, half ? 1 : 0}});
}

const gpu::Kernel<shared::LossParams>& Kernels::lossAndGradient(Loss loss, Activation outputActivation,
                                                                bool half) {
    return find<shared::LossParams>(
        "loss_and_gradient", "loss_and_gradient",
        {{0, rowsPerGroup}, {1, asUint(loss)}, {2, asUint(outputActivation)}, {3, half ? 1 : 0}});
}

const gpu::Kernel<shared::LossSumParams>& Kernels::lossSum() {
    return find<shared::LossSumParams>("loss_sum", "loss_and_gradient", // the same operation's second half
                                       {{0, rowsPerGroup}});
}

const gpu::Kernel<shared::ScoreParams>& Kernels::score(Loss loss, Activation outputActivation) {
    return find<shared::ScoreParams>("score", "score",
                                     {{0, rowsPerGroup}, {1, asUint(loss)}, {2, asUint(outputActivation)}});
}

const gpu::Kernel<shared::UpdateParams>& Kernels::update(Optimizer optimizer) {
    return find<shared::UpdateParams>("update", "update",
                                      {{0, 64}, {shared::updateOptimizer, asUint(optimizer)}});
}

const gpu::Kernel<shared::UpdateHalfParams>& Kernels::updateHalf(Optimizer optimizer) {
    return find<shared::UpdateHalfParams>("update_half", "update",
                                          {{0, 64}, {shared::updateOptimizer, asUint(optimizer)}});
}

const gpu::Kernel<shared::LossScaleParams>& Kernels::lossScale() {
    return find<shared::LossScaleParams>("loss_scale", "update", // the same operation's first half
                                         {{0, 64}});
}

const gpu::Kernel<shared::WholeStepParams>& Kernels::wholeStep(const NetShape& shape, Optimizer optimizer,
                                                               std::uint32_t groupSize, std::uint32_t chunk,
                                                               std::uint32_t sharedFloats) {
    gpu::SpecConstants constants{{0, groupSize},
                                 {1, asUint(shape.loss)},
                                 {2, asUint(shape.outputActivation)},
                                 {3, sharedFloats},
                                 {4, asUint(shape.activation)},
                                 {5, chunk},
                                 {shared::updateOptimizer, asUint(optimizer)},
                                 {9, asUint(shape.layers())}};
    for (std::uint32_t level = 0; level <= shared::wholeStepLayers; ++level)
        constants[10 + level] = level < shape.widths.size() ? asUint(shape.widths[level]) : 0;
    return find<shared::WholeStepParams>("whole_step", "whole_step", std::move(constants), {1, 1, 1});
}

const gpu::Kernel<shared::RoofParams>& Kernels::roof() {
    return find<shared::RoofParams>("roof", "roof", {{shared::denseGroupSize, roofGroup}});
}

const gpu::Kernel<shared::RoofParams>& Kernels::roofMatrix() {
    const gpu::MatrixTile tile = matrixTileOf(device_);
    return find<shared::RoofParams>("roof_matrix", "roof_matrix",
                                    {{shared::denseGroupSize, roofGroup},
                                     {shared::denseSharers, device_.limits().subgroupSize},
                                     {shared::denseMatrixM, tile.m},
                                     {shared::denseMatrixN, tile.n},
                                     {shared::denseMatrixK, tile.k}});
}

const gpu::Kernel<shared::PlaneInputsParams>& Kernels::planeInputs() {
    return find<shared::PlaneInputsParams>("plane_inputs", "plane_inputs", {{0, 64}});
}

const gpu::Kernel<shared::PlanePictureParams>& Kernels::planePicture(Loss loss, Activation outputActivation) {
    return find<shared::PlanePictureParams>("plane_picture", "plane_picture",
                                            {{0, 64}, {1, asUint(loss)}, {2, asUint(outputActivation)}});
}

const gpu::Kernel<shared::NeuronPictureParams>& Kernels::neuronPicture() {
    return find<shared::NeuronPictureParams>("neuron_picture", "neuron_picture", {{0, 64}}, {1, 1, 1});
}

} // namespace lockstep
