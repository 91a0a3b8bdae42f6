#include "engine/run/checkpoint.h"

#include <array>
#include <cstdio>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_field.h"
#include "engine/files/json_text.h"
#include "engine/net/float_formats.h"
#include "engine/run/param_tensors.h"
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
    LossScaling scaling;
    scaling.scale = narrow(jsonValue<double>(json, "scale"));
    scaling.goodSteps = jsonValue<std::uint32_t>(json, "good_steps");
    scaling.skippedSteps = jsonValue<std::uint32_t>(json, "skipped_steps");
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

// The run's JSON text, once size and checksum say that the file is as it was written.
const std::string& checkedRunText(const TensorFile& file, std::string_view name) {
    const auto run = file.metadata.find(runKey);
    if (run == file.metadata.end())
        throw std::runtime_error(std::string(name) +
                                 ": it holds weights but no run to go on with; start a new run "
                                 "from them with --init, and say the network's layers");
    if (run->second.size() > largestRunText)
        throw std::runtime_error(std::string(name) + ": __metadata__, 'lockstep': longer than 4 MiB");
    const auto sum = file.metadata.find(checksumKey);
    if (sum == file.metadata.end() || sum->second != checksumOf(file, run->second))
        throw std::runtime_error(std::string(name) +
                                 ": its checksum is wrong: the file was changed or damaged since "
                                 "it was written; use an older one");
    return run->second;
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
        throw std::runtime_error(std::string(name) + ": __metadata__, 'lockstep': " + error.what());
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
