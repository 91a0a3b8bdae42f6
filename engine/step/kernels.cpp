#include "engine/step/kernels.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "engine/step/loop_rounds.h"

namespace lockstep {

namespace {

std::uint32_t number(auto value) { return static_cast<std::uint32_t>(value); }

bool oneOutputAtATime(const ProductKernel& how) {
    return how.rung == "one" || how.rung == "naive" || how.rung == "naive-strided";
}

// By the numbers in shaders/dense/dense_constants.glsl.
gpu::SpecConstants constantsOf(const ProductKernel& how, const gpu::Device& device) {
    if (how.rung == "one") return {{0, 1}};
    gpu::SpecConstants constants{{0, how.invocations()}, {1, how.groupN}};
    if (!oneOutputAtATime(how)) {
        constants[2] = how.tileM;
        constants[3] = how.tileN;
    }
    if (how.slabK > 0) constants[5] = how.slabK;
    if (how.lanes > 0) constants[6] = how.lanes;
    if (how.slices > 1) constants[8] = how.slices;
    if (how.rung == "matrix") {
        const gpu::MatrixTile tile = matrixTileOf(device);
        constants.insert({{10, tile.m}, {11, tile.n}, {12, tile.k}});
    }
    return constants;
}

gpu::WorkItems outputsPerGroup(const ProductKernel& how) {
    return {how.groupN * how.tileN, how.groupM * how.tileM, 1};
}

} // namespace

std::string_view name(Product product) {
    switch (product) {
    case Product::forward: return "dense";
    case Product::backwardInputs: return "dense_backward_inputs";
    case Product::backwardWeights: return "dense_backward_weights";
    }
    return "dense";
}

std::string ProductKernel::describe() const {
    if (oneOutputAtATime(*this)) return rung;
    std::string text = (half && rung != "matrix" ? "half " : "") + rung + " " + std::to_string(tileM) + "x" +
                       std::to_string(tileN) + ", group " + std::to_string(groupM) + "x" +
                       std::to_string(groupN);
    if (slabK != 0) text += ", slab " + std::to_string(slabK);
    if (slices > 1) text += ", " + std::to_string(slices) + " slices";
    return text;
}

gpu::MatrixTile matrixTileOf(const gpu::Device& device) {
    static const gpu::MatrixDialect dialect =
        gpu::reflect(shaderWords("dense_matrix"), {}, "dense_matrix").matrices;
    const gpu::MatrixTiles& tiles = device.limits().matrixTiles;
    return dialect == gpu::MatrixDialect::khr ? tiles.khr : tiles.nv;
}

std::string shaderName(std::string_view operation, const ProductKernel& kernel) {
    std::string stem =
        std::string(operation) + "_" + kernel.rung + (kernel.half && kernel.rung != "matrix" ? "_half" : "");
    std::ranges::replace(stem, '-', '_');
    return stem;
}

std::vector<ProductPiece> piecesOf(const ProductKernel& kernel, std::uint32_t m, std::uint32_t n,
                                   std::uint32_t k) {
    if (kernel.rung != "one") return {{0, m * n}};
    const std::uint32_t most =
        std::max(number(mostLoopRounds) / (k + 3), 1u); // the inner loop's last look, too
    std::vector<ProductPiece> pieces;
    for (std::uint32_t first = 0; first < m * n; first += most)
        pieces.push_back({first, std::min(most, m * n - first)});
    return pieces;
}

void Kernels::replace(ReplacedShaders shaders) {
    for (const auto& [shader, words] : shaders)
        if (shaderWords(shader).empty())
            throw std::invalid_argument("there is no shader '" + shader + "' to be replaced");
    replaced_ = std::move(shaders);
}

template <class Params>
const gpu::Kernel<Params>& Kernels::find(std::map<std::string, gpu::Kernel<Params>>& made,
                                         const std::string& stem, const std::string& shownAs,
                                         gpu::SpecConstants constants, gpu::WorkItems itemsPerGroup,
                                         gpu::TexelFormat texels, std::string variant) {
    const auto replacement = replaced_.find(stem);
    std::string key = stem;
    if (replacement != replaced_.end()) key += " replaced";
    for (const auto& [id, value] : constants) key += " " + std::to_string(id) + "=" + std::to_string(value);
    if (const auto found = made.find(key); found != made.end()) return found->second;
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
    return made.try_emplace(key, device_, source).first->second;
}

DenseKernel Kernels::dense(Product product, const ProductKernel& how, Activation activation) {
    gpu::SpecConstants constants = constantsOf(how, device_);
    if (product != Product::backwardWeights) constants[4] = number(activation);
    const std::string stem(name(product));
    const auto texels = how.half ? gpu::TexelFormat::halves : gpu::TexelFormat::floats;
    return {&find(dense_, shaderName(stem, how), stem, std::move(constants), outputsPerGroup(how), texels,
                  how.describe()),
            product, how};
}

const Kernels::DenseUpdate& Kernels::denseUpdate(const ProductKernel& how, Optimizer optimizer) {
    gpu::SpecConstants constants = constantsOf(how, device_);
    constants[7] = number(optimizer);
    const std::string stem(name(Product::backwardWeights));
    return find(denseUpdate_, shaderName(stem + "_update", how), stem, std::move(constants),
                outputsPerGroup(how), gpu::TexelFormat::floats, how.describe());
}

const gpu::Kernel<shared::GatherBatchParams>& Kernels::gatherBatch(bool pixels, bool half) {
    return find(gatherBatch_, "gather_batch", "gather_batch",
                {{0, 8}, {1, 8}, {2, pixels ? 1 : 0}, {3, half ? 1 : 0}});
}

const gpu::Kernel<shared::LossParams>& Kernels::lossAndGradient(Loss loss, Activation outputActivation,
                                                                bool half) {
    return find(lossAndGradient_, "loss_and_gradient", "loss_and_gradient",
                {{0, rowsPerGroup}, {1, number(loss)}, {2, number(outputActivation)}, {3, half ? 1 : 0}});
}

const gpu::Kernel<shared::LossSumParams>& Kernels::lossSum() {
    return find(lossSum_, "loss_sum", "loss_and_gradient", // the same operation's second half
                {{0, rowsPerGroup}});
}

const gpu::Kernel<shared::ScoreParams>& Kernels::score(Loss loss, Activation outputActivation) {
    return find(score_, "score", "score",
                {{0, rowsPerGroup}, {1, number(loss)}, {2, number(outputActivation)}});
}

const gpu::Kernel<shared::UpdateParams>& Kernels::update(Optimizer optimizer) {
    return find(update_, "update", "update", {{0, 64}, {7, number(optimizer)}});
}

const gpu::Kernel<shared::UpdateHalfParams>& Kernels::updateHalf(Optimizer optimizer) {
    return find(updateHalf_, "update_half", "update", {{0, 64}, {7, number(optimizer)}});
}

const gpu::Kernel<shared::LossScaleParams>& Kernels::lossScale() {
    return find(lossScale_, "loss_scale", "update", // the same operation's first half
                {{0, 64}});
}

const gpu::Kernel<shared::WholeStepParams>& Kernels::wholeStep(const NetShape& shape, Optimizer optimizer,
                                                               std::uint32_t groupSize, std::uint32_t chunk,
                                                               std::uint32_t sharedFloats) {
    gpu::SpecConstants constants{
        {0, groupSize},         {1, number(shape.loss)},       {2, number(shape.outputActivation)},
        {3, sharedFloats},      {4, number(shape.activation)}, {5, chunk},
        {7, number(optimizer)}, {9, number(shape.layers())}};
    for (std::uint32_t level = 0; level <= shared::wholeStepLayers; ++level)
        constants[10 + level] = level < shape.widths.size() ? number(shape.widths[level]) : 0;
    return find(wholeStep_, "whole_step", "whole_step", std::move(constants), {1, 1, 1});
}

const gpu::Kernel<shared::PlaneInputsParams>& Kernels::planeInputs() {
    return find(planeInputs_, "plane_inputs", "plane_inputs", {{0, 64}});
}

const gpu::Kernel<shared::PlanePictureParams>& Kernels::planePicture(Loss loss, Activation outputActivation) {
    return find(planePicture_, "plane_picture", "plane_picture",
                {{0, 64}, {1, number(loss)}, {2, number(outputActivation)}});
}

const gpu::Kernel<shared::NeuronPictureParams>& Kernels::neuronPicture() {
    return find(neuronPicture_, "neuron_picture", "neuron_picture", {{0, 64}}, {1, 1, 1});
}

} // namespace lockstep
