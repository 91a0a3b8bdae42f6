// What is noted of ranks: the messages of every all-reduce are those of its schedule, and laps follow each
// other.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/many/all_reduce_schedule.h"
#include "engine/many/rank_watch.h"
#include "tests/engine/many/ranks.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

using Sent = std::tuple<std::size_t, std::size_t, std::size_t>; // from, to, bytes

/// Notes what is sent; passes everything on.
class Noting final : public Transport {
  public:
    Noting(std::unique_ptr<Transport> inner, std::vector<Sent>& sent, std::mutex& mutex)
        : inner_(std::move(inner)), sent_(sent), mutex_(mutex) {}
    std::size_t rank() const override { return inner_->rank(); }
    std::size_t ranks() const override { return inner_->ranks(); }
    std::size_t localRank() const override { return inner_->localRank(); }
    std::size_t localRanks() const override { return inner_->localRanks(); }
    Ticket send(std::size_t to, std::span<const std::byte> bytes) override {
        const std::lock_guard lock(mutex_);
        sent_.emplace_back(rank(), to, bytes.size());
        return inner_->send(to, bytes);
    }
    Ticket receive(std::size_t from, std::span<std::byte> bytes) override {
        return inner_->receive(from, bytes);
    }
    bool done(Ticket ticket) override { return inner_->done(ticket); }
    void abort(const std::string& why) override { inner_->abort(why); }
    void giveUp(const RankError& error) override { inner_->giveUp(error); }

  private:
    std::unique_ptr<Transport> inner_;
    std::vector<Sent>& sent_;
    std::mutex& mutex_;
};

} // namespace

TEST_CASE("the schedule of an all-reduce has the messages that are sent, rank by rank in their order") {
    for (const AllReduce algorithm : {AllReduce::ring, AllReduce::tree, AllReduce::naive})
        for (std::size_t ranks = 1; ranks <= 8; ++ranks)
            for (const std::size_t count : {1, 7, 1000}) {
                CAPTURE(name(algorithm));
                CAPTURE(ranks);
                CAPTURE(count);
                std::vector<Sent> sent;
                std::mutex mutex;
                auto ends = localTransports(ranks);
                std::vector<std::thread> threads;
                for (std::size_t rank = 0; rank < ranks; ++rank)
                    threads.emplace_back([&, rank] {
                        Exchange exchange(
                            [&] { return std::make_unique<Noting>(std::move(ends[rank]), sent, mutex); },
                            {.allReduce = algorithm});
                        exchange.smallest(0); // all have met, and what that took is forgotten
                        exchange.smallest(0);
                        {
                            const std::lock_guard lock(mutex);
                            std::erase_if(sent, [&](const Sent& each) { return std::get<0>(each) == rank; });
                        }
                        std::vector<float> numbers(count, 1.0f);
                        exchange.wait(exchange.sum(numbers, {}));
                        CHECK(numbers.front() == static_cast<float>(ranks));
                    });
                for (std::thread& thread : threads) thread.join();
                for (std::size_t rank = 0; rank < ranks; ++rank) {
                    std::vector<Sent> really, drawn;
                    for (const Sent& each : sent)
                        if (std::get<0>(each) == rank) really.push_back(each);
                    for (const ScheduledMessage& each : allReduceSchedule(algorithm, ranks, count))
                        if (each.from == rank)
                            drawn.emplace_back(rank, each.to, each.numbers() * sizeof(float));
                    CHECK(really == drawn);
                }
            }
}

TEST_CASE("by the schedule, every rank ends with every sum") {
    constexpr std::size_t count = 60;
    for (const AllReduce algorithm : {AllReduce::ring, AllReduce::tree, AllReduce::naive})
        for (std::size_t ranks = 2; ranks <= 9; ++ranks) {
            CAPTURE(name(algorithm));
            CAPTURE(ranks);
            std::vector<std::vector<std::size_t>> numbers(ranks, std::vector<std::size_t>(count));
            for (std::size_t rank = 0; rank < ranks; ++rank)
                std::ranges::fill(numbers[rank], std::size_t{1} << rank);
            const std::vector<ScheduledMessage> schedule = allReduceSchedule(algorithm, ranks, count);
            for (std::size_t round = 0; round <= schedule.back().round; ++round) {
                const auto before = numbers; // all messages of a round are on their way at once
                for (const ScheduledMessage& each : schedule)
                    for (std::size_t i = each.begin; each.round == round && i < each.end; ++i)
                        numbers[each.to][i] = before[each.from][i] + (each.adds ? before[each.to][i] : 0);
            }
            for (const auto& own : numbers)
                CHECK(std::ranges::all_of(
                    own, [&](std::size_t sum) { return sum + 1 == std::size_t{1} << ranks; }));
        }
}

TEST_CASE("laps follow each other, and are noted only when asked for") {
    RankWatch watch;
    watch.beginStep(0);
    watch.lap(RankWork::forward, 0);
    watch.keep(true);
    watch.lap(RankWork::forward, 0); // of the step that began before
    watch.beginStep(7);
    watch.lap(RankWork::forward, 0);
    watch.lap(RankWork::backward, 1);
    watch.keep(false);
    watch.beginStep(8);
    watch.lap(RankWork::forward, 0);
    Exchange alone([] { return std::move(localTransports(1).front()); }, {});
    watch.collect(alone);
    const std::vector<RankSpan> spans = watch.takeSpans();
    REQUIRE(spans.size() == 2);
    CHECK(spans[0].step == 7);
    CHECK(spans[0].end == spans[1].begin);
    CHECK(spans[1].what == RankWork::backward);
    CHECK(spans[1].layer == 1);
    CHECK(watch.takeSpans().empty());
}

TEST_CASE("a slow rank's operations last longer by its share") {
    RankWatch watch;
    watch.keep(true);
    watch.slowBy(2);
    watch.beginStep(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    watch.lap(RankWork::forward, 0);
    Exchange alone([] { return std::move(localTransports(1).front()); }, {});
    watch.collect(alone);
    const std::vector<RankSpan> spans = watch.takeSpans();
    REQUIRE(spans.size() == 1);
    CHECK(spans[0].seconds() >= 0.0149);
}
