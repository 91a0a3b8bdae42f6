#include "demos/shell/input_queue.h"

#include <cctype>
#include <string>
#include <vector>

// In a batch of sources, GLFW is included once, and window.cpp needs it after Vulkan's types.
#include <vulkan/vulkan.h>

#include <GLFW/glfw3.h>

#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

struct NamedKey {
    const char* name;
    KeyCode code;
    ImGuiKey imgui;
};

// Keys that ImGui acts on (text fields, keyboard navigation) and keys of shortcuts. It does not get Tab,
// which leads through all controls (Ui::moveFocus) and not only through text fields.
constexpr NamedKey namedKeys[] = {
    {"Tab", GLFW_KEY_TAB, ImGuiKey_COUNT},
    {"Left", GLFW_KEY_LEFT, ImGuiKey_LeftArrow},
    {"Right", GLFW_KEY_RIGHT, ImGuiKey_RightArrow},
    {"Up", GLFW_KEY_UP, ImGuiKey_UpArrow},
    {"Down", GLFW_KEY_DOWN, ImGuiKey_DownArrow},
    {"PageUp", GLFW_KEY_PAGE_UP, ImGuiKey_PageUp},
    {"PageDown", GLFW_KEY_PAGE_DOWN, ImGuiKey_PageDown},
    {"Home", GLFW_KEY_HOME, ImGuiKey_Home},
    {"End", GLFW_KEY_END, ImGuiKey_End},
    {"Insert", GLFW_KEY_INSERT, ImGuiKey_Insert},
    {"Delete", GLFW_KEY_DELETE, ImGuiKey_Delete},
    {"Backspace", GLFW_KEY_BACKSPACE, ImGuiKey_Backspace},
    {"Space", GLFW_KEY_SPACE, ImGuiKey_Space},
    {"Enter", GLFW_KEY_ENTER, ImGuiKey_Enter},
    {"Escape", GLFW_KEY_ESCAPE, ImGuiKey_Escape},
    {"A", GLFW_KEY_A, ImGuiKey_A},
    {"C", GLFW_KEY_C, ImGuiKey_C},
    {"V", GLFW_KEY_V, ImGuiKey_V},
    {"X", GLFW_KEY_X, ImGuiKey_X},
    {"Y", GLFW_KEY_Y, ImGuiKey_Y},
    {"Z", GLFW_KEY_Z, ImGuiKey_Z},
};

bool isModifier(KeyCode key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

} // namespace

InputQueue::InputQueue() {
#if IMGUI_VERSION_NUM < 18700
    for (const NamedKey& key : namedKeys)
        if (key.imgui != ImGuiKey_COUNT) ImGui::GetIO().KeyMap[key.imgui] = key.code;
#endif
}

std::vector<KeyPress> InputQueue::feed() {
    std::vector<KeyPress> pressed;
    while (!events_.empty()) {
        const InputEvent event = events_.front();
        events_.pop_front();
        apply(event, pressed);
        // A move after a click belongs to the next frame, too: it would move the click.
        if (event.kind == InputKind::button || event.kind == InputKind::key) break;
    }
    return pressed;
}

void InputQueue::apply(const InputEvent& event, std::vector<KeyPress>& pressed) {
    ImGuiIO& io = ImGui::GetIO();
    switch (event.kind) {
    case InputKind::character: io.AddInputCharacter(static_cast<unsigned>(event.code)); return;
    case InputKind::key:
        if (event.code == GLFW_KEY_LEFT_CONTROL || event.code == GLFW_KEY_RIGHT_CONTROL)
            control_ = event.down;
        if (event.code == GLFW_KEY_LEFT_SHIFT || event.code == GLFW_KEY_RIGHT_SHIFT) shift_ = event.down;
        if (event.code == GLFW_KEY_LEFT_ALT || event.code == GLFW_KEY_RIGHT_ALT) alt_ = event.down;
        held_.erase(event.code);
        if (event.down && !isModifier(event.code)) {
            held_.insert(event.code);
            pressed.push_back({event.code, control_, shift_, alt_});
            // Letting go of Alt leads to the menus, unless something was typed meanwhile: no letter, but
            // that.
            if (alt_) io.AddInputCharacter(1);
            // Such shortcuts are the program's own: elsewhere than in a text, ImGui would move its focus.
            const bool page = event.code == GLFW_KEY_PAGE_UP || event.code == GLFW_KEY_PAGE_DOWN;
            if ((alt_ || page) && !io.WantTextInput) return;
        }
        break;
    default: break;
    }
#if IMGUI_VERSION_NUM < 18700
    switch (event.kind) {
    case InputKind::move: io.MousePos = {event.x, event.y}; break;
    case InputKind::leave: io.MousePos = {-FLT_MAX, -FLT_MAX}; break;
    case InputKind::button: io.MouseDown[event.code] = event.down; break;
    case InputKind::wheel:
        io.MouseWheelH += event.x;
        io.MouseWheel += event.y;
        break;
    case InputKind::key:
        if (event.code >= 0 && event.code < IM_ARRAYSIZE(io.KeysDown)) io.KeysDown[event.code] = event.down;
        io.KeyCtrl = control_;
        io.KeyShift = shift_;
        io.KeyAlt = alt_;
        break;
    case InputKind::character: break;
    }
#else
    switch (event.kind) {
    case InputKind::move: io.AddMousePosEvent(event.x, event.y); break;
    case InputKind::leave: io.AddMousePosEvent(-FLT_MAX, -FLT_MAX); break;
    case InputKind::button: io.AddMouseButtonEvent(event.code, event.down); break;
    case InputKind::wheel: io.AddMouseWheelEvent(event.x, event.y); break;
    case InputKind::key:
        io.AddKeyEvent(ImGuiMod_Ctrl, control_);
        io.AddKeyEvent(ImGuiMod_Shift, shift_);
        io.AddKeyEvent(ImGuiMod_Alt, alt_);
        for (const NamedKey& key : namedKeys)
            if (key.code == event.code && key.imgui != ImGuiKey_COUNT) io.AddKeyEvent(key.imgui, event.down);
        break;
    case InputKind::character: break;
    }
#endif
}

KeyPress keyFromText(std::string_view text) {
    KeyPress press;
    std::string_view rest = text;
    const auto takePrefix = [&rest](std::string_view prefix) {
        if (!rest.starts_with(prefix) || rest.size() == prefix.size()) return false;
        rest.remove_prefix(prefix.size());
        return true;
    };
    for (bool more = true; more;) {
        more = false;
        if (takePrefix("Ctrl+")) more = press.control = true;
        if (takePrefix("Shift+")) more = press.shift = true;
        if (takePrefix("Alt+")) more = press.alt = true;
    }
    for (const NamedKey& key : namedKeys)
        if (rest == key.name) press.key = key.code;
    if (press.key == 0 && rest.size() >= 2 && rest[0] == 'F') {
        const int number = rest.size() == 2 ? rest[1] - '0' : (rest[1] - '0') * 10 + (rest[2] - '0');
        if (number >= 1 && number <= 12) press.key = GLFW_KEY_F1 + number - 1;
    }
    if (press.key == 0 && rest.size() == 1) {
        if (rest[0] == '+')
            press.key = GLFW_KEY_KP_ADD;
        else
            press.key = std::toupper(static_cast<unsigned char>(rest[0]));
    }
    if (press.key == 0) {
        std::vector<std::string_view> known;
        for (const NamedKey& key : namedKeys) known.emplace_back(key.name);
        throwUnknownName("key", text, known);
    }
    return press;
}

} // namespace lockstep::demos
