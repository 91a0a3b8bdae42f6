// The results of `lockstep map`: for people, as JSON (docs/json.md) and as CSV.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/report/map_result.h"

namespace lockstep::demos {

/// What is going to be trained, and where the zoom ends.
std::string mapRequestText(const MapRequest& request);

/// A row per lane, and how far they agree with the first.
std::string mapResultText(const MapRequest& request, const std::vector<MapResult>& lanes);

nlohmann::ordered_json mapJson(const MapRequest& request, const std::vector<MapResult>& lanes);

/// "column,row,x,y,cpu:best,gpu:best": a row per pixel, and an outcome per lane, empty where it was not
/// trained.
std::string mapCsv(const MapRequest& request, const std::vector<MapResult>& lanes);

} // namespace lockstep::demos
