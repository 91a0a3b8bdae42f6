#include "demos/exhibits/ladder/ladder_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace lockstep::demos {

RunOptions firstLadderRun() {
    RunOptions run;
    run.hiddenWidths = std::vector<std::size_t>{256, 128};
    run.settings.optimizer.kind = Optimizer::sgd;
    return run;
}

LadderModel::LadderModel() {
    std::ranges::copy_if(rungTable, std::back_inserter(rungs_), &RungRow::trains);
    const auto first = std::ranges::find(rungs_, Rung::naive, &RungRow::rung);
    picked_ = static_cast<std::size_t>(first - rungs_.begin());
}

void LadderModel::change(const RunOptions& settings) {
    validate(settings, drawnLimits);
    if (settings == settings_) return;
    const std::size_t batch = settings.settings.batch;
    const std::size_t batchBefore = settings_.settings.batch;
    RunOptions sameBatch = settings;
    sameBatch.settings.batch = batchBefore;
    std::vector<std::size_t> again; // those that are on their way, too
    if (sameBatch == settings_) {
        for (std::size_t i = 0; i < rungs_.size(); ++i)
            if ((result(i) != nullptr || std::ranges::count(wanted_, i) > 0) &&
                !results_[batch].contains(rungs_[i].lane))
                again.push_back(i);
    } else {
        results_.clear();
        sweeps_ = {};
    }
    if (batch != batchBefore) sweeps_[static_cast<std::size_t>(SweepBy::width)].clear();
    settings_ = settings;
    retire();
    gaveUp_ = false;
    wanted_ = again;
    pickedWanted_ = true;
    losses_.clear();
    earlier_.clear();
    keepEvery_ = 1;
}

void LadderModel::reset() {
    if (!losses_.empty()) earlier_ = std::exchange(losses_, {});
    keepEvery_ = 1;
    recent_.clear();
    resetWanted_ = true;
    gaveUp_ = false;
}

void LadderModel::measureAll() {
    wanted_.resize(rungs_.size());
    std::iota(wanted_.begin(), wanted_.end(), std::size_t{0});
    roofWanted_ = true;
    gaveUp_ = false;
}

void LadderModel::startSweep(SweepBy by) {
    sweepWanted_ = by;
    sweeps_[static_cast<std::size_t>(by)].clear();
    gaveUp_ = false;
}

void LadderModel::stopMeasuring() {
    wanted_.clear();
    sweepWanted_.reset();
    if (session_) session_->queue().cancel();
    training_ = false;
}

const RungResult* LadderModel::result(std::size_t rung) const {
    const auto batch = results_.find(settings_.settings.batch);
    if (batch == results_.end()) return nullptr;
    const auto found = batch->second.find(rungs_[rung].lane);
    return found == batch->second.end() ? nullptr : &found->second;
}

const RungPicture* LadderModel::picture(std::size_t rung, Product product) {
    const auto found = pictures_.find({std::string(rungs_[rung].lane), product});
    if (found != pictures_.end()) return &found->second;
    const std::pair wanted{rung, product};
    if (std::ranges::find(picturesWanted_, wanted) == picturesWanted_.end())
        picturesWanted_.push_back(wanted);
    return nullptr;
}

std::optional<double> LadderModel::differenceToEarlier() const {
    std::optional<double> largest;
    auto before = earlier_.begin();
    for (const LadderLoss& now : losses_) {
        while (before != earlier_.end() && before->step < now.step) ++before;
        if (before == earlier_.end()) break;
        if (before->step != now.step) continue; // long runs are kept with gaps
        const auto x = static_cast<double>(now.loss);
        const auto y = static_cast<double>(before->loss);
        const double scale = std::max({std::abs(x), std::abs(y), 1e-30});
        largest = std::max(largest.value_or(0), std::abs(x - y) / scale);
    }
    return largest;
}

double LadderModel::recentRate() const {
    double examples = 0;
    double seconds = 0;
    for (const auto& [count, time] : recent_) {
        examples += static_cast<double>(count);
        seconds += time;
    }
    return seconds > 0 ? examples / seconds : 0;
}

std::string LadderModel::doing() const {
    if (!session_) return gaveUp_ ? "" : "loading the data";
    const std::string doing = session_->queue().doing();
    return doing.empty() ? "" : "measuring " + doing;
}

bool LadderModel::busy() const {
    if (!retired_.empty()) return true;
    if (!session_) return !gaveUp_;
    return !session_->queue().idle() || !wanted_.empty() || !picturesWanted_.empty() || stepsWanted_ > 0;
}

void LadderModel::retire() {
    training_ = false;
    recent_.clear();
    if (!session_) return;
    session_->queue().cancel();
    retired_.add(std::move(session_));
}

void LadderModel::releaseDevice() {
    retire();
    retired_.clear(true);
    running_ = false;
    roof_.reset();
    pictures_.clear();
    wanted_.clear();
    picturesWanted_.clear();
    gaveUp_ = true; // until something is asked for again
}

bool LadderModel::haveSession(Machines& machines, gpu::Device& device, bool wait) {
    if (session_) return true;
    if (gaveUp_) {
        if (!running_ && stepsWanted_ == 0 && wanted_.empty() && !sweepWanted_) return false;
        gaveUp_ = false; // a new attempt
    }
    try {
        const auto data = data_.get(settings_, wait);
        if (!data) return false;
        session_ = std::make_unique<LadderSession>(settings_, data, machines, device);
    } catch (...) {
        gaveUp_ = true;
        running_ = false;
        stepsWanted_ = 0;
        wanted_.clear();
        sweepWanted_.reset();
        throw;
    }
    return true;
}

void LadderModel::update(Machines& machines, gpu::Device& device, double seconds, bool wait, bool rough) {
    retired_.clear();
    if (!haveSession(machines, device, wait)) return;
    takeNews();
    postWanted(wait, rough);
    postTraining(seconds, wait);
    if (wait) {
        session_->queue().wait();
        takeNews();
    }
    if (std::string error = session_->queue().takeFailure(); !error.empty()) {
        retire(); // nothing is tried again until it is asked for
        running_ = false;
        gaveUp_ = true;
        throw std::runtime_error(error);
    }
    if (!refusal_.empty()) throw std::runtime_error(std::exchange(refusal_, {}));
}

void LadderModel::postWanted(bool quick, bool rough) {
    const double seconds = quick ? 0.02 : 0.5;
    const bool listed = std::ranges::find(wanted_, picked_) != wanted_.end();
    if (std::exchange(pickedWanted_, false) && result(picked_) == nullptr && !listed)
        wanted_.push_back(picked_);
    if (resetWanted_) session_->resetTraining();
    resetWanted_ = false;
    if ((roofWanted_ || !roof_) && !wanted_.empty() && session_->queue().idle()) {
        session_->measureRoof(rough);
        roofWanted_ = false;
    }
    for (const std::size_t rung : std::exchange(wanted_, {}))
        session_->measure(laneSpecFromText(rungs_[rung].lane), seconds);
    if (sweepWanted_) session_->sweep(*sweepWanted_, quick ? 0.02 : 0.3);
    sweepWanted_.reset();
    for (const auto& [rung, product] : std::exchange(picturesWanted_, {}))
        session_->takePicture(laneSpecFromText(rungs_[rung].lane), product);
}

// Small pieces: between two of them a person's wish comes to its turn.
void LadderModel::postTraining(double seconds, bool scripted) {
    if (training_) return;
    std::uint64_t steps = std::exchange(stepsWanted_, 0);
    if (running_) steps += std::min(pacer_.due(seconds, scripted ? 1 : piece_.units()), piece_.units());
    if (steps == 0) return;
    session_->train(laneSpecFromText(rung().lane), steps);
    training_ = true;
}

void LadderModel::takeNews() {
    constexpr std::size_t piecesOfASecond = 12;
    constexpr std::size_t mostLosses = 16384;
    LadderNews news = session_->takeNews();
    if (news.roof) roof_ = news.roof;
    for (RungResult& result : news.results) {
        if (result.spec.gpu && !result.refused()) gpuMachine_ = result.measure.machine;
        results_[settings_.settings.batch].insert_or_assign(result.spec.text(), std::move(result));
    }
    for (SweepPoint& point : news.sweep)
        sweeps_[static_cast<std::size_t>(point.by)].push_back(std::move(point));
    for (RungPicture& picture : news.pictures) {
        const std::pair key{picture.lane, picture.product};
        pictures_.insert_or_assign(key, std::move(picture));
    }
    if (!news.refusal.empty()) { // training stands where it stood; another rung goes on from there
        refusal_ = std::move(news.refusal);
        running_ = false;
        training_ = false;
    }
    for (const TrainedPiece& piece : news.trained) {
        const auto at = std::ranges::find(rungs_, piece.lane, &RungRow::lane) - rungs_.begin();
        for (const LossPoint& point : piece.losses)
            if (point.step % keepEvery_ == 0)
                losses_.push_back({point.step, point.loss, static_cast<std::size_t>(at)});
        // No plot has more pixels, and a tiny network makes a million steps a minute.
        if (losses_.size() > mostLosses) {
            keepEvery_ *= 2;
            std::erase_if(losses_, [this](const LadderLoss& loss) { return loss.step % keepEvery_ != 0; });
        }
        recent_.emplace_back(piece.losses.size() * settings_.settings.batch, piece.seconds);
        if (recent_.size() > piecesOfASecond) recent_.erase(recent_.begin());
        piece_.add(static_cast<double>(piece.losses.size()), 1e3 * piece.seconds);
    }
    if (session_->queue().idle() || !news.trained.empty()) training_ = false;
}

} // namespace lockstep::demos
