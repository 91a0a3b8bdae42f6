// What a training step exchanges with other ranks: its loss, the gradients of each layer, and with shards the
// parameters that each rank has updated. The operations exchange, await_exchange and gather_parameters of a
// plan (engine/plan/operation.h), for a backend that holds its numbers in the host's memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/many/exchange.h"
#include "engine/net/shards.h"

namespace lockstep {

class StepExchange {
  public:
    /// The exchange must outlive it.
    StepExchange(Exchange& exchange, const ParamLayout& layout, const RankShare& share);

    const Shards& shards() const { return shards_; }

    // Every step, in this order; each throws RankError where ranks are lost.

    /// Begins to add up `sum`, this rank's sum of the loss terms of its examples.
    void beginLoss(std::uint64_t step, double sum);
    /// Begins to add up a layer's gradients, its part of the arena from the first weight on. They have to
    /// stay until await().
    void begin(std::uint64_t step, std::size_t layer, std::span<float> gradients);
    /// The sum over all ranks, the same bits on each of them. Waits.
    double awaitLoss();
    /// Waits until the layer's gradients are summed up; with shards, this rank's part of them.
    void await(std::size_t layer);
    /// Collects all layers' parameters from the ranks that have updated them; nothing to do without shards.
    /// Waits.
    void gatherParameters(std::uint64_t step, std::span<float> parameters);

    /// An array of the optimizer's state of all parameters, from this rank's part and the other ranks'. All
    /// ranks have to ask. Waits.
    std::vector<float> wholeState(std::span<const float> own);
    /// The reverse: this rank's part.
    void ownState(std::span<const float> whole, std::span<float> own) const;

  private:
    FloatRange all(std::size_t layer) const {
        return {layout_.layer(layer).weightOffset, layout_.endOf(layer)};
    }

    Exchange& exchange_;
    const ParamLayout layout_;
    const Shards shards_;
    const bool sharded_;
    double loss_ = 0;
    Exchange::Ticket lossTicket_ = 0;
    std::vector<Exchange::Ticket> tickets_; ///< by layer
};

} // namespace lockstep
