// A kernel's accesses as an animation: which invocation of one workgroup reads and writes which element.
#pragma once

#include <cstddef>
#include <string>

#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/ladder_model.h"

namespace lockstep::demos {

struct AccessView {
    void draw(Ui& ui, LadderModel& model);
    /// Moves on while it is played.
    void update(double seconds);

    Product product = Product::forward;
    std::size_t moment = 0;
    std::size_t last = 0; ///< moment of what is shown
    std::string shown;    ///< lane and product
    bool kept = true;     ///< the moment belongs to what will be shown first
    bool playing = false;
    double played = 0;
};

} // namespace lockstep::demos
