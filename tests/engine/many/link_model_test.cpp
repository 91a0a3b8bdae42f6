// What an all-reduce should take: counted against what is sent, and the choices that it leads to.
#include <doctest/doctest.h>

#include <mutex>
#include <vector>

#include "engine/many/link_model.h"
#include "tests/engine/many/ranks.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("the model's messages and bytes are those that are sent") {
    constexpr std::size_t count = 1260; // divided by all numbers of ranks
    for (std::size_t ranks = 1; ranks <= 7; ++ranks)
        for (const AllReduce algorithm : {AllReduce::ring, AllReduce::tree, AllReduce::naive}) {
            if (count % ranks != 0) continue;
            CAPTURE(ranks);
            CAPTURE(name(algorithm));
            std::vector<ExchangeRecord> records(ranks);
            onRanks(ranks, {.allReduce = algorithm}, [&](Exchange& exchange, std::size_t rank) {
                exchange.keepRecords(true);
                std::vector<float> numbers(count, 1.0f);
                exchange.wait(exchange.sum(numbers, {}));
                records[rank] = exchange.takeRecords().at(0);
            });
            // In a ring everybody sends all the time. Elsewhere rank 0 is busiest: it receives as much as it
            // sends, one after the other.
            const MessageChain chain = messageChain(algorithm, ranks, count * sizeof(float));
            const std::uint64_t ways = algorithm == AllReduce::ring ? 1 : 2;
            CHECK(chain.messages == ways * records[0].messagesSent);
            CHECK(chain.bytes == doctest::Approx(static_cast<double>(ways * records[0].bytesSent)));
        }
}

TEST_CASE("a ring is best for many numbers, a tree for few") {
    const Link link{.latencySeconds = 10e-6, .bytesPerSecond = 1e9};
    constexpr std::size_t many = 100'000'000, few = 100;
    for (const std::size_t ranks : {4, 8, 64}) {
        const auto seconds = [&](AllReduce algorithm, std::size_t bytes) {
            return allReduceSeconds(algorithm, ranks, bytes, link);
        };
        CHECK(seconds(AllReduce::ring, many) < seconds(AllReduce::tree, many));
        CHECK(seconds(AllReduce::tree, many) < seconds(AllReduce::naive, many));
        CHECK(seconds(AllReduce::tree, few) < seconds(AllReduce::ring, few));
    }
    CHECK(allReduceSeconds(AllReduce::ring, 1, many, link) == 0);
    CHECK(allReduceSeconds(AllReduce::ring, 2, 1'000'000, link) == doctest::Approx(20e-6 + 1e-3));
    CHECK(allReduceSeconds(AllReduce::tree, 5, 1'000'000, link) == doctest::Approx(60e-6 + 6e-3));
}

TEST_CASE("a link is measured between the first two ranks, and all hear of it") {
    std::vector<Link> links(3);
    onRanks(3, {}, [&](Exchange& exchange, std::size_t rank) { links[rank] = measureLink(exchange); });
    for (const Link& link : links) {
        CHECK(link.latencySeconds > 0);
        CHECK(link.latencySeconds < 0.1);
        CHECK(link.bytesPerSecond > 1e6);
        CHECK(link.latencySeconds == links[0].latencySeconds);
        CHECK(link.bytesPerSecond == links[0].bytesPerSecond);
    }
    CHECK_THROWS_AS(onRanks(1, {}, [](Exchange& exchange, std::size_t) { measureLink(exchange); }),
                    std::invalid_argument);
}
