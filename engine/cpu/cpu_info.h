// What the program runs on: the processor, its cores and its vectors.
#pragma once

#include <cstddef>
#include <string>

#include "engine/platform/topology.h"

namespace lockstep {

using platform::CoreCount;

/// "AMD Ryzen 9 9950X 16-Core Processor"; "processor (x86-64)" if the system does not tell.
std::string cpuName();

/// The number of logical processors that this process may use. It respects the scheduler's affinity mask: a
/// container with two cores gets two threads on a machine with sixty-four.
std::size_t usableCores();

/// The cores behind them. Products keep a core's arithmetic busy, so a second thread on it gains nothing.
CoreCount usablePhysicalCores();

/// The widest vectors that the processor, the system and these kernels support.
enum class VectorLevel { baseline, avx2, avx512 };
VectorLevel vectorLevel();

/// Beside AVX-512, instructions that multiply narrower numbers: pairs of bf16 (AVX-512 BF16), and four
/// integers of 8 bits (AVX-512 VNNI). Sums have 32 bits.
bool hasBf16Instructions();
bool hasInt8Instructions();

/// The elements (floats) of the longest of them.
inline constexpr std::size_t mostElements = 16;

/// "AVX-512", "AVX2", "SSE2", "NEON"
const char* name(VectorLevel level);

} // namespace lockstep
