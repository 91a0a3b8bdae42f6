#include "demos/exhibits/map/map_model.h"

#include <algorithm>
#include <stdexcept>

#include "demos/report/headline.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

MapSize sizeFor(const MapSettings& settings, MapSize room) {
    return settings.resolution == 0 ? room : MapSize{settings.resolution, settings.resolution};
}

/// But for how long and on how many examples they train: sliders go through many numbers of those.
bool sameNetworks(MapJob a, const MapJob& b) {
    a.steps = b.steps;
    a.examples = b.examples;
    return a == b;
}

bool sameMachine(const MachineInfo& a, const MachineInfo& b) {
    return a.device == b.device && a.driver == b.driver && a.threads == b.threads;
}

} // namespace

MapModel::MapModel() {
    size_ = sizeFor(settings_, room_);
    window_ = fitted(settings_.window, size_);
    reset();
}

void MapModel::change(const MapSettings& settings) {
    settings.validate();
    const bool otherJob = settings.job != settings_.job;
    const bool otherWindow = settings.window != settings_.window;
    const bool otherPlace = otherWindow || !sameNetworks(settings.job, settings_.job);
    const bool otherSize = settings.resolution != settings_.resolution;
    const bool withoutCpu = settings_.cpu && !settings.cpu;
    if (otherPlace) history_.leave(picture());
    settings_ = settings;
    if (otherWindow || otherSize) refit();
    if (otherJob) reset();
    if (withoutCpu) forget(sides_[static_cast<std::size_t>(MapMachine::cpu)]);
    forgetVerdicts();
}

void MapModel::setRoom(MapSize room) {
    room_ = {std::clamp(room.width, 1u, largestRoom), std::clamp(room.height, 1u, largestRoom)};
    if (sizeFor(settings_, room_) != size_ && !worthKeeping()) refit();
}

bool MapModel::keepsForm() const { return sizeFor(settings_, room_) != size_; }

void MapModel::reset() {
    if (sizeFor(settings_, room_) != size_) refit();
    for (MapSide& side : sides_) forget(side);
    beginPicture();
}

bool MapModel::worthKeeping() const {
    return std::ranges::any_of(sides(), [](const MapSide& side) {
        return side.grid.complete() || side.grid.known() > networksOfStep;
    });
}

void MapModel::refit() {
    size_ = sizeFor(settings_, room_);
    show(fitted(settings_.window, size_));
}

void MapModel::show(const MapWindow& window) {
    for (MapSide& side : sides_) side.grid.look(window_, window, size_);
    window_ = window;
    beginPicture();
}

void MapModel::beginPicture() {
    ++number_;
    panned_ = {};
    for (MapSide& side : sides_) {
        side.pictureNetworks = 0;
        side.pictureSeconds = 0;
    }
    ordersStale_ = true;
    forgetVerdicts();
}

void MapModel::forget(MapSide& side) {
    retire(side);
    side = {};
    side.grid = OutcomeGrid(size_);
}

bool MapModel::closest() const {
    constexpr double notch = 0.8;
    return !zoomed(window_, 0.5, 0.5, notch).resolves(size_.width, size_.height);
}

std::string MapModel::look(const MapWindow& window, bool remember) {
    if (fitted(window, size_) == window_) return {};
    const MapSize size = sizeFor(settings_, room_);
    const MapWindow next = fitted(window, size);
    if (std::string why = refusal(window_, next, size); !why.empty()) return why;
    if (remember) history_.leave(picture());
    settings_.window = next;
    size_ = size;
    show(next);
    return {};
}

std::string MapModel::pan(MapOffset offset, bool remember) {
    if (offset == MapOffset{}) return {};
    const MapWindow next = panned(window_, offset, size_);
    if (std::string why = refusal(window_, next, size_); !why.empty()) return why;
    if (remember) history_.leave(picture());
    settings_.window = next;
    window_ = next;
    for (MapSide& side : sides_) side.grid.pan(offset);
    panned_.columns += offset.columns;
    panned_.rows += offset.rows;
    ordersStale_ = true;
    forgetVerdicts();
    return {};
}

void MapModel::go(std::vector<MapPlace>& from, std::vector<MapPlace>& behind) {
    behind.push_back(picture());
    const MapPlace next = from.back();
    from.pop_back();
    const bool otherJob = next.job != settings_.job;
    settings_.place() = next;
    refit();
    if (otherJob) reset();
}

void MapModel::run() {
    running_ = true;
    for (MapSide& side : sides_) side.failure.clear(); // a new attempt
}

void MapModel::pause() {
    if (!running_) return;
    running_ = false;
    for (MapSide& side : sides_)
        if (side.lane) side.lane->pause();
}

// Networks allowed by the old rate and not yet trained are dropped.
void MapModel::setRate(double stepsPerSecond) {
    if (stepsPerSecond == pacer_.speed()) return;
    pacer_.setSpeed(stepsPerSecond);
    for (MapSide& side : sides_)
        if (side.lane) side.lane->pause(); // until the next frame
}

bool MapModel::releaseDevice() {
    const bool painting = running_ && !complete();
    for (MapSide& side : sides_) {
        takeBatches(side);
        retire(side);
        side.failure.clear();
    }
    retired_.clear(true);
    return painting;
}

MapDue MapModel::takeDue(double seconds, bool wait) {
    std::uint64_t byHand = std::exchange(stepsWanted_, 0);
    const std::uint64_t byPace = running_ ? pacer_.due(seconds) : 0;
    if (running_ && pacer_.flatOut() && wait) ++byHand;
    return {byHand * networksOfStep, byPace * networksOfStep};
}

void MapModel::drive(MapSide& side, const MapDue& due, bool wait) {
    std::optional<MapOrder> order;
    if (side.orderStale || ordersStale_) order = {number_, panned_, picture(), side.grid.missing()};
    side.orderStale = false;
    side.lane->tell(std::move(order), running_ && pacer_.flatOut() && !wait, due);
}

void MapModel::update(const Maker& maker, double seconds, bool wait) {
    retired_.clear();
    for (MapSide& side : sides_) takeBatches(side);
    const MapDue due = takeDue(seconds, wait);
    std::string failure;
    for (const MapMachine machine : mapMachines) {
        MapSide& side = sides_[static_cast<std::size_t>(machine)];
        const bool asked = enabled(machine) && (running_ || due.any()) && !side.grid.complete();
        try { // one that has failed is tried again only by run() or reset()
            if (asked && !side.lane && side.failure.empty()) {
                side.lane = std::make_unique<MapLane>(maker(settings_.job, machine));
                side.orderStale = true;
            }
        } catch (const std::runtime_error& error) {
            side.failure = failure = error.what();
        }
        if (side.lane) drive(side, due, wait);
    }
    ordersStale_ = false;
    for (MapSide& side : sides_) {
        if (wait && side.lane) side.lane->wait();
        takeBatches(side);
        if (!side.lane || side.lane->failure().empty()) continue;
        side.failure = failure = side.lane->failure();
        retire(side);
    }
    if (!failure.empty()) throw std::runtime_error(failure);
}

void MapModel::takeBatches(MapSide& side) {
    if (!side.lane) return;
    MapNews news = side.lane->takeNews();
    if (news.machine) { // a picture started by another machine belongs to neither
        if (side.machine && side.grid.known() > 0 && !sameMachine(*side.machine, *news.machine))
            side.pictureSeconds.reset();
        side.machine = std::move(news.machine);
    }
    for (const MapBatch& batch : news.batches) take(side, batch);
}

// What was ordered before the picture moved is still worth having; before another zoom it was another
// picture.
void MapModel::take(MapSide& side, const MapBatch& batch) {
    const MapOrder& order = batch.order;
    side.trained += order.pixels.size();
    side.seconds += batch.seconds;
    if (order.number != number_) return;
    side.pictureNetworks += order.pixels.size();
    if (side.pictureSeconds) *side.pictureSeconds += batch.seconds;
    for (std::size_t i = 0; i < order.pixels.size(); ++i) {
        const std::int64_t column = order.pixels[i] % size_.width + panned_.columns - order.panned.columns;
        const std::int64_t row = order.pixels[i] / size_.width + panned_.rows - order.panned.rows;
        if (column < 0 || column >= size_.width || row < 0 || row >= size_.height) continue;
        side.grid.set(static_cast<std::uint32_t>(row * size_.width + column), batch.outcomes[i]);
    }
}

bool MapModel::complete() const {
    return std::ranges::all_of(sides(), [](const MapSide& side) { return side.grid.complete(); });
}

std::optional<MapAgreement> MapModel::agreement() {
    if (!settings_.cpu || !complete()) return std::nullopt;
    if (!agreement_)
        agreement_ = agreementOf(side(MapMachine::gpu).grid.shown(), side(MapMachine::cpu).grid.shown());
    return agreement_;
}

std::optional<MapSurvey> MapModel::survey() {
    if (!complete()) return std::nullopt;
    if (!survey_) survey_ = surveyOf(sides().front().grid);
    return survey_;
}

bool MapModel::painting(const MapSide& side) const {
    return running_ && side.failure.empty() && !side.grid.complete();
}

bool MapModel::painting() const {
    return std::ranges::any_of(sides(), [this](const MapSide& side) { return painting(side); });
}

bool MapModel::busy() const {
    const auto works = [this](const MapSide& side) { return side.lane ? side.lane->busy() : painting(side); };
    return !retired_.empty() || stepsWanted_ > 0 || std::ranges::any_of(sides(), works);
}

MapMachine MapModel::fastest() const {
    return side(MapMachine::cpu).rate() > side(MapMachine::gpu).rate() ? MapMachine::cpu : MapMachine::gpu;
}

std::uint64_t MapModel::trainedExamples() const {
    std::uint64_t networks = 0;
    for (const MapSide& side : sides_) networks += side.trained;
    return networks * settings_.job.examples * settings_.job.steps;
}

std::string mapSpeedText(const MapModel& model) {
    const auto rateOf = [&](MapMachine machine) {
        const MapSide& side = model.side(machine);
        const double seconds = side.pictureSeconds.value_or(0);
        return seconds > 0 ? static_cast<double>(side.pictureNetworks) / seconds : 0;
    };
    const double gpu = rateOf(MapMachine::gpu), cpu = rateOf(MapMachine::cpu);
    if (!model.enabled(MapMachine::cpu) || gpu <= 0 || cpu <= 0) return {};
    const double factor = std::max(gpu, cpu) / std::min(gpu, cpu);
    if (factor < equalBelow) return std::string(translated("both equally fast"));
    const std::string ratio = factor < 2 ? threeDigits(factor) : twoDigits(factor);
    const MapSide& card = model.side(MapMachine::gpu);
    const bool software = card.machine && card.machine->software;
    if (software && gpu > cpu) return translatedFormat("software Vulkan {}× faster than the CPU", ratio);
    if (software) return translatedFormat("CPU {}× faster than software Vulkan", ratio);
    return translatedFormat("{} {}× faster", gpu > cpu ? "GPU" : "CPU", ratio);
}

} // namespace lockstep::demos
