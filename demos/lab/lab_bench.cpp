#include "demos/lab/lab_bench.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "engine/cpu/topology.h"

namespace lockstep::demos {

namespace {

// A sweep takes as many rounds as there is time for, but so many at least.
constexpr int fewestRounds = 3;
constexpr int mostRounds = 15;

LabPoint pointOf(double x, std::vector<double> samples) {
    std::ranges::sort(samples);
    const std::size_t last = samples.size() - 1;
    return {x, samples[samples.size() / 2], samples[last / 4], samples[last - last / 4]};
}

} // namespace

LabBench::LabBench(Machines& machines, bool rough, Progress progress, const std::atomic<bool>& stop)
    : machines_(machines), rough_(rough), progress_(std::move(progress)), stop_(stop) {
    const std::size_t threads = machines.threads();
    team_ = std::make_unique<ThreadTeam>(threads == 0 ? usablePhysicalCores().physical : threads);
    noDevice_ = failureOf([&] { device_ = machines_.deviceOf({true, Rung::best, {}}); });
    if (device_ == nullptr) return;
    kernels_ = std::make_unique<Kernels>(*device_);
    recorder_ = std::make_unique<gpu::Recorder>(*device_);
}

void LabBench::sweep(LabResult& result, const LabSweep& sweep) {
    LabSeries series{sweep.gpu, sweep.name};
    if (sweep.gpu && device_ == nullptr) {
        series.note = noDevice_;
        result.series.push_back(std::move(series));
        return;
    }
    progress_(series.fullName());
    const auto costOf = [&](double value) { return sweep.cost ? sweep.cost(value) : value; };
    const double longest = sweep.longest > 0 ? sweep.longest : sweep.gpu ? device_->longestSubmission() : 200;
    const double budget = rough_ ? 0.1 : software() && sweep.gpu ? 3 : 1.5; // seconds
    std::vector<std::vector<double>> samples;
    const std::string failure = failureOf([&] {
        const double begin = secondsNow();
        sweep.sample(sweep.values.front()); // compiles, and wakes everything up
        double before = 0;                  // milliseconds of the sample before, of that cost
        double beforeCost = 0;
        for (const double value : sweep.values) {
            if (stop_) return;
            const double expected = beforeCost > 0 ? before * costOf(value) / beforeCost : 0;
            // Rough work is small, and what it shows must not depend on the machine's load.
            if (!rough_ && expected > longest && costOf(value) > beforeCost) {
                series.note =
                    fmt::format("ends where the next sample would take more than {:.0f} ms", longest);
                break;
            }
            const double start = secondsNow();
            const double sample = sweep.sample(value);
            before = 1e3 * (secondsNow() - start);
            beforeCost = costOf(value);
            samples.push_back({sample});
        }
        const int most = rough_ ? 1 : mostRounds;
        for (int round = 1; round < most; ++round) {
            if (round >= fewestRounds && secondsNow() - begin > budget) break;
            for (std::size_t at = 0; at < samples.size(); ++at) {
                if (stop_) return;
                samples[at].push_back(sweep.sample(sweep.values[at]));
            }
        }
    });
    if (!failure.empty()) series.note = failure;
    for (std::size_t at = 0; at < samples.size(); ++at)
        series.points.push_back(pointOf(sweep.values[at], samples[at]));
    result.series.push_back(std::move(series));
}

std::vector<double> labValues(double first, double last, double factor) {
    std::vector<double> values;
    for (double value = first; value < last * (1 - 1e-9); value *= factor)
        values.push_back(std::round(value));
    values.push_back(last);
    return values;
}

} // namespace lockstep::demos
