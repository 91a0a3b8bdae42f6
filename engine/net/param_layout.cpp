#include "engine/net/param_layout.h"

namespace lockstep {

namespace {

constexpr std::size_t tensorAlignment = 64;

std::size_t alignTensor(std::size_t offset) {
    return (offset + tensorAlignment - 1) / tensorAlignment * tensorAlignment;
}

} // namespace

ParamLayout::ParamLayout(const NetShape& shape) {
    for (std::size_t index = 0; index < shape.layers(); ++index) {
        LayerLayout layer;
        layer.inputs = shape.widths[index];
        layer.outputs = shape.widths[index + 1];
        layer.rowStride = roundUpToFour(layer.inputs);
        layer.weightOffset = size_;
        layer.biasOffset = alignTensor(layer.weightOffset + layer.weightCount());
        size_ = alignTensor(layer.biasOffset + layer.biasCount());
        layers_.push_back(layer);
    }
}

} // namespace lockstep
