// Every group of settings lists its fields once, in the order of the JSON; a writer or a reader visits them.
#include "engine/run/settings_json.h"

#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

using nlohmann::ordered_json;

constexpr NameOf<CsvTarget> targetNames[] = {
    {CsvTarget::automatic, "automatic"}, {CsvTarget::classes, "classes"}, {CsvTarget::values, "values"}};

constexpr NameOf<CsvHeader> headerNames[] = {
    {CsvHeader::automatic, "automatic"}, {CsvHeader::present, "present"}, {CsvHeader::absent, "absent"}};

std::string_view name(CsvTarget value) { return nameOf(targetNames, value); }
std::string_view name(CsvHeader value) { return nameOf(headerNames, value); }

void parse(std::string_view text, Activation& value) { value = activationFromName(text); }
void parse(std::string_view text, Loss& value) { value = lossFromName(text); }
void parse(std::string_view text, InitScheme& value) { value = initSchemeFromName(text); }
void parse(std::string_view text, Optimizer& value) { value = optimizerFromName(text); }
void parse(std::string_view text, Schedule& value) { value = scheduleFromName(text); }
void parse(std::string_view text, CsvTarget& value) { value = valueFromName(targetNames, "target", text); }
void parse(std::string_view text, CsvHeader& value) { value = valueFromName(headerNames, "header", text); }

struct Writer {
    ordered_json& json;

    template <class T> void operator()(const char* key, const T& value) const {
        if constexpr (std::is_enum_v<T>)
            json[key] = name(value);
        else
            json[key] = value;
    }
};

struct Reader {
    const ordered_json& json;

    template <class T> void operator()(const char* key, T& value) const {
        if constexpr (std::is_enum_v<T>)
            parse(jsonValue<std::string>(json, key), value);
        else
            value = jsonValue<T>(json, key);
    }
};

template <class Visitor> void visit(NetShape& shape, Visitor field) {
    field("widths", shape.widths);
    field("activation", shape.activation);
    field("output_activation", shape.outputActivation);
    field("loss", shape.loss);
    field("init", shape.init);
}

template <class Visitor> void visit(TrainSettings& settings, Visitor field) {
    OptimizerSettings& optimizer = settings.optimizer;
    field("optimizer", optimizer.kind);
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
    field("schedule", optimizer.schedule);
    field("schedule_steps", optimizer.scheduleSteps);
    field("schedule_gamma", optimizer.scheduleGamma);
    field("warmup_steps", optimizer.warmupSteps);
}

template <class Visitor> void visit(DataOptions& options, Visitor field) {
    field("seed", options.seed);
    field("samples", options.samples);
    field("noise", options.noise);
    field("test_share", options.testShare);
    field("label", options.labelColumn);
    field("target", options.target);
    field("header", options.header);
    field("classes", options.classNames);
}

template <class Group> ordered_json written(Group group) {
    ordered_json json;
    visit(group, Writer{json});
    return json;
}

template <class Group> Group read(const ordered_json& json) {
    Group group;
    visit(group, Reader{json});
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
