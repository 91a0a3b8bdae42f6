#include "engine/run/checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/files/foreign_weights.h"
#include "engine/files/json_field.h"
#include "engine/files/json_text.h"
#include "engine/files/safetensors.h"
#include "engine/net/float_formats.h"
#include "engine/net/names.h"
#include "engine/net/param_layout.h"
#include "engine/run/settings_json.h"

namespace lockstep {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t formatVersion = 1;
constexpr std::size_t largestRunText = std::size_t{24} << 20; // 65,536 columns, each with its name and scale
const std::string runKey = "lockstep";
const std::string checksumKey = "lockstep.crc32";

// What the names of an arena's tensors begin with: nothing for the parameters, then PyTorch's name of each
// array of the optimizer's state, in the order of TrainerState::optimizerState.
std::vector<std::string> arenaPrefixes(Optimizer optimizer) {
    const OptimizerInfo info = infoOf(optimizer);
    std::vector<std::string> prefixes{""};
    for (std::size_t i = 0; i < info.states; ++i)
        prefixes.push_back(concat("optimizer.", info.state[i], "."));
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
    ordered_json data = {{"spec", checkpoint.dataSpec}, {"options", toJson(checkpoint.dataOptions)}};
    if (const auto& print = checkpoint.fingerprint)
        data["fingerprint"] = {{"train", print->train}, {"test", print->test}, {"crc32", print->checksum}};
    if (checkpoint.dataOptions.model) data["table"] = toJson(*checkpoint.dataOptions.model);
    ordered_json run = {{"format", formatVersion},
                        {"data", data},
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
        throw std::invalid_argument(
            "the names of classes and columns take more than a checkpoint may hold (24 MiB)");
    return text;
}

LossScaling lossScalingFromJson(const ordered_json& json) {
    const LossScaling scaling{narrow(jsonValue<double>(json, "scale")),
                              jsonValue<std::uint32_t>(json, "good_steps"),
                              jsonValue<std::uint32_t>(json, "skipped_steps")};
    if (!(scaling.scale >= shared::lossScaleLeast && scaling.scale <= shared::lossScaleMost))
        throw std::invalid_argument(concat("'scale' must be from ", sixDigits(shared::lossScaleLeast), " to ",
                                           sixDigits(shared::lossScaleMost)));
    return scaling;
}

void readRun(Checkpoint& checkpoint, const std::string& text) {
    const ordered_json run = parseJson(text, "the run's description");
    if (const auto version = jsonValue<std::uint64_t>(run, "format"); version != formatVersion)
        throw std::invalid_argument(concat("its format is ", version, ", this program knows ", formatVersion,
                                           "; use the program that wrote it, or a newer one"));
    const ordered_json& data = jsonField(run, "data");
    checkpoint.dataSpec = jsonValue<std::string>(data, "spec");
    checkpoint.dataOptions = dataOptionsFromJson(jsonField(data, "options"));
    if (data.contains("table")) {
        checkpoint.dataOptions.model = tableSchemaFromJson(data["table"]);
        // Such as "last", which was said of the table of the training; the schema knows the target by its
        // name.
        checkpoint.dataOptions.table.target.clear();
    }
    if (data.contains("fingerprint")) {
        const ordered_json& print = data["fingerprint"];
        checkpoint.fingerprint = {jsonValue<std::uint64_t>(print, "train"),
                                  jsonValue<std::uint64_t>(print, "test"),
                                  jsonValue<std::uint32_t>(print, "crc32")};
    }
    checkpoint.lane = jsonValue<std::string>(run, "lane");
    checkpoint.shape = netShapeFromJson(jsonField(run, "net"));
    checkpoint.settings = trainSettingsFromJson(jsonField(run, "settings"));
    checkpoint.state.step = jsonValue<std::uint64_t>(run, "step");
    if (run.contains("loss_scaling")) checkpoint.state.lossScaling = lossScalingFromJson(run["loss_scaling"]);
    if (run.contains("whole_steps")) checkpoint.state.wholeSteps = jsonValue<bool>(run, "whole_steps");
}

template <class... Reason> [[noreturn]] void refuse(std::string_view fileName, const Reason&... reason) {
    throw std::runtime_error(concat(fileName, ": ", reason...));
}

// The run's JSON text, once size and checksum say that the file is as it was written.
const std::string& checkedRunText(const TensorFile& file, std::string_view name) {
    const auto run = file.metadata.find(runKey);
    if (run == file.metadata.end())
        refuse(name, "it has weights, but no run to resume; start a new one with --init FILE and the "
                     "network's --layers");
    if (run->second.size() > largestRunText) refuse(name, "__metadata__, 'lockstep': longer than 24 MiB");
    const auto sum = file.metadata.find(checksumKey);
    if (sum == file.metadata.end() || sum->second != checksumOf(file, run->second))
        refuse(name, "its checksum is wrong: the file was changed or damaged since it was written; use an "
                     "older one");
    return run->second;
}

// Between the padded arenas and tensors with PyTorch's names and shapes: torch.nn.Sequential(Linear,
// activation, Linear, ...) has "0.weight" [outputs, inputs], "0.bias" [outputs], "2.weight", and so on, layer
// l at index 2 l.
struct TensorPlace {
    std::string name;
    std::vector<std::size_t> shape;
    std::size_t arena;  ///< by number: that of the parameters, then the optimizer's
    std::size_t offset; ///< in the arena
    std::size_t rows;   ///< of the arena's, `stride` floats apart
    std::size_t stride;

    std::size_t columns() const { return shape.back(); }
};

/// The tensors of all arenas, in the order of a file.
std::vector<TensorPlace> placesIn(const ParamLayout& layout, const std::vector<std::string>& prefixes) {
    std::vector<TensorPlace> places;
    for (std::size_t arena = 0; arena < prefixes.size(); ++arena)
        for (std::size_t index = 0; index < layout.layers(); ++index) {
            const LayerLayout& layer = layout.layer(index);
            const std::string stem = concat(prefixes[arena], 2 * index);
            const std::vector<std::size_t> shape{layer.outputs, layer.inputs};
            places.push_back(
                {stem + ".weight", shape, arena, layer.weightOffset, layer.outputs, layer.rowStride});
            places.push_back({stem + ".bias", {layer.outputs}, arena, layer.biasOffset, 1, layer.outputs});
        }
    return places;
}

std::string describe(const std::vector<std::size_t>& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += concat(i > 0 ? ", " : "", shape[i]);
    return text + "]";
}

// The index of the first value with which training cannot go on, or values.size(): NaN, and among the
// parameters (arena 0) infinity. An infinite second moment only means that its weight rests.
std::size_t firstUnusable(std::span<const float> values, std::size_t arena) {
    const auto found = std::ranges::find_if(
        values, [arena](float value) { return arena == 0 ? !std::isfinite(value) : std::isnan(value); });
    return static_cast<std::size_t>(found - values.begin());
}

void requireTensor(const TensorFile& file, const TensorPlace& wanted, std::string_view fileName) {
    const auto refuseTensor = [&](const auto&... reason) {
        refuse(fileName, "tensor ", quotedForMessage(wanted.name), ": ", reason...);
    };
    const std::string shape = describe(wanted.shape);
    const Tensor* tensor = file.find(wanted.name);
    if (tensor == nullptr) refuseTensor("it is missing; this network needs it with the shape ", shape);
    if (tensor->shape != wanted.shape)
        refuseTensor("its shape is ", describe(tensor->shape), ", this network's is ", shape,
                     "; use the layers of the saved network");
    if (const std::size_t at = firstUnusable(tensor->values, wanted.arena); at < tensor->values.size())
        refuseTensor("its value ", at, " is ", std::to_string(tensor->values[at]),
                     "; a network with that cannot be trained");
}

/// A tensor of the file, without padding. Throws std::runtime_error for a value that cannot be trained on.
Tensor tensorOf(const TensorPlace& place, std::span<const float> arena) {
    std::vector<float> values =
        withoutPadding(arena.subspan(place.offset, place.rows * place.stride), place.columns(), place.stride);
    if (const std::size_t at = firstUnusable(values, place.arena); at < values.size())
        throw std::runtime_error(concat("tensor ", quotedForMessage(place.name),
                                        " has a value that is not finite (", std::to_string(values[at]),
                                        ", at ", at, "); go back some steps, then save"));
    return {place.name, place.shape, std::move(values)};
}

/// The arenas (padding 0) with these prefixes, which hold all tensors of the file.
///   fileName  for messages
/// Throws std::runtime_error "FILE: tensor 'NAME': reason" if one is missing, has the wrong shape, contains
/// NaN or infinity, or belongs to no arena.
std::vector<std::vector<float>> readArenas(const TensorFile& file, const ParamLayout& layout,
                                           const std::vector<std::string>& prefixes,
                                           std::string_view fileName) {
    const std::vector<TensorPlace> places = placesIn(layout, prefixes);
    for (const TensorPlace& place : places) requireTensor(file, place, fileName);
    for (const Tensor& tensor : file.tensors)
        if (std::ranges::find(places, tensor.name, &TensorPlace::name) == places.end())
            refuse(fileName, "tensor ", quotedForMessage(tensor.name),
                   ": this network has none of that name; use the layers of the saved network");
    std::vector<std::vector<float>> arenas(prefixes.size(), std::vector<float>(layout.size(), 0.0f));
    for (const TensorPlace& place : places) {
        const float* from = file.find(place.name)->values.data();
        for (std::size_t row = 0; row < place.rows; ++row, from += place.columns())
            std::copy_n(from, place.columns(),
                        arenas[place.arena].data() + place.offset + row * place.stride);
    }
    return arenas;
}

/// The tensors of a file but for those of an optimizer's state.
TensorFile readParameters(const std::filesystem::path& path) {
    const std::string name = path.string();
    TensorFile file = parseSafetensors(readFileBytes(path), name);
    if (file.metadata.contains(runKey)) checkedRunText(file, name);
    std::erase_if(file.tensors, [](const Tensor& tensor) { return tensor.name.starts_with("optimizer."); });
    return file;
}

} // namespace

void saveCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
    const std::vector<std::string> prefixes = arenaPrefixes(checkpoint.settings.optimizer.kind);
    std::vector<std::span<const float>> arenas{checkpoint.state.parameters};
    arenas.insert(arenas.end(), checkpoint.state.optimizerState.begin(),
                  checkpoint.state.optimizerState.end());
    if (prefixes.size() != arenas.size())
        throw std::invalid_argument(
            concat("the optimizer keeps ", prefixes.size() - 1, " arrays, not ", arenas.size() - 1));
    const ParamLayout layout(checkpoint.shape);
    for (const std::span<const float> arena : arenas)
        if (arena.size() != layout.size())
            throw std::invalid_argument(
                concat("an arena of ", arena.size(), " floats for a network of ", layout.size()));
    TensorFile file;
    for (const TensorPlace& place : placesIn(layout, prefixes))
        file.tensors.push_back(tensorOf(place, arenas[place.arena]));
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
        refuse(name, "__metadata__, 'lockstep': ", error.what());
    }
    std::vector<std::vector<float>> arenas = readArenas(
        file, ParamLayout(checkpoint.shape), arenaPrefixes(checkpoint.settings.optimizer.kind), name);
    checkpoint.state.parameters = std::move(arenas.front());
    arenas.erase(arenas.begin());
    checkpoint.state.optimizerState = std::move(arenas);
    return checkpoint;
}

Checkpoint loadCheckpoint(const std::filesystem::path& path) {
    return parseCheckpoint(readFileBytes(path), path.string());
}

bool hasRun(const std::filesystem::path& path) {
    return parseSafetensors(readFileBytes(path), path.string()).metadata.contains(runKey);
}

LoadedWeights loadWeights(const std::filesystem::path& path, const NetShape& shape) {
    shape.validate();
    const std::vector<std::size_t> hidden(shape.widths.begin() + 1, shape.widths.end() - 1);
    ForeignWeights found =
        findDenseLayers(readParameters(path), {shape.inputs(), shape.outputs(), hidden}, path.string());
    const ParamLayout layout(shape);
    LoadedWeights loaded{std::vector<float>(layout.size(), 0.0f), std::move(found.notes)};
    for (std::size_t index = 0; index < layout.layers(); ++index) {
        const LayerLayout& to = layout.layer(index);
        const DenseWeights& from = found.layers[index];
        for (std::size_t row = 0; row < to.outputs; ++row)
            std::copy_n(from.weight.data() + row * to.inputs, to.inputs,
                        loaded.parameters.data() + to.weightOffset + row * to.rowStride);
        std::copy_n(from.bias.data(), to.outputs, loaded.parameters.data() + to.biasOffset);
    }
    return loaded;
}

std::vector<std::size_t> hiddenWidthsIn(const std::filesystem::path& path, std::size_t inputs,
                                        std::size_t outputs) {
    const ForeignWeights found = findDenseLayers(readParameters(path), {inputs, outputs, {}}, path.string());
    std::vector<std::size_t> widths;
    for (std::size_t layer = 0; layer + 1 < found.layers.size(); ++layer)
        widths.push_back(found.layers[layer].outputs);
    return widths;
}

} // namespace lockstep
