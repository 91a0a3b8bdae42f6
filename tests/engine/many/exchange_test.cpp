// Exchanges between ranks that are threads: the same bits everywhere, counted messages, and ranks that are
// lost.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "engine/many/all_reduce.h"
#include "engine/many/exchange.h"
#include "engine/net/float_formats.h"
#include "engine/platform/clock.h"
#include "tests/engine/many/ranks.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr AllReduce allReduces[] = {AllReduce::ring, AllReduce::tree, AllReduce::naive};

// What each rank ends with.
std::vector<std::vector<float>> sums(std::size_t ranks, std::size_t count, const ExchangeSettings& settings) {
    std::vector<std::vector<float>> results(ranks);
    onRanks(ranks, settings, [&](Exchange& exchange, std::size_t rank) {
        results[rank] = numbersOf(rank, count);
        exchange.wait(exchange.sum(results[rank], {0, 0}));
    });
    return results;
}

std::vector<double> exactSum(std::size_t ranks, std::size_t count) {
    std::vector<double> sum(count);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::vector<float> numbers = numbersOf(rank, count);
        for (std::size_t i = 0; i < count; ++i) sum[i] += numbers[i];
    }
    return sum;
}

double largestDifference(const std::vector<float>& numbers, const std::vector<double>& exact) {
    double largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
        largest = std::max(largest, std::abs(numbers[i] - exact[i]));
    return largest;
}

ExchangeRecord recordOf(Exchange& exchange, Exchange::Ticket ticket) {
    exchange.wait(ticket);
    const std::vector<ExchangeRecord> records = exchange.takeRecords();
    if (records.size() != 1) throw std::logic_error("there should be one record");
    return records[0];
}

// A condition that another thread brings about; not for ever.
template <class Condition> void waitFor(const Condition& condition) {
    const double began = platform::secondsNow();
    while (!condition()) {
        if (platform::secondsNow() - began > 60)
            throw std::runtime_error("it has not come about for a minute");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// The rank that an error names; the largest number: none.
std::size_t named(const std::exception_ptr& thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const RankError& error) {
        return error.rank;
    }
    return std::numeric_limits<std::size_t>::max();
}

} // namespace

TEST_CASE("every algorithm sums, to the same bits on all ranks and in every run") {
    for (const AllReduce allReduce : allReduces)
        for (std::size_t ranks = 1; ranks <= 5; ++ranks)
            for (const std::size_t count : {0, 1, 3, 1000, 100003}) {
                CAPTURE(name(allReduce));
                CAPTURE(ranks);
                CAPTURE(count);
                const auto results = sums(ranks, count, {.allReduce = allReduce});
                CHECK(largestDifference(results[0], exactSum(ranks, count)) < 2e-6);
                for (const auto& each : results) CHECK(checksum(each) == checksum(results[0]));
                CHECK(checksum(sums(ranks, count, {.allReduce = allReduce})[0]) == checksum(results[0]));
            }
}

TEST_CASE("in fp16, all ranks have the same bits, and rounding is bounded") {
    for (const AllReduce allReduce : allReduces)
        for (std::size_t ranks = 1; ranks <= 5; ++ranks) {
            CAPTURE(name(allReduce));
            CAPTURE(ranks);
            const auto results = sums(ranks, 10007, {.format = ExchangeFormat::fp16, .allReduce = allReduce});
            for (const auto& each : results) CHECK(checksum(each) == checksum(results[0]));
            // Each message rounds a sum of at most `ranks` numbers below 1: by at most 2^-11 of it.
            const double bound = static_cast<double>(ranks * ranks) * std::ldexp(1.0, -11);
            const double difference = largestDifference(results[0], exactSum(ranks, 10007));
            CHECK(difference <= bound);
            CHECK((ranks == 1 || difference > 0));
            if (ranks > 1)
                for (const float number : results[0]) REQUIRE(fromFloat16(toFloat16(number)) == number);
        }
}

TEST_CASE("every fp16 number arrives as it was sent") {
    Parcel sent(ExchangeFormat::fp16);
    std::vector<float> all(65536), back(65536);
    for (std::uint32_t code = 0; code < 65536; ++code)
        all[code] = fromFloat16(static_cast<std::uint16_t>(code));
    const auto message = sent.pack(all);
    std::ranges::copy(message, sent.room(all.size()).begin());
    sent.copyTo(back);
    for (std::size_t code = 0; code < all.size(); ++code)
        if (std::isnan(all[code]))
            REQUIRE(std::isnan(back[code]));
        else
            REQUIRE(std::memcmp(&all[code], &back[code], sizeof(float)) == 0);
}

TEST_CASE("numbers are rounded to fp16 as everywhere else") {
    std::vector<float> numbers;
    for (std::uint32_t upper = 0; upper < 65536;
         ++upper) // every sign and exponent, and seven bits of fraction
        for (const std::uint32_t lower :
             {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x8000u, 0xffffu})
            numbers.push_back(std::bit_cast<float>(upper << 16 | lower));
    Parcel parcel(ExchangeFormat::fp16);
    std::vector<std::uint16_t> halves(numbers.size());
    std::memcpy(halves.data(), parcel.pack(numbers).data(), halves.size() * sizeof(std::uint16_t));
    for (std::size_t i = 0; i < numbers.size(); ++i) REQUIRE(halves[i] == toFloat16(numbers[i]));
}

TEST_CASE("messages and bytes are those of the algorithms") {
    constexpr std::size_t count = 1200; // divided by all numbers of ranks
    for (std::size_t ranks = 1; ranks <= 5; ++ranks)
        for (const ExchangeFormat format : {ExchangeFormat::fp32, ExchangeFormat::fp16}) {
            CAPTURE(ranks);
            const std::size_t bytes = count * (format == ExchangeFormat::fp16 ? 2 : 4);
            std::mutex mutex;
            std::map<AllReduce, std::vector<ExchangeRecord>> records;
            for (const AllReduce allReduce : allReduces) {
                records[allReduce].resize(ranks);
                onRanks(ranks, {.format = format, .allReduce = allReduce},
                        [&](Exchange& exchange, std::size_t rank) {
                            exchange.keepRecords(true);
                            std::vector<float> numbers(count, 1.0f);
                            const ExchangeRecord record = recordOf(exchange, exchange.sum(numbers, {7, 3}));
                            const std::lock_guard lock(mutex);
                            records[allReduce][rank] = record;
                            CHECK(exchange.bytesSent() == record.bytesSent);
                        });
            }
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                const ExchangeRecord ring = records[AllReduce::ring][rank];
                CHECK(ring.bytesSent == 2 * (ranks - 1) * bytes / ranks);
                CHECK(ring.messagesSent == 2 * (ranks - 1));
                CHECK(ring.step == 7);
                CHECK(ring.layer == 3);
                CHECK(ring.kind == ExchangeRecord::Kind::sum);
                CHECK(ring.asked <= ring.begun);
                CHECK(ring.begun <= ring.ended);
                const std::size_t of0 = ranks - 1, ofOthers = 1;
                CHECK(records[AllReduce::naive][rank].messagesSent == (rank == 0 ? of0 : ofOthers));
                CHECK(records[AllReduce::naive][rank].bytesSent == (rank == 0 ? of0 : ofOthers) * bytes);
            }
            std::uint64_t tree = 0;
            for (const ExchangeRecord& each : records[AllReduce::tree]) tree += each.messagesSent;
            CHECK(tree == 2 * (ranks - 1)); // up, and down
        }
}

TEST_CASE("what top-k leaves out arrives later") {
    constexpr std::size_t count = 500, ranks = 3, steps = 200;
    const ExchangeSettings settings{.format = ExchangeFormat::topK, .topShare = 0.02};
    std::vector<std::vector<double>> arrived(ranks, std::vector<double>(count));
    std::vector<double> given(count);
    std::mutex mutex;
    onRanks(ranks, settings, [&](Exchange& exchange, std::size_t rank) {
        exchange.keepRecords(true);
        for (std::size_t step = 0; step < steps; ++step) {
            std::vector<float> numbers = numbersOf(rank * 1000 + step, count);
            {
                const std::lock_guard lock(mutex);
                for (std::size_t i = 0; i < count; ++i) given[i] += numbers[i];
            }
            const ExchangeRecord record = recordOf(exchange, exchange.sum(numbers, {step, 1}));
            CHECK(record.bytesSent == (ranks - 1) * 10 * 8); // 2 % of 500: index and number
            CHECK(std::ranges::count_if(numbers, [](float each) { return each != 0; }) <= 30);
            for (std::size_t i = 0; i < count; ++i) arrived[rank][i] += numbers[i];
        }
        // Nothing more is given: everything that was left out comes, largest first.
        for (std::size_t step = 0; step < count / 10; ++step) {
            std::vector<float> numbers(count);
            exchange.wait(exchange.sum(numbers, {steps + step, 1}));
            for (std::size_t i = 0; i < count; ++i) arrived[rank][i] += numbers[i];
        }
    });
    for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(arrived[0][i] == doctest::Approx(given[i]).epsilon(1e-3).scale(1));
        REQUIRE(arrived[1][i] == arrived[0][i]);
        REQUIRE(arrived[2][i] == arrived[0][i]);
    }
}

TEST_CASE("top-k takes the first of equals, keeps layers apart, and passes on what is not a number") {
    const ExchangeSettings settings{.format = ExchangeFormat::topK, .topShare = 0.5};
    onRanks(2, settings, [&](Exchange& exchange, std::size_t rank) {
        std::vector<float> numbers(4, 1.0f), other{0, 0, 0, 3};
        exchange.wait(exchange.sum(numbers, {0, 0}));
        exchange.wait(exchange.sum(other, {0, 5}));
        CHECK(numbers == std::vector<float>{2, 2, 0, 0});
        CHECK(other == std::vector<float>{0, 0, 0, 6});
        numbers = {0.25f, 0, 0, 0};
        exchange.wait(exchange.sum(numbers, {1, 0}));
        CHECK(numbers == std::vector<float>{0, 0, 2, 2});
        numbers = {0, 0, 0, rank == 1 ? std::numeric_limits<float>::quiet_NaN() : 0};
        exchange.wait(exchange.sum(numbers, {2, 0}));
        CHECK(numbers[0] == 0.5f);
        CHECK(std::isnan(numbers[3]));
        std::vector<float> one{0.5f}, none;
        exchange.wait(exchange.sum(one, {2, 1}));
        exchange.wait(exchange.sum(none, {2, 2}));
        CHECK(one[0] == 1.0f);
        CHECK_THROWS_AS(exchange.scatterSum(numbers, std::vector<std::size_t>{0, 2, 4}, {}),
                        std::invalid_argument);
    });
}

TEST_CASE("parts of sums, and everybody's parts, also where some are empty") {
    for (std::size_t ranks = 1; ranks <= 5; ++ranks)
        for (const ExchangeFormat format : {ExchangeFormat::fp32, ExchangeFormat::fp16}) {
            constexpr std::size_t count = 1003;
            std::vector<std::size_t> bounds{0};
            for (std::size_t r = 1; r < ranks; ++r) bounds.push_back(r % 2 == 1 ? bounds.back() : 250 * r);
            bounds.push_back(count);
            const std::vector<double> exact = exactSum(ranks, count);
            std::vector<std::vector<float>> results(ranks);
            onRanks(ranks, {.format = format}, [&](Exchange& exchange, std::size_t rank) {
                std::vector<float> numbers = numbersOf(rank, count);
                exchange.wait(exchange.scatterSum(numbers, bounds, {0, 0}));
                for (std::size_t i = 0; i < count; ++i) // what is left elsewhere is not told
                    if (i < bounds[rank] || i >= bounds[rank + 1]) numbers[i] = -1;
                exchange.wait(exchange.gather(numbers, bounds, {0, 0}));
                results[rank] = numbers;
                CHECK_THROWS_AS(exchange.gather(numbers, std::vector<std::size_t>{0, 1, 0, 9, 9, 9, 9}, {}),
                                std::invalid_argument);
            });
            CAPTURE(ranks);
            CHECK(largestDifference(results[0], exact) < (format == ExchangeFormat::fp32 ? 2e-6 : 2e-2));
            for (const auto& each : results) CHECK(checksum(each) == checksum(results[0]));
        }
}

TEST_CASE("losses are added in the order of ranks, without rounding to float") {
    onRanks(4, {.format = ExchangeFormat::fp16}, [&](Exchange& exchange, std::size_t rank) {
        const double parts[] = {1e16, 1.0, -1e16, 0.1};
        double numbers[] = {parts[rank], static_cast<double>(rank)};
        exchange.wait(exchange.sumSmall(numbers, {0, 0}));
        CHECK(numbers[0] == ((1e16 + 1.0) - 1e16) + 0.1);
        CHECK(numbers[1] == 6);
    });
}

TEST_CASE("texts and the smallest number reach everybody, and who disagrees is named") {
    onRanks(3, {}, [&](Exchange& exchange, std::size_t rank) {
        CHECK(exchange.ranks() == 3);
        CHECK(exchange.rank() == rank);
        CHECK(exchange.localRank() == rank);
        CHECK(exchange.localRanks() == 3);
        CHECK(exchange.smallest(100 - 10 * rank) == 80);
        CHECK(exchange.gatherTexts(rank == 1 ? "" : std::string(rank + 1, 'a')) ==
              std::vector<std::string>{"a", "", "aaa"});
        exchange.agree("version", "0.2");
        try {
            exchange.agree("job", rank == 2 ? "wide" : "deep");
            FAIL_CHECK("they do not agree");
        } catch (const RankError& error) {
            CHECK(error.rank == 2);
            CHECK(std::string(error.what()) ==
                  "ranks do not agree about the job: rank 0 has 'deep', rank 2 has 'wide'");
        }
        CHECK(std::abs(exchange.clockOffset()) < 0.05); // threads have one clock
    });
}

TEST_CASE("training goes on while numbers are exchanged") {
    std::atomic<bool> returned = false;
    onRanks(2, {}, [&](Exchange& exchange, std::size_t rank) {
        std::vector<float> numbers(1000, 1.0f);
        if (rank == 1) waitFor([&] { return returned.load(); });
        const Exchange::Ticket ticket = exchange.sum(numbers, {0, 0});
        returned = true;
        exchange.wait(ticket);
        CHECK(numbers[999] == 2.0f);
    });
}

TEST_CASE("without overlap, whoever begins an exchange waits for it") {
    std::atomic<bool> began = false;
    onRanks(2, {.overlap = false}, [&](Exchange& exchange, std::size_t rank) {
        std::vector<float> numbers(1000, 1.0f);
        if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (rank == 1) began = true;
        exchange.sum(numbers, {0, 0});
        CHECK(began);
        CHECK(numbers[999] == 2.0f);
        CHECK(exchange.waitedSeconds() >= 0);
    });
}

TEST_CASE("exchanges are carried out in the order in which they began, many at once") {
    onRanks(3, {}, [&](Exchange& exchange, std::size_t rank) {
        std::vector<std::vector<float>> layers;
        for (std::size_t layer = 0; layer < 20; ++layer)
            layers.push_back(numbersOf(rank + 10 * layer, 50 * layer));
        for (int step = 0; step < 3; ++step) {
            Exchange::Ticket last = 0;
            for (std::size_t layer = 0; layer < layers.size(); ++layer) {
                layers[layer] = numbersOf(rank + 10 * layer, 50 * layer);
                last = exchange.sum(layers[layer], {0, layer});
            }
            exchange.wait(last);
        }
        for (std::size_t layer = 0; layer < layers.size(); ++layer) {
            std::vector<float> alone = numbersOf(rank + 10 * layer, 50 * layer);
            exchange.wait(exchange.sum(alone, {0, layer}));
            CHECK(checksum(alone) == checksum(layers[layer]));
        }
    });
}

TEST_CASE("a rank that begins no exchange is noticed in time, and all hear its name") {
    constexpr double patience = 0.3;
    for (const AllReduce allReduce : allReduces)
        for (const std::size_t missing : {3, 2, 1, 0}) {
            CAPTURE(name(allReduce));
            CAPTURE(missing);
            std::atomic<int> failed = 0;
            const double began = platform::secondsNow();
            const ExchangeSettings settings{.allReduce = allReduce, .patienceSeconds = patience};
            const auto thrown = runRanks(4, settings, [&](Exchange& exchange, std::size_t rank) {
                std::vector<float> numbers(1000, 1.0f);
                if (rank == missing) waitFor([&] { return failed == 3; });
                try {
                    exchange.wait(exchange.sum(numbers, {12, 3}));
                } catch (const RankError& error) {
                    ++failed;
                    CHECK(std::string(error.what()).find("sum, layer 3, step 12") != std::string::npos);
                    CHECK_THROWS_AS(exchange.sum(numbers, {13, 3}), RankError); // once failed, always
                    CHECK_THROWS_AS(exchange.smallest(1), RankError);
                    throw;
                }
            });
            const double seconds = platform::secondsNow() - began;
            CHECK(seconds > patience);
            CHECK(seconds < 1.5 * patience + 2); // on a machine that has much else to do
            for (const auto& each : thrown) CHECK(named(each) == missing);
        }
}

TEST_CASE("a rank that ends by an error is known to all others at once") {
    const double began = platform::secondsNow();
    const auto thrown = runRanks(4, {}, [&](Exchange& exchange, std::size_t rank) {
        std::vector<float> numbers(1000, 1.0f);
        exchange.wait(exchange.sum(numbers, {0, 0}));
        if (rank == 2) throw std::runtime_error("its own error");
        exchange.wait(exchange.sum(numbers, {1, 0}));
    });
    CHECK(platform::secondsNow() - began < 5);
    CHECK_THROWS_WITH(std::rethrow_exception(thrown[2]), "its own error");
    for (const std::size_t rank : {0, 1, 3}) CHECK(named(thrown[rank]) == 2);
}

TEST_CASE("ranks that are about different things hear of it") {
    const double began = platform::secondsNow();
    const auto thrown = runRanks(2, {}, [&](Exchange& exchange, std::size_t rank) {
        std::vector<float> numbers(rank == 0 ? 1000 : 2000, 1.0f);
        exchange.wait(exchange.sum(numbers, {0, 0}));
    });
    CHECK(platform::secondsNow() - began < 5);
    for (const auto& each : thrown) CHECK(named(each) < 2);
}

TEST_CASE("who ends all ranks says why, to everybody") {
    const auto thrown = runRanks(4, {}, [&](Exchange& exchange, std::size_t rank) {
        std::vector<float> numbers(1000, 1.0f);
        if (rank == 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            exchange.abort("the disk is full");
        }
        exchange.wait(exchange.sum(numbers, {0, 0}));
    });
    for (const auto& each : thrown) {
        CHECK(named(each) == 1);
        CHECK_THROWS_WITH(std::rethrow_exception(each), "rank 1 has ended all ranks: the disk is full");
    }
}

TEST_CASE("whoever does not meet, or cannot connect, is told so") {
    auto ends = localTransports(2);
    CHECK_THROWS_AS(Exchange([&] { return std::move(ends[0]); }, {.patienceSeconds = 0.2}), RankError);
    CHECK_THROWS_AS(Exchange([&] { return std::move(ends[1]); }, {.patienceSeconds = 0.2}), RankError);
    const Exchange::Connect none = []() -> std::unique_ptr<Transport> {
        throw std::runtime_error("no cable");
    };
    CHECK_THROWS_WITH(Exchange(none, {}), "no cable");
    CHECK_THROWS_AS(Exchange(none, {.topShare = 0}), std::invalid_argument);
    CHECK_THROWS_AS(localTransports(0), std::invalid_argument);
}

TEST_CASE("formats and algorithms have names") {
    for (const AllReduce each : allReduces) CHECK(allReduceFromName(name(each)) == each);
    for (const ExchangeFormat each : {ExchangeFormat::fp32, ExchangeFormat::fp16, ExchangeFormat::topK})
        CHECK(exchangeFormatFromName(name(each)) == each);
    CHECK_THROWS_WITH_AS(allReduceFromName("star"), "unknown all-reduce 'star'; there are ring, tree, naive",
                         std::invalid_argument);
}
