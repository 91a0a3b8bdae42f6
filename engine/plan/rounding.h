// How the operands of products are rounded in mixed precision.
#pragma once

#include <span>
#include <string>

#include "engine/net/float_formats.h"
#include "engine/plan/operation.h"

namespace lockstep {

/// To which format, and whether times a power of two.
struct Rounding {
    FloatKind kind = FloatKind::fp32;
    /// The power of two follows from the largest number that the tensor has at that step (scaleFor()).
    bool scaled = false;
    int mostScale = 0; ///< its exponent, at most
};

/// operation   roundActivations, roundWeights, roundDSums or roundParameters
Rounding roundingOf(const PrecisionSettings& precision, Operation operation);

/// The largest number that products can read of activations: scaled formats follow the tensor.
inline float largestOperand(const PrecisionSettings& precision) {
    const Rounding how = roundingOf(precision, Operation::roundActivations);
    return rowOf(how.scaled ? FloatKind::fp32 : how.kind).largest();
}

/// Some operation of a step has a scale.
inline bool scales(const PrecisionSettings& precision) {
    return precision.format == OperandFormat::fp8 ||
           (precision.format == OperandFormat::fp16 && precision.lossScaling);
}

/// Rounds parameters that a run begins or goes on with to the nearest numbers of the format in which they are
/// stored. Those that training has left there are such numbers already.
void roundStored(const PrecisionSettings& precision, std::span<float> parameters);

/// "bf16, emulated": beside every result, for its times are not those of hardware with this format. Empty for
/// fp32.
std::string emulationText(const PrecisionSettings& precision);

/// Numbers the tensors of a step that may have a scale, from 0 on. `layer` is the operation's.
constexpr std::size_t scaleSlot(Operation operation, std::size_t layer) {
    return 3 * layer + static_cast<std::size_t>(operation) -
           static_cast<std::size_t>(Operation::roundActivations);
}
constexpr std::size_t scaleSlots(std::size_t layers) { return 3 * layers; }

} // namespace lockstep
