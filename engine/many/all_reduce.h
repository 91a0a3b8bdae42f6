// The sum of everybody's numbers on every rank, in three ways, and its halves: sums of a part each, and
// everybody's parts on every rank. With n ranks and N bytes of numbers, for which each rank's messages are
// counted:
//
//   ring    2 (n - 1) messages of N / n bytes: as few bytes as there can be, but many messages in a row
//   tree    2 log2(n) messages in a row, of N bytes: for few numbers, where messages cost more than bytes
//   naive   2 (n - 1) messages in a row, of N bytes, all of them rank 0's: what the others are compared with
//
// The order in which numbers are added depends on the number of ranks and on their place, and on nothing
// else. One rank forms each sum and sends it to the others, so that all have the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/many/exchange.h"
#include "engine/many/messages.h"

namespace lockstep {

/// How numbers lie in a message: as they are, or as fp16. Keeps its memory.
class Parcel {
  public:
    explicit Parcel(ExchangeFormat format) : half_(format == ExchangeFormat::fp16) {}

    /// A message of these numbers. They must not change until it is sent.
    std::span<const std::byte> pack(std::span<const float> numbers);
    /// Where a message of so many numbers arrives.
    std::span<std::byte> room(std::size_t count);
    void addTo(std::span<float> numbers) const;  ///< numbers += what has arrived
    void copyTo(std::span<float> numbers) const; ///< numbers = what has arrived
    /// The numbers as all others get them.
    void round(std::span<float> numbers) const;

  private:
    bool half_;
    std::vector<std::uint16_t> packed_, arrivedHalves_;
    std::vector<float> arrived_;
};

/// values = sums over all ranks.
void ringSum(Messages& messages, std::span<float> values, Parcel& parcel, std::vector<std::size_t>& bounds);
void treeSum(Messages& messages, std::span<float> values, Parcel& parcel);
void naiveSum(Messages& messages, std::span<float> values, Parcel& parcel);

/// The first half of a ring's sum: values[bounds[rank], bounds[rank + 1]) = sums over all ranks.
void ringScatterSum(Messages& messages, std::span<float> values, std::span<const std::size_t> bounds,
                    Parcel& parcel);
/// The second half, of anything: bytes[bounds[r], bounds[r + 1]) are rank r's, on every rank.
void ringGather(Messages& messages, std::span<std::byte> bytes, std::span<const std::size_t> bounds);
/// What ringGather() does, but every rank sends straight to every other: for a few bytes, whose way around
/// the ring would take longer. If a rank is missing, all others wait for that rank itself.
void directGather(Messages& messages, std::span<std::byte> bytes, std::span<const std::size_t> bounds);

} // namespace lockstep
