// Cooperative matrices have two dialects in SPIR-V: NVIDIA's of 2019, and Khronos' of 2023, which all vendors
// have. Every GLSL compiler in use knows the first, and only new ones the second.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::gpu {

/// Translates a module from SPV_NV_cooperative_matrix to SPV_KHR_cooperative_matrix. A matrix there has a
/// use, as left or right factor or as sum, which follows from the products it takes part in. Throws
/// std::runtime_error, naming `shader`, where a type takes part in more than one way, or an order of storage
/// is not a constant.
std::vector<std::uint32_t> toKhrMatrices(std::span<const std::uint32_t> words, const std::string& shader);

} // namespace lockstep::gpu
