// The part of the playground's model that sets weights: reset, undo, and what a person writes into them.
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "demos/exhibits/playground/playground_model.h"
#include "engine/net/param_layout.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostKept = 200;
constexpr std::uint64_t mostReplayed = 5000;
constexpr std::size_t mostKeptBytes = std::size_t{128} << 20;

std::size_t bytesOf(const TrainerState& state) {
    return (state.optimizerState.size() + 1) * state.parameters.size() * sizeof(float);
}

} // namespace

/// The settings' first weights, before any lane has seen them.
void PlaygroundModel::startFresh() {
    ring_.clear();
    history_.clear();
    TrainerState state;
    state.parameters = initialWeights(shape(), settings_.train.seed);
    adopt(std::move(state), settings_.train.optimizer.kind);
    earlier_.clear();
    remember();
}

/// From now on these are the weights.
void PlaygroundModel::adopt(TrainerState state, Optimizer optimizer) {
    moment_ = {};
    moment_.state = std::move(state);
    moment_.optimizer = optimizer;
    moment_.state = fitted();
    moment_.optimizer = settings_.train.optimizer.kind;
    moment_.generation = ++generation_;
    ++revision_;
    earlier_.clear();
    earlierStep_ = step();
    seen_ = lastLookWanted_ = lastLookAsked_ = false;
    queued_ = 0;
    pacer_.restart();
    if (!rebuildWanted_ && !failed() && alive())
        session_->restore(moment_.state);
    else
        rebuildWanted_ = true;
}

void PlaygroundModel::reset() { startFresh(); }

void PlaygroundModel::setWeights(std::vector<float> parameters, std::uint64_t step) {
    ring_.clear();
    history_.clear();
    TrainerState state;
    state.step = step;
    state.parameters = std::move(parameters);
    adopt(std::move(state), settings_.train.optimizer.kind);
    remember();
}

void PlaygroundModel::reroll() {
    PlaygroundSettings other = settings_;
    ++other.train.seed;
    change(other);
    startFresh();
}

void PlaygroundModel::undo(std::uint64_t steps) {
    const std::uint64_t target = step() > steps ? step() - steps : 0;
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
    moment_.state.parameters[index] = value;
    ++revision_;
    ++settingsRevision_; // what comes after cannot be had by training again
    if (!rebuildWanted_ && !failed() && alive()) {
        session_->lane().post([index, value](Trainer& trainer) {
            TrainerState state = trainer.state();
            state.parameters[index] = value;
            trainer.restore(state);
        });
        moment_.generation = ++generation_;
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
    const std::size_t most = std::clamp(mostKeptBytes / std::max<std::size_t>(bytesOf(moment_.state), 1),
                                        std::size_t{4}, mostKept);
    if (ring_.size() <= most) return;
    std::deque<Kept> thinned;
    for (std::size_t i = 0; i < ring_.size(); ++i)
        if (i >= ring_.size() / 2 || i % 2 == 0) thinned.push_back(std::move(ring_[i]));
    ring_ = std::move(thinned);
}

/// The engine's message says "layer 2 (256 -> 128): its weights", counted from 1.
std::optional<std::size_t> PlaygroundModel::failedLayer() const {
    if (!failed()) return std::nullopt;
    const std::size_t found = failure_.find("layer ");
    // All numbers up to the outputs were finite: the loss, which is made of them, was not.
    if (found == std::string::npos && failure_.find("the loss") != std::string::npos)
        return settings_.hidden.size();
    if (found == std::string::npos) return std::nullopt;
    const long layer = std::strtol(failure_.c_str() + found + 6, nullptr, 10);
    if (layer < 1 || static_cast<std::size_t>(layer) > settings_.hidden.size() + 1) return std::nullopt;
    return static_cast<std::size_t>(layer - 1);
}

} // namespace lockstep::demos
