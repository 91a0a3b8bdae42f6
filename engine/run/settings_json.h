// The settings of a run as JSON, with the same keys in checkpoints, results and state files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/data/data_source.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"

namespace lockstep {

/// {"widths", "activation", "output_activation", "loss", "init", "parameters"}.
nlohmann::ordered_json toJson(const NetShape& shape);
/// {"optimizer", "batch", "seed", "shuffle", "schedule"}, and the keys of engine/net/setting_table.h, "lr" to
/// "warmup_steps": rate and weight decay have their effective values, and every number reads back as the same
/// double.
nlohmann::ordered_json toJson(const TrainSettings& settings);
/// {"seed", "samples", "noise", "test_share", "label", "target", "header", "separator", "decimal", "missing",
/// "ignore", "scale", "classes"}: "label" is the target's column, "target" the task.
nlohmann::ordered_json toJson(const DataOptions& options);
/// How a table was understood: {"header", "separator", "decimal", "targets" (numbers from 1), "task",
/// "scale", "missing", "rows", "rows_dropped", "cells_filled", "why": {"separator", "decimal", "header",
/// "target", "task", "scale"}, "each": one object per column, {"name", "role", "kind", "why", "words",
/// "least", "least_line", "most", "most_line", "mean", "deviation", "scaled"}}.
nlohmann::ordered_json toJson(const TableSchema& table);

/// Parses the values; ignores "parameters". Throws std::invalid_argument naming the missing or invalid field,
/// and as NetShape::validate() and OptimizerSettings::validate().
NetShape netShapeFromJson(const nlohmann::ordered_json& json);
TrainSettings trainSettingsFromJson(const nlohmann::ordered_json& json);
/// Options without "scale" are those of a version that did not scale tables, and mean what they meant there.
DataOptions dataOptionsFromJson(const nlohmann::ordered_json& json);
TableSchema tableSchemaFromJson(const nlohmann::ordered_json& json);

} // namespace lockstep
