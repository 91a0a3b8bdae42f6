// The times of matrix products, continued to a size that is too large to be measured.
#pragma once

#include <cstdint>
#include <optional>

#include <imgui.h>

#include "demos/lab/experiment.h"

namespace lockstep::demos {

inline constexpr std::uint32_t claimed = 10000; ///< rows of the product that the claim is about

/// The last measured point, scaled by the cube of the size; empty: nothing was measured.
std::optional<LabPoint> pointClaimed(const LabSeries* series);

/// The curves, continued in dots by the cube of the size. Where these end, a mark in the curve's own
/// colour names it.
void drawMatrixCurves(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view,
                      ImVec2 size);

} // namespace lockstep::demos
