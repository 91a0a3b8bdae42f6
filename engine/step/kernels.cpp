#include "engine/step/kernels.h"

#include <algorithm>
#include <stdexcept>

#include "engine/plan/operation.h"

namespace lockstep {

void Kernels::replace(ReplacedShaders shaders) {
    for (const auto& [shader, words] : shaders)
        if (shaderWords(shader).empty())
            throw std::invalid_argument("there is no shader '" + shader + "' to be replaced");
    replaced_ = std::move(shaders);
}

std::string Kernels::keyOf(const std::string& stem, const gpu::SpecConstants& constants) const {
    std::string key = stem;
    if (replaced(stem)) key += " replaced";
    for (const auto& [id, value] : constants) key += " " + std::to_string(id) + "=" + std::to_string(value);
    return key;
}

void Kernels::useReplacement(gpu::KernelSource& source) const {
    const auto replacement = replaced_.find(source.shader);
    if (replacement == replaced_.end()) return;
    source.buffersOf = std::exchange(source.words, replacement->second);
    source.edited = true;
    const gpu::SpecConstants known = gpu::reflect(source.words, {}, source.name).specConstants;
    std::erase_if(source.constants, [&](const auto& constant) { return !known.contains(constant.first); });
}

bool Kernels::made(std::string_view shader) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(made_, [shader](const auto& entry) {
        return std::string_view(entry.first).substr(0, entry.first.find(' ')) == shader;
    });
}

const gpu::AnyKernel* Kernels::known(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = made_.find(key);
    return found == made_.end() ? nullptr : found->second.get();
}

const gpu::AnyKernel& Kernels::keep(const std::string& key, std::unique_ptr<gpu::AnyKernel> made) {
    const std::lock_guard lock(mutex_);
    return *made_.try_emplace(key, std::move(made)).first->second;
}

DenseKernel Kernels::dense(Product product, const ProductKernel& how, Activation activation, bool adds) {
    gpu::SpecConstants constants = constantsOf(how, device_);
    if (adds) constants[shared::denseAdds] = 1;
    if (product != Product::backwardWeights) constants[shared::denseActivation] = gpu::asUint(activation);
    const std::string operation(name(product));
    const auto texels = how.half ? gpu::TexelFormat::halves : gpu::TexelFormat::floats;
    return {&find<shared::DenseParams>(shaderName(operation, how), std::move(constants), operation,
                                       how.outputsPerGroup(), texels, how.describe()),
            product, how};
}

const DenseUpdateKernel& Kernels::denseUpdate(const ProductKernel& how, Optimizer optimizer) {
    gpu::SpecConstants constants = constantsOf(how, device_);
    constants[shared::updateOptimizer] = gpu::asUint(optimizer);
    const std::string operation(name(Product::backwardWeights));
    return find<shared::DenseUpdateParams>(shaderName(name(Operation::denseBackwardWeightsAndUpdate), how),
                                           std::move(constants), operation, how.outputsPerGroup(),
                                           gpu::TexelFormat::floats, how.describe());
}

const gpu::Kernel<shared::WholeStepParams>& Kernels::wholeStep(const NetShape& shape, Optimizer optimizer,
                                                               std::uint32_t groupSize, std::uint32_t chunk,
                                                               std::uint32_t sharedFloats) {
    gpu::SpecConstants constants{{0, groupSize},
                                 {1, gpu::asUint(shape.loss)},
                                 {2, gpu::asUint(shape.outputActivation)},
                                 {3, sharedFloats},
                                 {4, gpu::asUint(shape.activation)},
                                 {5, chunk},
                                 {shared::updateOptimizer, gpu::asUint(optimizer)},
                                 {9, gpu::asUint(shape.layers())}};
    for (std::uint32_t level = 0; level <= shared::wholeStepLayers; ++level)
        constants[10 + level] = level < shape.widths.size() ? gpu::asUint(shape.widths[level]) : 0;
    return find<shared::WholeStepParams>("whole_step", std::move(constants), {}, {1, 1, 1});
}

const gpu::Kernel<shared::LossParams>& Kernels::lastLayer(const NetShape& shape) {
    const std::size_t layer = shape.layers() - 1;
    return find<shared::LossParams>("last_layer",
                                    {{0, rowsPerGroup},
                                     {1, gpu::asUint(shape.loss)},
                                     {2, gpu::asUint(shape.outputActivation)},
                                     {3, gpu::asUint(shape.activationOf(layer - 1))},
                                     {4, gpu::asUint(roundUpToFour(shape.widths[layer]) / 4)},
                                     {5, gpu::asUint(roundUpToFour(shape.outputs()))}},
                                    "loss_and_gradient", {1, 1, 1});
}

const gpu::Kernel<shared::WeightGradientsParams>& Kernels::weightGradients(const ProductKernel& how,
                                                                           Optimizer optimizer) {
    gpu::SpecConstants constants = constantsOf(how, device_);
    constants[shared::updateOptimizer] = gpu::asUint(optimizer);
    return find<shared::WeightGradientsParams>("weight_gradients", std::move(constants),
                                               std::string(name(Product::backwardWeights)), {1, 1, 1},
                                               gpu::TexelFormat::floats, how.describe());
}

const gpu::Kernel<shared::GatheredDenseParams>& Kernels::gatheredDense(const ProductKernel& how, bool pixels,
                                                                       Activation activation) {
    gpu::SpecConstants constants = constantsOf(how, device_);
    constants[shared::denseActivation] = gpu::asUint(activation);
    constants[shared::gatheredPixels] = pixels ? 1 : 0;
    return find<shared::GatheredDenseParams>("gathered_dense", std::move(constants),
                                             std::string(name(Product::forward)), how.outputsPerGroup(),
                                             gpu::TexelFormat::floats, how.describe());
}

const gpu::Kernel<shared::RoofParams>& Kernels::roofMatrix(bool int8) {
    const gpu::MatrixTiles& tiles = device_.limits().matrixTiles;
    const gpu::MatrixTile tile = int8 ? tiles.int8Tile() : tiles.tile();
    return find<shared::RoofParams>(int8 ? "roof_matrix_int8" : "roof_matrix",
                                    {{shared::denseGroupSize, roofGroup},
                                     {shared::denseSharers, device_.limits().subgroupSize},
                                     {shared::denseMatrixM, tile.m},
                                     {shared::denseMatrixN, tile.n},
                                     {shared::denseMatrixK, tile.k}});
}

} // namespace lockstep
