// Between the arena, in which a network's parameters lie padded, and tensors as PyTorch names and shapes
// them: torch.nn.Sequential(Linear, activation, Linear, ...) has "0.weight" [outputs, inputs], "0.bias"
// [outputs], "2.weight", and so on, layer l at index 2 l.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/safetensors.h"
#include "engine/net/param_layout.h"

namespace lockstep {

/// Adds an arena's tensors, padding left out.
///   prefix  before every name: "" for the parameters
/// Throws std::invalid_argument naming the first tensor with a NaN or infinite value.
void addTensors(TensorFile& file, const ParamLayout& layout, std::span<const float> arena,
                std::string_view prefix);

/// An arena (padding 0) from the tensors with these names.
///   fileName  for messages
/// Throws std::runtime_error "FILE: tensor 'NAME': reason" when one is missing, has another shape, or a value
/// that is NaN or infinite. Allocates only once all shapes have been found right.
std::vector<float> arenaFromTensors(const TensorFile& file, const ParamLayout& layout,
                                    std::string_view prefix, std::string_view fileName);

/// Throws std::runtime_error naming the first tensor of `file` that is none of the layout's under any of
/// `prefixes`.
void refuseOtherTensors(const TensorFile& file, const ParamLayout& layout,
                        std::span<const std::string> prefixes, std::string_view fileName);

} // namespace lockstep
