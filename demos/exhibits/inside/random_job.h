// A job of the same shape and settings, on random numbers: none of its inputs, weights and biases is 0, and
// none like another, so that no mistake of a kernel can hide.
#pragma once

#include "engine/net/dataset.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

class RandomJob {
  public:
    /// An epoch is one whole batch and a smaller one.
    explicit RandomJob(const TrainJob& like);
    RandomJob(const RandomJob&) = delete;
    RandomJob& operator=(const RandomJob&) = delete;

    const TrainJob& job() const { return job_; }
    std::uint64_t stepsPerEpoch() const;
    /// Random parameters and optimizer's state.
    TrainerState stateAt(std::uint64_t step) const;

  private:
    Dataset data_;
    TrainJob job_;
};

} // namespace lockstep::demos
