#include "demos/exhibits/playground/history.h"

namespace lockstep::demos {

void LossHistory::clear() { *this = {}; }

void LossHistory::add(std::uint64_t step, double trainLoss, double testLoss) {
    const auto at = static_cast<double>(step);
    // The newest is always there; it is replaced until it is far enough from the one before.
    const std::size_t count = steps_.size();
    const bool close = count >= 2 && at - steps_[count - 2] < static_cast<double>(stride_);
    if (count > 0 && (close || steps_.back() >= at)) {
        steps_.pop_back();
        train_.pop_back();
        test_.pop_back();
    }
    steps_.push_back(at);
    train_.push_back(trainLoss);
    test_.push_back(testLoss);
    if (steps_.size() >= capacity) thinOut();
}

void LossHistory::goBackTo(std::uint64_t step) {
    while (!steps_.empty() && steps_.back() > static_cast<double>(step)) {
        steps_.pop_back();
        train_.pop_back();
        test_.pop_back();
    }
}

void LossHistory::thinOut() {
    const std::size_t half = steps_.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
        steps_[i] = steps_[2 * i];
        train_[i] = train_[2 * i];
        test_[i] = test_[2 * i];
    }
    steps_.resize(half);
    train_.resize(half);
    test_.resize(half);
    stride_ = static_cast<std::uint64_t>((steps_.back() - steps_.front()) / static_cast<double>(half)) + 1;
}

} // namespace lockstep::demos
