// The map: does training converge? Every point of a plane of two hyperparameters is its own network, trained
// from the same weights on the same data by plain gradient descent. The border between networks that learn
// and networks that diverge, the edge of trainability, is a fractal (Sohl-Dickstein, "The boundary of neural
// network trainability is fractal", 2024, arXiv 2402.06184).
//
// A map is not a population. Its two axes are rates per layer and a scale, which no PopulationMember has; its
// points lie in a window that zooms, at the middles of pixels, in any order and number; and of a network only
// one number stays, its outcome, so that 16 million of them fit where a population keeps the weights of
// 65,536.
//
// A fused form of the recipe (engine/plan/step.cpp): its lines 2 to 5 for a network without biases, with all
// examples as the batch. The recipe itself computes neither this loss's scaling nor ends a training at the
// first step beyond the limit, and its operations are too many for networks this small. map_test
// holds the plain loops here (plainMapOutcome) to differences of the loss in double, and everything else to
// the plain loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"
#include "engine/step/work_sizer.h"
#include "shaders/shared/map.h"

namespace lockstep {

namespace gpu {
class Device;
}

/// What the two numbers of a point are.
enum class MapAxes {
    rates,        ///< learning rate of the first layer, and of the second
    rateAndScale, ///< learning rate of both layers, and a factor of the initial weights
};
/// "rates", "rate-and-scale".
std::string_view name(MapAxes axes);
/// Throws std::invalid_argument with the nearest right name.
MapAxes mapAxesFromName(std::string_view text);

/// What all points of the plane share: a network inputs - hidden - 1 without biases,
///   y = W1 f(gain W0 x) / hidden,  gain = sqrt(2 / inputs), for the identity sqrt(1 / inputs),
/// trained on the whole of a few random examples at once, with the mean squared error as its loss. This is
/// the paper's network (mean-field scaling, everything drawn from a standard normal distribution). Its
/// figures have 16 inputs and neurons, as many examples as weights (272; 16 for the identity), 500 or 1,000
/// steps, and show rates from 1e-3 to 1e6, the first layer's to the right. It draws other random numbers, so
/// that pictures agree in kind, not pixel by pixel. Its figure of initial weights adds a number to those of
/// the first layer; here one factor multiplies all weights.
struct MapJob {
    MapAxes axes = MapAxes::rates;
    std::size_t inputs = 8;                   ///< 1 to 16
    std::size_t hidden = 8;                   ///< 1 to 16
    Activation activation = Activation::tanh; ///< identity, relu or tanh
    std::size_t examples = 16; ///< 1 to 512; inputs and targets are normal, drawn from the seed
    std::uint32_t steps = 200; ///< 1 to 2,000
    std::uint64_t seed = 1;    ///< of examples and initial weights (normal, variance 1)

    /// Throws std::invalid_argument with the largest that is possible.
    const MapJob& validate() const;
    bool operator==(const MapJob&) const = default;
};

/// A network: the two hyperparameters, as `axes` says.
struct MapPoint {
    float x = 0;
    float y = 0;
};

/// How a network's training ended, in one number, so that a picture can be coloured smoothly.
///   v >= 0  it converged: the mean loss of the last 20 steps is below the first loss. v is the mean over all
///           steps of loss / first loss, at most 1; the smaller, the faster
///   v < 0   it diverged: -v is the step, with a fraction interpolated in the logarithm of the loss, at which
///           the loss exceeded shared::mapDivergence times the first one; at least 0.001. -v = steps for a
///           loss that stayed below the limit and was no better at the end than at the beginning
/// As in the paper, except that a loss beyond the limit ends the training: it cannot come back.
using MapOutcome = float;
inline constexpr std::uint32_t mapTail = 20; ///< the last steps

/// A part of the plane, in decimal logarithms of x and y. y grows upwards.
struct MapWindow {
    double left = -3, right = 3;
    double bottom = -3, top = 3;

    /// The point at the middle of a pixel; row 0 is the uppermost. Computed in double, rounded to float.
    MapPoint point(std::uint32_t column, std::uint32_t row, std::uint32_t width, std::uint32_t height) const;
    /// Whether neighbouring pixels of a picture of this size differ in their float hyperparameters. A zoom
    /// cannot go deeper than that.
    bool resolves(std::uint32_t width, std::uint32_t height) const;
    bool operator==(const MapWindow&) const = default;
};

/// Trains networks of one job. Used by one thread at a time.
class MapTrainer {
  public:
    virtual ~MapTrainer() = default;
    MapTrainer(const MapTrainer&) = delete;
    MapTrainer& operator=(const MapTrainer&) = delete;

    const MapJob& job() const { return job_; }
    const MachineInfo& machine() const { return machine_; }
    /// Trains a network per point to its end; there are as many outcomes as points. Returns when all are
    /// done: hand over a few at a time (pointsFor()) to stay responsive. A GPU divides the work into
    /// submissions by measured time. On a GPU, throws gpu::DeviceLostError, gpu::TimeoutError or another
    /// gpu::GpuError.
    virtual void train(std::span<const MapPoint> points, std::span<MapOutcome> outcomes) = 0;
    /// Points that take about so long at the measured speed: whole groups of those that are trained side by
    /// side, at least one, and at most a picture of 4,096 x 4,096.
    virtual std::size_t pointsFor(double milliseconds) const;

  protected:
    explicit MapTrainer(const MapJob& job) : job_(job) {}

    const MapJob job_;
    MachineInfo machine_;
    std::size_t group_ = 1;       ///< points that are trained side by side
    WorkSizer speed_{WorkRule{}}; ///< of points, from end to end
};

/// The plain loops, in float: the reference for all other trainers. Throws std::invalid_argument as
/// MapJob::validate.
MapOutcome plainMapOutcome(const MapJob& job, MapPoint point);
/// The losses of the same training, one before each step, up to the first one beyond the limit. Throws
/// likewise.
std::vector<float> plainMapLosses(const MapJob& job, MapPoint point);

/// threads   0: one per core
/// Throws std::invalid_argument as MapJob::validate, std::runtime_error when the system does not
/// give so many threads.
std::unique_ptr<MapTrainer> makeCpuMapTrainer(const MapJob& job, std::size_t threads);
/// On a Vulkan device, which has to outlive it. Throws std::invalid_argument likewise, std::runtime_error
/// when the device does not take the kernel, gpu::OutOfMemoryError, other gpu::GpuErrors.
std::unique_ptr<MapTrainer> makeGpuMapTrainer(gpu::Device& device, const MapJob& job);

/// The job's examples [examples][inputs], already times the gain, their targets [examples], and the weights
/// before the first step, unscaled: [hidden][inputs] and [hidden].
struct MapData {
    std::vector<float> inputs;
    std::vector<float> targets;
    std::vector<float> firstWeights;
    std::vector<float> secondWeights;
};
MapData mapData(const MapJob& job);

/// From a point to what its network's training starts with, and from its end to the outcome: the same for all
/// trainers.
shared::MapStart startOf(const MapJob& job, MapPoint point);
MapOutcome outcomeOf(const MapJob& job, const shared::MapEnd& end);
/// The last steps, over which an outcome takes the loss: mapTail, or all where there are fewer.
std::uint32_t tailOf(const MapJob& job);

} // namespace lockstep
