#include "demos/exhibits/map/map_probe.h"

#include "demos/kit/ready.h"

namespace lockstep::demos {

namespace {

MapProbe::Curve work(const MapJob& job, MapPoint point) {
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
    pending_ = std::async(std::launch::async, work, job, point);
    if (wait) curve_ = pending_.get();
}

} // namespace lockstep::demos
