#include "demos/exhibits/map/map_export.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "demos/draw/png.h"
#include "demos/kit/ready.h"
#include "demos/report/grid_colours.h"

namespace lockstep::demos {

namespace {

constexpr double exportMilliseconds = 30;

} // namespace

MapExport::~MapExport() { release(); }

void MapExport::start(MapExportJob job, MakeMapTrainer make) {
    if (busy()) return;
    job_ = std::move(job);
    progress_.cancelled = false;
    progress_.trained = 0;
    working_ = std::async(std::launch::async,
                          [this, make = std::move(make)] { return work(job_, make, progress_); });
}

bool MapExport::work(const MapExportJob& job, const MakeMapTrainer& make, Progress& progress) {
    const MapSize size = job.size;
    Pixels pixels{size.width, size.height, std::vector<std::uint8_t>(size.pixels() * 4)};
    const std::unique_ptr<MapTrainer> engine = make();
    std::vector<MapPoint> points;
    std::vector<MapOutcome> outcomes;
    for (std::size_t done = 0; done < size.pixels(); done += points.size()) {
        if (progress.cancelled) return false;
        const std::size_t count = std::max<std::size_t>(engine->pointsFor(exportMilliseconds), 1);
        points.clear();
        for (std::size_t pixel = done; pixel < std::min(done + count, size.pixels()); ++pixel)
            points.push_back(job.window.point(static_cast<std::uint32_t>(pixel % size.width),
                                              static_cast<std::uint32_t>(pixel / size.width), size.width,
                                              size.height));
        outcomes.resize(points.size());
        engine->train(points, outcomes);
        paintMap(job.job, outcomes, std::span(pixels.rgba).subspan(done * 4));
        progress.trained += points.size();
    }
    if (progress.cancelled) return false;
    writePng(job.file, pixels);
    return true;
}

void MapExport::cancel() { progress_.cancelled = true; }

double MapExport::share() const {
    return static_cast<double>(progress_.trained) /
           static_cast<double>(std::max<std::size_t>(job_.size.pixels(), 1));
}

std::optional<MapExportJob> MapExport::takeFinished(bool wait) {
    if (!busy() || (!wait && !ready(working_))) return std::nullopt;
    if (!working_.get()) return std::nullopt;
    return job_;
}

bool MapExport::release() {
    if (!busy()) return false;
    cancel();
    working_.wait();
    working_ = {};
    return true;
}

} // namespace lockstep::demos
