// Whole training steps of one rung: checked first, then timed.
#pragma once

#include <atomic>
#include <vector>

#include "engine/run/race.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

/// Losses of a rung's first steps: fewer where a step is large, because the plain rung is slow. `cancelled`
/// becoming true ends it early.
std::vector<float> firstLosses(Trainer& trainer, const TrainJob& job,
                               const std::atomic<bool>* cancelled = nullptr);

/// How a rung did. A rung with wrong losses has no time.
struct LaneMeasure {
    MachineInfo machine;
    Agreement agreement;
    std::vector<float> losses; ///< of the first steps
    double secondsPerStep = 0; ///< 0: not timed
    double samplesPerSecond = 0;
    double gflops = 0; ///< of the products, over the time of whole steps

    bool right() const { return agreement.same(); }
    bool timed() const { return secondsPerStep > 0; }
};

/// Trains the first steps and compares their losses with `expected` (the plain rung's). If they agree within
/// `tolerance` (lossTolerance() of the lane), times steps for about `seconds`. `cancelled` becoming true ends
/// it early, untimed.
LaneMeasure measureLane(Trainer& trainer, const TrainJob& job, const std::vector<float>& expected,
                        double tolerance, double seconds, const std::atomic<bool>* cancelled = nullptr);

} // namespace lockstep::demos
