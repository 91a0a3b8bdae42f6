// One step of both machines as bars on one time axis.
#pragma once

#include <array>
#include <optional>

#include "demos/draw/ui.h"
#include "demos/exhibits/inside/inside_model.h"

namespace lockstep::demos {

/// An operation of a machine's trace.
struct OperationAt {
    std::size_t machine = 0;
    std::size_t index = 0;

    bool operator==(const OperationAt&) const = default;
};

struct Timeline {
    /// A stretch without an operation.
    struct Gap {
        std::size_t machine = 0;
        bool first = false; ///< before the first operation
        double beginMs = 0;
        double endMs = 0;
    };

    /// Milliseconds shown; empty: all of the longer step.
    std::optional<std::array<double, 2>> view;
    std::optional<OperationAt> hovered; ///< under the mouse, as of the last draw()
    std::optional<Gap> gap;             ///< likewise

    /// Draws as wide as there is room and `height` high. Returns the operation that was clicked.
    std::optional<OperationAt> draw(Ui& ui, const InsideModel& model, OperationAt selected, float height);
    /// Moves what is shown so that the operation is in sight.
    void reveal(const TracedOperation& operation);
};

/// That the operation in the rectangle has a changed shader; a line as long as the built-in one takes, to
/// `builtInX`.
void drawEditedMark(Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, float builtInX);

} // namespace lockstep::demos
