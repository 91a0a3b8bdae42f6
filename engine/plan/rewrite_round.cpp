// Mixed precision, emulated (Micikevicius et al. 2018, "Mixed precision training", arXiv 1710.03740;
// Micikevicius et al. 2022, "FP8 formats for deep learning", arXiv 2209.05433). Whatever a product reads is
// rounded to a format first: activations and gradients of sums in place, behind the operation that wrote
// them, and weights into copies at the begin of the step. All sums, the parameters that the optimizer
// changes, their gradients and the optimizer's state stay fp32, as they do on hardware that multiplies in
// these formats. The rounded numbers are stored as fp32, and the products are those of fp32: they take as
// long as before, and longer by what rounding takes. A product of two numbers of 16 bits or fewer is exact in
// fp32, so results differ from such hardware's only in the order and the rounding of sums.
//
// The outputs of the last layer are no operand: the loss reads them as they are. Where an activation's
// derivative is computed from outputs, it is computed from rounded ones.
//
// fp8 needs a scale for each tensor: its normal numbers span 2^15 (e4m3) or 2^30 (e5m2) only. It follows
// from the tensor's own largest number at that step, so nothing finite overflows or has to be cut off, and
// a run can be resumed without a history of scales. An infinite number stays infinite, or becomes NaN in
// e4m3: a run that diverges is noticed. fp16 scales gradients alone, by what the rungs of half precision
// begin with (lossScaleMost), or less where they would overflow. To multiply the loss by a power of two,
// round, and divide the gradients again is the same as to round each dZ to numbers that are smaller by this
// power; sums in fp32 are the same.
//
// Without master weights, the parameters themselves are numbers of the format: they are rounded behind the
// update, and no product needs a copy. To the nearest, an update of less than half the distance to the next
// number is lost, however often it comes; by chance (stochastic rounding), the mean of what is kept is right
// (Gupta et al. 2015, "Deep learning with limited numerical precision", arXiv 1502.02551). Rounding again
// changes no bit either way, so parameters that a step leaves alone stay what they are.
#include <stdexcept>
#include <string>

#include "engine/plan/rewrites.h"
#include "engine/plan/rounding.h"

namespace lockstep {

namespace {

constexpr int anyScale = 1 << 10;
constexpr int mostLossScale = 15; // 2^15: lossScaleMost
static_assert(shared::lossScaleMost == 1 << mostLossScale);

bool readsCopies(const PlannedOperation& each) {
    return each.operation == Operation::dense || each.operation == Operation::denseBackwardInputs;
}

} // namespace

Rounding roundingOf(const PrecisionSettings& precision, Operation operation) {
    const bool gradient = operation == Operation::roundDSums;
    switch (precision.format) {
    case OperandFormat::fp32:
    case OperandFormat::fp64: return {FloatKind::fp32};
    case OperandFormat::tf32: return {FloatKind::tf32};
    case OperandFormat::bf16: return {FloatKind::bf16};
    case OperandFormat::fp16: return {FloatKind::fp16, gradient && precision.lossScaling, mostLossScale};
    case OperandFormat::fp8:
        return {gradient ? FloatKind::e5m2 : FloatKind::e4m3, !gradient || precision.lossScaling, anyScale};
    }
    throw std::invalid_argument("no such format");
}

std::string emulationText(const PrecisionSettings& precision) {
    if (!precision.rounds()) return {};
    const bool unscaled = !precision.lossScaling &&
                          (precision.format == OperandFormat::fp16 || precision.format == OperandFormat::fp8);
    std::string text = std::string(name(precision.format)) + ", emulated";
    if (unscaled) text += ", without loss scaling";
    if (precision.storesParameters()) text += ", without master weights";
    if (precision.storesParameters() && precision.rounding == RoundingMode::stochastic)
        text += ", stochastic rounding";
    return text;
}

void roundStored(const PrecisionSettings& precision, std::span<float> parameters) {
    if (!precision.storesParameters()) return;
    const FloatKind kind = roundingOf(precision, Operation::roundParameters).kind;
    for (float& each : parameters) each = rounded(each, kind);
}

void roundOperands(StepPlan& plan, const NetShape& net, const PrecisionSettings& precision) {
    if (!precision.rounds()) return;
    StepPlan rounded;
    bool weightsAreRounded = precision.storesParameters();
    for (PlannedOperation each : plan.operations) {
        if (!each.parts.empty() && each.operation != Operation::denseBackwardWeightsAndUpdate)
            throw std::logic_error("operands cannot be rounded inside of '" +
                                   std::string(name(each.operation)) + "'");
        each.rounded = !precision.storesParameters() && readsCopies(each);
        rounded.operations.push_back(each);
        const auto then = [&](Operation operation, std::size_t layer) {
            rounded.operations.push_back(
                {operation, layer, 1, {}, each.piece, each.pieces, each.firstPiece, each.endPiece});
        };
        switch (each.operation) {
        case Operation::gatherBatch:
            then(Operation::roundActivations, 0);
            for (std::size_t layer = 0; !weightsAreRounded && layer < net.layers(); ++layer)
                rounded.operations.push_back({Operation::roundWeights, layer});
            weightsAreRounded = true;
            break;
        case Operation::dense:
            if (each.layer + 1 < net.layers()) then(Operation::roundActivations, each.layer + 1);
            break;
        case Operation::lossAndGradient: then(Operation::roundDSums, net.layers() - 1); break;
        case Operation::denseBackwardInputs: then(Operation::roundDSums, each.layer - 1); break;
        default: break;
        }
    }
    if (precision.storesParameters())
        rounded.operations.push_back({Operation::roundParameters, 0, net.layers()});
    plan = std::move(rounded);
}

} // namespace lockstep
