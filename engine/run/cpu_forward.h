// The forward pass alone on the processor. Rows are independent, so every thread takes some of them through
// all layers, and none waits for another.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/cpu/memory.h"
#include "engine/cpu/thread_team.h"
#include "engine/net/param_layout.h"

namespace lockstep {

class CpuForward {
  public:
    /// parameters   an arena by ParamLayout(shape), read by every call; it may change in between
    /// All references must outlive the object, which is used by one thread at a time.
    CpuForward(const NetShape& shape, const CpuKernels& kernels, ThreadTeam& team, const float* parameters)
        : shape_(shape), layout_(shape), kernels_(kernels), team_(team), parameters_(parameters),
          scratch_(team.size()) {}

    /// As Inference::outputs(). Uses as many threads of the team as are worth it.
    std::vector<float> outputs(std::span<const float> inputs);

  private:
    void pass(std::size_t thread, const float* inputs, std::size_t rows, float* outputs);

    const NetShape shape_;
    const ParamLayout layout_;
    const CpuKernels& kernels_;
    ThreadTeam& team_;
    const float* parameters_;
    std::vector<AlignedArray<float>> scratch_; ///< of each thread: the inputs and outputs of a layer
};

} // namespace lockstep
