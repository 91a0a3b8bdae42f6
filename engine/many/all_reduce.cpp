#include "engine/many/all_reduce.h"

#include <algorithm>
#include <bit>

namespace lockstep {

namespace {

// As toFloat16() and fromFloat16(), which are for reading: these are vectorised, having no branches and no
// shifts by a variable.

// Either number, by a mask: of what is written as a choice, the compiler makes a branch.
std::uint32_t choose(bool first, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t mask = 0u - static_cast<std::uint32_t>(first);
    return (a & mask) | (b & ~mask);
}

std::uint16_t halfOf(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), size = bits & 0x7FFFFFFFu;
    const std::uint32_t normal = (size - 0x38000000u + 0x0FFFu + ((size >> 13) & 1u)) >> 13;
    // The last place of 0.5 is 2^-24, as that of a subnormal half: adding it rounds.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3F000000u;
    const auto compared = static_cast<std::int32_t>(size); // which vectors do in fewer instructions
    std::uint32_t half = choose(compared < 0x38800000, subnormal, normal);
    half = choose(compared >= 0x477FF000, 0x7C00u, half); // 65520 and above
    half = choose(compared > 0x7F800000, 0x7E00u, half);  // not a number
    return static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000u));
}

// A subnormal half, as gradients often are, counts 2^-24s. Others have the same bits in a float, but for 112
// more in the exponent.
float floatOf(std::uint16_t half) {
    const std::int32_t size = half & 0x7FFF;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24f);
    const std::uint32_t normal = (static_cast<std::uint32_t>(size) << 13) + 0x38000000u;
    std::uint32_t bits = choose(size < 0x0400, subnormal, normal);
    bits |= choose(size >= 0x7C00, 0x7F800000u, 0u); // infinite, or not a number
    return std::bit_cast<float>(bits | static_cast<std::uint32_t>(half & 0x8000) << 16);
}

template <class Number>
std::span<Number> part(std::span<Number> all, std::span<const std::size_t> bounds, std::size_t which) {
    return all.subspan(bounds[which], bounds[which + 1] - bounds[which]);
}

} // namespace

std::span<const std::byte> Parcel::pack(std::span<const float> numbers) {
    if (!half_) return std::as_bytes(numbers);
    packed_.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) packed_[i] = halfOf(numbers[i]);
    return std::as_bytes(std::span(packed_));
}

std::span<std::byte> Parcel::room(std::size_t count) {
    if (half_) {
        arrivedHalves_.resize(count);
        return std::as_writable_bytes(std::span(arrivedHalves_));
    }
    arrived_.resize(count);
    return std::as_writable_bytes(std::span(arrived_));
}

void Parcel::addTo(std::span<float> numbers) const {
    if (half_)
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += floatOf(arrivedHalves_[i]);
    else
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += arrived_[i];
}

void Parcel::copyTo(std::span<float> numbers) const {
    if (half_)
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = floatOf(arrivedHalves_[i]);
    else
        std::copy_n(arrived_.begin(), numbers.size(), numbers.begin());
}

void Parcel::round(std::span<float> numbers) const {
    if (!half_) return;
    for (float& number : numbers) number = floatOf(halfOf(number));
}

// Part c starts at rank c + 1 and goes around the ring, from each rank to the next, which adds its own
// numbers to it. After n - 1 messages it reaches rank c, which adds the last. All parts are on their way at
// once, so that every rank sends and receives one part at a time:
//
//   3 ranks    rank 0 sends    rank 1 sends    rank 2 sends
//   step 0     part 2          part 0          part 1
//   step 1     part 1          part 2          part 0
//   then has   part 0          part 1          part 2        whole
void ringScatterSum(Messages& messages, std::span<float> values, std::span<const std::size_t> bounds,
                    Parcel& parcel) {
    const std::size_t n = messages.ranks(), rank = messages.rank();
    for (std::size_t step = 0; step + 1 < n; ++step) {
        const std::span<float> leaving = part(values, bounds, (rank + 2 * n - step - 1) % n);
        const std::span<float> coming = part(values, bounds, (rank + 2 * n - step - 2) % n);
        messages.sendAndReceive(messages.next(), parcel.pack(leaving), messages.previous(),
                                parcel.room(coming.size()));
        parcel.addTo(coming);
        messages.nextStage();
    }
}

// Everybody starts with its own part, and passes on what came last.
void ringGather(Messages& messages, std::span<std::byte> bytes, std::span<const std::size_t> bounds) {
    const std::size_t n = messages.ranks(), rank = messages.rank();
    for (std::size_t step = 0; step + 1 < n; ++step) {
        messages.sendAndReceive(messages.next(), part(bytes, bounds, (rank + n - step) % n),
                                messages.previous(), part(bytes, bounds, (rank + n - step - 1) % n));
        messages.nextStage();
    }
}

void directGather(Messages& messages, std::span<std::byte> bytes, std::span<const std::size_t> bounds) {
    const std::size_t n = messages.ranks(), rank = messages.rank();
    for (std::size_t away = 1; away < n; ++away) {
        const std::size_t from = (rank + n - away) % n;
        messages.sendAndReceive((rank + away) % n, part(bytes, bounds, rank), from,
                                part(bytes, bounds, from));
    }
}

void ringSum(Messages& messages, std::span<float> values, Parcel& parcel, std::vector<std::size_t>& bounds) {
    const std::size_t n = messages.ranks(), rank = messages.rank();
    bounds.resize(n + 1);
    for (std::size_t i = 0; i <= n; ++i) bounds[i] = values.size() * i / n;
    ringScatterSum(messages, values, bounds, parcel);
    parcel.round(part(values, std::span<const std::size_t>(bounds), rank));
    // As ringGather(), of numbers that travel in parcels: what is rounded once stays the same.
    for (std::size_t step = 0; step + 1 < n; ++step) {
        const std::span<float> leaving =
            part(values, std::span<const std::size_t>(bounds), (rank + n - step) % n);
        const std::span<float> coming =
            part(values, std::span<const std::size_t>(bounds), (rank + n - step - 1) % n);
        messages.sendAndReceive(messages.next(), parcel.pack(leaving), messages.previous(),
                                parcel.room(coming.size()));
        parcel.copyTo(coming);
        messages.nextStage();
    }
}

// In round k, a rank whose number has bit k as its lowest gives its sum to the rank with that bit cleared,
// and is through: 1 to 0, 3 to 2, 5 to 4; then 2 to 0, 6 to 4; then 4 to 0. The sums go back the same way.
void treeSum(Messages& messages, std::span<float> values, Parcel& parcel) {
    const std::size_t n = messages.ranks(), rank = messages.rank();
    const std::size_t rounds = std::bit_width(n - 1);
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t bit = std::size_t{1} << round;
        messages.stage(round);
        if ((rank & bit) != 0) {
            messages.send(rank - bit, parcel.pack(values));
            break;
        }
        if (rank + bit >= n) continue;
        messages.receive(rank + bit, parcel.room(values.size()));
        parcel.addTo(values);
    }
    if (rank == 0) parcel.round(values);
    for (std::size_t round = rounds; round-- > 0;) {
        const std::size_t bit = std::size_t{1} << round;
        messages.stage(2 * rounds - 1 - round);
        if (rank % (2 * bit) == bit) {
            messages.receive(rank - bit, parcel.room(values.size()));
            parcel.copyTo(values);
        } else if (rank % (2 * bit) == 0 && rank + bit < n) {
            messages.send(rank + bit, parcel.pack(values));
        }
    }
}

void naiveSum(Messages& messages, std::span<float> values, Parcel& parcel) {
    const std::size_t n = messages.ranks();
    if (messages.rank() != 0) {
        messages.stage(1); // rank 0 may be waiting for another one
        messages.send(0, parcel.pack(values));
        messages.stage(2);
        messages.receive(0, parcel.room(values.size()));
        parcel.copyTo(values);
        return;
    }
    for (std::size_t other = 1; other < n; ++other) {
        messages.receive(other, parcel.room(values.size()));
        parcel.addTo(values);
    }
    parcel.round(values);
    messages.stage(1);
    const std::span<const std::byte> sums = parcel.pack(values);
    for (std::size_t other = 1; other < n; ++other) messages.send(other, sums);
}

} // namespace lockstep
