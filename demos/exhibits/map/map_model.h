// The map without its drawing: where it looks, which machines paint it, and what they have painted so far.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "demos/exhibits/map/map_lane.h"
#include "demos/exhibits/map/map_settings.h"
#include "demos/exhibits/map/map_window.h"
#include "demos/kit/futures.h"
#include "demos/kit/pacer.h"

namespace lockstep::demos {

enum class MapMachine : std::size_t { gpu, cpu };
inline constexpr MapMachine mapMachines[] = {MapMachine::gpu, MapMachine::cpu};

/// One machine's picture, and how it goes.
struct MapSide {
    OutcomeGrid grid;
    std::uint64_t trained = 0;         ///< networks, since the start or the last reset
    double seconds = 0;                ///< of their training
    std::uint64_t pictureNetworks = 0; ///< those of the present picture, with all that panning has added
    /// How long their training took; empty for a picture that several machines have painted.
    std::optional<double> pictureSeconds = 0;
    std::optional<MachineInfo> machine; ///< the last one that trained
    std::string failure;                ///< why it paints no more; empty: it does

    /// The machine that paints, or has painted what is shown; null: none.
    const MachineInfo* painter() const { return machine && (lane || grid.known() > 0) ? &*machine : nullptr; }
    /// Networks per second of training; 0: none.
    double rate() const { return seconds > 0 ? static_cast<double>(trained) / seconds : 0; }

    std::unique_ptr<MapLane> lane;
    bool orderStale = true; ///< the lane has been told nothing, or too much
};

class MapModel {
  public:
    /// Networks that a step trains, on each machine.
    static constexpr std::size_t networksOfStep = 2048;
    static constexpr std::uint32_t largestRoom = 4096;

    /// What trains the job's networks on a machine; called on the window's thread, and may throw.
    using Maker = std::function<MakeMapTrainer(const MapJob& job, MapMachine machine)>;

    MapModel();
    ~MapModel() { releaseDevice(); }

    const MapSettings& settings() const { return settings_; }
    /// Other networks, another window, another picture: what still holds is kept. Throws
    /// std::invalid_argument, and then nothing has changed.
    void change(const MapSettings& settings);
    /// Like change(), for a loaded state; clears the history.
    void begin(const MapSettings& settings) {
        change(settings);
        history_ = {};
    }
    /// Pixels that a pane has room for, where the picture is to fit. A picture that has been trained, or of
    /// which more than a step has been, keeps its form and its window: training it again would lose it.
    void setRoom(MapSize room);

    MapSize size() const { return size_; }
    /// Whether it keeps another form than there is room for.
    bool keepsForm() const;
    /// What the picture shows: the settings' window, and more where the picture has another form.
    const MapWindow& window() const { return window_; }
    MapRequest picture() const { return {{settings_.job, window_}, size_}; }
    bool enabled(MapMachine machine) const { return machine == MapMachine::gpu || settings_.cpu; }
    /// The enabled machines, by MapMachine.
    std::span<const MapSide> sides() const { return std::span(sides_).first(settings_.cpu ? 2 : 1); }
    const MapSide& side(MapMachine machine) const { return sides_[static_cast<std::size_t>(machine)]; }
    OutcomeGrid& grid(MapMachine machine) { return sides_[static_cast<std::size_t>(machine)].grid; }

    /// Whether the zoom is at its limit: any closer, fp32 could not tell neighbouring pixels apart.
    bool closest() const;
    /// Looks elsewhere; the picture is seen scaled until there is a new one. Returns why that is refused;
    /// empty: it is not.
    /// remember   adds the present place to the history
    std::string look(const MapWindow& window, bool remember);
    /// Moves the picture by whole pixels and keeps what stays inside.
    std::string pan(MapOffset offset, bool remember);
    const MapHistory& history() const { return history_; }
    /// There must be a place to go to.
    void goBack() { go(history_.before, history_.after); }
    void goForward() { go(history_.after, history_.before); }

    /// Once per frame: asks for what is missing, and brings what is new. With `wait`, a frame trains a step's
    /// networks and has them when this returns. Throws what is wrong with a machine, once.
    void update(const Maker& maker, double seconds, bool wait);

    bool running() const { return running_; }
    void run();
    void pause();
    void step() { ++stepsWanted_; }
    /// Trains everything again, at the size that there is room for now.
    void reset();
    /// Steps per second; 0: as fast as it goes.
    void setRate(double stepsPerSecond);

    /// All machines have trained all of the picture.
    bool complete() const;
    /// Where all are done and there are two; else nothing.
    std::optional<MapAgreement> agreement();
    /// What the first enabled machine's picture shows, once all are done; else nothing.
    std::optional<MapSurvey> survey();
    /// It runs, and a machine that has not failed has something left to train.
    bool painting() const;
    /// Something is being trained, or about to be.
    bool busy() const;
    /// The one with the higher rate so far.
    MapMachine fastest() const;
    std::uint64_t trainedExamples() const;

    /// Releases everything on devices and waits for that; pictures stay. Returns whether it was painting.
    bool releaseDevice();

  private:
    void go(std::vector<MapPlace>& from, std::vector<MapPlace>& behind);
    void forget(MapSide& side);
    void forgetVerdicts() { agreement_.reset(), survey_.reset(); }
    bool worthKeeping() const;
    void refit();
    void show(const MapWindow& window);
    void beginPicture();
    void retire(MapSide& side) { retired_.add(std::move(side.lane)); }
    bool painting(const MapSide& side) const;
    void drive(MapSide& side, const MapDue& due, bool wait);
    void takeBatches(MapSide& side);
    void take(MapSide& side, const MapBatch& batch);
    MapDue takeDue(double seconds, bool wait);

    MapSettings settings_;
    MapSize room_{512, 512};
    MapSize size_;
    MapWindow window_;
    MapHistory history_;
    std::array<MapSide, 2> sides_; // by MapMachine
    Retirement retired_;

    std::uint64_t number_ = 0; // of the picture: another window is another picture
    MapOffset panned_;         // by which it has been moved
    bool ordersStale_ = true;

    bool running_ = false;
    Pacer pacer_;
    std::uint64_t stepsWanted_ = 0;
    // What is known of the present pictures, once it was asked for.
    std::optional<MapAgreement> agreement_;
    std::optional<MapSurvey> survey_;
};

/// Which machine trained the present picture faster, and how much: "CPU 2.7× faster than software Vulkan".
/// Empty where that is not known, or one machine trained alone.
std::string mapSpeedText(const MapModel& model);

} // namespace lockstep::demos
