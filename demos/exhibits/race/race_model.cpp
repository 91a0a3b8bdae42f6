#include "demos/exhibits/race/race_model.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace lockstep::demos {

namespace {

using namespace std::chrono_literals;

constexpr const char* madeInPieces =
    "no comparison: the lanes were stepped by hand or in slow motion, so their times mean nothing";
constexpr const char* endedWithDevice = "no comparison: the device was lost before the race ended";
constexpr const char* endedEarly = "no comparison: the race was stopped before it ended";

// The work of an evaluation in a rough race: with it, a network of Fashion-MNIST's usual size answers all
// test examples.
constexpr double roughEvaluation = 1e10; // floating-point operations

/// A copy of the data with as many test examples as a rough race evaluates. After a few steps of a wide
/// network, software Vulkan would take longer for all of them than for the race.
std::shared_ptr<const Dataset> roughly(const std::shared_ptr<const Dataset>& data, const RunOptions& run) {
    constexpr std::size_t fewest = 500;
    const double each = makeJob(run, *data).shape.flopsPerExample() / 3; // forward alone
    const std::size_t count = std::max(fewest, static_cast<std::size_t>(roughEvaluation / each));
    if (data->test.count <= count) return data;
    auto few = std::make_shared<Dataset>(*data);
    Examples& test = few->test;
    const auto shorten = [&](auto& numbers) { numbers.resize(numbers.size() / test.count * count); };
    shorten(test.pixels);
    shorten(test.values);
    shorten(test.labels);
    shorten(test.targets);
    shorten(test.lines);
    test.count = count;
    return few;
}

WindowTime::Kind windowKind(const LaneSpec& spec, Machines& machines, bool measured) {
    using Kind = WindowTime::Kind;
    if (machines.draws(spec)) return measured ? Kind::measured : Kind::unknown;
    // A device that is software draws on the processor.
    return !spec.gpu && machines.drawsInSoftware() ? Kind::unknown : Kind::none;
}

// What a script's frame moves the lanes by: a race takes about forty frames per lane.
constexpr std::uint64_t framesPerRace = 40;
constexpr std::uint64_t framesPerEpoch = 20;
constexpr std::uint64_t fewestSteps = 5;

std::uint64_t scriptedSteps(const RaceRun& run) {
    const bool counted = run.finish.epochs > 0 || run.finish.steps > 0;
    if (counted && !run.finish.needsEvaluation())
        return std::max<std::uint64_t>(1, (run.lastStep() + framesPerRace - 1) / framesPerRace);
    return std::max(fewestSteps, run.job.order().stepsPerEpoch() / framesPerEpoch);
}

bool held(LaneStatus status) { return status == LaneStatus::ready || status == LaneStatus::paused; }

void waitUntilHeld(Lane& lane, std::uint64_t step) {
    while (true) {
        const LaneSnapshot shot = lane.snapshot();
        if (shot.over() || (held(shot.status) && shot.step >= step)) return;
        lane.waitFor(1ms);
    }
}

std::optional<LaneAnswers> pictureAnswers(const TrainJob& job, Trainer& trainer) {
    const std::size_t rows = pictureRows(*job.data);
    if (rows == 0) return {};
    return LaneAnswers{trainer.completedSteps(), 0, rows, trainer.predict(Split::test, 0, rows)};
}

/// The same maker; the lane's trainer is known to `looks` from then on.
Lane::MakeTrainer lookedInto(Lane::MakeTrainer make, std::shared_ptr<EpochLooks> looks, std::size_t lane) {
    return [make = std::move(make), looks = std::move(looks), lane](const std::atomic<bool>* cancelled,
                                                                    Tuning* tuning) {
        std::unique_ptr<Trainer> trainer = make(cancelled, tuning);
        const std::lock_guard lock(looks->mutex);
        looks->trainers[lane] = trainer.get();
        return trainer;
    };
}

/// The same maker; what the lane's trainer begins with is noted in `teams`.
Lane::MakeTrainer noted(Lane::MakeTrainer make, std::shared_ptr<LaneTeams> teams, std::size_t lane) {
    return [make = std::move(make), teams = std::move(teams), lane](const std::atomic<bool>* cancelled,
                                                                    Tuning* tuning) {
        std::unique_ptr<Trainer> trainer = make(cancelled, tuning);
        (*teams)[lane] = trainer->machine().threads;
        return trainer;
    };
}

/// On the thread that uses the trainer, while it stands still.
void lookInto(EpochLooks& looks, const TrainJob& job, Trainer& trainer) {
    std::optional<LaneAnswers> answers = pictureAnswers(job, trainer);
    const std::lock_guard lock(looks.mutex);
    const auto lane = std::ranges::find(looks.trainers, &trainer) - looks.trainers.begin();
    if (lane < std::ssize(looks.answers)) looks.answers[static_cast<std::size_t>(lane)] = std::move(answers);
}

/// On the thread that uses the trainer.
LaneProbe answer(const ProbeWish& wish, const TrainJob& job, Trainer& trainer) {
    const double begin = secondsNow();
    LaneProbe probe;
    const std::uint64_t step = trainer.completedSteps();
    if (wish.operations) probe.operations = trainer.operations();
    const std::size_t count = job.data->test.count;
    if (wish.rows > 0 && wish.first < count) {
        const std::size_t rows = std::min(wish.rows, count - wish.first);
        probe.answers = LaneAnswers{step, wish.first, rows, trainer.predict(Split::test, wish.first, rows)};
    }
    if (wish.pictures) probe.pictures = pictureAnswers(job, trainer);
    if (wish.evaluation) probe.evaluation = trainer.evaluate(Split::test);
    if (wish.network) // one row is too little work for threads or a device
        probe.network = makeInference(job.shape, trainer.state().parameters, laneSpecFromText("cpu:scalar"));
    probe.evaluatedStep = probe.networkStep = step;
    probe.seconds = secondsNow() - begin;
    return probe;
}

/// What was not asked for stays as it was.
void add(LaneProbe&& news, LaneProbe& probe) {
    if (!news.operations.empty()) probe.operations = std::move(news.operations);
    if (news.answers) probe.answers = std::move(news.answers);
    if (news.pictures) probe.pictures = std::move(news.pictures);
    probe.seconds = news.seconds;
    if (news.network) {
        probe.network = std::move(news.network);
        probe.networkStep = news.networkStep;
    }
    if (news.evaluation) {
        probe.evaluation = std::move(news.evaluation);
        probe.evaluatedStep = news.evaluatedStep;
    }
}

} // namespace

std::vector<std::size_t> RaceRun::current() const {
    std::vector<std::size_t> result;
    if (!race || over) return result;
    for (std::size_t i = 0; i < race->size(); ++i) {
        const LaneStatus status = race->lane(i).snapshot().status;
        if (status == LaneStatus::waiting || status >= LaneStatus::finished) continue;
        result.push_back(i);
        if (!settings.together) break;
    }
    return result;
}

std::optional<std::size_t> RaceRun::tuningLane() const {
    for (std::size_t i = 0; i < lanes.size() && race && !over; ++i)
        if (lanes[i].end.status == LaneStatus::preparing && lanes[i].end.tuning.going()) return i;
    return {};
}

bool RaceModel::timesProcessor() const {
    if (!running() || !run_) return false;
    return std::ranges::any_of(run_->current(), [this](std::size_t i) { return !run_->lanes[i].spec.gpu; });
}

bool RaceModel::busy() const {
    if (startWanted_ || !retired_.empty()) return true;
    if (!run_ || !run_->race) return false;
    if (std::ranges::any_of(run_->asked, &std::future<LaneProbe>::valid)) return true;
    return std::ranges::any_of(run_->current(), [this](std::size_t i) {
        const LaneStatus status = run_->race->lane(i).snapshot().status;
        return status == LaneStatus::preparing || status == LaneStatus::running;
    });
}

void RaceModel::start() {
    paused_ = false;
    if (!racing() || changed()) {
        retire();
        startWanted_ = true;
    } else if (pacer_.flatOut() && !byScript_ && run_->race) {
        run_->race->resume();
    }
}

void RaceModel::setSpeed(double stepsPerSecond) {
    pacer_.setSpeed(stepsPerSecond);
    if (!run_ || !run_->race || paused_) return;
    if (pacer_.flatOut())
        run_->race->resume();
    else
        run_->race->pause();
}

void RaceModel::skipTuning() {
    if (!run_ || !run_->race) return;
    run_->tuningSkipped = true;
    for (std::size_t i = 0; i < run_->race->size(); ++i) run_->race->lane(i).skipTuning();
}

void RaceModel::retire() {
    pendingSteps_ = pendingEpochs_ = 0;
    pacer_.restart();
    if (!run_) return;
    if (run_->race) run_->race->stop();
    const auto begun = [](const LaneResult& lane) { return lane.end.runSteps > 0; };
    if (racing() && (!run_->finished.empty() || std::ranges::any_of(run_->lanes, begun))) end(endedEarly);
    retired_.add(std::move(run_));
}

void RaceModel::setHistory(std::vector<PastRun> runs) {
    history_ = std::move(runs);
    if (!history_.empty()) runs_ = std::max(runs_, history_.back().number);
}

void RaceModel::setNote(std::uint64_t number, const std::string& note) {
    for (PastRun& run : history_)
        if (run.number == number) run.note = note;
}

bool RaceModel::release() {
    startWanted_ = false;
    pendingSteps_ = pendingEpochs_ = 0;
    retired_.clear(true);
    if (!run_) return false;
    run_->asked.clear(); // likewise
    if (run_->race) {
        run_->race->stop();
        run_->race->waitFor(1h);
    }
    const bool cutShort = racing();
    if (cutShort) {
        if (run_->race) {
            look();
            run_->lanes = run_->race->results();
        }
        end(endedWithDevice);
    }
    run_->race.reset();
    return cutShort;
}

void RaceModel::update(Machines& machines, double seconds, bool wait) {
    byScript_ = wait;
    const bool alone = retired_.clear(wait); // an earlier race would compete with a new one
    if (startWanted_) {
        if (!alone) return;
        startWanted_ = false; // also where one of these throws
        const std::shared_ptr<const Dataset> data = data_.get(settings.run, wait);
        startWanted_ = !data;
        if (!data) return;
        begin(machines, data);
    }
    const bool open = run_ && asking();
    if (!racing()) return;
    if (!run_->race) { // between two runs
        if (!alone) return;
        try {
            startLanes(machines, *run_);
        } catch (...) {
            end(endedEarly); // over the runs before
            throw;
        }
        return;
    }
    run_->race->advance();
    drive(seconds, wait);
    run_->paused = paused_;
    look();
    if (!run_->race->advance() && !open) endRun();
}

void RaceModel::begin(Machines& machines, const std::shared_ptr<const Dataset>& data) {
    auto run = std::make_unique<RaceRun>();
    run->settings = settings;
    run->data = rough ? roughly(data, settings.run) : data;
    run->tuningSkipped = run->data != data;
    run->job = makeJob(settings.run, *run->data);
    LaneChoice choice = chooseRaceLanes(settings.run.lanes, machines);
    run->remark = choice.remark;
    run->finish = finishLineFor(settings.run, run->job, machines.anySoftware(choice.lanes));
    for (const LaneSpec& spec : choice.lanes) {
        run->lanes.push_back({.spec = spec, .telemetry = Telemetry(run->job.order())});
        run->window.push_back({.kind = windowKind(spec, machines, drawn_.has_value())});
    }
    startLanes(machines, *run);
    run_ = std::move(run);
    run_->number = ++runs_;
}

/// All lanes at the start of the first run or of the next one.
void RaceModel::startLanes(Machines& machines, RaceRun& run) {
    RaceOptions options;
    options.together = run.settings.together;
    options.lane.finish = run.finish;
    options.lane.evaluateEvery = run.settings.run.evaluateEvery;
    options.lane.startPaused = true;
    if (run.tuningSkipped) options.lane.tuneSeconds = 0;
    run.timed = pacer_.flatOut() && !paused_ && !byScript_ && !options.together;
    if (run.timed) options.lane.compareTimes();
    run.looks.reset();
    if (run.timed && pictureRows(*run.data) > 0 && run.settings.run.evaluateEvery > 0) {
        run.looks = std::make_shared<EpochLooks>();
        run.looks->trainers.assign(run.lanes.size(), nullptr);
        run.looks->answers.resize(run.lanes.size());
        options.lane.saveEvery = run.settings.run.evaluateEvery; // where it stops anyway
        options.lane.save = [looks = run.looks, &job = run.job](Trainer& trainer) {
            lookInto(*looks, job, trainer);
        };
    }
    if (byScript_ && !rough && !options.together) options.lane.timeOn();
    std::vector<RaceEntry> entries;
    run.teams = std::make_shared<LaneTeams>(run.lanes.size());
    run.probes.assign(run.lanes.size(), {}); // one for each, also where a device cannot be opened
    for (LaneResult& lane : run.lanes) {
        Lane::MakeTrainer make = machines.maker(run.job, lane.spec, run.settings.run.share());
        if (run.looks) make = lookedInto(std::move(make), run.looks, entries.size());
        make = noted(std::move(make), run.teams, entries.size());
        entries.push_back({lane.spec, std::move(make)});
        lane = {.spec = lane.spec, .machine = lane.machine, .telemetry = Telemetry(run.job.order())};
    }
    run.asked.resize(run.lanes.size());
    run.accuracies.assign(run.lanes.size(), {});
    run.race = std::make_unique<Race>(run.job, std::move(entries), std::move(options));
    if (pacer_.flatOut() && !paused_ && !byScript_) run.race->resume();
    run.race->start();
}

/// Brings what the lanes show into `lanes`, and what the window's frames took from those that trained.
void RaceModel::look() {
    const double took = drawn_ && drawnBefore_ ? std::max(0.0, *drawn_ - *drawnBefore_) : 0;
    drawnBefore_ = drawn_;
    for (std::size_t i = 0; i < run_->lanes.size(); ++i) {
        LaneResult& view = run_->lanes[i];
        Lane& lane = run_->race->lane(i);
        const LaneSnapshot shot = lane.snapshot();
        WindowTime& window = run_->window[i];
        const bool training = shot.status == LaneStatus::running;
        if (window.kind == WindowTime::Kind::measured && training && window.training) window.seconds += took;
        window.training = training;
        const bool moved = shot.step != view.end.step || view.end.status != shot.status;
        if (shot.evaluatedStep > 0 && shot.evaluatedStep != view.end.evaluatedStep) {
            run_->accuracies[i][shot.evaluatedStep] = shot.testAccuracy;
            view.evaluation = lane.evaluation();
        }
        view.end = shot;
        if (!moved) continue;
        view.machine = lane.machine();
        view.telemetry = lane.telemetry();
        view.gflops = shot.rate() * run_->job.shape.flopsPerExample() * 1e-9;
    }
    addAgreements(run_->lanes, run_->job.settings.precision);
    if (!run_->looks) return;
    const std::lock_guard lock(run_->looks->mutex);
    for (std::size_t i = 0; i < run_->probes.size(); ++i)
        if (run_->looks->answers[i]) run_->probes[i].pictures = run_->looks->answers[i];
}

/// All lanes are over: the next run begins, unless a lane cannot be compared, which would happen again.
void RaceModel::endRun() {
    look();
    run_->lanes = run_->race->results();
    if (run_->stepped) return end(madeInPieces);
    run_->finished.push_back(run_->lanes);
    if (run_->finished.size() >= run_->settings.repeat ||
        !std::ranges::all_of(run_->lanes, &LaneResult::counts))
        return end(nullptr);
    retired_.add(std::move(run_->race));
}

/// Compares the runs that are finished; without any, `why` is all there is to say.
void RaceModel::end(const char* why) {
    RaceRun& run = *run_;
    run.load = run.watch.load();
    const bool compared = !run.finished.empty();
    run.repeated = repeatedRace(compared ? run.finished : std::vector<std::vector<LaneResult>>{run.lanes});
    run.lanes = run.repeated.lanes;
    run.headline = compared ? headlineFor(run.repeated, run.finish, run.settings.together,
                                          run.byFrames && rough ? 0 : shortestRace)
                            : Headline{{}, why};
    run.stepped = run.stepped && !compared;
    for (WindowTime& window : run.window)
        window.seconds /= static_cast<double>(std::max<std::size_t>(run.finished.size(), 1));
    run.over = true;
    if (history_.size() == mostPastRuns) history_.erase(history_.begin());
    history_.push_back(pastRun(run));
}

// What moves the lanes: their own pace, slow motion, steps by hand, or a script's frames.

void RaceModel::drive(double seconds, bool wait) {
    if (pendingEpochs_ > 0) {
        const std::uint64_t epoch = run_->job.order().stepsPerEpoch();
        std::uint64_t done = 0;
        for (const std::size_t i : run_->current()) done = run_->lanes[i].end.step;
        pendingSteps_ += pendingEpochs_ * epoch - done % epoch;
        pendingEpochs_ = 0;
    }
    if (!wait && !paused_ && pacer_.flatOut()) return; // the lanes run by themselves
    if (wait) {
        run_->race->pause();
        for (const std::size_t i : run_->current()) waitUntilHeld(run_->race->lane(i), 0);
    }
    // How many steps this frame is worth.
    const std::uint64_t steps =
        paused_ ? std::exchange(pendingSteps_, 0) : pacer_.due(seconds, wait ? scriptedSteps(*run_) : 0);
    if (steps == 0) return;
    (wait && !paused_ && pacer_.flatOut() ? run_->byFrames : run_->stepped) = true;
    std::vector<std::pair<Lane*, std::uint64_t>> moving;
    for (const std::size_t i : run_->current()) {
        Lane& lane = run_->race->lane(i);
        const LaneSnapshot shot = lane.snapshot();
        // In slow motion a lane that is still at its last steps is asked for no more.
        if (!paused_ && !held(shot.status)) continue;
        lane.step(steps);
        moving.emplace_back(&lane, shot.step + steps);
    }
    if (!wait) return;
    for (const auto& [lane, target] : moving) waitUntilHeld(*lane, target);
}

// Looking into the lanes while they train: timings of operations, answers, evaluations on demand.

/// A lane that is over has a thread no more, and the last question may have been dropped. Its last evaluation
/// is as of its last step, so that it is not asked for another.
std::future<LaneProbe> RaceModel::ask(std::size_t index, const ProbeWish& wish) {
    Lane& lane = run_->race->lane(index);
    const TrainJob& job = run_->job; // outlives the race, and with it the lane's thread
    if (!lane.snapshot().over())
        return lane.ask([wish, &job](Trainer& trainer) { return answer(wish, job, trainer); });
    ProbeWish rest = wish;
    rest.evaluation = false;
    return std::async(std::launch::async,
                      [rest, &job, &trainer = *lane.trainer()] { return answer(rest, job, trainer); });
}

/// Brings the answers that are there; whether another is still on its way. Throws what has kept one from
/// coming, as std::runtime_error: where that is the loss of a device, it need not be the window's.
bool RaceModel::asking() {
    bool open = false;
    for (std::size_t i = 0; i < run_->asked.size(); ++i) {
        std::future<LaneProbe>& asked = run_->asked[i];
        if (!asked.valid()) continue;
        if (!ready(asked)) {
            open = true;
            continue;
        }
        try {
            add(asked.get(), run_->probes[i]);
        } catch (const std::future_error&) { // the lane ended before it came to this; it is asked again
        } catch (const std::exception& error) {
            if (run_->race && run_->race->lane(i).snapshot().status == LaneStatus::failed)
                continue; // it says so
            throw std::runtime_error(run_->lanes[i].spec.text() + ": " + error.what());
        }
    }
    return open;
}

bool RaceModel::probe(const ProbeWish& wish, bool wait) {
    bool all = true;
    if (!run_ || !run_->race) return all;
    for (std::size_t i = 0; i < run_->probes.size(); ++i) {
        Lane& lane = run_->race->lane(i);
        const LaneStatus status = lane.snapshot().status;
        if (status == LaneStatus::waiting || status == LaneStatus::preparing) continue;
        if (status == LaneStatus::failed || (lane.snapshot().over() && lane.trainer() == nullptr)) continue;
        std::future<LaneProbe>& asked = run_->asked[i];
        if (asked.valid()) {
            all = false;
            continue;
        }
        asked = ask(i, wish);
        if (wait) asked.wait();
    }
    if (wait) asking();
    return all;
}

} // namespace lockstep::demos
