// The pictures of "Memory": what each choice takes, and the tensors of a step as blocks over its operations.
#pragma once

#include <string>

#include "demos/draw/ui.h"
#include "demos/exhibits/memory/memory_model.h"

namespace lockstep::demos {

ImU32 categoryColour(const Theme& theme, MemoryCategory category);

/// A bar per choice, in the room that is left, with the budget as a line. Returns the choice that was
/// pressed; null: none.
const MemoryChoice* drawMemoryBars(Ui& ui, const MemoryModel& model);

/// The chosen run: from left to right the operations of a step, from below its memory, byte by byte. A block
/// stands where and for as long as a tensor's numbers are needed.
void drawMemoryBlocks(Ui& ui, const MemoryModel& model);

} // namespace lockstep::demos
