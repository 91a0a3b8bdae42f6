#include "engine/many/top_k.h"

#include <algorithm>
#include <bit>

#include "engine/many/all_reduce.h"

namespace lockstep {

namespace {

// Ordered as magnitudes are; what is not a number is larger than all numbers, and travels first.
std::uint32_t magnitudeBits(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu; }

} // namespace

std::size_t TopK::kept(std::size_t count) const {
    const auto share = static_cast<std::size_t>(share_ * static_cast<double>(count));
    return std::clamp<std::size_t>(share, std::min<std::size_t>(count, 1), count);
}

void TopK::sum(Messages& messages, std::span<float> values, std::size_t layer) {
    if (leftOut_.size() <= layer) leftOut_.resize(layer + 1);
    std::vector<float>& left = leftOut_[layer];
    left.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) left[i] += values[i];

    const std::size_t own = kept(values.size());
    entries_.resize(own * messages.ranks());
    choose(std::span(entries_).subspan(own * messages.rank(), own), left);
    bounds_.resize(messages.ranks() + 1);
    for (std::size_t rank = 0; rank < bounds_.size(); ++rank) bounds_[rank] = rank * own * sizeof(Entry);
    ringGather(messages, std::as_writable_bytes(std::span(entries_)), bounds_);

    std::ranges::fill(values, 0.0f);
    for (const Entry& entry : entries_) values[entry.index] += entry.value;
}

// Takes the largest out of `left`.
void TopK::choose(std::span<Entry> entries, std::span<float> left) {
    if (entries.empty()) return;
    magnitudes_.resize(left.size());
    std::ranges::transform(left, magnitudes_.begin(), magnitudeBits);
    const auto smallest = magnitudes_.begin() + static_cast<std::ptrdiff_t>(entries.size() - 1);
    std::ranges::nth_element(magnitudes_, smallest, std::greater{});
    const std::uint32_t limit = *smallest;
    const auto larger =
        std::ranges::count_if(magnitudes_.begin(), smallest, [&](std::uint32_t m) { return m > limit; });
    std::size_t equals = entries.size() - static_cast<std::size_t>(larger);
    auto entry = entries.begin();
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::uint32_t magnitude = magnitudeBits(left[i]);
        if (magnitude < limit || (magnitude == limit && equals == 0)) continue;
        if (magnitude == limit) --equals;
        *entry++ = {static_cast<std::uint32_t>(i), left[i]};
        left[i] = 0;
    }
}

} // namespace lockstep
