// What trains a map's networks beside the window: batches for the picture, a picture for a file, one network
// by itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/map/map_window.h"
#include "demos/kit/worker.h"
#include "engine/grid/map.h"

namespace lockstep::demos {

/// Makes what trains a map's networks, on the thread that will use it.
using MakeMapTrainer = std::function<std::unique_ptr<MapTrainer>()>;

/// The pixels of a picture to train, in this order.
struct MapOrder {
    std::uint64_t number = 0; ///< comes back with the outcomes
    MapWindow window;
    MapSize size;
    std::vector<std::uint32_t> pixels; ///< row * width + column
};

/// Networks that were trained together.
struct MapBatch {
    std::uint64_t order = 0;
    std::vector<std::uint32_t> pixels;
    std::vector<MapOutcome> outcomes;
    double seconds = 0;
};

class MapLane {
  public:
    /// The destructor waits for the batch under way: milliseconds.
    explicit MapLane(MakeMapTrainer make);

    /// Replaces what was wanted before. Returns at once; the batch under way is the last one of the old
    /// order.
    void want(MapOrder order);
    /// Whether it goes on by itself, as fast as it can.
    void run(bool on);
    /// Trains so many networks more, running or not; what is left of them is dropped with the order, or by
    /// pausing.
    void allow(std::size_t networks);
    /// The same for a pace; nothing while so many are still left, for then the machine cannot keep up.
    void allowPaced(std::size_t networks);
    /// Nothing more but the batch under way.
    void pause();

    std::vector<MapBatch> takeBatches();
    /// Known once it has been made.
    std::optional<MachineInfo> machine() const;
    /// What has ended its work for good; empty: nothing.
    std::string failure() const { return worker_.failure(); }
    /// Whether it trains, or has something to tell.
    bool busy() const;
    /// Until nothing is left of what it may train.
    void wait() const { worker_.wait(); }

  private:
    struct Desk {
        MapOrder order;
        std::size_t begun = 0; // pixels of the order that were taken
        bool running = false;
        std::size_t allowed = 0;
        std::vector<MapBatch> batches;
        std::optional<MachineInfo> machine;

        bool wanted() const { return begun < order.pixels.size() && (running || allowed > 0); }
        void allow(std::size_t networks);
        std::vector<std::uint32_t> takePixels(std::size_t most);
    };

    static void work(Worker<Desk>& worker, const MakeMapTrainer& make);

    Worker<Desk> worker_;
};

struct MapExportJob {
    std::filesystem::path file;
    MapJob job;
    MapWindow window;
    MapSize size;
};

class MapExport {
  public:
    /// Begins, unless one is under way. `make` is called on another thread.
    void start(MapExportJob job, MakeMapTrainer make);
    /// Ends soon, and nothing is written.
    void cancel() { queue_.cancel(); }
    bool busy() const { return started_; }
    /// Trained networks, of all: 0 to 1.
    double share() const;
    /// What has been written, once the export has ended; nothing after cancel(). With `wait`, waits for the
    /// end. Throws std::runtime_error saying why it failed.
    std::optional<MapExportJob> takeFinished(bool wait);
    /// Cancels, and waits for it. Whether something was under way.
    bool release();

  private:
    void work(const MakeMapTrainer& make, const std::atomic<bool>& cancelled);

    bool started_ = false; // and its end has not been taken
    MapExportJob job_;
    std::atomic<std::size_t> trained_ = 0;
    std::atomic<bool> written_ = false;
    WorkQueue queue_; // last: its thread uses all of the above
};

class MapProbe {
  public:
    struct Curve {
        MapJob job;
        MapPoint point;
        std::vector<double> steps;
        std::vector<double> losses; ///< before each step, up to the one that went beyond all bounds
    };

    /// Asks for the network at that point. `wait`: has it at once.
    void update(const MapJob& job, MapPoint point, bool wait);
    /// The last one that was worked out; empty: none.
    const std::optional<Curve>& curve() const { return curve_; }
    bool busy() const { return pending_.valid(); }

  private:
    std::optional<Curve> curve_;
    std::future<Curve> pending_;
};

} // namespace lockstep::demos
