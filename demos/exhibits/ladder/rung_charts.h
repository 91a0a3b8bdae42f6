// All rungs in one chart: by speed as a staircase, or by intensity below the roof.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/ladder_model.h"

namespace lockstep::demos {

/// Draws the title and, beside it in large letters, how many times as fast as the first rung the fastest is,
/// or, once all are measured, what they say together;
/// below them how to read the rungs, whether they are a preview, and what to know of the numbers: `high`, in
/// lines of their own, else in one.
void drawClimb(Ui& ui, const LadderModel& model, bool high);

/// Draws the rungs between two rails, the lowest at the bottom, so close that `height` pixels hold them, as
/// far as they can be read then. A rung with a rate is a bar from the end of the one that it improves on, as
/// long as its factor over that on a scale of doublings; the others are a sentence each. Returns the
/// rung that was clicked.
std::optional<std::size_t> drawStaircase(Ui& ui, const LadderModel& model, float height);

/// A rung's dots, one per batch size that was measured, in the order of x.
struct RungDots {
    std::size_t rung = 0;
    std::vector<double> x;          ///< FLOP per byte
    std::vector<double> y;          ///< GFLOP/s
    std::optional<std::size_t> now; ///< the dot of the current batch
};

/// The dots of all GPU rungs whose times are known and whose bytes were counted.
std::vector<RungDots> rooflineDots(const LadderModel& model);

struct Curve {
    std::vector<double> x;
    std::vector<double> y;
};

/// The roof as a line: it rises with the bandwidth, then is level.
Curve rooflineOf(const Roof& roof, double lowest, double highest);

/// Draws it and the dots, with a slider for the batch. Returns the batch if the user chose another one.
std::optional<std::size_t> drawRoofline(Ui& ui, const LadderModel& model, Plot& plot);

} // namespace lockstep::demos
