// Dense layers in files of weights that other programs wrote: their names, order and orientation.
//
// PyTorch's nn.Linear has "weight" [outputs, inputs] and "bias" [outputs], in a module whose name depends on
// the model: "0", "fc1", "module.0", "_orig_mod.net.0", "linear_relu_stack.0". Keras and Flax have "kernel"
// [inputs, outputs] and "bias": "dense/kernel:0", "sequential/dense_1/bias", "params.Dense_0.kernel".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/safetensors.h"

namespace lockstep {

struct DenseWeights {
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::vector<float> weight; ///< [outputs][inputs]
    std::vector<float> bias;   ///< [outputs]
};

struct ForeignWeights {
    std::vector<DenseWeights> layers; ///< from the network's inputs to its outputs
    std::vector<std::string> notes;   ///< sentences for people: what was matched, transposed and converted
};

/// The network that the weights are for.
struct WantedLayers {
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::optional<std::vector<std::size_t>>
        hidden; ///< widths of the hidden layers; empty: as the file has them
};

/// Finds the layers of a network in a file of tensors.
///
/// Every weight, a tensor of two dimensions, belongs with the bias of one dimension whose name differs in the
/// last part alone; no other tensors may be there. Layers are put in the order in which each one's inputs are
/// the outputs of the one before. Where several orders fit, names that differ in numbers alone decide ("fc2"
/// before "fc10", "dense" before "dense_1"). Matrices are read as [outputs, inputs], or where that does not
/// fit, as [inputs, outputs] and transposed. If both fit, which only square ones do, "kernel" means the
/// latter.
///   fileName   for messages
/// Throws std::runtime_error "FILE: reason" that lists the file's tensors and what is wanted: for a tensor
/// that is missing, or belongs to no dense layer, for layers that do not fit each other or the network, for
/// an order that is not clear, and for values that are NaN or infinite.
ForeignWeights findDenseLayers(const TensorFile& file, const WantedLayers& wanted, std::string_view fileName);

} // namespace lockstep
