// How a device trains a population: which layout, cut into workgroups and dispatches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/gpu/device.h"
#include "engine/train/population.h"
#include "shaders/population.h"

namespace lockstep {

struct PopulationPlan {
    PopulationLayout layout = PopulationLayout::invocation;
    std::uint32_t order = shared::orderOfFile; ///< how steps find their examples, shared::orderOf...
    std::uint32_t groupSize = 0;               ///< invocations of a workgroup
    std::uint32_t networksPerGroup = 0;
    std::uint32_t stepsPerDispatch = 0; ///< software drivers limit a shader's loops, systems its time

    /// "a network per invocation, 250 steps per dispatch"
    std::string describe() const;
};

/// Of one layout, not `best`. Empty, with the reason and the largest that fits in `why` (not null), when the
/// layout does not take the job on this device.
std::optional<PopulationPlan> populationPlan(const gpu::Device& device, const PopulationJob& job,
                                             PopulationLayout layout, std::string* why = nullptr);

/// Likewise; throws std::runtime_error with the reason.
PopulationPlan requiredPopulationPlan(const gpu::Device& device, const PopulationJob& job,
                                      PopulationLayout layout);

} // namespace lockstep
