#include "demos/exhibits/map/map_lane.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <stdexcept>
#include <utility>

#include "demos/draw/png.h"
#include "demos/kit/futures.h"
#include "demos/report/grid_colours.h"

namespace lockstep::demos {

namespace {

constexpr double batchMilliseconds = 8; // upper bound on how late another window gets its turn
constexpr double exportBatchMilliseconds = 30;

std::vector<MapPoint> pointsOf(const MapWindow& window, MapSize size,
                               const std::vector<std::uint32_t>& pixels) {
    std::vector<MapPoint> points;
    points.reserve(pixels.size());
    for (const std::uint32_t pixel : pixels)
        points.push_back(window.point(pixel % size.width, pixel / size.width, size.width, size.height));
    return points;
}

} // namespace

MapLane::MapLane(MakeMapTrainer make)
    : worker_([making = std::move(make)](Worker<Desk>& worker) { work(worker, making); }) {}

void MapLane::want(MapOrder order) {
    worker_.with([&](Desk& desk) {
        desk.order = std::move(order);
        desk.begun = 0;
        desk.allowed = 0;
    });
}

void MapLane::run(bool on) {
    worker_.with([on](Desk& desk) { desk.running = on; });
}

void MapLane::allow(std::size_t networks) {
    worker_.with([networks](Desk& desk) { desk.allow(networks); });
}

void MapLane::allowPaced(std::size_t networks) {
    worker_.with([networks](Desk& desk) {
        if (desk.allowed < networks) desk.allow(networks);
    });
}

void MapLane::pause() {
    worker_.with([](Desk& desk) {
        desk.running = false;
        desk.allowed = 0;
    });
}

std::vector<MapBatch> MapLane::takeBatches() {
    return worker_.with([](Desk& desk) { return std::exchange(desk.batches, {}); });
}

std::optional<MachineInfo> MapLane::machine() const {
    return worker_.read([](const Desk& desk) { return desk.machine; });
}

bool MapLane::busy() const {
    return !worker_.idle() || !failure().empty() ||
           worker_.read([](const Desk& desk) { return !desk.batches.empty(); });
}

void MapLane::Desk::allow(std::size_t networks) {
    allowed = std::min(allowed + networks, order.pixels.size() - begun);
}

std::vector<std::uint32_t> MapLane::Desk::takePixels(std::size_t most) {
    std::size_t count = std::min(std::max<std::size_t>(most, 1), order.pixels.size() - begun);
    if (!running) count = std::min(count, allowed);
    allowed -= std::min(allowed, count);
    const auto first = order.pixels.begin() + static_cast<std::ptrdiff_t>(begun);
    begun += count;
    if (begun == order.pixels.size()) allowed = 0; // there is nothing left to spend it on
    return {first, first + static_cast<std::ptrdiff_t>(count)};
}

// The engine is made with the first order: a map that is only looked at holds no device memory.
void MapLane::work(Worker<Desk>& worker, const MakeMapTrainer& make) {
    const auto wanted = [](const Desk& desk) { return desk.wanted() ? std::optional(true) : std::nullopt; };
    if (!worker.next(wanted)) return;
    const std::unique_ptr<MapTrainer> engine = make();
    worker.with([&](Desk& desk) { desk.machine = engine->machine(); });
    struct Task {
        MapBatch batch;
        std::vector<MapPoint> points;
    };
    const auto take = [&engine](Desk& desk) -> std::optional<Task> {
        if (!desk.wanted()) return std::nullopt;
        Task task;
        task.batch.order = desk.order.number;
        task.batch.pixels = desk.takePixels(engine->pointsFor(batchMilliseconds));
        task.points = pointsOf(desk.order.window, desk.order.size, task.batch.pixels);
        return task;
    };
    while (std::optional<Task> task = worker.next(take)) {
        MapBatch& batch = task->batch;
        batch.outcomes.resize(task->points.size());
        const auto begin = std::chrono::steady_clock::now();
        engine->train(task->points, batch.outcomes);
        batch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        worker.with([&](Desk& desk) { desk.batches.push_back(std::move(batch)); });
    }
}

void MapExport::start(MapExportJob job, MakeMapTrainer make) {
    if (started_) return;
    started_ = true;
    job_ = std::move(job);
    trained_ = 0;
    written_ = false;
    queue_.post("the picture", [this, making = std::move(make)](const std::atomic<bool>& cancelled) {
        work(making, cancelled);
    });
}

void MapExport::work(const MakeMapTrainer& make, const std::atomic<bool>& cancelled) {
    const MapSize size = job_.size;
    Pixels pixels{size.width, size.height, std::vector<std::uint8_t>(size.pixels() * 4)};
    const std::unique_ptr<MapTrainer> engine = make();
    std::vector<MapPoint> points;
    std::vector<MapOutcome> outcomes;
    for (std::size_t done = 0; done < size.pixels() && !cancelled; done += points.size()) {
        const std::size_t count = std::max<std::size_t>(engine->pointsFor(exportBatchMilliseconds), 1);
        points.clear();
        for (std::size_t pixel = done; pixel < std::min(done + count, size.pixels()); ++pixel)
            points.push_back(job_.window.point(static_cast<std::uint32_t>(pixel % size.width),
                                               static_cast<std::uint32_t>(pixel / size.width), size.width,
                                               size.height));
        outcomes.resize(points.size());
        engine->train(points, outcomes);
        paintMap(job_.job, outcomes, std::span(pixels.rgba).subspan(done * 4));
        trained_ += points.size();
    }
    if (cancelled) return;
    writePng(job_.file, pixels);
    written_ = true;
}

double MapExport::share() const {
    return static_cast<double>(trained_) / static_cast<double>(std::max<std::size_t>(job_.size.pixels(), 1));
}

std::optional<MapExportJob> MapExport::takeFinished(bool wait) {
    if (wait) queue_.wait();
    if (!started_ || !queue_.idle()) return std::nullopt;
    started_ = false;
    if (const std::string failure = queue_.takeFailure(); !failure.empty()) throw std::runtime_error(failure);
    return written_ ? std::optional(job_) : std::nullopt;
}

bool MapExport::release() {
    queue_.cancel();
    queue_.wait();
    queue_.takeFailure();
    return std::exchange(started_, false);
}

namespace {

MapProbe::Curve curveOf(const MapJob& job, MapPoint point) {
    MapProbe::Curve curve{job, point, {}, {}};
    for (const float loss : plainMapLosses(job, point)) {
        curve.steps.push_back(static_cast<double>(curve.steps.size()));
        curve.losses.push_back(static_cast<double>(loss));
    }
    return curve;
}

bool isOf(const std::optional<MapProbe::Curve>& curve, const MapJob& job, MapPoint point) {
    return curve && curve->job == job && curve->point.x == point.x && curve->point.y == point.y;
}

} // namespace

void MapProbe::update(const MapJob& job, MapPoint point, bool wait) {
    if (pending_.valid() && (wait || ready(pending_))) curve_ = pending_.get();
    if (pending_.valid() || isOf(curve_, job, point)) return;
    pending_ = std::async(std::launch::async, curveOf, job, point);
    if (wait) curve_ = pending_.get();
}

} // namespace lockstep::demos
