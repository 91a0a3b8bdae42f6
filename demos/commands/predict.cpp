// `lockstep predict`: the predictions of a trained network.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/kit/machines.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/words/streams.h"
#include "demos/words/table_words.h"
#include "demos/words/text.h"
#include "engine/data/table_scaling.h"
#include "engine/net/names.h"
#include "engine/net/plain_ops.h"
#include "engine/run/checkpoint.h"
#include "engine/run/inference.h"
#include "engine/run/int8_inference.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

constexpr const char* predictAbout =
    R"(Evaluates a trained network: accuracy, confusion matrix and, with --json, every prediction.)";

constexpr const char* predictExamples = R"(examples:
  lockstep predict --model model.safetensors                       on the data it was trained with, test split
  lockstep predict --model model.safetensors --data csv:new.csv                    every row, with or without labels
  lockstep predict --model model.safetensors --data csv:new.csv --csv predictions.csv --json predictions.json
  lockstep predict --model weights.safetensors --layers 256,128 --data fashion-mnist

A model saved by `lockstep train` knows its network and data: a table's columns are found by name, in any order, and
scaled as in training; labels may be missing. For a file of weights alone, give --data. Layers are read off the file (or
given by --layers), and the other network options are needed where they differ from the defaults; with any of them, every
file is read as weights alone.
)";

using nlohmann::ordered_json;

constexpr std::size_t mostColumns = 16;
constexpr std::size_t nameWidth = 12;

enum class Which { test, train, all };

constexpr NameOf<Which> splitNames[] = {{Which::test, "test"}, {Which::train, "train"}, {Which::all, "all"}};

struct PredictOptions : RunOptions {
    std::string modelFile;
    std::optional<Which> split;
};

/// The data options of the run that trained the model, overridden by those given here.
DataOptions dataOptionsFor(const CLI::App& command, const RunOptions& options, const Checkpoint& checkpoint) {
    DataOptions data = checkpoint.dataOptions;
    const DataOptions& own = options.dataOptions;
    const auto take = [&command](const char* option, auto& into, const auto& from) {
        if (given(command, option)) into = from;
    };
    take("--samples", data.samples, own.samples);
    take("--noise", data.noise, own.noise);
    take("--test-share", data.testShare, own.testShare);
    take("--seed", data.seed, options.settings.seed);
    take("--target", data.table.target, own.table.target);
    take("--task", data.table.task, own.table.task);
    take("--header", data.table.header, own.table.header);
    take("--separator", data.table.separator, own.table.separator);
    take("--decimal", data.table.decimal, own.table.decimal);
    take("--missing", data.table.missing, own.table.missing);
    take("--ignore", data.table.ignore, own.table.ignore);
    take("--scale", data.table.scale, own.table.scale);
    return data;
}

bool isTable(const std::string& spec) { return spec.starts_with("csv:"); }

/// The test split, or every row if this is a table that the model was not trained on.
Which splitFor(std::optional<Which> asked, bool newTable) {
    if (asked) return *asked;
    return newTable ? Which::all : Which::test;
}

/// A table for a network that was not trained on one: the same numbers as it was trained on, or pixels from 0
/// to 255 where it was trained on pixels / 255, with or without a column of labels.
Dataset tableFor(const NetShape& shape, bool pixels, const std::string& spec, DataOptions options) {
    if (options.table.scale == InputScale::automatic) options.table.scale = InputScale::none;
    Dataset data = loadDataset(spec, options);
    if (data.inputs + 1 == shape.inputs() && options.table.target.empty()) {
        options.table.target = "none";
        data = loadDataset(spec, options);
    }
    const auto bright = [](const Examples& examples) {
        return std::ranges::any_of(examples.values, [](float value) { return value > 1; });
    };
    if (!pixels || !(bright(data.train) || bright(data.test))) return data;
    options.table.scale = InputScale::pixels;
    data = loadDataset(spec, options);
    data.notes.emplace_back(
        "the model was trained on pixels / 255, so the table's pixels are divided by 255");
    return data;
}

struct Model {
    Dataset data;
    TrainJob job;
    std::vector<float> parameters;
    Which split = Which::test;
    bool newTable = false;
    bool changed = false; ///< the data are not those that the model was trained on any more
};

/// What a table for new predictions is read like: as the model's own, where that was a table.
void loadFor(const Checkpoint& checkpoint, const std::string& spec, DataOptions options, Model& model) {
    const bool pixels = checkpoint.dataSpec.starts_with("idx:") || checkpoint.dataSpec == "fashion-mnist";
    if (model.newTable && !options.model && !isTable(checkpoint.dataSpec)) {
        model.data = tableFor(checkpoint.shape, pixels, spec, options);
    } else {
        model.data = loadDataset(spec, options);
        if (model.newTable && options.model)
            for (std::string& note : strangeRanges(*model.data.table, *options.model))
                model.data.notes.push_back(std::move(note));
    }
    if (spec != checkpoint.dataSpec || model.split == Which::all || !checkpoint.fingerprint) return;
    const DataFingerprint now = fingerprintOf(model.data);
    const DataFingerprint& then = *checkpoint.fingerprint;
    model.changed = now != then && options.testShare == checkpoint.dataOptions.testShare &&
                    options.seed == checkpoint.dataOptions.seed;
    if (model.changed)
        model.data.notes.push_back(fmt::format("{} has changed since the model was trained on it ({} "
                                               "examples now, {} then): the test split is drawn anew, "
                                               "and may hold examples that the model was trained on",
                                               spec, grouped(now.train + now.test),
                                               grouped(then.train + then.test)));
}

/// Throws std::runtime_error for a file of weights without a word on the data.
bool areWeightsAlone(const CLI::App& command, const PredictOptions& options) {
    if (firstGiven(command, {networkGroup}) != nullptr) return true;
    if (hasRun(options.modelFile)) return false;
    if (!given(command, "--data"))
        throw std::runtime_error(
            options.modelFile +
            ": it has weights, but no run that says which data they are for; give --data");
    return true;
}

/// Network and parameters of weights alone, for model.data.
void loadWeightsAlone(const CLI::App& command, const PredictOptions& options, Model& model) {
    RunOptions network = options;
    if (!network.hiddenWidths) {
        const Loss loss = network.loss.value_or(defaultLoss(model.data));
        network.hiddenWidths =
            hiddenWidthsIn(options.modelFile, model.data.inputs, outputsFor(model.data, loss));
    }
    model.job = makeJob(network, model.data);
    LoadedWeights loaded = loadWeights(options.modelFile, model.job.shape);
    model.parameters = std::move(loaded.parameters);
    std::vector<std::string>& notes = model.data.notes;
    notes.insert(notes.end(), loaded.notes.begin(), loaded.notes.end());
    if (!options.hiddenWidths)
        notes.push_back("the layers are those of the file: " + model.job.shape.describeWidths());
    if (!given(command, "--activation") && model.job.shape.layers() > 1)
        notes.push_back(fmt::format("weights do not tell the activation: {} is assumed (--activation)",
                                    name(model.job.shape.activation)));
}

/// Reads weights, network and data. Filled in place, because the job points into it.
void load(const CLI::App& command, const PredictOptions& options, Model& model) {
    std::optional<Checkpoint> checkpoint; // not of weights alone
    if (!areWeightsAlone(command, options)) checkpoint = loadCheckpoint(options.modelFile);
    const std::string trainedWith = checkpoint ? checkpoint->dataSpec : std::string();
    const std::string spec = given(command, "--data") || !checkpoint ? options.data : trainedWith;
    refuseIdleDataOptions(command, spec);
    DataOptions data = options.dataOptions;
    data.seed = options.settings.seed;
    if (checkpoint) data = dataOptionsFor(command, options, *checkpoint);
    model.newTable = isTable(spec) && spec != trainedWith;
    model.split = splitFor(options.split, model.newTable);
    if (model.split == Which::all) data.testShare = 0;
    data.newRows = model.newTable && checkpoint.has_value() && model.split == Which::all;
    if (checkpoint)
        loadFor(*checkpoint, spec, data, model);
    else
        model.data = loadDataset(spec, data);
    if (checkpoint) {
        model.job.data = &model.data;
        model.job.shape = checkpoint->shape;
        model.parameters = std::move(checkpoint->state.parameters);
    } else {
        loadWeightsAlone(command, options, model);
    }
    model.job.settings = TrainSettings();
    model.job.validate();
}

/// A split's answers.
struct SplitAnswers {
    Split split = Split::test;
    std::vector<float> outputs;           ///< [count][outputs], after the output activation
    std::optional<Evaluation> evaluation; ///< none without labels
};

/// Several splits as one. Losses are weighted by the number of examples. None if no split has labels.
std::optional<Evaluation> merged(const std::vector<SplitAnswers>& splits) {
    Evaluation all;
    for (const SplitAnswers& split : splits) {
        if (!split.evaluation) continue;
        const Evaluation& part = *split.evaluation;
        const auto weight = static_cast<double>(part.count);
        all.loss += part.loss * weight;
        all.accuracy += part.accuracy * weight;
        all.count += part.count;
        all.confusion.resize(part.confusion.size());
        std::ranges::transform(all.confusion, part.confusion, all.confusion.begin(), std::plus<>());
    }
    if (all.count == 0) return std::nullopt;
    all.loss /= static_cast<double>(all.count);
    all.accuracy /= static_cast<double>(all.count);
    return all;
}

/// The confusion matrix: a row per true class, a column per answer, with the share of right answers of each
/// class. Empty in regression, and a remark for more than 16 classes.
std::string confusionText(const Evaluation& evaluation, const std::vector<std::string>& classNames) {
    const std::size_t classes = classNames.size();
    if (evaluation.confusion.empty()) return {};
    if (classes > mostColumns)
        return fmt::format("the confusion matrix of {} classes is too wide to print; --json has it\n",
                           classes);
    std::vector<std::vector<std::string>> rows = {{"is \\ says"}};
    for (std::size_t column = 0; column < classes; ++column)
        rows[0].push_back(cut(classNames[column], classes > 8 ? 6 : nameWidth));
    rows[0].emplace_back("found");
    for (std::size_t row = 0; row < classes; ++row) {
        rows.push_back({cut(classNames[row], nameWidth)});
        std::uint64_t sum = 0;
        for (std::size_t column = 0; column < classes; ++column) {
            const std::uint64_t count = evaluation.confusion[row * classes + column];
            sum += count;
            rows.back().push_back(count == 0 ? "." : grouped(count));
        }
        const auto right = static_cast<double>(evaluation.confusion[row * classes + row]);
        rows.back().push_back(sum == 0 ? "-" : percent(right / static_cast<double>(sum)));
    }
    return table(rows, 1);
}

/// What is said of one example.
struct Prediction {
    std::size_t example; ///< in its split
    Split split;
    std::uint32_t line;               ///< of a table; 0 for other data
    std::optional<std::size_t> label; ///< as known
    std::size_t answer = 0;           ///< the class
    std::vector<float> targets;       ///< in regression, in the table's units; empty if not known
    std::vector<float> values;        ///< likewise predicted
    const float* outputs;             ///< of the network
    std::vector<double> probabilities;
};

/// In the order of the data: a table's by their lines.
std::vector<Prediction> predictionsOf(const TrainJob& job, const std::vector<SplitAnswers>& splits) {
    const Dataset& data = *job.data;
    const std::size_t width = job.shape.outputs();
    std::vector<Prediction> all;
    for (const SplitAnswers& answers : splits) {
        const Examples& examples = data.of(answers.split);
        const bool labelled = data.unlabelled != answers.split;
        for (std::size_t example = 0; example < examples.count; ++example) {
            const float* outputs = answers.outputs.data() + example * width;
            Prediction each{example,
                            answers.split,
                            examples.lines.empty() ? 0 : examples.lines[example],
                            {},
                            0,
                            {},
                            {},
                            outputs,
                            plain::probabilities(job.shape, outputs)};
            if (data.classes > 0) {
                each.answer = plain::predictedClass(outputs, width, job.shape.outputActivation);
                if (labelled) each.label = examples.labels[example];
            } else {
                for (std::size_t output = 0; output < data.targetWidth; ++output) {
                    each.values.push_back(unscaledTarget(data, output, outputs[output]));
                    if (labelled)
                        each.targets.push_back(unscaledTarget(
                            data, output, examples.targets[example * data.targetWidth + output]));
                }
            }
            all.push_back(std::move(each));
        }
    }
    std::ranges::stable_sort(all, {}, &Prediction::line);
    return all;
}

/// One object per example: {"split", "example", "line" (tables), "label" or "target" (where known), "answer",
/// "prediction", "outputs", "probabilities"}.
ordered_json predictionsJson(const TrainJob& job, const std::vector<Prediction>& predictions) {
    const Dataset& data = *job.data;
    ordered_json all = ordered_json::array();
    for (const Prediction& each : predictions) {
        ordered_json json = {{"split", each.split == Split::train ? "train" : "test"},
                             {"example", each.example}};
        if (each.line > 0) json["line"] = each.line;
        if (each.label) json["label"] = *each.label;
        if (!each.targets.empty()) json["target"] = each.targets;
        if (data.classes > 0) {
            json["answer"] = each.answer;
            json["prediction"] = data.classNames[each.answer];
        } else {
            json["prediction"] = each.values;
        }
        json["outputs"] = std::vector<float>(each.outputs, each.outputs + job.shape.outputs());
        if (!each.probabilities.empty()) json["probabilities"] = each.probabilities;
        all.push_back(std::move(json));
    }
    return all;
}

/// The names of a regression's targets; of classes, "".
std::vector<std::string> targetNames(const Dataset& data) {
    if (data.classes > 0) return {""};
    std::vector<std::string> names;
    for (std::size_t output = 0; output < data.targetWidth; ++output) {
        const std::string name = output < data.targetColumns.size() ? data.targetColumns[output].name : "";
        names.push_back(name.empty() ? fmt::format("value {}", output + 1) : name);
    }
    return names;
}

/// A row per example, the first of them the names: line (or split and example), label or targets, prediction,
/// and the probability of each class.
std::vector<std::vector<std::string>> predictionRows(const TrainJob& job,
                                                     const std::vector<Prediction>& predictions) {
    const Dataset& data = *job.data;
    const bool lines = !predictions.empty() && predictions.front().line > 0;
    const bool labels = std::ranges::any_of(
        predictions, [](const Prediction& each) { return each.label || !each.targets.empty(); });
    const bool probabilities = !predictions.empty() && !predictions.front().probabilities.empty();
    std::vector<std::string> head =
        lines ? std::vector<std::string>{"line"} : std::vector<std::string>{"split", "example"};
    const std::vector<std::string> targets = targetNames(data);
    for (const std::string& name : targets) {
        if (labels) head.push_back(name.empty() ? "label" : name);
        head.push_back(name.empty() ? "prediction" : "predicted " + name);
    }
    for (std::size_t i = 0; probabilities && i < data.classes; ++i)
        head.push_back("p(" + data.classNames[i] + ")");
    std::vector<std::vector<std::string>> rows{head};
    for (const Prediction& each : predictions) {
        std::vector<std::string>& row = rows.emplace_back();
        if (lines)
            row = {std::to_string(each.line)};
        else
            row = {each.split == Split::train ? "train" : "test", std::to_string(each.example)};
        for (std::size_t output = 0; output < targets.size(); ++output) {
            if (labels && data.classes > 0) row.push_back(each.label ? data.classNames[*each.label] : "");
            if (labels && data.classes == 0)
                row.push_back(each.targets.empty() ? "" : shortestText(each.targets[output]));
            row.push_back(data.classes > 0 ? data.classNames[each.answer]
                                           : fmt::format("{}", each.values[output]));
        }
        for (const double share : each.probabilities) row.push_back(fmt::format("{:.6f}", share));
    }
    return rows;
}

std::string predictionsCsv(const std::vector<std::vector<std::string>>& rows) {
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) text += (i > 0 ? "," : "") + csvField(row[i]);
        text += '\n';
    }
    return text;
}

/// The first rows, as many probabilities as fit, and where the rest is.
std::string firstPredictions(std::vector<std::vector<std::string>> rows) {
    constexpr std::size_t printedRows = 10;
    constexpr std::size_t mostFields = 8;
    const std::size_t count = rows.size() - 1;
    const bool narrow = rows.front().size() <= mostFields;
    rows.resize(std::min(rows.size(), printedRows + 1));
    for (std::vector<std::string>& row : rows) {
        row.resize(std::min(row.size(), mostFields));
        for (std::string& field : row) field = cut(field, 16);
    }
    std::string text = table(rows, 0);
    if (count > printedRows || !narrow)
        text += fmt::format("({} predictions; --csv FILE and --json FILE have all)\n", grouped(count));
    return text;
}

/// The splits that were asked for.
std::vector<SplitAnswers> answersOf(Inference& network, const Model& model) {
    const TrainJob& job = model.job;
    std::vector<SplitAnswers> splits;
    for (const Split split : {Split::train, Split::test}) {
        const std::size_t count = job.data->of(split).count;
        const Which other = split == Split::train ? Which::test : Which::train;
        if (model.split == other || count == 0) continue;
        std::vector<float> outputs = network.outputsOf(*job.data, split, 0, count);
        std::optional<Evaluation> evaluation;
        if (job.data->unlabelled != split) evaluation = evaluate(job, split, outputs);
        splits.push_back({split, std::move(outputs), std::move(evaluation)});
    }
    return splits;
}

std::string resultText(const Evaluation& evaluation) {
    return fmt::format("loss {}, accuracy {}", fixed(evaluation.loss, 4), percent(evaluation.accuracy));
}

int predict(const CLI::App& command, const PredictOptions& options) {
    requireResultFiles(options, {{"--model", options.modelFile}, tableOf(options.data)});
    Model model;
    load(command, options, model);
    const TrainJob& job = model.job;
    Machines machines(options.threads, options.device);
    const LaneSpec lane = options.lanes.empty() ? laneSpecFromText("cpu:best") : options.lanes.front();
    const std::unique_ptr<Inference> network = makeInference(
        job.shape, model.parameters, lane, {.threads = options.threads}, machines.deviceOf(lane));

    // With --format int8, the lane's evaluation in fp32 is what the integers' is compared with.
    std::vector<SplitAnswers> splits = answersOf(*network, model);
    std::optional<Evaluation> exact;
    std::string kernels;
    if (options.int8) {
        exact = merged(splits);
        const auto integers = makeInt8Inference(job.shape, model.parameters, calibrationOf(*job.data));
        splits = answersOf(*integers, model);
        kernels = ", and " + integers->machine().kernels;
    }
    if (splits.empty())
        throw std::runtime_error("'" + job.data->name +
                                 "' has no test examples; use --split train or --split all");
    const std::optional<Evaluation> total = merged(splits);
    const std::vector<Prediction> predictions = predictionsOf(job, splits);
    const std::vector<std::vector<std::string>> rows = predictionRows(job, predictions);

    std::FILE* people = peopleStream(options);
    printTo(people, "{}{} on {} ({}), {} examples\n", understoodText(*job.data), options.modelFile,
            job.data->name, nameOf(splitNames, model.split), grouped(predictions.size()));
    printTo(people, "{} on {}{}\n", lane.text(), honestDevice(network->machine()), kernels);
    if (model.newTable) printTo(people, "{}", firstPredictions(rows));
    if (total)
        printTo(people, "{}{}{}{}\n{}", exact ? "int8: " : "", resultText(*total),
                exact ? " (fp32: " + resultText(*exact) + ")" : "",
                total->count < predictions.size()
                    ? fmt::format(" of the {} with a known label", grouped(total->count))
                    : "",
                confusionText(*total, job.data->classNames));
    else
        printTo(people, "no labels, so no accuracy\n");
    if (!options.csvFile.empty()) writeResult(options.csvFile, predictionsCsv(rows));
    if (options.jsonFile.empty()) return 0;
    ordered_json json = {{"model", options.modelFile},
                         {"data", dataJson(*job.data)},
                         {"data_changed", model.changed},
                         {"net", toJson(job.shape)},
                         {"lane", lane.text()},
                         {"device", network->machine().device},
                         {"software", network->machine().software},
                         {"format", options.int8 ? "int8" : "fp32"},
                         {"split", nameOf(splitNames, model.split)},
                         {"test", total ? evaluationJson(*total, job.data->classes) : ordered_json()},
                         {"predictions", predictionsJson(job, predictions)}};
    if (options.int8) json["fp32"] = evaluationJson(exact, job.data->classes);
    writeResult(options.jsonFile, json.dump() + "\n");
    return 0;
}

} // namespace

Action addPredict(CLI::App& command) {
    const auto options = std::make_shared<PredictOptions>(); // as long as the command may be run
    addManual(command, predictAbout, predictExamples);
    addValue(command, "--model", "FILE", options->modelFile,
             "file from `lockstep train --save`, or weights (safetensors)");
    addDataOptions(command, *options, "data to evaluate on [the model's; fashion-mnist for weights alone]:");
    for (const char* option : {"--data", "--samples", "--noise"})
        command.get_option(option)->default_str(""); // the model's
    addText(
        command, "--split", "NAME",
        [options](std::string_view text) { options->split = valueFromName(splitNames, "split", text); },
        "examples to use: test train all [test; all for a table new to the model]");
    addNumber(command, "--seed", "N", options->settings.seed, notNegative(),
              "random seed for generated data and test split [the model's]");
    addNetworkOptions(command, *options);
    command.remove_option(command.get_option("--init-scheme"));
    addMachineOptions(command, *options, "where to run:", knownLanes());
    addText(
        command, "--format", "NAME", options->int8,
        [](std::string_view text) {
            constexpr std::string_view known[] = {"fp32", "int8"};
            if (text != "fp32" && text != "int8") throwUnknownName("format", text, known);
            return text == "int8";
        },
        "number format of the products: fp32, or int8: 8-bit integers, whose ranges are found with up to\n"
        "500 training examples of the data; on the processor, with AVX-512 VNNI where it has that [fp32]");
    command.option_defaults()->group(outputGroup);
    addValue(command, "--json", "FILE", options->jsonFile,
             "write every prediction as JSON; - for standard output");
    addValue(
        command, "--csv", "FILE", options->csvFile,
        "write every prediction, a row each: line, label, prediction, probabilities; - for standard output");
    return [options, &command] {
        if (options->modelFile.empty())
            throw std::invalid_argument("predict needs a trained network: --model FILE");
        return predict(command, *options);
    };
}

} // namespace lockstep::demos
