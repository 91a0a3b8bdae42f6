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

std::vector<std::size_t> widthsFromJson(const ordered_json& json) {
    std::vector<std::size_t> widths;
    for (const ordered_json& width : jsonField(json, "widths")) {
        if (!width.is_number_unsigned()) throw std::invalid_argument("'widths' must be whole numbers");
        widths.push_back(width.get<std::size_t>());
    }
    return widths;
}

std::vector<std::string> classesFromJson(const ordered_json& json) {
    std::vector<std::string> classes;
    for (const ordered_json& text : jsonField(json, "classes")) {
        if (!text.is_string()) throw std::invalid_argument("'classes' must be texts");
        classes.push_back(text.get<std::string>());
    }
    return classes;
}

} // namespace

ordered_json toJson(const NetShape& shape) {
    return {{"widths", shape.widths},
            {"activation", name(shape.activation)},
            {"output_activation", name(shape.outputActivation)},
            {"loss", name(shape.loss)},
            {"init", name(shape.init)},
            {"parameters", shape.parameters()}};
}

ordered_json toJson(const TrainSettings& settings) {
    const OptimizerSettings& optimizer = settings.optimizer;
    return {{"optimizer", name(optimizer.kind)},
            {"lr", optimizer.effectiveLearningRate()},
            {"batch", settings.batch},
            {"seed", settings.seed},
            {"shuffle", settings.shuffle},
            {"momentum", optimizer.momentum},
            {"nesterov", optimizer.nesterov},
            {"beta1", optimizer.beta1},
            {"beta2", optimizer.beta2},
            {"alpha", optimizer.alpha},
            {"epsilon", optimizer.epsilon},
            {"weight_decay", optimizer.effectiveWeightDecay()},
            {"l1", optimizer.l1},
            {"schedule", name(optimizer.schedule)},
            {"schedule_steps", optimizer.scheduleSteps},
            {"schedule_gamma", optimizer.scheduleGamma},
            {"warmup_steps", optimizer.warmupSteps}};
}

ordered_json toJson(const DataOptions& options) {
    return {{"seed", options.seed},
            {"samples", options.samples},
            {"noise", options.noise},
            {"test_share", options.testShare},
            {"label", options.labelColumn},
            {"target", nameOf(targetNames, options.target)},
            {"header", nameOf(headerNames, options.header)},
            {"classes", options.classNames}};
}

NetShape netShapeFromJson(const ordered_json& json) {
    NetShape shape;
    shape.widths = widthsFromJson(json);
    shape.activation = activationFromName(jsonValue<std::string>(json, "activation"));
    shape.outputActivation = activationFromName(jsonValue<std::string>(json, "output_activation"));
    shape.loss = lossFromName(jsonValue<std::string>(json, "loss"));
    shape.init = initSchemeFromName(jsonValue<std::string>(json, "init"));
    shape.validate();
    return shape;
}

TrainSettings trainSettingsFromJson(const ordered_json& json) {
    TrainSettings settings;
    settings.batch = jsonValue<std::size_t>(json, "batch");
    settings.seed = jsonValue<std::uint64_t>(json, "seed");
    settings.shuffle = jsonValue<bool>(json, "shuffle");
    if (settings.batch == 0) throw std::invalid_argument("'batch' must be at least 1");

    OptimizerSettings& optimizer = settings.optimizer;
    optimizer.kind = optimizerFromName(jsonValue<std::string>(json, "optimizer"));
    optimizer.learningRate = jsonValue<double>(json, "lr");
    optimizer.momentum = jsonValue<double>(json, "momentum");
    optimizer.nesterov = jsonValue<bool>(json, "nesterov");
    optimizer.beta1 = jsonValue<double>(json, "beta1");
    optimizer.beta2 = jsonValue<double>(json, "beta2");
    optimizer.alpha = jsonValue<double>(json, "alpha");
    optimizer.epsilon = jsonValue<double>(json, "epsilon");
    optimizer.weightDecay = jsonValue<double>(json, "weight_decay");
    optimizer.l1 = jsonValue<double>(json, "l1");
    optimizer.schedule = scheduleFromName(jsonValue<std::string>(json, "schedule"));
    optimizer.scheduleSteps = jsonValue<std::uint64_t>(json, "schedule_steps");
    optimizer.scheduleGamma = jsonValue<double>(json, "schedule_gamma");
    optimizer.warmupSteps = jsonValue<std::uint64_t>(json, "warmup_steps");
    optimizer.validate();
    return settings;
}

DataOptions dataOptionsFromJson(const ordered_json& json) {
    DataOptions options;
    options.seed = jsonValue<std::uint64_t>(json, "seed");
    options.samples = jsonValue<std::size_t>(json, "samples");
    options.noise = jsonValue<double>(json, "noise");
    options.testShare = jsonValue<double>(json, "test_share");
    options.labelColumn = jsonValue<std::string>(json, "label");
    options.target = valueFromName(targetNames, "target", jsonValue<std::string>(json, "target"));
    options.header = valueFromName(headerNames, "header", jsonValue<std::string>(json, "header"));
    options.classNames = classesFromJson(json);
    return options;
}

} // namespace lockstep
