// Pictures of sums in several orders.
#pragma once

#include <string>
#include <string_view>

#include <imgui.h>

#include "demos/draw/ui.h"
#include "demos/lab/lab_result.h"

namespace lockstep::demos {

/// The key in LabResult::numbers for one way to add up.
///   what   "sum", "error_units", "results", "runs", "microseconds"
std::string sumNumberName(bool gpu, std::string_view series, std::string_view what);

/// A tree and a loop over the same 16 numbers, an addition after another: 2^24 and fifteen ones. The loop
/// rounds every one away; the tree adds them up before they meet 2^24.
///   still   without sums: before anything is measured, when they would be the answer
void drawSumOrders(const Ui& ui, ImVec2 at, ImVec2 size, double seconds, bool still);

/// Every way with its sum; where a float could be nearer, digits that differ from the exact ones stand out.
void drawSumTable(const Ui& ui, const LabResult& result, ImVec2 at, ImVec2 size);

} // namespace lockstep::demos
