// Thousands of small networks of one shape, trained side by side: on a GPU all of them at once in one
// dispatch, on a processor a few at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/net/plane_features.h"
#include "engine/plane/plane_colours.h"
#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep {

/// PopulationMember::initialScale at most.
inline constexpr double largestInitialScale = 1e6;

/// What one network of a population has to itself. All else it shares with the others (PopulationJob).
struct PopulationMember {
    std::uint64_t seed = 1;  ///< of its first weights and of its order of examples
    double learningRate = 0; ///< 0: the optimizer's default
    double initialScale = 1; ///< its first weights are the seed's times this, above 0, up to 1,000,000
    double momentum = 0.9;   ///< where the optimizer usesMomentum
    double weightDecay = -1; ///< L2, as OptimizerSettings::weightDecay
    Activation activation = Activation::tanh; ///< of its hidden layers
    std::size_t data = 0;                     ///< which of PopulationJob::data

    bool operator==(const PopulationMember&) const = default;
};

/// Shapes that a population takes: widths {inputs, hidden..., outputs}.
inline constexpr std::size_t populationInputs = 8;
inline constexpr std::size_t populationOutputs = 8;
inline constexpr std::size_t populationHiddenLayers = 4;
inline constexpr std::size_t populationParameters = 1024; ///< weights and biases of one network
inline constexpr std::size_t populationMembers = 65536;

/// Everything that machines which train the same population must agree on.
struct PopulationJob {
    /// Data sets that members may choose from (of other noise, for example): the same inputs, classes, target
    /// width and number of training and test examples, floats rather than pixels. They outlive every
    /// population made from the job.
    std::vector<const Dataset*> data;
    NetShape shape;         ///< its `activation` gives way to the members'
    TrainSettings settings; ///< kind of optimizer, betas, schedule, batch, shuffling; not what members have
    std::vector<PopulationMember> members;
    std::uint64_t steps = 1000; ///< with which every network's training ends, 1 to 10,000,000

    /// Throws std::invalid_argument, with the largest that is possible or the member at fault, when it makes
    /// no sense.
    void validate() const;
    /// The training of one member as any trainer takes it. Its first weights are initialParameters(), which a
    /// trainer of its own would not scale. Throws std::out_of_range for a member, or its data, that is not
    /// there.
    TrainJob alone(std::size_t member) const;
    /// Parameters before the first step, an arena as ParamLayout has it. Throws std::out_of_range for a
    /// member that is not there.
    std::vector<float> initialParameters(std::size_t member) const;
};

/// What is known of one network.
struct MemberResult {
    static constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

    std::uint64_t steps = 0; ///< done; a network that diverged stays at the step that failed
    bool diverged =
        false; ///< the loss of step `steps` (from 0) was not finite; its weights are from before it
    float batchLoss = unknown;  ///< of the last step that was done: mean over its batch
    float loss = unknown;       ///< mean over the test examples (the training examples where there are none),
                                ///< once it has begun
    float accuracy = unknown;   ///< over the same; NaN in regression
    float weightNorm = unknown; ///< square root of the sum of the squares of all weights, biases not counted

    bool begun() const { return steps > 0 || diverged; }
};

/// The losses of all networks together. A network without a step has no loss yet and is left out; one that
/// diverged, or whose loss is not finite, counts as infinitely bad.
struct PopulationSummary {
    /// In percent, of `percentiles`: the value at position round(p / 100 * (count - 1)) of the sorted losses.
    static constexpr std::array<std::uint32_t, 7> shares{0, 5, 25, 50, 75, 95, 100};

    std::vector<std::uint32_t>
        ranking; ///< all members, best loss first; equals by number; those left out last
    std::array<float, shares.size()> percentiles{}; ///< NaN while none has a loss
    std::size_t begun = 0;                          ///< networks with at least one step
    std::size_t finished = 0;                       ///< at PopulationJob::steps, or diverged
    std::size_t diverged = 0;
    std::uint64_t networkSteps = 0; ///< steps of all networks together
};

/// One picture of what every network answers over a square of the plane.
struct DecisionMapOptions {
    std::vector<PlaneFeature> features{PlaneFeature::x, PlaneFeature::y}; ///< the networks' inputs
    std::uint32_t columns =
        32; ///< tiles beside each other: member k is at column k % columns, line k / columns
    std::uint32_t cells = 16; ///< pixels along one side of a tile, 4 to 64
    float from = -6, to = 6;  ///< both axes; y grows upwards (row 0 of a tile is y = to)
    PlaneColours colours; ///< as PlaneMap uses them; a network without a finite answer gets the background

    std::uint32_t width() const { return columns * cells; }
    std::uint32_t height(std::size_t members) const {
        return static_cast<std::uint32_t>((members + columns - 1) / columns) * cells;
    }
};

/// A picture that lies on the device: words 0xAABBGGRR, row by row from the top.
struct DevicePicture {
    gpu::BufferView view;
    gpu::Ticket ready = 0; ///< from then on it may be read
};

/// Used by one thread at a time. On a GPU whatever trains, evaluates or draws may throw gpu::DeviceLostError,
/// gpu::TimeoutError or another gpu::GpuError; after that nothing is left but to destroy the population.
class Population {
  public:
    virtual ~Population() = default;
    Population() = default;
    Population(const Population&) = delete;
    Population& operator=(const Population&) = delete;

    virtual const PopulationJob& job() const = 0;
    virtual const MachineInfo& machine() const = 0;

    /// Trains for about that long, towards job().steps: a GPU all networks together, a processor some to
    /// their end before it takes the next. Returns whether there is something left to do.
    /// On a GPU, throws as the class says.
    virtual bool advance(double milliseconds) = 0;
    /// Brings every network to `step` steps (at most job().steps), and waits until that is done. Throws
    /// likewise.
    virtual void trainTo(std::uint64_t step) = 0;
    /// Back to the first weights. Throws likewise.
    virtual void reset() = 0;

    /// All members, in their order, as they stand: waits for the steps asked for, then evaluates. Throws
    /// likewise.
    virtual std::vector<MemberResult> results() = 0;
    /// As results(), ranked and added up where the networks are (on a GPU by kernels). Throws
    /// likewise.
    virtual PopulationSummary summary() = 0;
    /// An arena as ParamLayout has it. Throws std::out_of_range for a member that is not there, and likewise.
    virtual std::vector<float> parameters(std::size_t member) = 0;

    /// options.width() * options.height(members) words 0xAABBGGRR. Throws std::invalid_argument for options
    /// that do not fit the shape or are too large for the device (with the largest that is possible),
    /// gpu::OutOfMemoryError, and likewise.
    virtual std::vector<std::uint32_t> decisionMaps(const DecisionMapOptions& options) = 0;
    /// The same without leaving the device; it stays as it is until the call after the next one. Nothing on a
    /// processor. Throws as decisionMaps().
    virtual std::optional<DevicePicture> decisionMapsOnDevice(const DecisionMapOptions&) {
        return std::nullopt;
    }

    virtual double trainingSeconds() const = 0; ///< inside advance() and trainTo(), warm-up left out
    virtual double warmUpSeconds() const = 0;   ///< uploads, compilation, choice of the layout
};

/// How a GPU holds a population (shaders/population_*.comp).
enum class PopulationLayout {
    best,       ///< the fastest of those that fit, measured
    invocation, ///< a network per invocation, unrolled, everything in registers
    subgroup,   ///< a network per subgroup, a batch's rows side by side in its invocations
    workgroup,  ///< a network per workgroup, everything in shared memory
};
/// "best", "invocation", "subgroup", "workgroup".
std::string_view name(PopulationLayout layout);
/// Throws std::invalid_argument with the nearest right name.
PopulationLayout populationLayoutFromName(std::string_view text);

/// On a processor: networks side by side in the lanes of vectors, all threads.
/// threads   0: one per core
/// vectors   false: the plain loops of cpu:scalar, one network after the other, what all others are checked
///           against
/// Throws std::invalid_argument as PopulationJob::validate, std::runtime_error when the system does not give
/// so many threads.
std::unique_ptr<Population> makeCpuPopulation(const PopulationJob& job, std::size_t threads,
                                              bool vectors = true);

/// On a Vulkan device, which has to outlive it. Throws std::invalid_argument as PopulationJob::validate,
/// std::runtime_error for a layout that does not take the shape (with the reason and the largest that fits),
/// gpu::OutOfMemoryError with the largest number of networks that fits, gpu::GpuError.
std::unique_ptr<Population> makeGpuPopulation(gpu::Device& device, const PopulationJob& job,
                                              PopulationLayout layout = PopulationLayout::best);

/// `device` may be null for a CPU lane; `threads` are of cpu:best, 0: one per core. Throws as
/// makeCpuPopulation or makeGpuPopulation, and std::invalid_argument for a GPU lane that is no layout.
std::unique_ptr<Population> makePopulation(const PopulationJob& job, const LaneSpec& lane,
                                           std::size_t threads, gpu::Device* device);

/// Ranks and adds up `results` on the host.
PopulationSummary summarise(const PopulationJob& job, std::span<const MemberResult> results);

} // namespace lockstep
