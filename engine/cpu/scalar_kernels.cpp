#include "engine/cpu/kernels.h"

namespace lockstep {

const CpuKernels& scalarKernels() {
    static constexpr CpuKernels kernels{
        .name = "scalar",
        .gatherBatch = plain::gatherBatch<float>,
        .dense = plain::dense<float>,
        .lossAndGradient = plain::lossAndGradient<float>,
        .denseBackwardInputs = plain::denseBackwardInputs<float>,
        .denseBackwardWeights = plain::denseBackwardWeights<float>,
        .denseBackwardWeightsAndUpdate = nullptr,
        .update = plain::update<float>,
        .score = plain::score<float>,
    };
    return kernels;
}

} // namespace lockstep
