// The options of a training run, as values, and those of machines that all commands with lanes share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/data_source.h"
#include "engine/many/exchange.h"
#include "engine/run/finish_line.h"
#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace CLI {
class App;
}

namespace lockstep::demos {

/// What all commands with lanes share.
struct MachineOptions {
    std::vector<LaneSpec> lanes; ///< empty: the command's default lanes
    std::size_t threads = 0;
    std::string device; ///< for GPU lanes that name none

    bool quiet = false;
    std::string jsonFile; ///< "-": standard output
    std::string csvFile;
    std::string pngFile; ///< a picture, of commands that draw one
};

/// How ranks share a training: --parallel, and the options with it.
struct RankOptions {
    bool shares = false;   ///< --parallel data
    std::size_t ranks = 0; ///< of this process; 0: one per device that --device names, or two
    std::size_t shard = 0; ///< RankShare::shard
    ExchangeSettings exchange;
    std::string traceFile; ///< --trace; empty: none
};

struct RunOptions : MachineOptions {
    std::string data = "fashion-mnist";
    DataOptions dataOptions; ///< its seed is settings.seed

    std::optional<std::vector<std::size_t>> hiddenWidths; ///< empty: chosen to suit the data
    std::optional<Loss> loss;                             ///< empty: chosen to suit the data
    Activation activation = Activation::relu;
    Activation outputActivation = Activation::identity;
    InitScheme init = InitScheme::he;
    TrainSettings settings;

    FinishLine finish;
    std::uint64_t evaluateEvery = 1;

    std::string weightsFile; ///< initial weights; empty: random weights
    std::uint64_t logEvery = 0;
    bool int8 = false;          ///< the trained network is also evaluated in integers of 8 bits
    bool memory = false;        ///< results say what was allocated
    std::size_t workgroups = 0; ///< MachineShare::workgroups

    std::optional<double> tuneSeconds; ///< LaneOptions::tuneSeconds
    RankOptions ranks;

    MachineShare share() const { return {threads, workgroups}; }
};

/// Headings of the groups of options in the help. A checkpoint records data, network and settings.
inline constexpr const char* machineGroup = "Machines";
inline constexpr const char* dataGroup = "Data";
inline constexpr const char* networkGroup = "Network";
inline constexpr const char* settingsGroup = "Training";
inline constexpr const char* memoryGroup = "Memory";
inline constexpr const char* ranksGroup = "Several devices or processes (ranks)";
inline constexpr const char* finishGroup = "Finish line (the first one reached ends the run)";
inline constexpr const char* outputGroup = "Output";

/// Each adds one group of options to a command, parsed into `options`, which must outlive the parsing. The
/// help shows the values in `options` as defaults.
void addDataOptions(CLI::App& command, RunOptions& options, const std::string& purpose = "training data:");
///   suitableLoss   describes the default loss in the help
void addNetworkOptions(CLI::App& command, RunOptions& options,
                       const std::string& suitableLoss = "cross-entropy for classes, mse for values");
void addSettingsOptions(CLI::App& command, RunOptions& options);
/// --json, --csv and --quiet.
///   csvRows   describes the table in the help
void addOutputOptions(CLI::App& command, RunOptions& options, const std::string& csvRows);
/// All groups, for `race` and `train`: these, the finish line, the lanes that `what` introduces,
/// --gpu-workgroups, --init, --log-every and --memory.
void addRunOptions(CLI::App& command, RunOptions& options, const std::string& what);

/// Throws std::invalid_argument for options of ranks without --parallel, and for those that do not go
/// together.
void refuseIdleRanks(const CLI::App& command, const RunOptions& options);

/// laneSpecFromText(); for a lane that only other commands have, the message names one of them.
LaneSpec laneOption(std::string_view text, std::span<const std::string_view> lanes);

/// Adds --lane, --threads and --device to a command. `options` and `lanes` must outlive the parsing.
///   what    introduces the list of `lanes` in the help
void addMachineOptions(CLI::App& command, MachineOptions& options, const std::string& what,
                       std::span<const std::string_view> lanes);

/// Default widths of the hidden layers.
std::vector<std::size_t> suitableLayers(std::size_t inputs);
/// Default widths, if the name of the data set determines them; empty if the data must be read first.
std::optional<std::vector<std::size_t>> suitableLayers(const std::string& data);

/// Throws std::invalid_argument for an option that has no effect with the chosen optimizer or schedule.
/// Also for those that refuseIdleDataOptions() refuses.
void refuseIdleOptions(const CLI::App& command, const RunOptions& options);
/// Throws std::invalid_argument for an --offload that is of no use to the optimizer or to any of the lanes.
void refuseIdleOffload(const RunOptions& options);
/// Throws std::invalid_argument for --loss-scaling off with a format that is not scaled, --master-weights off
/// in fp32, and a --rounding of parameters that are not rounded.
void refuseIdlePrecision(const PrecisionSettings& precision);
/// Throws std::invalid_argument for an option that has no effect on the data set `data`, which a name or
/// KIND:PATH describes.
void refuseIdleDataOptions(const CLI::App& command, const std::string& data);

/// All data sets that need no file from the user, Fashion-MNIST first.
std::vector<std::string> dataNames();

/// True if a table is small enough for the window to wait until it is read (20,000 points are). Also true for
/// an unreadable file, whose error then appears at once.
bool readAtOnce(const std::filesystem::path& file);
inline constexpr std::uintmax_t mostReadAtOnce = 2 << 20; ///< bytes

/// Loads the data; `settings.seed` seeds generated points and the test split.
Dataset loadData(const RunOptions& options);

/// The default loss function for `data`: cross-entropy for classes, mse for values.
Loss defaultLoss(const Dataset& data);

/// Network and settings for `data`, with defaults filled in: hidden layers 256,128 for 32 inputs or more,
/// otherwise 32,32; cross-entropy for classes, mse for values. Throws std::invalid_argument if they do not
/// fit the data. `data` must outlive the job.
TrainJob makeJob(const RunOptions& options, const Dataset& data);

/// The finish line given, or a default: 10 epochs of large data (1 if a software Vulkan device takes part),
/// 5,000 steps of small data. A target accuracy or loss alone, which may never be reached, gets a
/// limit in epochs.
FinishLine finishLineFor(const RunOptions& options, const TrainJob& job, bool softwareDevice);

} // namespace lockstep::demos
