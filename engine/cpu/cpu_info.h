// What the program runs on: the processor, its cores, its vectors and its pages.
#pragma once

#include <cstddef>
#include <string>

#include "engine/cpu/topology.h"

namespace lockstep {

/// "AMD Ryzen 9 9950X 16-Core Processor"; "processor (x86-64)" if the system does not tell.
std::string cpuName();

/// The number of logical processors that this process may use. It respects the scheduler's affinity mask: a
/// container with two cores gets two threads on a machine with sixty-four.
std::size_t usableCores();

/// The cores behind them. Products keep a core's arithmetic busy, so a second thread on it gains nothing.
CoreCount usablePhysicalCores();

/// Asks the system to back [data, data + bytes) with large pages, now or when it finds the time. A shuffled
/// batch touches pages all over the data set; with pages of 4 KiB each of its rows costs a walk through the
/// page tables, which takes longer than reading the row. The contents stay as they are. Does nothing on
/// systems without large pages.
void preferHugePages(const void* data, std::size_t bytes);

/// The widest vectors that the processor, the system and these kernels support.
enum class VectorLevel { baseline, avx2, avx512 };
VectorLevel vectorLevel();

/// The elements (floats) of the longest of them.
inline constexpr std::size_t mostElements = 16;

/// "AVX-512", "AVX2", "SSE2", "NEON"
const char* name(VectorLevel level);

} // namespace lockstep
