// What the controls of this exhibit are for.
#pragma once

#include "demos/words/control_words.h"

namespace lockstep::demos {

inline constexpr ControlWords mosaicControls[] = {
    {"Mosaic", "Trains a grid of networks with different hyperparameters at the same time."},
    {"Sort by loss", "Orders the networks by loss, the lowest first, instead of by hyperparameters."},
    {"*##mosaic losses", "Shows or hides this line."},
    {"mosaic losses", "How the networks' losses are spread."},
    {"##mosaic/size*", "How many networks the grid has; each has hyperparameters of its own."},
    {"##mosaic/x range", "Range of the horizontal axis, from : to. Add :log for equal factors."},
    {"##mosaic/y range", "Range of the vertical axis, from : to. Add :log for equal factors."},
    {"##mosaic/x*", "The hyperparameter that varies from left to right."},
    {"##mosaic/y*", "The hyperparameter that grows upwards."},
    {"##mosaic/layout*", "What trains one network on the GPU: an invocation, a subgroup or a workgroup. "
                         "\"best\" measures which is fastest."},
    {"##mosaic/cpu", "Trains the same networks on the CPU too."},
    {"##mosaic/side*", "Whose results are shown: the GPU's or the CPU's."},
    {"##mosaic/rank", "The network shown, by its rank: 1 has the lowest loss."},
    {"##mosaic/page*", "Which part is shown where the window has no room for all."},
    {"Open in Playground##mosaic", "Opens this network, with its weights, in the playground."},
    {"More##mosaic", "Opens all other settings: ranges of the axes, layers, optimizer, batch and steps."},
    {"Sort##mosaic", "Orders the networks by loss, the lowest first."},
    {"mosaic/tiles*",
     "Every tile is a network; its colour shows the loss. Click one to open it in the playground."},
};

} // namespace lockstep::demos
