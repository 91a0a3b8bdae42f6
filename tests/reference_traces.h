// PyTorch's runs, read from tests/reference/traces.json (made by make_traces.py beside it): all that a
// trainer needs to repeat one, and the losses and weights that it has to end with.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/net/dataset.h"
#include "engine/net/param_layout.h"
#include "engine/net/settings.h"

namespace lockstep {

struct ReferenceTrace {
    std::string name;
    bool exactRates = false; ///< every number of UpdateParams is exact as a float
    bool far = false;        ///< features of thousands, fewer steps
    std::shared_ptr<const Dataset> data;
    NetShape shape;
    TrainSettings settings;
    std::vector<float> initial; ///< parameter arena; exact, as every first weight is a multiple of 1/256
    std::vector<double> losses; ///< of each step, before its update
    std::vector<double> finalParameters; ///< parameter arena after the last step
};

namespace reference_detail {

inline std::shared_ptr<const Dataset> readData(const nlohmann::json& json, std::size_t inputs,
                                               std::size_t count, const std::string& name, float scale) {
    auto data = std::make_shared<Dataset>();
    data->name = name;
    data->inputs = inputs;
    data->classes = json.at("classes");
    data->targetWidth = json.value("target_width", std::size_t{1});
    data->train.count = count;
    data->train.values = json.at("values").get<std::vector<float>>();
    for (float& value : data->train.values) value *= scale;
    data->train.labels = json.value("labels", std::vector<std::uint32_t>{});
    data->train.targets = json.value("targets", std::vector<float>{});
    data->test = data->train;
    return data;
}

inline OptimizerSettings readOptimizer(const nlohmann::json& json) {
    OptimizerSettings settings;
    settings.kind = optimizerFromName(json.at("optimizer").get<std::string>());
    settings.learningRate = json.at("lr");
    settings.momentum = json.value("momentum", settings.momentum);
    settings.nesterov = json.value("nesterov", settings.nesterov);
    settings.beta1 = json.value("beta1", settings.beta1);
    settings.beta2 = json.value("beta2", settings.beta2);
    settings.alpha = json.value("alpha", settings.alpha);
    settings.epsilon = json.value("epsilon", settings.epsilon);
    settings.weightDecay = json.value("weight_decay", 0.0);
    settings.l1 = json.value("l1", settings.l1);
    settings.schedule = scheduleFromName(json.value("schedule", "constant"));
    settings.scheduleSteps = json.value("schedule_steps", settings.scheduleSteps);
    settings.scheduleGamma = json.value("schedule_gamma", settings.scheduleGamma);
    settings.warmupSteps = json.value("warmup_steps", settings.warmupSteps);
    settings.validate();
    return settings;
}

inline PrecisionSettings readPrecision(const nlohmann::json& json) {
    return {.format = operandFormatFromName(json.value("format", "fp32")),
            .lossScaling = json.value("loss_scaling", true),
            .masterWeights = json.value("master_weights", true)};
}

/// Tensors in PyTorch's order (weight and bias of each layer, no padding) as an arena.
template <class T> std::vector<T> readArena(const nlohmann::json& tensors, const NetShape& shape) {
    const ParamLayout layout(shape);
    std::vector<T> arena(layout.size(), T(0));
    for (std::size_t l = 0; l < layout.layers(); ++l) {
        const LayerLayout& layer = layout.layer(l);
        const auto weights = tensors.at(2 * l).get<std::vector<T>>();
        const auto biases = tensors.at(2 * l + 1).get<std::vector<T>>();
        if (weights.size() != layer.inputs * layer.outputs || biases.size() != layer.outputs)
            throw std::runtime_error("traces.json: a tensor of layer " + std::to_string(l) +
                                     " has a wrong size");
        for (std::size_t o = 0; o < layer.outputs; ++o)
            for (std::size_t i = 0; i < layer.inputs; ++i)
                arena[layer.weightOffset + o * layer.rowStride + i] = weights[o * layer.inputs + i];
        std::copy(biases.begin(), biases.end(),
                  arena.begin() + static_cast<std::ptrdiff_t>(layer.biasOffset));
    }
    return arena;
}

} // namespace reference_detail

/// All stored runs. Throws when the file is missing or is not what make_traces.py writes.
///   name   traces.json or precision_traces.json
inline std::vector<ReferenceTrace> readReferenceTraces(const std::string& name = "traces.json") {
    const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/reference/" + name;
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot open " + path);
    const nlohmann::json document = nlohmann::json::parse(file);
    std::vector<ReferenceTrace> traces;
    for (const nlohmann::json& run : document.at("runs")) {
        ReferenceTrace trace;
        trace.name = run.at("name");
        trace.exactRates = run.at("rates") == "exact";
        trace.far = run.contains("input_scale");
        const nlohmann::json& net = run.at("net");
        const std::string dataName = run.at("data");
        trace.data =
            reference_detail::readData(document.at("data").at(dataName), document.at("inputs"),
                                       document.at("examples"), dataName, run.value("input_scale", 1.0f));
        trace.shape.widths = net.at("widths").get<std::vector<std::size_t>>();
        trace.shape.activation = activationFromName(net.at("activation").get<std::string>());
        trace.shape.outputActivation = activationFromName(net.at("output_activation").get<std::string>());
        trace.shape.loss = lossFromName(net.at("loss").get<std::string>());
        trace.settings.optimizer = reference_detail::readOptimizer(run.at("settings"));
        trace.settings.precision = reference_detail::readPrecision(run.at("settings"));
        trace.settings.batch = document.at("batch");
        trace.settings.shuffle = false;
        trace.initial = reference_detail::readArena<float>(
            document.at("initial").at(trace.shape.describeWidths()), trace.shape);
        trace.losses = run.at("losses").get<std::vector<double>>();
        trace.finalParameters = reference_detail::readArena<double>(run.at("final"), trace.shape);
        traces.push_back(std::move(trace));
    }
    return traces;
}

/// The largest |found - expected| / expected over losses (which are all above 0).
inline double largestRelativeDifference(const std::vector<double>& found,
                                        const std::vector<double>& expected) {
    if (found.size() != expected.size()) return INFINITY;
    double largest = 0;
    for (std::size_t k = 0; k < expected.size(); ++k)
        largest = std::fmax(largest, std::abs(found[k] - expected[k]) / expected[k]);
    return largest;
}

/// The largest |found - expected|.
template <class T>
double largestDifference(const std::vector<T>& found, const std::vector<double>& expected) {
    if (found.size() != expected.size()) return INFINITY;
    double largest = 0;
    for (std::size_t k = 0; k < expected.size(); ++k)
        largest = std::fmax(largest, std::abs(static_cast<double>(found[k]) - expected[k]));
    return largest;
}

} // namespace lockstep
