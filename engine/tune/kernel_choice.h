// Which kernels make the steps of a training run: fixed for most rungs, measured for `best`.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

#include "engine/step/gpu_ops.h"
#include "engine/tune/tuning.h"

namespace lockstep {

/// The kernels of a rung for every layer of `shape` trained with `batch` rows.
///   one ... subgroup   that kind of kernel for all products, the update by itself
///   fused              the likeliest kind for this device, the update folded into the weights' gradients
///   whole-step         the same, for what is not done by WholeStep (whole_step.h)
///   best               times the candidates on the device for up to Tuning::seconds() in all, compilation
///                      included, and takes the fastest whose results agree with the processor's; folds the
///                      update where that is faster over all layers. Every time is remembered (see
///                      kernel_cache.h): where it ran out, the next start goes on. `tuning` says how far it
///                      has come, and is how others skip the rest
/// Once `cancelled` is set, throws gpu::Cancelled within about a tenth of a second; what has been measured is
/// remembered all the same.
/// Tuning::end() is left to the caller: a trainer goes on with the choices of whole steps.
/// Throws std::runtime_error when the device cannot run it, or when no kernel of a product is right.
StepKernels chooseKernels(gpu::Device& device, Kernels& kernels, Rung rung, const NetShape& shape,
                          Optimizer optimizer, std::size_t batch, Tuning& tuning,
                          const std::atomic<bool>* cancelled = nullptr);
/// The same, seen and skipped by nobody. `budgetSeconds`: Tuning::seconds().
StepKernels chooseKernels(gpu::Device& device, Kernels& kernels, Rung rung, const NetShape& shape,
                          Optimizer optimizer, std::size_t batch,
                          std::optional<double> budgetSeconds = std::nullopt);

/// What evaluates the networks of a rung. `one` and the naive rungs would take minutes over a test set and
/// teach nothing by it: they borrow the forward products of the likeliest kernels.
StepKernels evaluationKernels(const gpu::Device& device, const StepKernels& training, const NetShape& shape,
                              std::size_t rows);

/// The forward products of a rung by themselves, for `rows` rows at most, without measuring: one per layer,
/// by the same rule; the likeliest kernels for rungs that choose or fold. Throws as chooseKernels().
std::vector<ProductKernel> forwardKernels(const gpu::Device& device, Rung rung, const NetShape& shape,
                                          std::size_t rows);

} // namespace lockstep
