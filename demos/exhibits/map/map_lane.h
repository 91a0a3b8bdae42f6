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
#include <utility>
#include <vector>

#include "demos/exhibits/map/map_window.h"
#include "demos/kit/worker.h"
#include "engine/grid/map.h"

namespace lockstep::demos {

/// Makes what trains a map's networks, on the thread that will use it.
using MakeMapTrainer = std::function<std::unique_ptr<MapTrainer>()>;

/// The pixels of a picture to train, in this order.
struct MapOrder {
    std::uint64_t number = 0; ///< of the picture
    MapOffset panned;         ///< how far the picture has been moved so far
    MapRequest picture;
    std::vector<std::uint32_t> pixels; ///< row * width + column
};

/// Networks to train where a lane does not run by itself.
struct MapDue {
    std::size_t byHand = 0;
    std::size_t byPace = 0; ///< nothing while so many are still left: the machine cannot keep up

    bool any() const { return byHand + byPace > 0; }
};

/// Networks that were trained together: those of a part of an order.
struct MapBatch {
    MapOrder order;
    std::vector<MapOutcome> outcomes;
    double seconds = 0;
};

/// What is new since it was last taken.
struct MapNews {
    std::optional<MachineInfo> machine; ///< once it has started
    std::vector<MapBatch> batches;
};

class MapLane {
  public:
    /// The destructor waits for the batch under way: milliseconds.
    explicit MapLane(MakeMapTrainer make);

    /// Returns at once.
    /// order     replaces the last one, if there is one; the batch under way is the last one of that
    /// running   whether it goes on by itself, as fast as it can
    /// due       what is left of these networks is dropped with the order, or by pausing
    void tell(std::optional<MapOrder> order, bool running, const MapDue& due);
    /// Nothing more but the batch under way.
    void pause() {
        worker_.with([](Desk& desk) {
            desk.running = false;
            desk.allowed = 0;
        });
    }

    MapNews takeNews() {
        return worker_.takeNews([](Desk& desk) { return std::exchange(desk.news, {}); });
    }
    /// What has ended its work for good; empty: nothing.
    std::string failure() const { return worker_.failure(); }
    /// Whether it trains, or has something to tell.
    bool busy() const { return worker_.busy(); }
    /// Until nothing is left of what it may train.
    void wait() const { worker_.wait(); }

  private:
    struct Desk {
        MapOrder order;
        std::size_t begun = 0; // pixels of the order that were taken
        bool running = false;
        std::size_t allowed = 0;
        MapNews news;

        bool wanted() const { return begun < order.pixels.size() && (running || allowed > 0); }
        std::vector<std::uint32_t> takePixels(std::size_t most);
    };

    static void work(Worker<Desk>& worker, const MakeMapTrainer& make);

    Worker<Desk> worker_;
};

struct MapExportJob {
    std::filesystem::path file;
    MapRequest picture;
};

class MapExport {
  public:
    ~MapExport() { cancel(); }

    /// Begins, unless one is under way. `make` is called on another thread.
    void start(MapExportJob job, MakeMapTrainer make);
    /// Ends soon, and nothing is written.
    void cancel() { cancelled_ = true; }
    bool busy() const { return written_.valid(); }
    /// Trained networks, of all: 0 to 1.
    double share() const {
        return static_cast<double>(trained_) / static_cast<double>(job_.picture.size.pixels());
    }
    /// What has been written, once the export has ended; nothing after cancel(). With `wait`, waits for the
    /// end. Throws std::runtime_error saying why it failed.
    std::optional<MapExportJob> takeFinished(bool wait);
    /// Cancels, and waits for it. Whether something was under way.
    bool release();

  private:
    MapExportJob job_;
    std::atomic<std::size_t> trained_ = 0;
    std::atomic<bool> cancelled_ = false;
    std::future<bool> written_; // last: its thread uses all of the above
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
