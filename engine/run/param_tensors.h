// Converts between the padded parameter arena and tensors with PyTorch's names and shapes:
// torch.nn.Sequential(Linear, activation, Linear, ...) has "0.weight" [outputs, inputs], "0.bias" [outputs],
// "2.weight", and so on, layer l at index 2 l.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/safetensors.h"
#include "engine/net/param_layout.h"

namespace lockstep {

/// Appends an arena's tensors without padding.
///   prefix  is prepended to every name: "" for the parameters
/// Throws std::invalid_argument naming the first tensor with a NaN or infinite value.
void addTensors(TensorFile& file, const ParamLayout& layout, std::span<const float> arena,
                std::string_view prefix);

/// Builds an arena (padding 0) from the tensors with these names.
///   fileName  for messages
/// Throws std::runtime_error "FILE: tensor 'NAME': reason" if one is missing, has the wrong shape, or
/// contains NaN or infinity. Checks all shapes before allocating.
std::vector<float> arenaFromTensors(const TensorFile& file, const ParamLayout& layout,
                                    std::string_view prefix, std::string_view fileName);

/// Throws std::runtime_error naming the first tensor of `file` that does not belong to the layout under any
/// of the `prefixes`.
void refuseOtherTensors(const TensorFile& file, const ParamLayout& layout,
                        std::span<const std::string> prefixes, std::string_view fileName);

} // namespace lockstep
