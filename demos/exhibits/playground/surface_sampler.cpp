#include "demos/exhibits/playground/surface_sampler.h"

#include <algorithm>
#include <cmath>

#include "demos/kit/ready.h"

namespace lockstep::demos {

namespace {

constexpr double cheapProducts = 1.5e7; // multiplications that nobody has to wait for
constexpr std::size_t finestGrid = 40;
constexpr std::size_t coarsestGrid = 10;

struct Job {
    NetShape shape;
    std::vector<float> parameters;
    std::vector<float> inputs;
    SurfaceSampler::Samples samples;
};

SurfaceSampler::Samples work(Job job) {
    const std::size_t rows = job.inputs.size() / job.shape.inputs();
    std::vector<LayerValues> all = forward(job.shape, job.parameters, job.inputs, rows);
    LayerValues& values = all[job.samples.layer];
    if (!job.samples.ofPoints)
        for (std::size_t row = 0; row < rows; ++row)
            toAnswer(job.shape.loss, std::span(values.data).subspan(row * values.stride, values.width));
    job.samples.values = std::move(values);
    return std::move(job.samples);
}

void addInputs(Job& job, const PlaygroundModel& model, float x, float y) {
    const std::vector<float> features = planeFeatures(x, y, model.settings().features);
    job.inputs.insert(job.inputs.end(), features.begin(), features.end());
}

Job jobFor(const PlaygroundModel& model, bool ofPoints, std::size_t layer) {
    Job job{model.shape(), model.parameters(), {}, {}};
    SurfaceSampler::Samples& samples = job.samples;
    samples.revision = model.revision();
    samples.ofPoints = ofPoints;
    samples.layer = layer;
    if (ofPoints) {
        for (const PlanePoint& point : model.points()) {
            if (samples.points.size() == SurfaceSampler::mostPoints) break;
            samples.points.push_back(point.at);
            addInputs(job, model, point.at.x, point.at.y);
        }
        return job;
    }
    const double side = std::sqrt(cheapProducts / static_cast<double>(job.shape.parameters()));
    samples.grid = std::clamp(static_cast<std::size_t>(side), coarsestGrid, finestGrid);
    const auto plane = [&](std::size_t i) {
        return planeReach * (2 * static_cast<float>(i) / static_cast<float>(samples.grid - 1) - 1);
    };
    for (std::size_t y = 0; y < samples.grid; ++y)
        for (std::size_t x = 0; x < samples.grid; ++x) addInputs(job, model, plane(x), plane(y));
    return job;
}

} // namespace

void SurfaceSampler::update(const PlaygroundModel& model, bool ofPoints, std::size_t layer, bool wait) {
    if (pending_.valid() && (wait || ready(pending_))) samples_ = pending_.get();
    const bool fresh = samples_ && samples_->revision == model.revision() && samples_->ofPoints == ofPoints &&
                       samples_->layer == layer;
    if (fresh || pending_.valid()) return;
    if (ofPoints && model.points().empty()) {
        samples_.reset();
        return;
    }
    pending_ = std::async(std::launch::async, work, jobFor(model, ofPoints, layer));
    if (wait) samples_ = pending_.get();
}

} // namespace lockstep::demos
