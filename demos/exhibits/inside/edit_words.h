// What is said about changed shaders.
#pragma once

#include <string>

#include "demos/draw/theme.h"
#include "demos/exhibits/inside/shader_edits.h"

namespace lockstep::demos {

enum class Tone { plain, good, warning, bad };

struct EditStatus {
    std::string text;
    std::string timing; ///< goes behind it; differs from run to run
    Tone tone = Tone::plain;
};

/// Where the changes are: typed, on trial, refused, running.
EditStatus statusOf(const ShaderEdits& edits);
ImU32 colourOf(const Theme& theme, Tone tone);

} // namespace lockstep::demos
