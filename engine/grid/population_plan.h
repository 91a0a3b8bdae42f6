// How a device trains a population: which layout, cut into workgroups and dispatches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/gpu/device.h"
#include "engine/grid/population.h"
#include "shaders/shared/population.h"

namespace lockstep {

/// Upper limit of the work of one invocation in a dispatch on a GPU, as rows of examples times parameters.
/// The slowest GPUs take about a tenth of a second for it; operating systems reset a GPU after two seconds.
inline constexpr std::size_t mostWorkOfInvocation = std::size_t{1} << 22;

struct PopulationPlan {
    PopulationLayout layout = PopulationLayout::invocation;
    std::uint32_t order = shared::orderOfFile; ///< how steps find their examples: shared::orderOf...
    std::uint32_t groupSize = 0;               ///< invocations of a workgroup
    std::uint32_t networksPerGroup = 0;
    std::uint32_t mostSubgroups = 1; ///< layout subgroup: subgroups that a driver may make of a workgroup
    std::uint32_t chunk = 0;         ///< layout workgroup: rows whose values fit into shared memory at a time
    bool sharesState = false;        ///< layout workgroup: the optimizer's state fits, too
    std::uint32_t sharedFloats = 0;  ///< layout workgroup: shared memory in use
    std::uint32_t stepsPerDispatch =
        0; ///< software drivers limit a shader's loops, operating systems its time

    /// "a network per invocation, 1024 at once, at most 250 steps per dispatch"
    std::string describe(std::size_t networks) const;
};

/// Numbers that an invocation can keep in registers. Kernels for networks of more parameters loop and read
/// them from their buffer: with all loops unrolled, drivers would compile for seconds.
std::size_t registerNumbers(const gpu::Device& device);

/// The largest count below `refused` that fits, if all below a count that fits do; 0: none.
template <class Fits> std::size_t largestBelow(std::size_t refused, Fits fits) {
    std::size_t fitting = 0;
    while (refused - fitting > 1) {
        const std::size_t middle = fitting + (refused - fitting) / 2;
        (fits(middle) ? fitting : refused) = middle;
    }
    return fitting;
}

/// How a population's steps find their examples, on any device: shared::orderOf...
std::uint32_t populationOrder(const PopulationJob& job);

/// The plan of one layout other than `best`. Empty if the layout does not take the job on this device; then
/// `why`, if not null, gets the reason and the largest that fits.
std::optional<PopulationPlan> populationPlan(const gpu::Device& device, const PopulationJob& job,
                                             PopulationLayout layout, std::string* why = nullptr);

/// The plan of `layout`; for `best`, of the fastest layout, measured by training a small copy of the job with
/// each for a few milliseconds. Layouts that fail are left out. The result goes into the cache
/// (kernel_cache.h), unless a layout ran out of memory. Throws std::runtime_error with the reasons if
/// `layout`, or every layout, refuses the job, and gpu::DeviceLostError, gpu::TimeoutError.
PopulationPlan choosePopulationPlan(gpu::Device& device, const PopulationJob& job, PopulationLayout layout);

} // namespace lockstep
