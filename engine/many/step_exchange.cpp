#include "engine/many/step_exchange.h"

#include <algorithm>

namespace lockstep {

StepExchange::StepExchange(Exchange& exchange, const ParamLayout& layout, const RankShare& share)
    : exchange_(exchange), layout_(layout), shards_(layout, share), sharded_(share.shard > 0),
      tickets_(layout.layers()) {
    exchange_.beginAnew();
}

void StepExchange::beginLoss(std::uint64_t step, double sum) {
    loss_ = sum;
    lossTicket_ = exchange_.sumSmall({&loss_, 1}, {step, layout_.layers()});
}

void StepExchange::begin(std::uint64_t step, std::size_t layer, std::span<float> gradients) {
    tickets_[layer] = sharded_ ? exchange_.scatterSum(gradients, shards_.bounds(layer), {step, layer})
                               : exchange_.sum(gradients, {step, layer});
}

double StepExchange::awaitLoss() {
    exchange_.wait(lossTicket_);
    return loss_;
}

void StepExchange::await(std::size_t layer) { exchange_.wait(tickets_[layer]); }

void StepExchange::gatherParameters(std::uint64_t step, std::span<float> parameters) {
    if (!sharded_) return;
    for (std::size_t layer = 0; layer < layout_.layers(); ++layer)
        tickets_[layer] = exchange_.gather(parameters.subspan(all(layer).begin, all(layer).size()),
                                           shards_.bounds(layer), {step, layer});
    for (const Exchange::Ticket ticket : tickets_) exchange_.wait(ticket);
}

std::vector<float> StepExchange::wholeState(std::span<const float> own) {
    if (!sharded_) return {own.begin(), own.end()};
    std::vector<float> whole(layout_.size());
    for (std::size_t layer = 0; layer < layout_.layers(); ++layer)
        std::ranges::copy(own.subspan(shards_.stateOf(layer), shards_.own(layer).size()),
                          whole.begin() + static_cast<std::ptrdiff_t>(shards_.own(layer).begin));
    gatherParameters(0, whole);
    return whole;
}

void StepExchange::ownState(std::span<const float> whole, std::span<float> own) const {
    for (std::size_t layer = 0; layer < layout_.layers(); ++layer)
        std::ranges::copy(whole.subspan(shards_.own(layer).begin, shards_.own(layer).size()),
                          own.begin() + static_cast<std::ptrdiff_t>(shards_.stateOf(layer)));
}

} // namespace lockstep
