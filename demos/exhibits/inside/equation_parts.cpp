#include "demos/exhibits/inside/equation_parts.h"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep::demos {

std::vector<EquationPart> equationParts(const TracedOperation& operation, const NetShape& shape) {
    const std::size_t l = operation.layer;
    const auto product = [](std::string_view plain) { // and how the rungs' shaders add to its sum
        return std::vector<std::string_view>{plain,         "sum = fma(",    "= fma(a[",
                                             "fma(a[kk], ", "= fma(vec4(a[", "= MULTIPLY_ADD("};
    };
    std::vector<EquationPart> parts;
    switch (operation.shownAs()) {
    case Operation::dense:
        parts.push_back({fmt::format("A[{0}] W[{0}]^T", l), product("+= x[i] * w[i]")});
        parts.push_back({fmt::format("b[{}]", l), {"+= bias[o]", "product + bias"}});
        if (shape.activationOf(l) != Activation::identity)
            parts.push_back({std::string(name(shape.activationOf(l))), {"activate(activation"}});
        break;
    case Operation::lossAndGradient:
        if (operation.operation == Operation::lossSum) break;
        parts.push_back({"loss", {"= rowLoss(", "(rowLoss("}});
        parts.push_back({fmt::format("dZ[{}]", shape.layers() - 1),
                         {"= outputGradient(", "rowGradient(shape, y, target, dz"}});
        break;
    case Operation::denseBackwardInputs:
        parts.push_back({fmt::format("dZ[{0}] W[{0}]", l), product("+= dz[o] * w[i]")});
        if (const Activation below = shape.activationOf(l - 1); below != Activation::identity)
            parts.push_back({fmt::format("{}'(Z[{}])", name(below), l - 1),
                             {"activationDerivative(activation,", "activationDerivative(previous,"}});
        break;
    case Operation::denseBackwardWeights:
        parts.push_back({fmt::format("dZ[{0}]^T A[{0}]", l), product("+= dz * x[i]")});
        parts.push_back({fmt::format("Σ dZ[{}]", l),
                         {"biasSum += ", "+= dz;", "rowSum[m] += a", "rowSum[i] += a", "= rowSum[m] + a",
                          "sum += unpackFour("}});
        break;
    default: break;
    }
    return parts;
}

std::optional<std::size_t> partComputedBy(std::string_view line, std::span<const EquationPart> parts) {
    line = line.substr(0, line.find("//"));
    const auto computed = [line](const EquationPart& part) {
        return std::ranges::any_of(
            part.code, [line](std::string_view code) { return line.find(code) != std::string_view::npos; });
    };
    const auto found = std::ranges::find_if(parts, computed);
    if (found == parts.end()) return std::nullopt;
    return static_cast<std::size_t>(found - parts.begin());
}

} // namespace lockstep::demos
