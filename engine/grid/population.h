// A population: thousands of small networks of one shape, trained side by side. A GPU trains all of them at
// once in one dispatch, a processor a few at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/net/plane_features.h"
#include "engine/plane/plane_colours.h"
#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep {

/// Upper limit of PopulationMember::initialScale.
inline constexpr double largestInitialScale = 1e6;

/// The settings of one network. It shares all others with the rest of the population (PopulationJob).
struct PopulationMember {
    std::uint64_t seed = 1;                  ///< of its initial weights and of its order of examples
    std::optional<double> learningRate = {}; ///< as OptimizerSettings::learningRate
    double initialScale = 1; ///< factor of the seed's initial weights, above 0, up to 1,000,000
    double momentum = 0.9;   ///< where the optimizer usesMomentum
    std::optional<double> weightDecay = {};   ///< L2, as OptimizerSettings::weightDecay
    Activation activation = Activation::tanh; ///< of its hidden layers
    std::size_t data = 0;                     ///< which of PopulationJob::data

    bool operator==(const PopulationMember&) const = default;
};

/// Limits of a population, whose networks have widths {inputs, hidden..., outputs}.
inline constexpr std::size_t populationInputs = 8;
inline constexpr std::size_t populationOutputs = 8;
inline constexpr std::size_t populationHiddenLayers = 4;
inline constexpr std::size_t populationParameters = 1024; ///< weights and biases of one network
inline constexpr std::size_t populationMembers = 65536;

/// All that lanes which train the same population have in common.
struct PopulationJob {
    /// Data sets that members choose from, such as levels of noise. They have the same inputs, classes,
    /// target width and numbers of examples, and hold floats, not pixels. They must outlive every population
    /// made from the job.
    std::vector<const Dataset*> data;
    NetShape shape;         ///< the members' activations replace its `activation`
    TrainSettings settings; ///< optimizer, betas, schedule, batch, shuffling; members override the rest
    std::vector<PopulationMember> members;
    std::uint64_t steps = 1000; ///< of every network, 1 to 10,000,000

    /// Throws std::invalid_argument, naming the largest possible value or the member at fault.
    void validate() const;
    /// The training of one member as a job for any trainer, which would not scale the initial weights: take
    /// those from initialParameters(). Throws std::out_of_range if there is no such member or data set.
    TrainJob alone(std::size_t member) const;
    /// Parameters before the first step, in ParamLayout's order. Throws std::out_of_range if there is no such
    /// member.
    std::vector<float> initialParameters(std::size_t member) const;
};

/// The state of one network.
struct MemberResult {
    static constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

    std::uint64_t steps = 0;    ///< completed; a diverged network stays at the step that failed
    bool diverged = false;      ///< the loss of step `steps` (from 0) was not finite; weights are from before
    float batchLoss = unknown;  ///< mean over the batch of the last completed step
    float loss = unknown;       ///< mean over the test examples (or the training examples if there are none),
                                ///< after the first step
    float accuracy = unknown;   ///< over the same examples; NaN in regression
    float weightNorm = unknown; ///< square root of the sum of the squares of all weights, biases not counted

    bool begun() const { return steps > 0 || diverged; }
};

/// The split that a MemberResult's loss is of.
inline Split evaluatedSplit(const Dataset& data) { return data.test.count > 0 ? Split::test : Split::train; }

/// The losses of all networks together. Networks without a step have no loss yet and are left out. A network
/// that diverged, or whose loss is not finite, counts as infinitely bad.
struct PopulationSummary {
    /// In percent, of `percentiles`: the value at position round(p / 100 * (count - 1)) of the sorted losses.
    static constexpr std::array<std::uint32_t, 7> shares{0, 5, 25, 50, 75, 95, 100};

    std::vector<std::uint32_t> ranking; ///< all members, best loss first, ties by number; those left out last
    std::array<float, shares.size()> percentiles{}; ///< NaN while no network has a loss
    std::size_t begun = 0;                          ///< networks with at least one step
    std::size_t finished = 0;                       ///< at PopulationJob::steps, or diverged
    std::size_t diverged = 0;
    std::uint64_t networkSteps = 0; ///< steps of all networks together
};

/// Ranks and adds up the results of all members.
PopulationSummary summarise(const PopulationJob& job, std::span<const MemberResult> results);

/// One picture of what every network predicts over a square of the plane: a tile per network.
struct DecisionMapOptions {
    std::vector<PlaneFeature> features{PlaneFeature::x, PlaneFeature::y}; ///< the networks' inputs
    std::uint32_t columns = 32; ///< tiles per row: member k is at column k % columns, row k / columns
    std::uint32_t cells = 16;   ///< pixels along one side of a tile, 4 to 64
    float from = -6, to = 6;    ///< range of both axes; y grows upwards (row 0 of a tile is y = to)
    PlaneColours colours;       ///< as in PlaneMap; predictions that are not finite get the background

    /// Throws std::invalid_argument, with what is possible, if an option is invalid or does not fit the job.
    void validate(const PopulationJob& job) const;
    /// The networks' inputs at the centres of a tile's pixels, row by row from the top:
    /// [cells * cells][inputs].
    std::vector<float> points() const;

    std::uint32_t width() const { return columns * cells; }
    std::uint32_t height(std::size_t members) const {
        return static_cast<std::uint32_t>((members + columns - 1) / columns) * cells;
    }
};

/// A picture in the memory of a device: words 0xAABBGGRR, row by row from the top.
struct DevicePicture {
    gpu::BufferView view;
    gpu::Ticket ready = 0; ///< read it after this has finished
};

/// Used by one thread at a time. On a GPU, everything that trains, evaluates or draws may throw
/// gpu::DeviceLostError, gpu::TimeoutError or another gpu::GpuError; afterwards it can only be destroyed.
class Population {
  public:
    virtual ~Population() = default;
    Population(const Population&) = delete;
    Population& operator=(const Population&) = delete;

    const PopulationJob& job() const { return job_; }
    const MachineInfo& machine() const { return machine_; }

    /// Trains for about that long, towards job().steps. A GPU trains all networks together, a processor some
    /// to their end before it takes the next. Returns whether any work is left.
    virtual bool advance(double milliseconds) = 0;
    /// Trains every network up to `step` steps (at most job().steps), and waits for the end.
    virtual void trainTo(std::uint64_t step) = 0;
    /// Back to the initial weights.
    virtual void reset() = 0;

    /// All members in their order. Waits for the steps requested, then evaluates.
    virtual std::vector<MemberResult> results() = 0;
    /// results(), ranked and added up.
    PopulationSummary summary() { return summarise(job_, results()); }
    /// In ParamLayout's order. Throws std::out_of_range if there is no such member.
    virtual std::vector<float> parameters(std::size_t member) = 0;

    /// options.width() * options.height(members) words 0xAABBGGRR. Throws std::invalid_argument for options
    /// that don't fit the shape or the device (naming the largest possible), and gpu::OutOfMemoryError.
    virtual std::vector<std::uint32_t> decisionMaps(const DecisionMapOptions& options) = 0;
    /// The same picture in device memory; it stays valid until the call after the next one. Empty on a
    /// processor. Throws like decisionMaps().
    virtual std::optional<DevicePicture> decisionMapsOnDevice(const DecisionMapOptions&) {
        return std::nullopt;
    }

    double trainingSeconds() const { return trainingSeconds_; } ///< inside advance() and trainTo()
    double warmUpSeconds() const { return warmUpSeconds_; } ///< uploads, compilation, choice of the layout

  protected:
    explicit Population(const PopulationJob& job) : job_(job) {}

    const PopulationJob job_;
    MachineInfo machine_;
    double trainingSeconds_ = 0;
    double warmUpSeconds_ = 0;
};

/// How a GPU holds a population (shaders/grid/population_*.comp): the rungs best, invocation, subgroup and
/// workgroup (rungs.h).
using PopulationLayout = Rung;
/// Throws std::invalid_argument with the nearest right name.
PopulationLayout populationLayoutFromName(std::string_view text);

/// On a processor: a network in each element of a vector, on all threads.
/// threads   0: one per core
/// vectors   false: the plain loops of cpu:scalar, one network after the other; the reference for all others
/// Throws std::invalid_argument like PopulationJob::validate, std::runtime_error if the system refuses to
/// start that many threads.
std::unique_ptr<Population> makeCpuPopulation(const PopulationJob& job, std::size_t threads,
                                              bool vectors = true);

/// On a Vulkan device, which must outlive it. Throws std::invalid_argument like PopulationJob::validate,
/// std::runtime_error for a layout that does not take the shape (naming the reason and the largest that
/// fits), gpu::OutOfMemoryError with the largest number of networks that fits, gpu::GpuError.
std::unique_ptr<Population> makeGpuPopulation(gpu::Device& device, const PopulationJob& job,
                                              PopulationLayout layout = PopulationLayout::best);

/// `device` may be null for a CPU lane; `threads` is for cpu:best, 0: one per core. Throws like
/// makeCpuPopulation or makeGpuPopulation, and std::invalid_argument for a GPU lane that is not a layout.
std::unique_ptr<Population> makePopulation(const PopulationJob& job, const LaneSpec& lane,
                                           std::size_t threads, gpu::Device* device);

/// Neighbouring places [first, first + count) of networks with the same hidden activation.
struct PopulationRun {
    Activation activation = Activation::tanh;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// The members sorted by hidden activation, because a kernel computes one activation at a time. A network's
/// place is its position among them.
struct PopulationPlaces {
    explicit PopulationPlaces(const PopulationJob& job);
    /// The places [first, first + count), run by run, and divided into pieces of at most `most`.
    std::vector<PopulationRun> pieces(std::size_t first, std::size_t count, std::size_t most) const;

    std::vector<std::uint32_t> members; ///< by place
    std::vector<PopulationRun> runs;
};

/// Where in ParamLayout's arena W[0] [outputs][inputs], b[0], W[1], ... lie: all parameters without padding.
std::vector<std::uint32_t> unpaddedParameters(const NetShape& shape);

} // namespace lockstep
