// How long an all-reduce should take: each message costs a latency, each byte its time on the wire. R.
// Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH",
// International Journal of High Performance Computing Applications 19 (2005), pages 49-66. Their third
// number, the time for adding, is left out: it is small beside the other two.
#pragma once

#include <cstddef>

#include "engine/many/exchange.h"

namespace lockstep {

/// What connects two ranks.
struct Link {
    double latencySeconds = 0; ///< for a message of hardly any bytes, one way
    double bytesPerSecond = 0; ///< beyond that
};

/// Measures the link between ranks 0 and 1 by messages that go there and back. All ranks have to call it, and
/// get the same. Throws as Exchange::roundTripSeconds().
Link measureLink(Exchange& exchange);

/// The longest chain of messages of an all-reduce, where each waits for the one before it.
struct MessageChain {
    std::size_t messages = 0;
    double bytes = 0; ///< of all of them together
};
/// bytes   of everybody's numbers, as they travel
MessageChain messageChain(AllReduce algorithm, std::size_t ranks, std::size_t bytes);

/// The seconds that it takes, if all ranks begin at once.
double allReduceSeconds(AllReduce algorithm, std::size_t ranks, std::size_t bytes, const Link& link);

} // namespace lockstep
