// The user's input, in order, handed to ImGui in portions that it understands. A window and a script fill
// the same queue.
#pragma once

#include <deque>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <imgui.h>

namespace lockstep::demos {

/// Keys by GLFW's numbers (letters and digits are their ASCII codes).
using KeyCode = int;

enum class InputKind { move, button, wheel, key, character, leave };

struct InputEvent {
    InputKind kind = InputKind::move;
    float x = 0;       ///< move: pixels from the left; wheel: to the right
    float y = 0;       ///< move: pixels from the top; wheel: away from the person
    int code = 0;      ///< button: 0 left, 1 right, 2 middle; key: KeyCode; character: code point
    bool down = false; ///< button, key
};

/// A key that went down, with the modifiers held.
struct KeyPress {
    KeyCode key = 0;
    bool control = false;
    bool shift = false;
    bool alt = false;
};

class InputQueue {
  public:
    InputQueue();

    void push(const InputEvent& event) { events_.push_back(event); }
    bool empty() const { return events_.empty(); }
    /// Whether a key is down that is no modifier.
    bool keyHeld() const { return !held_.empty(); }

    /// Gives ImGui what fits into one frame: at most one change of a button or key, because ImGui 1.86 looks
    /// at their states only and loses what is shorter than a frame. Returns the keys that went down.
    std::vector<KeyPress> feed();

  private:
    void apply(const InputEvent& event, std::vector<KeyPress>& pressed);

    std::deque<InputEvent> events_;
    std::set<KeyCode> held_;
    bool control_ = false;
    bool shift_ = false;
    bool alt_ = false;
};

/// "Ctrl+S", "F11", "Space", "R", "Ctrl+Shift++". Throws std::invalid_argument for a key that is not known.
KeyPress keyFromText(std::string_view text);

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
