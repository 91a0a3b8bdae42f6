#include "engine/run/telemetry.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

constexpr double runningKeep = 1 - 1.0 / 50;

} // namespace

Telemetry::Telemetry(const BatchOrder& order, std::uint64_t keepEvery, std::size_t capacity,
                     std::uint64_t firstStep)
    : order_(order), firstStep_(firstStep), fixedStride_(keepEvery > 0),
      capacity_(std::max<std::size_t>(capacity, 2)), stride_(std::max<std::uint64_t>(keepEvery, 1)),
      epochUnderWay_(order.range(firstStep).epoch) {
    if (!fixedStride_) losses_.reserve(capacity_);
    opening_.reserve(openingSteps);
}

void Telemetry::addLosses(std::span<const LossPoint> points) {
    for (const LossPoint& point : points) {
        const BatchRange batch = order_.range(point.step);
        ++steps_;
        examples_ += batch.rows;
        runningSum_ = runningSum_ * runningKeep + static_cast<double>(point.loss);
        runningWeight_ = runningWeight_ * runningKeep + 1;
        if (opening_.size() < openingSteps && point.step == firstStep_ + opening_.size())
            opening_.push_back(point.loss);
        keep(point);
        addToEpoch(point, batch);
    }
}

void Telemetry::addToEpoch(const LossPoint& point, const BatchRange& batch) {
    if (batch.epoch != epochUnderWay_) beginEpoch(batch.epoch); // parameters and step were replaced
    epochLossSum_ += static_cast<double>(point.loss) * static_cast<double>(batch.rows);
    epochRows_ += batch.rows;
    if (batch.first + batch.rows < order_.count()) return;

    EpochPoint epoch{.epoch = batch.epoch + 1, .seconds = point.seconds};
    if (epochRows_ == order_.count()) epoch.trainLoss = epochLossSum_ / static_cast<double>(epochRows_);
    epochs_.push_back(epoch);
    beginEpoch(batch.epoch + 1);
}

void Telemetry::moveTo(std::uint64_t step) {
    std::erase_if(losses_, [step](const LossPoint& point) { return point.step >= step; });
    const BatchRange next = order_.range(step);
    std::erase_if(epochs_, [&next](const EpochPoint& point) { return point.epoch > next.epoch; });
    if (step < firstStep_) firstStep_ = step;
    opening_.resize(std::min<std::uint64_t>(opening_.size(), step - firstStep_));
    beginEpoch(next.epoch);
    // The running loss is computed from the recorded ones, each weighted by its stride.
    const double keep = std::pow(runningKeep, static_cast<double>(stride_));
    runningSum_ = 0;
    runningWeight_ = 0;
    for (const LossPoint& point : losses_) {
        runningSum_ = runningSum_ * keep + static_cast<double>(point.loss);
        runningWeight_ = runningWeight_ * keep + 1;
    }
}

void Telemetry::addEvaluation(double testLoss, double testAccuracy) {
    if (epochs_.empty()) return;
    epochs_.back().testLoss = testLoss;
    epochs_.back().testAccuracy = testAccuracy;
}

double Telemetry::runningLoss() const {
    return runningWeight_ > 0 ? runningSum_ / runningWeight_ : std::numeric_limits<double>::quiet_NaN();
}

void Telemetry::keep(const LossPoint& point) {
    if (point.step % stride_ != 0) return;
    if (!fixedStride_ && losses_.size() == capacity_) {
        stride_ *= 2;
        std::erase_if(losses_, [this](const LossPoint& kept) { return kept.step % stride_ != 0; });
        if (point.step % stride_ != 0) return;
    }
    losses_.push_back(point);
}

} // namespace lockstep
