#include "demos/exhibits/mosaic/mosaic_lane.h"

#include <algorithm>
#include <utility>

#include "demos/kit/pacer.h"

namespace lockstep::demos {

namespace {

// Short, so that a frame's work on the same device gets its turn and a pause takes effect at once.
constexpr double sliceMilliseconds = 6;
// Looks take a fifth of a lane's time at most, and there are at most 25 of them per second.
constexpr double pauseFactor = 4;
constexpr double shortestPause = 0.04;

PopulationJob partOf(const PopulationJob& job, std::size_t first, std::size_t count) {
    PopulationJob part = job;
    const auto begin = job.members.begin() + static_cast<std::ptrdiff_t>(first);
    part.members.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    return part;
}

} // namespace

PopulationParts::PopulationParts(const PopulationJob& job, std::size_t rowLength, const Make& make)
    : job_(job) {
    const std::size_t all = job.members.size();
    const std::size_t length = rowLength == 0 ? all : rowLength;
    for (std::size_t first = 0; first < all; first += length) {
        const std::size_t count = std::min(length, all - first);
        parts_.push_back({count, 0, make(partOf(job, first, count))});
    }
}

bool PopulationParts::advance(double milliseconds) {
    const auto goesOn = [&](Part& part) { return part.population->advance(milliseconds); };
    return std::ranges::any_of(parts_, goesOn); // the first that is not at its end
}

void PopulationParts::bring(Part& part, std::uint64_t step) {
    if (step <= part.reached) return;
    part.population->trainTo(step);
    part.reached = step;
}

void PopulationParts::trainTo(std::uint64_t step) {
    for (Part& part : parts_) bring(part, std::min(step, job_.steps));
}

void PopulationParts::trainBy(std::uint64_t networkSteps) {
    asked_ += networkSteps;
    std::uint64_t left = asked_;
    for (Part& part : parts_) {
        const std::uint64_t share = std::min<std::uint64_t>(left, part.members * job_.steps);
        bring(part, share / part.members);
        left -= share;
    }
}

void PopulationParts::reset() {
    asked_ = 0;
    for (Part& part : parts_) {
        part.population->reset();
        part.reached = 0;
    }
}

std::vector<MemberResult> PopulationParts::results() {
    std::vector<MemberResult> all;
    for (Part& part : parts_) {
        const std::vector<MemberResult> some = part.population->results();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

PopulationSummary PopulationParts::summary(const std::vector<MemberResult>& results) {
    return parts_.size() == 1 ? parts_.front().population->summary() : summarise(job_, results);
}

std::vector<float> PopulationParts::parameters(std::size_t member) {
    auto part = parts_.begin();
    for (; member >= part->members; ++part) member -= part->members;
    return part->population->parameters(member);
}

std::vector<std::uint32_t> PopulationParts::decisionMaps(const DecisionMapOptions& options) {
    std::vector<std::uint32_t> all;
    for (Part& part : parts_) {
        const std::vector<std::uint32_t> some = part.population->decisionMaps(options);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::optional<DevicePicture> PopulationParts::decisionMapsOnDevice(const DecisionMapOptions& options) {
    if (parts_.size() > 1) return std::nullopt;
    return parts_.front().population->decisionMapsOnDevice(options);
}

double PopulationParts::trainingSeconds() const {
    double seconds = 0;
    for (const Part& part : parts_) seconds += part.population->trainingSeconds();
    return seconds;
}

MosaicLane::MosaicLane(Make make, const MosaicLook& look)
    : worker_(
          [this, making = std::move(make)](Worker<Desk>& worker) {
              population_ = making();
              worker.with([this](Desk& desk) { desk.news.machine = population_->machine(); });
              while (const std::optional<Requests> requests = worker.next(takeRequests)) fulfil(*requests);
          },
          {.requests = {}, .look = look, .news = {}}) {}

void MosaicLane::run() {
    worker_.with([](Desk& desk) { desk.requests.run = true; });
}

void MosaicLane::pause() {
    worker_.with([](Desk& desk) {
        desk.requests.look |= desk.requests.run;
        desk.requests.run = false;
    });
}

void MosaicLane::trainTo(std::uint64_t step) {
    worker_.with([step](Desk& desk) { desk.requests.trainTo = step; });
}

void MosaicLane::trainBy(std::uint64_t networkSteps) {
    worker_.with([networkSteps](Desk& desk) { desk.requests.trainBy += networkSteps; });
}

void MosaicLane::reset() {
    worker_.with([](Desk& desk) {
        desk.requests = {};
        desk.requests.reset = true;
        desk.news.shot.reset(); // of weights that are gone
    });
}

void MosaicLane::setLook(const MosaicLook& look) {
    worker_.with([&look](Desk& desk) {
        desk.look = look;
        desk.requests.look = true;
    });
}

void MosaicLane::askWeights(std::size_t member) {
    worker_.with([member](Desk& desk) { desk.requests.weightsOf = member; });
}

MosaicNews MosaicLane::takeNews() {
    return worker_.with([](Desk& desk) { return std::exchange(desk.news, {}); });
}

void MosaicLane::wait() const {
    worker_.wait([](const Desk& desk) { return desk.news.maps.has_value(); });
}

std::optional<MosaicLane::Requests> MosaicLane::takeRequests(Desk& desk) {
    Requests possible = desk.requests;
    possible.look &= desk.mayLook();
    if (!possible.any()) return std::nullopt;
    Requests taken = std::exchange(desk.requests, {});
    desk.requests.run = taken.run;
    desk.requests.look = taken.look;
    return taken;
}

void MosaicLane::fulfil(const Requests& requests) {
    PopulationParts& population = *population_;
    if (requests.reset) population.reset();
    if (requests.trainTo) population.trainTo(*requests.trainTo);
    if (requests.trainBy > 0) population.trainBy(requests.trainBy);
    const bool atEnd = requests.run && !population.advance(sliceMilliseconds);
    if (requests.weightsOf) fetchWeights(*requests.weightsOf);

    const bool changed = requests.reset || requests.trainTo || requests.trainBy > 0 || atEnd;
    const bool due = worker_.with([&](Desk& desk) {
        Requests& open = desk.requests;
        if (atEnd) open.run = false;
        open.look |= changed;
        const bool looks = (open.look || (open.run && secondsNow() >= nextLook_)) && desk.mayLook();
        if (looks) open.look = false;
        return looks;
    });
    if (due) look();
}

void MosaicLane::fetchWeights(std::size_t member) {
    const MemberResult result = population_->results()[member];
    MemberWeights weights{member, result.steps, {}};
    if (!result.diverged) weights.parameters = population_->parameters(member);
    worker_.with([&](Desk& desk) { desk.news.weights = std::move(weights); });
}

void MosaicLane::look() {
    PopulationParts& population = *population_;
    const MosaicLook how = worker_.read([](const Desk& desk) { return desk.look; });
    const double begin = secondsNow();
    MosaicShot shot;
    shot.results = population.results();
    shot.summary = population.summary(shot.results);
    shot.seconds = population.trainingSeconds();
    MosaicMaps maps{how.maps.width(), how.maps.height(shot.results.size()), {}, {}};
    if (how.onDevice) maps.device = population.decisionMapsOnDevice(how.maps);
    if (!maps.device) maps.words = population.decisionMaps(how.maps);
    const double end = secondsNow();
    nextLook_ = end + std::max(pauseFactor * (end - begin), shortestPause);
    worker_.with([&](Desk& desk) {
        if (!desk.requests.reset) desk.news.shot = std::move(shot);
        desk.news.maps = std::move(maps);
    });
}

} // namespace lockstep::demos
