// Which kernel computes which product: fixed for the rungs `naive`, `tiled`, `blocked`, `texel` and
// `subgroup`, measured for `best`.
#pragma once

#include <string_view>
#include <vector>

#include "engine/train/gpu_ops.h"

namespace lockstep {

/// The kernels of a rung for every layer of `shape` trained with `batch` rows. `best` times the candidates on
/// the device for up to `budgetSeconds` in all, compilation included (what was fully compared is remembered,
/// see kernel_cache.h), and takes the fastest whose results agree with the processor's. Throws
/// std::invalid_argument for an unknown rung, std::runtime_error when no kernel of a product is right.
StepKernels chooseKernels(gpu::Device& device, Kernels& kernels, std::string_view rung, const NetShape& shape,
                          Optimizer optimizer, std::size_t batch, double budgetSeconds = 0.9);

/// The kernels worth trying for a product on this kind of device, the likeliest first. All fit into the
/// device's limits.
std::vector<ProductKernel> candidates(const gpu::Device& device, Product product, const DenseShape& shape);

} // namespace lockstep
