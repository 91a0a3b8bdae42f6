#include "engine/train/population_choice.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "engine/gpu/error.h"
#include "engine/train/kernel_cache.h"
#include "engine/train/population_training.h"

namespace lockstep {

namespace {

constexpr PopulationLayout candidates[] = {PopulationLayout::invocation, PopulationLayout::subgroup,
                                           PopulationLayout::workgroup};

// Enough networks to keep the device as busy as all of them would.
PopulationJob smallCopy(const gpu::Device& device, const PopulationJob& job) {
    PopulationJob copy = job;
    copy.members.resize(std::min<std::size_t>(job.members.size(), device.software() ? 128 : 4096));
    return copy;
}

// Populations of a size have the same answer; those of a few networks and of thousands have not.
std::string operationOf(const PopulationJob& job) {
    const PopulationMember& first = job.members.front();
    return "population " + job.shape.describeWidths() + " " + std::string(name(first.activation)) + " " +
           std::string(name(job.settings.optimizer.kind)) + " batch " + std::to_string(job.settings.batch) +
           " networks " + std::to_string(std::bit_ceil(job.members.size()));
}

// Of one step of all networks, in a dispatch that takes long enough for a clock.
double millisecondsPerStep(gpu::Device& device, const PopulationJob& job, const PopulationPlan& plan) {
    constexpr double longEnough = 3;
    PopulationArenas arenas(device, job);
    PopulationKernels kernels(device, job.shape);
    PopulationTraining training(device, kernels, arenas, job, plan);
    gpu::Recorder recorder(device);
    const auto networks = static_cast<std::uint32_t>(job.members.size());
    const auto timeOf = [&](std::uint32_t steps) {
        recorder.begin();
        training.prepare(0, steps);
        training.record(recorder, 0, 0, {steps, networks});
        recorder.submit();
        recorder.finish();
        double milliseconds = 0;
        for (const gpu::FinishedSubmission& finished : recorder.takeFinished())
            milliseconds += finished.milliseconds;
        return milliseconds;
    };
    timeOf(0); // compiles
    std::uint32_t steps = 1;
    double milliseconds = timeOf(steps);
    while (milliseconds < longEnough && 2 * steps <= plan.stepsPerDispatch &&
           2.0 * steps * networks <= training.mostNetworkSteps())
        milliseconds = timeOf(steps *= 2);
    return milliseconds / steps;
}

struct Measured {
    PopulationPlan plan;
    double milliseconds = 0;
};

// Nothing where the layout fails on this device; a device that is gone fails everything.
std::optional<Measured> measured(gpu::Device& device, const PopulationJob& job, const PopulationPlan& plan) {
    try {
        return Measured{plan, millisecondsPerStep(device, smallCopy(device, job), plan)};
    } catch (const gpu::DeviceLostError&) {
        throw;
    } catch (const gpu::TimeoutError&) {
        throw;
    } catch (const std::runtime_error&) {
        return std::nullopt;
    }
}

PopulationPlan fastest(gpu::Device& device, const PopulationJob& job, KernelCache& cache) {
    std::optional<Measured> best;
    std::string reasons;
    for (const PopulationLayout layout : candidates) {
        std::string why;
        const auto plan = populationPlan(device, job, layout, &why);
        const auto result = plan ? measured(device, job, *plan) : std::nullopt;
        if (!result) reasons += (reasons.empty() ? "" : "; ") + std::string(name(layout)) + ": " + why;
        if (result && (!best || result->milliseconds < best->milliseconds)) best = result;
    }
    if (!best)
        throw std::runtime_error("'" + device.report().name + "' takes this population in no layout (" +
                                 reasons + ")");
    ProductKernel remembered;
    remembered.rung = std::string(name(best->plan.layout));
    cache.remember(operationOf(job), {remembered, best->milliseconds}, true);
    cache.store();
    return best->plan;
}

} // namespace

PopulationPlan choosePopulationPlan(gpu::Device& device, const PopulationJob& job, PopulationLayout layout) {
    if (layout != PopulationLayout::best) return requiredPopulationPlan(device, job, layout);
    KernelCache cache(device);
    const auto known = cache.find(operationOf(job));
    for (const PopulationLayout candidate : candidates)
        if (known && known->kernel.rung == name(candidate))
            if (const auto plan = populationPlan(device, job, candidate)) return *plan;
    return fastest(device, job, cache);
}

} // namespace lockstep
