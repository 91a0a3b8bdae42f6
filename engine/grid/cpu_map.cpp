// A map on a processor: a network in each element of a vector; every thread takes the next vector of
// networks. Neighbours diverge alike, so that a vector whose networks have all diverged ends early.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "engine/cpu/simd_kernels.h"
#include "engine/cpu/thread_team.h"
#include "engine/grid/map.h"

namespace lockstep {

namespace {

/// Rows of `inputs` values with zeros behind them.
std::vector<float> padded(const std::vector<float>& rows, std::size_t inputs, std::size_t columns) {
    std::vector<float> result;
    for (std::size_t at = 0; at < rows.size(); at += inputs) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(at);
        result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(inputs));
        result.resize(result.size() + columns - inputs);
    }
    return result;
}

class CpuMapTrainer final : public MapTrainer {
  public:
    CpuMapTrainer(const MapJob& job, std::size_t threads)
        : MapTrainer(job.validate()), data_(mapData(job)), kernels_(vectorTables(vectorLevel()).map),
          team_(threads == 0 ? usableCores() : threads) {
        const std::size_t columns = mapColumns(job.inputs);
        data_.inputs = padded(data_.inputs, job.inputs, columns);
        data_.firstWeights = padded(data_.firstWeights, job.inputs, columns);
        problem_ = {columns,
                    job.hidden,
                    job.examples,
                    job.activation,
                    job.steps,
                    tailOf(job),
                    data_.inputs.data(),
                    data_.targets.data(),
                    data_.firstWeights.data(),
                    data_.secondWeights.data()};
        group_ = team_.size() * kernels_.elements;
        machine_.device = cpuName();
        machine_.threads = team_.size();
        machine_.kernels = std::string(name(vectorLevel())) + ", " + std::to_string(kernels_.elements) +
                           " networks side by side";
    }

    void train(std::span<const MapPoint> points, std::span<MapOutcome> outcomes) override {
        const auto begin = std::chrono::steady_clock::now();
        const std::size_t vectors = (points.size() + kernels_.elements - 1) / kernels_.elements;
        std::atomic<std::size_t> next{0};
        const auto work = [&](std::size_t) {
            for (std::size_t vector = next++; vector < vectors; vector = next++) {
                const std::size_t first = vector * kernels_.elements;
                const std::size_t count = std::min(kernels_.elements, points.size() - first);
                trainVector(points.subspan(first, count), outcomes.subspan(first, count));
            }
        };
        team_.run(work, std::clamp<std::size_t>(vectors, 1, team_.size()));
        speed_.add(static_cast<double>(points.size()), 1e3 * secondsSince(begin));
    }

  private:
    void trainVector(std::span<const MapPoint> points, std::span<MapOutcome> outcomes) const {
        shared::MapStart starts[mostElements] = {};
        shared::MapEnd ends[mostElements] = {};
        for (std::size_t element = 0; element < points.size(); ++element)
            starts[element] = startOf(job_, points[element]);
        kernels_.train(problem_, starts, points.size(), ends);
        for (std::size_t element = 0; element < points.size(); ++element)
            outcomes[element] = outcomeOf(job_, ends[element]);
    }

    MapData data_; ///< in the layout of the kernels
    MapProblem problem_;
    const MapKernels& kernels_;
    ThreadTeam team_;
};

} // namespace

std::unique_ptr<MapTrainer> makeCpuMapTrainer(const MapJob& job, std::size_t threads) {
    return std::make_unique<CpuMapTrainer>(job, threads);
}

} // namespace lockstep
