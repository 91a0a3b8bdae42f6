// How a device trains a population: which layout, cut into workgroups and dispatches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/gpu/device.h"
#include "engine/grid/population.h"
#include "shaders/shared/population.h"

namespace lockstep {

/// Rows of examples times parameters that one invocation of a GPU works through in a dispatch at most. It
/// does that on its own, however many others there are: the slowest GPUs take about a tenth of a second for
/// it, systems reset one after two.
inline constexpr std::size_t mostWorkOfInvocation = std::size_t{1} << 22;

struct PopulationPlan {
    PopulationLayout layout = PopulationLayout::invocation;
    std::uint32_t order = shared::orderOfFile; ///< how steps find their examples, shared::orderOf...
    std::uint32_t groupSize = 0;               ///< invocations of a workgroup
    std::uint32_t networksPerGroup = 0;
    std::uint32_t mostSubgroups = 1;    ///< subgroup: into which a driver may divide a workgroup
    std::uint32_t chunk = 0;            ///< workgroup: rows whose values fit into shared memory at a time
    bool sharesState = false;           ///< workgroup: so does the optimizer's state
    std::uint32_t sharedFloats = 0;     ///< workgroup: of shared memory
    std::uint32_t stepsPerDispatch = 0; ///< software drivers limit a shader's loops, systems its time

    /// "a network per invocation, 1024 at once, at most 250 steps per dispatch"
    std::string describe(std::size_t networks) const;
};

/// How a population's steps find their examples, on any device: shared::orderOf...
std::uint32_t populationOrder(const PopulationJob& job);

/// Of one layout, not `best`. Empty, with the reason and the largest that fits in `why` (not null), when the
/// layout does not take the job on this device.
std::optional<PopulationPlan> populationPlan(const gpu::Device& device, const PopulationJob& job,
                                             PopulationLayout layout, std::string* why = nullptr);

/// Likewise; throws std::runtime_error with the reason.
PopulationPlan requiredPopulationPlan(const gpu::Device& device, const PopulationJob& job,
                                      PopulationLayout layout);

/// Whether kernels are made for a network's parameters in registers, all loops unrolled; else drivers would
/// compile for seconds, and loops read them from their buffer.
bool fitsRegisters(const gpu::Device& device, const NetShape& shape);

} // namespace lockstep
