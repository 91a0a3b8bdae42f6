#include "demos/kit/run_settings.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/kit/futures.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"
#include "engine/net/names.h"
#include "engine/net/setting_table.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 9> fields = {
    "data", "data_options", "hidden", "activation", "output_activation", "loss", "init", "settings", "lanes"};
// Older state files have the settings under another name, or without an object of their own.
constexpr const char* oldSettings = "train";
constexpr std::array<std::string_view, 3> flatSettings = {"optimizer", "batch", "seed"};

void requireKnown(const Json& json, std::string_view exhibit, std::span<const std::string_view> own) {
    if (!json.is_object())
        throw std::invalid_argument(fmt::format("the state of '{}' must be an object", exhibit));
    std::vector<std::string_view> known(fields.begin(), fields.end());
    known.insert(known.end(), own.begin(), own.end());
    for (const auto& [name, value] : json.items())
        if (std::ranges::find(known, name) == known.end() && name != oldSettings &&
            std::ranges::find(flatSettings, name) == flatSettings.end())
            throwUnknownName(fmt::format("field of '{}'", exhibit), name, known);
}

/// Reads a field if it is there. What `read` throws gets the field's name in front.
template <class Read> void readField(const Json& json, const char* name, Read read) {
    if (!json.contains(name)) return;
    try {
        read(json[name]);
    } catch (const std::exception& error) {
        throw std::invalid_argument(fmt::format("field '{}': {}", name, error.what()));
    }
}

std::string stringIn(const Json& value) {
    if (!value.is_string()) throw std::invalid_argument("must be a string");
    return value.get<std::string>();
}

std::string dataFrom(const Json& value) {
    std::string spec = stringIn(value);
    if (spec.starts_with("csv:") || spec.starts_with("idx:")) return spec;
    const std::vector<std::string> known = dataNames();
    if (std::ranges::find(known, spec) == known.end())
        throwUnknownName("data", spec, std::vector<std::string_view>(known.begin(), known.end()));
    return spec;
}

std::optional<std::vector<std::size_t>> hiddenFrom(const Json& value) {
    if (value.is_null()) return std::nullopt;
    const auto whole = [](const Json& width) { return width.is_number_integer() && width >= 0; };
    if (!value.is_array() || !std::ranges::all_of(value, whole))
        throw std::invalid_argument("must be a list of whole numbers");
    return value.get<std::vector<std::size_t>>();
}

std::vector<LaneSpec> lanesFrom(const Json& value) {
    if (!value.is_array() || value.size() > mostLanes)
        throw std::invalid_argument(fmt::format("must be a list of at most {} lanes", mostLanes));
    std::vector<LaneSpec> lanes;
    for (const Json& lane : value) lanes.push_back(laneSpecFromText(stringIn(lane)));
    return lanes;
}

} // namespace

TrainSettings trainSettingsOver(TrainSettings usual, const Json& json) {
    if (json.is_object() && json.contains("optimizer")) {
        const Optimizer kind = optimizerFromName(jsonValue<std::string>(json, "optimizer"));
        if (kind != usual.optimizer.kind) usual.optimizer = {.kind = kind};
    }
    return trainSettingsFromJson(jsonCompleted(toJson(usual), json, "settings"));
}

void validate(const RunOptions& run, const RunLimits& limits) {
    const std::vector<std::size_t> widths = run.hiddenWidths.value_or(std::vector<std::size_t>{});
    if (widths.size() > limits.layers)
        throw std::invalid_argument(
            fmt::format("field 'hidden': at most {} hidden layers, not {}", limits.layers, widths.size()));
    for (const std::size_t width : widths)
        if (width == 0 || width > limits.width)
            throw std::invalid_argument(
                fmt::format("field 'hidden': a layer has 1 to {} neurons, not {}", limits.width, width));
    if (run.settings.batch == 0 || run.settings.batch > limits.batch)
        throw std::invalid_argument(fmt::format("field 'batch': batches have 1 to {} examples, not {}",
                                                limits.batch, run.settings.batch));
    run.settings.optimizer.validate();
}

Json toJson(const RunOptions& run) {
    Json lanes = Json::array();
    for (const LaneSpec& lane : run.lanes) lanes.push_back(lane.text());
    return {{"data", run.data},
            {"data_options", toJson(run.dataOptions)},
            {"hidden", run.hiddenWidths ? Json(*run.hiddenWidths) : Json()},
            {"activation", name(run.activation)},
            {"output_activation", name(run.outputActivation)},
            {"loss", run.loss ? Json(name(*run.loss)) : Json()},
            {"init", name(run.init)},
            {"settings", toJson(run.settings)},
            {"lanes", lanes}};
}

RunOptions runFromJson(const Json& json, RunOptions run, std::string_view exhibit,
                       std::span<const std::string_view> own, const RunLimits& limits) {
    requireKnown(json, exhibit, own);
    readField(json, "data", [&](const Json& value) { run.data = dataFrom(value); });
    readField(json, "data_options", [&](const Json& value) {
        run.dataOptions = dataOptionsFromJson(jsonCompleted(toJson(run.dataOptions), value, "data_options"));
    });
    readField(json, "hidden", [&](const Json& value) { run.hiddenWidths = hiddenFrom(value); });
    const auto readName = [&json](const char* field, auto& choice, auto fromName) {
        readField(json, field, [&](const Json& value) { choice = fromName(stringIn(value)); });
    };
    readName("activation", run.activation, activationFromName);
    readName("output_activation", run.outputActivation, activationFromName);
    readName("init", run.init, initSchemeFromName);
    readField(json, "loss", [&](const Json& value) {
        run.loss = value.is_null() ? std::nullopt : std::optional(lossFromName(stringIn(value)));
    });
    Json flat = Json::object();
    for (const std::string_view name : flatSettings)
        if (const auto found = json.find(name); found != json.end()) flat[std::string(name)] = *found;
    if (!flat.empty()) run.settings = trainSettingsOver(run.settings, flat);
    for (const char* settings : {oldSettings, "settings"})
        readField(json, settings,
                  [&](const Json& value) { run.settings = trainSettingsOver(run.settings, value); });
    readField(json, "lanes", [&](const Json& value) { run.lanes = lanesFrom(value); });
    validate(run, limits);
    return run;
}

bool operator==(const RunOptions& a, const RunOptions& b) {
    const auto settings = [](TrainSettings train) {
        train.optimizer = effectiveSettings(train.optimizer);
        return train;
    };
    const auto others = [](const RunOptions& run) {
        return std::tie(run.data, run.dataOptions, run.hiddenWidths, run.activation, run.outputActivation,
                        run.loss, run.init, run.lanes);
    };
    return others(a) == others(b) && settings(a.settings) == settings(b.settings);
}

std::string dataKey(const RunOptions& run) {
    DataOptions options = run.dataOptions;
    options.seed = run.settings.seed;
    Json key = toJson(options);
    key["data"] = run.data;
    // Fashion-MNIST comes from its files alone: another seed needs no loading.
    if (run.data == "fashion-mnist") key.erase("seed");
    return key.dump();
}

bool isTableFile(const std::filesystem::path& file) {
    std::filesystem::path name = file.filename();
    if (name.extension() == ".gz") name = name.stem();
    constexpr std::array<std::string_view, 5> endings = {".csv", ".tsv", ".tab", ".data", ".txt"};
    return std::ranges::find(endings, name.extension().string()) != endings.end();
}

std::string takeDroppedFile(RunOptions& run, const std::filesystem::path& file) {
    RunOptions next = run;
    next.data = "csv:" + file.string();
    next.dataOptions.table = {}; // what was said of another table
    std::uint64_t filled = 0;
    if (readAtOnce(file)) {
        try {
            static_cast<void>(loadData(next));
        } catch (const std::exception&) {
            next.dataOptions.table.missing = MissingCells::mean;
            try {
                filled = loadData(next).table->filled;
            } catch (const std::exception&) {
                filled = 0; // gaps are not all that is wrong with it
            }
            if (filled == 0) throw;
        }
    }
    run = std::move(next);
    if (filled == 0) return {};
    return filled == 1
               ? std::string(translated(
                     "1 cell had no value and took the mean of its column: Settings, Table, Missing cells."))
               : translatedFormat("{} cells had no value and took the mean of their column: Settings, Table, "
                                  "Missing cells.",
                                  grouped(filled));
}

std::shared_ptr<const Dataset> DataLoader::get(const RunOptions& run, bool wait) {
    const std::string key = dataKey(run);
    while (!data_ || key_ != key) {
        if (!loading_.valid()) {
            loadingKey_ = key;
            loading_ = std::async(std::launch::async,
                                  [run] { return std::make_shared<const Dataset>(loadData(run)); });
        }
        if (!wait && !ready(loading_)) return nullptr;
        try {
            data_.reset();
            data_ = loading_.get();
            key_ = loadingKey_;
        } catch (...) {
            if (loadingKey_ == key) throw; // else it was about data that are no longer wanted
        }
    }
    return data_;
}

} // namespace lockstep::demos
