// The compiled shaders, embedded at build time: shaders/<name>.comp as SPIR-V.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep {

/// SPIR-V of shaders/<name>.comp (of ui.vert: "ui_vert"); empty when there is no such shader.
std::span<const std::uint32_t> shaderWords(std::string_view name);

} // namespace lockstep
