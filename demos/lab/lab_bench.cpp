#include "demos/lab/lab_bench.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/words/median.h"
#include "engine/cpu/cpu_info.h"

namespace lockstep::demos {

namespace {

// A sweep takes as many rounds as there is time for, but so many at least.
constexpr int fewestRounds = 3;
constexpr int mostRounds = 15;

LabPoint pointOf(double x, std::vector<double> samples) {
    std::ranges::sort(samples);
    const std::size_t last = samples.size() - 1;
    return {x, median(samples), samples[last / 4], samples[last - last / 4]};
}

BenchDevice deviceOf(Machines& machines, std::span<const LaneSpec> lanes) {
    BenchDevice found;
    const auto asked = [&](bool gpu) { return std::ranges::find(lanes, gpu, &LaneSpec::gpu); };
    if (!lanes.empty() && asked(false) == lanes.end()) found.noCpu = leftOutNote;
    if (!lanes.empty() && asked(true) == lanes.end())
        found.missing = leftOutNote;
    else
        found.missing = failureOf([&] {
            found.device = machines.deviceOf({true, Rung::best, lanes.empty() ? "" : asked(true)->device});
        });
    return found;
}

} // namespace

LabBench::LabBench(Machines& machines, bool rough, Progress progress, const std::atomic<bool>& stop,
                   std::span<const LaneSpec> lanes)
    : LabBench(machines.threads(), deviceOf(machines, lanes), rough, std::move(progress), stop) {}

LabBench::LabBench(std::size_t threads, BenchDevice device, bool rough, Progress progress,
                   const std::atomic<bool>& stop)
    : device_(device.device), noDevice_(std::move(device.missing)), noCpu_(std::move(device.noCpu)),
      rough_(rough), progress_(std::move(progress)), stop_(stop) {
    team_ = std::make_unique<ThreadTeam>(threads == 0 ? usablePhysicalCores().physical : threads);
    if (device_ == nullptr) return;
    kernels_ = std::make_unique<Kernels>(*device_);
    recorder_ = std::make_unique<gpu::Recorder>(*device_);
}

void LabBench::know(const LabResult& result) {
    if (result.rough != rough_ || result.cpu.device != cpuName() || result.cpu.threads != threads()) return;
    known_ = result;
}

void LabBench::addKnownNumbers(LabResult& result) const {
    for (const auto& [name, value] : known_.numbers)
        if (!name.starts_with("gpu_")) result.numbers.try_emplace(name, value);
}

void LabBench::sweep(LabResult& result, const LabSweep& sweep) {
    LabSeries series{sweep.gpu, sweep.name};
    if (const std::string& why = sweep.gpu ? noDevice_ : noCpu_; !why.empty()) {
        series.note = why;
        result.series.push_back(std::move(series));
        return;
    }
    if (const LabSeries* known = known_.find(false, sweep.name); !sweep.gpu && known != nullptr) {
        result.series.push_back(*known);
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
        double milliseconds = 0;            // of the shortest sample at the setting before
        const auto take = [&](std::size_t at) {
            const double start = secondsNow();
            samples[at].push_back(sweep.sample(sweep.values[at]));
            return 1e3 * (secondsNow() - start);
        };
        for (std::size_t at = 0; at < sweep.values.size(); ++at) {
            const double growth = at == 0 ? 0 : costOf(sweep.values[at]) / costOf(sweep.values[at - 1]);
            const auto tooLong = [&] { return growth > 1 && milliseconds * growth > longest; };
            // Other programs may have disturbed a sample: it is taken again before a curve ends for it.
            for (int again = 0; again < 2 && tooLong() && !rough_ && !stop_; ++again)
                milliseconds = std::min(milliseconds, take(at - 1));
            if (stop_) return;
            // Rough work is small, and what it shows must not depend on the machine's load.
            if (tooLong() && !rough_) {
                series.note = fmt::format("{}{:.0f} ms", tooLongNote, longest);
                break;
            }
            samples.emplace_back();
            milliseconds = take(at);
        }
        const int most = rough_ ? 1 : mostRounds;
        for (int round = 1; round < most; ++round) {
            if (round >= fewestRounds && secondsNow() - begin > budget) break;
            for (std::size_t at = 0; at < samples.size(); ++at) {
                if (stop_) return;
                take(at);
            }
        }
    });
    std::erase_if(samples, [](const auto& each) { return each.empty(); }); // the last one failed

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
