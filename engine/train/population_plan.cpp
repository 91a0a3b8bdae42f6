#include "engine/train/population_plan.h"

#include <algorithm>
#include <stdexcept>

namespace lockstep {

namespace {

constexpr std::size_t mostRounds = 60000; // software drivers end a shader's loops after 65,535 in silence
constexpr std::size_t mostSteps = 1024;   // of a dispatch: it is to end after milliseconds
// Beyond this a network's numbers do not stay in registers, and drivers compile for seconds.
constexpr std::size_t invocationParameters = 320;

std::uint32_t orderOf(const PopulationJob& job) {
    if (!job.settings.shuffle) return shared::orderOfFile;
    const auto seed = job.members.front().seed;
    const auto same = [seed](const PopulationMember& member) { return member.seed == seed; };
    return std::ranges::all_of(job.members, same) ? shared::orderOfTable : shared::orderOfSeed;
}

std::size_t batchOf(const PopulationJob& job) {
    return std::min(job.settings.batch, job.data.front()->train.count);
}

// Permutations until one falls inside, of the unluckiest of a few networks side by side. Below 33 examples
// the permuted range is much larger than they are; no cycle is longer than that range.
std::size_t walkRounds(std::size_t examples) { return examples > 32 ? 10 : 64; }

// Of one invocation that handles `rows` rows of a batch one after the other.
std::size_t roundsPerStep(const PopulationJob& job, std::uint32_t order, std::size_t rows) {
    constexpr std::size_t keyRounds = 12; // philox at a new epoch
    if (order != shared::orderOfSeed) return rows + 2;
    return rows * (1 + walkRounds(job.data.front()->train.count)) + keyRounds + 2;
}

std::optional<PopulationPlan> refuse(std::string* why, std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return std::nullopt;
}

std::optional<PopulationPlan> withSteps(PopulationPlan plan, std::size_t rounds, std::string* why) {
    if (rounds > mostRounds)
        return refuse(why, "a step takes about " + std::to_string(rounds) +
                               " rounds of its loops, and software Vulkan computes at most " +
                               std::to_string(mostRounds) + " rightly; try a smaller batch");
    plan.stepsPerDispatch = static_cast<std::uint32_t>(std::min(mostRounds / rounds, mostSteps));
    return plan;
}

std::optional<PopulationPlan> planInvocation(const gpu::Device& device, const PopulationJob& job,
                                             std::string* why) {
    if (job.shape.parameters() > invocationParameters)
        return refuse(why, "an invocation's registers hold networks of at most " +
                               std::to_string(invocationParameters) + " parameters, this one has " +
                               std::to_string(job.shape.parameters()));
    PopulationPlan plan;
    plan.order = orderOf(job);
    plan.groupSize = std::clamp(device.limits().subgroupSize, 8u, 64u);
    plan.networksPerGroup = plan.groupSize;
    return withSteps(plan, roundsPerStep(job, plan.order, batchOf(job)), why);
}

} // namespace

std::string PopulationPlan::describe() const {
    return "a network per " + std::string(name(layout)) + ", " + std::to_string(groupSize) +
           " invocations together, " + std::to_string(stepsPerDispatch) + " steps per dispatch";
}

std::optional<PopulationPlan> populationPlan(const gpu::Device& device, const PopulationJob& job,
                                             PopulationLayout layout, std::string* why) {
    switch (layout) {
    case PopulationLayout::invocation: return planInvocation(device, job, why);
    default: return refuse(why, "it is not one layout");
    }
}

PopulationPlan requiredPopulationPlan(const gpu::Device& device, const PopulationJob& job,
                                      PopulationLayout layout) {
    std::string why;
    if (const auto plan = populationPlan(device, job, layout, &why)) return *plan;
    throw std::runtime_error("'" + device.report().name + "' cannot run gpu:" + std::string(name(layout)) +
                             ": " + why);
}

} // namespace lockstep
