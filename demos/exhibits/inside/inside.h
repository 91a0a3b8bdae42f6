// Inside a step: one training step of both machines, operation by operation.
#pragma once

#include "demos/exhibits/inside/inside_model.h"
#include "demos/exhibits/inside/source_view.h"
#include "demos/exhibits/inside/tensor_gallery.h"
#include "demos/exhibits/inside/timeline.h"

namespace lockstep::demos {

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

/// The middle of the window: the timeline, the player below it, and what is known about the selected
/// operation.
void drawInside(Ui& ui, Inside& inside);
void drawInsideDetails(Ui& ui, Inside& inside);

} // namespace lockstep::demos
