// Whole training steps of one rung: checked first, then timed; and the parts of a single GPU step.
#pragma once

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/gpu/error.h"
#include "engine/net/dataset.h"
#include "engine/run/race.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

/// What `action` fails with, for people; empty where it succeeds. A lost device is everybody's matter.
template <class Action> std::string failureOf(Action action) {
    try {
        action();
    } catch (const gpu::DeviceLostError&) {
        throw;
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

/// `count` examples of random pixels and of all classes in turn, the same in every run: something to time.
Dataset randomPixels(std::size_t inputs, std::size_t classes, std::size_t count);

/// Steps whose losses are compared: fewer where a step is large, because the plain rung is slow.
/// work   floating-point operations in all
std::size_t comparedSteps(const TrainJob& job, double work = 5e9);
/// Losses of a rung's first `steps`. `cancelled` becoming true ends it early.
std::vector<float> firstLosses(Trainer& trainer, std::size_t steps,
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

/// Trains as many steps as `expected` (the plain rung's losses) has, else comparedSteps(), and compares. If
/// the losses agree within `tolerance` (lossTolerance() of the lane), times steps for about `seconds`.
/// `cancelled` becoming true ends it early, untimed.
///   soFar   told the rate in GFLOP/s as measured up to then, on the calling thread, while steps are timed
LaneMeasure measureLane(Trainer& trainer, const TrainJob& job, const std::vector<float>& expected,
                        double tolerance, double seconds, const std::atomic<bool>* cancelled = nullptr,
                        const std::function<void(double gflops)>& soFar = {});

/// Seconds of one step that runs alone and is waited for, from the first recorded command until its loss is
/// on the host. Training submits many steps at a time and overlaps these parts; a single step cannot.
struct StepParts {
    double recording = 0;  ///< the host writes the step's commands
    double submission = 0; ///< the host hands them over
    double upload = 0;     ///< data goes to the device: none if the data set is already there
    double execution = 0;  ///< the device computes, by its own clock
    double readBack = 0;   ///< the loss comes back
    double waiting = 0;    ///< the rest: until the device begins, and until the host learns that it is done

    double sum() const { return recording + submission + upload + execution + readBack + waiting; }
};

/// The mean over `steps` steps of a trainer on `device`. Nothing else may run on that device meanwhile.
StepParts measureStepParts(Trainer& trainer, gpu::Device& device, int steps);

} // namespace lockstep::demos
