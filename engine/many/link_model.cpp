#include "engine/many/link_model.h"

#include <algorithm>
#include <bit>

namespace lockstep {

Link measureLink(Exchange& exchange) {
    constexpr std::size_t small = 8, large = std::size_t{1} << 20;
    const double thereSmall = exchange.roundTripSeconds(small, 200) / 2;
    const double thereLarge = exchange.roundTripSeconds(large, 20) / 2;
    constexpr double shortest = 1e-9; // no clock tells less
    return {.latencySeconds = std::max(thereSmall, shortest),
            .bytesPerSecond =
                static_cast<double>(large - small) / std::max(thereLarge - thereSmall, shortest)};
}

MessageChain messageChain(AllReduce algorithm, std::size_t ranks, std::size_t bytes) {
    const double all = static_cast<double>(bytes), n = static_cast<double>(ranks);
    std::size_t messages = 0;
    switch (algorithm) {
    case AllReduce::ring: return {2 * (ranks - 1), 2 * (n - 1) / n * all};
    case AllReduce::tree: messages = 2 * static_cast<std::size_t>(std::bit_width(ranks - 1)); break;
    case AllReduce::naive: messages = 2 * (ranks - 1); break;
    }
    return {messages, static_cast<double>(messages) * all};
}

double allReduceSeconds(AllReduce algorithm, std::size_t ranks, std::size_t bytes, const Link& link) {
    const MessageChain chain = messageChain(algorithm, ranks, bytes);
    return static_cast<double>(chain.messages) * link.latencySeconds + chain.bytes / link.bytesPerSecond;
}

} // namespace lockstep
