// Pictures of what an operation works on: the network, with its part lit up, and the tensors it reads and
// writes.
#pragma once

#include <map>
#include <memory>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "engine/net/net_shape.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// Draws into `size` at the cursor.
/// phase   0 to 1: how far a signal has come along the links; below 0: nothing moves
void drawNet(Ui& ui, const NetShape& shape, const TracedOperation& operation, float phase, ImVec2 size);

struct TensorPicture {
    std::unique_ptr<Picture> picture;
    std::uint64_t revision = 0;
    bool ofGpu = false;
    bool dark = false;
    float largest = -1;     ///< size of the largest value
    bool stale = true;      ///< the picture is not of these values
    double difference = -1; ///< from the other machine's, at most; below 0: nothing to compare
    bool used = false;      ///< in this frame
};

using TensorPictures = std::map<TensorId, TensorPicture>;

/// Draws the tensors of trace.operations[index] in rows as wide as there is room, and keeps their pictures.
/// other      the other machine's trace of the same step, whose values are compared; null: none
/// revision   of the traces: pictures of an older one are redrawn
void drawTensors(Ui& ui, TensorPictures& pictures, const StepTrace& trace, std::size_t index,
                 const StepTrace* other, std::uint64_t revision);

} // namespace lockstep::demos
