// What a run is made of, as JSON: the same words in checkpoints, results and settings files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/data/data_source.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"

namespace lockstep {

/// {"widths", "activation", "output_activation", "loss", "init", "parameters"}.
nlohmann::ordered_json toJson(const NetShape& shape);
/// {"optimizer", "lr", "batch", "seed", "shuffle", "momentum", "nesterov", "beta1", "beta2", "alpha",
/// "epsilon", "weight_decay", "l1", "schedule", "schedule_steps", "schedule_gamma", "warmup_steps"}: rate and
/// weight decay as they take effect, and every number so that it is read back as the same double.
nlohmann::ordered_json toJson(const TrainSettings& settings);
/// {"seed", "samples", "noise", "test_share", "label", "target", "header", "classes"}.
nlohmann::ordered_json toJson(const DataOptions& options);

/// The values back; "parameters" is not looked at. Throws std::invalid_argument that names the missing or
/// wrong field, and what NetShape::validate() and OptimizerSettings::validate() throw.
NetShape netShapeFromJson(const nlohmann::ordered_json& json);
TrainSettings trainSettingsFromJson(const nlohmann::ordered_json& json);
DataOptions dataOptionsFromJson(const nlohmann::ordered_json& json);

} // namespace lockstep
