#include "engine/run/checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_field.h"
#include "engine/files/json_text.h"
#include "engine/files/safetensors.h"
#include "engine/net/float_formats.h"
#include "engine/net/param_layout.h"
#include "engine/run/settings_json.h"

namespace lockstep {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t formatVersion = 1;
constexpr std::size_t largestRunText = std::size_t{4} << 20;
const std::string runKey = "lockstep";
const std::string checksumKey = "lockstep.crc32";

// One prefix per array of optimizer state, in the order of TrainerState::optimizerState.
std::vector<std::string> statePrefixes(Optimizer optimizer) {
    const OptimizerInfo info = infoOf(optimizer);
    std::vector<std::string> prefixes;
    for (std::size_t i = 0; i < info.states; ++i)
        prefixes.push_back("optimizer." + std::string(info.state[i]) + ".");
    return prefixes;
}

std::string checksumOf(const TensorFile& file, const std::string& runText) {
    std::uint32_t sum = crc32(std::as_bytes(std::span(runText)));
    for (const Tensor& tensor : file.tensors) sum = crc32(std::as_bytes(std::span(tensor.values)), sum);
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", sum);
    return digits.data();
}

std::string runTextOf(const Checkpoint& checkpoint) {
    ordered_json run = {
        {"format", formatVersion},
        {"data", {{"spec", checkpoint.dataSpec}, {"options", toJson(checkpoint.dataOptions)}}},
        {"lane", checkpoint.lane},
        {"net", toJson(checkpoint.shape)},
        {"settings", toJson(checkpoint.settings)},
        {"step", checkpoint.state.step}};
    if (const LossScaling& scaling = checkpoint.state.lossScaling; scaling != LossScaling{})
        run["loss_scaling"] = {{"scale", scaling.scale},
                               {"good_steps", scaling.goodSteps},
                               {"skipped_steps", scaling.skippedSteps}};
    if (checkpoint.state.wholeSteps) run["whole_steps"] = *checkpoint.state.wholeSteps;
    std::string text = run.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    if (text.size() > largestRunText)
        throw std::invalid_argument("the names of the classes take more than a checkpoint may hold (4 MiB)");
    return text;
}

LossScaling lossScalingFromJson(const ordered_json& json) {
    const LossScaling scaling{narrow(jsonValue<double>(json, "scale")),
                              jsonValue<std::uint32_t>(json, "good_steps"),
                              jsonValue<std::uint32_t>(json, "skipped_steps")};
    if (!(scaling.scale >= shared::lossScaleLeast && scaling.scale <= shared::lossScaleMost))
        throw std::invalid_argument("'scale' is no scale of a loss");
    return scaling;
}

void readRun(Checkpoint& checkpoint, const std::string& text) {
    const ordered_json run = parseJson(text, "the run's description");
    if (const auto version = jsonValue<std::uint64_t>(run, "format"); version != formatVersion)
        throw std::invalid_argument("its format is " + std::to_string(version) + ", this program knows " +
                                    std::to_string(formatVersion) +
                                    "; use the program that wrote it, or a newer one");
    const ordered_json& data = jsonField(run, "data");
    checkpoint.dataSpec = jsonValue<std::string>(data, "spec");
    checkpoint.dataOptions = dataOptionsFromJson(jsonField(data, "options"));
    checkpoint.lane = jsonValue<std::string>(run, "lane");
    checkpoint.shape = netShapeFromJson(jsonField(run, "net"));
    checkpoint.settings = trainSettingsFromJson(jsonField(run, "settings"));
    checkpoint.state.step = jsonValue<std::uint64_t>(run, "step");
    if (run.contains("loss_scaling")) checkpoint.state.lossScaling = lossScalingFromJson(run["loss_scaling"]);
    if (run.contains("whole_steps")) checkpoint.state.wholeSteps = jsonValue<bool>(run, "whole_steps");
}

[[noreturn]] void refuse(std::string_view fileName, const std::string& reason) {
    throw std::runtime_error(std::string(fileName) + ": " + reason);
}

// The run's JSON text, once size and checksum say that the file is as it was written.
const std::string& checkedRunText(const TensorFile& file, std::string_view name) {
    const auto run = file.metadata.find(runKey);
    if (run == file.metadata.end())
        refuse(name, "it holds weights but no run to go on with; start a new run from them with --init, and "
                     "say the network's layers");
    if (run->second.size() > largestRunText) refuse(name, "__metadata__, 'lockstep': longer than 4 MiB");
    const auto sum = file.metadata.find(checksumKey);
    if (sum == file.metadata.end() || sum->second != checksumOf(file, run->second))
        refuse(name, "its checksum is wrong: the file was changed or damaged since it was written; use an "
                     "older one");
    return run->second;
}

// Between the padded arena of parameters and tensors with PyTorch's names and shapes:
// torch.nn.Sequential(Linear, activation, Linear, ...) has "0.weight" [outputs, inputs], "0.bias" [outputs],
// "2.weight", and so on, layer l at index 2 l.
struct TensorPlace {
    std::string name;
    std::vector<std::size_t> shape;
    std::size_t offset; ///< in the arena
    std::size_t rows;   ///< of the arena's, `stride` floats apart
    std::size_t stride;

    std::size_t columns() const { return shape.back(); }
};

/// The tensors of an arena. `prefix` is prepended to every name: "" for the parameters.
std::vector<TensorPlace> placesIn(const ParamLayout& layout, const std::string& prefix) {
    std::vector<TensorPlace> places;
    for (std::size_t index = 0; index < layout.layers(); ++index) {
        const LayerLayout& layer = layout.layer(index);
        const std::string stem = prefix + std::to_string(2 * index);
        places.push_back({stem + ".weight",
                          {layer.outputs, layer.inputs},
                          layer.weightOffset,
                          layer.outputs,
                          layer.rowStride});
        places.push_back({stem + ".bias", {layer.outputs}, layer.biasOffset, 1, layer.outputs});
    }
    return places;
}

std::string describe(const std::vector<std::size_t>& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

// The index of the first value that is NaN or infinite, or values.size().
std::size_t firstNonFinite(std::span<const float> values) {
    const auto found =
        std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
    return static_cast<std::size_t>(found - values.begin());
}

void requireTensor(const TensorFile& file, const TensorPlace& wanted, std::string_view fileName) {
    const std::string place = "tensor " + quotedForMessage(wanted.name) + ": ";
    const std::string shape = describe(wanted.shape);
    const Tensor* tensor = file.find(wanted.name);
    if (tensor == nullptr)
        refuse(fileName, place + "it is missing; this network needs it with the shape " + shape);
    if (tensor->shape != wanted.shape)
        refuse(fileName, place + "its shape is " + describe(tensor->shape) + ", this network's is " + shape +
                             "; the layers have to be those of the saved network");
    if (const std::size_t at = firstNonFinite(tensor->values); at < tensor->values.size())
        refuse(fileName, place + "its value " + std::to_string(at) + " is " +
                             std::to_string(tensor->values[at]) + "; a network with that cannot be trained");
}

/// Appends an arena's tensors without padding. Throws std::invalid_argument naming the first tensor with a
/// NaN or infinite value.
void addTensors(TensorFile& file, const ParamLayout& layout, std::span<const float> arena,
                const std::string& prefix) {
    if (arena.size() != layout.size())
        throw std::invalid_argument("an arena of " + std::to_string(arena.size()) +
                                    " floats for a network of " + std::to_string(layout.size()));
    for (TensorPlace& place : placesIn(layout, prefix)) {
        std::vector<float> values = withoutPadding(arena.subspan(place.offset, place.rows * place.stride),
                                                   place.columns(), place.stride);
        if (const std::size_t at = firstNonFinite(values); at < values.size())
            throw std::invalid_argument("tensor " + quotedForMessage(place.name) +
                                        " has a value that is no number (" + std::to_string(values[at]) +
                                        ", at " + std::to_string(at) +
                                        "); a network in that state is not saved");
        file.tensors.push_back({std::move(place.name), std::move(place.shape), std::move(values)});
    }
}

/// Builds an arena (padding 0) from the tensors with these names.
///   fileName  for messages
/// Throws std::runtime_error "FILE: tensor 'NAME': reason" if one is missing, has the wrong shape, or
/// contains NaN or infinity. Checks all of them before allocating.
std::vector<float> arenaFromTensors(const TensorFile& file, const ParamLayout& layout,
                                    const std::string& prefix, std::string_view fileName) {
    const std::vector<TensorPlace> places = placesIn(layout, prefix);
    for (const TensorPlace& place : places) requireTensor(file, place, fileName);
    std::vector<float> arena(layout.size(), 0.0f);
    for (const TensorPlace& place : places) {
        const float* from = file.find(place.name)->values.data();
        for (std::size_t row = 0; row < place.rows; ++row, from += place.columns())
            std::copy_n(from, place.columns(), arena.data() + place.offset + row * place.stride);
    }
    return arena;
}

/// Throws std::runtime_error naming the first tensor of `file` that does not belong to the layout under any
/// of the `prefixes`.
void refuseOtherTensors(const TensorFile& file, const ParamLayout& layout,
                        std::span<const std::string> prefixes, std::string_view fileName) {
    std::set<std::string> known;
    for (const std::string& prefix : prefixes)
        for (const TensorPlace& place : placesIn(layout, prefix)) known.insert(place.name);
    for (const Tensor& tensor : file.tensors)
        if (!known.contains(tensor.name))
            refuse(fileName, "tensor " + quotedForMessage(tensor.name) +
                                 ": this network has none of that name; the layers have to be those of the "
                                 "saved network");
}

} // namespace

void saveCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
    const std::vector<std::string> prefixes = statePrefixes(checkpoint.settings.optimizer.kind);
    if (prefixes.size() != checkpoint.state.optimizerState.size())
        throw std::invalid_argument("the optimizer keeps " + std::to_string(prefixes.size()) +
                                    " arrays, not " + std::to_string(checkpoint.state.optimizerState.size()));
    const ParamLayout layout(checkpoint.shape);
    TensorFile file;
    addTensors(file, layout, checkpoint.state.parameters, "");
    for (std::size_t i = 0; i < prefixes.size(); ++i)
        addTensors(file, layout, checkpoint.state.optimizerState[i], prefixes[i]);
    const std::string text = runTextOf(checkpoint);
    file.metadata = {{runKey, text}, {checksumKey, checksumOf(file, text)}};
    writeFileAtomically(path, safetensorsBytes(file));
}

Checkpoint parseCheckpoint(std::span<const std::byte> bytes, std::string_view name) {
    const TensorFile file = parseSafetensors(bytes, name);
    const std::string& text = checkedRunText(file, name);
    Checkpoint checkpoint;
    try {
        readRun(checkpoint, text);
    } catch (const std::exception& error) {
        refuse(name, std::string("__metadata__, 'lockstep': ") + error.what());
    }
    const ParamLayout layout(checkpoint.shape);
    std::vector<std::string> prefixes = statePrefixes(checkpoint.settings.optimizer.kind);
    checkpoint.state.parameters = arenaFromTensors(file, layout, "", name);
    for (const std::string& prefix : prefixes)
        checkpoint.state.optimizerState.push_back(arenaFromTensors(file, layout, prefix, name));
    prefixes.emplace_back();
    refuseOtherTensors(file, layout, prefixes, name);
    return checkpoint;
}

Checkpoint loadCheckpoint(const std::filesystem::path& path) {
    return parseCheckpoint(readFileBytes(path), path.string());
}

std::vector<float> loadWeights(const std::filesystem::path& path, const NetShape& shape) {
    shape.validate();
    const std::string name = path.string();
    TensorFile file = parseSafetensors(readFileBytes(path), name);
    if (file.metadata.contains(runKey)) checkedRunText(file, name);
    std::erase_if(file.tensors, [](const Tensor& tensor) { return tensor.name.starts_with("optimizer."); });
    const ParamLayout layout(shape);
    std::vector<float> parameters = arenaFromTensors(file, layout, "", name);
    refuseOtherTensors(file, layout, std::array{std::string()}, name);
    return parameters;
}

} // namespace lockstep
