// The engine's matrix products, as experiments run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "demos/lab/lab_bench.h"
#include "engine/net/plain_ops.h"
#include "engine/step/dense_kernel.h"

namespace lockstep::demos {

/// Element `at` of matrix `which`, 0 or 1, as shaders/lab/lab_matrix.comp has it: a whole number from -4
/// to 3. Sums of up to a million products of them are exact in fp32, in whatever order they are added.
inline float labElement(std::uint32_t which, std::uint32_t at) {
    return static_cast<float>(static_cast<int>(shared::labScatter(2 * at + which, ~0u) >> 29) - 4);
}

/// Times the likeliest kernels of a forward product on the bench's device, and returns the fastest of those
/// whose results are right; empty: none is, or the bench was stopped. Takes long: call it before any sample.
///   most   kernels that are timed
std::optional<ProductKernel> fastestProduct(LabBench& bench, const DenseShape& shape, std::size_t most = 6);

/// C = A W^T by the CPU's best kernel, on all threads of the bench.
///   a   [rows][inputStride]
///   w   [outputs][inputStride]
///   c   [rows][outputStride]
void multiplyOnThreads(LabBench& bench, const DenseShape& shape, const float* a, const float* w, float* c);

} // namespace lockstep::demos
