#include "demos/exhibits/mosaic/mosaic_model.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "demos/kit/ready.h"
#include "engine/gpu/device.h"

namespace lockstep::demos {

namespace {

// Steps of every network in a frame of a script.
constexpr std::uint64_t scriptedSteps = 10;
// Pixels along the picture of all maps, if tiles are then neither too coarse nor finer than anybody sees.
constexpr std::size_t softwarePixels = 512;
constexpr std::size_t devicePixels = 2048;
constexpr std::size_t coarsest = 8;
constexpr std::size_t finest = 64;

} // namespace

MosaicModel::~MosaicModel() { releaseDevice(); }

MosaicModel::Grid MosaicModel::gridOf(const MosaicSettings& settings) {
    settings.validate();
    return std::make_shared<const PopulationGrid>(makePopulationGrid(settings.population));
}

void MosaicModel::change(const MosaicSettings& settings, Grid grid) {
    if (grid_ && settings == settings_) return;
    grid_ = std::move(grid);
    settings_ = settings;
    retire();
    broken_ = false;
}

// Their pictures may be part of the frame under way: they go with the next update.
void MosaicModel::retire() {
    for (MosaicSide& side : sides_) {
        side.lane->stop();
        ending_.push_back(std::move(side.lane));
    }
    sides_.clear();
    ++generation_;
}

bool MosaicModel::releaseDevice() {
    const bool trained = std::ranges::any_of(
        sides_, [](const MosaicSide& side) { return side.shot && side.shot->summary.networkSteps > 0; });
    retire();
    ending_.clear();
    retired_.clear(); // a future of std::async waits when it goes
    running_ = false;
    broken_ = false;
    return trained;
}

MosaicLane::Make MosaicModel::maker(Machines& machines, const LaneSpec& spec, bool rowByRow) const {
    gpu::Device* const device = machines.deviceOf(spec);
    const auto one = [spec, device, threads = machines.threads()](const PopulationJob& job) {
        return makePopulation(job, spec, threads, device);
    };
    const std::size_t rowLength = rowByRow ? settings_.population.columns : 0;
    return [grid = grid_, one, rowLength] { return PopulationParts(grid->job, rowLength, one); };
}

MosaicLook MosaicModel::look(const MosaicSide& side) const {
    const bool fast = side.onDevice && !softwareDrawing_;
    const std::size_t pixels = fast ? devicePixels : softwarePixels;
    MosaicLook look;
    look.maps.columns = static_cast<std::uint32_t>(spec().columns);
    look.maps.cells = static_cast<std::uint32_t>(
        std::clamp(pixels / std::max(spec().columns, spec().rows), coarsest, finest));
    look.maps.from = -MosaicSettings::planeReach;
    look.maps.to = MosaicSettings::planeReach;
    look.maps.colours = colours_;
    look.onDevice = side.onDevice;
    return look;
}

void MosaicModel::start(Machines& machines, bool scripted) {
    std::vector<LaneSpec> specs{{true, std::string(name(settings_.layout)), {}}};
    if (settings_.cpu) specs.push_back({false, "best", {}});
    broken_ = true; // unless all goes well
    const bool running = std::exchange(running_, false);
    if (!grid_) grid_ = gridOf(settings_);
    softwareDrawing_ = machines.drawsInSoftware();
    std::vector<MosaicSide> sides;
    for (const LaneSpec& spec : specs) {
        MosaicSide& side = sides.emplace_back();
        side.spec = spec;
        side.onDevice = spec.gpu && machines.draws(spec);
        side.lane = std::make_unique<MosaicLane>(maker(machines, spec, scripted && !spec.gpu), look(side));
    }
    sides_ = std::move(sides);
    broken_ = false;
    running_ = running;
}

void MosaicModel::setColours(const PlaneColours& colours) {
    colours_ = colours;
    for (MosaicSide& side : sides_) side.lane->setLook(look(side));
}

void MosaicModel::update(Machines& machines, double seconds, bool scripted) {
    std::erase_if(retired_, ready<void>);
    for (std::unique_ptr<MosaicLane>& old :
         ending_) // may take a moment, and the window's thread waits for nobody
        retired_.push_back(
            std::async(std::launch::async, [lane = std::move(old)]() mutable { lane.reset(); }));
    ending_.clear();
    if (scripted) retired_.clear(); // waits, so that a script's frames do not depend on speed
    // One after the other: a slider that is drawn makes lanes in every frame, and each takes a device's
    // memory.
    if (sides_.empty() && !broken_ && retired_.empty()) start(machines, scripted);
    for (MosaicSide& side : sides_) {
        side.maps.reset();
        take(side);
    }
    if (running_) drive(seconds, scripted);
    if (scripted) settle();
    running_ &= !over();
}

void MosaicModel::take(MosaicSide& side) {
    if (const std::optional<MemberWeights> weights = side.takeNews())
        opened_ = playgroundState(*grid_, weights->member, weights->step, weights->parameters).dump();
}

void MosaicModel::drive(double seconds, bool scripted) {
    if (rate_ > 0) {
        if (std::ranges::any_of(sides_, [](const MosaicSide& side) { return side.lane->busy(); })) return;
        credit_ = std::min(credit_ + rate_ * seconds, std::max(1.0, rate_ * 0.1)); // nothing is caught up
        const auto due = static_cast<std::uint64_t>(credit_);
        credit_ -= static_cast<double>(due);
        if (due == 0) return;
        for (MosaicSide& side : sides_) side.lane->trainTo(side.leastSteps() + due);
        return;
    }
    for (MosaicSide& side : sides_) {
        if (side.over()) continue;
        if (scripted)
            side.lane->trainBy(scriptedSteps * members());
        else
            side.lane->run();
    }
}

// What a script shows does not depend on speed.
void MosaicModel::settle() {
    for (MosaicSide& side : sides_) do {
            side.lane->wait();
            take(side);
        } while (side.lane->busy());
}

std::string MosaicModel::takeFailure() {
    for (MosaicSide& side : sides_)
        if (!side.failure.empty() && !std::exchange(side.failureTaken, true)) return side.failure;
    return {};
}

void MosaicModel::run() {
    if (over()) reset(); // and then once more
    broken_ = false;     // somebody tries again
    running_ = true;
    credit_ = 0;
}

void MosaicModel::pause() {
    running_ = false;
    for (MosaicSide& side : sides_) side.lane->pause();
}

void MosaicModel::step(std::uint64_t steps) {
    pause();
    broken_ = false;
    for (MosaicSide& side : sides_) side.lane->trainTo(side.leastSteps() + steps);
}

std::uint64_t MosaicModel::stepsPerEpoch() const {
    if (!grid_) return 1;
    const TrainSettings& train = spec().train;
    return BatchOrder{grid_->data.front()->train.count, train.batch, train.seed, train.shuffle}
        .stepsPerEpoch();
}

void MosaicModel::reset() {
    running_ = false;
    if (std::ranges::any_of(sides_, [](const MosaicSide& side) { return !side.failure.empty(); })) {
        retire(); // once more from the beginning
        return;
    }
    for (MosaicSide& side : sides_) side.reset();
}

void MosaicModel::reroll() {
    MosaicSettings other = settings_;
    ++other.population.train.seed;
    change(other);
}

void MosaicModel::setRate(double stepsPerSecond) {
    rate_ = stepsPerSecond;
    credit_ = 0;
    if (rate_ > 0)
        for (MosaicSide& side : sides_) side.lane->pause();
}

LossScale MosaicModel::scale() const {
    std::vector<const PopulationSummary*> summaries;
    for (const MosaicSide& side : sides_)
        if (side.shot) summaries.push_back(&side.shot->summary);
    return lossScaleOf(summaries);
}

bool MosaicModel::over() const { return !sides_.empty() && std::ranges::all_of(sides_, &MosaicSide::over); }

bool MosaicModel::busy() const {
    const auto works = [](const MosaicSide& side) { return side.lane->busy(); };
    return !ending_.empty() || !retired_.empty() || std::ranges::any_of(sides_, works) ||
           (sides_.empty() && !broken_);
}

void MosaicModel::open(std::size_t side, std::size_t member) { sides_.at(side).lane->askWeights(member); }

std::optional<std::string> MosaicModel::takeOpened() { return std::exchange(opened_, std::nullopt); }

} // namespace lockstep::demos
