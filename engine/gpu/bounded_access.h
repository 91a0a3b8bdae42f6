// Edited shaders: indices and divisions without bounds are given some.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/reflection.h"

namespace lockstep::gpu {

/// Returns the module without what a driver's behaviour is undefined for, and some crash on:
///   - An index beyond an array, vector or matrix becomes the last one, wherever that is: in shared memory,
///   an
///     invocation's own variables, push constants, buffers. Arrays without a length, the last of a buffer,
///     stay: DeviceOptions::robust is for these. Likewise the invocation that a subgroup's broadcast reads.
///   - Divisors that are 0 become 1, and the smallest integer divided by -1 is itself.
///   - Variables and values that are undefined begin with 0.
///   - Operations between specialisation constants become their results.
/// The module has passed requireHarmless(). Throws std::runtime_error, naming `shader`, for a module that a
/// GLSL compiler does not make.
///   constants      values of specialisation constants, as reflect() takes them
///   subgroupSize   the most invocations of a subgroup
std::vector<std::uint32_t> boundAccesses(std::span<const std::uint32_t> words, const SpecConstants& constants,
                                         const std::string& shader, std::uint32_t subgroupSize);

} // namespace lockstep::gpu
