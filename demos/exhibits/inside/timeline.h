// One step of both machines as bars on one time axis.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "demos/draw/ui.h"
#include "demos/exhibits/inside/inside_model.h"
#include "demos/exhibits/inside/shader_edits.h"

namespace lockstep::demos {

/// An operation of a machine's trace.
struct OperationAt {
    std::size_t machine = 0;
    std::size_t index = 0;

    bool operator==(const OperationAt&) const = default;
};

/// What one row shows.
struct TimelineRow {
    const StepTrace* trace = nullptr; ///< null: nothing yet
    LaneSpec lane;
    const ShaderEdits& edits;
    std::string message; ///< what keeps it from being traced; empty: nothing
};

using TimelineRows = std::array<TimelineRow, machineCount>;

class Timeline {
  public:
    /// Milliseconds shown; empty: all of the longer step.
    std::optional<std::array<double, 2>> view;

    /// Draws as wide as there is room and `height` high. Returns the operation that was clicked.
    std::optional<OperationAt> draw(Ui& ui, const TimelineRows& rows, OperationAt selected, float height);
    std::optional<OperationAt> hovered() const { return hovered_; }
    /// A stretch without an operation, under the mouse.
    struct Gap {
        std::size_t machine = 0;
        bool first = false; ///< before the first operation
        double beginMs = 0;
        double endMs = 0;
    };
    const std::optional<Gap>& gap() const { return gap_; }
    /// Moves what is shown so that the operation is in sight.
    void reveal(const TracedOperation& operation);

  private:
    struct Frame;

    void zoom(const Frame& frame);
    void drawAxis(Ui& ui, const Frame& frame) const;
    void drawRow(Ui& ui, const Frame& frame, const TimelineRow& row, std::size_t machine,
                 OperationAt selected);
    void drawBar(Ui& ui, const Frame& frame, const TracedOperation& operation, ImVec2 min, ImVec2 max,
                 bool lit) const;
    void drawPointer(const Ui& ui, const Frame& frame, ImVec2 min, ImVec2 max) const;
    void drawEdited(Ui& ui, const Frame& frame, const TimelineRow& row, const TracedOperation& operation,
                    ImVec2 min, ImVec2 max) const;
    void drawRowLabel(Ui& ui, const Frame& frame, const TimelineRow& row, std::size_t machine) const;

    std::optional<OperationAt> hovered_;
    std::optional<Gap> gap_;
};

/// That the operation in the rectangle has a changed shader; a line as long as the built-in one takes, to
/// `builtInX`.
void drawEditedMark(Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, float builtInX);

} // namespace lockstep::demos
