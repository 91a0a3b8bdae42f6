#include "demos/exhibits/ladder/ladder_model.h"

#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/kit/worker.h"

namespace lockstep::demos {

namespace {

const LaneSpec plainLane{false, Rung::scalar, {}};
const LaneSpec cpuLane{false, Rung::best, {}};
const LaneSpec gpuLane{true, Rung::best, {}};

} // namespace

/// One setting at work: rungs are measured, kernels are recorded, and the network is trained, all on one
/// thread, one piece after the other, so that nothing is timed beside anything else.
class LadderModel::Session {
  public:
    /// `device` draws the window and runs the GPU's rungs; it, `model` and `machines` outlive the session.
    /// Throws for settings that do not fit the data.
    Session(LadderModel& model, std::shared_ptr<const Dataset> data, Machines& machines, gpu::Device& device)
        : model_(model), data_(std::move(data)), job_(makeJob(model.settings_, *data_)), machines_(machines),
          device_(device), recorder_(device) {}

    const TrainJob& job() const { return job_; }
    WorkQueue& queue() { return queue_; }

    void measureRoof(bool rough) {
        queue_.post("the roof", [this, rough](const std::atomic<bool>& cancelled) {
            Kernels kernels(device_);
            Roof roof = demos::measureRoof(device_, kernels, rough);
            roof.productGflops = fastestProduct(device_, kernels, &cancelled, rough);
            if (!cancelled) queue_.tell([this, roof] { model_.roof_ = roof; });
        });
    }

    /// Checks the rung, then times it for about `seconds`.
    void measure(std::size_t rung, double seconds) {
        const LaneSpec spec = laneOf(rung);
        queue_.post(
            spec.text(), [this, rung, spec, seconds, make = machines_.maker(job_, spec),
                          makePlain = machines_.maker(job_, plainLane)](const std::atomic<bool>& cancelled) {
                if (expected_.empty()) {
                    expected_ = firstLosses(*makePlain(), job_, &cancelled);
                    if (cancelled) expected_.clear();
                }
                if (cancelled) return;
                RungResult result;
                result.spec = spec;
                std::unique_ptr<Trainer> trainer;
                result.refusal = failureOf([&] { trainer = make(); });
                if (trainer) {
                    result.measure =
                        measureLane(*trainer, job_, expected_, lossTolerance(spec), seconds, &cancelled);
                    if (result.measure.right() && !cancelled)
                        describeStep(result, *trainer, job_, device_, recorder_);
                }
                if (cancelled) return;
                queue_.tell([this, rung, result] {
                    if (result.spec.gpu && !result.refused()) model_.gpuMachine_ = result.measure.machine;
                    model_.results_.insert_or_assign({rung, model_.settings_.settings.batch}, result);
                });
            });
    }

    void takePicture(std::size_t rung, Product product) {
        const LaneSpec spec = laneOf(rung);
        queue_.post("the accesses of " + spec.text(), [this, rung, spec, product](const std::atomic<bool>&) {
            RungPicture picture;
            picture.reason =
                failureOf([&] { picture.record = recordOfRung(spec, product, device_, recorder_); });
            queue_.tell([this, rung, product, taken = std::move(picture)]() mutable {
                model_.pictures_.insert_or_assign({rung, product}, std::move(taken));
            });
        });
    }

    /// Trains on the rung from the current step, on any previous rung. One that is refused changes nothing.
    void train(std::size_t rung, std::uint64_t steps) {
        const auto make = machines_.maker(job_, laneOf(rung));
        queue_.post("", [this, rung, steps, make](const std::atomic<bool>&) {
            const std::string refusal = failureOf([&] { requireTrainer(rung, make); });
            if (!refusal.empty()) { // training stands where it stood; another rung goes on from there
                queue_.tell([this, refusal] {
                    model_.refusal_ = refusal;
                    model_.running_ = model_.training_ = false;
                });
                return;
            }
            const double before = trainer_->trainingSeconds();
            trainer_->run(steps);
            trainer_->finish();
            const double seconds = trainer_->trainingSeconds() - before;
            std::vector<LossPoint> losses;
            trainer_->takeLosses(losses);
            queue_.tell([this, rung, losses, seconds] { model_.addLosses(rung, losses, seconds); });
        });
    }

    /// Training stands at its first step again, with the same weights.
    void resetTraining() {
        queue_.post("", [this](const std::atomic<bool>&) { trainer_.reset(); });
    }

    /// Measures cpu:best and gpu:best over all sizes, each for about `seconds`.
    void sweep(SweepBy by, double seconds) {
        for (const std::size_t value : sweepValues(by, data_->train.count)) {
            const TrainJob job = makeJob(settingsFor(model_.settings_, by, value), *data_);
            const auto makeCpu = machines_.maker(job, cpuLane);
            const auto makeGpu = machines_.maker(job, gpuLane);
            queue_.post(
                fmt::format("{} {}", nameOf(by), value),
                [this, by, value, job, seconds, makeCpu, makeGpu](const std::atomic<bool>& cancelled) {
                    const SweepPoint point =
                        measurePoint(value, job, makeCpu, makeGpu, device_, seconds, cancelled);
                    if (cancelled) return;
                    queue_.tell(
                        [this, by, point] { model_.sweeps_[static_cast<std::size_t>(by)].push_back(point); });
                });
        }
    }

  private:
    LaneSpec laneOf(std::size_t rung) const { return laneSpecFromText(model_.rungs_[rung].lane); }

    void requireTrainer(std::size_t rung, const Lane::MakeTrainer& make) {
        if (trainer_ && trainerRung_ == rung) return;
        std::optional<TrainerState> state;
        if (trainer_) state = trainer_->state();
        std::unique_ptr<Trainer> next = make(); // may be refused: then training stands where it stood
        if (state) next->restore(*state);
        trainer_ = std::move(next);
        trainerRung_ = rung;
    }

    LadderModel& model_; // of the window's thread: it is read when work is posted, and told what was done
    std::shared_ptr<const Dataset> data_;
    TrainJob job_;
    Machines& machines_; // used by the window's thread only
    gpu::Device& device_;

    // Of the queue's thread.
    AccessRecorder recorder_;
    std::vector<float> expected_; // losses of the plain rung
    std::unique_ptr<Trainer> trainer_;
    std::size_t trainerRung_ = 0;

    WorkQueue queue_; // last: its thread uses all of the above
};

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

LadderModel::~LadderModel() { releaseDevice(); }

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
                !results_.contains({i, batch}))
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
    const auto found = results_.find({rung, settings_.settings.batch});
    return found == results_.end() ? nullptr : &found->second;
}

const RungPicture* LadderModel::picture(std::size_t rung, Product product) {
    const auto found = pictures_.find({rung, product});
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

const NetShape* LadderModel::shape() const { return session_ ? &session_->job().shape : nullptr; }

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
        session_ = std::make_unique<Session>(*this, data, machines, device);
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
    for (const std::size_t rung : std::exchange(wanted_, {})) session_->measure(rung, seconds);
    if (sweepWanted_) session_->sweep(*sweepWanted_, quick ? 0.02 : 0.3);
    sweepWanted_.reset();
    for (const auto& [rung, product] : std::exchange(picturesWanted_, {}))
        session_->takePicture(rung, product);
}

// Small pieces: between two of them a person's wish comes to its turn.
void LadderModel::postTraining(double seconds, bool scripted) {
    if (training_) return;
    std::uint64_t steps = std::exchange(stepsWanted_, 0);
    if (running_) steps += std::min(pacer_.due(seconds, scripted ? 1 : piece_.units()), piece_.units());
    if (steps == 0) return;
    session_->train(picked_, steps);
    training_ = true;
}

void LadderModel::takeNews() {
    for (const auto& news : session_->queue().takeNews()) news();
    if (session_->queue().idle()) training_ = false;
}

void LadderModel::addLosses(std::size_t rung, const std::vector<LossPoint>& losses, double seconds) {
    constexpr std::size_t piecesOfASecond = 12;
    constexpr std::size_t mostLosses = 16384;
    for (const LossPoint& point : losses)
        if (point.step % keepEvery_ == 0) losses_.push_back({point.step, point.loss, rung});
    // No plot has more pixels, and a tiny network makes a million steps a minute.
    if (losses_.size() > mostLosses) {
        keepEvery_ *= 2;
        std::erase_if(losses_, [this](const LadderLoss& loss) { return loss.step % keepEvery_ != 0; });
    }
    recent_.emplace_back(losses.size() * settings_.settings.batch, seconds);
    if (recent_.size() > piecesOfASecond) recent_.erase(recent_.begin());
    piece_.add(static_cast<double>(losses.size()), 1e3 * seconds);
    training_ = false;
}

} // namespace lockstep::demos
