// Which examples make up step s: a pure function of (seed, step), the same on every device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/net/random.h"

namespace lockstep {

/// One step's share of an epoch: rows [first, first + rows) of the epoch's order.
struct BatchRange {
    std::uint64_t epoch = 0;
    std::size_t first = 0;
    std::size_t rows = 0;
};

/// Cuts epochs into batches. The last batch of an epoch may be smaller.
class BatchOrder {
  public:
    BatchOrder() = default;
    /// `count` examples (1 to 2^30), `batch` rows per step, at most `count`.
    BatchOrder(std::size_t count, std::size_t batch, std::uint64_t seed, bool shuffle)
        : count_(count), batch_(std::min(batch, count)), stepsPerEpoch_((count_ + batch_ - 1) / batch_),
          seed_(seed), shuffle_(shuffle) {}

    std::uint64_t stepsPerEpoch() const { return stepsPerEpoch_; }

    BatchRange range(std::uint64_t step) const {
        const std::uint64_t inEpoch = step % stepsPerEpoch_;
        const std::size_t first = static_cast<std::size_t>(inEpoch) * batch_;
        return {step / stepsPerEpoch_, first, std::min(batch_, count_ - first)};
    }

    /// Index in the data set of the example at `position` of `epoch`: a permutation of [0, count) if
    /// shuffled, else the position itself.
    std::size_t example(std::uint64_t epoch, std::size_t position) const {
        if (!shuffle_) return position;
        return shared::orderIndex(static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(count_),
                                  keys(epoch));
    }
    shared::OrderKeys keys(std::uint64_t epoch) const { return orderKeys(seed_, epoch); }

    std::size_t count() const { return count_; }
    std::size_t batch() const { return batch_; }
    std::uint64_t seed() const { return seed_; }
    bool shuffles() const { return shuffle_; }

  private:
    std::size_t count_ = 1;
    std::size_t batch_ = 1;
    std::uint64_t stepsPerEpoch_ = 1;
    std::uint64_t seed_ = 0;
    bool shuffle_ = true;
};

} // namespace lockstep
