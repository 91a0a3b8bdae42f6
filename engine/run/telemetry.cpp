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
        running_.sum = running_.sum * runningKeep + static_cast<double>(point.loss);
        running_.weight = running_.weight * runningKeep + 1;
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
    running_ = runningBefore(step);
}

Telemetry::Running Telemetry::runningBefore(std::uint64_t step) const {
    const double keep = std::pow(runningKeep, static_cast<double>(stride_));
    Running running;
    for (const LossPoint& point : losses_) {
        if (point.step >= step) break;
        running.sum = running.sum * keep + static_cast<double>(point.loss);
        running.weight = running.weight * keep + 1;
    }
    return running;
}

void Telemetry::addEvaluation(double testLoss, double testAccuracy) {
    if (epochs_.empty()) return;
    epochs_.back().testLoss = testLoss;
    epochs_.back().testAccuracy = testAccuracy;
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
