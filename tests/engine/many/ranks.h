// Ranks as threads, and numbers for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "engine/many/exchange.h"

namespace lockstep::test {

/// Numbers of many sizes, which differ between ranks; always the same.
inline std::vector<float> numbersOf(std::size_t rank, std::size_t count) {
    std::vector<float> numbers(count);
    std::uint32_t state = 2463534242u + static_cast<std::uint32_t>(rank) * 40503u;
    for (float& number : numbers) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        const float size = 1.0f / static_cast<float>(1 + state % 1000);
        number = size * (static_cast<float>(state >> 8) / 8388608.0f - 1.0f);
    }
    return numbers;
}

/// Tells bits apart: FNV-1a.
inline std::uint64_t checksum(std::span<const float> numbers, std::uint64_t start = 14695981039346656037u) {
    for (const std::byte byte : std::as_bytes(numbers))
        start = (start ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211u;
    return start;
}

/// Runs `body` on a thread per rank, each with its Exchange; gives what each has thrown.
inline std::vector<std::exception_ptr> runRanks(std::size_t ranks, const ExchangeSettings& settings,
                                                const std::function<void(Exchange&, std::size_t)>& body) {
    auto ends = localTransports(ranks);
    std::vector<std::exception_ptr> thrown(ranks);
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            try {
                Exchange exchange([&] { return std::move(ends[rank]); }, settings);
                body(exchange, rank);
            } catch (...) {
                thrown[rank] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    return thrown;
}

/// The same; what one has thrown, the first one, is thrown again.
inline void onRanks(std::size_t ranks, const ExchangeSettings& settings,
                    const std::function<void(Exchange&, std::size_t)>& body) {
    for (const std::exception_ptr& each : runRanks(ranks, settings, body))
        if (each) std::rethrow_exception(each);
}

/// What mpi_ranks.cpp computes by MPI, and mpi_exchange_test.cpp between threads: sums of every kind, one
/// after the other, and everybody's numbers; a checksum of all results.
inline std::uint64_t checksumOfSums(Exchange& exchange) {
    const std::size_t ranks = exchange.ranks(), rank = exchange.rank();
    std::uint64_t all = checksum({});
    for (const std::size_t count : {0, 1, 3, 1000, 100003}) {
        std::vector<float> numbers = numbersOf(rank, count);
        exchange.wait(exchange.sum(numbers, {1, 2}));
        all = checksum(numbers, all);
        std::vector<std::size_t> bounds{0};
        for (std::size_t r = 1; r <= ranks; ++r)
            bounds.push_back(r == ranks ? count : count * r / (ranks + 1));
        numbers = numbersOf(rank, count);
        if (exchange.settings().format != ExchangeFormat::topK)
            exchange.wait(exchange.scatterSum(numbers, bounds, {1, 3}));
        exchange.wait(exchange.gather(numbers, bounds, {1, 4}));
        all = checksum(numbers, all);
    }
    double loss = 1.0 / static_cast<double>(rank + 3);
    exchange.wait(exchange.sumSmall({&loss, 1}, {1, 0}));
    const float parts[] = {static_cast<float>(loss), static_cast<float>(exchange.smallest(rank + 7))};
    all = checksum(parts, all);
    for (const std::string& text : exchange.gatherTexts(std::string(rank + 1, 'x'))) {
        const float length = static_cast<float>(text.size());
        all = checksum({&length, 1}, all);
    }
    return all;
}

} // namespace lockstep::test
