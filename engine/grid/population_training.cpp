#include "engine/grid/population_gpu.h"

#include <algorithm>
#include <utility>

#include "engine/net/plain_ops.h"

namespace lockstep {

namespace {

using gpu::asUint;

constexpr std::uint64_t mostOrderWords = std::uint64_t{1} << 24; // 64 MiB

shared::PopulationRecord recordOf(const PopulationJob& job, const BatchOrder& order, std::uint64_t step) {
    TrainSettings settings = job.settings;
    settings.optimizer.learningRate = 1; // a step's rate is a factor on every network's own
    const StepSettings now = stepSettings(settings, order, step);
    const std::size_t terms = lossTerms(job.shape.loss, now.batch.rows, job.shape.outputs());
    return {asUint(now.batch.first), asUint(now.batch.rows),
            asUint(now.batch.epoch), static_cast<float>(1.0 / static_cast<double>(terms)),
            now.update.learningRate, static_cast<float>(learningRate(settings.optimizer, step)),
            now.update.secondScale};
}

std::uint64_t orderWords(const PopulationPlan& plan, const BatchOrder& order, std::uint32_t records,
                         std::size_t networks) {
    if (plan.order == shared::orderOfFile) return 4;
    if (plan.order == shared::orderOfTable) return std::uint64_t{records} * order.batch();
    const std::uint64_t wanted = std::uint64_t{order.batch()} * plan.stepsPerDispatch * networks;
    return std::max<std::uint64_t>(std::min(mostOrderWords, wanted), order.batch());
}

} // namespace

PopulationTraining::PopulationTraining(PopulationArenas& arenas, const PopulationPlan& how)
    : plan(how), arenas_(arenas), job_(arenas.job),
      order_(job_.data.front()->train.count, job_.settings.batch, job_.members.front().seed,
             job_.settings.shuffle),
      ringRecords_(4 * plan.stepsPerDispatch),
      records_(arenas.device, ringRecords_ * sizeof(shared::PopulationRecord), gpu::Memory::upload,
               "records of steps"),
      orders_(arenas.device,
              orderWords(plan, order_, ringRecords_, job_.members.size()) * sizeof(std::uint32_t),
              plan.order == shared::orderOfTable ? gpu::Memory::upload : gpu::Memory::device,
              "order of examples") {}

// Records of one dispatch lie beside each other: it ends where the ring does.
std::uint32_t PopulationTraining::stepsFrom(std::uint64_t first, std::uint64_t wanted) const {
    return asUint(
        std::min({wanted, std::uint64_t{plan.stepsPerDispatch}, ringRecords_ - first % ringRecords_}));
}

void PopulationTraining::prepare(std::uint64_t first, std::uint32_t steps) {
    const bool table = plan.order == shared::orderOfTable;
    const std::size_t batch = order_.batch();
    std::vector<shared::PopulationRecord> records;
    std::vector<std::uint32_t> words(table ? steps * batch : 0);
    for (std::uint32_t step = 0; step < steps; ++step) {
        records.push_back(recordOf(job_, order_, first + step));
        if (table) writeOrder(order_.range(first + step), std::span(words).subspan(step * batch, batch));
    }
    const std::uint64_t slot = first % ringRecords_;
    records_.writeValues<shared::PopulationRecord>(records, slot * sizeof(shared::PopulationRecord));
    if (table) orders_.writeValues<std::uint32_t>(words, slot * batch * sizeof(std::uint32_t));
}

void PopulationTraining::writeOrder(const BatchRange& batch, std::span<std::uint32_t> words) const {
    const shared::OrderKeys keys = orderKeys(order_.seed(), batch.epoch); // once, not per row
    for (std::size_t row = 0; row < batch.rows; ++row)
        words[row] = shared::orderIndex(asUint(batch.first + row), asUint(order_.count()), keys);
}

double PopulationTraining::mostNetworkSteps() const {
    const std::uint64_t most =
        plan.order == shared::orderOfSeed ? mostOrderWords / order_.batch() : std::uint64_t{1} << 40;
    return std::max(static_cast<double>(most), 1.0);
}

std::uint32_t PopulationTraining::quickNetworks() const {
    const double stepOfOne =
        6.0 * static_cast<double>(order_.batch()) * static_cast<double>(job_.shape.parameters());
    const double quick = std::min((arenas_.device.software() ? 2e7 : 5e8) / stepOfOne, mostNetworkSteps());
    return asUint(std::clamp(quick, 1.0, static_cast<double>(job_.members.size())));
}

void PopulationTraining::recordWarmUp(gpu::Recorder& recorder) {
    prepare(0, 1);
    if (plan.order == shared::orderOfSeed) recordOrder(recorder, paramsOf(0, 0, {1, 1}));
    for (const PopulationRun& run : arenas_.places.runs) {
        record(recorder, 0, run.first, {0, 1});
        recorder.submitAndGoOn();
    }
}

// The plan's kernel; its items are networks.
const gpu::Kernel<shared::PopulationTrainParams>& PopulationTraining::kernel(Activation hidden) {
    const Optimizer optimizer = job_.settings.optimizer.kind;
    gpu::SpecConstants constants = arenas_.networkConstants(plan.groupSize, hidden);
    constants.insert({{3, plan.order}, {7, asUint(optimizer)}});
    if (plan.layout == PopulationLayout::subgroup) {
        const std::size_t states = infoOf(optimizer).states;
        const std::uint32_t parameters = asUint(job_.shape.parameters());
        constants.insert(
            {{5, states >= 1 ? parameters : 1}, {6, plan.mostSubgroups}, {8, states == 2 ? parameters : 1}});
    }
    if (plan.layout == PopulationLayout::workgroup)
        constants.insert({{5, plan.chunk}, {6, plan.sharesState ? 1 : 0}, {8, plan.sharedFloats}});
    return arenas_.kernels.find<shared::PopulationTrainParams>("population_" + std::string(name(plan.layout)),
                                                               std::move(constants), {},
                                                               {plan.networksPerGroup, 1, 1});
}

shared::PopulationTrainParams PopulationTraining::paramsOf(std::uint64_t first, std::uint32_t place,
                                                           const PopulationSlice& slice) const {
    const StepSettings settings = stepSettings(job_.settings, order_, first);
    shared::PopulationTrainParams params{};
    params.places = asUint(job_.members.size());
    params.steps = slice.steps;
    params.firstRecord = asUint(first % ringRecords_);
    params.batch = asUint(order_.batch());
    params.examples = asUint(order_.count());
    params.orderFirst = place;
    params.orderNetworks = slice.networks;
    params.secondDecay = settings.update.secondDecay;
    params.epsilon = settings.update.epsilon;
    params.l1 = settings.update.l1;
    params.nesterov = settings.update.nesterov;
    return params;
}

void PopulationTraining::record(gpu::Recorder& recorder, std::uint64_t first, std::uint32_t place,
                                const PopulationSlice& slice) {
    constexpr std::uint32_t mostNetworks = 32768; // every device dispatches that many workgroups
    shared::PopulationTrainParams params = paramsOf(first, place, slice);
    if (plan.order == shared::orderOfSeed && slice.steps > 0) recordOrder(recorder, params);
    const gpu::BufferView parameters = arenas_.parameters.view();
    for (const PopulationRun& piece : arenas_.places.pieces(place, slice.networks, mostNetworks)) {
        params.first = piece.first;
        params.networks = piece.count;
        recorder.dispatch(kernel(piece.activation), {params.networks, 1, 1}, params,
                          {arenas_.train.view(), orders_.view(), records_.view(), arenas_.networks.view(),
                           arenas_.states.view(), parameters,
                           arenas_.first ? arenas_.first->view() : parameters,
                           arenas_.second ? arenas_.second->view() : parameters});
    }
}

void PopulationTraining::recordOrder(gpu::Recorder& recorder, const shared::PopulationTrainParams& params) {
    const std::uint32_t parts =
        (params.batch + shared::populationOrderRows - 1) / shared::populationOrderRows;
    recorder.dispatch(arenas_.kernels.find<shared::PopulationTrainParams>("population_order", {{0, 32}}),
                      {params.orderNetworks, parts, params.steps}, params,
                      {records_.view(), arenas_.networks.view(), orders_.view()});
}

} // namespace lockstep
