#include "engine/cpu/map_kernels.h"

#include <algorithm>
#include <bit>

namespace lockstep {

std::size_t mapColumns(std::size_t inputs) { return std::max<std::size_t>(std::bit_ceil(inputs), 2); }

const MapKernels& mapKernelsFor(VectorLevel level) {
#if defined(__x86_64__)
    if (level == VectorLevel::avx512) return mapAvx512();
    if (level == VectorLevel::avx2) return mapAvx2();
#endif
    static_cast<void>(level);
    return mapBaseline();
}

} // namespace lockstep
