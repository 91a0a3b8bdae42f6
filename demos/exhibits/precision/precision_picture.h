// The pictures of "Precision": losses in every format, what a layer's products read and what rounding makes
// of it, the layer's weights, and one weight in every format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/precision/precision_model.h"

namespace lockstep::demos {

/// The colour of the format that numbers of this kind belong to.
ImU32 formatColour(const Theme& theme, FloatKind kind);
/// Eight digits; "NaN", "∞".
std::string numberText(double value);
/// "fp8 e4m3" of the formats with a name of their own in training.
std::string kindName(FloatKind kind);

/// Curves of every format that has trained.
void drawFormatLosses(Ui& ui, const PrecisionModel& model, Plot& plot);

/// Weights, inputs and gradients of the chosen layer by their size, over the range of the chosen format.
void drawMagnitudes(Ui& ui, const PrecisionModel& model);

struct WeightPointed {
    std::optional<WeightPlace> hovered, pressed;
};
/// The chosen layer's weights as colours, a row for each neuron. Of large layers the first.
WeightPointed drawWeights(Ui& ui, const PrecisionModel& model, ImVec2 size);

struct FormatPointed {
    std::optional<FloatKind> chosen;
    std::optional<std::uint32_t> flipped; ///< the bit of `chosen` that was pressed, as a mask
};
/// A weight in every format: its bits, what they stand for, and the format's numbers around it.
///   zoom   the number line is from -2 to 2 at 0, and half as long around the weight with each 1 more
FormatPointed drawFormats(Ui& ui, const PrecisionModel& model, WeightPlace place, std::size_t zoom);
/// Pixels that drawFormats() needs to have room for all rows.
float formatsHeight(const Ui& ui, const PrecisionModel& model);
/// Whether drawFormats() has room for number lines within these pixels.
bool showsNumberLines(const Ui& ui, float width);

} // namespace lockstep::demos
