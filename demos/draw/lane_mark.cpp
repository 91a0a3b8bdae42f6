#include "demos/draw/lane_mark.h"

namespace lockstep::demos {

void drawLaneMark(ImDrawList& draw, const LaneSpec& lane, ImVec2 centre, float size, ImU32 colour) {
    const float r = size / 2;
    if (lane.gpu) {
        draw.AddQuadFilled({centre.x, centre.y - r}, {centre.x + r, centre.y}, {centre.x, centre.y + r},
                           {centre.x - r, centre.y}, colour);
        return;
    }
    const float side = 0.78f * r;
    draw.AddRectFilled({centre.x - side, centre.y - side}, {centre.x + side, centre.y + side}, colour,
                       size / 8);
}

} // namespace lockstep::demos
