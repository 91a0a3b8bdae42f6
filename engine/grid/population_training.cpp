#include "engine/grid/population_training.h"

#include <algorithm>

#include "engine/net/plain_ops.h"

namespace lockstep {

namespace {

using gpu::asUint;

constexpr std::uint64_t mostOrderWords = std::uint64_t{1} << 24; // 64 MiB

// The optimizer's settings with a rate of 1, so that a step's rate is a factor on every network's own.
TrainSettings unitRate(TrainSettings settings) {
    settings.optimizer.learningRate = 1;
    return settings;
}

shared::PopulationRecord recordOf(const PopulationJob& job, const BatchOrder& order, std::uint64_t step) {
    const TrainSettings settings = unitRate(job.settings);
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

PopulationTraining::PopulationTraining(gpu::Device& device, PopulationKernels& kernels,
                                       PopulationArenas& arenas, const PopulationJob& job,
                                       const PopulationPlan& plan)
    : device_(device), job_(job), pipelines_(kernels), arenas_(arenas), plan_(plan),
      order_(job.data.front()->train.count, job.settings.batch, job.members.front().seed,
             job.settings.shuffle),
      ringRecords_(4 * plan.stepsPerDispatch),
      records_(device, ringRecords_ * sizeof(shared::PopulationRecord), gpu::Memory::upload,
               "records of steps"),
      orders_(device, orderWords(plan, order_, ringRecords_, job.members.size()) * sizeof(std::uint32_t),
              plan.order == shared::orderOfTable ? gpu::Memory::upload : gpu::Memory::device,
              "order of examples") {
    for (const PopulationRun& run : arenas.runs)
        kernels_.push_back(&kernels.train(plan, job.settings.optimizer.kind, run.activation));
}

// Records of one dispatch lie beside each other: it ends where the ring does.
std::uint32_t PopulationTraining::stepsFrom(std::uint64_t first, std::uint64_t wanted) const {
    return asUint(
        std::min({wanted, std::uint64_t{plan_.stepsPerDispatch}, ringRecords_ - first % ringRecords_}));
}

void PopulationTraining::prepare(std::uint64_t first, std::uint32_t steps) {
    const bool table = plan_.order == shared::orderOfTable;
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
        plan_.order == shared::orderOfSeed ? mostOrderWords / order_.batch() : std::uint64_t{1} << 40;
    return std::max(static_cast<double>(most), 1.0);
}

std::uint32_t PopulationTraining::quickNetworks() const {
    const double stepOfOne =
        6.0 * static_cast<double>(order_.batch()) * static_cast<double>(job_.shape.parameters());
    const double quick = std::min((device_.software() ? 2e7 : 5e8) / stepOfOne, mostNetworkSteps());
    return asUint(std::clamp(quick, 1.0, static_cast<double>(arenas_.members.size())));
}

void PopulationTraining::recordWarmUp(gpu::Recorder& recorder) {
    prepare(0, 1);
    if (plan_.order == shared::orderOfSeed) recordOrder(recorder, 0, {1, 1}, 0);
    for (const PopulationRun& run : arenas_.runs) {
        record(recorder, 0, run.first, {0, 1});
        recorder.submitAndGoOn();
    }
}

void PopulationTraining::record(gpu::Recorder& recorder, std::uint64_t first, std::uint32_t place,
                                const PopulationSlice& slice) {
    const StepSettings settings = stepSettings(job_.settings, order_, first);
    shared::PopulationTrainParams params{};
    params.places = asUint(arenas_.members.size());
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
    if (plan_.order == shared::orderOfSeed && slice.steps > 0)
        recordOrder(recorder, place, slice, params.firstRecord);
    for (const PopulationRun& run : arenas_.runs) {
        params.first = std::max(run.first, place);
        const std::uint32_t end = std::min(run.first + run.count, place + slice.networks);
        if (params.first >= end) continue;
        params.networks = end - params.first;
        dispatch(recorder, run, params);
    }
}

void PopulationTraining::recordOrder(gpu::Recorder& recorder, std::uint32_t place,
                                     const PopulationSlice& slice, std::uint32_t firstRecord) {
    constexpr std::uint32_t rows = 64; // of an invocation
    const std::uint32_t batch = asUint(order_.batch());
    const shared::PopulationOrderParams params{place, slice.networks, firstRecord,
                                               batch, rows,           asUint(order_.count())};
    recorder.dispatch(pipelines_.order(), {slice.networks, (batch + rows - 1) / rows, slice.steps}, params,
                      {records_.view(), arenas_.networks.view(), orders_.view()});
}

void PopulationTraining::dispatch(gpu::Recorder& recorder, const PopulationRun& run,
                                  shared::PopulationTrainParams params) {
    constexpr std::uint32_t mostNetworks = 32768; // every device dispatches that many workgroups
    const auto& kernel = *kernels_[asUint(&run - arenas_.runs.data())];
    const gpu::BufferView parameters = arenas_.parameters.view();
    for (const std::uint32_t end = params.first + params.networks; params.first < end;
         params.first += params.networks) {
        params.networks = std::min(end - params.first, mostNetworks);
        recorder.dispatch(kernel, {params.networks, 1, 1}, params,
                          {arenas_.train.view(), orders_.view(), records_.view(), arenas_.networks.view(),
                           arenas_.states.view(), parameters,
                           arenas_.first ? arenas_.first->view() : parameters,
                           arenas_.second ? arenas_.second->view() : parameters});
    }
}

} // namespace lockstep
