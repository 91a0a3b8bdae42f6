// Training on a Vulkan device.
#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "engine/net/names.h"
#include "engine/net/param_layout.h"
#include "engine/plan/rounding.h"
#include "engine/run/gpu_evaluation.h"
#include "engine/run/gpu_steps.h"
#include "engine/run/make_trainer.h"
#include "engine/run/trainer_base.h"
#include "engine/step/gpu_forward.h"
#include "engine/step/work_sizer.h"
#include "engine/tune/kernel_choice.h"

namespace lockstep {

namespace {

class GpuTrainer final : public TrainerBase {
  public:
    GpuTrainer(const TrainJob& job, Rung rung, gpu::Device& device, const ReplacedShaders& replaced,
               const std::atomic<bool>* cancelled, std::size_t workgroups, Tuning& tuning);
    /// Waits for steps in flight, after an error: they read what steps_ holds, which goes before recorder_.
    ~GpuTrainer() override {
        try {
            if (!device_.abandoned()) recorder_.finish();
        } catch (const std::exception&) { // nothing runs any more
        }
    }

    void run(std::uint64_t steps) override;
    void finish() override {
        collect();
        const Stopwatch::Running running(training_);
        recorder_.finish();
        collectFinished();
    }
    using TrainerBase::predict;
    std::vector<float> predict(std::span<const float> inputs) override;
    bool takeWeights(TrainedWeights& into) override;
    TrainerState state() override;
    void restore(const TrainerState& state) override;
    std::uint64_t skippedSteps() override {
        if (!half_) return 0;
        finish();
        return half_->scaling().skippedSteps;
    }
    double deviceSeconds() const override { return recorder_.deviceSeconds() - warmUpRecorded_; }
    std::vector<OperationTiming> operations() const override;
    std::vector<MemoryUse> predictedMemory() const override { return arenas_.memory.uses(device_); }
    std::vector<MemoryUse> memory() const override {
        std::vector<AllocatedBuffer> all = arenas_.buffers();
        if (half_)
            for (const AllocatedBuffer& buffer : half_->buffers()) all.push_back(buffer);
        return usesOf(all);
    }

  private:
    // Steps [first, first + count) end with this submission.
    struct Flight {
        gpu::Ticket ticket;
        std::uint64_t first;
        std::uint64_t count;
        bool profiled;
        bool copies; ///< the parameters, into weights_
    };

    void collect() override;
    void collectFinished();
    void forgetDeviceSeconds(double seconds) override { warmUpRecorded_ += seconds; }
    bool profilesNow() const;
    std::vector<float> parameters() override {
        recorder_.finish();
        return arenas_.parameters.downloadValues<float>(arenas_.layout.size());
    }
    ScoreSum score(Split split, std::vector<std::uint64_t>& confusion) override {
        return evaluation_.score(split, confusion);
    }
    void upload(std::size_t first, std::size_t count) override;
    StepPlan tracedPlan() const override { return steps_.planApart(); }
    std::vector<float> tensor(const TensorId& id, std::size_t floats) override {
        return half_ ? half_->tensor(id, floats) : arenas_.tensor(arenas_.memory.step, id, floats);
    }
    void runTraced(StepTrace& trace) override;
    std::vector<TracedOperation> clockedStep(std::string& why) override;
    void putBack(const TrainerState& state);

    StepKernels choose(const ReplacedShaders& replaced, const std::atomic<bool>* cancelled, Tuning& tuning);
    void describeMachine();
    void warmUp(const std::atomic<bool>* cancelled, Tuning& tuning);
    void submitSteps(std::uint64_t count, bool profile);
    void noteLosses(const Flight& flight);
    void setStatus(std::uint32_t word) { arenas_.status.uploadValues<std::uint32_t>({&word, 1}); }

    const Rung rung_;
    gpu::Device& device_;
    const std::chrono::steady_clock::time_point created_ = std::chrono::steady_clock::now();
    Kernels kernels_;
    StepKernels how_;
    GpuArenas arenas_;
    std::optional<HalfArenas> half_; // of kernels of half precision
    gpu::Recorder recorder_;         // of training: its device time is the steps' own
    GpuSteps steps_;
    GpuEvaluation evaluation_;
    WorkSizer submission_;           // of steps
    std::string choiceCutShort_;     // what to say of it; empty: the choice of kernels was not skipped
    double pendingMilliseconds_ = 0; // of a step's operations that were submitted one by one

    std::uint64_t nextStep_ = 0; // the next to be recorded
    std::uint64_t submissions_ = 0;
    std::deque<Flight> flights_;
    std::optional<std::chrono::steady_clock::time_point>
        pendingSince_;          // the end of a call, if steps were pending
    double warmUpRecorded_ = 0; // seconds of everything before training, on the device

    // What takeWeights() copies, once asked for, and predict() computes with.
    std::optional<gpu::Buffer> weights_;
    bool weightsWanted_ = false;             // the next submission copies them
    std::optional<std::uint64_t> weightsOf_; // steps done by those that are there and were not taken
    std::optional<GpuForward> forward_;      // once asked for

    // Kernels that note their workgroups, and what records steps with them.
    struct Clocked {
        explicit Clocked(GpuTrainer& of) : kernels(of.device_, true), recorder(of.device_) {
            kernels.replace(of.kernels_.replacedShaders());
            recorder.limitWorkgroups(of.steps_.workgroups());
            steps.emplace(recorder, of.arenas_, kernels, of.job_, of.rung_, of.how_,
                          of.half_ ? &*of.half_ : nullptr, of.steps_.workgroups());
        }
        Kernels kernels;
        gpu::Recorder recorder;
        std::optional<GpuSteps> steps;
    };
    std::unique_ptr<Clocked> clocked_; // once asked for
};

GpuTrainer::GpuTrainer(const TrainJob& job, Rung rung, gpu::Device& device, const ReplacedShaders& replaced,
                       const std::atomic<bool>* cancelled, std::size_t workgroups, Tuning& tuning)
    : TrainerBase(job), rung_(rung), device_(device), kernels_(device),
      how_(choose(replaced, cancelled, tuning)), arenas_(device, job, GpuMemory(device, job, rung, how_)),
      half_(how_.half ? std::optional<HalfArenas>(std::in_place, device, arenas_,
                                                  initialWeights(job.shape, job.settings.seed))
                      : std::nullopt),
      recorder_(device),
      steps_(recorder_, arenas_, kernels_, job_, rung, how_, half_ ? &*half_ : nullptr, workgroups),
      evaluation_(device, arenas_, kernels_, job_,
                  evaluationKernels(device, how_, job.shape, arenas_.memory.evaluationRows)),
      submission_({submissionMilliseconds(device.software())}) {
    if (half_) largestNumber_ = HalfArenas::largest; // elsewhere as the format has it
    warmUp(cancelled, tuning);
    describeMachine();
    warmUpSeconds_ = secondsSince(created_);
}

// Chooses before it replaces shaders, because only built-in kernels are measured and cached.
StepKernels GpuTrainer::choose(const ReplacedShaders& replaced, const std::atomic<bool>* cancelled,
                               Tuning& tuning) {
    StepKernels how = chooseKernels(device_, kernels_, rung_, job_.shape, job_.settings.optimizer.kind,
                                    job_.pieceRows(), tuning, cancelled);
    if (job_.settings.addsGradients()) how.foldsUpdate = false; // pieces add up stored gradients
    kernels_.replace(replaced);
    return how;
}

void GpuTrainer::describeMachine() {
    machine_ = machineOf(device_);
    machine_.workgroups = steps_.workgroups();
    machine_.dispatches = steps_.dispatches();
    machine_.barriers = steps_.barriers();
    const std::string first = how_.layers.front().forward.describe();
    const std::string_view own = name(rung_);
    machine_.kernels = first == own ? first : concat(own, " (first layer: ", first, ")");
    machine_.kernels = steps_.whole() ? steps_.describe() : machine_.kernels + steps_.describe();
    for (const auto& [shader, words] : kernels_.replacedShaders())
        machine_.kernels += ", replaced: " + shader;
    if (const std::string format = emulationText(job_.settings.precision); !format.empty())
        machine_.kernels += ", " + format;
    machine_.kernels += choiceCutShort_;
    noteRanks();
}

// With updates switched off, as after a failed step.
void GpuTrainer::warmUp(const std::atomic<bool>* cancelled, Tuning& tuning) {
    setStatus(0);
    recorder_.endWhen(cancelled);
    steps_.warmUp(tuning);
    recorder_.endWhen(nullptr);
    tuning.end();
    const TuningProgress chosen = tuning.progress();
    if (chosen.skipped && chosen.compared < chosen.comparisons)
        choiceCutShort_ = concat(", comparison skipped after ", chosen.compared, " of ", chosen.comparisons);
    steps_.exchange(true);
    evaluation_.warmUp(cancelled);
    warmUpRecorded_ = recorder_.deviceSeconds();
    setStatus(shared::noStep);
}

void GpuTrainer::run(std::uint64_t steps) {
    collect();
    {
        const Stopwatch::Running running(training_);
        while (steps > 0 && !failedStep_) {
            const bool profile = profilesNow();
            // Ranks meet in every step, so none is recorded ahead.
            const bool alone = job_.settings.share.alone();
            const std::uint64_t count = profile || !alone ? 1 : std::min(steps, submission_.units());
            submitSteps(count, profile);
            steps -= count;
            if (steps_.ranksFailed()) recorder_.finish();
            collectFinished();
        }
    }
    if (!flights_.empty()) pendingSince_ = std::chrono::steady_clock::now();
}

// Timing dispatches one by one slows them down by microseconds. In a run whose times count, steps of a few
// milliseconds are timed beforehand, in its rehearsal; elsewhere now and then.
bool GpuTrainer::profilesNow() const {
    constexpr double longStep = 20;                    // milliseconds
    const std::uint64_t period = rehearsing_ ? 8 : 64; // submissions
    return submissions_ % period == 0 &&
           (rehearsing_ || !rehearsed_ || submission_.millisecondsPerUnit() > longStep);
}

void GpuTrainer::submitSteps(std::uint64_t count, bool profile) {
    steps_.submitEachOperation(submission_.splitsUnits());
    recorder_.begin();
    recorder_.profileDispatches(profile);
    steps_.record(nextStep_, count);
    const bool copies = std::exchange(weightsWanted_, false);
    if (copies) recorder_.copy(arenas_.parameters.view(), weights_->view());
    flights_.push_back({recorder_.submit(), nextStep_, count, profile, copies});
    nextStep_ += count;
    ++submissions_;
}

// Time between calls counts while the device works: all of it if it still does, else what it needed at most.
void GpuTrainer::collect() {
    const double before = recorder_.deviceSeconds();
    collectFinished();
    if (!pendingSince_) return;
    const double passed = secondsSince(*pendingSince_);
    training_.add(flights_.empty() ? std::min(passed, recorder_.deviceSeconds() - before) : passed);
    pendingSince_.reset();
    if (!flights_.empty()) pendingSince_ = std::chrono::steady_clock::now();
}

// Losses of submissions that have finished; never waits.
void GpuTrainer::collectFinished() {
    for (const gpu::FinishedSubmission& finished : recorder_.takeFinished()) {
        pendingMilliseconds_ += finished.milliseconds;
        while (!flights_.empty() && flights_.front().ticket <= finished.ticket) {
            const Flight flight = flights_.front();
            flights_.pop_front();
            const auto steps = static_cast<double>(flight.count);
            const double milliseconds = std::exchange(pendingMilliseconds_, 0);
            flight.profiled ? submission_.addProfiled(steps, milliseconds)
                            : submission_.add(steps, milliseconds);
            noteLosses(flight);
            if (flight.copies) weightsOf_ = flight.first + flight.count;
        }
    }
}

void GpuTrainer::noteLosses(const Flight& flight) {
    if (failedStep_) return;
    const std::span<const std::byte> ring = arenas_.losses.mapped();
    const double seconds = trainingSeconds();
    for (std::uint64_t step = flight.first; step < flight.first + flight.count; ++step) {
        float loss = 0;
        std::memcpy(&loss, ring.data() + step % GpuMemory::ringSlots * sizeof(float), sizeof loss);
        if (!noteLoss({step, loss, seconds})) return;
    }
}

std::vector<float> GpuTrainer::predict(std::span<const float> inputs) {
    finish();
    if (!forward_) {
        const std::size_t capacity = GpuForward::usualCapacity(device_, job_.shape);
        std::vector<ProductKernel> how;
        for (const LayerKernels& layer : evaluationKernels(device_, how_, job_.shape, capacity).layers)
            how.push_back(layer.forward);
        forward_.emplace(kernels_, job_.shape, how, arenas_.parameters, capacity);
    }
    return forward_->outputs(inputs);
}

bool GpuTrainer::takeWeights(TrainedWeights& into) {
    collect();
    throwIfFailed();
    if (flights_.empty()) {
        weightsOf_.reset();
        into = {completed_, parameters()};
        return true;
    }
    if (!weights_)
        weights_.emplace(device_, arenas_.parameters.size(), gpu::Memory::readback, "copy of the parameters");
    const bool ready = weightsOf_.has_value();
    if (ready) {
        const auto* floats = reinterpret_cast<const float*>(weights_->mapped().data());
        into.step = *std::exchange(weightsOf_, std::nullopt);
        into.parameters.assign(floats, floats + arenas_.layout.size());
    }
    const bool coming = std::ranges::any_of(flights_, &Flight::copies);
    weightsWanted_ = !coming;
    return ready;
}

void GpuTrainer::upload(std::size_t first, std::size_t count) {
    const Dataset& data = *job_.data;
    const Examples& examples = data.train;
    GpuExamples& there = arenas_.train;
    const auto put = [&](const auto& values, std::size_t width, std::size_t stride, gpu::Buffer& into) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        const auto rows = std::span<const Value>(values).subspan(first * width, count * width);
        into.uploadValues<Value>(withPadding(rows, width, stride), first * stride * sizeof(Value));
    };
    if (data.bytes())
        put(examples.pixels, data.inputs, std::size_t{4} * there.sourceStride, there.source);
    else
        put(examples.values, data.inputs, there.sourceStride, there.source);
    if (data.classes > 0)
        put(examples.labels, 1, 1, there.answers);
    else
        put(examples.targets, data.targetWidth, data.targetWidth, there.answers);
}

TrainerState GpuTrainer::state() {
    finish();
    TrainerState state;
    state.step = completed_;
    state.parameters = parameters();
    for (const gpu::Buffer& kept : arenas_.optimizerState)
        if (arenas_.ranks)
            state.optimizerState.push_back(
                arenas_.ranks->wholeState(kept.downloadValues<float>(arenas_.ranks->shards().stateSize())));
        else
            state.optimizerState.push_back(kept.downloadValues<float>(arenas_.layout.size()));
    if (half_) state.lossScaling = half_->scaling();
    if (steps_.mayChange()) state.wholeSteps = steps_.whole();
    return state;
}

void GpuTrainer::restore(const TrainerState& state) {
    goOnFrom(state);
    recorder_.finish();
    recorder_.takeFinished();
    flights_.clear();
    pendingSince_.reset();
    weightsOf_.reset();
    putBack(state);
    nextStep_ = state.step;
    if (!steps_.mayChange() || !state.wholeSteps || *state.wholeSteps == steps_.whole())
        return setStatus(shared::noStep);
    const double before = recorder_.deviceSeconds();
    setStatus(0); // nothing is learned from warming up
    steps_.setWhole(*state.wholeSteps);
    warmUpRecorded_ += recorder_.deviceSeconds() - before;
    setStatus(shared::noStep);
    describeMachine();
}

void GpuTrainer::putBack(const TrainerState& state) {
    std::vector<float> parameters = state.parameters;
    roundStored(job_.settings.precision, parameters);
    arenas_.parameters.uploadValues<float>(parameters);
    if (half_) half_->restore(state.parameters, state.lossScaling);
    for (std::size_t array = 0; array < state.optimizerState.size(); ++array) {
        if (!arenas_.ranks) {
            arenas_.optimizerState[array].uploadValues<float>(state.optimizerState[array]);
            continue;
        }
        std::vector<float> own(arenas_.ranks->shards().stateSize());
        arenas_.ranks->ownState(state.optimizerState[array], own);
        arenas_.optimizerState[array].uploadValues<float>(own);
    }
}

std::vector<OperationTiming> GpuTrainer::operations() const {
    std::vector<OperationTiming> all;
    for (const auto& [name, timing] : recorder_.timings())
        all.push_back({name, timing.milliseconds, timing.calls, timing.flops, timing.bytes});
    return all;
}

// A step writes each of its tensors once (parameters and optimizer state aside), so all of them can be copied
// when it is over.
void GpuTrainer::runTraced(StepTrace& trace) {
    // For the picture's sake, one submission may take longer than in training. Before any step was timed, the
    // warm-up's time is the estimate, compilation included.
    const double known = submission_.millisecondsPerUnit();
    const double expected = known > 0 ? known : steps_.coldMilliseconds();
    trace.oneSubmission = expected <= device_.longestSubmission() && !how_.inPieces();
    const double deviceBefore = recorder_.deviceSeconds();
    const double before = trainingSeconds();
    {
        const Stopwatch::Running running(training_);
        steps_.submitEachOperation(!trace.oneSubmission);
        recorder_.begin();
        recorder_.traceDispatches(true);
        steps_.recordApart(nextStep_);
        flights_.push_back({recorder_.submit(), nextStep_, 1, true, false});
        ++nextStep_;
        recorder_.finish();
        trace.wallMs = 1e3 * (trainingSeconds() - before);
        collectFinished();
    }
    trace.half = how_.half;
    trace.timed = device_.limits().timestampNanoseconds > 0;
    trace.totalMs = trace.timed ? (recorder_.deviceSeconds() - deviceBefore) * 1e3 : 0;
    trace.operations = operationsOf(recorder_.takeTrace());
    const double clockStep = recorder_.clockStep();
    trace.clockStepMs = clockStep > 0 ? clockStep : std::numeric_limits<double>::infinity();
    for (TracedOperation& operation : trace.operations) {
        trace.totalMs = std::max(trace.totalMs, operation.endMs); // between submissions time passes, too
        operation.replaced = kernels_.replaced(operation.source);
    }
    trace.skipped = half_ && half_->overflowed();
}

// The same dispatches on the same data; the clock's own cost and the wait at its barrier are in the
// workgroups' times, but not in the trace.
std::vector<TracedOperation> GpuTrainer::clockedStep(std::string& why) {
    if (!device_.limits().deviceClock) why = "shaders cannot read a clock on this device";
    if (how_.inPieces()) why = "this rung makes thousands of dispatches of a product";
    if (!why.empty()) return {};
    const TrainerState before = state();
    std::vector<TracedOperation> operations;
    try {
        setStatus(0); // nothing is learned from warming up
        if (!clocked_) clocked_ = std::make_unique<Clocked>(*this);
        gpu::Recorder& recorder = clocked_->recorder;
        clocked_->steps->setWhole(steps_.whole());
        const auto make = [&] {
            recorder.begin();
            recorder.traceDispatches(true);
            clocked_->steps->recordApart(nextStep_);
            recorder.submitAndTime();
            return operationsOf(recorder.takeTrace());
        };
        make(); // drivers compile
        setStatus(shared::noStep);
        operations = make();
    } catch (const std::exception& error) { // no room for a binding or a buffer: training goes on
        if (gpu::endsDevice(error)) throw;
        clocked_.reset();
        operations.clear();
        why = error.what();
    }
    putBack(before);
    setStatus(shared::noStep);
    return operations;
}

} // namespace

std::unique_ptr<Trainer> makeGpuTrainer(const TrainJob& job, Rung rung, gpu::Device& device,
                                        const ReplacedShaders& replaced, const std::atomic<bool>* cancelled,
                                        std::size_t workgroups, Tuning* tuning) {
    job.validate();
    if (rowOf(rung, true).foldsUpdate && job.settings.addsGradients())
        throw std::invalid_argument(concat("gpu:", name(rung),
                                           " stores no gradients that could be added up; "
                                           "take another rung, or the whole batch at once"));
    job.requireExchange();
    if (!job.settings.share.alone() && rowOf(rung, true).half)
        throw std::invalid_argument(concat("gpu:", name(rung),
                                           " scales its loss by what overflows on one device; "
                                           "ranks share a batch on rungs of fp32"));
    requireFormat(job.settings.precision, LaneSpec{true, rung, {}});
    requireMemory(device, job, rung);
    Tuning unseen;
    return std::make_unique<GpuTrainer>(job, rung, device, replaced, cancelled, workgroups,
                                        tuning != nullptr ? *tuning : unseen);
}

} // namespace lockstep
