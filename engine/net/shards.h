// Which part of the parameters a rank updates, and keeps the optimizer's state and the gradients of
// (RankShare::shard).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/net/param_layout.h"
#include "engine/net/settings.h"

namespace lockstep {

/// Floats [begin, end) of an arena.
struct FloatRange {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
};

/// Without shards, that is all of every layer, and the state lies as the parameters do. With them, each
/// layer's floats (weights, biases, padding) are cut into as many parts as there are ranks, as equal as
/// multiples of 64 floats allow, and a rank's arrays of state hold its parts of all layers, one behind the
/// other. So every rank has something to do for every layer, and a small layer's parts may be empty.
class Shards {
  public:
    Shards(const ParamLayout& layout, const RankShare& share);

    /// This rank's part of the layer, in the arena of parameters.
    FloatRange own(std::size_t layer) const { return own_[layer]; }
    /// Where that part's state begins, in an array of state.
    std::size_t stateOf(std::size_t layer) const { return states_[layer]; }
    std::size_t stateSize() const { return stateSize_; } ///< floats of an array of state

    /// Where a layer's gradients lie in the arena of gradients until they are summed up: as the parameters do
    /// or, where gradients are shared out, in one of two places, so that a layer's are computed while those
    /// of the layer above are exchanged.
    FloatRange gradients(std::size_t layer) const { return gradients_[layer]; }
    /// Where this rank's part of them lies after that; it is own(layer).size() floats.
    std::size_t ownGradients(std::size_t layer) const { return ownGradients_[layer]; }
    std::size_t gradientSize() const { return gradientSize_; } ///< floats of the arena of gradients

    /// The places at which the layer is cut, from its first float on: ranks + 1 of them. Empty without
    /// shards.
    std::span<const std::size_t> bounds(std::size_t layer) const { return bounds_[layer]; }

  private:
    void placeGradients(const ParamLayout& layout, bool shared);

    std::vector<FloatRange> own_;
    std::vector<std::size_t> states_;
    std::vector<std::vector<std::size_t>> bounds_;
    std::size_t stateSize_ = 0;
    std::vector<FloatRange> gradients_;
    std::vector<std::size_t> ownGradients_;
    std::size_t gradientSize_ = 0;
};

} // namespace lockstep
