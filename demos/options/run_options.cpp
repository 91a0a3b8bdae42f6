#include "demos/options/run_options.h"

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/options/parse.h"
#include "demos/options/setting_words.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t manyInputs = 32;
constexpr std::size_t manyExamples = 10000;
constexpr std::uint64_t stepsOnSmallData = 5000;
constexpr std::uint64_t limitEpochs = 100;
constexpr std::uint64_t limitSteps = 20000;

/// "relu leaky-relu elu ..."
template <class Enum, std::size_t N> std::string namesOf(const Enum (&all)[N]) {
    std::string text;
    for (const Enum each : all) text += (text.empty() ? "" : " ") + std::string(name(each));
    return text;
}

void addFinishOptions(CLI::App& command, RunOptions& options) {
    command.option_defaults()->group(finishGroup);
    FinishLine& finish = options.finish;
    addNumber(command, "--epochs", "N", finish.epochs, atLeastOne(), "passes through the training data");
    addNumber(command, "--steps", "N", finish.steps, atLeastOne(), "training steps, one batch each");
    addNumber(command, "--seconds", "S", finish.seconds, aboveZero(),
              "training time, without evaluation and warm-up");
    addText(command, "--until-accuracy", "A", finish.accuracy, shareFromText,
            "target test accuracy: 0.85 or 85%");
    addNumber(command, "--until-loss", "L", finish.loss, aboveZero(), "target test loss");
    command.option_defaults()->group(outputGroup);
    addNumber(command, "--evaluate-every", "N", options.evaluateEvery, notNegative(),
              "epochs between evaluations on the test data; 0: only at the end [1]");
}

/// A name of the table, or what it stands for ("," for comma).
template <class Enum, std::size_t N>
Enum choiceFromText(const NameOf<Enum> (&table)[N], std::string_view kind, std::string_view text,
                    std::initializer_list<NameOf<Enum>> spellings) {
    for (const NameOf<Enum>& each : spellings)
        if (each.text == text) return each.value;
    return valueFromName(table, kind, text);
}

void addTableOptions(CLI::App& command, TableOptions& table) {
    addValue(
        command, "--target,--label", "COLUMN", table.target,
        "target column of a table: name, number from 1, first or last; several, separated by\ncommas, for a "
        "regression with several outputs [inferred]");
    addText(
        command, "--task", "NAME",
        [&table](std::string_view text) { table.task = valueFromName(tableTasks, "task", text); },
        "what a table's target is: classes values [classes for words and small whole numbers]");
    addText(
        command, "--header", "yes|no",
        [&table](std::string_view text) {
            table.header = choiceFromText<TableHeader>(
                tableHeaders, "header", text, {{TableHeader::present, "yes"}, {TableHeader::absent, "no"}});
        },
        "whether a table's first row has names [inferred]");
    addText(
        command, "--separator", "NAME",
        [&table](std::string_view text) {
            table.separator = choiceFromText<TableSeparator>(tableSeparators, "separator", text,
                                                             {{TableSeparator::comma, ","},
                                                              {TableSeparator::semicolon, ";"},
                                                              {TableSeparator::tab, "\t"},
                                                              {TableSeparator::tab, "\\t"},
                                                              {TableSeparator::pipe, "|"},
                                                              {TableSeparator::blanks, " "}});
        },
        "between a table's fields: comma semicolon tab pipe blanks [inferred]");
    addText(
        command, "--decimal", "NAME",
        [&table](std::string_view text) {
            table.decimal =
                choiceFromText<TableDecimal>(tableDecimals, "decimal sign", text,
                                             {{TableDecimal::point, "."}, {TableDecimal::comma, ","}});
        },
        "decimal sign of a table's numbers: point comma [inferred]");
    addText(
        command, "--missing", "NAME",
        [&table](std::string_view text) {
            table.missing = valueFromName(missingCells, "treatment of missing cells", text);
        },
        "rows with an empty cell, NA, ?: error drop, or mean to fill in the column's mean [error]");
    addText(
        command, "--ignore", "NAMES", [&table](std::string_view text) { table.ignore = namesFromText(text); },
        "columns of a table to leave out, by name or number, separated by commas; none: keep\neven those "
        "that only "
        "number the rows [inferred]");
    addText(
        command, "--scale", "NAME",
        [&table](std::string_view text) { table.scale = valueFromName(inputScales, "scale", text); },
        "a table's numbers: standard (mean 0, deviation 1), pixels (0 to 255, divided by 255), none\n[pixels "
        "or none "
        "where they fit, else standard]");
}

} // namespace

void addDataOptions(CLI::App& command, RunOptions& options, const std::string& purpose) {
    command.option_defaults()->group(dataGroup); // of the options that follow
    DataOptions& data = options.dataOptions;
    addValue(command, "--data", "SPEC", options.data, listing(purpose, dataSpecs()))->capture_default_str();
    addNumber(command, "--samples", "N", data.samples, atLeastOne(),
              "number of generated points, test points included")
        ->capture_default_str();
    addNumber(command, "--noise", "X", data.noise, notNegative(), "noise in generated points, 0 to 0.8")
        ->capture_default_str();
    addText(command, "--test-share", "X", data.testShare, shareFromText,
            "share held out for testing if the data have no test split: 0.2 or 20% [0.2]");
    addTableOptions(command, data.table);
}

void addNetworkOptions(CLI::App& command, RunOptions& options, const std::string& suitableLoss) {
    command.option_defaults()->group(networkGroup);
    const std::string layers = options.hiddenWidths ? fmt::format("{}", fmt::join(*options.hiddenWidths, ","))
                                                    : "256,128, or 32,32 for fewer than 32 inputs";
    addText(command, "--layers", "N,N,...", options.hiddenWidths, widthsFromText,
            "widths of the hidden layers, or 'none' [" + layers + "]");
    addText(command, "--activation", "NAME", options.activation, activationFromName,
            fmt::format("activation of the hidden layers: {} [{}]", namesOf(allActivations),
                        name(options.activation)));
    addText(command, "--output-activation", "NAME", options.outputActivation, activationFromName,
            "activation of the last layer [identity]");
    addText(command, "--loss", "NAME", options.loss, lossFromName,
            "loss function: cross-entropy mse huber bce [" + suitableLoss + "]");
    addText(command, "--init-scheme", "NAME", options.init, initSchemeFromName,
            fmt::format("initial weights: he xavier lecun uniform zeros [{}]", name(options.init)));
}

void addSettingOption(CLI::App& command, const SettingRow& row, OptimizerSettings& settings) {
    const SettingWords& words = settingWords(row.key);
    const std::string option = optionOf(row);
    std::string help = words.help;
    if (row.users != usesNothing) help += ", for --optimizer " + optimizersWith(row.users);
    const auto withDefault = [&](auto value) {
        return words.usual.empty() ? fmt::format("{} [{}]", help, value)
                                   : fmt::format("{} [{}]", help, words.usual);
    };
    if (const auto* own = std::get_if<OwnOrSet>(&row.field))
        addNumber(command, option.c_str(), "X", settings.*(own->field),
                  row.aboveZero ? aboveZero() : notNegative(), withDefault(0));
    else if (const auto* number = std::get_if<double OptimizerSettings::*>(&row.field))
        addNumber(command, option.c_str(), "X", settings.*(*number), notNegative(),
                  withDefault(settings.*(*number)));
    else if (const auto* count = std::get_if<std::uint64_t OptimizerSettings::*>(&row.field))
        addNumber(command, option.c_str(), "N", settings.*(*count),
                  row.aboveZero ? atLeastOne() : notNegative(), withDefault(settings.*(*count)));
    else
        command.add_flag(option, settings.*std::get<bool OptimizerSettings::*>(row.field), help);
}

void addSettingsOptions(CLI::App& command, RunOptions& options) {
    command.option_defaults()->group(settingsGroup);
    OptimizerSettings& optimizer = options.settings.optimizer;
    addText(command, "--optimizer", "NAME", optimizer.kind, optimizerFromName,
            fmt::format("optimizer: {} [{}]", namesOf(allOptimizers), name(optimizer.kind)));
    for (const SettingRow& row : settingTable) {
        if (row.key == "schedule_steps") // before what belongs to it
            addText(command, "--schedule", "NAME", optimizer.schedule, scheduleFromName,
                    "learning-rate schedule: constant step cosine [constant]");
        addSettingOption(command, row, optimizer);
    }
    addNumber(command, "--batch", "N", options.settings.batch, atLeastOne(),
              fmt::format("examples per step [{}]", options.settings.batch));
    addNumber(command, "--seed", "N", options.settings.seed, notNegative(),
              "random seed for weights, order, generated data and test split [1]");
    command.add_flag_callback(
        "--no-shuffle", [&options] { options.settings.shuffle = false; }, "take examples in file order");
}

void addOutputOptions(CLI::App& command, RunOptions& options, const std::string& csvRows) {
    command.option_defaults()->group(outputGroup);
    command.add_flag("--quiet", options.quiet, "do not show progress");
    addValue(command, "--json", "FILE", options.jsonFile, "write all results as JSON; - for standard output");
    addValue(command, "--csv", "FILE", options.csvFile, "write " + csvRows + "; - for standard output");
}

LaneSpec laneOption(std::string_view text, std::span<const std::string_view> lanes) {
    const std::string_view lane = text.substr(0, text.find('@'));
    const auto row = std::ranges::find(rungTable, lane, &RungRow::lane);
    if (row != std::end(rungTable) && std::ranges::find(lanes, lane) == lanes.end())
        throw std::invalid_argument(
            fmt::format("unknown lane '{}' in this command; `lockstep {}` has it (known: {})", lane,
                        row->trains ? "race" : "population", fmt::join(lanes, ", ")));
    return laneSpecFromText(text, lanes);
}

void addMachineOptions(CLI::App& command, MachineOptions& options, const std::string& what,
                       std::span<const std::string_view> lanes) {
    command.option_defaults()->group(machineGroup);
    const std::string help = listing(what, lanes) + ";\nadd @DEVICE to a gpu lane to choose its device";
    addText(
        command, "--lane", "LANE",
        [&options, lanes](std::string_view text) { options.lanes.push_back(laneOption(text, lanes)); }, help)
        ->take_all()
        ->trigger_on_parse();
    addNumber(command, "--threads", "N", options.threads, atLeastOne(),
              "threads for CPU lanes that use several cores; with --parallel, of each rank [one per core]");
    addValue(command, "--device", "DEVICE", options.device,
             "Vulkan device for GPU lanes: number, part of its name, or UUID [the best]");
}

void addMemoryOptions(CLI::App& command, RunOptions& options) {
    command.option_defaults()->group(memoryGroup);
    MemorySettings& memory = options.settings.memory;
    command.add_flag("--memory", options.memory,
                     "also say what each lane's memory is for, as predicted and as allocated");
    addNumber(
        command, "--recompute", "K", memory.recompute, atLeastOne(),
        "keep the outputs of every K-th layer for the backward pass, and compute the others again: the\n"
        "same bits; cpu:best and gpu:best then do without kernels that join operations [1]");
    addNumber(command, "--accumulate", "N", memory.accumulate, atLeastOne(),
              "take each batch in N parts, one after the other, and add up their gradients: the same up to "
              "rounding [1]");
    addText(command, "--offload", "NAME", memory.offload, offloadFromName,
            "what GPU lanes leave in the host's memory: none, optimizer (its state), activations (layers'\n"
            "outputs, from the forward to the backward pass), or both [none]");
}

bool onFromText(std::string_view text) {
    constexpr std::string_view known[] = {"on", "off"};
    if (text != "on" && text != "off") throwUnknownName("choice", text, known);
    return text == "on";
}

void addPrecisionOptions(CLI::App& command, RunOptions& options) {
    command.option_defaults()->group(settingsGroup);
    PrecisionSettings& precision = options.settings.precision;
    addText(
        command, "--format", "NAME",
        [&options](std::string_view text) {
            std::vector<std::string_view> known;
            for (const OperandFormat each : allOperandFormats) known.push_back(name(each));
            known.insert(known.end(), {"fp64", "int8"});
            if (std::ranges::find(known, text) == known.end()) throwUnknownName("format", text, known);
            options.int8 = text == "int8";
            options.settings.precision.format =
                options.int8 ? OperandFormat::fp32 : operandFormatFromName(text);
        },
        "number format in which products read their operands: " + namesOf(allOperandFormats) +
            ";\nsums stay fp32. Emulated: operands are rounded, and nothing is faster (cpu:bf16 and gpu:half"
            "\nhave kernels of their own). int8: trains in fp32, and evaluates the trained network in 8-bit"
            "\nintegers, too. fp64: all of cpu:scalar computes in it [fp32]");
    addText(command, "--loss-scaling", "on|off", precision.lossScaling, onFromText,
            "fp16 and fp8 scale gradients up before they are rounded; off: small ones become 0 [on]");
    addText(
        command, "--master-weights", "on|off", precision.masterWeights, onFromText,
        "on: the optimizer changes fp32 parameters, of which products read rounded copies;\noff: bf16 and "
        "fp16 store the parameters themselves, rounded after each update [on]");
    addText(
        command, "--rounding", "NAME", precision.rounding, roundingModeFromName,
        "how --master-weights off rounds: " + namesOf(allRoundingModes) +
            ". To the nearest number, small updates\nare lost; stochastic keeps them on average [nearest]");
}

void addRankOptions(CLI::App& command, RunOptions& options) {
    command.option_defaults()->group(ranksGroup);
    RankOptions& ranks = options.ranks;
    addText(
        command, "--parallel", "NAME",
        [&ranks](std::string_view text) {
            constexpr std::string_view known[] = {"data"};
            if (text != "data") throwUnknownName("way of sharing", text, known);
            ranks.shares = true;
        },
        "share the training among ranks: threads of this process, or the processes that mpirun starts.\n"
        "data: each takes a part of every batch, and their gradients are added up [one rank]");
    addNumber(command, "--ranks", "N", ranks.ranks, atLeastOne(),
              "ranks of this process, each on its part of the cores, or on a device of --device 0,1,...;\n"
              "mpirun -n sets it otherwise [2, or one per device]");
    addText(
        command, "--shard", "0|1|2",
        [&ranks](std::string_view text) {
            constexpr std::string_view known[] = {"0", "1", "2"};
            const auto* found = std::ranges::find(known, text);
            if (found == std::end(known)) throwUnknownName("shard", text, known);
            ranks.shard = static_cast<std::size_t>(found - known);
        },
        "what a rank keeps only a part of: 0 nothing, 1 the optimizer's state, 2 the gradients, too [0]");
    addText(command, "--exchange", "NAME", ranks.exchange.format, exchangeFormatFromName,
            "how gradients travel: fp32, fp16, or top-k (the largest 1 %; what is left out is added to the\n"
            "next step's) [fp32]");
    addText(command, "--all-reduce", "NAME", ranks.exchange.allReduce, allReduceFromName,
            "who sends which part to whom: ring, tree, naive [ring]");
    addText(command, "--overlap", "on|off", ranks.exchange.overlap, onFromText,
            "compute on while gradients are exchanged [on]");
    addNumber(command, "--patience", "S", ranks.exchange.patienceSeconds, aboveZero(),
              "seconds after which a rank that does not answer ends the run [30]");
    addValue(command, "--trace", "FILE", ranks.traceFile,
             "write what every rank did in the first steps, for the exhibit Devices");
}

void addRunOptions(CLI::App& command, RunOptions& options, const std::string& what) {
    addDataOptions(command, options);
    addNetworkOptions(command, options);
    addSettingsOptions(command, options);
    addPrecisionOptions(command, options);
    addFinishOptions(command, options);
    addMachineOptions(command, options, what, knownLanes());
    addNumber(
        command, "--gpu-workgroups", "N", options.workgroups, notNegative(),
        "throttle GPU lanes: at most N workgroups in flight. Each dispatch of a\ntraining step is cut into "
        "pieces, and each piece waits for the one before; 0: no limit [0]");
    addNumber(command, "--tune-seconds", "X", options.tuneSeconds, notNegative(),
              "gpu:best compares kernels for about so long before it trains, once per network; 0: it skips\n"
              "that and takes the likeliest ones [0.9, on a GPU 2.5]");
    addMemoryOptions(command, options);
    addRankOptions(command, options);
    command.option_defaults()->group(networkGroup);
    addValue(command, "--init", "FILE", options.weightsFile,
             "initial weights from a file (safetensors of this program, PyTorch or Keras)");
    command.option_defaults()->group(outputGroup);
    addNumber(command, "--log-every", "N", options.logEvery, atLeastOne(),
              "record the loss of every Nth step for --json and --csv [automatic]");
    addOutputOptions(command, options, "losses, one row per lane and recorded step");
}

std::vector<std::size_t> suitableLayers(std::size_t inputs) {
    if (inputs >= manyInputs) return {256, 128};
    return {32, 32};
}

std::optional<std::vector<std::size_t>> suitableLayers(const std::string& data) {
    if (data == "fashion-mnist") return suitableLayers(28 * 28);
    if (data.find(':') == std::string::npos) return suitableLayers(2); // 2-D points
    return std::nullopt;
}

void refuseIdleOptions(const CLI::App& command, const RunOptions& options) {
    const OptimizerSettings& optimizer = options.settings.optimizer;
    const auto refuse = [&command](const char* option, bool used, const std::string& users) {
        if (given(command, option) && !used)
            throw std::invalid_argument(std::string(option) + " would have no effect; it applies only to " +
                                        users);
    };
    for (const SettingRow& row : settingTable)
        if (row.users != usesNothing)
            refuse(optionOf(row).c_str(), infoOf(optimizer.kind).has(row.users),
                   "--optimizer " + optimizersWith(row.users));
    refuse("--schedule-steps", optimizer.schedule != Schedule::constant, "--schedule step and cosine");
    refuse("--schedule-gamma", optimizer.schedule == Schedule::step, "--schedule step");
    refuseIdleDataOptions(command, options.data);
}

void refuseIdleRanks(const CLI::App& command, const RunOptions& options) {
    if (options.ranks.shares) {
        const bool topK = options.ranks.exchange.format == ExchangeFormat::topK;
        const bool sharded = options.ranks.shard > 0;
        if (topK && sharded)
            throw std::invalid_argument("--exchange top-k cannot be combined with --shard 1: top-k sums "
                                        "whole layers, and a shard needs the sums of its part");
        if ((topK || sharded) && given(command, "--all-reduce"))
            throw std::invalid_argument(std::string("--all-reduce would have no effect: ") +
                                        (topK ? "--exchange top-k" : "--shard 1") + " always uses a ring");
        return;
    }
    for (const char* option :
         {"--ranks", "--shard", "--exchange", "--all-reduce", "--overlap", "--patience", "--trace"})
        if (given(command, option))
            throw std::invalid_argument(std::string(option) +
                                        " would have no effect; it applies only to --parallel data");
}

void refuseIdleOffload(const RunOptions& options) {
    const Offload offload = options.settings.memory.offload;
    if (offload == Offload::none) return;
    const auto refuse = [](bool used, const char* option, const char* users) {
        if (!used)
            throw std::invalid_argument(
                fmt::format("{} would have no effect; it applies only to {}", option, users));
    };
    refuse(!includes(offload, Offload::optimizer) || options.settings.optimizer.stateArrays() > 0,
           "--offload optimizer", "optimizers that keep a state");
    refuse(options.lanes.empty() || std::ranges::any_of(options.lanes, &LaneSpec::gpu), "--offload",
           "GPU lanes");
}

void refuseIdlePrecision(const PrecisionSettings& precision) {
    const auto refuse = [](const char* option, bool used, const char* users) {
        if (!used)
            throw std::invalid_argument(
                fmt::format("{} would have no effect; it applies only to {}", option, users));
    };
    const OperandFormat format = precision.format;
    refuse("--loss-scaling",
           precision.lossScaling || format == OperandFormat::fp16 || format == OperandFormat::fp8,
           "--format fp16 and fp8");
    refuse("--master-weights", precision.masterWeights || precision.rounds(), "--format bf16 and fp16");
    refuse("--rounding", precision.rounding == RoundingMode::nearest || !precision.masterWeights,
           "--master-weights off");
}

void refuseIdleDataOptions(const CLI::App& command, const std::string& data) {
    const bool table = data.starts_with("csv:");
    const bool generated = !table && !data.starts_with("idx:") && data != "fashion-mnist";
    const auto refuse = [&](const char* option, bool used, const char* users) {
        if (given(command, option) && !used)
            throw std::invalid_argument(
                fmt::format("{} would have no effect on {}; it applies only to {}", option, data, users));
    };
    refuse("--samples", generated, "generated points, such as --data spiral");
    refuse("--noise", generated, "generated points, such as --data spiral");
    refuse("--test-share", data != "fashion-mnist", "data without a test split");
    for (const char* option :
         {"--target", "--task", "--header", "--separator", "--decimal", "--missing", "--ignore", "--scale"})
        refuse(option, table, "tables (--data csv:FILE)");
}

std::vector<std::string> dataNames() {
    std::vector<std::string> names = {"fashion-mnist"};
    for (const std::string_view spec : dataSpecs())
        if (spec != names.front() && spec.find(':') == std::string_view::npos) names.emplace_back(spec);
    return names;
}

bool readAtOnce(const std::filesystem::path& file) {
    std::error_code unreadable;
    const std::uintmax_t size = std::filesystem::file_size(file, unreadable);
    return unreadable || size <= mostReadAtOnce;
}

Dataset loadData(const RunOptions& options) {
    DataOptions data = options.dataOptions;
    data.seed = options.settings.seed;
    return loadDataset(options.data, data);
}

Loss defaultLoss(const Dataset& data) { return data.classes > 0 ? Loss::crossEntropy : Loss::meanSquared; }

TrainJob makeJob(const RunOptions& options, const Dataset& data) {
    TrainJob job;
    job.data = &data;
    job.settings = options.settings;
    NetShape& shape = job.shape;
    shape.loss = options.loss.value_or(defaultLoss(data));
    shape.activation = options.activation;
    shape.outputActivation = options.outputActivation;
    shape.init = options.init;
    shape.widths = options.hiddenWidths.value_or(suitableLayers(data.inputs));
    shape.widths.insert(shape.widths.begin(), data.inputs);
    shape.widths.push_back(outputsFor(data, shape.loss));
    job.validate();
    return job;
}

FinishLine finishLineFor(const RunOptions& options, const TrainJob& job, bool softwareDevice) {
    FinishLine line = options.finish;
    const BatchOrder order = job.order();
    const bool large = job.data->train.count >= manyExamples;
    const bool bounded = line.epochs > 0 || line.steps > 0 || line.seconds > 0;
    if (!bounded && line.needsEvaluation())
        line.epochs = std::max(limitEpochs, limitSteps / order.stepsPerEpoch());
    else if (!bounded && large)
        line.epochs = softwareDevice ? 1 : 10;
    else if (!bounded)
        line.steps = stepsOnSmallData;
    line.validate(*job.data);
    return line;
}

} // namespace lockstep::demos
