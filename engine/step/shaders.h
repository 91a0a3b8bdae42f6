// The compiled shaders, embedded at build time: shaders/<name>.comp as SPIR-V.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// SPIR-V of shaders/<name>.comp (of ui.vert: "ui_vert"); empty when there is no such shader.
std::span<const std::uint32_t> shaderWords(std::string_view name);

/// SPIR-V to be used instead of built-in shaders, by their names: "dense_naive".
using ReplacedShaders = std::map<std::string, std::vector<std::uint32_t>, std::less<>>;

} // namespace lockstep
