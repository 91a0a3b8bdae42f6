#include "demos/exhibits/playground/playground_model.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

constexpr double lookSeconds = 1.0 / 30;
constexpr double looksShare = 0.2; // of the lane's time that looking may take
constexpr std::uint64_t scriptedSteps = 10;
constexpr std::chrono::seconds scriptPatience{60};

/// Whether the optimizer state of one means the same to the other.
bool sharesState(Optimizer a, Optimizer b) { return infoOf(a).state == infoOf(b).state; }

} // namespace

PlaygroundModel::PlaygroundModel() : data_(makePlaygroundData(settings_)) { startFresh(); }

PlaygroundModel::~PlaygroundModel() = default;

void PlaygroundModel::change(const PlaygroundSettings& wanted) {
    wanted.validate();
    const bool fresh = !sameWeights(settings_, wanted);
    const bool rebuild = !sameTrainer(settings_, wanted);
    if (!sameData(settings_, wanted)) data_ = makePlaygroundData(wanted);
    settings_ = wanted;
    ++settingsRevision_;
    if (fresh) {
        rebuildWanted_ = true;
        startFresh();
    } else if (rebuild || rebuildWanted_) {
        lastLookWanted_ = lastLookWanted_ || !rebuildWanted_;
        rebuildWanted_ = true;
    } else if (!session_ || !session_->changeOptimizer(settings_)) {
        rebuildWanted_ = lastLookWanted_ = true;
    }
}

void PlaygroundModel::update(const TrainerMaker& maker, double seconds, bool scripted) {
    retired_.clear();
    if (scripted) {
        if (running_) queued_ = pacer_.due(seconds, scriptedSteps);
        settle(maker);
        return;
    }
    collect();
    if (!follow(maker)) return;
    drive(seconds);
    lookIfDue(seconds);
}

/// Brings the lane in line with the settings; false while that is not done.
bool PlaygroundModel::follow(const TrainerMaker& maker) {
    if (!rebuildWanted_) return alive();
    if (session_ && session_->preparing()) return false; // it would only be one more that is on its way out
    if (lastLookWanted_ && alive()) {
        if (!lastLookAsked_) session_->lane().pause();
        if (session_->looking()) return false;
        if (!lastLookAsked_) {
            lastLookAsked_ = true;
            session_->look(generation_);
            return false;
        }
        collect();
    }
    retire();
    rebuildWanted_ = lastLookWanted_ = lastLookAsked_ = seen_ = false;
    session_ = std::make_unique<PlaygroundSession>(settings_, data_);
    failure_.clear();
    if (!session_->trainable()) return false;
    try {
        session_->begin(maker, fitted());
    } catch (const std::exception& error) {
        failure_ = error.what();
        running_ = false;
        throw;
    }
    return false;
}

/// The state at hand as the settings' optimizer takes it.
TrainerState PlaygroundModel::fitted() const {
    TrainerState state = moment_.state;
    const Optimizer kind = settings_.train.optimizer.kind;
    if (!sharesState(kind, moment_.optimizer)) state.optimizerState.clear();
    state.optimizerState.resize(settings_.train.optimizer.stateArrays());
    for (std::vector<float>& array : state.optimizerState) array.resize(state.parameters.size(), 0.0f);
    return state;
}

void PlaygroundModel::retire() {
    if (!session_) return;
    if (session_->begun()) session_->lane().stop();
    retired_.add(std::move(session_));
}

void PlaygroundModel::collect() {
    if (!session_ || !session_->begun()) return;
    if (auto moment = session_->takeMoment(); moment && moment->generation == generation_) {
        seen_ = true;
        if (moment->state.step != moment_.state.step) {
            earlier_ = std::move(moment_.state.parameters);
            earlierStep_ = moment_.state.step;
        }
        moment_ = std::move(*moment);
        ++revision_;
        if (moment_.trainLoss == moment_.trainLoss)
            history_.add(moment_.state.step, moment_.trainLoss, moment_.testLoss);
        remember();
    }
    const LaneSnapshot shot = session_->lane().snapshot();
    if (shot.status != LaneStatus::failed || failed()) return;
    failure_ = shot.message;
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

void PlaygroundModel::lookIfDue(double seconds) {
    sinceLook_ += seconds;
    if (session_->looking()) return;
    const bool moved = session_->lane().snapshot().step != step();
    if (seen_ && (!moved || sinceLook_ < std::max(lookSeconds, moment_.seconds / looksShare))) return;
    sinceLook_ = 0;
    session_->look(generation_);
}

/// Waits until all that was asked for has been done and seen: what a script shows does not depend on speed.
void PlaygroundModel::settle(const TrainerMaker& maker) {
    const auto deadline = std::chrono::steady_clock::now() + scriptPatience;
    std::optional<std::uint64_t> target;
    while (std::chrono::steady_clock::now() < deadline) {
        collect();
        const bool follows = follow(maker);
        if (session_ && !session_->preparing() && !follows && !rebuildWanted_ && !alive()) return;
        if (follows && !target && seen_ && moment_.generation == generation_) {
            target = step() + queued_;
            if (queued_ > 0) session_->lane().step(std::exchange(queued_, 0));
        }
        if (follows && target && step() >= *target) return;
        const bool there = target ? session_->lane().snapshot().step >= *target : true;
        if (follows && there && !session_->looking()) session_->look(generation_);
        std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    throw std::runtime_error("the playground's lane did not do what a script asked for within a minute");
}

void PlaygroundModel::run() {
    if (failed()) rebuildWanted_ = true; // once more from what was seen last
    running_ = true;
    pacer_.restart();
}

void PlaygroundModel::pause() {
    running_ = false;
    if (alive()) session_->lane().pause();
}

void PlaygroundModel::step(std::uint64_t steps) {
    if (failed()) return;
    pause();
    queued_ += steps;
}

BatchOrder PlaygroundModel::order() const {
    const TrainSettings& train = settings_.train;
    return {std::max<std::size_t>(data_.dataset.train.count, 1), train.batch, train.seed, train.shuffle};
}

std::uint64_t PlaygroundModel::stepsToEpochEnd() const {
    const std::uint64_t epoch = order().stepsPerEpoch();
    return epoch - step() % epoch;
}

void PlaygroundModel::setSpeed(double stepsPerSecond) {
    pacer_.setSpeed(stepsPerSecond);
    if (!pacer_.flatOut() && alive()) session_->lane().pause();
}

LaneSnapshot PlaygroundModel::laneSnapshot() const {
    return session_ && session_->begun() ? session_->lane().snapshot() : LaneSnapshot{};
}

MachineInfo PlaygroundModel::machine() const {
    return session_ && session_->begun() ? session_->lane().machine() : MachineInfo{};
}

bool PlaygroundModel::busy() const {
    if (running_ || !retired_.empty() || queued_ > 0) return true;
    if (failed() || !trainable()) return false;
    return rebuildWanted_ || !seen_ || (alive() && session_->lane().snapshot().step != step());
}

bool PlaygroundModel::releaseDevice() {
    collect(); // what was seen, but not yet looked at
    if (failure_.find(gpu::resultName(VK_ERROR_DEVICE_LOST)) != std::string::npos) {
        failure_.clear(); // the lane has noticed first: it can go on with the next device
        running_ = ranUntilFailure_;
    }
    retire();
    retired_.clear(true);
    rebuildWanted_ = !failed();
    lastLookWanted_ = lastLookAsked_ = false;
    queued_ = 0;
    return running_;
}

void LossHistory::clear() { *this = {}; }

void LossHistory::add(std::uint64_t step, double trainLoss, double testLoss) {
    const auto at = static_cast<double>(step);
    // The newest is always there; it is replaced until it is far enough from the one before.
    const std::size_t count = steps_.size();
    const bool close = count >= 2 && at - steps_[count - 2] < static_cast<double>(stride_);
    if (count > 0 && (close || steps_.back() >= at)) {
        steps_.pop_back();
        train_.pop_back();
        test_.pop_back();
    }
    steps_.push_back(at);
    train_.push_back(trainLoss);
    test_.push_back(testLoss);
    if (steps_.size() >= capacity) thinOut();
}

void LossHistory::goBackTo(std::uint64_t step) {
    while (!steps_.empty() && steps_.back() > static_cast<double>(step)) {
        steps_.pop_back();
        train_.pop_back();
        test_.pop_back();
    }
}

void LossHistory::thinOut() {
    const std::size_t half = steps_.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
        steps_[i] = steps_[2 * i];
        train_[i] = train_[2 * i];
        test_[i] = test_[2 * i];
    }
    steps_.resize(half);
    train_.resize(half);
    test_.resize(half);
    stride_ = static_cast<std::uint64_t>((steps_.back() - steps_.front()) / static_cast<double>(half)) + 1;
}

} // namespace lockstep::demos
