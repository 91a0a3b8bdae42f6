#include "demos/exhibits/inside/shader_editor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

constexpr float gutterLetters = 4.5f;

struct Typed {
    std::string& text;
    int caret;
};

int whileTyping(ImGuiInputTextCallbackData* data) {
    Typed& typed = *static_cast<Typed*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
        typed.text.resize(static_cast<std::size_t>(data->BufTextLen));
        data->Buf = typed.text.data();
    } else {
        typed.caret = data->CursorPos;
    }
    return 0;
}

std::size_t lineCount(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
}

} // namespace

bool ShaderEditor::draw(Ui& ui, const char* name, std::string& text, const std::vector<std::size_t>& marked,
                        ImVec2 size) {
    constexpr ImGuiInputTextFlags flags =
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AllowTabInput |
        ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackAlways;
    if (!ui.offered(name)) return false;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme.background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild("editor", size, true);
    ImGui::PopStyleVar();
    ImGui::PushFont(ui.fonts.mono);
    const float line = ImGui::GetTextLineHeight();
    const float top = ImGui::GetCursorPosY();
    drawLines(ui, text, marked);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + gutterLetters * ImGui::CalcTextSize("m").x);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, ImU32{0});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    // As high as its lines: it is the pane around it that scrolls, and the numbers with it.
    const ImVec2 whole{ImGui::GetContentRegionAvail().x, line * static_cast<float>(lineCount(text) + 1)};
    const std::string before = text;
    Typed typed{text, caret_};
    const bool done =
        ImGui::InputTextMultiline(name, text.data(), text.capacity() + 1, whole, flags, whileTyping, &typed);
    // Escape leaves a field and takes back what was typed into it. Here it only leaves.
    if (ImGui::IsItemDeactivated() && text != before) text = before;
    if (done) ImGui::SetKeyboardFocusHere(-1); // who presses Ctrl+Enter goes on typing
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor();
    const bool moved = std::exchange(caret_, typed.caret) != typed.caret;
    if (moved && ImGui::IsItemActive())
        wanted_ =
            1 + static_cast<std::size_t>(std::count(
                    text.begin(), text.begin() + std::min<std::ptrdiff_t>(caret_, std::ssize(text)), '\n'));
    follow(top, line, text);
    ImGui::PopFont();
    ImGui::EndChild();
    const bool used = ui.done(name, done); // by what can be seen of it
    ImGui::PopStyleColor();
    return used;
}

// Numbers, and what is behind the letters.
void ShaderEditor::drawLines(Ui& ui, const std::string& text, const std::vector<std::size_t>& marked) const {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight();
    const float right = start.x + ImGui::GetContentRegionAvail().x;
    const float seenFrom = ImGui::GetWindowPos().y - line;
    const float seenTo = ImGui::GetWindowPos().y + ImGui::GetWindowHeight();
    for (std::size_t number = 1; number <= lineCount(text); ++number) {
        const float y = start.y + static_cast<float>(number - 1) * line;
        if (y < seenFrom || y > seenTo) continue;
        const bool wrong = std::ranges::find(marked, number) != marked.end();
        if (wrong) draw.AddRectFilled({start.x, y}, {right, y + line}, faded(ui.theme.bad, 0.25f));
        draw.AddText({start.x, y}, wrong ? ui.theme.bad : ui.theme.muted,
                     fmt::format("{:3}", number).c_str());
    }
}

// The line that is wanted, with one above and one below it.
void ShaderEditor::follow(float top, float height, const std::string& text) {
    if (!wanted_) return;
    const auto number = static_cast<float>(std::clamp<std::size_t>(*wanted_, 1, lineCount(text)));
    wanted_.reset();
    const float low = top + (number - 2) * height;
    const float high = top + (number + 1) * height;
    const float room = ImGui::GetWindowHeight();
    if (std::exchange(first_, false))
        ImGui::SetScrollY(std::max(low + height, 0.0f));
    else if (low < ImGui::GetScrollY())
        ImGui::SetScrollY(std::max(low, 0.0f));
    else if (high > ImGui::GetScrollY() + room)
        ImGui::SetScrollY(high - room);
}

} // namespace lockstep::demos
