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
#include "demos/words/text.h"
#include "engine/net/names.h"
#include "engine/net/plain_ops.h"
#include "engine/run/checkpoint.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

constexpr const char* predictAbout =
    R"(Evaluates a trained network: accuracy, confusion matrix and, with --json, every prediction.)";

constexpr const char* predictExamples = R"(examples:
  lockstep predict --model model.safetensors                       on the data it was trained with, test split
  lockstep predict --model model.safetensors --data csv:new.csv --json predictions.json
  lockstep predict --model weights.safetensors --layers 256,128 --data fashion-mnist

A model saved by `lockstep train` knows its network and data; --data evaluates it on others. For a file of weights
alone, give --data. Layers are read off the file (or given by --layers), and the other network options are needed where
they differ from the defaults; with any of them, every file is read as weights alone.
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
    if (given(command, "--samples")) data.samples = options.dataOptions.samples;
    if (given(command, "--noise")) data.noise = options.dataOptions.noise;
    if (given(command, "--test-share")) data.testShare = options.dataOptions.testShare;
    if (given(command, "--label")) data.labelColumn = options.dataOptions.labelColumn;
    if (given(command, "--seed")) data.seed = options.settings.seed;
    return data;
}

/// The test split, or every row if this is a table that the model was not trained on.
Which splitFor(std::optional<Which> asked, const std::string& data, const std::string& trainedWith) {
    if (asked) return *asked;
    return data.starts_with("csv:") && data != trainedWith ? Which::all : Which::test;
}

struct Model {
    Dataset data;
    TrainJob job;
    TrainerState state;
    Which split = Which::test;
    std::vector<std::string> notes; ///< on weights of other programs
};

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
    model.state.parameters = std::move(loaded.parameters);
    model.notes = std::move(loaded.notes);
    if (!options.hiddenWidths)
        model.notes.push_back("the layers are those of the file: " + model.job.shape.describeWidths());
    if (!given(command, "--activation") && model.job.shape.layers() > 1)
        model.notes.push_back(fmt::format("weights do not tell the activation: {} is assumed (--activation)",
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
    model.split = splitFor(options.split, spec, trainedWith);
    if (model.split == Which::all) data.testShare = 0;
    model.data = loadDataset(spec, data);
    if (checkpoint) {
        model.job.data = &model.data;
        model.job.shape = checkpoint->shape;
        model.state.parameters = std::move(checkpoint->state.parameters);
    } else {
        loadWeightsAlone(command, options, model);
    }
    model.job.settings = TrainSettings();
    model.job.settings.optimizer.kind = Optimizer::sgd; // has no state to restore
    model.job.validate();
}

/// A split's answers.
struct SplitAnswers {
    Split split = Split::test;
    std::vector<float> outputs; ///< [count][outputs], after the output activation
    Evaluation evaluation;
};

/// Several splits as one. Losses are weighted by the number of examples.
Evaluation merged(const std::vector<SplitAnswers>& splits) {
    Evaluation all;
    for (const SplitAnswers& split : splits) {
        const Evaluation& part = split.evaluation;
        const auto weight = static_cast<double>(part.count);
        all.loss += part.loss * weight;
        all.accuracy += part.accuracy * weight;
        all.count += part.count;
        all.confusion.resize(part.confusion.size());
        std::ranges::transform(all.confusion, part.confusion, all.confusion.begin(), std::plus<>());
    }
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

/// One object per example: {"split", "example", "label" or "target", "answer", "outputs", "probabilities"}.
ordered_json predictionsJson(const TrainJob& job, const std::vector<SplitAnswers>& splits) {
    const Dataset& data = *job.data;
    const std::size_t width = job.shape.outputs();
    ordered_json all = ordered_json::array();
    for (const SplitAnswers& answers : splits) {
        const Examples& examples = data.of(answers.split);
        for (std::size_t example = 0; example < examples.count; ++example) {
            const float* outputs = answers.outputs.data() + example * width;
            ordered_json json = {{"split", answers.split == Split::train ? "train" : "test"},
                                 {"example", example}};
            if (data.classes > 0) {
                json["label"] = examples.labels[example];
                json["answer"] = plain::predictedClass(outputs, width, job.shape.outputActivation);
            } else {
                const float* target = examples.targets.data() + example * data.targetWidth;
                json["target"] = std::vector<float>(target, target + data.targetWidth);
            }
            json["outputs"] = std::vector<float>(outputs, outputs + width);
            if (const auto shares = plain::probabilities(job.shape, outputs); !shares.empty())
                json["probabilities"] = shares;
            all.push_back(std::move(json));
        }
    }
    return all;
}

int predict(const CLI::App& command, const PredictOptions& options) {
    Model model;
    load(command, options, model);
    const TrainJob& job = model.job;
    Machines machines(options.threads, options.device);
    const LaneSpec lane = options.lanes.empty() ? laneSpecFromText("cpu:best") : options.lanes.front();
    const std::unique_ptr<Trainer> trainer = machines.maker(job, lane)();
    trainer->restore(model.state);

    std::vector<SplitAnswers> splits;
    for (const Split split : {Split::train, Split::test}) {
        const std::size_t count = job.data->of(split).count;
        const Which other = split == Split::train ? Which::test : Which::train;
        if (model.split != other && count > 0)
            splits.push_back({split, trainer->predict(split, 0, count), trainer->evaluate(split)});
    }
    if (splits.empty())
        throw std::runtime_error("'" + job.data->name +
                                 "' has no test examples; use --split train or --split all");
    const Evaluation total = merged(splits);

    std::FILE* people = peopleStream(options);
    fmt::print(people, "{}", notesText(model.notes));
    fmt::print(people, "{} on {} ({}), {} examples\n", options.modelFile, job.data->name,
               nameOf(splitNames, model.split), grouped(total.count));
    fmt::print(people, "{} on {}\n", lane.text(), honestDevice(trainer->machine()));
    fmt::print(people, "loss {}, accuracy {}\n{}", fixed(total.loss, 4), percent(total.accuracy),
               confusionText(total, job.data->classNames));
    if (options.jsonFile.empty()) return 0;
    const ordered_json json = {{"model", options.modelFile},
                               {"data", dataJson(*job.data)},
                               {"net", toJson(job.shape)},
                               {"lane", lane.text()},
                               {"device", trainer->machine().device},
                               {"software", trainer->machine().software},
                               {"split", nameOf(splitNames, model.split)},
                               {"test", evaluationJson(total, job.data->classes)},
                               {"predictions", predictionsJson(job, splits)}};
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
    command.option_defaults()->group(outputGroup);
    addValue(command, "--json", "FILE", options->jsonFile,
             "write every prediction as JSON; - for standard output");
    return [options, &command] {
        if (options->modelFile.empty())
            throw std::invalid_argument("predict needs a trained network: --model FILE");
        return predict(command, *options);
    };
}

} // namespace lockstep::demos
