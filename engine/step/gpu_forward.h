// The forward pass alone on a Vulkan device: for rows of the host's (engine/run/inference.h), and for
// pictures of the plane (engine/plane), whose inputs the device makes itself.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/net/param_layout.h"
#include "engine/step/kernels.h"

namespace lockstep {

class GpuForward {
  public:
    /// how          the kernel of each layer's product, for fp32
    /// parameters   begins with an arena by ParamLayout(shape)
    /// capacity     most rows at a time
    /// All references must outlive the object. Throws gpu::OutOfMemoryError.
    GpuForward(Kernels& kernels, const NetShape& shape, const std::vector<ProductKernel>& how,
               const gpu::Buffer& parameters, std::size_t capacity);

    /// A sensible capacity: enough to keep a GPU busy, in a few megabytes that the device can bind.
    static std::size_t usualCapacity(const gpu::Device& device, const NetShape& shape);

    /// A[level] of `rows` rows: [rows][stride(level)]. Level 0 is the inputs. Levels take turns in two
    /// buffers, so only the latest two are there.
    gpu::BufferView activations(std::size_t level, std::size_t rows) const;
    std::uint32_t stride(std::size_t level) const { return gpu::asUint(roundUpToFour(shape_.widths[level])); }
    std::uint64_t bytes(std::size_t level, std::size_t rows) const {
        return std::uint64_t{rows} * stride(level) * sizeof(float);
    }

    /// Records A[layer + 1] = f(A[layer] W^T + b), written to `to`: activations(layer + 1, rows), or
    /// elsewhere.
    void dense(gpu::Recorder& recorder, std::size_t layer, std::size_t rows, const gpu::BufferView& to,
               const gpu::Cost& cost = {}) const;

    /// As Inference::outputs(). Waits for the device. Nothing may be changing the parameters.
    std::vector<float> outputs(std::span<const float> inputs);

  private:
    /// What rows of the host's need besides.
    struct HostRows {
        HostRows(gpu::Device& device, std::uint64_t inputBytes, std::uint64_t outputBytes)
            : inputs(device, inputBytes, gpu::Memory::upload, "rows to predict for"),
              outputs(device, outputBytes, gpu::Memory::readback, "predictions"), recorder(device) {}
        gpu::Buffer inputs;
        gpu::Buffer outputs;
        gpu::Recorder recorder; ///< declared last, destroyed first: waits for work that uses the buffers
    };
    void pass(std::span<const float> inputs, std::size_t rows);

    gpu::Device& device_;
    const NetShape shape_;
    const ParamLayout layout_;
    const gpu::Buffer& parameters_;
    const std::size_t capacity_;
    std::vector<DenseKernel> kernels_; ///< by layer
    gpu::Buffer even_;                 ///< activations of even levels ...
    gpu::Buffer odd_;                  ///< ... and of odd ones
    gpu::Buffer sums_;                 ///< preactivations, if an activation's kernel writes them
    std::unique_ptr<HostRows> host_;   ///< once asked for
};

} // namespace lockstep
