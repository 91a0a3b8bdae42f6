#include "engine/grid/population_plan.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "engine/net/activation.h"
#include "engine/step/shaders.h"
#include "engine/step/work.h"

namespace lockstep {

namespace {

constexpr std::size_t mostStepsPerDispatch = 1024; // of a dispatch: it is to end after milliseconds
// Numbers that an invocation keeps: beyond this they do not stay in registers, and drivers compile for
// seconds (software ones above all for the loads and stores).
constexpr std::size_t gpuRegisterNumbers = 640;
constexpr std::size_t softwareRegisterNumbers = 330;

std::size_t batchOf(const PopulationJob& job) {
    return std::min(job.settings.batch, job.data.front()->train.count);
}

std::optional<PopulationPlan> refuse(std::string* why, std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return std::nullopt;
}

// Of a dispatch besides its steps: parameters and state are loaded and stored.
std::size_t roundsBeside(const PopulationJob& job, const PopulationPlan& plan) {
    return plan.networksPerGroup > 1 ? 0 : 2 * loopRounds(turnsOf(job.shape.parameters(), plan.groupSize));
}

// What one invocation does in a step.
struct StepOfInvocation {
    std::size_t rounds = 0; // of its loops
    std::size_t work = 0;   // rows of the batch times parameters
};

std::optional<PopulationPlan> withSteps(const gpu::Device& device, const PopulationJob& job,
                                        PopulationPlan plan, const StepOfInvocation& step, std::string* why) {
    const std::size_t most = mostLoopRounds - roundsBeside(job, plan);
    const std::size_t rounds = step.rounds;
    if (device.software() && rounds > most)
        return refuse(why, "a step takes about " + std::to_string(rounds) +
                               " rounds of its loops, and software Vulkan computes at most " +
                               std::to_string(most) + " rightly");
    if (!device.software() && step.work > mostWorkOfInvocation)
        return refuse(why, "a step is " + std::to_string(step.work) +
                               " rows times parameters for each invocation, and with more than " +
                               std::to_string(mostWorkOfInvocation) +
                               " it may take a GPU longer than systems allow");
    plan.stepsPerDispatch =
        static_cast<std::uint32_t>(std::clamp<std::size_t>(most / rounds, 1, mostStepsPerDispatch));
    return plan;
}

// A network's parameters and optimizer state.
std::size_t numbersOf(const PopulationJob& job) {
    return job.shape.parameters() * (1 + job.settings.optimizer.stateArrays());
}

std::size_t registerNumbers(const gpu::Device& device) {
    return device.software() ? softwareRegisterNumbers : gpuRegisterNumbers;
}

std::optional<PopulationPlan> planInvocation(const gpu::Device& device, const PopulationJob& job,
                                             std::size_t batch, std::string* why) {
    const std::size_t most = registerNumbers(device);
    const std::size_t arrays = 1 + job.settings.optimizer.stateArrays();
    if (numbersOf(job) > most)
        return refuse(why, "an invocation's registers hold networks of at most " +
                               std::to_string(most / arrays) +
                               " parameters with this optimizer, this one has " +
                               std::to_string(job.shape.parameters()));
    PopulationPlan plan;
    plan.groupSize = std::clamp(device.limits().subgroupSize, 8u, 64u);
    plan.networksPerGroup = plan.groupSize;
    return withSteps(device, job, plan, {loopRounds(batch) + 1, batch * job.shape.parameters()}, why);
}

// Parameters of which a subgroup's shared memory holds all that populationPlan() counts.
std::size_t sharedParameters(const gpu::Device& device, const PopulationJob& job,
                             const PopulationPlan& plan) {
    const std::size_t floats = device.limits().sharedMemory / sizeof(float);
    const std::size_t arrays = 1 + job.settings.optimizer.stateArrays() + plan.mostSubgroups;
    return (floats - std::min<std::size_t>(floats, plan.mostSubgroups + 2)) / arrays;
}

std::optional<PopulationPlan> planSubgroup(const gpu::Device& device, const PopulationJob& job,
                                           std::size_t batch, std::string* why) {
    const gpu::Limits& limits = device.limits();
    if (!limits.subgroupSums || limits.broadcastInvocations == 0)
        return refuse(why, "the invocations of its subgroups do not add up their numbers");
    const std::size_t parameters = job.shape.parameters();
    if (!fitsRegisters(device, job.shape))
        return refuse(why, "its registers hold gradients of at most " +
                               std::to_string(registerNumbers(device)) + " parameters, this network has " +
                               std::to_string(parameters));
    PopulationPlan plan;
    plan.groupSize = std::min(limits.subgroupSize, limits.groupInvocations);
    plan.networksPerGroup = 1;
    plan.mostSubgroups = static_cast<std::uint32_t>(
        turnsOf(plan.groupSize, std::min(limits.broadcastInvocations, plan.groupSize)));
    const std::size_t bytes = (numbersOf(job) + plan.mostSubgroups * (parameters + 1) + 2) * sizeof(float);
    if (bytes > limits.sharedMemory)
        return refuse(why, "the parameters, their gradients and the optimizer's state take " +
                               std::to_string(bytes) + " bytes, its shared memory has " +
                               std::to_string(limits.sharedMemory) + ": networks of at most " +
                               std::to_string(sharedParameters(device, job, plan)) +
                               " parameters fit, this one has " + std::to_string(parameters));
    const std::size_t subgroupLoop = loopRounds(plan.mostSubgroups - 1);
    const std::size_t rows = turnsOf(batch, plan.groupSize);
    const std::size_t rounds =
        loopRounds(rows) + subgroupLoop + loopRounds(turnsOf(parameters, plan.groupSize), subgroupLoop) + 1;
    return withSteps(device, job, plan, {rounds, rows * parameters}, why);
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

std::optional<PopulationPlan> planWorkgroup(const gpu::Device& device, const PopulationJob& job,
                                            std::size_t batch, std::string* why) {
    constexpr std::size_t enoughRows = 4; // of a chunk, before the optimizer's state may take their room
    const std::size_t floats = device.limits().sharedMemory / sizeof(float);
    const std::size_t fixed = 2 * job.shape.parameters(); // and gradients
    const std::size_t state = numbersOf(job) - job.shape.parameters();
    const std::size_t perRow = floatsPerRow(job);
    if (fixed + perRow > floats)
        return refuse(why, "its shared memory holds " + std::to_string(floats) +
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
    return withSteps(device, job, plan, {workgroupRounds(job, batch, plan), work}, why);
}

std::optional<PopulationPlan> planOf(const gpu::Device& device, const PopulationJob& job, std::size_t batch,
                                     PopulationLayout layout, std::string* why) {
    if (layout == PopulationLayout::invocation) return planInvocation(device, job, batch, why);
    if (layout == PopulationLayout::subgroup) return planSubgroup(device, job, batch, why);
    return planWorkgroup(device, job, batch, why);
}

// With which a layout takes the job that it does not take as it is; 0: with none.
std::size_t largestBatch(const gpu::Device& device, const PopulationJob& job, PopulationLayout layout) {
    std::size_t fitting = 0;
    for (std::size_t refused = batchOf(job); refused - fitting > 1;) {
        const std::size_t middle = fitting + (refused - fitting) / 2;
        (planOf(device, job, middle, layout, nullptr) ? fitting : refused) = middle;
    }
    return fitting;
}

using gpu::asUint;

} // namespace

std::uint32_t populationOrder(const PopulationJob& job) {
    if (!job.settings.shuffle) return shared::orderOfFile;
    const auto seed = job.members.front().seed;
    const auto same = [seed](const PopulationMember& member) { return member.seed == seed; };
    return std::ranges::all_of(job.members, same) ? shared::orderOfTable : shared::orderOfSeed;
}

std::string PopulationPlan::describe(std::size_t networks) const {
    return "a network per " + std::string(name(layout)) + ", " + std::to_string(networks) +
           " at once, at most " + std::to_string(stepsPerDispatch) + " steps per dispatch";
}

std::optional<PopulationPlan> populationPlan(const gpu::Device& device, const PopulationJob& job,
                                             PopulationLayout layout, std::string* why) {
    std::optional<PopulationPlan> plan = planOf(device, job, batchOf(job), layout, why);
    if (plan) {
        plan->layout = layout;
        plan->order = populationOrder(job);
    } else if (why != nullptr) {
        const std::size_t batch = largestBatch(device, job, layout);
        if (batch > 0) *why += "; a batch of " + std::to_string(batch) + " fits";
    }
    return plan;
}

bool fitsRegisters(const gpu::Device& device, const NetShape& shape) {
    return shape.parameters() <= registerNumbers(device);
}

PopulationPlan requiredPopulationPlan(const gpu::Device& device, const PopulationJob& job,
                                      PopulationLayout layout) {
    std::string why;
    if (const auto plan = populationPlan(device, job, layout, &why)) return *plan;
    throw std::runtime_error("'" + device.report().name + "' cannot run gpu:" + std::string(name(layout)) +
                             ": " + why);
}

template <class Params>
const gpu::Kernel<Params>& PopulationKernels::find(std::map<std::string, gpu::Kernel<Params>>& made,
                                                   const std::string& stem, gpu::SpecConstants constants,
                                                   gpu::WorkItems itemsPerGroup) {
    std::string key = stem;
    for (const auto& [id, value] : constants) key += " " + std::to_string(id) + "=" + std::to_string(value);
    if (const auto found = made.find(key); found != made.end()) return found->second;
    return made
        .try_emplace(key, device_,
                     gpu::KernelSource{stem, shaderWords(stem), std::move(constants), itemsPerGroup})
        .first->second;
}

// By the numbers in shaders/grid/population_network.glsl.
gpu::SpecConstants PopulationKernels::widthConstants() const {
    gpu::SpecConstants constants{{9, asUint(shape_.layers())}};
    for (std::uint32_t level = 0; level <= shared::populationLayers; ++level)
        constants[10 + level] = level < shape_.widths.size() ? asUint(shape_.widths[level]) : 0;
    return constants;
}

gpu::SpecConstants PopulationKernels::networkConstants(Activation hidden) const {
    gpu::SpecConstants constants = widthConstants();
    constants.insert({{1, asUint(shape_.loss)}, {2, asUint(shape_.outputActivation)}, {4, asUint(hidden)}});
    return constants;
}

std::string PopulationKernels::looped() const { return fitsRegisters(device_, shape_) ? "" : "_looped"; }

const gpu::Kernel<shared::PopulationTrainParams>&
PopulationKernels::train(const PopulationPlan& plan, Optimizer optimizer, Activation hidden) {
    gpu::SpecConstants constants = networkConstants(hidden);
    constants[0] = plan.groupSize;
    constants[3] = plan.order;
    constants[7] = asUint(optimizer);
    if (plan.layout == PopulationLayout::subgroup) {
        const std::size_t states = infoOf(optimizer).states;
        const std::uint32_t parameters = asUint(shape_.parameters());
        constants.insert(
            {{5, states >= 1 ? parameters : 1}, {6, plan.mostSubgroups}, {8, states == 2 ? parameters : 1}});
    }
    if (plan.layout == PopulationLayout::workgroup)
        constants.insert({{5, plan.chunk}, {6, plan.sharesState ? 1 : 0}, {8, plan.sharedFloats}});
    const std::string stem = "population_" + std::string(name(plan.layout));
    return find(train_, stem, std::move(constants), {plan.networksPerGroup, 1, 1});
}

const gpu::Kernel<shared::PopulationOrderParams>& PopulationKernels::order() {
    return find(order_, "population_order", {{0, 32}});
}

const gpu::Kernel<shared::PopulationScoreParams>& PopulationKernels::score(Activation hidden) {
    gpu::SpecConstants constants = networkConstants(hidden);
    constants[0] = 32;
    return find(score_, "population_score" + looped(), std::move(constants));
}

const gpu::Kernel<shared::PopulationResultParams>& PopulationKernels::results() {
    gpu::SpecConstants constants = widthConstants();
    constants[0] = 32;
    return find(results_, "population_result", std::move(constants));
}

const gpu::Kernel<shared::PopulationRankParams>& PopulationKernels::rank() {
    return find(rank_, "population_rank", {{0, 32}});
}

const gpu::Kernel<shared::PopulationSummaryParams>& PopulationKernels::summary() {
    return find(summary_, "population_summary", {{0, 64}}, {1, 1, 1});
}

const gpu::Kernel<shared::PopulationPictureParams>& PopulationKernels::picture(Activation hidden) {
    gpu::SpecConstants constants = networkConstants(hidden);
    constants[0] = 4; // 16 x 8 cells
    constants[5] = 8;
    return find(picture_, "population_picture" + looped(), std::move(constants));
}

} // namespace lockstep
