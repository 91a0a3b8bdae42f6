// What the controls of this exhibit are for.
#pragma once

#include "demos/words/control_words.h"

namespace lockstep::demos {

inline constexpr ControlWords ladderControls[] = {
    {"Ladder", "Measures one matrix product in many versions, each faster for a reason."},
    {"Measure all rungs", "Verifies and times every rung of the ladder on the current batch size."},
    {"*##ladder loss", "Shows or hides this line."},
    {"*##ladder roofline", "Shows or hides this line."},
    {"*##ladder crossover", "Shows or hides this line."},
    {"ladder loss", "The loss of this rung's training, step by step. The wheel zooms, a drag pans."},
    {"ladder roofline",
     "Rate in FLOP/s over arithmetic intensity in FLOP/byte. No dot can lie above the roof."},
    {"ladder crossover",
     "Time or rate of CPU and GPU by problem size. Where the lines cross, the faster machine changes."},
    {"This rung##ladder", "Verifies and times the selected rung only."},
    {"Measure this rung", "Verifies and times the selected rung only."},
    {"Stop##ladder", "Stops measuring; results so far stay."},
    {"rung/*", "One version of the kernel and its measured rate. Click to see its idea and source."},
    {"##ladder/rung*", "The rung shown: one version of the kernel."},
    {"##ladder/read*", "Which of the two kernels' source is shown below."},
    {"Answer##ladder", "Shows or hides the answer to the question."},
    {"##ladder/tab*", "What is shown of the rung: training, memory accesses, source, roofline or crossover."},
    {"##ladder/product*", "The matrix product of the step: forward, by inputs, or by weights."},
    {"##ladder/moment", "The memory access shown, in the order in which the invocations make them."},
    {"Back##ladder", "The memory access before this one."},
    {"Next##ladder", "The memory access after this one."},
    {"Play##ladder", "Plays the memory accesses one after another."},
    {"##ladder/lines*", "Shows all lines, or only what differs from the rung before."},
    {"##ladder/by*", "What the sweep varies: the batch or the width of the layers."},
    {"Sweep##ladder", "Times CPU and GPU at many sizes and draws where they cross."},
    {"##ladder/walk", "The batch size at which dots are shown."},
};

} // namespace lockstep::demos
