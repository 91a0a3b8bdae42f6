// What is said of rungs and their accesses.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/exhibits/ladder/access_record.h"
#include "demos/exhibits/ladder/rung_result.h"
#include "demos/kit/roof.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

/// Why a device cannot run the rung, without the names of both: "it reads at most 64 bytes as texels".
std::string_view refusalReason(const RungResult& result);
/// Of a bar in the staircase: "6.38 GFLOP/s", "wrong result", "cannot run here", "not measured".
std::string shortResult(const RungResult* result);
/// "25.2 % of the roof"; empty where there is no time or no roof.
std::string roofShare(const RungResult* result, const Roof& roof);
/// Names and numbers of a rung, for the panel beside it. Those that differ from run to run are given to
/// `timing` first.
std::vector<std::pair<std::string, std::string>> numbersOf(const RungResult& result, const Roof* roof);
/// Whether the losses were the plain rung's, in a sentence.
std::string checkText(const RungResult& result);

/// What the invocations do at their `moment`-th access: what is touched, and how far apart neighbours are.
std::string momentText(const AccessRecord& record, std::size_t moment);
/// What the whole workgroup does: reads and writes, per output.
std::string recordText(const AccessRecord& record);
/// The most accesses that an invocation makes.
std::size_t moments(const AccessRecord& record);

} // namespace lockstep::demos
