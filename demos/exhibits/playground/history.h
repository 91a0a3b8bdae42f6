// Losses as they were seen, for the curves: thinned out as they grow, so that a night of training still fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::demos {

class LossHistory {
  public:
    void clear();
    /// Steps must not go down; the same step replaces its values.
    void add(std::uint64_t step, double trainLoss, double testLoss);
    /// Forgets what came after `step`.
    void goBackTo(std::uint64_t step);

    std::span<const double> steps() const { return steps_; }
    std::span<const double> train() const { return train_; }
    std::span<const double> test() const { return test_; }

  private:
    void thinOut();

    static constexpr std::size_t capacity = 2048;
    std::vector<double> steps_;
    std::vector<double> train_;
    std::vector<double> test_;
    std::uint64_t stride_ = 1; // between points kept
};

} // namespace lockstep::demos
