// What a card trains.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/grid/population.h"
#include "engine/step/train_job.h"

namespace lockstep::demos {

/// The networks of docs/performance.md.
struct RaceKind {
    const char* name;
    std::vector<std::size_t> widths;
    std::size_t batch;
};

const std::vector<RaceKind>& raceKinds();
inline constexpr std::size_t usualRace = 1; ///< of raceKinds(): the ladder's, too

/// Plain SGD; a single output is a value, learned with the mean squared error. `data` must outlive the job.
TrainJob jobFor(const std::vector<std::size_t>& widths, std::size_t batch, const Dataset& data);

/// Networks 2-8-8-1 with rates and scales at which none diverges. `data` must outlive the job.
PopulationJob cardPopulation(const Dataset& data, std::size_t count);

} // namespace lockstep::demos
