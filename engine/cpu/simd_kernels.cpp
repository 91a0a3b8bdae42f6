#include "engine/cpu/kernels.h"
namespace lockstep {
const CpuKernels& simdKernels() { return scalarKernels(); }
const CpuKernels& bestKernels() { return scalarKernels(); }
std::string describeKernels(const CpuKernels&) { return "plain loops"; }
} // namespace lockstep
