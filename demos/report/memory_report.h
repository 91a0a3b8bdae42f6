// The memory of a race's lanes, by what it is for: as predicted from the plan of a step, and as allocated.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/run/race.h"

namespace lockstep::demos {

/// {"predicted_bytes", "allocated_bytes", "categories": {NAME: {"predicted_bytes", "allocated_bytes"}}}, all
/// of memoryCategories.
nlohmann::ordered_json memoryJson(const std::vector<MemoryUse>& predicted,
                                  const std::vector<MemoryUse>& allocated);

/// How a run saves memory, in the language spoken now: "outputs of one layer in 3 kept", "batch in 4 parts",
/// "optimizer state in the host's memory". Empty: it does not.
std::vector<std::string> savingTexts(const MemorySettings& memory);

/// A table with a row per lane that started, in MiB; below it, whether that is what was predicted.
std::string memoryText(const std::vector<LaneResult>& lanes);

} // namespace lockstep::demos
