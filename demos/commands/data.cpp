// `lockstep data`: what a data set holds, and its examples as a table for other programs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/words/streams.h"
#include "demos/words/table_words.h"
#include "demos/words/text.h"
#include "engine/data/points_2d.h"
#include "engine/data/table_scaling.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr const char* dataAbout =
    R"(Says what a data set holds: examples, inputs with their ranges, and classes. --csv exports it as a table, which any
program reads, and Lockstep with --data csv:FILE: the same examples, classes and split. Without SPEC, lists the data sets.)";

constexpr const char* dataExamples = R"(examples:
  lockstep data                                      the list
  lockstep data fashion-mnist
  lockstep data spiral --samples 1000 --noise 0.1 --csv spiral.csv
  lockstep race --data csv:spiral.csv --scale none   the same points again
  lockstep data csv:flowers.csv --label species --json flowers.json
)";

constexpr std::size_t mostRows = 20; // of inputs or classes, in the terminal

using Json = nlohmann::ordered_json;

struct DataSetOptions : RunOptions {
    DataSetOptions() { data.clear(); }
};

int listDataSets() {
    std::vector<std::vector<std::string>> rows;
    for (const std::string_view name : points2dNames) {
        const std::size_t classes = points2dClasses(points2dFromName(name));
        rows.push_back({std::string(name), fmt::format("generated 2-D points, {}",
                                                       classes > 0 ? fmt::format("{} classes", classes)
                                                                   : std::string("a value each"))});
    }
    rows.push_back({"fashion-mnist", "pictures of clothes, 28x28 pixels, 10 classes"});
    rows.push_back({"idx:FOLDER", "your pictures, in the four files of MNIST"});
    rows.push_back({"csv:FILE", "your table"});
    printOut("{}", table(rows, 2));
    return 0;
}

/// The columns of the exported table. Sources without names get those that others give them.
std::vector<std::string> inputNames(const Dataset& data) {
    if (!data.inputNames.empty()) return data.inputNames;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < data.inputs; ++i)
        names.push_back(data.bytes() ? fmt::format("pixel{}", i) : fmt::format("x{}", i + 1));
    return names;
}

std::string targetName(const Dataset& data, std::size_t target) {
    if (data.classes > 0) return "label";
    return data.targetWidth == 1 ? "value" : fmt::format("value{}", target + 1);
}

/// What all values of a column have in common, of both splits.
struct Range {
    std::string name;
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    double mean = 0;
    double deviation = 0;

    std::vector<std::string> row() const {
        // Years and prices as they stand in the table, without marks between thousands.
        const auto text = [](double value) {
            const bool large = std::abs(value) >= 1e6 && std::abs(value) < 1e15;
            return large ? fmt::format("{:.0f}", value) : sixDigits(value);
        };
        return {name, text(least), text(mean), threeDigits(deviation), text(most)};
    }
    Json json() const {
        return {{"name", name}, {"least", least}, {"mean", mean}, {"deviation", deviation}, {"most", most}};
    }
};

/// Columns `begin` up to `end` of values [count][width] as one.
template <class Number> struct Columns {
    const std::vector<Number>* splits[2];
    std::size_t width;
    std::size_t begin;
    std::size_t end;

    template <class Action> void each(Action action) const {
        for (const std::vector<Number>* values : splits)
            for (std::size_t row = 0; row < values->size(); row += width)
                for (std::size_t column = begin; column < end; ++column)
                    action(static_cast<double>((*values)[row + column]));
    }
};

template <class Number> Range rangeOf(std::string name, const Columns<Number>& columns) {
    Range range;
    range.name = std::move(name);
    double count = 0;
    columns.each([&](double value) {
        range.least = std::min(range.least, value);
        range.most = std::max(range.most, value);
        range.mean += value;
        ++count;
    });
    range.mean /= count;
    double squares = 0;
    columns.each([&](double value) { squares += (value - range.mean) * (value - range.mean); });
    range.deviation = std::sqrt(squares / count);
    return range;
}

Range inputRange(const Dataset& data, std::string name, std::size_t begin, std::size_t end) {
    if (data.bytes())
        return rangeOf(
            std::move(name),
            Columns<std::uint8_t>{{&data.train.pixels, &data.test.pixels}, data.inputs, begin, end});
    return rangeOf(std::move(name),
                   Columns<float>{{&data.train.values, &data.test.values}, data.inputs, begin, end});
}

Range targetRange(const Dataset& data, std::size_t target) {
    const Columns<float> column{
        {&data.train.targets, &data.test.targets}, data.targetWidth, target, target + 1};
    return rangeOf(targetName(data, target), column);
}

std::vector<Range> inputRanges(const Dataset& data) {
    std::vector<Range> ranges;
    const std::vector<std::string> names = inputNames(data);
    for (std::size_t i = 0; i < data.inputs; ++i) ranges.push_back(inputRange(data, names[i], i, i + 1));
    return ranges;
}

std::vector<std::size_t> classCounts(const Dataset& data, Split split) {
    std::vector<std::size_t> counts(data.classes, 0);
    for (const std::uint32_t label : data.of(split).labels) ++counts[label];
    return counts;
}

/// The size of pictures; empty for other data.
std::string sizeText(const Dataset& data) {
    if (data.imageWidth == 0) return {};
    return fmt::format("{}x{} pixels, which a network sees from 0 to 1\n", data.imageWidth, data.imageHeight);
}

std::string inputsText(const Dataset& data) {
    std::vector<std::vector<std::string>> rows{{"input", "least", "mean", "deviation", "most"}};
    if (data.bytes()) {
        rows.push_back(
            inputRange(data, fmt::format("{} pixels", grouped(data.inputs)), 0, data.inputs).row());
    } else {
        const std::vector<std::string> names = inputNames(data);
        for (std::size_t i = 0; i < std::min(data.inputs, mostRows); ++i)
            rows.push_back(inputRange(data, names[i], i, i + 1).row());
    }
    if (data.classes == 0)
        for (std::size_t i = 0; i < data.targetWidth; ++i) rows.push_back(targetRange(data, i).row());
    std::string text = table(rows, 1);
    if (!data.bytes() && data.inputs > mostRows)
        text += fmt::format("and {} more; --json has all\n", counted(data.inputs - mostRows, "input"));
    return text;
}

std::string classesText(const Dataset& data) {
    if (data.classes == 0) return {};
    const std::vector<std::size_t> train = classCounts(data, Split::train);
    const std::vector<std::size_t> test = classCounts(data, Split::test);
    std::vector<std::vector<std::string>> rows{{"class", "training", "test"}};
    for (std::size_t i = 0; i < std::min(data.classes, mostRows); ++i)
        rows.push_back({data.classNames[i], grouped(train[i]), grouped(test[i])});
    std::string text = "\n" + table(rows, 1);
    if (data.classes > mostRows)
        text += fmt::format("and {} more classes; --json has all\n", grouped(data.classes - mostRows));
    return text;
}

Json dataSetJson(const Dataset& data) {
    Json json{{"data", dataJson(data)}, {"image", nullptr}, {"inputs", Json::array()}};
    if (data.imageWidth > 0) json["image"] = {{"width", data.imageWidth}, {"height", data.imageHeight}};
    for (const Range& range : inputRanges(data)) json["inputs"].push_back(range.json());
    json["labels"] = Json::array();
    const std::vector<std::size_t> train = classCounts(data, Split::train);
    const std::vector<std::size_t> test = classCounts(data, Split::test);
    for (std::size_t i = 0; i < data.classes; ++i)
        json["labels"].push_back({{"name", data.classNames[i]}, {"train", train[i]}, {"test", test[i]}});
    json["targets"] = Json::array();
    for (std::size_t i = 0; data.classes == 0 && i < data.targetWidth; ++i)
        json["targets"].push_back(targetRange(data, i).json());
    return json;
}

void appendRows(std::string& csv, const Dataset& data, Split split) {
    const Examples& examples = data.of(split);
    for (std::size_t row = 0; row < examples.count; ++row) {
        for (std::size_t i = row * data.inputs; i < (row + 1) * data.inputs; ++i)
            csv += (data.bytes() ? std::to_string(examples.pixels[i])
                                 : shortestText(static_cast<double>(examples.values[i]))) +
                   ',';
        if (data.classes > 0) csv += csvField(data.classNames[examples.labels[row]]) + ',';
        for (std::size_t i = 0; data.classes == 0 && i < data.targetWidth; ++i)
            csv += shortestText(static_cast<double>(examples.targets[row * data.targetWidth + i])) + ',';
        csv += split == Split::train ? "train\n" : "test\n";
    }
}

/// Inputs, label or value, and split; training examples first.
std::string dataSetCsv(const Dataset& data) {
    std::string csv;
    for (const std::string& name : inputNames(data)) csv += csvField(name) + ',';
    for (std::size_t i = 0; i < (data.classes > 0 ? 1 : data.targetWidth); ++i)
        csv += targetName(data, i) + ',';
    csv += "split\n";
    for (const Split split : {Split::train, Split::test}) appendRows(csv, data, split);
    return csv;
}

/// The data as they stand in their source: a table's numbers unscaled, unless --scale asks for it.
Dataset asTheyStand(const DataSetOptions& options) {
    RunOptions raw = options;
    if (raw.dataOptions.table.scale == InputScale::automatic) raw.dataOptions.table.scale = InputScale::none;
    return loadData(raw);
}

int describeData(const DataSetOptions& options) {
    requireResultFiles(options, {tableOf(options.data)});
    const Dataset data = asTheyStand(options);
    const Dataset seen = loadData(options); // as a network would see them
    printTo(peopleStream(options), "{}{}: {} training and {} test examples\n{}\n{}{}", understoodText(seen),
            data.name, grouped(data.train.count), grouped(data.test.count), sizeText(data), inputsText(data),
            classesText(data));
    if (!options.csvFile.empty()) writeResult(options.csvFile, dataSetCsv(data));
    Json json = dataSetJson(data);
    json["data"] = dataJson(seen);
    writeResult(options.jsonFile, json.dump(1) + "\n");
    return 0;
}

} // namespace

Action addData(CLI::App& command) {
    const auto options = std::make_shared<DataSetOptions>(); // as long as the command may be run
    addManual(command, dataAbout, dataExamples);
    addDataOptions(command, *options);
    command.remove_option(command.get_option("--data")); // it is the argument here
    addNumber(command, "--seed", "N", options->settings.seed, notNegative(),
              "random seed for generated data and test split [1]");
    command.option_defaults()->group("");
    addValue(command, "data", "SPEC", options->data, listing("what:", dataSpecs()));
    command.option_defaults()->group(outputGroup);
    addValue(command, "--json", "FILE", options->jsonFile,
             "write what it holds as JSON; - for standard output");
    addValue(command, "--csv", "FILE", options->csvFile,
             "write a row per example: inputs, label or value, split; - for standard output");
    return [options, &command] {
        if (options->data.empty()) return listDataSets();
        refuseIdleDataOptions(command, options->data);
        return describeData(*options);
    };
}

} // namespace lockstep::demos
