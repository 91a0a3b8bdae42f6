// A machine that trains a map's networks on a thread of its own: batch after batch of what is wanted, until
// something else is.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "demos/exhibits/map/map_window.h"

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
    explicit MapLane(MakeMapTrainer make);
    /// Waits for the batch under way: milliseconds.
    ~MapLane();
    MapLane(const MapLane&) = delete;
    MapLane& operator=(const MapLane&) = delete;

    /// Instead of what was wanted before. Returns at once; the batch under way is the last one of the old
    /// order.
    void want(MapOrder order);
    /// Whether it goes on by itself, as fast as it can.
    void run(bool on);
    /// Trains so many networks more, running or not; what is left of it ends with the order, or by pausing.
    void allow(std::size_t networks);
    /// The same for a pace: not while so many are left to do, for then it cannot keep up.
    void allowPaced(std::size_t networks);
    /// Nothing more but the batch under way.
    void pause();

    std::vector<MapBatch> takeBatches();
    /// Known once it has been made.
    std::optional<MachineInfo> machine() const;
    /// What has ended its work for good; empty: nothing.
    std::string trouble() const;
    /// Whether it trains, or has something to tell.
    bool busy() const;
    /// Until nothing is left of what it may train.
    void wait() const;

  private:
    void work();
    void trainOrders(MapTrainer& engine);
    bool wanted() const;
    std::vector<std::uint32_t> nextPixels(std::size_t most);

    const MakeMapTrainer make_;

    mutable std::mutex mutex_; // guards all below
    mutable std::condition_variable changed_;
    MapOrder order_;
    std::size_t begun_ = 0; // pixels of the order that were taken
    bool running_ = false;
    std::size_t allowed_ = 0;
    bool training_ = false;
    bool stop_ = false;
    std::vector<MapBatch> batches_;
    std::optional<MachineInfo> machine_;
    std::string trouble_;
    std::thread thread_; // last: it uses all of the above
};

} // namespace lockstep::demos
