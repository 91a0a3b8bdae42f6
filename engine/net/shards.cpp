#include "engine/net/shards.h"

#include <algorithm>

namespace lockstep {

Shards::Shards(const ParamLayout& layout, const RankShare& share) : bounds_(layout.layers()) {
    constexpr std::size_t grain = 64; // as ParamLayout: every part can be bound by itself
    for (std::size_t layer = 0; layer < layout.layers(); ++layer) {
        const std::size_t begin = layout.layer(layer).weightOffset;
        const std::size_t size = layout.endOf(layer) - begin;
        if (share.shard == 0) {
            own_.push_back({begin, begin + size});
            states_.push_back(begin);
            stateSize_ = layout.size();
            continue;
        }
        for (std::size_t rank = 0; rank <= share.ranks; ++rank)
            bounds_[layer].push_back(size / grain * rank / share.ranks * grain);
        own_.push_back({begin + bounds_[layer][share.rank], begin + bounds_[layer][share.rank + 1]});
        states_.push_back(stateSize_);
        stateSize_ += own_.back().size();
    }
    placeGradients(layout, share.shard == 2);
}

void Shards::placeGradients(const ParamLayout& layout, bool shared) {
    const auto sizeOf = [&](std::size_t layer) {
        return layout.endOf(layer) - layout.layer(layer).weightOffset;
    };
    std::size_t largest = 0;
    for (std::size_t layer = 0; layer < layout.layers(); ++layer) largest = std::max(largest, sizeOf(layer));
    for (std::size_t layer = 0; layer < layout.layers(); ++layer) {
        const std::size_t begin = shared ? layer % 2 * largest : layout.layer(layer).weightOffset;
        gradients_.push_back({begin, begin + sizeOf(layer)});
        ownGradients_.push_back(shared ? 2 * largest + states_[layer] : own_[layer].begin);
    }
    gradientSize_ = shared ? 2 * largest + stateSize_ : layout.size();
}

} // namespace lockstep
