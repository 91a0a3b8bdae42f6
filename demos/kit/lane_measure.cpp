#include "demos/kit/lane_measure.h"

#include <algorithm>

#include "demos/kit/pacer.h"
#include "engine/net/random.h"

namespace lockstep::demos {

namespace {

bool isSet(const std::atomic<bool>* flag) { return flag != nullptr && *flag; }

// Chunks grow until starting and ending one no longer matters.
double secondsPerStep(Trainer& trainer, double seconds, const std::atomic<bool>* cancelled,
                      const std::function<void(double secondsPerStep)>& soFar) {
    if (trainer.trainingSeconds() >= seconds) // the check took long enough
        return trainer.trainingSeconds() / static_cast<double>(trainer.completedSteps());
    constexpr double chunkSeconds = 0.1;
    const double begin = trainer.trainingSeconds();
    const std::uint64_t before = trainer.completedSteps();
    const auto perStep = [&] {
        return (trainer.trainingSeconds() - begin) / static_cast<double>(trainer.completedSteps() - before);
    };
    for (std::uint64_t chunk = 1; trainer.trainingSeconds() - begin < seconds;) {
        if (isSet(cancelled)) return 0;
        const double chunkBegin = trainer.trainingSeconds();
        trainer.run(chunk);
        trainer.finish();
        if (trainer.trainingSeconds() - chunkBegin < chunkSeconds) chunk *= 2;
        soFar(perStep());
    }
    return perStep();
}

/// Totals so far, in seconds. What the host does besides is not counted here.
StepParts countedBy(const Trainer& trainer, gpu::Device& device) {
    const gpu::DeviceCounters& counters = device.counters();
    const auto seconds = [](const std::atomic<std::uint64_t>& nanoseconds) {
        return static_cast<double>(nanoseconds.load()) * 1e-9;
    };
    return {.recording = seconds(counters.recordingNanoseconds),
            .submission = seconds(counters.submissionNanoseconds),
            .upload = seconds(counters.uploadNanoseconds),
            .execution = trainer.deviceSeconds(),
            .readBack = seconds(counters.downloadNanoseconds)};
}

} // namespace

Dataset randomPixels(std::size_t inputs, std::size_t classes, std::size_t count) {
    Dataset data;
    data.name = "random pixels";
    data.inputs = inputs;
    data.classes = classes;
    for (std::size_t label = 0; label < classes; ++label) data.classNames.push_back(std::to_string(label));
    data.train.count = count;
    for (std::size_t at = 0; at < count * inputs; ++at)
        data.train.pixels.push_back(static_cast<std::uint8_t>(randomWords(1, RandomStream::data, at).x));
    for (std::size_t example = 0; example < count; ++example)
        data.train.labels.push_back(static_cast<std::uint32_t>(example % std::max<std::size_t>(classes, 1)));
    return data;
}

std::size_t comparedSteps(const TrainJob& job, double work) {
    const double flops = job.shape.flopsPerExample() * static_cast<double>(job.settings.batch);
    return static_cast<std::size_t>(std::clamp(work / flops, 2.0, 50.0));
}

std::vector<float> firstLosses(Trainer& trainer, std::size_t steps, const std::atomic<bool>* cancelled) {
    if (cancelled == nullptr)
        trainer.run(steps);
    else // step by step: slow rungs take seconds, and cancelling must not wait for them
        for (; steps > 0 && !*cancelled; --steps) trainer.run(1);
    trainer.finish();
    std::vector<LossPoint> points;
    trainer.takeLosses(points);
    std::vector<float> losses(points.size());
    std::ranges::transform(points, losses.begin(), &LossPoint::loss);
    return losses;
}

LaneMeasure measureLane(Trainer& trainer, const TrainJob& job, const std::vector<float>& expected,
                        double tolerance, double seconds, const std::atomic<bool>* cancelled,
                        const std::function<void(double gflops)>& soFar) {
    LaneMeasure measure;
    measure.machine = trainer.machine();
    measure.losses = firstLosses(trainer, expected.empty() ? comparedSteps(job) : expected.size(), cancelled);
    if (isSet(cancelled)) return measure;
    measure.agreement = compareLosses(expected, measure.losses, tolerance);
    if (!measure.right()) return measure;
    const double flops = static_cast<double>(job.settings.batch) * job.shape.flopsPerExample();
    measure.secondsPerStep = secondsPerStep(trainer, seconds, cancelled, [&](double perStep) {
        if (soFar && perStep > 0) soFar(flops / perStep * 1e-9);
    });
    if (!measure.timed()) return measure;
    measure.samplesPerSecond = static_cast<double>(job.settings.batch) / measure.secondsPerStep;
    measure.gflops = flops / measure.secondsPerStep * 1e-9;
    return measure;
}

StepParts measureStepParts(Trainer& trainer, gpu::Device& device, int steps) {
    std::vector<LossPoint> losses;
    trainer.finish();
    trainer.takeLosses(losses);
    const StepParts before = countedBy(trainer, device);
    const double begin = secondsNow();
    double taking = 0;
    for (int step = 0; step < steps; ++step) {
        trainer.run(1);
        trainer.finish();
        const double done = secondsNow();
        trainer.takeLosses(losses);
        taking += secondsNow() - done;
    }
    const double wall = secondsNow() - begin;
    StepParts parts = countedBy(trainer, device);
    parts.recording = (parts.recording - before.recording) / steps;
    parts.submission = (parts.submission - before.submission) / steps;
    parts.upload = (parts.upload - before.upload) / steps;
    parts.execution = (parts.execution - before.execution) / steps;
    parts.readBack = (taking + parts.readBack - before.readBack) / steps;
    parts.waiting = std::max(wall / steps - parts.sum(), 0.0);
    return parts;
}

} // namespace lockstep::demos
