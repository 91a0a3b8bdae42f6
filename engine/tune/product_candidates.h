// Which kernels can compute a product on a device: all rungs, with the sizes worth trying.
#pragma once

#include <vector>

#include "engine/gpu/device.h"
#include "engine/net/plain_ops.h"
#include "engine/step/dense_kernel.h"

namespace lockstep {

/// The kernels of a product on this kind of device, the likeliest fastest first: on a GPU, those that have
/// enough workgroups to keep it busy. All fit into the device's limits. The last ones are slow rungs
/// (RungRow::slow), there to be looked at.
std::vector<ProductKernel> candidates(const gpu::Device& device, Product product, const DenseShape& shape);

/// The same without slow rungs. All sum in the same order, so that results do not depend on the choice: where
/// splitsSums(), they are the kernels that share sums; elsewhere the others.
std::vector<ProductKernel> fastCandidates(const gpu::Device& device, Product product,
                                          const DenseShape& shape);

/// Whether a product has so few outputs and so long sums that a GPU is better used when invocations share
/// sums (ProductKernel::slices): a fixed rule of sizes and the kind of device.
bool splitsSums(const gpu::Device& device, Product product, const DenseShape& shape);

/// Kernels with fp16 operands and fp32 sums: those of the rung `half`, then, where the device has cooperative
/// matrices, those of the rung `matrix`.
std::vector<ProductKernel> halfCandidates(const gpu::Device& device, Product product,
                                          const DenseShape& shape);

/// Whether a kernel fits into the device's limits for a product of this shape.
bool fits(const gpu::Device& device, const ProductKernel& kernel, const DenseShape& shape);

/// The likeliest kernel of a rung that has kernels of its own (not `fused`, `whole-step`, `best`). Throws
/// std::runtime_error with the reason when the device cannot run it.
ProductKernel kernelOfRung(const gpu::Device& device, Rung rung, Product product, const DenseShape& shape);

} // namespace lockstep
