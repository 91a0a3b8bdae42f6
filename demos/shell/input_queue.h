// The user's input, in order, handed to ImGui in portions that it understands. A window and a script fill
// the same queue.
#pragma once

#include <deque>
#include <set>
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

} // namespace lockstep::demos
