// A teacher's notes in a terminal, beside the window that the class looks at.
#pragma once

#include <filesystem>

namespace lockstep::demos {

/// Prints the notes of every step.
int printNotes(const std::filesystem::path& lesson);

/// Follows the lesson that a window has open: the notes of its step, the question, what comes next, and a
/// clock, until it is interrupted. A terminal is cleared for each; elsewhere, one follows the other. Returns
/// the exit code.
int followNotes();

} // namespace lockstep::demos
