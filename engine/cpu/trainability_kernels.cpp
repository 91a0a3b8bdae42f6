#include "engine/cpu/trainability_kernels.h"

#include <algorithm>
#include <bit>

namespace lockstep {

std::size_t trainabilityColumns(std::size_t inputs) {
    return std::max<std::size_t>(std::bit_ceil(inputs), 2);
}

const TrainabilityKernels& trainabilityKernelsFor(VectorLevel level) {
#if defined(__x86_64__)
    if (level == VectorLevel::avx512) return trainabilityAvx512();
    if (level == VectorLevel::avx2) return trainabilityAvx2();
#endif
    static_cast<void>(level);
    return trainabilityBaseline();
}

} // namespace lockstep
