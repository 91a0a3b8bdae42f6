// What one rank of a training does in each step, noted as spans of time: for charts, and for files that
// several ranks write (engine/many/rank_trace.h). The same object makes a rank slow, or end by an error: to
// show what that does to the others.
//
// What is noted, and how: on a processor, the first thread of a rank reads the clock at the end of every
// operation, so that spans follow each other without gaps, and the time in which it waits for other threads
// of its own rank counts as work. On a GPU, the host notes when a layer's gradients have arrived: recording,
// launch and copy are inside. The first span of a step then holds the forward pass and the last layer's
// backward pass, and updates are inside the next step's first one. Exchanges are those of the Exchange's own
// thread (ExchangeRecord).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/many/exchange.h"

namespace lockstep {

enum class RankWork {
    forward,  ///< with the batch and the loss
    backward, ///< gradients
    exchange, ///< on the exchange's thread, beside the others
    wait,     ///< for an exchange
    update,
};
inline constexpr std::size_t rankWorks = 5;

std::string_view name(RankWork value);            ///< "forward", "backward", ...
RankWork rankWorkFromName(std::string_view text); ///< throws std::invalid_argument

inline constexpr std::size_t noLayer = SIZE_MAX;

struct RankSpan {
    std::size_t rank = 0;
    std::uint64_t step = 0;
    RankWork what = RankWork::forward;
    /// From 0. From the number of layers on, of none: a step's batch and loss.
    std::size_t layer = 0;
    double begin = 0, end = 0;  ///< seconds of rank 0's clock
    std::uint64_t bytes = 0;    ///< sent, by an exchange
    std::uint64_t messages = 0; ///< likewise

    double seconds() const { return end - begin; }
    bool operator==(const RankSpan&) const = default;
};

class RankWatch {
  public:
    // Any thread, any time.

    /// Notes spans from the next step on. Off at first; then a step costs two looks at a
    /// flag, and an operation one.
    void keep(bool on) { keeps_ = on; }
    /// The rank waits for so many times what its operations take: 0.5 makes a step half as long again. Waits
    /// too short for a sleep are added to those of later operations.
    void slowBy(double share) { slower_ = share; }
    /// The rank ends by an error in its next run: a team's rank looks (rank_team.h).
    void fail() { fails_ = true; }
    /// Throws std::runtime_error once after fail().
    void throwIfFailing(std::size_t rank);

    // The thread that leads the rank's training.

    /// Whether anything of the present step is noted or slowed down.
    bool on() const { return on_; }
    void beginStep(std::uint64_t step);
    /// The time since the last call, or since beginStep(), went into this.
    void lap(RankWork what, std::size_t layer);

    // Between steps.

    /// Spans that are kept until somebody takes them, about; what comes later is dropped.
    static constexpr std::size_t mostSpans = 1 << 16;
    /// Adds what the rank has exchanged, and puts all times on rank 0's clock. The exchange has to keep
    /// records (Exchange::keepRecords).
    void collect(Exchange& exchange);
    /// All that was collected since the last call, by begin.
    std::vector<RankSpan> takeSpans();

  private:
    std::atomic<bool> keeps_ = false, fails_ = false;
    std::atomic<double> slower_ = 0;
    bool on_ = false;
    std::uint64_t step_ = 0;
    double last_ = 0;
    double owed_ = 0;            ///< seconds that a slow rank has still to wait
    std::vector<RankSpan> laps_; // not collected
    std::vector<RankSpan> spans_;
};

} // namespace lockstep
