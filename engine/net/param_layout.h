// Where each weight lives, and what it starts as: all parameters of a network are one array of floats (an
// arena), the same on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/net/net_shape.h"

namespace lockstep {

/// One dense layer's place in the arena, in floats. weight[out][in], as in `torch.nn.Linear.weight`, is at
/// weightOffset + out * rowStride + in. `rowStride` is `inputs` rounded up to four; the padding is always 0.
struct LayerLayout {
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::size_t rowStride = 0;
    std::size_t weightOffset = 0;
    std::size_t biasOffset = 0;

    std::size_t weightCount() const { return outputs * rowStride; }  ///< floats, padding included
    std::size_t biasCount() const { return roundUpToFour(outputs); } ///< floats, padding included
};

/// Every tensor starts at a multiple of 64 floats (256 bytes, the largest storage-buffer alignment that a
/// Vulkan device may require), so that it can be bound by itself. One optimizer dispatch covers [0, size).
class ParamLayout {
  public:
    ParamLayout() = default;
    explicit ParamLayout(const NetShape& shape);

    const LayerLayout& layer(std::size_t index) const { return layers_[index]; }
    std::size_t layers() const { return layers_.size(); }
    /// Where the next layer's weights begin; of the last one, size().
    std::size_t endOf(std::size_t index) const {
        return index + 1 < layers_.size() ? layers_[index + 1].weightOffset : size_;
    }
    std::size_t size() const { return size_; } ///< floats of the whole arena, a multiple of 64

  private:
    std::vector<LayerLayout> layers_;
    std::size_t size_ = 0;
};

/// The initial weights: a whole parameter arena, ParamLayout(shape).size() floats. Weights follow shape.init,
/// biases and padding are 0. A pure function of (shape, seed): weight[o][i] of layer l draws from stream
/// `weights` at index o * inputs + i, subindex l.
std::vector<float> initialWeights(const NetShape& shape, std::uint64_t seed);

} // namespace lockstep
