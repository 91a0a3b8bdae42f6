// What a person sets for a race, and the same as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "demos/options/run_options.h"

namespace lockstep::demos {

struct RaceSettings {
    RunOptions run;
    bool together = false; ///< head to head; else a time trial
};

inline constexpr std::size_t mostLanes = 6;
inline constexpr std::size_t largestBatch = 65536;

/// {"data", "data_options", "hidden", "activation", "output_activation", "loss", "init", "settings",
/// "finish", "together", "lanes"}: `hidden`, `loss` and `finish` are null, and `lanes` is empty, where the
/// choice is left to the data and the machine.
nlohmann::ordered_json toJson(const RaceSettings& settings);

/// The settings back. What is missing is as at the first start; in "settings" and "data_options", too. Throws
/// std::invalid_argument naming the field.
RaceSettings raceSettingsFromJson(const nlohmann::ordered_json& json);

/// The data and its options as one text: equal for the same data.
std::string dataKey(const RaceSettings& settings);

} // namespace lockstep::demos
