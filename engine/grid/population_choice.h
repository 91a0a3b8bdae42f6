// Which layout trains a population: the one asked for, or the fastest of those that take it.
#pragma once

#include "engine/grid/population_plan.h"

namespace lockstep {

/// `best` trains a small copy of the job with each layout that takes it for a few milliseconds; what was
/// measured is remembered (kernel_cache.h), unless one had no memory. One that fails is left out. Throws
/// std::runtime_error with the reasons when the layout asked for, or none, takes the job,
/// gpu::DeviceLostError, gpu::TimeoutError.
PopulationPlan choosePopulationPlan(gpu::Device& device, const PopulationJob& job, PopulationLayout layout);

} // namespace lockstep
