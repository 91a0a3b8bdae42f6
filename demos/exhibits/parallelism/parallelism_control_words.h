// What the controls of this exhibit are for.
#pragma once

#include "demos/words/control_words.h"

namespace lockstep::demos {

inline constexpr ControlWords parallelismControls[] = {
    {"Parallelism", "Small experiments, each measured on this machine's CPU and GPU within seconds."},
    {"experiment/*", "Opens this experiment. A dot marks those that have been measured here."},
    {"##parallelism/experiment*", "The experiment shown."},
    {"choice/*", "Predict this before you measure. Your prediction stays until you choose another."},
    {"sketch##parallelism",
     "Drag to sketch the curve that you expect; dragging over it again replaces that part. After measuring, "
     "your sketch is compared with the measured curve."},
    {"Clear sketch##parallelism", "Deletes your sketch."},
    {"Measure##parallelism",
     "Does the work on the CPU and on the GPU, and draws how long it took. Takes seconds."},
    {"menu/Measure this experiment",
     "Does the work on the CPU and on the GPU, and draws how long it took. Takes seconds."},
    {"Stop##parallelism", "Stops measuring; what is measured so far is dropped."},
    {"##parallelism/tab*",
     "What is shown: the measurements, in presenter mode their explanation, or the source behind them."},
    {"##parallelism/file*", "The file whose source is shown."},
    {"Edit##parallelism", "Lets you change the kernel's text."},
    {"##parallelism/code", "The kernel's text. Ctrl+Enter compiles, verifies and measures it."},
    {"Check and run",
     "Compiles the edited kernel, checks its results, and measures it beside the built-in one."},
    {"Revert##parallelism", "Returns to the built-in text of this file, and to its curves."},
    {"error *##parallelism", "A compiler error. Click to go to its line."},
    {"link##parallelism", "Opens the exhibit in which this effect is at work in a training step."},
    {"lab", "Medians; a band holds the middle half of the rounds. The wheel zooms, a drag pans."},
    {"*##lab", "Shows or hides this line."},
};

} // namespace lockstep::demos
