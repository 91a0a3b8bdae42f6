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

MapProbe::Curve curveOf(const MapJob& job, MapPoint point) {
    MapProbe::Curve curve{job, point, {}, {}};
    for (const float loss : plainMapLosses(job, point)) {
        curve.steps.push_back(static_cast<double>(curve.steps.size()));
        curve.losses.push_back(static_cast<double>(loss));
    }
    return curve;
}

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
    const auto take = [&engine](Desk& desk) -> std::optional<MapBatch> {
        if (!desk.wanted()) return std::nullopt;
        const MapOrder& order = desk.order;
        return MapBatch{{order.number, order.panned, order.picture,
                         desk.takePixels(engine->pointsFor(batchMilliseconds))},
                        {},
                        0};
    };
    while (std::optional<MapBatch> batch = worker.next(take)) {
        std::vector<MapPoint> points;
        points.reserve(batch->order.pixels.size());
        for (const std::uint32_t pixel : batch->order.pixels)
            points.push_back(batch->order.picture.point(pixel));
        batch->outcomes.resize(points.size());
        const double begin = secondsNow();
        engine->train(points, batch->outcomes);
        batch->seconds = secondsNow() - begin;
        worker.with([&](Desk& desk) { desk.news.batches.push_back(std::move(*batch)); });
    }
}

void MapExport::start(MapExportJob job, MakeMapTrainer make) {
    if (busy()) return;
    job_ = std::move(job);
    trained_ = 0;
    cancelled_ = false;
    written_ = std::async(std::launch::async, [this, making = std::move(make)] {
        MapResult lane;
        trainMap(job_.picture, *making(), lane, exportBatchMilliseconds, [&] {
            trained_ = lane.trained;
            return !cancelled_;
        });
        if (cancelled_) return false;
        writePng(job_.file, mapPicture(job_.picture, lane));
        return true;
    });
}

std::optional<MapExportJob> MapExport::takeFinished(bool wait) {
    if (!busy() || !(wait || ready(written_))) return std::nullopt;
    try {
        return written_.get() ? std::optional(job_) : std::nullopt;
    } catch (const std::exception& error) {
        throw std::runtime_error(error.what());
    }
}

bool MapExport::release() {
    if (!busy()) return false;
    cancel();
    written_.wait();
    written_ = {};
    return true;
}

void MapProbe::update(const MapJob& job, MapPoint point, bool wait) {
    if (pending_.valid() && (wait || ready(pending_))) curve_ = pending_.get();
    const bool known =
        curve_ && curve_->job == job && curve_->point.x == point.x && curve_->point.y == point.y;
    if (known || pending_.valid()) return;
    pending_ = std::async(std::launch::async, curveOf, job, point);
    if (wait) curve_ = pending_.get();
}

} // namespace lockstep::demos
