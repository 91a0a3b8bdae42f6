// The mosaic without its drawing: the same networks on both machines, what is known of each, and how it came
// there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "demos/exhibits/mosaic/mosaic_lane.h"
#include "demos/exhibits/mosaic/mosaic_settings.h"
#include "demos/kit/futures.h"
#include "demos/kit/machines.h"
#include "demos/kit/pacer.h"
#include "demos/report/grid_colours.h"

namespace lockstep::demos {

/// How the losses of all networks were spread, over the steps that a network had made on the average.
struct LossSpread {
    std::vector<double> steps;
    /// By PopulationSummary::shares; infinite where so many had diverged.
    std::array<std::vector<double>, PopulationSummary::shares.size()> losses;

    /// Appends a sample. Does nothing if no network has a loss yet, or none has stepped since.
    void add(double meanSteps, const PopulationSummary& summary);
};

enum class PreviewStage { none, trains, over };

struct MosaicSide {
    LaneSpec spec;
    MachineInfo machine;            ///< empty until it is ready
    std::optional<MosaicShot> shot; ///< empty until then, too
    std::optional<MosaicMaps> maps; ///< new since the last update
    LossSpread spread;
    std::string failure; ///< why it trains no more; empty: it does
    bool failureTaken = false;
    bool onDevice = false; ///< the window draws with its device
    PreviewStage preview = PreviewStage::none;
    std::unique_ptr<MosaicLane> lane;

    /// Takes the lane's news. Returns the weights that were asked for, once they are there.
    std::optional<MemberWeights> takeNews();

    /// Every network has finished, or the machine has failed.
    bool over() const { return !failure.empty() || (shot && shot->summary.finished == shot->results.size()); }
    /// Steps of all networks, per second of their training.
    double networkStepsPerSecond() const;
    /// How much of all networks' steps is done, 0 to 1. One that diverged has none left.
    double shareDone(std::uint64_t steps) const;
    /// The steps of the network that is farthest behind and has not diverged.
    std::uint64_t leastSteps() const;
};

/// Both machines at work; the graphics card first.
struct MosaicSession {
    std::vector<MosaicSide> sides;

    void stop() {
        for (MosaicSide& side : sides) side.lane->stop();
    }
};

/// "GPU", "CPU" or "Vulkan in software".
std::string sideName(const MosaicSide& side);

class MosaicModel {
  public:
    MosaicModel() = default;
    ~MosaicModel() { releaseDevice(); }

    const MosaicSettings& settings() const { return settings_; }
    const PopulationSpec& spec() const { return settings_.population; }
    /// Null until the first update.
    const PopulationGrid* grid() const { return grid_.get(); }
    using Grid = std::shared_ptr<const PopulationGrid>;
    /// What those settings train. Throws std::invalid_argument naming what makes no sense.
    static Grid gridOf(const MosaicSettings& settings);
    /// Restarts training, unless nothing has changed. `grid` is made from `settings`.
    void change(const MosaicSettings& settings, Grid grid);
    /// Throws what gridOf() throws, and then nothing has changed.
    void change(const MosaicSettings& settings) {
        if (settings != settings_) change(settings, gridOf(settings));
    }

    /// Once per frame: starts the lanes, brings what is new. Nothing that an earlier frame has shown is
    /// needed any more. `scripted` counts frames instead of time: both sides make the same number of
    /// network-steps in each, the graphics card for all networks alike, the processor row by row. Throws what
    /// is wrong with a device or a shape.
    void update(Machines& machines, double seconds, bool scripted);
    /// Draws the tiles in these colours from now on.
    void setColours(const PlaneColours& colours) {
        colours_ = colours;
        for (MosaicSide& side : ownSides()) side.lane->setLook(look(side));
    }

    bool running() const { return running_; }
    /// Starts over if every network is at its end.
    void run();
    void pause() {
        running_ = false;
        for (MosaicSide& side : ownSides()) side.lane->pause();
    }
    /// Trains for a moment, one machine after the other and first the one that is ready: the graphics card
    /// takes every network by a few hundred steps, the processor finishes its first few. What is begun after
    /// that starts over, on both sides alike.
    void preview() {
        preview_ = PreviewStage::trains;
        for (MosaicSide& side : ownSides()) side.preview = PreviewStage::none;
    }
    /// What is shown is that preview.
    bool previewed() const { return preview_ != PreviewStage::none; }
    /// It is still under way.
    bool previewing() const { return preview_ == PreviewStage::trains; }
    /// Trains every network to that many steps beyond the one farthest behind.
    void step(std::uint64_t steps);
    std::uint64_t stepsPerEpoch() const;
    void reset();
    void reroll() {
        MosaicSettings other = settings_;
        ++other.population.train.seed;
        change(other);
    }
    /// Steps of every network per second; 0: as fast as it goes, and the processor takes one after the other.
    void setRate(double stepsPerSecond);

    /// The graphics card first. Empty until the first update.
    std::span<const MosaicSide> sides() const {
        return session_ ? std::span<const MosaicSide>(session_->sides) : std::span<const MosaicSide>();
    }
    std::size_t members() const { return spec().size(); }
    LossScale scale() const;
    /// All sides have finished or failed.
    bool over() const { return !sides().empty() && std::ranges::all_of(sides(), &MosaicSide::over); }
    bool busy() const;
    /// Why a side has failed, reported once; empty: nothing new.
    std::string takeFailure();

    /// Asks for the network's weights; takeOpened() returns the playground's state with them later, as JSON.
    void open(std::size_t side, std::size_t member) {
        if (side >= sides().size()) return;
        ownSides()[side].lane->ask([member](MosaicRequests& requests) { requests.weightsOf = member; });
    }
    std::optional<std::string> takeOpened() { return std::exchange(opened_, std::nullopt); }

    /// Releases everything on the device and waits for that. Returns whether training had started.
    bool releaseDevice();

  private:
    std::span<MosaicSide> ownSides() {
        return session_ ? std::span<MosaicSide>(session_->sides) : std::span<MosaicSide>();
    }
    std::unique_ptr<MosaicSession> start(Machines& machines, bool scripted);
    MosaicLook look(const MosaicSide& side) const;
    void take(MosaicSide& side);
    void drive(double seconds, bool scripted);
    void drivePreview();
    void endPreview();
    void settle();

    MosaicSettings settings_;
    Grid grid_; ///< lanes outlive settings
    SessionSlot<MosaicSession> session_;
    PlaneColours colours_;
    bool softwareDrawing_ = false;
    bool running_ = false;
    PreviewStage preview_ = PreviewStage::none;
    Pacer pacer_;
    std::optional<std::string> opened_;
};

} // namespace lockstep::demos
