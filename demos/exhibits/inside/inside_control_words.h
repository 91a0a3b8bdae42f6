// What the controls of this exhibit are for.
#pragma once

#include "demos/words/control_words.h"

namespace lockstep::demos {

inline constexpr ControlWords insideControls[] = {
    {"Inside a step", "Shows each operation of one training step: its time, its tensors and its source."},
    {"All of the step", "Zooms the timeline out to the whole step."},
    {"##inside/tab/Workgroups", "When each workgroup of the GPU's operation ran, by the GPU's own clock."},
    {"##inside/tab*",
     "Tensors that the operation reads and writes, its source, the whole network, or its workgroups."},
    {"Timeline",
     "One row per machine, one block per operation; widths are times. Click a block to look into it."},
    {"Previous operation", "Selects the operation before this one."},
    {"Next operation", "Selects the operation after this one."},
    {"Slow motion", "Walks through the operations of the step one by one."},
    {"##inside/slow", "Operations per second in slow motion."},
    {"##inside/gpu*", "The rung that the GPU's step uses (lower row)."},
    {"##inside/cpu*", "The rung that the CPU's step uses (upper row)."},
    {"edited##*", "A shader of this step is edited. Click to open its source."},
    {"##inside/panes*", "Shows the GPU kernel, the plain C++ loop that computes the same, or both."},
    {"##inside/shader*", "The shader file shown: the kernel, or a file that it includes."},
    {"##inside/code", "The shader's text. Ctrl+Enter compiles, verifies and times it."},
    {"Edit##inside", "Lets you change the shader's text."},
    {"Check and run", "Compiles the edited shader, verifies it against the built-in one, and then uses it."},
    {"Revert##inside", "Returns to the built-in text of this file."},
    {"workgroups", "One bar per workgroup, from its start to its end, in the first row that was free."},
    {"*[*]*", "A tensor, one cell per number. Point at a cell to read it."},
    {"error *##inside", "A compiler error. Click to go to its line."},
    {"t", "The labels of this batch, one row per example."},
};

} // namespace lockstep::demos
