// Which message of an all-reduce (all_reduce.h) carries which numbers from which rank to which, round by
// round: for pictures and for counting. A test compares it with what ranks really send.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/many/exchange.h"

namespace lockstep {

struct ScheduledMessage {
    std::size_t round = 0; ///< messages of one round need not wait for each other
    std::size_t from = 0, to = 0;
    std::size_t begin = 0, end = 0; ///< of the numbers
    bool adds = false;              ///< the receiver adds them to its own; else they replace its own

    std::size_t numbers() const { return end - begin; }
    bool operator==(const ScheduledMessage&) const = default;
};

/// By rounds, then by senders. One rank: none.
///   numbers   that each rank has
std::vector<ScheduledMessage> allReduceSchedule(AllReduce algorithm, std::size_t ranks, std::size_t numbers);

} // namespace lockstep
