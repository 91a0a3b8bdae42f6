#include "engine/many/rank_watch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "engine/platform/clock.h"

namespace lockstep {

namespace {

constexpr std::array<std::string_view, rankWorks> names{"forward", "backward", "exchange", "wait", "update"};

constexpr double leastNap = 2e-4; // seconds: shorter ones take as long

} // namespace

std::string_view name(RankWork value) { return names[static_cast<std::size_t>(value)]; }

RankWork rankWorkFromName(std::string_view text) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) throw std::invalid_argument("unknown work '" + std::string(text) + "'");
    return static_cast<RankWork>(found - names.begin());
}

void RankWatch::throwIfFailing(std::size_t rank) {
    if (fails_.exchange(false)) throw std::runtime_error("rank " + std::to_string(rank) + " was ended");
}

void RankWatch::beginStep(std::uint64_t step) {
    on_ = keeps_ || slower_ > 0;
    if (!on_) return;
    step_ = step;
    last_ = platform::secondsNow();
}

void RankWatch::lap(RankWork what, std::size_t layer) {
    if (!on_) return;
    double now = platform::secondsNow();
    // A rank that spins would take the core from the others. Short waits add up until they make a nap; what
    // that takes too long is left out of the next one.
    if (const double slower = slower_; slower > 0 && what != RankWork::wait) {
        owed_ += slower * (now - last_);
        if (owed_ >= leastNap) {
            std::this_thread::sleep_for(std::chrono::duration<double>(owed_));
            owed_ -= platform::secondsNow() - now;
            now = platform::secondsNow();
        }
    }
    const double begin = std::exchange(last_, now);
    if (keeps_) laps_.push_back({0, step_, what, layer, begin, now});
}

void RankWatch::collect(Exchange& exchange) {
    const double offset = exchange.clockOffset();
    for (RankSpan& lap : laps_) {
        lap.rank = exchange.rank();
        lap.begin += offset;
        lap.end += offset;
    }
    for (const ExchangeRecord& record : exchange.takeRecords())
        if (keeps_)
            laps_.push_back({exchange.rank(), record.step, RankWork::exchange, record.layer, record.begun,
                             record.ended, record.bytesSent, record.messagesSent});
    if (spans_.size() < mostSpans) spans_.insert(spans_.end(), laps_.begin(), laps_.end());
    laps_.clear();
}

std::vector<RankSpan> RankWatch::takeSpans() {
    std::ranges::stable_sort(spans_, {}, &RankSpan::begin);
    return std::exchange(spans_, {});
}

} // namespace lockstep
