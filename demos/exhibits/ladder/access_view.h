// A kernel's accesses to memory, as an animation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/ladder_model.h"

namespace lockstep::demos {

/// The rung to look at beside this one: the first that improves on it, or else the one that it improves on.
/// None where one of the two has no picture of its accesses.
std::optional<std::size_t> rungBeside(const std::vector<RungRow>& rungs, std::size_t rung);

/// Which invocation of one workgroup reads and writes which element, on the picked rung and the one beside
/// it.
struct AccessView {
    /// `height`: pixels for all of it. Returns the rungs that are shown, from left to right.
    std::vector<std::size_t> draw(Ui& ui, LadderModel& model, float height);
    /// Moves on while it is played: at a pace at which nothing takes longer than half a minute, and with a
    /// rest at the end.
    void update(double seconds);
    /// Plays from the first access on.
    void playFromStart();

    Product product = Product::forward;
    std::size_t moment = 0;
    std::size_t last = 0; ///< moment of what is shown
    std::string shown;    ///< lanes and product
    bool kept = true;     ///< the moment belongs to what will be shown first
    bool opened = true;   ///< no moment was chosen yet: a telling one comes once the accesses are known
    bool playing = false;
    double played = 0;
};

} // namespace lockstep::demos
