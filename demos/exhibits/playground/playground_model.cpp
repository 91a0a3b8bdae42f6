#include "demos/exhibits/playground/playground_model.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "demos/kit/edit_history.h"

namespace lockstep::demos {

namespace {

constexpr double lookSeconds = 1.0 / 30;
constexpr double looksShare = 0.2; // of the lane's time that looking may take
constexpr std::uint64_t scriptedSteps = 10;
constexpr std::chrono::seconds scriptPatience{60};
constexpr std::size_t mostKept = 200;
constexpr std::uint64_t mostReplayed = 5000;
constexpr std::size_t mostKeptBytes = std::size_t{128} << 20;

constexpr std::size_t mostEdits = 100;
constexpr std::size_t mostEditBytes = std::size_t{128} << 20;

std::size_t editBytes(const PlaygroundSettings& settings, const TrainerState* state) {
    std::size_t numbers = 0;
    if (state != nullptr) numbers = state->parameters.size() * (1 + state->optimizerState.size());
    return numbers * sizeof(float) + settings.own.size() * sizeof(LabelledPoint);
}

/// Whether the change needs fresh weights.
bool isFresh(const PlaygroundSettings& from, const PlaygroundSettings& to) {
    return from.features != to.features || from.shape().widths != to.shape().widths;
}

} // namespace

/// One lane with all that it trains on. A change of what the trainer is made of makes a new one.
class PlaygroundSession {
  public:
    /// Starts the lane, held at step `start.step`. There has to be a training example.
    PlaygroundSession(const PlaygroundSettings& settings, PlaygroundData data,
                      const PlaygroundModel::TrainerMaker& maker, TrainerState start)
        : data_(std::move(data)) {
        job_.data = &data_.dataset;
        job_.shape = settings.shape();
        job_.settings = settings.train;
        LaneOptions options;
        options.evaluateEvery = 0; // looks do that
        options.startPaused = true;
        options.start = std::move(start);
        lane_ = std::make_unique<Lane>("playground", job_, maker(job_), std::move(options));
        lane_->start();
    }

    Lane& lane() const { return *lane_; }
    void stop() { lane_->stop(); }
    bool preparing() const { return lane_->snapshot().status == LaneStatus::preparing; }
    /// Takes weights: held or running, not while it is being prepared and not once it is over.
    bool alive() const {
        const LaneStatus status = lane_->snapshot().status;
        return status == LaneStatus::ready || status == LaneStatus::running || status == LaneStatus::paused;
    }
    /// Goes on, held, from these weights instead.
    void restore(TrainerState state) {
        lane_->resume(); // forgets steps that were still to be made
        lane_->pause();
        lane_->post([state = std::move(state)](Trainer& trainer) { trainer.restore(state); });
    }

    /// From the next step on; false where that needs another trainer.
    bool changeOptimizer(const OptimizerSettings& wanted) {
        if (!alive() || wanted.kind != job_.settings.optimizer.kind) return false;
        lane_->post([wanted](Trainer& trainer) { trainer.setOptimizer(wanted); });
        job_.settings.optimizer = wanted;
        return true;
    }

    /// Asks for a look at the weights and losses as they are then; takeMoment() has it later.
    void look(std::uint64_t generation) {
        moment_ = lane_->ask([this, generation, kind = job_.settings.optimizer.kind](Trainer& trainer) {
            const double begin = secondsNow();
            Moment moment{.state = trainer.state(), .optimizer = kind, .generation = generation};
            moment.train = trainer.evaluate(Split::train);
            if (data_.dataset.test.count > 0) moment.test = trainer.evaluate(Split::test);
            moment.seconds = secondsNow() - begin;
            return moment;
        });
    }
    /// Whether a look, or a change of weights or settings, is still to be done.
    bool looking() const { return lane_->pending() > 0; }
    std::optional<Moment> takeMoment() { return takeAnswer(moment_); }

  private:
    PlaygroundData data_;
    TrainJob job_;
    std::unique_ptr<Lane> lane_; // its thread uses all of the above
    std::future<Moment> moment_; // asked for
};

PlaygroundModel::PlaygroundModel() : data_(makePlaygroundData(settings_)) {
    begin(initialWeights(shape(), settings_.train.seed), 0);
}
PlaygroundModel::~PlaygroundModel() = default;

bool PlaygroundModel::alive() const { return session_ && session_->alive(); }

LaneSnapshot PlaygroundModel::laneSnapshot() const {
    return session_ ? session_->lane().snapshot() : LaneSnapshot{};
}

void PlaygroundModel::skipTuning() {
    if (session_) session_->lane().skipTuning();
}

MachineInfo PlaygroundModel::machine() const { return session_ ? session_->lane().machine() : MachineInfo{}; }

void PlaygroundModel::pause() {
    running_ = false;
    if (alive()) session_->lane().pause();
}

void PlaygroundModel::setSpeed(double stepsPerSecond) {
    pacer_.setSpeed(stepsPerSecond);
    if (!pacer_.flatOut() && alive()) session_->lane().pause();
}

void PlaygroundModel::change(const PlaygroundSettings& wanted) {
    wanted.validate();
    if (wanted == settings_) return;
    note(isFresh(settings_, wanted));
    apply(wanted);
}

void PlaygroundModel::apply(const PlaygroundSettings& wanted) {
    const bool fresh = isFresh(settings_, wanted);
    const bool rebuild = !sameTrainer(settings_, wanted);
    if (!sameData(settings_, wanted)) data_ = makePlaygroundData(wanted);
    settings_ = wanted;
    ++settingsRevision_;
    if (fresh) {
        rebuildWanted_ = true;
        begin(initialWeights(shape(), settings_.train.seed), 0);
    } else if (rebuild || rebuildWanted_ || !session_ ||
               !session_->changeOptimizer(settings_.train.optimizer)) {
        if (!rebuildWanted_ && alive()) {
            session_->lane().pause();
            session_->look(moment_.generation);
            lastLook_ = true;
        }
        rebuildWanted_ = true;
    }
}

void PlaygroundModel::update(const TrainerMaker& maker, double seconds, bool scripted) {
    session_.clear();
    if (scripted) {
        if (running_) queued_ = pacer_.due(seconds, scriptedSteps);
        settle(maker);
        return;
    }
    collect();
    if (!follow(maker)) return;
    drive(seconds);
    sinceLook_ += seconds;
    if (session_->looking()) return;
    const bool moved = session_->lane().snapshot().step != step();
    const double took = moment_.seconds;
    if (seen_ && (!moved || sinceLook_ < std::max(lookSeconds, took + pauseAfter(took, looksShare)))) return;
    sinceLook_ = 0;
    session_->look(moment_.generation);
}

/// Brings the lane in line with the settings; false while that is not done.
bool PlaygroundModel::follow(const TrainerMaker& maker) {
    if (!rebuildWanted_) return alive();
    if (session_ && session_->preparing()) { // it would only be one more that is on its way out
        session_->stop();                    // comparing kernels may take it a minute
        return false;
    }
    if (lastLook_ && alive()) {
        if (session_->looking()) return false;
        collect();
    }
    session_.retire();
    rebuildWanted_ = lastLook_ = seen_ = false;
    failure_.clear();
    nonFinite_.reset();
    deviceLost_ = false;
    if (!trainable()) return false;
    try {
        session_.have(true, [&] {
            return std::make_unique<PlaygroundSession>(settings_, data_, maker,
                                                       fitted(moment_.state, moment_.optimizer));
        });
    } catch (const std::exception& error) {
        failure_ = error.what();
        running_ = false;
        throw;
    }
    return false;
}

/// A state of that optimizer as the settings' one takes it.
TrainerState PlaygroundModel::fitted(TrainerState state, Optimizer optimizer) const {
    const OptimizerSettings& wanted = settings_.train.optimizer;
    if (infoOf(wanted.kind).state != infoOf(optimizer).state) state.optimizerState.clear();
    state.optimizerState.resize(wanted.stateArrays());
    for (std::vector<float>& array : state.optimizerState) array.resize(state.parameters.size(), 0.0f);
    return state;
}

void PlaygroundModel::collect() {
    if (!session_) return;
    if (auto moment = session_->takeMoment(); moment && moment->generation == moment_.generation) {
        seen_ = true;
        if (moment->state.step != moment_.state.step) {
            earlier_ = std::move(moment_.state.parameters);
            earlierStep_ = moment_.state.step;
        }
        moment_ = std::move(*moment);
        ++revision_;
        if (moment_.train.loss == moment_.train.loss)
            history_.add(moment_.state.step, moment_.train.loss, moment_.test.loss);
        remember();
    }
    const LaneSnapshot shot = session_->lane().snapshot();
    if (shot.status != LaneStatus::failed || failed()) return;
    failure_ = shot.message;
    nonFinite_ = shot.nonFinite;
    deviceLost_ = shot.deviceLost;
    ranUntilFailure_ = std::exchange(running_, false);
    queued_ = 0;
}

void PlaygroundModel::drive(double seconds) {
    Lane& lane = session_->lane();
    const bool busyNow = lane.snapshot().status == LaneStatus::running;
    if (running_ && pacer_.flatOut()) {
        if (!busyNow) lane.resume();
        return;
    }
    if (running_ && !busyNow) queued_ += pacer_.due(seconds);
    if (queued_ > 0) lane.step(std::exchange(queued_, 0));
}

/// Waits until all that was asked for has been done and seen: what a script shows does not depend on speed.
void PlaygroundModel::settle(const TrainerMaker& maker) {
    const auto deadline = std::chrono::steady_clock::now() + scriptPatience;
    std::optional<std::uint64_t> target;
    while (std::chrono::steady_clock::now() < deadline) {
        collect();
        const bool follows = follow(maker);
        const bool preparing = session_ && session_->preparing();
        if (!preparing && !follows && !rebuildWanted_ && !alive()) return; // there is nothing to train
        if (follows && !target && seen_) {
            target = step() + queued_;
            if (queued_ > 0) session_->lane().step(std::exchange(queued_, 0));
        }
        if (follows && target && step() >= *target) return;
        const bool there = target ? session_->lane().snapshot().step >= *target : true;
        if (follows && there && !session_->looking()) session_->look(moment_.generation);
        std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    throw std::runtime_error("the playground's lane did not do what a script asked for within a minute");
}

BatchOrder PlaygroundModel::order() const {
    const TrainSettings& train = settings_.train;
    return {std::max<std::size_t>(data_.dataset.train.count, 1), train.batch, train.seed, train.shuffle};
}

bool PlaygroundModel::busy() const {
    if (running_ || session_.leaving() || queued_ > 0) return true;
    if (failed() || !trainable()) return false;
    return rebuildWanted_ || !seen_ || (alive() && session_->lane().snapshot().step != step());
}

bool PlaygroundModel::releaseDevice() {
    collect(); // what was seen, but not yet looked at
    if (std::exchange(deviceLost_, false)) {
        failure_.clear(); // the lane has noticed first: it can go on with the next device
        running_ = ranUntilFailure_;
    }
    session_.release();
    rebuildWanted_ = !failed();
    lastLook_ = false;
    queued_ = 0;
    return running_;
}

// What sets weights: reset, undo, and what a person writes into them.

/// From now on these are the weights.
void PlaygroundModel::adopt(TrainerState state, Optimizer optimizer) {
    moment_ = Moment{.state = fitted(std::move(state), optimizer),
                     .optimizer = settings_.train.optimizer.kind,
                     .generation = moment_.generation + 1};
    ++revision_;
    earlier_.clear();
    earlierStep_ = step();
    seen_ = lastLook_ = false;
    queued_ = 0;
    pacer_.restart();
    if (!rebuildWanted_ && !failed() && alive())
        session_->restore(moment_.state);
    else
        rebuildWanted_ = true;
}

void PlaygroundModel::setWeights(std::vector<float> parameters, std::uint64_t step) {
    if (step != this->step() || parameters != this->parameters()) note(true);
    begin(std::move(parameters), step);
}

void PlaygroundModel::begin(std::vector<float> parameters, std::uint64_t step) {
    ring_.clear();
    history_ = {};
    TrainerState state;
    state.step = step;
    state.parameters = std::move(parameters);
    adopt(std::move(state), settings_.train.optimizer.kind);
    remember();
}

void PlaygroundModel::undo(std::uint64_t steps) {
    const std::uint64_t target = step() > steps ? step() - steps : 0;
    note(true);
    while (ring_.size() > 1 && ring_.back().state.step > target) ring_.pop_back();
    const Kept kept = ring_.back();
    pause();
    adopt(kept.state, kept.optimizer);
    history_.goBackTo(step());
    const std::uint64_t missing = target > step() ? target - step() : 0;
    if (kept.settingsRevision == settingsRevision_ && missing <= mostReplayed) queued_ = missing;
}

void PlaygroundModel::setParameter(std::size_t index, float value) {
    if (index >= parameters().size()) throw std::out_of_range("there is no such weight");
    note(true);
    moment_.state.parameters[index] = value;
    ++revision_;
    ++settingsRevision_; // what comes after cannot be had by training again
    if (!rebuildWanted_ && !failed() && alive()) {
        session_->lane().post([index, value](Trainer& trainer) {
            TrainerState state = trainer.state();
            state.parameters[index] = value;
            trainer.restore(state);
        });
        ++moment_.generation;
        seen_ = false;
    } else {
        rebuildWanted_ = true;
    }
}

/// Keeps the moment for undo(). When there are too many, every other one of the older half goes.
void PlaygroundModel::remember() {
    if (!ring_.empty() && ring_.back().state.step >= step()) {
        if (ring_.back().state.step == step()) ring_.back().state = moment_.state;
        return;
    }
    ring_.push_back({moment_.state, moment_.optimizer, settingsRevision_});
    const std::size_t numbers = (moment_.state.optimizerState.size() + 1) * parameters().size();
    const std::size_t most = std::clamp(mostKeptBytes / (numbers * sizeof(float)), std::size_t{4}, mostKept);
    if (ring_.size() <= most) return;
    std::deque<Kept> thinned;
    for (std::size_t i = 0; i < ring_.size(); ++i)
        if (i >= ring_.size() / 2 || i % 2 == 0) thinned.push_back(std::move(ring_[i]));
    ring_ = std::move(thinned);
}

// The way back through what a person changed.

/// The playground as it is. Weights that have diverged are not worth keeping.
PlaygroundModel::Edit PlaygroundModel::present(bool weights) const {
    Edit edit{.number = 0, .settings = settings_, .weights = {}, .history = {}};
    if (weights && !failed()) {
        edit.weights = Kept{moment_.state, moment_.optimizer, settingsRevision_};
        edit.history = history_;
    }
    return edit;
}

/// Before an edit: keeps what it is about to replace.
void PlaygroundModel::note(bool weights) {
    undone_.clear();
    if (!editOpen_) {
        edits_.push_back(present(weights));
        edits_.back().number = nextEditNumber();
    } else if (weights && !edits_.back().weights) {
        Edit now = present(true);
        now.number = edits_.back().number;
        now.settings = std::move(edits_.back().settings);
        edits_.back() = std::move(now);
    }
    editOpen_ = held_;
    std::size_t bytes = 0;
    std::size_t kept = 0;
    for (; kept < std::min(edits_.size(), mostEdits); ++kept) {
        const Edit& edit = edits_[edits_.size() - 1 - kept];
        bytes += editBytes(edit.settings, edit.weights ? &edit.weights->state : nullptr);
        if (kept > 0 && bytes > mostEditBytes) break;
    }
    edits_.erase(edits_.begin(), edits_.end() - static_cast<std::ptrdiff_t>(kept));
}

void PlaygroundModel::travel(std::vector<Edit>& from, std::vector<Edit>& to) {
    if (from.empty()) return;
    const Edit edit = std::move(from.back());
    from.pop_back();
    to.push_back(present(edit.weights.has_value()));
    to.back().number = edit.number;
    editOpen_ = false;
    apply(edit.settings);
    if (!edit.weights) return;
    ring_.clear();
    adopt(edit.weights->state, edit.weights->optimizer);
    history_ = edit.history;
    remember();
}

std::optional<std::size_t> PlaygroundModel::failedLayer() const {
    if (!failed() || !nonFinite_) return {};
    const std::size_t last = settings_.hidden.size();
    // Where all numbers up to the outputs were finite, the loss, which is made of them, was not.
    if (!nonFinite_->tensor) return last;
    return nonFinite_->layer <= last ? nonFinite_->layer : std::nullopt; // there may be fewer by now
}

} // namespace lockstep::demos
