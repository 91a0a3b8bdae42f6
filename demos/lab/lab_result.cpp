#include "demos/lab/lab_result.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/lab/experiment.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

ordered_json machineJson(const MachineInfo& machine) {
    if (machine.device.empty()) return nullptr;
    return {{"device", machine.device},
            {"driver", machine.driver},
            {"software", machine.software},
            {"threads", machine.threads}};
}

constexpr std::size_t mostSeries = 64;
constexpr std::size_t mostPoints = 4096;
constexpr std::size_t longestText = 1000;

std::string textOf(const ordered_json& json, const char* field) {
    auto text = jsonValue<std::string>(json, field);
    if (text.size() > longestText)
        throw std::invalid_argument(fmt::format("the field '{}' is too long", field));
    return text;
}

const ordered_json& listOf(const ordered_json& json, const char* field, std::size_t most) {
    const ordered_json& list = jsonField(json, field);
    if (!list.is_array() || list.size() > most)
        throw std::invalid_argument(
            fmt::format("the field '{}' must be a list of at most {} entries", field, most));
    return list;
}

// Nothing measured is negative, or as large as that.
double amountOf(const ordered_json& json, const char* field) {
    const double amount = jsonValue<double>(json, field);
    if (!(amount >= 0 && amount < 1e18))
        throw std::invalid_argument(fmt::format("the field '{}' must be a number from 0 to 1e18", field));
    return amount;
}

double numberOf(const ordered_json& json, const char* field) {
    return jsonField(json, field).is_null() ? std::numeric_limits<double>::quiet_NaN()
                                            : amountOf(json, field);
}

MachineInfo machineFrom(const ordered_json& json, const char* field) {
    MachineInfo machine;
    const ordered_json& given = jsonField(json, field);
    if (given.is_null()) return machine;
    machine.device = textOf(given, "device");
    machine.driver = textOf(given, "driver");
    machine.software = jsonValue<bool>(given, "software");
    machine.threads = jsonValue<std::size_t>(given, "threads");
    return machine;
}

std::optional<OtherLoad> loadFrom(const ordered_json& json) {
    if (json.is_null()) return std::nullopt;
    OtherLoad load{.share = amountOf(json, "share"),
                   .cores = amountOf(json, "cores"),
                   .allCores = jsonValue<std::size_t>(json, "all_cores")};
    load.fromAverage = textOf(json, "measured_by") == "load_average";
    // The file has no seconds, but what they decided.
    load.seconds = jsonValue<bool>(json, "busy") ? std::numeric_limits<double>::infinity() : 0;
    return load;
}

bool ofGpu(const ordered_json& json) {
    constexpr std::string_view machines[] = {"cpu", "gpu"};
    return jsonWord(json, "machine", machines) == 1;
}

// JSON has no NaN.
ordered_json numberOrNull(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

ordered_json seriesJson(const LabSeries& series) {
    ordered_json points = ordered_json::array();
    for (const LabPoint& point : series.points)
        points.push_back({{"x", point.x},
                          {"median", numberOrNull(point.median)},
                          {"low", numberOrNull(point.low)},
                          {"high", numberOrNull(point.high)}});
    return {{"machine", series.gpu ? "gpu" : "cpu"},
            {"name", series.name},
            {"points", std::move(points)},
            {"note", series.note}};
}

ordered_json axisJson(const LabAxis& axis) { return {{"title", axis.title}, {"unit", axis.unit}}; }

} // namespace

double LabSeries::at(double x) const {
    const auto found = std::ranges::find(points, x, &LabPoint::x);
    return found == points.end() ? std::numeric_limits<double>::quiet_NaN() : found->median;
}

const LabSeries* LabResult::find(bool ofGpu, std::string_view name) const {
    const auto found = std::ranges::find_if(
        series, [&](const LabSeries& each) { return each.gpu == ofGpu && each.name == name; });
    return found == series.end() ? nullptr : &*found;
}

double LabResult::at(bool ofGpu, std::string_view name, double x) const {
    const LabSeries* found = find(ofGpu, name);
    return found == nullptr ? std::numeric_limits<double>::quiet_NaN() : found->at(x);
}

std::string machineText(const LabResult& result, bool gpu) {
    if (gpu && !result.noGpu.empty()) return result.noGpu;
    const MachineInfo& machine = gpu ? result.gpu : result.cpu;
    return machine.device.empty() ? leftOutNote : honestDevice(machine);
}

ordered_json labJson(const Experiment& experiment, const LabResult& result) {
    ordered_json series = ordered_json::array();
    for (const LabSeries& each : result.series) series.push_back(seriesJson(each));
    ordered_json spans = ordered_json::array();
    for (const bool gpu : {true, false})
        for (const GroupSpan& span : result.spans(gpu))
            spans.push_back({{"machine", gpu ? "gpu" : "cpu"},
                             {"row", span.row},
                             {"begin", span.begin},
                             {"end", span.end},
                             {"item", span.item}});
    ordered_json numbers = ordered_json::object();
    for (const auto& [name, value] : valuesOf(experiment, result))
        if (std::isfinite(value.number)) numbers[name] = value.number;
    const std::optional<std::size_t> answer = experiment.answer(result);
    return {{"lockstep", 1},
            {"experiment", experiment.name},
            {"title", experiment.title},
            {"x", axisJson(experiment.x)},
            {"y", axisJson(experiment.y)},
            {"cpu", machineJson(result.cpu)},
            {"gpu", machineJson(result.gpu)},
            {"no_gpu", result.noGpu},
            {"rough", result.rough},
            {"other_load", otherLoadJson(result.load)},
            {"series", std::move(series)},
            {"spans", std::move(spans)},
            {"numbers", std::move(numbers)},
            {"question", experiment.question},
            {"prediction", result.prediction.empty() ? ordered_json() : ordered_json(result.prediction)},
            {"answer", answer ? ordered_json(experiment.choices[*answer]) : ordered_json()},
            {"explanation", explanationText(experiment, result)}};
}

LabResult labFromJson(const ordered_json& json) {
    LabResult result;
    result.cpu = machineFrom(json, "cpu");
    result.gpu = machineFrom(json, "gpu");
    result.noGpu = textOf(json, "no_gpu");
    result.rough = jsonValue<bool>(json, "rough");
    if (json.contains("prediction") && !json["prediction"].is_null()) // older files have none
        result.prediction = textOf(json, "prediction");
    if (json.contains("other_load")) // likewise
        result.load = loadFrom(json["other_load"]);
    for (const ordered_json& each : listOf(json, "series", mostSeries)) {
        LabSeries series{ofGpu(each), textOf(each, "name")};
        series.note = textOf(each, "note");
        for (const ordered_json& point : listOf(each, "points", mostPoints))
            series.points.push_back({amountOf(point, "x"), numberOf(point, "median"), numberOf(point, "low"),
                                     numberOf(point, "high")});
        result.series.push_back(std::move(series));
    }
    for (const ordered_json& span : listOf(json, "spans", mostPoints)) {
        const auto row = jsonValue<std::uint32_t>(span, "row");
        if (row >= mostPoints)
            throw std::invalid_argument("the field 'row' must be less than the number of spans");
        result.spans(ofGpu(span))
            .push_back({row, amountOf(span, "begin"), amountOf(span, "end"),
                        jsonValue<std::uint32_t>(span, "item")});
    }
    const ordered_json& numbers = jsonField(json, "numbers");
    if (!numbers.is_object() || numbers.size() > mostPoints)
        throw std::invalid_argument("the field 'numbers' must be an object");
    for (const auto& entry : numbers.items())
        result.numbers[entry.key()] = amountOf(numbers, entry.key().c_str());
    return result;
}

std::string labCsv(const Experiment& experiment, const LabResult& result) {
    const auto named = [](const LabAxis& axis) {
        return csvField(axis.unit.empty() ? std::string(axis.title)
                                          : fmt::format("{} ({})", axis.title, axis.unit));
    };
    std::string csv = fmt::format("machine,series,{},{},lower quartile,upper quartile\n", named(experiment.x),
                                  named(experiment.y));
    for (const LabSeries& series : result.series)
        for (const LabPoint& point : series.points)
            csv += fmt::format("{},{},{},{},{},{}\n", series.gpu ? "gpu" : "cpu", csvField(series.name),
                               point.x, point.median, point.low, point.high);
    return csv;
}

} // namespace lockstep::demos
