// Which kernels can compute a product on a device: all rungs, with the sizes worth trying.
#pragma once

#include <string_view>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/net/plain_ops.h"
#include "engine/step/kernels.h"

namespace lockstep {

/// The kernels of a product on this kind of device, the likeliest fastest first. All fit into the device's
/// limits. The last two, `naive-strided` and `one`, are there to be looked at: never the fastest.
std::vector<ProductKernel> candidates(const gpu::Device& device, Product product, const DenseShape& shape);

/// The same without those two. All sum in the same order, so that results do not depend on the choice: where
/// splitsSums(), they are the kernels that share sums; elsewhere they are the others.
std::vector<ProductKernel> fastCandidates(const gpu::Device& device, Product product,
                                          const DenseShape& shape);

/// Whether a product has so few outputs and so long sums that a GPU is better used when invocations share
/// sums (ProductKernel::slices): a fixed rule of sizes and the kind of device.
bool splitsSums(const gpu::Device& device, Product product, const DenseShape& shape);

/// Kernels of half precision, operands as halves, sums in floats: those of the rung `half`, then, where the
/// device has cooperative matrices, those of the rung `matrix`.
std::vector<ProductKernel> halfCandidates(const gpu::Device& device, Product product,
                                          const DenseShape& shape);

/// Whether a kernel fits into the device's limits for a product of this shape.
bool fits(const gpu::Device& device, const ProductKernel& kernel, const DenseShape& shape);

/// The likeliest kernel of a rung that has kernels of its own (not `fused`, `whole-step`, `best`). Throws
/// std::runtime_error with the reason when the device cannot run it, std::invalid_argument when there is no
/// such rung.
ProductKernel kernelOfRung(const gpu::Device& device, std::string_view rung, Product product,
                           const DenseShape& shape);

/// The same of a rung that folds the update into the weights' gradients; only some rungs have such a kernel.
bool canFoldUpdate(const ProductKernel& kernel);

} // namespace lockstep
