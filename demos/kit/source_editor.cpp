#include "demos/kit/source_editor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <imgui_internal.h> // SetNextWindowScroll: SetScrollY() would show the text's top for a frame
#include <imgui_stdlib.h>

#include "demos/kit/source_text.h"

namespace lockstep::demos {

namespace {

std::size_t lineCount(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
}

// Numbers, and what is behind the letters.
void drawNumbers(Ui& ui, std::size_t lines, const std::vector<std::size_t>& marked) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight();
    const float right = start.x + ImGui::GetContentRegionAvail().x;
    const float seenFrom = ImGui::GetWindowPos().y - line;
    const float seenTo = ImGui::GetWindowPos().y + ImGui::GetWindowHeight();
    for (std::size_t number = 1; number <= lines; ++number) {
        const float y = start.y + static_cast<float>(number - 1) * line;
        if (y < seenFrom || y > seenTo) continue;
        const bool wrong = std::ranges::find(marked, number) != marked.end();
        if (wrong) draw.AddRectFilled({start.x, y}, {right, y + line}, faded(ui.theme.bad, 0.25f));
        draw.AddText({start.x, y}, wrong ? ui.theme.bad : ui.theme.muted,
                     fmt::format("{:3}", number).c_str());
    }
}

// The line that is wanted, with one above and one below it.
void followWanted(TextField& editor, float top, float height, std::size_t lines) {
    if (!editor.wanted) return;
    const auto number = static_cast<float>(std::clamp<std::size_t>(*editor.wanted, 1, lines));
    editor.wanted.reset();
    const float low = top + (number - 2) * height;
    const float high = top + (number + 1) * height;
    const float room = ImGui::GetWindowHeight();
    const auto scrollTo = [&](float y) {
        ImGui::SetScrollY(y);
        if (editor.scroll) editor.scroll = y;
    };
    if (std::exchange(editor.first, false))
        scrollTo(std::max(low + height, 0.0f));
    else if (low < ImGui::GetScrollY())
        scrollTo(std::max(low, 0.0f));
    else if (high > ImGui::GetScrollY() + room)
        scrollTo(high - room);
}

/// Draws `text` `size` large, and changes it as it is typed. `marked`: lines from 1 on that something is
/// wrong with. True when Ctrl+Enter was pressed.
bool drawField(Ui& ui, const char* name, std::string_view words, TextField& editor, std::string& text,
               const std::vector<std::size_t>& marked, ImVec2 size) {
    constexpr ImGuiInputTextFlags flags = ImGuiInputTextFlags_EnterReturnsTrue |
                                          ImGuiInputTextFlags_AllowTabInput |
                                          ImGuiInputTextFlags_CallbackAlways;
    constexpr ImGuiInputTextCallback keepCaret = [](ImGuiInputTextCallbackData* data) {
        auto& shown = *static_cast<TextField*>(data->UserData);
        if (shown.caretKept)
            data->CursorPos = std::min(*std::exchange(shown.caretKept, {}), data->BufTextLen);
        shown.caret = data->CursorPos;
        return 0;
    };
    if (ui.hidden(name)) {
        ui.tile(name, words, {size.x, std::max(ImGui::GetContentRegionAvail().y, 1.0f)}); // its place
        return false;
    }
    ui.offer(name);
    // Whatever gets the keyboard is scrolled to its top.
    if (editor.scroll) ImGui::SetNextWindowScroll({-1, *std::exchange(editor.scroll, {})});
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme.background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild("editor", size, true);
    ImGui::PopStyleVar();
    ImGui::PushFont(ui.fonts.mono);
    const float line = ImGui::GetTextLineHeight();
    const float top = ImGui::GetCursorPosY();
    drawNumbers(ui, lineCount(text), marked);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + gutterLetters * ImGui::CalcTextSize("m").x);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, ImU32{0});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    // As high as its lines: it is the pane around it that scrolls, and the numbers with it.
    const ImVec2 whole{ImGui::GetContentRegionAvail().x, line * static_cast<float>(lineCount(text) + 1)};
    const std::string before = text;
    const int caretBefore = editor.caret;
    const bool done = ImGui::InputTextMultiline(name, &text, whole, flags, keepCaret, &editor);
    // Escape leaves a field and takes back what was typed into it. Here it only leaves.
    if (ImGui::IsItemDeactivated() && text != before) text = before;
    editor.active = ImGui::IsItemActive();
    editor.caretKept.reset(); // it was for this frame
    // Who has it checked goes on typing. A field that Ctrl+Enter has just closed opens only in the next
    // frame.
    const bool refocus = std::exchange(editor.checked, done);
    if (refocus || done) editor.active = true;
    if (refocus) {
        ImGui::SetKeyboardFocusHere(-1);
        editor.scroll = ImGui::GetScrollY();
        editor.caretKept = editor.caret;
    }
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor();
    if (editor.caret != caretBefore && ImGui::IsItemActive())
        editor.wanted = lineCount(text.substr(0, static_cast<std::size_t>(editor.caret)));
    followWanted(editor, top, line, lineCount(text));
    ImGui::PopFont();
    ImGui::EndChild();
    const bool used = ui.done(name, words, done); // by what can be seen of it
    ImGui::PopStyleColor();
    return used;
}

/// A message to press. True when it was.
bool drawError(Ui& ui, const CompileError& error, const std::string& name) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ui.paragraph(describe(error), ui.theme.bad);
    const ImVec2 high = ImGui::GetItemRectMax();
    ImGui::SetCursorScreenPos(low);
    const bool pressed = ImGui::InvisibleButton(name.c_str(), {high.x - low.x, high.y - low.y});
    ui.noteControl(name.c_str(), "A compiler error. Click to go to its line.");
    const ImU32 colour = faded(ui.theme.bad, ImGui::IsItemHovered() ? 1.0f : 0.4f);
    ImGui::GetWindowDrawList()->AddLine({low.x, high.y}, high, colour, ui.line());
    return pressed && !ui.hidingControls;
}

} // namespace

std::string fileTitle(const std::string& file, const ShaderTexts& texts) {
    return "GPU  " + file + (texts.contains(file) ? ", edited" : "");
}

void SourceEditor::drawStatus(Ui& ui, ShaderEdits& edits, const EditWords& words,
                              const std::vector<std::string>& files, std::size_t& file) {
    const std::string& shown = files[file];
    if (ui.primaryButton("Check and run", words.check, edits.canSubmit())) {
        edits.submit();
        field_.checked = true;
    }
    ImGui::SameLine();
    const bool changed = edits.texts().contains(shown) || edits.submitted().contains(shown);
    if (ui.button(named("Revert").c_str(), words.revert, changed)) edits.revert(shown);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const EditStatus status = statusOf(edits, words);
    const bool masked = ui.masked && !status.timing.empty();
    ui.paragraph(status.text + (masked ? " -" : status.timing), ui.theme.*status.colour);
    const TrialReport* last = edits.last();
    if (last == nullptr) return;
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < std::min(most, last->errors.size()); ++i)
        if (drawError(ui, last->errors[i], fmt::format("error {}##{}", i + 1, exhibit_)))
            goTo(last->errors[i], edits, files, file);
}

// The caret goes to the error's line, and the keyboard with it.
void SourceEditor::goTo(const CompileError& error, const ShaderEdits& edits,
                        const std::vector<std::string>& files, std::size_t& file) {
    const auto found = std::ranges::find(files, error.file);
    if (found == files.end()) return;
    file = static_cast<std::size_t>(found - files.begin());
    const std::string_view text = textOf(edits.texts(), error.file);
    const std::vector<std::string_view> lines = linesOf(text);
    const std::size_t line = std::clamp<std::size_t>(error.line, 1, std::max<std::size_t>(lines.size(), 1));
    field_.caret = lines.empty() ? 0 : static_cast<int>(lines[line - 1].data() - text.data());
    field_.wanted = line;
    field_.checked = true;
}

void SourceEditor::drawText(Ui& ui, ShaderEdits& edits, const EditWords& words,
                            const std::vector<std::string>& files, std::size_t& file, float width,
                            std::optional<std::size_t> first) {
    const std::vector<CompileError> errors =
        edits.last() == nullptr ? std::vector<CompileError>{} : edits.last()->errors;
    const bool fresh = std::exchange(seenTrials_, edits.ended()) != edits.ended() && !errors.empty();
    if (fresh && std::ranges::find(errors, files[file], &CompileError::file) == errors.end()) {
        const auto other = std::ranges::find(files, errors.front().file);
        if (other != files.end()) {
            file = static_cast<std::size_t>(other - files.begin());
            field_.checked = field_.active; // the keyboard goes with it
            field_.caret = 0;
        }
    }
    const std::string& shown = files[file];
    std::vector<std::size_t> marked;
    for (const CompileError& error : errors)
        if (error.file == shown) marked.push_back(error.line);
    if (fresh && !marked.empty()) field_.wanted = marked.front();
    std::string text(textOf(edits.texts(), shown));
    if (first && marked.empty()) {
        field_.wanted = first;
        field_.first = true;
    }
    ImGui::BeginGroup();
    ui.text(fileTitle(shown, edits.texts()), ui.theme.gpu, ui.fonts.strong);
    ImGui::PushID(shown.c_str()); // each file has a caret and a way back of its own
    const bool submitted =
        drawField(ui, ("##" + exhibit_ + "/code").c_str(), words.code, field_, text, marked, {width, 0});
    ImGui::PopID();
    ImGui::EndGroup();
    if (text != textOf(edits.texts(), shown)) edits.setText(shown, std::move(text));
    if (submitted && edits.canSubmit()) edits.submit();
}

} // namespace lockstep::demos
