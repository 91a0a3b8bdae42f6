#include "engine/many/all_reduce_schedule.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace lockstep {

namespace {

// Part p begins at rank p's ... and travels once around, growing; then around again, whole.
std::vector<ScheduledMessage> ring(std::size_t ranks, std::size_t numbers) {
    std::vector<ScheduledMessage> messages;
    const auto bound = [&](std::size_t part) { return numbers * part / ranks; };
    for (std::size_t round = 0; round < 2 * (ranks - 1); ++round)
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const bool adds = round < ranks - 1;
            const std::size_t step = adds ? round + 1 : round - (ranks - 1);
            const std::size_t part = (rank + ranks - step) % ranks;
            messages.push_back({round, rank, (rank + 1) % ranks, bound(part), bound(part + 1), adds});
        }
    return messages;
}

std::vector<ScheduledMessage> tree(std::size_t ranks, std::size_t numbers) {
    std::vector<ScheduledMessage> messages;
    const std::size_t rounds = std::bit_width(ranks - 1);
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t bit = std::size_t{1} << round;
        for (std::size_t rank = bit; rank < ranks; rank += 2 * bit) {
            messages.push_back({round, rank, rank - bit, 0, numbers, true});
            messages.push_back({2 * rounds - 1 - round, rank - bit, rank, 0, numbers, false});
        }
    }
    return messages;
}

// Rank 0 takes one message after the other.
std::vector<ScheduledMessage> naive(std::size_t ranks, std::size_t numbers) {
    std::vector<ScheduledMessage> messages;
    for (std::size_t other = 1; other < ranks; ++other) {
        messages.push_back({other - 1, other, 0, 0, numbers, true});
        messages.push_back({ranks - 1 + other - 1, 0, other, 0, numbers, false});
    }
    return messages;
}

} // namespace

std::vector<ScheduledMessage> allReduceSchedule(AllReduce algorithm, std::size_t ranks, std::size_t numbers) {
    if (ranks < 2) return {};
    std::vector<ScheduledMessage> messages = algorithm == AllReduce::ring   ? ring(ranks, numbers)
                                             : algorithm == AllReduce::tree ? tree(ranks, numbers)
                                                                            : naive(ranks, numbers);
    std::ranges::stable_sort(messages, [](const ScheduledMessage& a, const ScheduledMessage& b) {
        return std::tie(a.round, a.from) < std::tie(b.round, b.from);
    });
    return messages;
}

} // namespace lockstep
