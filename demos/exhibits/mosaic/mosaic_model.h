// "Mosaic" without its looks: the same networks on both machines, what is known of each, and how it came
// there.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/mosaic/mosaic_settings.h"
#include "demos/exhibits/mosaic/mosaic_side.h"
#include "demos/kit/machines.h"
#include "demos/report/grid_colours.h"

namespace lockstep::demos {

class MosaicModel {
  public:
    MosaicModel() = default;
    ~MosaicModel();

    const MosaicSettings& settings() const { return settings_; }
    const PopulationSpec& spec() const { return settings_.population; }
    /// Null until the first update.
    const PopulationGrid* grid() const { return grid_.get(); }
    using Grid = std::shared_ptr<const PopulationGrid>;
    /// What those settings train. Throws std::invalid_argument naming what makes no sense.
    static Grid gridOf(const MosaicSettings& settings);
    /// Training begins anew, unless they are what it trains. `grid` is theirs.
    void change(const MosaicSettings& settings, Grid grid);
    /// Throws what gridOf() throws, and then nothing has changed.
    void change(const MosaicSettings& settings) { change(settings, gridOf(settings)); }

    /// Once per frame: starts the lanes, brings what is new. Nothing that an earlier frame has shown is
    /// needed any more. `scripted` counts frames instead of time: both sides make the same number of
    /// network-steps in each, the graphics card for all networks alike, the processor row by row. Throws what
    /// is wrong with a device or a shape.
    void update(Machines& machines, double seconds, bool scripted);
    /// In which the tiles are drawn from now on.
    void setColours(const PlaneColours& colours);

    bool running() const { return running_; }
    /// From the beginning, if all is over.
    void run();
    void pause();
    /// Brings every network to that many steps more than the last one of a side has.
    void step(std::uint64_t steps);
    std::uint64_t stepsPerEpoch() const;
    void reset();
    void reroll();
    /// Steps of every network per second; 0: as fast as it goes, and the processor takes one after the other.
    void setRate(double stepsPerSecond);

    /// The graphics card first. Empty until the first update.
    const std::vector<MosaicSide>& sides() const { return sides_; }
    /// Grows whenever the sides are others.
    std::uint64_t generation() const { return generation_; }
    std::size_t members() const { return spec().size(); }
    LossScale scale() const;
    /// All sides are over.
    bool over() const;
    bool busy() const;
    /// What has ended a side, once; empty: nothing new.
    std::string takeFailure();

    /// Has the network's weights fetched; takeOpened() has the playground's state with them later, as JSON.
    void open(std::size_t side, std::size_t member);
    std::optional<std::string> takeOpened();

    /// Gives up everything on the device, and waits for it. Returns whether something had been trained.
    bool releaseDevice();

  private:
    void start(Machines& machines, bool scripted);
    MosaicLane::Make maker(Machines& machines, const LaneSpec& spec, bool rowByRow) const;
    MosaicLook look(const MosaicSide& side) const;
    void take(MosaicSide& side);
    void drive(double seconds, bool scripted);
    void settle();
    void retire();

    MosaicSettings settings_;
    Grid grid_; ///< lanes outlive settings
    std::vector<MosaicSide> sides_;
    PlaneColours colours_;
    bool softwareDrawing_ = false;
    std::uint64_t generation_ = 0;
    bool broken_ = false; ///< lanes could not be started, and that has been said
    bool running_ = false;
    double rate_ = 0;
    double credit_ = 0;
    std::optional<std::string> opened_;
    std::vector<std::unique_ptr<MosaicLane>> ending_; ///< their pictures may still be on the screen
    std::vector<std::future<void>> retired_;
};

} // namespace lockstep::demos
