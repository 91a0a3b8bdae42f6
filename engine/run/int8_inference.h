// Inference in integers of 8 bits, on the processor: Jacob et al. 2018, "Quantization and training of neural
// networks for efficient integer-arithmetic-only inference", arXiv 1712.05877. Products are plain loops or,
// where the processor has AVX-512 VNNI, its instructions for such integers: the same numbers, bit for bit.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/run/inference.h"

namespace lockstep {

/// What multiplies integers of 8 bits.
enum class Int8Kernels { plain, native };
/// `native` where the processor has instructions for them.
Int8Kernels fastestInt8Kernels();

/// A network whose products multiply integers of 8 bits and add them up in 32. A weight is q * scale with one
/// scale for each neuron and q from -127 to 127; an input of a layer is (q - zero) * scale with one scale and
/// one zero for the whole tensor and q from 0 to 255. Biases, activation functions and outputs are fp32.
///   parameters    as for makeInference()
///   calibration   [rows][inputs] numbers as the network sees them, such as a few hundred training examples.
///                 The range of each tensor is the one that it has for these; beyond it, numbers are cut off
///   kernels       outputs are the same with either; std::runtime_error for `native` where there is no such
///                 processor
/// setParameters() keeps the calibration's rows and computes the ranges anew. Throws std::invalid_argument
/// for what makeInference() refuses, without a row to calibrate by, and for numbers that are not finite.
std::unique_ptr<Inference> makeInt8Inference(const NetShape& shape, std::span<const float> parameters,
                                             std::span<const float> calibration,
                                             Int8Kernels kernels = fastestInt8Kernels());

/// What a network is calibrated by unless told otherwise: 500 training examples, at equal distances in the
/// file's order, or all, if there are no more.
std::vector<float> calibrationOf(const Dataset& data);

/// The evaluation of a split in integers of 8 bits, calibrated by calibrationOf(*job.data). Throws as
/// makeInt8Inference().
Evaluation evaluateInt8(const TrainJob& job, std::span<const float> parameters, Split split = Split::test);

} // namespace lockstep
