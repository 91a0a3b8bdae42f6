// Sums of the largest numbers only, with error feedback: what a rank leaves out is added to its numbers of
// the next step, so that it arrives late instead of never. Stich, Cordonnier, Jaggi, "Sparsified SGD with
// Memory", NeurIPS 2018, algorithm 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/many/messages.h"

namespace lockstep {

class TopK {
  public:
    explicit TopK(double share) : share_(share) {}

    /// How many of so many numbers a rank sends.
    std::size_t kept(std::size_t count) const;

    /// values = sums over all ranks of their kept(values.size()) numbers of the largest magnitude, after what
    /// was left out before in this layer has been added; of equals, the first ones. Added in the order of
    /// ranks.
    void sum(Messages& messages, std::span<float> values, std::size_t layer);

    /// What this rank has left out so far, in a layer.
    std::span<const float> leftOut(std::size_t layer) const { return leftOut_.at(layer); }

    /// Nothing has been left out.
    void forget() { leftOut_.clear(); }

  private:
    struct Entry {
        std::uint32_t index;
        float value;
    };
    void choose(std::span<Entry> entries, std::span<float> left);

    double share_;
    std::vector<std::vector<float>> leftOut_; // by layer
    std::vector<std::uint32_t> magnitudes_;
    std::vector<Entry> entries_; // of all ranks
    std::vector<std::size_t> bounds_;
};

} // namespace lockstep
