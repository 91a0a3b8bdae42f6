// A training run in a file: stop here, go on later, or load the network elsewhere.
//
// The file is safetensors. Parameters have PyTorch's names, so that in Python
//   model.load_state_dict(safetensors.torch.load_file("run.safetensors"), strict=False)
// fills a torch.nn.Sequential of Linear layers and activations. The optimizer's state lies beside them under
// PyTorch's words for it ("optimizer.momentum_buffer.", "optimizer.square_avg.", "optimizer.exp_avg.",
// "optimizer.exp_avg_sq."), and the metadata has two entries:
//   lockstep          the run as JSON: format, data, lane, net, settings, step
//   lockstep.crc32    8 hexadecimal digits: CRC-32 (zlib's) of that JSON text and all numbers after it
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/data/data_source.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"
#include "engine/run/trainer.h"

namespace lockstep {

/// All that has to be known to go on with a run: on the same rung with the same threads it continues as if it
/// had never stopped, to the bit.
struct Checkpoint {
    std::string dataSpec;    ///< as for loadDataset()
    DataOptions dataOptions; ///< with the network's classes in `classNames`
    std::string lane;        ///< as LaneSpec::text(), for the record
    NetShape shape;
    TrainSettings settings;
    TrainerState state;
};

/// Writes atomically (net/atomic_file.h). Throws std::invalid_argument when the state does not fit shape and
/// settings or holds a NaN or infinity (the file stays as it was), std::runtime_error when it cannot be
/// written.
void saveCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Reads what saveCheckpoint() wrote. Throws std::runtime_error, naming file, place and reason, for any other
/// file, one that was cut off or changed, and one of a newer format; a file of weights alone is answered with
/// a hint.
Checkpoint loadCheckpoint(const std::filesystem::path& path);

/// The same from memory; `name` is how messages call the file.
Checkpoint parseCheckpoint(std::span<const std::byte> bytes, std::string_view name);

/// The parameters (arena, ParamLayout(shape)) of a checkpoint, or of a safetensors file that another program
/// wrote. Throws std::runtime_error naming the tensor that is missing, too much, of another shape, NaN or
/// infinite.
std::vector<float> loadWeights(const std::filesystem::path& path, const NetShape& shape);

} // namespace lockstep
