// Changed shaders as JSON: {"shaders": {"dense_naive.comp": ["#version 450", "...", ""]}}, line by line.
#pragma once

#include <nlohmann/json.hpp>

#include "demos/kit/source_text.h"

namespace lockstep::demos {

nlohmann::ordered_json toJson(const ShaderTexts& texts);
/// The field "shaders" of a state; none where it is missing. Throws std::invalid_argument naming the field.
ShaderTexts shaderTextsFromJson(const nlohmann::ordered_json& state);

} // namespace lockstep::demos
