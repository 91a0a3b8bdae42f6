#include "demos/exhibits/memory/memory_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/language.h"
#include "demos/words/median.h"
#include "engine/cpu/cpu_info.h"
#include "engine/files/json_field.h"
#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/platform/processors.h"
#include "engine/run/make_trainer.h"
#include "engine/step/gpu_memory.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t mostBudget = std::uint64_t{1} << 24; ///< MiB
constexpr std::size_t mostParts = 8;                         ///< that a bar shows

bool knowsKernels(const RungRow& row) {
    return row.trains && !(row.gpu() && (row.rung == Rung::best || row.rung == Rung::wholeStep));
}

/// Rungs that are remedies themselves stand beside the one that they change.
LaneSpec plainLane(LaneSpec lane) {
    if (lane.gpu && (lane.row().foldsUpdate || lane.row().half)) lane.rung = Rung::texel;
    return lane;
}

std::vector<MemoryChoice> choicesFor(const TrainJob& job, const LaneSpec& chosen) {
    const LaneSpec lane = plainLane(chosen);
    const auto on = [&](Rung rung) {
        LaneSpec other = lane;
        other.rung = rung;
        return other;
    };
    const std::size_t layers = job.shape.layers();
    const bool deep = layers > 2;
    const bool offloads = lane.gpu && job.settings.optimizer.stateArrays() > 0;
    const std::size_t kept =
        deep ? std::max<std::size_t>(2, static_cast<std::size_t>(std::sqrt(static_cast<double>(layers)))) : 1;
    const std::size_t parts = std::min(mostParts, std::bit_floor(job.order().batch()));
    const Offload away = offloads ? Offload::optimizer : Offload::none;
    std::vector<MemoryChoice> all{{"as_it_is",
                                   "as it is",
                                   "Every layer's outputs, all gradients and the optimizer's state are kept.",
                                   lane,
                                   {}}};
    if (deep)
        all.push_back(
            {"recompute",
             "recompute",
             "Keeps the outputs of every few layers, and computes the others again when the backward "
             "pass needs them.",
             lane,
             {.recompute = kept}});
    if (parts > 1)
        all.push_back({"parts",
                       "in parts",
                       "Takes the batch in parts, one after the other, and adds up their gradients.",
                       lane,
                       {.accumulate = parts}});
    if (offloads)
        all.push_back({"offload",
                       "offload",
                       "Leaves the optimizer's state in the host's memory. Kernels reach it over the bus.",
                       lane,
                       {.offload = away}});
    if (lane.gpu && lane.rung == Rung::texel) { // whose kernels these change
        all.push_back(
            {"fused",
             "fused",
             "The kernel that computes a weight's gradient also updates the weight: gradients are not "
             "stored.",
             on(Rung::fused),
             {}});
        if (!job.settings.precision.rounds()) // halves are a format of their own
            all.push_back({"half",
                           "fp16",
                           "Halves of activations, and copies of the weights as halves beside the weights "
                           "themselves.",
                           on(Rung::half),
                           {}});
        if (deep || offloads)
            all.push_back({"together",
                           "all at once",
                           "Fused, recomputing and offloading at once.",
                           on(Rung::fused),
                           {.recompute = kept, .offload = away}});
    } else if (deep && parts > 1 && offloads) {
        all.push_back({"together",
                       "all at once",
                       "Recomputing, the batch in parts, and offloading.",
                       lane,
                       {.recompute = kept, .accumulate = parts, .offload = away}});
    } else if (deep && parts > 1) {
        all.push_back({"together",
                       "all at once",
                       "Recomputing, and the batch in parts.",
                       lane,
                       {.recompute = kept, .accumulate = parts}});
    }
    const MemorySettings& set = job.settings.memory;
    const bool listed = std::ranges::any_of(
        all, [&](const MemoryChoice& each) { return each.lane == chosen && each.memory == set; });
    if (!listed)
        all.push_back({"yours", "yours", "The lane and the remedies as they are set above.", chosen, set});
    return all;
}

void divide(const std::vector<MemoryUse>& uses, CategoryBytes& own, CategoryBytes& away) {
    for (const MemoryUse& use : uses) {
        const bool here = use.place == MemoryPlace::device || use.place == MemoryPlace::host;
        (here ? own : away)[static_cast<std::size_t>(use.category)] += use.bytes;
    }
}

/// MemoryForecast::needed of the tensors that a step writes and needs no more after its end.
std::vector<std::uint64_t> neededBy(const MemoryForecast& forecast) {
    std::vector<std::uint64_t> needed(forecast.plan.operations.size() + 1); // first what each begins or ends
    for (const StoredTensor& tensor : forecast.tensors.rows()) {
        if (!ofBatch(tensor.arena) && tensor.arena != TensorArena::gradients) continue;
        if (tensor.arena == TensorArena::hostActivations) continue;
        for (const Lifetime& life : tensor.lifetimes) {
            needed[life.first] += forecast.usedBytes(tensor);
            needed[life.last + 1] -= forecast.usedBytes(tensor);
        }
    }
    std::partial_sum(needed.begin(), needed.end(), needed.begin());
    needed.pop_back();
    return needed;
}

/// device   null for a lane on the processor
MemoryForecast forecastOf(const TrainJob& job, const LaneSpec& lane, std::size_t threads,
                          const gpu::Device* device, std::uint64_t budget) {
    MemoryForecast forecast;
    if (device == nullptr) {
        CpuMemory memory = cpuMemoryOf(job, lane.rung, threads);
        divide(memory.uses(), forecast.own, forecast.away);
        forecast.plan = std::move(memory.plan);
        forecast.tensors = std::move(memory.tensors);
        forecast.rows = memory.pieceRows;
        forecast.needed = neededBy(forecast);
        forecast.fits = budget == 0 || forecast.bytes() <= budget;
        return forecast;
    }
    job.validate();
    GpuMemory memory = gpuMemoryOf(*device, job, lane.rung);
    divide(memory.uses(*device), forecast.own, forecast.away);
    forecast.plan = std::move(memory.plan);
    forecast.tensors = std::move(memory.step);
    forecast.rows = memory.pieceRows;
    forecast.needed = neededBy(forecast);
    try {
        requireMemory(*device, job, lane.rung);
        forecast.fits = budget == 0 || forecast.bytes() <= budget;
    } catch (const gpu::GpuError& error) {
        forecast.fits = false;
        forecast.refusal = error.what();
    }
    return forecast;
}

TrainJob withMemory(TrainJob job, const MemorySettings& memory) {
    job.settings.memory = memory;
    return job;
}

/// Allocates the run, and times some of its steps.
MemoryMeasure measureRun(const TrainJob& job, const LaneSpec& lane, std::size_t threads, gpu::Device* device,
                         bool rough, const std::atomic<bool>& cancelled) {
    MemoryMeasure measure;
    try {
        const auto trainer = makeTrainer(job, lane, {threads, 0}, device, &cancelled);
        CategoryBytes own{}, away{}, predictedOwn{}, predictedAway{};
        divide(trainer->memory(), own, away);
        divide(trainer->predictedMemory(), predictedOwn, predictedAway);
        measure.own = sumOf(own);
        measure.away = sumOf(away);
        measure.asPredicted = own == predictedOwn && away == predictedAway;
        const double enough = rough ? 0 : 0.5;
        const std::size_t fewest = rough ? 1 : 2;
        trainer->run(1);
        trainer->finish();
        std::vector<double> seconds;
        double spent = 0;
        while (!cancelled && (seconds.size() < fewest || (spent < enough && seconds.size() < 200))) {
            const double begin = trainer->trainingSeconds();
            trainer->run(1);
            trainer->finish();
            seconds.push_back(trainer->trainingSeconds() - begin);
            spent += seconds.back();
        }
        if (!seconds.empty()) measure.secondsPerStep = median(seconds);
    } catch (const gpu::DeviceLostError&) {
        throw;
    } catch (const std::bad_alloc&) {
        measure.failure = "The machine has too little memory for it.";
    } catch (const std::exception& error) {
        measure.failure = error.what();
    }
    return measure;
}

} // namespace

MemoryOptions classicMemory() {
    MemoryOptions options;
    options.run.data = "spiral";
    options.run.dataOptions.samples = 2048;
    options.run.hiddenWidths = std::vector<std::size_t>(11, 1024); // ten matrices of 4 MiB between them
    options.run.settings.optimizer.kind = Optimizer::adam;
    options.run.settings.batch = 256;
    options.run.lanes = {{true, Rung::texel, {}}};
    options.budgetMebibytes = 80;
    return options;
}

Json toJson(const MemoryOptions& options) {
    Json json = toJson(options.run);
    json["budget_mebibytes"] = nullptr;
    if (options.budgetMebibytes) json["budget_mebibytes"] = *options.budgetMebibytes;
    return json;
}

MemoryOptions memoryOptionsFromJson(const Json& state) {
    constexpr std::string_view own[] = {"budget_mebibytes"};
    MemoryOptions usual = classicMemory();
    MemoryOptions options;
    options.run = runFromJson(state, usual.run, "memory", own);
    if (options.run.lanes.size() != 1)
        throw std::invalid_argument(
            fmt::format("field 'lanes': must name one lane, not {}", options.run.lanes.size()));
    if (const LaneSpec& lane = options.run.lanes.front(); !knowsKernels(lane.row())) {
        const std::vector<std::string> known = memoryLanes();
        throwUnknownName("field 'lanes': lane", lane.text(),
                         std::vector<std::string_view>(known.begin(), known.end()));
    }
    options.budgetMebibytes = usual.budgetMebibytes;
    if (!state.contains("budget_mebibytes")) return options;
    options.budgetMebibytes.reset();
    if (state["budget_mebibytes"].is_null()) return options;
    options.budgetMebibytes = jsonValue<std::uint64_t>(state, "budget_mebibytes");
    if (*options.budgetMebibytes == 0 || *options.budgetMebibytes > mostBudget)
        throw std::invalid_argument(
            fmt::format("field 'budget_mebibytes': must be 1 to {}, or null", mostBudget));
    return options;
}

std::vector<std::string> memoryLanes() {
    std::vector<std::string> names;
    for (const RungRow& row : rungTable)
        if (knowsKernels(row) && (row.rung != Rung::bf16 || hasBf16Instructions()))
            names.emplace_back(row.lane);
    return names;
}

std::uint64_t sumOf(const CategoryBytes& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

void MemoryModel::change(MemoryOptions options) {
    if (options == options_) return;
    stop(); // it measures other settings
    options_ = std::move(options);
    changed_ = true;
}

void MemoryModel::choose(const MemoryChoice& choice) {
    MemoryOptions options = options_;
    options.run.lanes = {choice.lane};
    options.run.settings.memory = choice.memory;
    if (options == options_) return;
    memory_ = choice.memory;
    options_ = std::move(options); // the same ways are being measured
    changed_ = true;
}

void MemoryModel::update(Machines& machines, bool wait) {
    try {
        takeJob(machines, wait);
    } catch (...) {
        wanted_.reset();
        throw;
    }
    if (wanted_ && job_) measure(machines, *std::exchange(wanted_, std::nullopt));
    if (wait) work_.wait();
    for (const auto& news : work_.takeNews()) news();
    if (const std::string failure = work_.takeFailure(); !failure.empty()) throw std::runtime_error(failure);
}

void MemoryModel::takeJob(Machines& machines, bool wait) {
    if (failed_ && !changed_) return;
    failed_ = true; // unless all goes well
    const std::shared_ptr<const Dataset> data = loader_.get(options_.run, wait);
    failed_ = false;
    if (data == nullptr || (data == data_ && !changed_)) return;
    failed_ = true;
    data_ = data;
    changed_ = false; // also where what follows throws: not again in every frame
    job_.reset();
    choices_.clear();
    predict(machines);
    failed_ = false;
}

void MemoryModel::predict(Machines& machines) {
    RunOptions run = options_.run;
    // Another network or batch may have no use for what was set, which stays for the next one.
    if (run.lanes.front().row().half || run.settings.precision.wide()) run.settings.precision = {}; // its own
    MemorySettings& memory = run.settings.memory;
    TrainJob plain = makeJob(
        [&] {
            RunOptions without = run;
            without.settings.memory = {};
            return without;
        }(),
        *data_);
    memory.accumulate = std::min(memory.accumulate, plain.order().batch());
    if (memory.recompute >= plain.shape.layers()) memory.recompute = 1;
    if (run.lanes.front().row().foldsUpdate) memory.accumulate = 1;
    if (!run.lanes.front().gpu) memory.offload = Offload::none;
    if (includes(memory.offload, Offload::optimizer) && plain.settings.optimizer.stateArrays() == 0)
        memory.offload = memory.offload == Offload::both ? Offload::activations : Offload::none;
    const LaneSpec& lane = run.lanes.front();
    const gpu::Device* device = machines.deviceOf(lane);
    oneMemory_ = device != nullptr && device->memory().memoryHeapCount == 1;
    budget_ = options_.budgetMebibytes ? *options_.budgetMebibytes << 20
              : device != nullptr      ? device->memoryLeft()
                                       : platform::machineMemory();
    const std::string name = device != nullptr ? device->report().name : std::string();
    const TrainJob job = withMemory(plain, memory);
    std::vector<MemoryChoice> choices = choicesFor(job, lane);
    for (MemoryChoice& choice : choices) {
        choice.key = keyOf(choice, name);
        choice.forecast = forecastOf(withMemory(plain, choice.memory), choice.lane, machines.threads(),
                                     device, device == nullptr || options_.budgetMebibytes ? budget_ : 0);
    }
    job_ = job;
    memory_ = memory;
    choices_ = std::move(choices);
    advice_.clear();
    if (device != nullptr && options_.budgetMebibytes && !chosen().forecast.fits &&
        chosen().forecast.refusal.empty())
        advice_ = memoryAdvice(*device, job, lane.rung, budget_);
}

const MemoryChoice& MemoryModel::chosen() const {
    const auto found = std::ranges::find_if(choices_, [&](const MemoryChoice& each) {
        return each.lane == options_.run.lanes.front() && each.memory == memory_;
    });
    return found == choices_.end() ? choices_.back() : *found;
}

std::string MemoryModel::keyOf(const MemoryChoice& choice, const std::string& device) const {
    RunOptions run = options_.run;
    run.lanes = {choice.lane};
    run.settings.memory = choice.memory;
    return toJson(run).dump() + device;
}

const MemoryMeasure* MemoryModel::measured(const MemoryChoice& choice) const {
    const auto found = measured_.find(choice.key);
    return found == measured_.end() ? nullptr : &found->second;
}

void MemoryModel::measure(Machines& machines, bool rough) {
    if (measuring()) return;
    if (!job_ || changed_) { // not as it was set before
        wanted_ = rough;
        return;
    }
    gpu::Device* device = machines.deviceOf(options_.run.lanes.front());
    for (const MemoryChoice& choice : choices_) {
        // The system would end the whole program.
        if (const std::uint64_t most = platform::machineMemory();
            !choice.lane.gpu && most > 0 && choice.forecast.bytes() > most)
            continue;
        work_.post(
            std::string(translated(choice.label)),
            [this, data = data_, job = withMemory(*job_, choice.memory), lane = choice.lane, key = choice.key,
             threads = machines.threads(), device, rough](const std::atomic<bool>& cancelled) {
                MemoryMeasure measure = measureRun(job, lane, threads, device, rough, cancelled);
                if (!cancelled)
                    work_.tell([this, key, measure = std::move(measure)] { measured_[key] = measure; });
            });
    }
}

bool MemoryModel::releaseDevice() {
    const bool was = measuring();
    work_.cancel();
    work_.wait();
    changed_ = true;
    return was;
}

} // namespace lockstep::demos
