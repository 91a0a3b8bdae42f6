#include "demos/exhibits/map/map_lane.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "demos/draw/png.h"
#include "demos/kit/futures.h"
#include "demos/kit/pacer.h"
#include "demos/report/map_report.h"

namespace lockstep::demos {

namespace {

constexpr double batchMilliseconds = 8; // upper bound on how late another window gets its turn
constexpr double exportBatchMilliseconds = 30;

} // namespace

MapLane::MapLane(MakeMapTrainer make)
    : worker_([making = std::move(make)](Worker<Desk>& worker) { work(worker, making); }) {}

void MapLane::tell(std::optional<MapOrder> order, bool running, const MapDue& due) {
    worker_.with([&](Desk& desk) {
        if (order) {
            desk.order = std::move(*order);
            desk.begun = desk.allowed = 0;
        }
        desk.running = running;
        desk.allowed += due.byHand;
        if (desk.allowed < due.byPace) desk.allowed += due.byPace;
        desk.allowed = std::min(desk.allowed, desk.order.pixels.size() - desk.begun);
    });
}

void MapLane::pause() {
    worker_.with([](Desk& desk) {
        desk.running = false;
        desk.allowed = 0;
    });
}

MapNews MapLane::takeNews() {
    return worker_.with([](Desk& desk) { return std::exchange(desk.news, {}); });
}

bool MapLane::busy() const {
    return !worker_.idle() || !failure().empty() ||
           worker_.read([](const Desk& desk) { return !desk.news.batches.empty(); });
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
    worker.with([&](Desk& desk) { desk.news.machine = engine->machine(); });
    struct Task {
        MapBatch batch;
        std::vector<MapPoint> points;
    };
    const auto take = [&engine](Desk& desk) -> std::optional<Task> {
        if (!desk.wanted()) return std::nullopt;
        Task task;
        task.batch.number = desk.order.number;
        task.batch.panned = desk.order.panned;
        task.batch.pixels = desk.takePixels(engine->pointsFor(batchMilliseconds));
        for (const std::uint32_t pixel : task.batch.pixels)
            task.points.push_back(desk.order.picture.point(pixel));
        return task;
    };
    while (std::optional<Task> task = worker.next(take)) {
        MapBatch& batch = task->batch;
        batch.outcomes.resize(task->points.size());
        const double begin = secondsNow();
        engine->train(task->points, batch.outcomes);
        batch.seconds = secondsNow() - begin;
        worker.with([&](Desk& desk) { desk.news.batches.push_back(std::move(batch)); });
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
    MapResult lane;
    trainMap(job_.picture, *make(), lane, exportBatchMilliseconds, [&] {
        trained_ = lane.trained;
        return !cancelled;
    });
    if (cancelled) return;
    writePng(job_.file, mapPicture(job_.picture, lane));
    written_ = true;
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
