#include "demos/exhibits/mosaic/mosaic_lane.h"

#include <algorithm>
#include <span>

#include "demos/kit/pacer.h"

namespace lockstep::demos {

namespace {

// Short, so that a frame's work on the same device gets its turn and a pause takes effect at once.
constexpr double sliceMilliseconds = 6;
// Looks take a fifth of a lane's time at most, and there are at most 25 of them per second.
constexpr double looksShare = 0.2; // of the time
constexpr double shortestPause = 0.04;

} // namespace

/// A processor takes its networks a few at a time, and how far it has come after a moment depends on its
/// speed. A script counts work instead of time: then the processor's population is made of rows.
class MosaicLane::Networks {
  public:
    Networks(std::shared_ptr<const PopulationGrid> grid, std::size_t rowLength, const Make& make)
        : grid_(std::move(grid)) {
        const std::span<const PopulationMember> all = job().members;
        const std::size_t length = rowLength == 0 ? all.size() : rowLength;
        for (std::size_t first = 0; first < all.size(); first += length) {
            PopulationJob row = job();
            const auto members = all.subspan(first, std::min(length, all.size() - first));
            row.members.assign(members.begin(), members.end());
            rows_.push_back(make(row));
        }
    }

    const MachineInfo& machine() const { return rows_.front()->machine(); }

    /// As Population::advance.
    bool advance(double milliseconds) {
        const auto goesOn = [&](const auto& row) { return row->advance(milliseconds); };
        return std::ranges::any_of(rows_, goesOn); // the first that is not at its end
    }

    void trainTo(std::uint64_t step) {
        for (const auto& row : rows_) row->trainTo(step);
    }

    /// That many steps of all networks together, the first rows first.
    void trainBy(std::uint64_t networkSteps) {
        asked_ += networkSteps;
        std::uint64_t left = asked_;
        for (const auto& row : rows_) {
            const std::uint64_t members = row->job().members.size();
            const std::uint64_t share = std::min(left, members * job().steps);
            row->trainTo(share / members);
            left -= share;
        }
    }

    void reset() {
        asked_ = 0;
        for (const auto& row : rows_) row->reset();
    }

    MosaicShot shot() {
        MosaicShot shot;
        for (const auto& row : rows_) {
            const std::vector<MemberResult> results = row->results();
            shot.results.insert(shot.results.end(), results.begin(), results.end());
            shot.seconds += row->trainingSeconds();
        }
        shot.summary = summarise(job(), shot.results);
        return shot;
    }

    MosaicMaps maps(const MosaicLook& look) {
        MosaicMaps maps{look.maps.width(), look.maps.height(job().members.size()), {}, {}};
        if (look.onDevice && rows_.size() == 1) maps.device = rows_.front()->decisionMapsOnDevice(look.maps);
        if (maps.device) return maps;
        for (const auto& row : rows_) {
            const std::vector<std::uint32_t> words = row->decisionMaps(look.maps);
            maps.words.insert(maps.words.end(), words.begin(), words.end());
        }
        return maps;
    }

    MemberWeights weights(std::size_t member) {
        auto row = rows_.begin();
        std::size_t place = member;
        for (; place >= (*row)->job().members.size(); ++row) place -= (*row)->job().members.size();
        const MemberResult result = (*row)->results()[place];
        return {member, result.steps, result.diverged ? std::vector<float>() : (*row)->parameters(place)};
    }

  private:
    const PopulationJob& job() const { return grid_->job; }

    std::shared_ptr<const PopulationGrid> grid_;
    std::vector<std::unique_ptr<Population>> rows_;
    std::uint64_t asked_ = 0; // by trainBy(), network-steps
};

MosaicLane::MosaicLane(std::shared_ptr<const PopulationGrid> grid, std::size_t rowLength, Make make,
                       const MosaicLook& look)
    : worker_(
          [this, grid = std::move(grid), rowLength, make = std::move(make)](Worker<Desk>& worker) {
              networks_ = std::make_unique<Networks>(grid, rowLength, make);
              worker.with([this](Desk& desk) { desk.news.machine = networks_->machine(); });
              while (const std::optional<MosaicRequests> requests = worker.next(takeRequests))
                  fulfil(*requests);
          },
          {.requests = {}, .look = look, .news = {}}) {}

MosaicLane::~MosaicLane() = default;

std::optional<MosaicRequests> MosaicLane::takeRequests(Desk& desk) {
    MosaicRequests possible = desk.requests;
    possible.look &= desk.mayLook();
    if (!possible.any()) return std::nullopt;
    MosaicRequests taken = std::exchange(desk.requests, {});
    desk.requests.run = taken.run;
    desk.requests.look = taken.look;
    return taken;
}

void MosaicLane::fulfil(const MosaicRequests& requests) {
    if (requests.reset) networks_->reset();
    if (requests.trainTo) networks_->trainTo(*requests.trainTo);
    if (requests.trainBy > 0) networks_->trainBy(requests.trainBy);
    const bool atEnd = requests.run && !networks_->advance(sliceMilliseconds);
    if (requests.weightsOf) {
        MemberWeights weights = networks_->weights(*requests.weightsOf);
        worker_.with([&](Desk& desk) { desk.news.weights = std::move(weights); });
    }

    const bool changed = requests.reset || requests.trainTo || requests.trainBy > 0 || atEnd;
    const bool due = worker_.with([&](Desk& desk) {
        MosaicRequests& open = desk.requests;
        if (atEnd) open.run = false;
        open.look |= changed;
        const bool looks = (open.look || (open.run && secondsNow() >= nextLook_)) && desk.mayLook();
        if (looks) open.look = false;
        return looks;
    });
    if (due) look();
}

void MosaicLane::look() {
    const MosaicLook how = worker_.read([](const Desk& desk) { return desk.look; });
    const double begin = secondsNow();
    MosaicShot shot = networks_->shot();
    MosaicMaps maps = networks_->maps(how);
    const double end = secondsNow();
    nextLook_ = end + std::max(pauseAfter(end - begin, looksShare), shortestPause);
    worker_.with([&](Desk& desk) {
        if (!desk.requests.reset) desk.news.shot = std::move(shot);
        desk.news.maps = std::move(maps);
    });
}

} // namespace lockstep::demos
