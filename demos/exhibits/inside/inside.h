// Inside a step: one training step of both machines, operation by operation.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/inside/inside_model.h"
#include "demos/exhibits/inside/source_view.h"

namespace lockstep::demos {

/// An operation of a machine's trace.
struct OperationAt {
    std::size_t machine = 0;
    std::size_t index = 0;

    bool operator==(const OperationAt&) const = default;
};

/// One step of both machines as bars on one time axis: timeline.cpp.
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

struct TensorPicture {
    std::unique_ptr<Picture> picture;
    std::tuple<std::uint64_t, bool, bool> origin; ///< revision of the traces, of the GPU, theme is dark
    float largest = 0;                            ///< size of the largest value
    bool stale = true;                            ///< the picture is of another origin
    double difference = -1; ///< from the other machine's, at most; below 0: nothing to compare
    bool used = false;      ///< in this frame
};

using TensorPictures = std::map<TensorId, TensorPicture>;

enum class InsideTab : std::size_t { tensors, source, network };

/// All of the view that a person sets.
struct InsideView {
    OperationAt selected{1, 1}; ///< of the GPU, its first product
    InsideTab tab = InsideTab::tensors;
    float slowSpeed = 2; ///< operations per second of slow motion
    bool settingsShown = true;
};

/// What the exhibit shows, and where a person has come in it.
struct Inside {
    InsideModel model;
    InsideView view;
    Timeline timeline;
    TensorPictures tensors;
    SourceView source;
    bool playing = false;   ///< slow motion: operation by operation, and the next step after the last one
    bool startOver = false; ///< the next step's trace is looked at from its first operation
    double played = 0;      ///< share of the selected operation that slow motion has shown

    /// Null where there is none.
    const TracedOperation* operation(OperationAt at) const;
    const TracedOperation* selected() const { return operation(view.selected); }
    /// Along the operations, and after the last one to the next step.
    void moveSelection(std::ptrdiff_t by);
    /// As InsideModel::change().
    void change(const RunOptions& settings);
};

/// That the operation in the rectangle has a changed shader; a line as long as the built-in one takes, to
/// `builtInX`.
void drawEditedMark(Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, float builtInX);

/// Draws into `size` at the cursor.
/// phase   0 to 1: how far a signal has come along the links; below 0: nothing moves
void drawNet(Ui& ui, const NetShape& shape, const TracedOperation& operation, float phase, ImVec2 size);

/// Draws the tensors of the selected operation in rows as wide as there is room, and keeps their pictures.
/// Their values are compared with the other machine's.
void drawTensors(Ui& ui, Inside& inside);

/// The middle of the window: the timeline, the player below it, and what is known about the selected
/// operation.
void drawInside(Ui& ui, Inside& inside);
void drawInsideDetails(Ui& ui, Inside& inside);

} // namespace lockstep::demos
