// A trained network without a data set: inputs in, outputs out, on one machine.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/net/dataset.h"
#include "engine/net/net_shape.h"
#include "engine/step/lane_spec.h"
#include "engine/step/train_job.h"

namespace lockstep {

/// Used by one thread at a time.
class Inference {
  public:
    virtual ~Inference() = default;
    Inference() = default;
    Inference(const Inference&) = delete;
    Inference& operator=(const Inference&) = delete;

    virtual const NetShape& shape() const = 0;
    virtual const MachineInfo& machine() const = 0;

    /// Takes other weights, such as Trainer::takeWeights() gives: an arena by ParamLayout(shape()). Throws
    /// std::invalid_argument for another size.
    virtual void setParameters(std::span<const float> parameters) = 0;

    /// The network's outputs, after the output activation: [rows][outputs], without padding.
    /// `inputs` are [rows][inputs] numbers as the network sees them (pixels / 255, scaled columns), of any
    /// number of rows.
    /// Throws std::invalid_argument for a part of a row, and gpu::GpuError for what fails on a device.
    virtual std::vector<float> outputs(std::span<const float> inputs) = 0;
    /// Outputs for examples [first, first + rows) of a split: [rows][outputs].
    std::vector<float> outputsOf(const Dataset& data, Split split, std::size_t first, std::size_t rows);
};

/// An inference on the machine of a lane. Outputs are those of a trainer on that lane, within rounding.
///   parameters   as for setParameters(): TrainerState::parameters, loadWeights(), initialWeights()
///   spec         the machine, and the rung whose forward kernels to use. Nothing is measured, so `best`
///                takes the likeliest. Rungs that compute whole steps, fp16 or one output at a time are no
///                good for forward passes: they use the kernels of `gpu:best`
///   share        its threads: of cpu:threads, cpu:best and cpu:bf16, at most; 0: one per core
///   device       for a GPU lane; must outlive the object. May be null for a CPU lane
/// Throws std::invalid_argument for a shape that makes no sense and for what setParameters() refuses,
/// std::runtime_error for a rung that the device cannot run, gpu::OutOfMemoryError, and gpu::GpuError.
std::unique_ptr<Inference> makeInference(const NetShape& shape, std::span<const float> parameters,
                                         const LaneSpec& spec = {}, const MachineShare& share = {},
                                         gpu::Device* device = nullptr);

} // namespace lockstep
