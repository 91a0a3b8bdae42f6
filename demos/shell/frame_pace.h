// How often the window draws, so that drawing does not slow down what it shows.
#pragma once

#include <algorithm>

namespace lockstep::demos {

struct FrameNeeds {
    bool input = false;           ///< a key, a click or a movement waits for an answer
    bool training = false;        ///< the exhibit runs
    bool timesProcessor = false;  ///< a lane on the processor is being timed (Exhibit::timesProcessor)
    bool drawsInSoftware = false; ///< the window's device computes on the processor, too
    bool records = false;         ///< every frame is drawn twice: for the window, and to be recorded
    double cost = 0;              ///< seconds that the last frame took
};

/// Seconds from the beginning of one frame to the next one. Even on a GPU a frame takes time from the
/// processor: while that is timed, input waits for the next frame, too.
inline double frameInterval(const FrameNeeds& needs) {
    constexpr double fluent = 1.0 / 60;
    // While the processor is timed, recording must not cost it more than the window alone.
    const double drawings = needs.records && needs.timesProcessor ? 2 : 1;
    const double sparing = drawings / 15;
    // In software, every frame costs training time: no more than this share of it.
    constexpr double drawingShare = 1.0 / 8;
    const double longest = drawings / 5;
    if (needs.training && needs.drawsInSoftware && !needs.input)
        return std::clamp(needs.cost / drawingShare, sparing, longest);
    return needs.timesProcessor ? sparing : fluent;
}

} // namespace lockstep::demos
