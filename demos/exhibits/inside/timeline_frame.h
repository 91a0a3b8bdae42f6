// Where things are in the timeline: used by its own files only.
#pragma once

#include "demos/exhibits/inside/timeline.h"

namespace lockstep::demos {

struct Timeline::Frame {
    ImDrawList& draw;
    ImVec2 min;
    ImVec2 max;
    float axisTop = 0;   ///< the axis' numbers are below it
    float rowHeight = 0; ///< header and track of one machine
    float headerHeight = 0;
    bool inOrder = false; ///< no times: every operation is equally wide
    double whole = 1;     ///< the longer step, in milliseconds or operations
    double begin = 0;     ///< what is shown of it
    double end = 1;

    float width() const { return max.x - min.x; }
    float x(double at) const { return min.x + static_cast<float>((at - begin) / (end - begin)) * width(); }
    double at(float x) const { return begin + (end - begin) * static_cast<double>((x - min.x) / width()); }
    float rowTop(std::size_t machine) const { return min.y + static_cast<float>(machine) * rowHeight; }
    float trackTop(std::size_t machine) const { return rowTop(machine) + headerHeight; }

    double from(const TracedOperation& operation, std::size_t index) const {
        return inOrder ? static_cast<double>(index) : operation.beginMs;
    }
    double to(const TracedOperation& operation, std::size_t index) const {
        return inOrder ? static_cast<double>(index) + 0.94 : operation.endMs;
    }
};

} // namespace lockstep::demos
