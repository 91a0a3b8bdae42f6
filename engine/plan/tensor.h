// The tensors of a training step, by name. Notation as in engine/step/ops.h.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/net/net_shape.h"

namespace lockstep {

/// `state1` and `state2` are what the optimizer keeps (momentum, mean squares); `weightCopies` are what
/// products read in their place where that is another number format; `hostActivations` and `hostSums` are
/// what a device has copied to the host's memory (rewrite_offload.cpp).
enum class TensorKind {
    activations,
    targets,
    sums,
    dSums,
    weights,
    bias,
    dWeights,
    dBias,
    weightState1,
    biasState1,
    weightState2,
    biasState2,
    weightCopies,
    hostActivations,
    hostSums,
};

/// Memory that tensors of a kind share. Those of `parameters`, `gradients`, `state1` and `state2` lie in it
/// by ParamLayout.
enum class TensorArena {
    activations,
    targets,
    sums,
    dSums,
    hostActivations,
    parameters,
    gradients,
    state1,
    state2,
    weightCopies,
};
inline constexpr std::size_t tensorArenas = static_cast<std::size_t>(TensorArena::weightCopies) + 1;

/// It holds examples of the batch at hand, one per row.
constexpr bool ofBatch(TensorArena arena) { return arena <= TensorArena::hostActivations; }
constexpr bool byParamLayout(TensorArena arena) {
    return arena >= TensorArena::parameters && arena <= TensorArena::state2;
}

struct TensorKindRow {
    std::string_view letters;
    TensorArena arena = TensorArena::activations;
    bool vector = false; ///< of a layer's biases, not of its weights
};

/// In the order of TensorKind.
inline constexpr TensorKindRow tensorKinds[] = {
    {"A", TensorArena::activations},
    {"t", TensorArena::targets},
    {"Z", TensorArena::sums},
    {"dZ", TensorArena::dSums},
    {"W", TensorArena::parameters},
    {"b", TensorArena::parameters, true},
    {"dW", TensorArena::gradients},
    {"db", TensorArena::gradients, true},
    {"m of W", TensorArena::state1},
    {"m of b", TensorArena::state1, true},
    {"v of W", TensorArena::state2},
    {"v of b", TensorArena::state2, true},
    {"W rounded", TensorArena::weightCopies},
    {"A on the host", TensorArena::hostActivations},
    {"Z on the host", TensorArena::hostActivations},
};

constexpr const TensorKindRow& rowOf(TensorKind kind) { return tensorKinds[static_cast<std::size_t>(kind)]; }

/// How a number is stored. Class numbers as targets take as many bytes as an fp32.
enum class NumberFormat { fp32, fp16 };
constexpr std::size_t bytesOf(NumberFormat format) { return format == NumberFormat::fp16 ? 2 : 4; }

/// half   of a run of half precision
constexpr NumberFormat formatOf(TensorKind kind, bool half) {
    const bool operand = kind == TensorKind::activations || kind == TensorKind::sums ||
                         kind == TensorKind::dSums || kind == TensorKind::weightCopies ||
                         kind == TensorKind::hostActivations || kind == TensorKind::hostSums;
    return half && operand ? NumberFormat::fp16 : NumberFormat::fp32;
}

/// Identifies a tensor of a step. A step writes every tensor at most once, but for those that it rounds in
/// place. Parameters and the optimizer's state exist twice: as the step found them, and `updated`.
struct TensorId {
    TensorKind kind = TensorKind::activations;
    std::size_t layer = 0; ///< A's level, or the layer
    bool updated = false;

    auto operator<=>(const TensorId&) const = default; // NOLINT(modernize-use-nullptr): LLVM 14
};

/// "A[1]", "W[0]", "dZ[1]", "dW[0]", "b[0]", "m of W[0]", "t"; the same whether `updated` or not.
std::string name(const TensorId& id);

/// Without padding.
struct TensorSize {
    std::size_t rows = 0;
    std::size_t columns = 0;

    std::size_t values() const { return rows * columns; }
};

/// batch         examples at hand
/// targetWidth   numbers per target; 1 for class numbers
TensorSize sizeOf(const TensorId& id, const NetShape& net, std::size_t batch, std::size_t targetWidth);

/// The tensor from which the derivative of a layer's activation is computed: Z[layer], or A[layer + 1].
TensorId savedOf(const NetShape& net, std::size_t layer);

} // namespace lockstep
