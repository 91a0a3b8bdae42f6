#include "engine/grid/population_gpu.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/gpu/error.h"
#include "engine/tune/comparison.h"
#include "engine/tune/kernel_cache.h"

namespace lockstep {

namespace {

constexpr PopulationLayout candidates[] = {PopulationLayout::invocation, PopulationLayout::subgroup,
                                           PopulationLayout::workgroup};

// At most that many networks are timed, enough to keep most devices busy; fewer, where a step of fewer takes
// long enough for a clock. They learn so slowly that none diverges: those that have cost nothing, and a
// layout that has made more steps would seem quicker than it is.
PopulationJob smallCopy(const gpu::Device& device, const PopulationJob& job) {
    PopulationJob copy = job;
    copy.members.resize(std::min<std::size_t>(job.members.size(), device.software() ? 128 : 4096));
    for (PopulationMember& member : copy.members) {
        member.learningRate = 1e-9;
        member.initialScale = 1;
    }
    return copy;
}

// Populations of a size have the same answer; those of a few networks and of thousands have not.
std::string operationOf(const PopulationJob& job) {
    const PopulationMember& first = job.members.front();
    const std::size_t batch = std::min(job.settings.batch, job.data.front()->train.count);
    return "training population " + job.shape.describeWidths() + " " + std::string(name(first.activation)) +
           " " + std::string(name(job.shape.loss)) + " " + std::string(name(job.settings.optimizer.kind)) +
           " batch " + std::to_string(batch) + " order " + std::to_string(populationOrder(job)) +
           " networks " + std::to_string(std::bit_ceil(job.members.size()));
}

// One layout, ready to be timed as often as it takes.
class Trial {
  public:
    /// Compiles its kernels, and finds how much takes long enough for a clock, starting with little: how
    /// long a step takes is not known yet.
    Trial(gpu::Device& device, const PopulationJob& job, const PopulationPlan& plan)
        : job_(smallCopy(device, job)), arenas_(device, job_), training_(arenas_, plan), recorder_(device) {
        recorder_.begin();
        training_.recordWarmUp(recorder_);
        recorder_.submitAndTime();
        millisecondsOf({1, 1});
        slice_ = {1, training_.quickNetworks()};
        while (millisecondsOf(slice_) < longEnough && grow()) {
        }
    }

    double millisecondsPerNetworkStep() { return millisecondsOf(slice_) / slice_.networkSteps(); }

    const PopulationPlan& plan() const { return training_.plan; }

  private:
    static constexpr double longEnough = 3;

    // Twice the networks, and once all take part, twice the steps; false where there is no more.
    bool grow() {
        const auto all = static_cast<std::uint32_t>(job_.members.size());
        PopulationSlice next = slice_;
        if (slice_.networks < all)
            next.networks = std::min(2 * slice_.networks, all);
        else
            next.steps = 2 * slice_.steps;
        if (next.steps > plan().stepsPerDispatch || next.networkSteps() > training_.mostNetworkSteps())
            return false;
        slice_ = next;
        return true;
    }

    double millisecondsOf(const PopulationSlice& slice) {
        recorder_.begin();
        training_.prepare(0, slice.steps);
        training_.record(recorder_, 0, 0, slice);
        return recorder_.submitAndTime();
    }

    PopulationJob job_;
    PopulationArenas arenas_;
    PopulationTraining training_;
    PopulationSlice slice_;
    gpu::Recorder recorder_; // destroyed first: it waits for what still uses the others
};

// What came of the layouts that were not timed.
struct Failures {
    std::string reasons;       // "invocation: ...; subgroup: ..."
    bool lackedMemory = false; // of any; another time there may be enough

    void add(PopulationLayout layout, const std::string& why) {
        reasons += (reasons.empty() ? "" : "; ") + std::string(name(layout)) + ": " + why;
    }

    // Notes the reason where the layout fails on this device; a device that is gone fails everything.
    template <class Work> void note(PopulationLayout layout, Work work) {
        try {
            work();
        } catch (const std::runtime_error& error) {
            if (gpu::endsDevice(error)) throw;
            if (dynamic_cast<const gpu::OutOfMemoryError*>(&error) != nullptr) lackedMemory = true;
            add(layout, error.what());
        }
    }
};

PopulationPlan fastest(gpu::Device& device, const PopulationJob& job, KernelCache& cache) {
    Failures failures;
    std::vector<std::unique_ptr<Trial>> trials;
    for (const PopulationLayout layout : candidates) {
        const PopulationPlan plan = populationPlan(device, job, layout);
        if (plan.refusal.empty())
            failures.note(layout, [&] { trials.push_back(std::make_unique<Trial>(device, job, plan)); });
        else
            failures.add(layout, plan.refusal);
    }
    constexpr int rounds = 4;
    const std::vector<double> least = leastInTurn(
        trials.size(), rounds,
        [&](std::size_t at) {
            double milliseconds = std::numeric_limits<double>::infinity();
            failures.note(trials[at]->plan().layout,
                          [&] { milliseconds = trials[at]->millisecondsPerNetworkStep(); });
            return milliseconds;
        },
        [] { return true; });
    const auto winner = std::ranges::min_element(least);
    if (winner == least.end() || std::isinf(*winner))
        throw std::runtime_error("'" + device.report().name + "' cannot run this population in any layout (" +
                                 failures.reasons + ")");
    const PopulationPlan& best = trials[static_cast<std::size_t>(winner - least.begin())]->plan();
    ProductKernel remembered;
    remembered.rung = best.layout;
    cache.remember(operationOf(job), {remembered, *winner, !failures.lackedMemory});
    cache.store();
    return best;
}

} // namespace

PopulationPlan choosePopulationPlan(gpu::Device& device, const PopulationJob& job, PopulationLayout layout) {
    if (layout != PopulationLayout::best) {
        PopulationPlan plan = populationPlan(device, job, layout);
        if (plan.refusal.empty()) return plan;
        throw std::runtime_error("'" + device.report().name +
                                 "' cannot run gpu:" + std::string(name(layout)) + ": " + plan.refusal);
    }
    KernelCache cache(device);
    if (const auto known = cache.find(operationOf(job)))
        if (std::ranges::find(candidates, known->kernel.rung) != std::end(candidates)) {
            PopulationPlan plan = populationPlan(device, job, known->kernel.rung);
            if (plan.refusal.empty()) return plan;
        }
    return fastest(device, job, cache);
}

} // namespace lockstep
