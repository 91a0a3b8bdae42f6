// The architecture of a network as a value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shaders/shared/params.h"

namespace lockstep {

/// The function that follows a layer's sums. shaders/shared/activations.h has a row with its formula.
enum class Activation : std::uint32_t {
#define LOCKSTEP_ROW(number, id, ...) id = number,
    LOCKSTEP_ACTIVATIONS(LOCKSTEP_ROW)
#undef LOCKSTEP_ROW
};

/// All of them, in the order of the table.
inline constexpr Activation allActivations[] = {
#define LOCKSTEP_ROW(number, id, ...) Activation::id,
    LOCKSTEP_ACTIVATIONS(LOCKSTEP_ROW)
#undef LOCKSTEP_ROW
};

/// The loss function (net/plain_ops.h has the formulas). All are means, as with PyTorch's `reduction="mean"`:
/// cross-entropy over the rows, the others over rows and outputs.
enum class Loss : std::uint32_t {
    crossEntropy = shared::lossCrossEntropy,
    meanSquared = shared::lossMeanSquared,
    huber = shared::lossHuber,
    binaryCrossEntropy = shared::lossBinaryCrossEntropy,
};

/// Distribution of the initial weights of a layer with `in` inputs and `out` outputs. Biases start at 0.
enum class InitScheme : std::uint32_t {
    he,      ///< normal, variance 2 / in (`torch.nn.init.kaiming_normal_(nonlinearity="relu")`)
    xavier,  ///< normal, variance 2 / (in + out) (`torch.nn.init.xavier_normal_`)
    lecun,   ///< normal, variance 1 / in
    uniform, ///< uniform in [-0.5, 0.5), as in TensorFlow Playground
    zeros,   ///< all 0: nothing breaks the symmetry, so only biases learn
};

/// Layer sizes and the functions between them. `widths` = {inputs, hidden..., outputs}; a network has
/// `widths.size() - 1` dense layers.
struct NetShape {
    std::vector<std::size_t> widths;
    Activation activation = Activation::relu;           ///< after every hidden layer
    Activation outputActivation = Activation::identity; ///< after the last layer
    Loss loss = Loss::crossEntropy;
    InitScheme init = InitScheme::he;

    std::size_t layers() const { return widths.size() - 1; }
    std::size_t inputs() const { return widths.front(); }
    std::size_t outputs() const { return widths.back(); }
    std::size_t widest() const { return *std::ranges::max_element(widths); }
    Activation activationOf(std::size_t layer) const {
        return layer + 1 == layers() ? outputActivation : activation;
    }
    /// The number of weights and biases.
    std::size_t parameters() const;
    /// Floating-point operations of one example's training step, products only: 2 per weight forward, 2 for
    /// the weight gradient and 2 for the input gradient of every layer but the first.
    double flopsPerExample() const;
    /// The rows that `numbers` are, of inputs() each. Throws std::invalid_argument if the last is incomplete.
    std::size_t rowsIn(std::span<const float> numbers) const;
    /// "784-256-128-10"
    std::string describeWidths() const;

    /// Throws std::invalid_argument when the shape makes no sense: fewer than two widths, a width of 0 or
    /// above 65,000, cross-entropy with a single output, or an output activation before a cross-entropy.
    void validate() const;

    bool operator==(const NetShape&) const = default;
};

/// Names as in options, JSON and checkpoints: "leaky-relu", "cross-entropy", "he", ...
std::string_view name(Activation value);
std::string_view name(Loss value);
std::string_view name(InitScheme value);

/// The formula of an activation, for people: "max(0, z)".
std::string_view formula(Activation value);

/// The value of a name. Throws std::invalid_argument, which lists the names and suggests the nearest.
Activation activationFromName(std::string_view text);
Loss lossFromName(std::string_view text);
InitScheme initSchemeFromName(std::string_view text);

/// Rows of matrices start at multiples of four floats, so that every row can be read as vec4.
inline std::size_t roundUpToFour(std::size_t value) { return (value + 3) / 4 * 4; }

} // namespace lockstep
