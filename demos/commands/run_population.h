// Training a population on several machines in turn, with progress and Ctrl-C.
#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "demos/kit/interrupt.h"
#include "demos/kit/machines.h"
#include "demos/report/population_result.h"
#include "demos/report/progress.h"
#include "engine/grid/population.h"

namespace lockstep::demos {

struct PopulationRunOptions {
    bool quiet = false;                     ///< no progress
    std::optional<DecisionMapOptions> maps; ///< to be drawn of every lane's networks at the end
};

/// Runs lanes in turn, so they don't compete for the machine. If there are several, each first trains a few
/// steps of all networks, untimed, to be checked against the others, and then starts over.
class PopulationRun {
  public:
    /// `job` and `machines` have to outlive it.
    PopulationRun(const PopulationJob& job, const std::vector<LaneSpec>& lanes, Machines& machines,
                  PopulationRunOptions options);
    /// To its end, or to the first interrupt. Returns the exit code so far: 0, or that of the interrupt. A
    /// lane that fails says so in its result, and the others go on.
    int run();
    std::vector<PopulationLaneResult> takeResults() { return std::move(results_); }

  private:
    void runLane(PopulationLaneResult& lane);
    void trainOpening(Population& population, PopulationLaneResult& lane);
    void train(Population& population, PopulationLaneResult& lane);
    void look(Population& population, PopulationLaneResult& lane);
    void conclude(Population& population, PopulationLaneResult& lane);
    bool interrupted() const { return interrupt_->exitCode() != 0; }
    LaneProgress progressOf(const PopulationLaneResult& lane) const;
    void show();

    using Clock = std::chrono::steady_clock;

    const PopulationJob& job_;
    Machines& machines_;
    PopulationRunOptions options_;
    std::vector<PopulationLaneResult> results_;
    const char* preparation_ = ""; // of the lane that prepares
    Clock::time_point nextLook_;
    ProgressLines lines_;
    std::optional<InterruptGuard> interrupt_; // while run() runs
};

} // namespace lockstep::demos
