#include "demos/exhibits/map/map_lane.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace lockstep::demos {

namespace {

constexpr double batchMilliseconds = 8; // how soon another window comes to its turn

std::vector<MapPoint> pointsOf(const MapWindow& window, MapSize size,
                               const std::vector<std::uint32_t>& pixels) {
    std::vector<MapPoint> points;
    points.reserve(pixels.size());
    for (const std::uint32_t pixel : pixels)
        points.push_back(window.point(pixel % size.width, pixel / size.width, size.width, size.height));
    return points;
}

} // namespace

MapLane::MapLane(MakeMapTrainer make) : make_(std::move(make)), thread_([this] { work(); }) {}

MapLane::~MapLane() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void MapLane::want(MapOrder order) {
    {
        const std::lock_guard lock(mutex_);
        order_ = std::move(order);
        begun_ = 0;
        allowed_ = 0;
    }
    changed_.notify_all();
}

void MapLane::run(bool on) {
    {
        const std::lock_guard lock(mutex_);
        running_ = on;
    }
    changed_.notify_all();
}

void MapLane::allow(std::size_t networks) {
    {
        const std::lock_guard lock(mutex_);
        allowed_ = std::min(allowed_ + networks, order_.pixels.size() - begun_);
    }
    changed_.notify_all();
}

void MapLane::allowPaced(std::size_t networks) {
    {
        const std::lock_guard lock(mutex_);
        if (allowed_ >= networks) return;
    }
    allow(networks);
}

void MapLane::pause() {
    const std::lock_guard lock(mutex_);
    running_ = false;
    allowed_ = 0;
}

std::vector<MapBatch> MapLane::takeBatches() {
    const std::lock_guard lock(mutex_);
    return std::exchange(batches_, {});
}

std::optional<MachineInfo> MapLane::machine() const {
    const std::lock_guard lock(mutex_);
    return machine_;
}

std::string MapLane::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

bool MapLane::busy() const {
    const std::lock_guard lock(mutex_);
    return training_ || wanted() || !batches_.empty() || !trouble_.empty();
}

void MapLane::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !training_ && !wanted(); });
}

bool MapLane::wanted() const {
    return trouble_.empty() && begun_ < order_.pixels.size() && (running_ || allowed_ > 0);
}

std::vector<std::uint32_t> MapLane::nextPixels(std::size_t most) {
    std::size_t count = std::min(std::max<std::size_t>(most, 1), order_.pixels.size() - begun_);
    if (!running_) count = std::min(count, allowed_);
    allowed_ -= std::min(allowed_, count);
    const auto first = order_.pixels.begin() + static_cast<std::ptrdiff_t>(begun_);
    begun_ += count;
    // What is allowed goes by itself when there is nothing left to spend it on.
    if (begun_ == order_.pixels.size()) allowed_ = 0;
    return {first, first + static_cast<std::ptrdiff_t>(count)};
}

void MapLane::work() {
    try {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return stop_ || wanted(); });
            if (stop_) return;
            training_ = true;
        }
        const std::unique_ptr<MapTrainer> engine = make_();
        trainOrders(*engine);
    } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        trouble_ = error.what();
        training_ = false;
    }
    changed_.notify_all();
}

void MapLane::trainOrders(MapTrainer& engine) {
    std::unique_lock lock(mutex_);
    machine_ = engine.machine();
    while (true) {
        training_ = false;
        changed_.notify_all();
        changed_.wait(lock, [this] { return stop_ || wanted(); });
        if (stop_) return;
        training_ = true;
        MapBatch batch;
        batch.order = order_.number;
        const MapWindow window = order_.window;
        const MapSize size = order_.size;
        batch.pixels = nextPixels(engine.pointsFor(batchMilliseconds));
        lock.unlock();
        const std::vector<MapPoint> points = pointsOf(window, size, batch.pixels);
        batch.outcomes.resize(points.size());
        const auto begin = std::chrono::steady_clock::now();
        engine.train(points, batch.outcomes);
        batch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        lock.lock();
        batches_.push_back(std::move(batch));
    }
}

} // namespace lockstep::demos
