// What edited shaders may not do, because a driver would crash on it, or an address be anything.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/gpu/device.h"
#include "engine/gpu/reflection.h"

namespace lockstep::gpu {

/// The most bytes of an invocation's own variables. Drivers keep them in registers, or in memory for every
/// invocation that runs; some take minutes and gigabytes to compile larger ones.
inline constexpr std::uint32_t mostPrivateBytes = 16384;

/// What SPIR-V calls capabilities, extensions and storage classes: those of the built-in shaders, and few
/// that do no harm.
std::span<const std::uint32_t> allowedCapabilities();
std::span<const std::string_view> allowedExtensions();
std::span<const std::uint32_t> allowedStorageClasses();

/// Throws std::runtime_error, naming `shader` and what it does, for a module that uses anything else (such as
/// raw pointers, 64-bit integers, images), something that the device does not support, more memory than
/// `mostPrivateBytes`, or blocks that are nested too deeply for a driver.
///   constants   values of specialisation constants, as reflect() takes them
void requireHarmless(std::span<const std::uint32_t> words, const SpecConstants& constants,
                     const std::string& shader, const Limits& limits);

} // namespace lockstep::gpu
