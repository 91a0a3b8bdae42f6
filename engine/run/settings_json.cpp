#include "engine/run/settings_json.h"

#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"

namespace lockstep {

namespace {

using nlohmann::ordered_json;

// In the order of CsvTarget and of CsvHeader.
constexpr std::string_view targetWords[] = {"automatic", "classes", "values"};
constexpr std::string_view headerWords[] = {"automatic", "present", "absent"};

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
    field("lr", optimizer.learningRate);
    field("batch", settings.batch);
    field("seed", settings.seed);
    field("shuffle", settings.shuffle);
    field("momentum", optimizer.momentum);
    field("nesterov", optimizer.nesterov);
    field("beta1", optimizer.beta1);
    field("beta2", optimizer.beta2);
    field("alpha", optimizer.alpha);
    field("epsilon", optimizer.epsilon);
    field("weight_decay", optimizer.weightDecay);
    field("l1", optimizer.l1);
    field("schedule", optimizer.schedule, scheduleFromName);
    field("schedule_steps", optimizer.scheduleSteps);
    field("schedule_gamma", optimizer.scheduleGamma);
    field("warmup_steps", optimizer.warmupSteps);
}

template <class Field> void forEachField(DataOptions& options, Field field) {
    field("seed", options.seed);
    field("samples", options.samples);
    field("noise", options.noise);
    field("test_share", options.testShare);
    field("label", options.labelColumn);
    field("target", options.target, targetWords);
    field("header", options.header, headerWords);
    field("classes", options.classNames);
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
    effective.optimizer.learningRate = settings.optimizer.effectiveLearningRate();
    effective.optimizer.weightDecay = settings.optimizer.effectiveWeightDecay();
    return written(effective);
}

ordered_json toJson(const DataOptions& options) { return written(options); }

NetShape netShapeFromJson(const ordered_json& json) {
    const auto shape = read<NetShape>(json);
    shape.validate();
    return shape;
}

TrainSettings trainSettingsFromJson(const ordered_json& json) {
    const auto settings = read<TrainSettings>(json);
    if (settings.batch == 0) throw std::invalid_argument("'batch' must be at least 1");
    settings.optimizer.validate();
    return settings;
}

DataOptions dataOptionsFromJson(const ordered_json& json) { return read<DataOptions>(json); }

} // namespace lockstep
