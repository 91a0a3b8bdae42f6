// What a training run is asked to be: the options that `race` and `train` share, as values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "demos/options/machine_options.h"
#include "engine/data/data_source.h"
#include "engine/run/finish_line.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

struct RunOptions : MachineOptions {
    std::string data = "fashion-mnist";
    DataOptions dataOptions; ///< its seed follows settings.seed

    std::optional<std::vector<std::size_t>> hiddenWidths; ///< empty: what suits the data
    std::optional<Loss> loss;                             ///< empty: what suits the data
    Activation activation = Activation::relu;
    Activation outputActivation = Activation::identity;
    InitScheme init = InitScheme::he;
    TrainSettings settings;

    FinishLine finish;
    std::uint64_t evaluateEvery = 1;

    std::string weightsFile; ///< to start from; empty: fresh weights
    std::uint64_t logEvery = 0;
    bool quiet = false;
    std::string jsonFile; ///< "-": standard output
    std::string csvFile;
};

/// Groups of options, as the help shows them. Those of data, network and settings are what a checkpoint
/// records.
inline constexpr const char* dataGroup = "Data";
inline constexpr const char* networkGroup = "Network";
inline constexpr const char* settingsGroup = "Training";
inline constexpr const char* finishGroup = "Finish line (the first one reached ends the run)";
inline constexpr const char* outputGroup = "Output";

/// Each adds its group's options to a command, to be read into `options`, which has to outlive the parsing.
/// The help names what `options` holds as the default.
void addDataOptions(CLI::App& command, RunOptions& options);
/// suitableLoss   what is taken where none is asked for
void addNetworkOptions(CLI::App& command, RunOptions& options,
                       const std::string& suitableLoss = "cross-entropy for classes, mse for values");
void addSettingsOptions(CLI::App& command, RunOptions& options);
void addFinishOptions(CLI::App& command, RunOptions& options);
/// --json, --csv and --quiet.
/// csvRows   what the table holds
void addOutputOptions(CLI::App& command, RunOptions& options, const std::string& csvRows);
/// The same with first weights and kept losses, for `race` and `train`.
void addRunOutputOptions(CLI::App& command, RunOptions& options);

/// Widths of the hidden layers where none are asked for.
std::vector<std::size_t> suitableLayers(std::size_t inputs);
/// As far as a data set's name tells it; empty where the data have to be read first.
std::optional<std::vector<std::size_t>> suitableLayers(const std::string& data);

/// Throws std::invalid_argument for an option that was given and that the chosen optimizer or schedule would
/// not look at.
void refuseIdleOptions(const CLI::App& command, const RunOptions& options);

/// All data that need no file, Fashion-MNIST first.
std::vector<std::string> dataNames();

/// Whether a table is so small that a window can wait until it is read: 20,000 points with all their digits
/// are. True also for what cannot be read, which is then said.
bool readAtOnce(const std::filesystem::path& file);
inline constexpr std::uintmax_t mostReadAtOnce = 2 << 20; ///< bytes

/// The data, `settings.seed` being the seed of what is generated or split.
Dataset loadData(const RunOptions& options);

/// Network and settings for `data`, with what was not said filled in: hidden layers 256,128 for 32 inputs or
/// more, else 32,32; cross-entropy for classes, mse for values. Throws std::invalid_argument when they do not
/// fit. `data` has to outlive the job.
TrainJob makeJob(const RunOptions& options, const Dataset& data);

/// The finish line asked for, or else a sensible one: 10 epochs of large data, 1 where a software Vulkan
/// device has to make them, and 5,000 steps of small data. A line of accuracy or loss alone is given a limit
/// in epochs, so that it ends also where it cannot be reached.
FinishLine finishLineFor(const RunOptions& options, const TrainJob& job, bool softwareDevice);

} // namespace lockstep::demos
