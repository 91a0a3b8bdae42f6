// What a person might do, as lines of text: for tests and for pictures that can be made again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::demos {

/// One line of a script:
///   frames N               lets N frames pass
///   click NAME             of a control ("Run"), or of one in an open list ("##speed/1 step/s")
///   try NAME               the same, if there is such a control at the moment
///   rightclick NAME
///   hover NAME
///   drag NAME FROM TO      from one share of the control's width to another: drag Rate 0.2 0.8
///   dragto X Y             with the left button held, from where the mouse is, to that share of the window
///   move X Y               the mouse, to that share of the window (0 to 1)
///   down, up               the left button
///   wheel N                N notches away from the person
///   key KEY                "Space", "Ctrl+S", "F11"
///   type TEXT
///   resize WIDTH HEIGHT
///   theme dark|light
///   drop FILE              a file onto the window; relative to the script's folder
///   controls               prints "control X Y NAME" for everything that can be pressed or set
///   state FILE             saves the state
///   picture FILE           saves the next frame
/// Empty lines and lines that begin with # are passed over.
struct ScriptLine {
    std::size_t number = 0; ///< in its file, from 1
    std::string verb;
    std::string argument; ///< the rest of the line
};

/// Throws std::runtime_error naming file and line.
std::vector<ScriptLine> readScript(const std::filesystem::path& file);

} // namespace lockstep::demos
