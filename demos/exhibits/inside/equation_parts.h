// Which line of a source computes which part of an operation's formula.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/net/net_shape.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// A part of a formula, and how the shaders and the plain loops write it.
struct EquationPart {
    std::string text;                   ///< as it stands in formulaOf(): "A[0] W[0]^T"
    std::vector<std::string_view> code; ///< a line with one of these computes it
};

/// The parts of the formula that single lines compute; none for operations whose lines are not told apart.
std::vector<EquationPart> equationParts(const TracedOperation& operation, const NetShape& shape);

/// The part that a line computes, by its place among `parts`; empty: none. A comment computes nothing.
std::optional<std::size_t> partComputedBy(std::string_view line, std::span<const EquationPart> parts);

} // namespace lockstep::demos
