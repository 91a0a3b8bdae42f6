#include "demos/exhibits/ladder/ladder_model.h"

#include <atomic>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/kit/worker.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

/// One setting at work: rungs are measured, kernels are recorded, and the network is trained, all on one
/// thread, one piece after the other, so that nothing is timed beside anything else.
class LadderModel::Session {
  public:
    /// `device` draws the window and runs the GPU's rungs; it, `model` and `machines` outlive the session.
    /// Throws for settings that do not fit the data.
    Session(LadderModel& model, std::shared_ptr<const Dataset> data, Machines& machines, gpu::Device& device)
        : model_(model), data_(std::move(data)), job_(makeJob(model.settings_, *data_)), machines_(machines),
          device_(device), recorder_(device) {}

    WorkQueue& queue() { return queue_; }

    void measureRoof(bool rough) {
        queue_.post(std::string(translated("measuring the roof")),
                    [this, rough](const std::atomic<bool>& cancelled) {
                        Kernels kernels(device_);
                        Roof roof = demos::measureRoof(device_, kernels, rough);
                        roof.productGflops = fastestProduct(device_, kernels, &cancelled, rough);
                        if (cancelled) return;
                        queue_.tell([this, roof] {
                            model_.roof_ = roof;
                            model_.measured(model_.rungs_.size());
                        });
                    });
    }

    /// Checks the rung, by few steps for a preview, then times it for about `seconds`.
    void measure(std::size_t rung, bool preview, double seconds) {
        const LaneSpec spec = laneOf(rung);
        const std::size_t steps = preview ? comparedSteps(job_, 5e8) : comparedSteps(job_);
        queue_.post(translatedFormat("measuring {}", spec.text()),
                    [this, rung, spec, preview, steps, seconds, make = machines_.maker(job_, spec),
                     makePlain = machines_.maker(job_, LaneSpec{false, Rung::scalar, {}})](
                        const std::atomic<bool>& cancelled) {
                        if (expected_.size() < steps) {
                            expected_ = firstLosses(*makePlain(), steps, &cancelled);
                            if (cancelled) expected_.clear();
                        }
                        if (cancelled) return;
                        RungResult result;
                        result.spec = spec;
                        result.brief = preview;
                        const LoadWatch watch;
                        std::unique_ptr<Trainer> trainer;
                        result.refusal = failureOf([&] { trainer = make(&cancelled); });
                        if (trainer) {
                            result.measure = measureLane(*trainer, job_, expected_, lossTolerance(spec),
                                                         seconds, &cancelled, [&](double gflops) {
                                                             queue_.tell([this, rung, gflops] {
                                                                 if (model_.measuring(rung))
                                                                     model_.soFar_ = gflops;
                                                             });
                                                         });
                            result.load = watch.load();
                            if (result.measure.right() && !cancelled)
                                describeStep(result, *trainer, job_, device_, recorder_);
                        }
                        if (cancelled) return;
                        queue_.tell([this, rung, result] {
                            if (result.spec.gpu && !result.refused())
                                model_.gpuMachine_ = result.measure.machine;
                            model_.results_.insert_or_assign({rung, model_.settings_.settings.batch}, result);
                            model_.measured(rung);
                        });
                    });
    }

    void takePicture(std::size_t rung, Product product) {
        const LaneSpec spec = laneOf(rung);
        queue_.post(translatedFormat("recording {}", spec.text()), [this, rung, spec,
                                                                    product](const std::atomic<bool>&) {
            RungPicture picture;
            picture.reason =
                failureOf([&] { picture.record = recordOfRung(spec, product, device_, recorder_); });
            queue_.tell([this, rung, product, taken = std::move(picture)]() mutable {
                std::erase(model_.picturesPosted_, std::pair{rung, product});
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

    /// The first losses on a rung, told one by one, as far as it can be trained.
    void previewLosses(std::size_t rung) {
        const std::size_t steps = comparedSteps(job_, 1e10); // about a second of it
        queue_.post(translatedFormat("previewing the loss on {}", model_.rungs_[rung].lane),
                    [this, rung, steps,
                     make = machines_.maker(job_, laneOf(rung))](const std::atomic<bool>& cancelled) {
                        // What diverges ends the preview: training says so when it is asked for.
                        failureOf([&] {
                            const std::unique_ptr<Trainer> trainer = make(&cancelled);
                            while (trainer->completedSteps() < steps && !cancelled) {
                                trainer->run(1);
                                trainer->finish();
                                std::vector<LossPoint> losses;
                                trainer->takeLosses(losses);
                                queue_.tell([this, rung, losses] {
                                    for (const LossPoint& point : losses)
                                        model_.lossPreview_.push_back({point.step, point.loss, rung});
                                });
                            }
                        });
                    });
    }

    /// Training stands at its first step again, with the same weights.
    void resetTraining() {
        queue_.post("", [this](const std::atomic<bool>&) { trainer_.reset(); });
    }

    /// Measures cpu:best and gpu:best over all sizes, each for about `seconds`.
    void sweep(SweepBy by, double seconds) {
        measureSizes(by, sweepValues(by, data_->train.count), seconds, false);
        queue_.post("", [this, by](const std::atomic<bool>& cancelled) {
            if (!cancelled) queue_.tell([this, by] { model_.swept_[static_cast<std::size_t>(by)] = true; });
        });
    }

    /// The first, the third and the fifth of them: the largest take longest.
    void previewSweep(SweepBy by, double seconds) {
        const std::vector<std::size_t> all = sweepValues(by, data_->train.count);
        std::vector<std::size_t> few;
        for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 5); i += 2) few.push_back(all[i]);
        measureSizes(by, few, seconds, true);
    }

  private:
    void measureSizes(SweepBy by, const std::vector<std::size_t>& values, double seconds, bool preview) {
        const auto watch = std::make_shared<std::optional<LoadWatch>>();
        for (const std::size_t value : values) {
            const TrainJob job = makeJob(settingsFor(model_.settings_, by, value), *data_);
            const auto makeCpu = machines_.maker(job, LaneSpec{false, Rung::best, {}});
            const auto makeGpu = machines_.maker(job, LaneSpec{true, Rung::best, {}});
            queue_.post(preview ? translatedFormat("previewing {} {}", translated(nameOf(by)), value)
                                : translatedFormat("measuring {} {}", translated(nameOf(by)), value),
                        [this, by, value, job, seconds, preview, makeCpu, makeGpu,
                         watch](const std::atomic<bool>& cancelled) {
                            if (!*watch) watch->emplace();
                            const SweepPoint point =
                                measurePoint(value, job, makeCpu, makeGpu, device_, seconds, cancelled);
                            if (cancelled) return;
                            queue_.tell([this, by, preview, point, load = (*watch)->load()] {
                                if (preview) {
                                    model_.sweepPreviews_[static_cast<std::size_t>(by)].push_back(point);
                                    return;
                                }
                                model_.sweeps_[static_cast<std::size_t>(by)].push_back(point);
                                model_.sweepLoads_[static_cast<std::size_t>(by)] = load;
                            });
                        });
        }
    }

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

    // What only the queue's thread touches.
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

std::string progressText(std::size_t done, std::size_t total, double seconds, double since, TimeLeft& left) {
    if (total < 2) return {};
    const std::string count = translatedFormat(", {} of {}", done + 1, total);
    if (done == 0 || done >= total) {
        left = {};
        return count;
    }
    // The piece under way counts as far as it would be by the mean of those before, but not as done.
    if (2 * done < total) return count;
    const double mean = seconds / static_cast<double>(done);
    const double part = mean > 0 ? std::min(since / mean, 0.9) : 0;
    left.add(seconds + since, (static_cast<double>(done) + part) / static_cast<double>(total));
    return left.seconds() ? translatedFormat("{}, about {}", count, left.text()) : count;
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
        forgetSweep(SweepBy::batch);
        forgetSweepPreview(SweepBy::batch);
    }
    forgetSweep(SweepBy::width); // whichever of them it was, also the batch
    forgetSweepPreview(SweepBy::width);
    previewing_ = false;
    settings_ = settings;
    retire();
    session_.allow();
    wanted_ = again;
    pickedWanted_ = true;
    if (!roof_) roofWanted_ = true;
    losses_.clear();
    earlier_.clear();
    lossPreview_.clear();
    lossPreviewWanted_ = lossPreviewAsked_ = false;
    keepEvery_ = 1;
}

void LadderModel::run() {
    if (previewing_ && measuring_) stopMeasuring();
    running_ = true;
}

void LadderModel::step() {
    if (previewing_ && measuring_) stopMeasuring();
    ++stepsWanted_;
}

void LadderModel::reset() {
    if (!losses_.empty()) earlier_ = std::exchange(losses_, {});
    keepEvery_ = 1;
    resetWanted_ = true;
    session_.allow();
}

void LadderModel::pick(std::size_t index) {
    picked_ = std::min(index, rungs_.size() - 1);
    pickedWanted_ = true;
    if (!roof_) roofWanted_ = true;
    if (measuring_ && *measuring_ != picked_ && pickedMissing()) interrupt();
}

void LadderModel::measureAll() {
    if (previewing_ && measuring_) interrupt();
    wanted_.resize(rungs_.size());
    std::iota(wanted_.begin(), wanted_.end(), std::size_t{0});
    wantPickedFirst();
    roofWanted_ = true;
    previewing_ = false;
    measured_ = 0; // what came before was other work: a preview, or the picked rung
    session_.allow();
}

void LadderModel::measurePicked() {
    if (previewing_ && measuring_) interrupt();
    wantPickedFirst();
    if (!roof_) roofWanted_ = true;
    previewing_ = false;
    session_.allow();
}

void LadderModel::preview() {
    if (!wanted_.empty() || session_.gaveUp()) return;
    previewing_ = results_.empty();
    for (const Rung rung : {Rung::scalar, Rung::simd, Rung::naive, Rung::tiled, Rung::blocked}) {
        const auto row = std::ranges::find(rungs_, rung, &RungRow::rung);
        if (row != rungs_.end()) wanted_.push_back(static_cast<std::size_t>(row - rungs_.begin()));
    }
    if (pickedMissing() && std::ranges::count(wanted_, picked_) == 0) wanted_.push_back(picked_);
    pickedWanted_ = false; // in its turn
}

std::size_t LadderModel::briefRungs() const {
    return static_cast<std::size_t>(std::ranges::count_if(results_, [this](const auto& entry) {
        return entry.first.second == settings_.settings.batch && entry.second.brief && entry.second.timed();
    }));
}

void LadderModel::wantPickedFirst() {
    std::erase(wanted_, picked_);
    wanted_.insert(wanted_.begin(), picked_);
}

void LadderModel::forgetSweep(SweepBy by) {
    sweeps_[static_cast<std::size_t>(by)].clear();
    swept_[static_cast<std::size_t>(by)] = false;
}

void LadderModel::forgetSweepPreview(SweepBy by) {
    sweepPreviews_[static_cast<std::size_t>(by)].clear();
    sweepPreviewsAsked_[static_cast<std::size_t>(by)] = false;
    if (sweepPreviewWanted_ == by) sweepPreviewWanted_.reset();
}

const std::vector<SweepPoint>& LadderModel::sweepPreview(SweepBy by) {
    const auto index = static_cast<std::size_t>(by);
    if (!std::exchange(sweepPreviewsAsked_[index], true)) sweepPreviewWanted_ = by;
    return sweepPreviews_[index];
}

void LadderModel::startSweep(SweepBy by) {
    sweepWanted_ = by;
    forgetSweep(by);
    sweepsAsked_[static_cast<std::size_t>(by)] = true;
    session_.allow();
}

void LadderModel::stopMeasuring() {
    wanted_.clear();
    pickedWanted_ = roofWanted_ = false;
    sweepWanted_.reset();
    interrupt();
    sweepPreviewWanted_.reset();
    sweepPreviewsAsked_ = {true, true}; // not again by itself
}

// What is wanted still comes to its turn.
void LadderModel::interrupt() {
    sweepsAsked_ = {};
    if (session_) session_->queue().cancel();
    measuring_.reset();
    picturesPosted_.clear();
    lossPreviewAsked_ = lossPreviewWanted_ || !lossPreview_.empty();
    for (const SweepBy by : {SweepBy::batch, SweepBy::width}) // one without any point is asked for again
        if (sweepPreviews_[static_cast<std::size_t>(by)].empty() && sweepPreviewWanted_ != by)
            forgetSweepPreview(by);
    training_ = false;
}

void LadderModel::measured(std::size_t piece) {
    std::erase(wanted_, piece);
    if (measuring_ == piece) measuring_.reset();
    const double now = secondsNow();
    if (piece == rungs_.size()) { // no rung: neither counted nor part of their time
        roofWanted_ = false;
        measuringSince_ += now - measuredUntil_;
    } else {
        ++measured_;
    }
    measuredUntil_ = now;
}

std::size_t LadderModel::missing() const {
    const bool alone = pickedMissing() && std::ranges::count(wanted_, picked_) == 0;
    return wanted_.size() + (alone ? 1 : 0) + (roofWanted_ ? 1 : 0);
}

double LadderModel::measuredShare() const {
    const auto done = static_cast<double>(measured_);
    const auto all = static_cast<double>(measured_ + missing());
    return all > 0 ? done / all : 0;
}

bool LadderModel::waits(std::size_t rung) const {
    const bool asked = std::ranges::count(wanted_, rung) > 0 || (rung == picked_ && pickedMissing());
    return asked && !session_.gaveUp();
}

std::string LadderModel::stateOf(std::size_t rung) const {
    if (measuring(rung)) return "being measured";
    if (const RungResult* known = result(rung)) return shortResult(known);
    return waits(rung) ? "waiting to be measured" : "not measured";
}

const RungResult* LadderModel::result(std::size_t rung) const {
    const auto found = results_.find({rung, settings_.settings.batch});
    return found == results_.end() ? nullptr : &found->second;
}

bool LadderModel::timed(std::size_t rung) const {
    const RungResult* known = result(rung);
    return known != nullptr && known->timed();
}

std::size_t LadderModel::timedRungs() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < rungs_.size(); ++i) count += timed(i) ? 1 : 0;
    return count;
}

std::optional<OtherLoad> LadderModel::load() const {
    std::optional<OtherLoad> most;
    for (std::size_t i = 0; i < rungs_.size(); ++i)
        if (const auto load = timed(i) ? result(i)->load : std::nullopt)
            if (!most || load->cores > most->cores) most = load;
    return most;
}

std::vector<std::size_t> LadderModel::sweepSizes(SweepBy by) {
    constexpr std::size_t many = 4096; // examples: as far as batches go
    return sweepValues(by, many);
}

std::optional<double> LadderModel::rate(std::size_t rung) const {
    if (timed(rung)) return result(rung)->measure.gflops;
    if (measuring(rung) && soFar_ > 0) return soFar_;
    return std::nullopt;
}

std::optional<std::size_t> LadderModel::base(std::size_t rung) const {
    const bool gpu = rungs_[rung].gpu();
    if (!rungs_[rung].below) { // the table has the lowest first
        for (std::size_t i = 0; i < rung; ++i)
            if (rungs_[i].gpu() == gpu && timed(i)) return i;
        return std::nullopt;
    }
    for (std::size_t at = rung; rungs_[at].below;) {
        const auto below = std::ranges::find_if(rungs_, [&](const RungRow& other) {
            return other.rung == *rungs_[at].below && other.gpu() == gpu;
        });
        if (below == rungs_.end()) break;
        at = static_cast<std::size_t>(below - rungs_.begin());
        if (timed(at)) return at;
    }
    return std::nullopt;
}

std::string LadderModel::speedUp(std::size_t rung) const {
    const std::optional<std::size_t> below = base(rung);
    if (!below || !timed(rung)) return {};
    return translatedFormat("{}× over {}", twoDigits(*rate(rung) / *rate(*below)), rungs_[*below].lane);
}

std::optional<LadderModel::Climb> LadderModel::climb(bool gpu) const {
    std::optional<Climb> climb;
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
        if (rungs_[i].gpu() != gpu || !timed(i)) continue;
        if (!climb) climb = {i, i, 1};
        if (*rate(i) > *rate(climb->to)) climb->to = i;
    }
    if (!climb || climb->from == climb->to) return std::nullopt;
    climb->factor = *rate(climb->to) / *rate(climb->from);
    return climb;
}

std::optional<LadderModel::Climb> LadderModel::climb() const {
    const std::optional<Climb> gpu = climb(true);
    return gpu ? gpu : climb(false);
}

std::optional<std::size_t> LadderModel::fastest(bool gpu, bool half) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < rungs_.size(); ++i)
        if (rungs_[i].gpu() == gpu && rungs_[i].half == half && timed(i) &&
            (!best || *rate(i) > *rate(*best)))
            best = i;
    return best;
}

const RungPicture* LadderModel::picture(std::size_t rung, Product product) {
    const auto found = pictures_.find({rung, product});
    if (found != pictures_.end()) return &found->second;
    const std::pair wanted{rung, product};
    if (std::ranges::count(picturesWanted_, wanted) + std::ranges::count(picturesPosted_, wanted) == 0)
        picturesWanted_.push_back(wanted);
    return nullptr;
}

const std::vector<LadderLoss>& LadderModel::lossPreview() {
    if (!std::exchange(lossPreviewAsked_, true)) lossPreviewWanted_ = true;
    return lossPreview_;
}

std::optional<double> LadderModel::differenceTo(const std::vector<LadderLoss>& earlier) const {
    std::optional<double> largest;
    auto before = earlier.begin();
    for (const LadderLoss& now : losses_) {
        while (before != earlier.end() && before->step < now.step) ++before;
        if (before == earlier.end()) break;
        if (before->step != now.step) continue; // long runs are kept with gaps
        const auto x = static_cast<double>(now.loss);
        const auto y = static_cast<double>(before->loss);
        const double scale = std::max({std::abs(x), std::abs(y), 1e-30});
        largest = std::max(largest.value_or(0), std::abs(x - y) / scale);
    }
    return largest;
}

std::string LadderModel::doing() const {
    if (!session_) return session_.gaveUp() ? "" : std::string(translated("loading the data"));
    const std::string doing = session_->queue().doing();
    if (!measuring_ || doing.empty() || *measuring_ == rungs_.size()) return doing;
    const std::size_t rungs = measured_ + missing() - (roofWanted_ ? 1 : 0);
    return doing + progressText(measured_, rungs, measuredUntil_ - measuringSince_,
                                secondsNow() - measuredUntil_, timeLeft_);
}

bool LadderModel::busy() const {
    if (session_.leaving()) return true;
    if (!session_) return !session_.gaveUp();
    return !session_->queue().idle() || missing() > 0 || !picturesWanted_.empty() || lossPreviewWanted_ ||
           sweepPreviewWanted_ || stepsWanted_ > 0;
}

void LadderModel::retire() {
    interrupt();
    session_.retire();
}

// Until something is asked for again.
void LadderModel::giveUp() {
    session_.giveUp();
    wanted_.clear();
    pickedWanted_ = roofWanted_ = false;
    sweepWanted_.reset();
    sweepPreviewWanted_.reset();
    sweepsAsked_ = {};
}

void LadderModel::releaseDevice() {
    retire();
    session_.release();
    running_ = false;
    roof_.reset();
    pictures_.clear();
    picturesWanted_.clear();
    giveUp();
}

bool LadderModel::haveSession(Machines& machines, gpu::Device& device, bool wait) {
    const bool asked = running_ || stepsWanted_ > 0 || !wanted_.empty() || sweepWanted_;
    try {
        return session_.have(asked, [&]() -> std::unique_ptr<Session> {
            const auto data = data_.get(settings_, wait);
            return data ? std::make_unique<Session>(*this, data, machines, device) : nullptr;
        });
    } catch (...) {
        giveUp();
        running_ = false;
        stepsWanted_ = 0;
        throw;
    }
}

void LadderModel::update(Machines& machines, gpu::Device& device, double seconds, bool wait, bool rough) {
    session_.clear();
    if (!haveSession(machines, device, wait)) return;
    takeNews();
    std::string error;
    for (bool more = true; more && error.empty();) {
        postWanted(wait, rough);
        more = wait && (missing() > 0 || sweepWanted_); // what has just been posted is still missing
        if (!more) postTraining(seconds, wait);
        if (wait) {
            session_->queue().wait();
            takeNews();
        }
        error = session_->queue().takeFailure();
    }
    if (!error.empty()) {
        retire(); // nothing is tried again until it is asked for
        running_ = false;
        giveUp();
        throw std::runtime_error(error);
    }
    if (!refusal_.empty()) throw std::runtime_error(std::exchange(refusal_, {}));
}

// One rung at a time, so that what a person asks for next does not wait for all that was asked for before.
void LadderModel::postWanted(bool quick, bool rough) {
    // Somebody looks at where these will be: what is being measured gives way, and comes to its turn again.
    if (measuring_ &&
        (!picturesWanted_.empty() || lossPreviewWanted_ || (sweepPreviewWanted_ && previewing_)))
        interrupt();
    if (std::exchange(lossPreviewWanted_, false)) {
        const auto fastest = std::ranges::find_if(
            rungs_, [](const RungRow& rung) { return rung.rung == Rung::best && !rung.gpu(); });
        session_->previewLosses(static_cast<std::size_t>(fastest - rungs_.begin()));
    }
    if (sweepPreviewWanted_ && !measuring_ && session_->queue().idle())
        session_->previewSweep(*std::exchange(sweepPreviewWanted_, std::nullopt), quick ? 0.02 : 0.1);
    for (const auto& [rung, product] : std::exchange(picturesWanted_, {})) {
        session_->takePicture(rung, product);
        picturesPosted_.emplace_back(rung, product);
    }
    if (std::exchange(resetWanted_, false)) session_->resetTraining();
    if (measuring_ || !session_->queue().idle()) return;
    if (missing() == 0) {
        if (sweepWanted_) session_->sweep(*sweepWanted_, quick ? 0.02 : 0.3);
        sweepWanted_.reset();
        measured_ = 0;
        return;
    }
    if (measured_ == 0) measuringSince_ = measuredUntil_ = secondsNow();
    soFar_ = 0;
    const bool preview = previewing_ && !pickedMissing() && !wanted_.empty();
    const bool first = !wanted_.empty() && wanted_.front() == picked_;
    const bool roofNext = roofWanted_ && !preview;
    if (pickedMissing() || first)
        measuring_ = picked_;
    else
        measuring_ = roofNext ? rungs_.size() : wanted_.front();
    if (*measuring_ == rungs_.size())
        session_->measureRoof(rough);
    else
        session_->measure(*measuring_, preview, quick ? 0.02 : preview ? 0.2 : 0.5);
}

// Small pieces: between two of them a person's wish comes to its turn.
void LadderModel::postTraining(double seconds, bool scripted) {
    if (training_ || measuring_) return; // nothing is timed beside training
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
    constexpr std::size_t mostLosses = 16384;
    for (const LossPoint& point : losses)
        if (point.step % keepEvery_ == 0) losses_.push_back({point.step, point.loss, rung});
    // No plot has more pixels, and a tiny network makes a million steps a minute.
    if (losses_.size() > mostLosses) {
        keepEvery_ *= 2;
        std::erase_if(losses_, [this](const LadderLoss& loss) { return loss.step % keepEvery_ != 0; });
    }
    piece_.add(static_cast<double>(losses.size()), 1e3 * seconds);
    training_ = false;
}

} // namespace lockstep::demos
