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
/// Images of 784 pixels to train on, and networks of the population. A quick card has as many: fewer would
/// lie in a cache, and train faster.
inline constexpr std::size_t cardExamples = 8192;
inline constexpr std::size_t cardNetworks = 1024;
inline constexpr std::size_t quickBatch = 256; ///< the largest one of a quick card

/// Plain SGD; a single output is a value, learned with the mean squared error. `data` must outlive the job.
TrainJob jobFor(const std::vector<std::size_t>& widths, std::size_t batch, const Dataset& data);

/// Networks 2-8-8-1 with rates and scales at which none diverges. `data` must outlive the job.
PopulationJob cardPopulation(const Dataset& data, std::size_t count);

} // namespace lockstep::demos
