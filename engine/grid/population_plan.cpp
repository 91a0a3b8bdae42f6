#include "engine/grid/population_gpu.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/net/activation.h"
#include "engine/plan/work.h"

namespace lockstep {

namespace {

constexpr std::size_t mostStepsPerDispatch = 1024; // of a dispatch: it is to end after milliseconds

std::size_t batchOf(const PopulationJob& job) {
    return std::min(job.settings.batch, job.data.front()->train.count);
}

PopulationPlan refusal(std::string reason) { return {.refusal = std::move(reason)}; }

// Rounds that a dispatch makes besides its steps: parameters and state are loaded and stored.
std::size_t roundsBeside(const PopulationJob& job, const PopulationPlan& plan) {
    return plan.networksPerGroup > 1 ? 0 : 2 * loopRounds(turnsOf(job.shape.parameters(), plan.groupSize));
}

// In a step, an invocation's loops make so many rounds; its work is rows of the batch times parameters.
PopulationPlan withSteps(const gpu::Device& device, const PopulationJob& job, PopulationPlan plan,
                         std::size_t rounds, std::size_t work) {
    const std::size_t most = mostLoopRounds - roundsBeside(job, plan);
    if (device.software() && rounds > most)
        return refusal("a step takes about " + std::to_string(rounds) +
                       " rounds of its loops, and software Vulkan computes at most " + std::to_string(most) +
                       " correctly");
    if (!device.software() && work > mostWorkOfInvocation)
        return refusal("rows times parameters per invocation: " + std::to_string(work) + "; above " +
                       std::to_string(mostWorkOfInvocation) + ", a step may exceed the driver's time limit");
    plan.stepsPerDispatch =
        static_cast<std::uint32_t>(std::clamp<std::size_t>(most / rounds, 1, mostStepsPerDispatch));
    return plan;
}

// A network's parameters and optimizer state.
std::size_t numbersOf(const PopulationJob& job) {
    return job.shape.parameters() * (1 + job.settings.optimizer.stateArrays());
}

PopulationPlan planInvocation(const gpu::Device& device, const PopulationJob& job, std::size_t batch) {
    const std::size_t most = registerNumbers(device);
    // Software Vulkan spills to memory anyway, so gradients are not counted there.
    const std::size_t arrays = (device.software() ? 1 : 2) + job.settings.optimizer.stateArrays();
    if (job.shape.parameters() * arrays > most)
        return refusal("an invocation's registers hold networks of at most " + std::to_string(most / arrays) +
                       " parameters with this optimizer, this one has " +
                       std::to_string(job.shape.parameters()));
    PopulationPlan plan;
    plan.groupSize = std::clamp(device.limits().subgroupSize, 8u, 64u);
    plan.networksPerGroup = plan.groupSize;
    return withSteps(device, job, plan, loopRounds(batch) + 1, batch * job.shape.parameters());
}

// Parameters of which a subgroup's shared memory holds all that populationPlan() counts.
std::size_t sharedParameters(const gpu::Device& device, const PopulationJob& job,
                             const PopulationPlan& plan) {
    const std::size_t floats = device.limits().sharedMemory / sizeof(float);
    const std::size_t arrays = 1 + job.settings.optimizer.stateArrays() + plan.mostSubgroups;
    return (floats - std::min<std::size_t>(floats, plan.mostSubgroups + 2)) / arrays;
}

PopulationPlan planSubgroup(const gpu::Device& device, const PopulationJob& job, std::size_t batch) {
    const gpu::Limits& limits = device.limits();
    if (!limits.subgroupSums || limits.broadcastInvocations == 0)
        return refusal("it needs subgroupAdd and subgroupBroadcast in compute shaders");
    const std::size_t parameters = job.shape.parameters();
    if (parameters > registerNumbers(device))
        return refusal("its registers hold gradients of at most " + std::to_string(registerNumbers(device)) +
                       " parameters, this network has " + std::to_string(parameters));
    PopulationPlan plan;
    plan.groupSize = std::min(limits.subgroupSize, limits.groupInvocations);
    plan.networksPerGroup = 1;
    plan.mostSubgroups = static_cast<std::uint32_t>(
        turnsOf(plan.groupSize, std::min(limits.broadcastInvocations, plan.groupSize)));
    const std::size_t bytes = (numbersOf(job) + plan.mostSubgroups * (parameters + 1) + 2) * sizeof(float);
    if (bytes > limits.sharedMemory)
        return refusal("the parameters, their gradients and the optimizer's state take " +
                       std::to_string(bytes) + " bytes, its shared memory has " +
                       std::to_string(limits.sharedMemory) + ": networks of at most " +
                       std::to_string(sharedParameters(device, job, plan)) +
                       " parameters fit, this one has " + std::to_string(parameters));
    const std::size_t subgroupLoop = loopRounds(plan.mostSubgroups - 1);
    const std::size_t rows = turnsOf(batch, plan.groupSize);
    const std::size_t rounds =
        loopRounds(rows) + subgroupLoop + loopRounds(turnsOf(parameters, plan.groupSize), subgroupLoop) + 1;
    return withSteps(device, job, plan, rounds, rows * parameters);
}

// As shaders/grid/population_workgroup.comp lays out a row, and its loss.
std::size_t floatsPerRow(const PopulationJob& job) {
    std::size_t values = 0;
    for (const std::size_t width : job.shape.widths) values += width;
    const auto needsSum = [](const PopulationMember& member) {
        return derivativeNeedsSum(member.activation);
    };
    const bool sums =
        derivativeNeedsSum(job.shape.outputActivation) || std::ranges::any_of(job.members, needsSum);
    return (sums ? 3 : 2) * values + job.shape.outputs() + 1;
}

// Rounds that one invocation's loops make in a step, as population_workgroup.comp nests them.
std::size_t workgroupRounds(const PopulationJob& job, std::size_t batch, const PopulationPlan& plan) {
    const NetShape& shape = job.shape;
    const auto turns = [&](std::size_t items) { return turnsOf(items, plan.groupSize); };
    const std::size_t exampleQuads = turnsOf(shape.inputs() + shape.outputs(), 4);
    std::size_t rounds = loopRounds(turns(plan.chunk * exampleQuads)) +
                         loopRounds(turns(plan.chunk), loopRounds(shape.outputs())) + loopRounds(plan.chunk);
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const std::size_t inputs = shape.widths[layer];
        const std::size_t outputs = shape.widths[layer + 1];
        rounds += loopRounds(turns(plan.chunk * outputs), loopRounds(inputs));
        if (layer > 0) rounds += loopRounds(turns(plan.chunk * inputs), loopRounds(outputs));
        rounds += loopRounds(turns((inputs + 1) * outputs), loopRounds(plan.chunk));
    }
    const std::size_t parameterLoops =
        2 * loopRounds(turns(shape.parameters())); // gradients to 0; the update
    return loopRounds(turnsOf(batch, plan.chunk), rounds) + parameterLoops + 1;
}

// On a GPU an invocation for every value of the widest level, as far as they go. Software Vulkan runs a
// workgroup on one core: more than one vector of invocations only adds to the cost of barriers, unless one
// would take too many rounds.
std::uint32_t workgroupSize(const gpu::Device& device, const PopulationJob& job, std::size_t batch,
                            PopulationPlan plan) {
    const std::uint32_t most =
        std::bit_floor(std::min({device.limits().groupInvocations, device.limits().groupSize[0], 128u}));
    const std::size_t values = plan.chunk * job.shape.widest();
    if (!device.software())
        return static_cast<std::uint32_t>(std::clamp<std::size_t>(std::bit_ceil(values), 32, most));
    plan.groupSize = std::min(device.limits().subgroupSize, most);
    while (plan.groupSize * 2 <= most &&
           workgroupRounds(job, batch, plan) > mostLoopRounds - roundsBeside(job, plan))
        plan.groupSize *= 2;
    return plan.groupSize;
}

PopulationPlan planWorkgroup(const gpu::Device& device, const PopulationJob& job, std::size_t batch) {
    constexpr std::size_t enoughRows = 4; // of a chunk, before the optimizer's state may take their room
    const std::size_t floats = device.limits().sharedMemory / sizeof(float);
    const std::size_t fixed = 2 * job.shape.parameters(); // and gradients
    const std::size_t state = numbersOf(job) - job.shape.parameters();
    const std::size_t perRow = floatsPerRow(job);
    if (fixed + perRow > floats)
        return refusal("its shared memory holds " + std::to_string(floats) +
                       " numbers; the parameters and gradients (" + std::to_string(fixed) +
                       ") with one row of a batch (" + std::to_string(perRow) + ") are " +
                       std::to_string(fixed + perRow) + "; try narrower layers");
    PopulationPlan plan;
    plan.networksPerGroup = 1;
    plan.sharesState = fixed + state + std::min(batch, enoughRows) * perRow <= floats;
    const std::size_t beside = fixed + (plan.sharesState ? state : 0);
    plan.chunk = static_cast<std::uint32_t>(std::min(batch, (floats - beside) / perRow));
    plan.sharedFloats = static_cast<std::uint32_t>(beside + plan.chunk * perRow);
    plan.groupSize = workgroupSize(device, job, batch, plan);
    const std::size_t work = turnsOf(batch * job.shape.parameters(), plan.groupSize);
    return withSteps(device, job, plan, workgroupRounds(job, batch, plan), work);
}

PopulationPlan planOf(const gpu::Device& device, const PopulationJob& job, std::size_t batch,
                      PopulationLayout layout) {
    if (layout == PopulationLayout::invocation) return planInvocation(device, job, batch);
    if (layout == PopulationLayout::subgroup) return planSubgroup(device, job, batch);
    return planWorkgroup(device, job, batch);
}

// Rounds that an invocation's loops make for four examples where none is unrolled.
std::size_t roundsOfFour(const NetShape& shape) {
    std::size_t rounds =
        8 * loopRounds(shape.outputs()) + 4 * loopRounds(shape.inputs()); // losses; gathering
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        rounds += loopRounds(shape.widths[layer + 1], loopRounds(shape.widths[layer]));
    return rounds;
}

// Examples that one invocation scores at most: that every driver's loops have the rounds for, or that end
// soon enough.
std::size_t mostRows(const gpu::Device& device, const NetShape& shape) {
    if (device.software()) return mostLoopRounds / (1 + roundsOfFour(shape)) * 4;
    return mostWorkOfInvocation / shape.parameters() / 4 * 4;
}

} // namespace

// Software drivers compile for seconds above all for the loads and stores. A GPU has 255 registers for an
// invocation, and some of them hold what a step is about to compute.
std::size_t registerNumbers(const gpu::Device& device) { return device.software() ? 330 : 224; }

std::uint32_t populationOrder(const PopulationJob& job) {
    if (!job.settings.shuffle) return shared::orderOfFile;
    const auto seed = job.members.front().seed;
    const auto same = [seed](const PopulationMember& member) { return member.seed == seed; };
    return std::ranges::all_of(job.members, same) ? shared::orderOfTable : shared::orderOfSeed;
}

PopulationPlan populationPlan(const gpu::Device& device, const PopulationJob& job, PopulationLayout layout) {
    PopulationPlan plan = planOf(device, job, batchOf(job), layout);
    plan.layout = layout;
    plan.order = populationOrder(job);
    if (plan.refusal.empty()) return plan;
    const std::size_t batch = largestBelow(batchOf(job), [&](std::size_t smaller) {
        return planOf(device, job, smaller, layout).refusal.empty();
    });
    if (batch > 0) plan.refusal += "; a batch of " + std::to_string(batch) + " fits";
    return plan;
}

// Few networks are divided further, so that a GPU has enough to do.
PopulationParts populationParts(const gpu::Device& device, const PopulationJob& job, std::size_t networks) {
    constexpr std::size_t busyInvocations = 16384;
    constexpr std::size_t fewestRows = 32;
    const Dataset& data = *job.data.front();
    const std::size_t count = data.of(evaluatedSplit(data)).count;
    const std::size_t wanted = std::max(busyInvocations / networks, std::size_t{1});
    const std::size_t rows =
        std::clamp(roundUpToFour((count + wanted - 1) / wanted), fewestRows, mostRows(device, job.shape));
    return {gpu::asUint(count), gpu::asUint(turnsOf(count, rows)), gpu::asUint(rows)};
}

} // namespace lockstep
