#include "demos/exhibits/mosaic/mosaic_model.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "engine/gpu/device.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostMoments = 2048; // no plot has more pixels
// Steps of every network in a frame of a script.
constexpr std::uint64_t scriptedSteps = 10;
// A preview ends at whichever comes first. The processor has whole networks to show after a second.
constexpr std::uint64_t previewSteps = 300;
constexpr double previewSeconds = 2;
constexpr double processorPreviewSeconds = 1;
// Pixels along the picture of all maps, as long as tiles stay between `coarsest` and `finest`.
constexpr std::size_t softwarePixels = 512;
constexpr std::size_t devicePixels = 2048;
constexpr std::size_t coarsest = 8;
constexpr std::size_t finest = 64;

bool previewedEnough(const MosaicSide& side) {
    if (side.over()) return true;
    if (!side.shot) return false;
    if (!side.spec.gpu) return side.shot->seconds >= processorPreviewSeconds;
    return side.leastSteps() >= previewSteps || side.shot->seconds >= previewSeconds;
}

void keepEveryOther(std::vector<double>& all) {
    for (std::size_t i = 0; 2 * i < all.size(); ++i) all[i] = all[2 * i];
    all.resize((all.size() + 1) / 2);
}

} // namespace

void LossSpread::add(double meanSteps, const PopulationSummary& summary) {
    if (summary.begun == 0 || (!steps.empty() && meanSteps <= steps.back())) return;
    steps.push_back(meanSteps);
    for (std::size_t i = 0; i < losses.size(); ++i)
        losses[i].push_back(static_cast<double>(summary.percentiles[i]));
    if (steps.size() < mostMoments) return;
    keepEveryOther(steps);
    std::ranges::for_each(losses, keepEveryOther);
}

std::optional<MemberWeights> MosaicSide::takeNews() {
    MosaicNews news = lane->takeNews();
    if (news.machine) machine = std::move(*news.machine);
    if (news.maps) maps = std::move(news.maps);
    failure = lane->failure();
    if (news.shot) {
        shot = std::move(news.shot);
        const auto count = static_cast<double>(shot->results.size());
        const double meanSteps = static_cast<double>(shot->summary.networkSteps) / count;
        if (!spread.steps.empty() && meanSteps < spread.steps.back()) spread = {}; // it has started over
        spread.add(meanSteps, shot->summary);
    }
    return std::move(news.weights);
}

double MosaicSide::networkStepsPerSecond() const {
    if (!shot || shot->seconds <= 0) return 0;
    return static_cast<double>(shot->summary.networkSteps) / shot->seconds;
}

double MosaicSide::shareDone(std::uint64_t steps) const {
    if (!shot || shot->results.empty()) return 0;
    double done = 0;
    for (const MemberResult& result : shot->results)
        done += result.diverged ? 1 : static_cast<double>(result.steps) / static_cast<double>(steps);
    return done / static_cast<double>(shot->results.size());
}

std::uint64_t MosaicSide::leastSteps() const {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    if (shot)
        for (const MemberResult& result : shot->results)
            if (!result.diverged) least = std::min(least, result.steps);
    return least == std::numeric_limits<std::uint64_t>::max() ? 0 : least;
}

std::string sideName(const MosaicSide& side) {
    if (!side.spec.gpu) return "CPU";
    return side.machine.software ? "Vulkan in software" : "GPU";
}

MosaicModel::Grid MosaicModel::gridOf(const MosaicSettings& settings) {
    settings.validate();
    return std::make_shared<const PopulationGrid>(makePopulationGrid(settings.population));
}

void MosaicModel::change(const MosaicSettings& settings, Grid grid) {
    if (grid_ && settings == settings_) return;
    grid_ = std::move(grid);
    settings_ = settings;
    preview_ = PreviewStage::none;
    session_.retire();
    session_.allow();
}

bool MosaicModel::releaseDevice() {
    const bool trained = std::ranges::any_of(
        sides(), [](const MosaicSide& side) { return side.shot && side.shot->summary.networkSteps > 0; });
    session_.release();
    session_.allow();
    running_ = false;
    const bool ownWork = !previewed();
    preview_ = PreviewStage::none;
    return trained && ownWork;
}

MosaicLook MosaicModel::look(const MosaicSide& side) const {
    const bool fast = side.onDevice && !softwareDrawing_;
    const std::size_t pixels = fast ? devicePixels : softwarePixels;
    MosaicLook look{.maps = {}, .onDevice = side.onDevice};
    look.maps.columns = static_cast<std::uint32_t>(spec().columns);
    look.maps.cells = static_cast<std::uint32_t>(
        std::clamp(pixels / std::max(spec().columns, spec().rows), coarsest, finest));
    look.maps.colours = colours_;
    return look;
}

std::unique_ptr<MosaicSession> MosaicModel::start(Machines& machines, bool scripted) {
    std::vector<LaneSpec> specs{{true, settings_.layout, {}}};
    if (settings_.cpu) specs.push_back({false, Rung::best, {}});
    const bool running = std::exchange(running_, false); // it stays so where one of these throws
    if (!grid_) grid_ = gridOf(settings_);
    softwareDrawing_ = machines.drawsInSoftware();
    auto session = std::make_unique<MosaicSession>();
    for (const LaneSpec& spec : specs) {
        MosaicSide& side = session->sides.emplace_back();
        side.spec = spec;
        side.onDevice = spec.gpu && machines.draws(spec);
        const auto make = [spec, device = machines.deviceOf(spec),
                           threads = machines.threads()](const PopulationJob& job) {
            return makePopulation(job, spec, threads, device);
        };
        const std::size_t rowLength = scripted && !spec.gpu ? settings_.population.columns : 0;
        side.lane = std::make_unique<MosaicLane>(grid_, rowLength, make, look(side));
    }
    running_ = running;
    return session;
}

void MosaicModel::update(Machines& machines, double seconds, bool scripted) {
    const bool alone = session_.clear(scripted); // a script's frames do not depend on speed
    // One after the other: a slider that is dragged makes lanes in every frame, and each takes device memory.
    if (alone) session_.have(false, [&] { return start(machines, scripted); });
    for (MosaicSide& side : ownSides()) {
        side.maps.reset();
        take(side);
    }
    if (running_) drive(seconds, scripted);
    if (previewed()) drivePreview();
    if (scripted) settle();
    running_ &= !over();
}

void MosaicModel::take(MosaicSide& side) {
    if (const std::optional<MemberWeights> weights = side.takeNews())
        opened_ = playgroundState(*grid_, weights->member, weights->step, weights->parameters).dump();
}

// Not both at once: on a software device they would share the processor. The processor is ready while kernels
// are still being compiled.
void MosaicModel::drivePreview() {
    if (!previewing() || sides().empty()) return;
    const std::span<MosaicSide> all = ownSides();
    const auto now = std::ranges::find(all, PreviewStage::trains, &MosaicSide::preview);
    if (now != all.end()) {
        if (!previewedEnough(*now)) return;
        now->lane->pause();
        now->preview = PreviewStage::over;
    }
    const auto next = std::ranges::find_if(all, [](const MosaicSide& side) {
        return side.preview == PreviewStage::none && (side.shot || !side.failure.empty());
    });
    if (next != all.end()) {
        next->lane->ask([](MosaicRequests& requests) { requests.run = true; });
        next->preview = PreviewStage::trains;
    } else if (std::ranges::all_of(
                   all, [](const MosaicSide& side) { return side.preview == PreviewStage::over; })) {
        preview_ = PreviewStage::over;
    }
}

// In a preview the sides have trained for a moment each: not the same work.
void MosaicModel::endPreview() {
    if (previewed()) reset();
}

void MosaicModel::drive(double seconds, bool scripted) {
    if (!pacer_.flatOut()) {
        if (std::ranges::any_of(sides(), [](const MosaicSide& side) { return side.lane->busy(); })) return;
        const std::uint64_t due = pacer_.due(seconds);
        if (due == 0) return;
        for (MosaicSide& side : ownSides()) side.lane->trainTo(side.leastSteps() + due);
        return;
    }
    for (MosaicSide& side : ownSides()) {
        if (side.over()) continue;
        side.lane->ask([&](MosaicRequests& requests) {
            if (scripted)
                requests.trainBy += scriptedSteps * members();
            else
                requests.run = true;
        });
    }
}

// What a script shows does not depend on speed.
void MosaicModel::settle() {
    for (MosaicSide& side : ownSides()) do {
            side.lane->wait();
            take(side);
        } while (side.lane->busy());
}

std::string MosaicModel::takeFailure() {
    for (MosaicSide& side : ownSides())
        if (!side.failure.empty() && !std::exchange(side.failureTaken, true)) return side.failure;
    return {};
}

void MosaicModel::run() {
    endPreview();
    if (over()) reset(); // and then once more
    session_.allow();
    running_ = true;
    pacer_.restart();
}

void MosaicModel::step(std::uint64_t steps) {
    endPreview();
    pause();
    session_.allow();
    for (MosaicSide& side : ownSides()) side.lane->trainTo(side.leastSteps() + steps);
}

std::uint64_t MosaicModel::stepsPerEpoch() const {
    if (!grid_) return 1;
    const TrainSettings& train = spec().train;
    return BatchOrder{grid_->data.front()->train.count, train.batch, train.seed, train.shuffle}
        .stepsPerEpoch();
}

void MosaicModel::reset() {
    running_ = false;
    preview_ = PreviewStage::none;
    if (std::ranges::any_of(sides(), [](const MosaicSide& side) { return !side.failure.empty(); })) {
        session_.retire(); // once more from the beginning
        return;
    }
    for (MosaicSide& side : ownSides()) {
        side.shot.reset(); // nothing is known until the initial weights have been evaluated
        side.spread = {};
        side.lane->reset();
    }
}

void MosaicModel::setRate(double stepsPerSecond) {
    pacer_.setSpeed(stepsPerSecond);
    if (!pacer_.flatOut())
        for (MosaicSide& side : ownSides()) side.lane->pause();
}

LossScale MosaicModel::scale() const {
    std::vector<const PopulationSummary*> summaries;
    for (const MosaicSide& side : sides())
        if (side.shot) summaries.push_back(&side.shot->summary);
    return lossScaleOf(summaries);
}

bool MosaicModel::busy() const {
    const auto works = [](const MosaicSide& side) { return side.lane->busy(); };
    return session_.leaving() || std::ranges::any_of(sides(), works) || (!session_ && !session_.gaveUp());
}

} // namespace lockstep::demos
