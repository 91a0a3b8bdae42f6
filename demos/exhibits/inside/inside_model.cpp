#include "demos/exhibits/inside/inside_model.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"
#include "engine/run/lane.h"

namespace lockstep::demos {

/// Data, job, and a lane per machine that traces steps when asked: what one setting trains on.
class TraceSession {
  public:
    /// Starts both lanes; they hold at `step`, counted from 0. Throws for settings that do not fit the data,
    /// and gpu::GpuError.
    TraceSession(const RunOptions& settings, std::shared_ptr<const Dataset> data, Machines& machines,
                 std::uint64_t step)
        : data_(std::move(data)), job_(makeJob(settings, *data_)) {
        job_.settings.memory = {};    // every tensor of a step is to be looked at: none lends its memory
        job_.settings.precision = {}; // or is rounded in place
        for (std::size_t machine = 0; machine < machineCount; ++machine)
            seat(machine, settings.lanes[machine].text(), machines.maker(job_, settings.lanes[machine]), {});
        for (std::size_t machine = 0; machine < machineCount; ++machine)
            seats_[machine].lane->post([this, machine, step](Trainer& trainer) {
                first_[machine] = trainer.state();
                // The first steps take longer: caches are cold, and memory is touched for the first time.
                // They are made and undone, so that the first one shown is like all others.
                trainer.run(3);
                trainer.finish();
                trainer.restore(*first_[machine]);
                trainer.run(step);
                trainer.finish();
            });
    }

    const TrainJob& job() const { return job_; }

    /// Asks a machine for the trace of its next step.
    /// workgroups   TraceOptions::workgroups
    std::future<StepTrace> trace(std::size_t machine, bool workgroups) {
        return seats_[machine].lane->ask(
            [workgroups](Trainer& trainer) { return trainer.traceStep({.workgroups = workgroups}); });
    }
    /// Back to the first step and the initial weights.
    void reset() {
        for (std::size_t machine = 0; machine < machineCount; ++machine)
            seats_[machine].lane->post(
                [this, machine](Trainer& trainer) { trainer.restore(*first_[machine]); });
    }

    LaneSnapshot snapshot(std::size_t machine) const { return seats_[machine].lane->snapshot(); }
    void skipTuning() {
        for (const Seat& seat : seats_) seat.lane->skipTuning();
    }

    /// What is asked of the machine from now on is done by the trainer that `make` makes, from the step and
    /// the weights at hand. `device`: what that trainer runs on, where it is the trainer's own; else null.
    /// The machine has to be idle. Returns at once: it is the new lane's thread that waits for the old one.
    void replace(std::size_t machine, Lane::MakeTrainer make, std::unique_ptr<gpu::Device> device) {
        auto old = std::make_shared<Seat>(std::move(seats_[machine]));
        auto makeNext = [old, makeNew = std::move(make)] {
            std::future<TrainerState> asked =
                old->lane->ask([](Trainer& trainer) { return trainer.state(); });
            asked.wait();
            const std::optional<TrainerState> state = takeAnswer(asked);
            if (!state)
                throw std::runtime_error("the previous kernels failed, so no state is left; press Reset");
            old->lane.reset();
            old->device.reset();
            std::unique_ptr<Trainer> trainer = makeNew();
            trainer->restore(*state);
            return trainer;
        };
        seat(machine, old->lane->title(), std::move(makeNext), std::move(device));
    }

  private:
    struct Seat {
        std::unique_ptr<gpu::Device> device; // of the lane's trainer alone; null: one of the window's
        std::unique_ptr<Lane> lane;
    };

    void seat(std::size_t machine, std::string title, Lane::MakeTrainer make,
              std::unique_ptr<gpu::Device> device) {
        LaneOptions options; // without a finish line: it only ever does what is posted
        options.evaluateEvery = 0;
        options.startPaused = true;
        auto lane = std::make_unique<Lane>(std::move(title), job_, std::move(make), std::move(options));
        lane->start();
        seats_[machine] = {std::move(device), std::move(lane)};
    }

    std::shared_ptr<const Dataset> data_;
    TrainJob job_;
    // Used by the lanes' threads only, each its own.
    std::array<std::optional<TrainerState>, machineCount> first_;
    std::array<Seat, machineCount> seats_; // their lanes' threads use all of the above
};

RunOptions firstTracedRun() {
    RunOptions run;
    run.hiddenWidths = std::vector<std::size_t>{256, 128};
    run.lanes = {laneSpecFromText("cpu:best"), laneSpecFromText("gpu:blocked")};
    return run;
}

RunOptions tracedRunFromJson(const nlohmann::ordered_json& state, std::span<const std::string_view> own) {
    std::vector<std::string_view> known(own.begin(), own.end());
    known.insert(known.end(), {"cpu", "gpu"});
    RunOptions run = runFromJson(state, firstTracedRun(), "inside", known, drawnLimits);
    if (run.lanes.size() != machineCount)
        throw std::invalid_argument("field 'lanes': 'inside' traces one lane of the CPU and one of the GPU");
    for (LaneSpec& lane : run.lanes) {
        const bool gpu = &lane != run.lanes.data();
        lane = laneSpecFromText(jsonValueOr(state, gpu ? "gpu" : "cpu", lane.text()));
        if (lane.gpu != gpu)
            throw std::invalid_argument(
                fmt::format("field 'lanes': {} is not a lane of the {}", lane.text(), gpu ? "GPU" : "CPU"));
    }
    return run;
}

InsideModel::InsideModel() = default;
InsideModel::~InsideModel() { releaseDevice(); }

void InsideModel::change(const RunOptions& settings) {
    validate(settings, drawnLimits);
    if (settings == settings_) return;
    settings_ = settings;
    nextStep_ = 0;
    retire();
    session_.allow();
    wanted_ = 1;
}

void InsideModel::reset() {
    turn_.reset();
    fresh_ = {};
    wanted_ = 1;
    nextStep_ = 0;
    pacer_.restart();
    if (session_ && !failed())
        session_->reset();
    else
        retire(); // a lane that has failed is over
    session_.allow();
}

void InsideModel::clockFirst() {
    const StepTrace* gpu = complete() && !busy() && !failed() ? trace(1) : nullptr;
    if (gpu != nullptr && session_ && gpu->step == 0 && !gpu->clocked && !running_) reset();
}

void InsideModel::reroll() {
    RunOptions next = settings_;
    ++next.settings.seed;
    change(next);
}

void InsideModel::retire() {
    turn_.reset();
    fresh_ = {};
    edits_.restart();
    session_.retire();
}

void InsideModel::releaseDevice() {
    edits_.show(edits_.texts()); // one of them may be why the device is given up
    retire();
    session_.release();
    giveUp();
}

// Until something is asked for again.
void InsideModel::giveUp() {
    session_.giveUp();
    running_ = false;
    wanted_ = 0;
}

bool InsideModel::haveSession(Machines& machines, bool wait) {
    try {
        return session_.have(wanted_ > 0 || running_, [&]() -> std::unique_ptr<TraceSession> {
            data_ = loader_.get(settings_, wait);
            if (!data_) return nullptr;
            return std::make_unique<TraceSession>(settings_, data_, machines, nextStep_);
        });
    } catch (...) {
        giveUp();
        throw;
    }
}

void InsideModel::update(Machines& machines, const gpu::Device& window, double seconds, bool wait) {
    session_.clear();
    if (!haveSession(machines, wait)) return;
    renewKernels(machines, window, wait);
    // While it runs, steps become due by the clock; those that the machines have no time for are left out.
    if (!running_)
        pacer_.restart();
    else if (pacer_.due(seconds) > 0 && wanted_ == 0 && !turn_)
        ++wanted_;
    do advance(wait);
    while (wait && (turn_ || wanted_ > 0) && !failed());
    if (failed()) {
        running_ = false;
        wanted_ = 0;
    }
}

// Between two steps: what has passed its trial runs from now on, and the next step shows it.
void InsideModel::renewKernels(Machines& machines, const gpu::Device& window, bool wait) {
    if (turn_ || failed()) return;
    constexpr std::size_t gpu = 1;
    const LaneSpec& lane = settings_.lanes[gpu];
    if (edits_.builtInWanted()) {
        session_->replace(gpu, machines.maker(session_->job(), lane), nullptr);
        edits_.builtInRuns();
        wanted_ = std::max<std::uint64_t>(wanted_, 1);
    }
    if (edits_.trialWanted())
        beginTrial({session_->job(), lane.rung, ownDevice(window, lane.device), edits_.submitted()});
    const bool took = edits_.takePassed(wait);
    if (!edits_.trying() && !took) trial_.reset(); // given up, or refused
    if (!took) return;
    const auto passed = std::exchange(trial_, nullptr);
    runningTimes_ = std::move(passed->times);
    const auto trainer = std::make_shared<std::unique_ptr<Trainer>>(std::move(passed->trainer));
    session_->replace(
        gpu, [trainer] { return std::move(*trainer); }, std::move(passed->device));
    wanted_ = std::max<std::uint64_t>(wanted_, 1);
}

void InsideModel::beginTrial(TrialRequest request) {
    auto watch = std::make_shared<TrialWatch>();
    trial_ = std::make_shared<TrialOutcome>();
    edits_.begin(watch, std::async(std::launch::async,
                                   [asked = std::move(request), kept = data_, watch, outcome = trial_] {
                                       *outcome = tryShaders(asked, *watch);
                                       return outcome->report;
                                   }));
}

const OperationTimes* InsideModel::timesOf(const TracedOperation& operation) const {
    if (!operation.replaced || !shown_) return nullptr;
    const auto found = std::ranges::find_if(shown_->times, [&](const OperationTimes& times) {
        return times.source == operation.source && times.layer == operation.layer;
    });
    return found == shown_->times.end() ? nullptr : &*found;
}

ShaderTexts editedShadersFromJson(const nlohmann::ordered_json& state) {
    const auto found = state.find("shaders");
    if (found == state.end()) return {};
    return shaderTextsFromJson(*found, "the field 'shaders' of 'inside'", isStepShaderFile,
                               "a shader of a training step");
}

namespace {

/// Whether both train the same network on the same data, on whichever lanes.
bool sameNetwork(const RunOptions& a, const RunOptions& b) {
    RunOptions moved = a;
    moved.lanes = b.lanes;
    return moved == b;
}

} // namespace

void InsideModel::show(std::array<std::optional<StepTrace>, machineCount> traces) {
    shown_ = ShownStep{.settings = settings_,
                       .shape = session_->job().shape,
                       .data = data_,
                       .shaders = edits_.running(),
                       .times = runningTimes_,
                       .traces = std::move(traces)};
    ++revision_;
}

void InsideModel::advance(bool wait) {
    if (!turn_) {
        if (wanted_ == 0) return;
        turn_ = 0;
        asked_ = session_->trace(0, clockWorkgroups_);
    }
    if (wait) asked_.wait();
    if (!ready(asked_)) return;
    fresh_[*turn_] = takeAnswer(asked_);
    if (!fresh_[*turn_]) { // it failed, and says why
        turn_.reset();
        return;
    }
    if (++*turn_ < machineCount) {
        // The first of the two need not wait for the other where nothing is known of its network.
        if (!shown_ || !sameNetwork(shown_->settings, settings_)) show({fresh_.front(), std::nullopt});
        asked_ = session_->trace(*turn_, clockWorkgroups_);
        return;
    }
    turn_.reset();
    --wanted_;
    show(std::exchange(fresh_, {}));
    nextStep_ = shown_->traces.front()->step + 1;
}

std::string InsideModel::status(std::size_t machine) const {
    if (!session_) return session_.gaveUp() ? "" : "loading";
    const LaneSnapshot shot = session_->snapshot(machine);
    if (shot.status == LaneStatus::failed) return translatedParts(shot.message);
    return shot.status <= LaneStatus::preparing ? "preparing" : "";
}

TuningProgress InsideModel::tuning() const {
    if (!session_) return {};
    const LaneSnapshot gpu = session_->snapshot(1);
    return gpu.status == LaneStatus::preparing ? gpu.tuning : TuningProgress{};
}

void InsideModel::skipTuning() {
    if (session_) session_->skipTuning();
}

bool InsideModel::failed() const {
    for (std::size_t machine = 0; session_ && machine < machineCount; ++machine)
        if (session_->snapshot(machine).status == LaneStatus::failed) return true;
    return false;
}

bool InsideModel::busy() const {
    if (session_.leaving()) return true;
    if (!session_) return !session_.gaveUp();
    return turn_ || wanted_ > 0 || edits_.trying();
}

} // namespace lockstep::demos
