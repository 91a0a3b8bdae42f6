#include "demos/exhibits/devices/devices_model.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/language.h"
#include "engine/cpu/cpu_info.h"
#include "engine/files/json_field.h"
#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/platform/clock.h"
#include "engine/run/make_trainer.h"
#include "engine/run/rank_team.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view ownFields[] = {"ranks",
                                          "overlap",
                                          "all_reduce",
                                          "exchange",
                                          "slower",
                                          "steps",
                                          "checkpoint_every",
                                          "shown_steps",
                                          "layer",
                                          "round",
                                          "weak",
                                          "gigabytes_per_second",
                                          "microseconds",
                                          "trace"};
constexpr double soon = 0.04; ///< seconds after which a run tells news and looks whether it is wanted
constexpr double slow = 0.2;  ///< seconds of a step that is told by itself

bool canBeRank(const RungRow& row) {
    return row.trains && !row.half && row.rung != Rung::wholeStep && !(row.gpu() && row.rung == Rung::best);
}

/// Ranks of this process that train one network, or one rank alone.
struct Ranks {
    std::vector<RankWatch> watches;
    std::unique_ptr<Exchange> alone;  ///< of one rank: nothing to exchange, but a clock
    std::unique_ptr<Trainer> trainer; // first to go

    void run(std::uint64_t steps) {
        trainer->run(steps);
        trainer->finish();
        if (alone) watches[0].collect(*alone);
    }
    std::vector<RankSpan> takeSpans() {
        std::vector<RankSpan> spans;
        for (RankWatch& watch : watches)
            for (const RankSpan& span : watch.takeSpans()) spans.push_back(span);
        std::ranges::stable_sort(spans, {}, &RankSpan::begin);
        return spans;
    }
};

/// What stays the same however many ranks there are.
struct Recipe {
    TrainJob job;
    LaneSpec lane;
    std::size_t threads; ///< of a rank on the processor
    gpu::Device* device;
    ExchangeSettings exchange;
};

Ranks makeRanks(const Recipe& recipe, std::size_t count, const std::atomic<bool>& cancelled) {
    Ranks ranks;
    ranks.watches = std::vector<RankWatch>(count);
    TrainJob job = recipe.job;
    job.settings.share = {0, count, 0};
    const auto make = [&recipe, &cancelled](const TrainJob& own, std::size_t) {
        return makeTrainer(own, recipe.lane, {recipe.threads, 0}, recipe.device, &cancelled);
    };
    if (count > 1) {
        ranks.trainer = makeRankTeam(job, make, recipe.exchange, ranks.watches);
        return ranks;
    }
    ranks.alone =
        std::make_unique<Exchange>([] { return std::move(localTransports(1).front()); }, recipe.exchange);
    ranks.alone->setWatch(ranks.watches.data());
    job.exchange = ranks.alone.get();
    ranks.trainer = make(job, 0);
    return ranks;
}

/// Seconds of a step: the middle of some looks.
double timeStep(const Recipe& recipe, std::size_t ranks, double lookSeconds,
                const std::atomic<bool>& cancelled) {
    Ranks team = makeRanks(recipe, ranks, cancelled);
    std::array<double, 5> looks{};
    std::uint64_t steps = 4;
    double seconds = 0;
    for (seconds = 0; seconds < lookSeconds && !cancelled; steps *= 2) { // warms up, too
        const double began = platform::secondsNow();
        team.run(steps);
        seconds = platform::secondsNow() - began;
    }
    for (double& look : looks) {
        if (cancelled) break;
        const double began = platform::secondsNow();
        team.run(steps / 2);
        look = (platform::secondsNow() - began) / static_cast<double>(steps / 2);
    }
    std::ranges::sort(looks);
    return looks[looks.size() / 2];
}

/// Between two threads of this process.
Link linkBetweenThreads() {
    std::vector<std::unique_ptr<Transport>> ends = localTransports(2);
    Link link;
    const auto measure = [&ends](std::size_t rank) {
        Exchange exchange([&] { return std::move(ends[rank]); }, {});
        return measureLink(exchange);
    };
    std::thread other([&] { measure(1); });
    link = measure(0);
    other.join();
    return link;
}

/// Trains up to the step `goal`, and tells how far it is. A rank that is ended takes what came after the last
/// checkpoint with it.
template <class Tell>
void trainTogether(const Recipe& recipe, RunSwitches& live, DevicesRun run, std::uint64_t goal,
                   std::uint64_t every, const std::atomic<bool>& cancelled, const Tell& tell) {
    std::unique_ptr<Ranks> team;
    const auto keptState = [&] { return std::make_shared<const TrainerState>(team->trainer->state()); };
    double perStep = 0;
    while (run.step < goal && !cancelled) {
        if (team == nullptr) {
            team = std::make_unique<Ranks>(makeRanks(recipe, run.ranks, cancelled));
            if (run.state)
                team->trainer->restore(*run.state);
            else
                run.state = run.checkpoint = keptState();
            perStep = 0;
        }
        const bool ends = live.endsRank.exchange(false) && run.ranks > 1;
        team->watches.back().slowBy(live.slower);
        // As many as are shown, at least, also in the last part before a checkpoint.
        const std::uint64_t room = std::min(goal - run.step, every - run.step % every);
        std::uint64_t steps = 1;
        if (perStep > 0 && perStep < slow)
            steps = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(soon / perStep), mostShownSteps,
                                              std::max<std::uint64_t>(room, mostShownSteps));
        if (steps > room || (steps > 1 && room - steps < mostShownSteps)) steps = room;
        const std::uint64_t shown = std::min<std::uint64_t>(steps, mostShownSteps);
        std::vector<LossPoint> losses;
        try {
            if (ends) { // between two checkpoints
                team->run(room / 2);
                run.step += room / 2;
                team->watches.back().fail();
            }
            const double began = platform::secondsNow();
            if (steps > shown) team->run(steps - shown);
            for (RankWatch& watch : team->watches) watch.keep(true);
            team->run(shown);
            for (RankWatch& watch : team->watches) watch.keep(false);
            perStep = (platform::secondsNow() - began) / static_cast<double>(steps);
            team->trainer->takeLosses(losses);
        } catch (const gpu::DeviceLostError&) {
            throw;
        } catch (const std::exception&) {
            if (!ends) throw;
            team.reset();
            --run.ranks;
            run.losses.push_back({run.ranks, run.ranks, run.step, run.checkpoint->step});
            run.state = run.checkpoint;
            run.step = run.state->step;
            run.trace = {};
            tell(run);
            continue;
        }
        run.step += steps;
        run.secondsPerStep = perStep;
        if (live.slower == 0) run.evenSeconds = perStep;
        if (!losses.empty()) run.loss = losses.back().loss;
        if (run.step % every == 0) run.state = run.checkpoint = keptState();
        run.trace = {recipe.lane.text(), run.ranks, recipe.job.shape.layers(), team->takeSpans()};
        tell(run);
    }
    if (team != nullptr && run.state->step != run.step) {
        run.state = keptState();
        tell(run);
    }
}

} // namespace

DevicesOptions usualDevices() {
    DevicesOptions options;
    options.run.data = "spiral";
    options.run.dataOptions.samples = 4096;
    options.run.hiddenWidths = {256, 256, 256};
    options.run.settings.optimizer.kind = Optimizer::adam;
    options.run.settings.optimizer.learningRate = 0.002;
    options.run.settings.batch = 512;
    options.run.lanes = {{false, Rung::best, {}}};
    return options;
}

Json toJson(const DevicesOptions& options) {
    Json json = toJson(options.run);
    json["ranks"] = options.ranks;
    json["overlap"] = options.overlap;
    json["all_reduce"] = name(options.allReduce);
    json["exchange"] = name(options.format);
    json["slower"] = options.slower;
    json["steps"] = options.steps;
    json["checkpoint_every"] = options.checkpointEvery;
    json["shown_steps"] = options.shownSteps;
    json["layer"] = options.layer + 1;
    json["round"] = options.round + 1;
    json["weak"] = options.weak;
    json["gigabytes_per_second"] = options.gigabytesPerSecond;
    json["microseconds"] = options.microseconds;
    if (!options.trace.empty()) json["trace"] = options.trace;
    return json;
}

DevicesOptions devicesOptionsFromJson(const Json& state) {
    DevicesOptions options = usualDevices();
    options.run = runFromJson(state, options.run, "devices", ownFields);
    const auto take = [&](const char* field, auto& value) {
        if (state.contains(field)) value = jsonValue<std::remove_reference_t<decltype(value)>>(state, field);
    };
    const auto whole = [&](const char* field, auto& value, std::uint64_t least, std::uint64_t most) {
        take(field, value);
        if (value < least || value > most)
            throw std::invalid_argument(fmt::format("field '{}': must be {} to {}", field, least, most));
    };
    const auto number = [&](const char* field, double& value, double least, double most) {
        take(field, value);
        if (!(value >= least && value <= most))
            throw std::invalid_argument(fmt::format("field '{}': must be {} to {}", field, least, most));
    };
    if (options.run.lanes.size() != 1)
        throw std::invalid_argument(
            fmt::format("field 'lanes': must name one lane, not {}", options.run.lanes.size()));
    if (const LaneSpec& lane = options.run.lanes.front(); !canBeRank(lane.row())) {
        const std::vector<std::string> known = devicesLanes();
        throwUnknownName("field 'lanes': lane", lane.text(),
                         std::vector<std::string_view>(known.begin(), known.end()));
    }
    whole("ranks", options.ranks, 1, mostRanks);
    take("overlap", options.overlap);
    std::string word(name(options.allReduce));
    take("all_reduce", word);
    options.allReduce = allReduceFromName(word);
    word = name(options.format);
    take("exchange", word);
    options.format = exchangeFormatFromName(word);
    if (options.format == ExchangeFormat::topK)
        throw std::invalid_argument("field 'exchange': must be fp32 or fp16");
    number("slower", options.slower, 0, 4);
    whole("steps", options.steps, 1, mostDevicesSteps);
    whole("checkpoint_every", options.checkpointEvery, 1, 10'000);
    whole("shown_steps", options.shownSteps, 1, mostShownSteps);
    std::size_t place = options.layer + 1;
    whole("layer", place, 1, 65);
    options.layer = place - 1;
    place = options.round + 1;
    whole("round", place, 1, 2 * mostRanks);
    options.round = place - 1;
    take("weak", options.weak);
    number("gigabytes_per_second", options.gigabytesPerSecond, 0.1, 1000);
    number("microseconds", options.microseconds, 0.1, 1000);
    take("trace", options.trace);
    return options;
}

std::vector<std::string> devicesLanes() {
    std::vector<std::string> names;
    for (const RungRow& row : rungTable)
        if (canBeRank(row)) names.emplace_back(row.lane);
    return names;
}

std::vector<RankTimes> timesOf(const RankTrace& trace) {
    struct Rows {
        std::vector<const RankSpan*> computing, exchanging; // waiting is in neither
        double begin = 0, end = 0;
        bool any = false;
    };
    std::vector<RankTimes> all(trace.ranks);
    std::vector<Rows> rows(trace.ranks);
    for (const RankSpan& span : trace.spans) {
        RankTimes& times = all[span.rank];
        Rows& own = rows[span.rank];
        if (span.what == RankWork::exchange) {
            times.exchanged += span.seconds();
            own.exchanging.push_back(&span);
            if (span.layer >= trace.layers) continue; // the loss
            times.bytes += span.bytes, times.messages += span.messages;
            continue;
        }
        (span.what == RankWork::wait ? times.waited : times.computed) += span.seconds();
        if (span.what != RankWork::wait) own.computing.push_back(&span);
        own.begin = own.any ? std::min(own.begin, span.begin) : span.begin;
        own.end = own.any ? std::max(own.end, span.end) : span.end;
        own.any = true;
    }
    for (std::size_t rank = 0; rank < trace.ranks; ++rank) {
        all[rank].all = rows[rank].end - rows[rank].begin;
        std::size_t at = 0;
        for (const RankSpan* exchange : rows[rank].exchanging) {
            const auto& computing = rows[rank].computing;
            while (at < computing.size() && computing[at]->end <= exchange->begin) ++at;
            for (std::size_t i = at; i < computing.size() && computing[i]->begin < exchange->end; ++i)
                all[rank].hidden += std::min(computing[i]->end, exchange->end) -
                                    std::max(computing[i]->begin, exchange->begin);
        }
    }
    return all;
}

RankTrace latestSteps(const RankTrace& trace, std::size_t steps) {
    std::set<std::uint64_t> numbers;
    for (const RankSpan& span : trace.spans) numbers.insert(span.step);
    RankTrace latest = trace;
    if (numbers.size() <= steps) return latest;
    const std::uint64_t first = *std::prev(numbers.end(), static_cast<std::ptrdiff_t>(steps));
    std::erase_if(latest.spans, [&](const RankSpan& span) { return span.step < first; });
    return latest;
}

void DevicesModel::change(DevicesOptions options) {
    if (options == options_) return;
    DevicesOptions same = options; // but for what does not concern ranks at work
    same.slower = options_.slower, same.shownSteps = options_.shownSteps, same.steps = options_.steps;
    same.checkpointEvery = options_.checkpointEvery;
    same.layer = options_.layer, same.round = options_.round, same.weak = options_.weak;
    same.gigabytesPerSecond = options_.gigabytesPerSecond, same.microseconds = options_.microseconds;
    same.trace = options_.trace;
    if (same != options_) {
        const bool goesOn = training() && !measuring();
        stop();
        if (!(options.run == options_.run)) forget();
        ++ranksNumber_; // all of them again
        run_.ranks = 0;
        run_.trace = {};
        points_.clear();
        changed_ = true;
        trainWanted_ = goesOn;
    }
    if (live_) live_->slower = options.slower;
    options_ = std::move(options);
}

void DevicesModel::update(Machines& machines, bool wait) {
    try {
        do {
            openTrace();
            takeJob(machines, wait);
            if (job_ && trainWanted_) train(machines);
            if (job_ && measureWanted_) measure(machines);
            if (wait) work_.wait();
            takeNews();
        } while (wait && job_ && (trainWanted_ || measureWanted_));
    } catch (...) {
        trainWanted_ = measureWanted_ = false;
        throw;
    }
}

void DevicesModel::takeNews() {
    for (const auto& news : work_.takeNews()) news();
    if (const std::string failure = work_.takeFailure(); !failure.empty()) throw std::runtime_error(failure);
}

void DevicesModel::openTrace() {
    if (openedFile_ == options_.trace) return;
    openedFile_ = options_.trace;
    opened_.reset();
    if (!openedFile_.empty()) opened_ = latestSteps(readRankTrace(openedFile_), mostShownSteps);
}

void DevicesModel::takeJob(Machines& machines, bool wait) {
    if (failed_ && !changed_) return;
    failed_ = true; // unless all goes well
    const std::shared_ptr<const Dataset> data = loader_.get(options_.run, wait);
    failed_ = false;
    if (data != nullptr && data == data_ && !changed_) return;
    job_.reset();
    if (data == nullptr) return;
    failed_ = true;
    changed_ = false; // also where what follows throws: not again in every frame
    data_ = data;
    const TrainJob job = makeJob(options_.run, *data);
    job.validate();
    machines.deviceOf(options_.run.lanes.front());
    layout_ = ParamLayout(job.shape);
    job_ = job;
    failed_ = false;
}

void DevicesModel::stop() {
    trainWanted_ = measureWanted_ = false;
    if (work_.idle()) return;
    stopping_ = true;
    work_.cancel();
}

void DevicesModel::train(Machines& machines) {
    options_.trace.clear();
    openTrace();
    const bool idle = work_.idle();
    trainWanted_ = !job_ || changed_ || (!idle && stopping_);
    if (trainWanted_ || !idle) return;
    stopping_ = false;
    const LaneSpec lane = options_.run.lanes.front();
    const std::size_t cores = machines.threads() > 0 ? machines.threads() : usableCores();
    const Recipe recipe{
        *job_,
        lane,
        std::max<std::size_t>(1, cores / alive()),
        machines.deviceOf(lane),
        {.format = options_.format, .allReduce = options_.allReduce, .overlap = options_.overlap}};
    live_ = std::make_shared<RunSwitches>();
    live_->slower = options_.slower;
    live_->endsRank = std::exchange(endsRank_, false);
    DevicesRun run = run_;
    run.ranks = alive();
    const auto tell = [this, ranksNumber = ranksNumber_, network = network_](const DevicesRun& news) {
        work_.tell([this, ranksNumber, network, news] {
            if (network != network_) return;
            run_ = news;
            if (ranksNumber == ranksNumber_) return;
            run_.ranks = 0; // other settings since
            run_.trace = {};
        });
    };
    work_.post(std::string(translated("training by several ranks")),
               [data = data_, recipe, live = live_, tell, run, goal = run.step + options_.steps,
                every = options_.checkpointEvery](const std::atomic<bool>& cancelled) {
                   trainTogether(recipe, *live, run, goal, every, cancelled, tell);
               });
}

void DevicesModel::endRank(Machines& machines) {
    if (!canEndRank()) return;
    if (live_ && !work_.idle() && !stopping_ && !measuring()) {
        live_->endsRank = true;
        return;
    }
    endsRank_ = true;
    train(machines);
}

std::string DevicesModel::measuringWords() { return std::string(translated("timing 1, 2 and 4 ranks")); }

void DevicesModel::measure(Machines& machines) {
    if (measuring() && !measureWanted_) return;
    stop();
    measureWanted_ = !job_ || changed_ || !work_.idle();
    if (measureWanted_) return;
    stopping_ = false;
    points_.clear();
    const LaneSpec lane = options_.run.lanes.front();
    places_ = lane.gpu ? 1 : usableCores();
    const Recipe recipe{
        *job_,
        lane,
        1,
        machines.deviceOf(lane),
        {.format = options_.format, .allReduce = options_.allReduce, .overlap = options_.overlap}};
    const auto tell = [this, ranksNumber = ranksNumber_](auto news) {
        work_.tell([this, ranksNumber, news] {
            if (ranksNumber == ranksNumber_) news();
        });
    };
    work_.post(measuringWords(), [this, data = data_, recipe, tell](const std::atomic<bool>& cancelled) {
        const Link link = linkBetweenThreads();
        tell([this, link] { link_ = link; });
        for (const std::size_t ranks : {1U, 2U, 4U})
            for (const bool weak : {false, true}) {
                Recipe own = recipe;
                if (weak) own.job.settings.batch *= ranks;
                if ((weak && ranks == 1) || own.job.settings.batch > data->train.count) continue;
                const double seconds = timeStep(own, ranks, soon, cancelled);
                if (cancelled) return;
                tell([this, ranks, weak, seconds] { points_.push_back({ranks, weak, seconds}); });
            }
    });
}

void DevicesModel::forget() {
    stop();
    ++network_;
    run_ = {};
}

bool DevicesModel::releaseDevice() {
    const bool was = training();
    stop();
    work_.wait();
    changed_ = true;
    return was;
}

const RankTrace* DevicesModel::shown() const {
    if (opened_) return &*opened_;
    return run_.trace.spans.empty() ? nullptr : &run_.trace;
}

std::size_t DevicesModel::layer() const { return std::min(options_.layer, layout_.layers() - 1); }

const ScalingPoint* DevicesModel::point(std::size_t ranks, bool weak) const {
    const auto found = std::ranges::find_if(points_, [&](const ScalingPoint& each) {
        return each.ranks == ranks && (each.weak == weak || ranks == 1);
    });
    return found == points_.end() ? nullptr : &*found;
}

std::optional<ScalingModel> DevicesModel::model() const {
    const ScalingPoint* const one = point(1, false);
    if (one == nullptr || !job_) return std::nullopt;
    ScalingModel model;
    model.computeSeconds = one->secondsPerStep;
    for (std::size_t layer = 0; layer < layers(); ++layer)
        model.layerBytes.push_back(numbersOf(layer) * bytesPerNumber());
    model.batch = job_->settings.batch;
    model.allReduce = options_.allReduce;
    model.link = {options_.microseconds * 1e-6, options_.gigabytesPerSecond * 1e9};
    return model;
}

std::optional<ScalingModel> DevicesModel::modelHere() const {
    std::optional<ScalingModel> here = model();
    if (!here) return here;
    here->link = link_;
    here->places = places_;
    return here;
}

std::optional<double> DevicesModel::modelError() const {
    const std::optional<ScalingModel> here = modelHere();
    std::optional<double> largest;
    for (const ScalingPoint& each : points_) {
        if (!here || each.ranks == 1) continue;
        const double error = std::abs(here->stepSeconds(each.ranks, each.weak) / each.secondsPerStep - 1);
        largest = std::max(largest.value_or(0), error);
    }
    return largest;
}

} // namespace lockstep::demos
