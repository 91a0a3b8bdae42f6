// How much work an operation is: floating-point operations, and bytes with each tensor counted once.
#pragma once

#include "engine/train/cpu_arenas.h"
#include "engine/train/cpu_timing.h"

namespace lockstep {

/// One multiplication per input (pixels become floats); the source is read, the batch is written.
Work gatherWork(const CpuArenas& arenas, std::size_t rows);

/// Each of the three products of a dense layer (forward, input gradient, weight gradient): a multiplication
/// and an addition per weight and row. Two of its matrices are read, the third is written.
Work denseWork(const DenseShape& shape);

/// About five operations per output: exponential, sum, division, difference, scale.
Work lossWork(const LossShape& shape, std::size_t rows);

/// Gradient read, weight and state read and written. Operations as the formulas of plain::update count them.
Work updateWork(const CpuArenas& arenas);

} // namespace lockstep
