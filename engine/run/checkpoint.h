// Checkpoints: files that hold a training run, to resume it later or to load the network elsewhere.
//
// The file is safetensors. Parameters have PyTorch's names, so that in Python
//   model.load_state_dict(safetensors.torch.load_file("run.safetensors"), strict=False)
// fills a torch.nn.Sequential of Linear layers and activations. The optimizer's state is stored beside them
// under PyTorch's names ("optimizer.momentum_buffer.", "optimizer.square_avg.", "optimizer.exp_avg.",
// "optimizer.exp_avg_sq."), and the metadata has two entries:
//   lockstep          the run as JSON: format, data, lane, net, settings, step
//   lockstep.crc32    8 hexadecimal digits: CRC-32 (zlib's) of that JSON text and all tensor data
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/data_source.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"
#include "engine/run/trainer.h"

namespace lockstep {

/// Everything needed to resume a run. On the same rung with the same threads, it continues bit for bit as if
/// never stopped.
struct Checkpoint {
    std::string dataSpec; ///< as for loadDataset()
    /// With the network's classes in `classNames`, and how it reads a table in `model`.
    DataOptions dataOptions;
    std::optional<DataFingerprint> fingerprint = {}; ///< of the data; none in files of older versions
    std::string lane;                                ///< as LaneSpec::text(), for the record
    NetShape shape;
    TrainSettings settings;
    TrainerState state;
};

/// Writes the file atomically (files/atomic_file.h). Throws std::invalid_argument if the state does not match
/// shape and settings, std::runtime_error if a parameter is NaN or infinite or the optimizer's state NaN (an
/// infinite second moment only means that its weight rests), and if the file cannot be written. On failure
/// the old file is unchanged.
void saveCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Reads a file from saveCheckpoint(). Throws std::runtime_error, naming file, place and reason, for any
/// other file, a truncated or modified one, and a newer format. For a file of weights only, the message has a
/// hint.
Checkpoint loadCheckpoint(const std::filesystem::path& path);

/// Parses a checkpoint in memory; `name` is the file's name for messages.
Checkpoint parseCheckpoint(std::span<const std::byte> bytes, std::string_view name);

/// True if the file has a run for loadCheckpoint(), false if it has weights alone. Throws std::runtime_error
/// if it is no safetensors file.
bool hasRun(const std::filesystem::path& path);

struct LoadedWeights {
    std::vector<float> parameters;  ///< an arena by ParamLayout
    std::vector<std::string> notes; ///< sentences for people: what was matched, transposed and converted
};

/// Reads the parameters of a checkpoint or of another program's safetensors file, whose layers are found as
/// files/foreign_weights.h says. Throws std::runtime_error as findDenseLayers().
LoadedWeights loadWeights(const std::filesystem::path& path, const NetShape& shape);

/// The widths of the hidden layers in such a file, of a network with these inputs and outputs.
std::vector<std::size_t> hiddenWidthsIn(const std::filesystem::path& path, std::size_t inputs,
                                        std::size_t outputs);

} // namespace lockstep
