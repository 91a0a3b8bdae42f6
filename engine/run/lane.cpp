#include "engine/run/lane.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "engine/gpu/error.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

constexpr NameOf<LaneStatus> statusNames[] = {
    {LaneStatus::waiting, "waiting"}, {LaneStatus::preparing, "preparing"},
    {LaneStatus::ready, "ready"},     {LaneStatus::running, "running"},
    {LaneStatus::paused, "paused"},   {LaneStatus::finished, "finished"},
    {LaneStatus::stopped, "stopped"}, {LaneStatus::failed, "failed"},
};

// Target accuracy or loss is checked at least `looksPerEpoch` times per epoch, but at most once per minimum
// interval. Counted in steps, not in time, so that all lanes check after the same steps.
constexpr std::uint64_t looksPerEpoch = 10;
constexpr std::uint64_t stepsBetweenLooks = 10;
constexpr double rateWindow = 0.5;

/// The smallest multiple of `period` above `step`; the largest number if the period is 0.
std::uint64_t nextMultiple(std::uint64_t step, std::uint64_t period) {
    return period == 0 ? std::numeric_limits<std::uint64_t>::max() : (step / period + 1) * period;
}

bool isMultiple(std::uint64_t step, std::uint64_t period) { return period > 0 && step % period == 0; }

std::uint64_t lookInterval(const FinishLine& finish, const BatchOrder& order) {
    return finish.needsEvaluation() ? std::max(order.stepsPerEpoch() / looksPerEpoch, stepsBetweenLooks) : 0;
}

} // namespace

std::string_view name(LaneStatus status) { return nameOf(statusNames, status); }

Lane::Lane(std::string title, const TrainJob& job, MakeTrainer make, LaneOptions options)
    : title_(std::move(title)), job_(job), order_(job.order()), make_(std::move(make)),
      options_(std::move(options)), tuning_(options_.tuneSeconds),
      asked_(options_.start ? options_.start->step : 0), pauseWanted_(options_.startPaused),
      telemetry_(order_, options_.keepLossEvery, 2048, asked_) {
    options_.finish.validate(*job_.data);
    snapshot_.step = asked_;
}

Lane::~Lane() {
    stop();
    if (thread_.joinable()) thread_.join();
}

void Lane::start() {
    setStatus(LaneStatus::preparing);
    thread_ = std::thread([this] { work(); });
}

void Lane::pause() {
    const std::lock_guard lock(mutex_);
    pauseWanted_ = true;
}

void Lane::resume() {
    const std::lock_guard lock(mutex_);
    pauseWanted_ = false;
    extraSteps_ = 0;
    changed_.notify_all();
}

void Lane::step(std::uint64_t steps) {
    const std::lock_guard lock(mutex_);
    if (pauseWanted_) extraSteps_ += steps;
    changed_.notify_all();
}

void Lane::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopWanted_ = true;
        changed_.notify_all();
        if (snapshot_.status != LaneStatus::waiting) return;
    }
    setStatus(LaneStatus::stopped);
}

void Lane::post(std::function<void(Trainer&)> action) {
    const std::lock_guard lock(mutex_);
    if (snapshot_.over()) return; // dropped
    ++pending_;
    posted_.push_back(std::move(action));
    changed_.notify_all();
}

bool Lane::waitForPosted(std::chrono::milliseconds limit) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return pending_ == 0; });
}

bool Lane::waitFor(std::chrono::milliseconds limit) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return snapshot_.over(); });
}

void Lane::work() {
    bool cancelled = false;
    try {
        trainer_ = make_(&stopWanted_, &tuning_);
        if (options_.start) trainer_->restore(*options_.start);
        {
            const std::lock_guard lock(mutex_);
            machine_ = trainer_->machine();
            snapshot_.warmUpSeconds = trainer_->warmUpSeconds();
        }
        train();
    } catch (const std::bad_alloc&) {
        setStatus(LaneStatus::failed, "out of memory; try a smaller batch or narrower layers");
    } catch (const gpu::Cancelled&) { // the trainer, before it was ready
        cancelled = true;
    } catch (const std::exception& error) {
        fail(error);
    } catch (...) { // the host's own, from what makes the trainer, what it posted or its callback
        setStatus(LaneStatus::failed,
                  "what makes the trainer, a callback or a posted action threw something that "
                  "is no std::exception; catch it there to see what");
    }
    if (cancelled) {
        if (options_.agree) try {
                options_.agree(LaneOptions::stops);
            } catch (const std::exception& error) {
                return fail(error);
            }
        return setStatus(LaneStatus::stopped);
    }
    const LaneSnapshot end = snapshot();
    if (options_.lost && end.status == LaneStatus::failed && !end.nonFinite) options_.lost(end.message);
}

void Lane::fail(const std::exception& error) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto* loss = dynamic_cast<const NonFiniteError*>(&error)) snapshot_.nonFinite = loss->place;
        snapshot_.deviceLost = dynamic_cast<const gpu::DeviceLostError*>(&error) != nullptr;
    }
    setStatus(LaneStatus::failed, error.what());
}

// The loop requests small pieces of work, so that it reacts quickly, and halts (with all steps done) only to
// evaluate, save or end. The size is chosen by device time: beside a window, every request waits for a frame
// regardless of its size, and small ones would starve training.
void Lane::train() {
    for (;;) {
        if (!lineReached() && runPosted()) continue; // it may have moved the lane past the finish line
        std::uint64_t move = nextMove();
        if (options_.agree) move = options_.agree(move);
        if (move == LaneOptions::stops) {
            settle();
            setStatus(LaneStatus::stopped);
            return;
        }
        if (move == LaneOptions::finishes) break;
        rehearse();
        const std::uint64_t steps = move - LaneOptions::finishes;
        trainer_->run(steps);
        asked_ += steps;
        evaluated_ = false;
        collect(steps);
        request_.addTotals(static_cast<double>(trainer_->completedSteps()), 1e3 * trainer_->deviceSeconds());
        if (nextHalt(asked_ - 1) == asked_) halt();
    }
    settle();
    evaluate();
    timeOn();
    noteEnergy();
    setStatus(LaneStatus::finished);
}

/// Once, before the first step.
void Lane::rehearse() {
    if (std::exchange(rehearsed_, true) || options_.settleSeconds <= 0) return;
    constexpr double look = 0.1;
    setStatus(LaneStatus::preparing);
    const auto begin = std::chrono::steady_clock::now();
    trainer_->rehearse(look, options_.settleSeconds, [this] { return mayTrain(); });
    energy_.emplace(trainer_->machine());
    energySince_ = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    rehearsalSeconds_ = secondsSince(begin);
    snapshot_.warmUpSeconds = trainer_->warmUpSeconds() + rehearsalSeconds_;
    snapshot_.status = LaneStatus::running;
}

void Lane::timeOn() {
    const double missing = options_.leastSeconds - trainer_->trainingSeconds();
    if (missing <= 0 || snapshot().runSteps == 0) return;
    const Pace pace = trainer_->rehearse(missing, missing, [this] { return !stopWanted_; });
    const std::lock_guard lock(mutex_);
    snapshot_.extraSeconds = pace.seconds;
    snapshot_.extraExamples = pace.steps * order_.batch();
}

void Lane::noteEnergy() {
    const std::optional<double> joules = energy_ ? energy_->joules() : std::nullopt;
    if (!joules) return;
    const double seconds = secondsSince(energySince_);
    const std::lock_guard lock(mutex_);
    snapshot_.watts = *joules / seconds;
}

bool Lane::mayTrain() const {
    const std::lock_guard lock(mutex_);
    return !stopWanted_ && !pauseWanted_;
}

/// As LaneOptions::agree takes it.
std::uint64_t Lane::nextMove() {
    if (lineReached()) return LaneOptions::finishes;
    const std::uint64_t allowed = allowedSteps();
    if (allowed == 0) return LaneOptions::stops;
    if (lineReached()) return LaneOptions::finishes; // moved there while paused
    return std::min({allowed, request_.units(), nextHalt(asked_) - asked_}) + LaneOptions::finishes;
}

/// The number of steps to request now; 0 once the lane must stop. Waits while the lane is paused.
std::uint64_t Lane::allowedSteps() {
    for (;; hold()) {
        const std::lock_guard lock(mutex_);
        if (stopWanted_) return 0;
        if (snapshot_.status != LaneStatus::running) continue;
        if (!pauseWanted_) return std::numeric_limits<std::uint64_t>::max();
        if (extraSteps_ > 0) return extraSteps_;
    }
}

/// Waits between preparation and the first step, and during a pause.
void Lane::hold() {
    settle();
    std::unique_lock lock(mutex_);
    const bool begun = snapshot_.status != LaneStatus::preparing;
    energy_.reset(); // of a run without pauses only
    snapshot_.status = begun ? LaneStatus::paused : LaneStatus::ready;
    const auto mayGoOn = [this] { return stopWanted_ || !pauseWanted_ || extraSteps_ > 0; };
    for (;;) {
        changed_.wait(lock, [&] { return mayGoOn() || !posted_.empty(); });
        if (posted_.empty() || stopWanted_) break;
        lock.unlock();
        runPosted();
        lock.lock();
    }
    snapshot_.status = LaneStatus::running;
    lock.unlock();
    skipInterruption();
}

/// All requested steps are done and noted.
void Lane::settle() {
    trainer_->finish();
    collect();
}

/// What took place between two calls of the trainer does not count as its time.
void Lane::skipInterruption() {
    request_.skipTo(static_cast<double>(trainer_->completedSteps()), 1e3 * trainer_->deviceSeconds());
}

/// Returns true if there was an action to run.
bool Lane::runPosted() {
    Action action = takePosted();
    if (!action) return false;
    settle();
    for (; action; action = takePosted()) {
        action(*trainer_);
        follow();
        action = nullptr; // releases what it holds before it counts as done
        const std::lock_guard lock(mutex_);
        --pending_;
        changed_.notify_all();
    }
    skipInterruption();
    return true;
}

/// The oldest action; empty if there is none or the lane must stop.
Lane::Action Lane::takePosted() {
    const std::lock_guard lock(mutex_);
    if (posted_.empty() || stopWanted_) return {};
    Action action = std::move(posted_.front());
    posted_.pop_front();
    return action;
}

/// Continues from the trainer's current step, which an action may have changed.
void Lane::follow() {
    settle(); // steps that the action itself made
    evaluated_ = false;
    const std::uint64_t step = trainer_->completedSteps();
    const std::lock_guard lock(mutex_);
    machine_ = trainer_->machine();
    asked_ = step;
    LaneSnapshot& view = snapshot_;
    if (step == view.step) return;
    telemetry_.moveTo(step);
    view.step = step;
    view.loss = telemetry_.runningLoss();
    view.progress = options_.finish.progress(order_, step, view.trainingSeconds);
    if (view.evaluatedStep <= step) return;
    evaluation_.reset(); // belongs to undone steps
    view.evaluatedStep = 0;
    view.testLoss = view.testAccuracy = LaneSnapshot::unknown;
}

/// The next step at which all work must be finished, for an evaluation, a checkpoint or the end.
std::uint64_t Lane::nextHalt(std::uint64_t step) const {
    const std::uint64_t epoch = order_.stepsPerEpoch();
    return std::min(
        {nextMultiple(step, options_.evaluateEvery * epoch), nextMultiple(step, options_.saveEvery * epoch),
         nextMultiple(step, lookInterval(options_.finish, order_)), options_.finish.lastStep(order_)});
}

void Lane::halt() {
    settle();
    if (energy_) energy_->joules(); // a counter that begins anew is noticed while it is below its last value
    const std::uint64_t epoch = order_.stepsPerEpoch();
    if (isMultiple(asked_, options_.evaluateEvery * epoch) ||
        isMultiple(asked_, lookInterval(options_.finish, order_)))
        evaluate();
    if (isMultiple(asked_, options_.saveEvery * epoch)) options_.save(*trainer_);
    skipInterruption();
}

/// Copies the trainer's progress into the snapshot, after `steps` more of those that a paused lane may make.
/// Records the losses before a non-finite one, then throws.
void Lane::collect(std::uint64_t steps) {
    newLosses_.clear();
    std::exception_ptr failure;
    try {
        trainer_->takeLosses(newLosses_);
    } catch (...) {
        failure = std::current_exception();
    }
    {
        const std::lock_guard lock(mutex_);
        extraSteps_ -= std::min(extraSteps_, steps);
        telemetry_.addLosses(newLosses_);
        LaneSnapshot& view = snapshot_;
        machine_.threads = trainer_->machine().threads; // a team can shrink and grow
        view.runSteps = telemetry_.steps();
        if (!newLosses_.empty()) view.step = newLosses_.back().step + 1;
        view.examples = telemetry_.examples();
        view.loss = telemetry_.runningLoss();
        view.trainingSeconds = trainer_->trainingSeconds();
        view.deviceSeconds = trainer_->deviceSeconds();
        view.warmUpSeconds = trainer_->warmUpSeconds() + rehearsalSeconds_;
        view.progress = options_.finish.progress(order_, view.step, view.trainingSeconds);
        // Until the first window is over, the rate is that of all there is: a first chunk alone says little.
        const double elapsed = view.trainingSeconds - rateSeconds_;
        const bool whole = elapsed > rateWindow;
        if (whole || rateExamples_ == 0)
            view.recentRate = elapsed > 0 ? static_cast<double>(view.examples - rateExamples_) / elapsed : 0;
        if (whole) {
            rateExamples_ = view.examples;
            rateSeconds_ = view.trainingSeconds;
        }
    }
    if (failure) std::rethrow_exception(failure);
}

/// Evaluates the test split with the current weights, unless already done.
void Lane::evaluate() {
    if (job_.data->test.count == 0 || evaluated_) return;
    const auto begin = std::chrono::steady_clock::now();
    Evaluation result = trainer_->evaluate(Split::test);
    const double seconds = secondsSince(begin);

    const std::lock_guard lock(mutex_);
    snapshot_.evaluationSeconds += seconds;
    snapshot_.testLoss = result.loss;
    snapshot_.testAccuracy = result.accuracy;
    snapshot_.evaluatedStep = asked_;
    if (isMultiple(asked_, order_.stepsPerEpoch())) telemetry_.addEvaluation(result.loss, result.accuracy);
    evaluation_ = std::move(result);
    evaluated_ = true;
}

/// Accuracy and loss count only if evaluated at this very step.
bool Lane::lineReached() const {
    const FinishLine& line = options_.finish;
    if (asked_ >= line.lastStep(order_)) return true;
    if (line.seconds > 0 && trainer_->trainingSeconds() >= line.seconds) return true;
    if (!evaluation_) return false;
    return (line.accuracy > 0 && evaluation_->accuracy >= line.accuracy) ||
           (line.loss > 0 && evaluation_->loss <= line.loss);
}

void Lane::setStatus(LaneStatus status, std::string message) {
    std::deque<Action> dropped; // destroyed after the lock is released, because they may hold others' objects
    const std::lock_guard lock(mutex_);
    snapshot_.status = status;
    snapshot_.message = std::move(message);
    if (status == LaneStatus::finished) snapshot_.progress = 1; // even if other limits would allow more
    if (snapshot_.over()) {
        dropped.swap(posted_);
        pending_ = 0;
    }
    changed_.notify_all();
}

} // namespace lockstep
