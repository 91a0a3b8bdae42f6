// What processor this is.
#pragma once

#include <cstddef>
#include <string>

namespace lockstep {

/// "AMD Ryzen 9 9950X 16-Core Processor"; "processor (x86-64)" where the system does not say.
std::string cpuName();

/// Processors that this process may use: the scheduler's affinity mask where there is one, so that a
/// container or `taskset` with two cores gets two threads on a machine with sixty-four.
std::size_t usableCores();

/// The widest vectors that the processor and the system support and that the kernels have a variant for.
enum class VectorLevel { baseline, avx2, avx512 };
VectorLevel vectorLevel();

/// "AVX-512", "AVX2", "SSE2", "NEON"
const char* name(VectorLevel level);

} // namespace lockstep
