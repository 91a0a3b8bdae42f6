// The most that this processor can do: what no kernel can be faster than.
#pragma once

#include "engine/cpu/thread_team.h"

namespace lockstep {

/// fp32 multiply-adds in registers, with the widest vectors that the kernels use, on every thread of `team`
/// at the same time: the best of some rounds, in GFLOP/s. Takes about 0.1 s.
double roofGflops(ThreadTeam& team);

/// A copy of memory by every thread of `team`, in arrays far larger than the caches: the best of some rounds,
/// in GB/s read and written. Takes about 0.1 s, and 128 MiB.
double roofGigabytesPerSecond(ThreadTeam& team);

} // namespace lockstep
