#include "engine/run/settings_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"
#include "engine/net/setting_table.h"

namespace lockstep {

namespace {

using nlohmann::ordered_json;

template <class Field> void forEachField(NetShape& shape, Field field) {
    field("widths", shape.widths);
    field("activation", shape.activation, activationFromName);
    field("output_activation", shape.outputActivation, activationFromName);
    field("loss", shape.loss, lossFromName);
    field("init", shape.init, initSchemeFromName);
}

template <class Field> void forEachField(TrainSettings& settings, Field field) {
    OptimizerSettings& optimizer = settings.optimizer;
    field("optimizer", optimizer.kind, optimizerFromName);
    field("batch", settings.batch);
    field("seed", settings.seed);
    field("shuffle", settings.shuffle);
    field("schedule", optimizer.schedule, scheduleFromName);
    for (const SettingRow& row : settingTable)
        std::visit(
            [&](auto of) {
                if constexpr (std::is_same_v<decltype(of), OwnOrSet>)
                    field(row.key.data(), optimizer.*(of.field));
                else
                    field(row.key.data(), optimizer.*of);
            },
            row.field);
    field("recompute", settings.memory.recompute);
    field("accumulate", settings.memory.accumulate);
    field("offload", settings.memory.offload, offloadFromName);
    field("format", settings.precision.format, operandFormatFromName);
    field("loss_scaling", settings.precision.lossScaling);
    field("master_weights", settings.precision.masterWeights);
    field("rounding", settings.precision.rounding, roundingModeFromName);
}

template <class Field> void forEachField(DataOptions& options, Field field) {
    field("seed", options.seed);
    field("samples", options.samples);
    field("noise", options.noise);
    field("test_share", options.testShare);
    field("label", options.table.target);
    field("target", options.table.task, tableTasks);
    field("header", options.table.header, tableHeaders);
    field("separator", options.table.separator, tableSeparators);
    field("decimal", options.table.decimal, tableDecimals);
    field("missing", options.table.missing, missingCells);
    field("ignore", options.table.ignore);
    field("scale", options.table.scale, inputScales);
    field("classes", options.classNames);
}

template <class Field> void forEachField(TableReasons& why, Field field) {
    field("separator", why.separator);
    field("decimal", why.decimal);
    field("header", why.header);
    field("target", why.target);
    field("task", why.task);
    field("scale", why.scale);
}

template <class Field> void forEachField(TableColumn& column, Field field) {
    field("name", column.name);
    field("role", column.role, columnRoles);
    field("kind", column.kind, columnKinds);
    field("why", column.why);
    field("words", column.words);
    field("least", column.least);
    field("least_line", column.leastLine);
    field("most", column.most);
    field("most_line", column.mostLine);
    field("mean", column.mean);
    field("deviation", column.deviation);
    field("scaled", column.scaled);
}

// Versions that did not scale tables read them so: the last column is the target, and every other one is a
// feature, as it stands.
ordered_json olderTable(ordered_json json) {
    if (json.is_object() && !json.contains("scale")) {
        const TableOptions older{.separator = TableSeparator::comma,
                                 .decimal = TableDecimal::point,
                                 .ignore = {"none"},
                                 .scale = InputScale::none};
        const ordered_json usual = toJson(DataOptions{.table = older});
        for (const char* name : {"separator", "decimal", "missing", "ignore", "scale"})
            json[name] = usual[name];
        if (json.contains("label") && json["label"] == "") json["label"] = "last";
    }
    return json;
}

// Versions without remedies for memory used none, and those without other number formats computed in fp32.
ordered_json olderSettings(ordered_json json) {
    const auto addUsual = [&json](std::initializer_list<const char*> names) {
        if (!json.is_object() || json.contains(*names.begin())) return;
        const ordered_json usual = toJson(TrainSettings{});
        for (const char* name : names) json[name] = usual[name];
    };
    addUsual({"recompute", "accumulate", "offload"});
    addUsual({"format", "loss_scaling"});
    addUsual({"master_weights", "rounding"});
    return json;
}

template <class Group> ordered_json written(Group group) {
    ordered_json json;
    forEachField(group, JsonWriter{json});
    return json;
}

template <class Group> Group read(const ordered_json& json) {
    Group group;
    forEachField(group, JsonReader{json});
    return group;
}

} // namespace

ordered_json toJson(const NetShape& shape) {
    ordered_json json = written(shape);
    json["parameters"] = shape.parameters();
    return json;
}

ordered_json toJson(const TrainSettings& settings) {
    TrainSettings effective = settings;
    effective.optimizer = effectiveSettings(settings.optimizer);
    return written(effective);
}

ordered_json toJson(const DataOptions& options) { return written(options); }

NetShape netShapeFromJson(const ordered_json& json) {
    const auto shape = read<NetShape>(json);
    shape.validate();
    return shape;
}

TrainSettings trainSettingsFromJson(const ordered_json& json) {
    auto settings = read<TrainSettings>(olderSettings(json));
    // The numbers that stand for the optimizer's own in files.
    if (settings.optimizer.learningRate == 0.0) settings.optimizer.learningRate.reset();
    if (settings.optimizer.weightDecay == -1.0) settings.optimizer.weightDecay.reset();
    if (settings.batch == 0) throw std::invalid_argument("'batch' must be at least 1");
    settings.optimizer.validate();
    settings.memory.validate(settings.batch);
    settings.precision.validate();
    return settings;
}

DataOptions dataOptionsFromJson(const ordered_json& json) { return read<DataOptions>(olderTable(json)); }

ordered_json toJson(const TableSchema& table) {
    ordered_json each = ordered_json::array();
    for (const TableColumn& column : table.columns) each.push_back(written(column));
    ordered_json targets = ordered_json::array();
    for (const std::size_t column : table.targets) targets.push_back(column + 1);
    return {{"header", table.header},
            {"separator", std::string(1, table.separator)},
            {"decimal", std::string(1, table.decimal)},
            {"targets", targets},
            {"task", table.classes ? "classes" : "values"},
            {"scale", nameOf(inputScales, table.scale)},
            {"missing", nameOf(missingCells, table.missing)},
            {"rows", table.rows},
            {"rows_dropped", table.dropped},
            {"cells_filled", table.filled},
            {"why", written(table.why)},
            {"each", each}};
}

TableSchema tableSchemaFromJson(const ordered_json& json) {
    const auto sign = [&json](const char* name) {
        const auto text = jsonValue<std::string>(json, name);
        if (text.size() != 1) throw std::invalid_argument(concat("'", name, "' must be one character"));
        return text.front();
    };
    TableSchema table;
    table.header = jsonValue<bool>(json, "header");
    table.separator = sign("separator");
    table.decimal = sign("decimal");
    table.classes =
        valueFromName(tableTasks, "task", jsonValue<std::string>(json, "task")) == TableTask::classes;
    table.scale = valueFromName(inputScales, "scale", jsonValue<std::string>(json, "scale"));
    table.missing = valueFromName(missingCells, "missing", jsonValue<std::string>(json, "missing"));
    table.rows = jsonValue<std::uint64_t>(json, "rows");
    table.dropped = jsonValue<std::uint64_t>(json, "rows_dropped");
    table.filled = jsonValue<std::uint64_t>(json, "cells_filled");
    table.why = read<TableReasons>(jsonField(json, "why"));
    const ordered_json& each = jsonField(json, "each");
    if (!each.is_array()) throw std::invalid_argument("'each' must be a list of columns");
    for (const ordered_json& column : each) {
        table.columns.push_back(read<TableColumn>(column));
        const ColumnRole role = table.columns.back().role;
        if (role == ColumnRole::feature) table.features.push_back(table.columns.size() - 1);
        if (role == ColumnRole::target) table.targets.push_back(table.columns.size() - 1);
        if (!std::isfinite(table.columns.back().mean) || !(table.columns.back().deviation >= 0))
            throw std::invalid_argument("a column's 'mean' and 'deviation' must be finite numbers");
        if (role == ColumnRole::feature && table.columns.back().inputs() == 0)
            throw std::invalid_argument("a feature of words must have 'words'");
    }
    if (table.features.empty()) throw std::invalid_argument("'each' has no feature");
    return table;
}

} // namespace lockstep
