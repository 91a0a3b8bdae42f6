#include "demos/kit/step_parts.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace lockstep::demos {

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the device has counted so far, in seconds.
struct Counted {
    double recording;
    double submission;
    double upload;
    double download;
};

Counted countedBy(gpu::Device& device) {
    const gpu::DeviceCounters& counters = device.counters();
    const auto seconds = [](const std::atomic<std::uint64_t>& nanoseconds) {
        return static_cast<double>(nanoseconds.load()) * 1e-9;
    };
    return {seconds(counters.recordingNanoseconds), seconds(counters.submissionNanoseconds),
            seconds(counters.uploadNanoseconds), seconds(counters.downloadNanoseconds)};
}

} // namespace

StepParts measureStepParts(Trainer& trainer, gpu::Device& device, int steps) {
    std::vector<LossPoint> losses;
    trainer.finish();
    trainer.takeLosses(losses);
    const Counted before = countedBy(device);
    const double deviceBefore = trainer.deviceSeconds();
    const double begin = now();
    double taking = 0;
    for (int step = 0; step < steps; ++step) {
        trainer.run(1);
        trainer.finish();
        const double done = now();
        trainer.takeLosses(losses);
        taking += now() - done;
    }
    const double wall = now() - begin;
    const Counted after = countedBy(device);
    StepParts parts;
    parts.recording = (after.recording - before.recording) / steps;
    parts.submission = (after.submission - before.submission) / steps;
    parts.upload = (after.upload - before.upload) / steps;
    parts.execution = (trainer.deviceSeconds() - deviceBefore) / steps;
    parts.readBack = (taking + after.download - before.download) / steps;
    parts.waiting = std::max(wall / steps - parts.sum(), 0.0);
    return parts;
}

} // namespace lockstep::demos
