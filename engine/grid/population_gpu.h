// A population on a GPU: the plan that cuts it into workgroups and dispatches; its networks, their settings
// and states, the data they learn and the kernels that work on them; how they are trained, and
// how their examples are divided for scoring.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/grid/grid_pace.h"
#include "engine/grid/population.h"
#include "engine/step/kernels.h"
#include "shaders/shared/population.h"

namespace lockstep {

/// Upper limit of the work of one invocation in a dispatch on a GPU, as rows of examples times parameters.
/// The slowest GPUs take about a tenth of a second for it; operating systems reset a GPU after two seconds.
inline constexpr std::size_t mostWorkOfInvocation = std::size_t{1} << 22;

struct PopulationPlan {
    std::string refusal; ///< why the layout does not take the job, and the largest that fits; empty: it does
    PopulationLayout layout = PopulationLayout::invocation;
    std::uint32_t order = shared::orderOfFile; ///< how steps find their examples: shared::orderOf...
    std::uint32_t groupSize = 0;               ///< invocations of a workgroup
    std::uint32_t networksPerGroup = 0;
    std::uint32_t mostSubgroups = 1; ///< layout subgroup: subgroups that a driver may make of a workgroup
    std::uint32_t chunk = 0;         ///< layout workgroup: rows whose values fit into shared memory at a time
    bool sharesState = false;        ///< layout workgroup: the optimizer's state fits, too
    std::uint32_t sharedFloats = 0;  ///< layout workgroup: shared memory in use
    std::uint32_t stepsPerDispatch = 0; ///< at most: drivers limit a shader's loops, systems its time
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

/// The plan of one layout other than `best`, or its refusal.
PopulationPlan populationPlan(const gpu::Device& device, const PopulationJob& job, PopulationLayout layout);

/// The plan of `layout`; for `best`, of the fastest layout, measured by training a small copy of the job with
/// each for a few milliseconds. Layouts that fail are left out. The result goes into the cache
/// (kernel_cache.h), unless a layout ran out of memory. Throws std::runtime_error with the reasons if
/// `layout`, or every layout, refuses the job, and gpu::DeviceLostError, gpu::TimeoutError.
PopulationPlan choosePopulationPlan(gpu::Device& device, const PopulationJob& job, PopulationLayout layout);

/// How examples are divided for scoring: one invocation per part and network.
struct PopulationParts {
    std::uint32_t examples = 0; ///< all of evaluatedSplit()
    std::uint32_t count = 0;
    std::uint32_t rows = 0; ///< examples of each, a multiple of 4

    /// The bytes that the scores of so many networks take.
    std::uint64_t bytes(std::size_t networks) const {
        return std::uint64_t{count} * networks * 2 * sizeof(float);
    }
};

/// The division for so many networks.
PopulationParts populationParts(const gpu::Device& device, const PopulationJob& job, std::size_t networks);

/// Throws gpu::OutOfMemoryError, with the largest number of networks that fits, if the job's don't.
void requirePopulationMemory(const gpu::Device& device, const PopulationJob& job);

/// A network's number in all arrays is its place (PopulationPlaces). Used by one thread at a time.
struct PopulationArenas {
    /// Both must outlive the object. Throws gpu::OutOfMemoryError, gpu::GpuError.
    PopulationArenas(gpu::Device& device, const PopulationJob& job);

    /// Puts all networks back before their first step. Waits for the device.
    void reset();

    /// The constants of a kernel that knows the networks' widths (shaders/grid/population_network.glsl).
    gpu::SpecConstants widthConstants(std::uint32_t groupSize) const;
    /// Those of one that computes their outputs, and so knows their activations and loss, too.
    gpu::SpecConstants networkConstants(std::uint32_t groupSize, Activation hidden) const;
    /// The shader `stem`, or its variant for large networks.
    std::string loopedIfLarge(const std::string& stem) const;

    /// How many networks, or parts of their examples, a submission takes so that no caller waits long for the
    /// device. `workOfOne` is its multiplications and additions; `least` is returned at least.
    std::uint32_t atOnce(double workOfOne, double least = 1) const;

    gpu::Device& device;
    const PopulationJob& job;
    Kernels kernels;
    const PopulationPlaces places;
    const std::vector<std::uint32_t> arenaIndices; ///< unpaddedParameters(): those of a column below

    gpu::Buffer train;                 ///< [data set][example] inputs, then targets
    std::optional<gpu::Buffer> test;   ///< likewise
    gpu::Buffer networks;              ///< shared::PopulationNetwork [place]
    gpu::Buffer states;                ///< shared::PopulationState [place]
    gpu::Buffer parameters;            ///< [parameter][place]
    std::optional<gpu::Buffer> first;  ///< the optimizer's first state array, if it has one
    std::optional<gpu::Buffer> second; ///< its second one
};

/// The steps of a population: records of what changes from step to step, and the dispatches that read them.
///
/// A fused form of the recipe (engine/plan/step.cpp): one dispatch makes many whole steps, lines 1 to 5, of
/// all networks (shaders/grid/population_{invocation,subgroup,workgroup}.comp). It cannot use the recipe
/// itself, whose every operation is a dispatch: for networks this small a dispatch costs more than the whole
/// step. population_gpu_test compares every layout with the same networks trained alone by the
/// recipe.
class PopulationTraining {
  public:
    /// `arenas` must outlive the object. Throws gpu::OutOfMemoryError, other gpu::GpuErrors.
    PopulationTraining(PopulationArenas& arenas, const PopulationPlan& plan);

    /// How many steps from `first` on one dispatch may make; at most `wanted`.
    std::uint32_t stepsFrom(std::uint64_t first, std::uint64_t wanted) const;
    /// Writes the records of steps [first, first + steps), at most stepsFrom(), before the first record() of
    /// them. No more than three submissions of other steps may be in flight. Throws gpu::GpuError.
    void prepare(std::uint64_t first, std::uint32_t steps);
    /// Network-steps of one record() at most: the order of their examples must fit into its buffer.
    double mostNetworkSteps() const;
    /// Networks whose first step takes milliseconds on any device and in any layout; at least one, which may
    /// take as long as mostWorkOfInvocation does.
    std::uint32_t quickNetworks() const;
    /// Records every kernel once, because drivers compile at the first use, and submits. Nothing is learned.
    /// Throws gpu::DeviceLostError, gpu::TimeoutError, other gpu::GpuErrors, and std::runtime_error if the
    /// device refuses a kernel.
    void recordWarmUp(gpu::Recorder& recorder);
    /// Records these steps of the networks at places [place, place + slice.networks). Throws gpu::GpuError.
    void record(gpu::Recorder& recorder, std::uint64_t first, std::uint32_t place,
                const PopulationSlice& slice);

    const PopulationPlan plan;

  private:
    shared::PopulationTrainParams paramsOf(std::uint64_t first, std::uint32_t place,
                                           const PopulationSlice& slice) const;
    const gpu::Kernel<shared::PopulationTrainParams>& kernel(Activation hidden);
    void recordOrder(gpu::Recorder& recorder, const shared::PopulationTrainParams& params);
    void writeOrder(const BatchRange& batch, std::span<std::uint32_t> words) const;

    PopulationArenas& arenas_;
    const PopulationJob& job_;
    const BatchOrder order_;
    const std::uint32_t ringRecords_;
    gpu::Buffer records_; ///< ring: step s is at s % ringRecords_
    gpu::Buffer orders_;  ///< of examples: one for all, likewise a ring, or every network's of a dispatch
};

} // namespace lockstep
