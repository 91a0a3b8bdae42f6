#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <imgui_internal.h> // SetNextWindowScroll: SetScrollY() would show the text's top for a frame
#include <imgui_stdlib.h>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/kit/source_pane.h"
#include "demos/kit/source_text.h"

namespace lockstep::demos {

namespace {

constexpr float gutterLetters = 4.5f;

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
void followWanted(ShaderEditor& editor, float top, float height, std::size_t lines) {
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
bool drawText(Ui& ui, ShaderEditor& editor, std::string& text, const std::vector<std::size_t>& marked,
              ImVec2 size) {
    constexpr const char* name = "##inside/code";
    constexpr ImGuiInputTextFlags flags = ImGuiInputTextFlags_EnterReturnsTrue |
                                          ImGuiInputTextFlags_AllowTabInput |
                                          ImGuiInputTextFlags_CallbackAlways;
    constexpr ImGuiInputTextCallback keepCaret = [](ImGuiInputTextCallbackData* data) {
        auto& shown = *static_cast<ShaderEditor*>(data->UserData);
        if (shown.caretKept)
            data->CursorPos = std::min(*std::exchange(shown.caretKept, {}), data->BufTextLen);
        shown.caret = data->CursorPos;
        return 0;
    };
    if (ui.hidden(name)) {
        ui.tile(name, {size.x, std::max(ImGui::GetContentRegionAvail().y, 1.0f)}); // its place
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
    const bool used = ui.done(name, done); // by what can be seen of it
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
    ui.noteControl(name.c_str());
    const ImU32 colour = faded(ui.theme.bad, ImGui::IsItemHovered() ? 1.0f : 0.4f);
    ImGui::GetWindowDrawList()->AddLine({low.x, high.y}, high, colour, ui.line());
    return pressed && !ui.hidingControls;
}

constexpr int settling = 3; // frames

/// Up to the brace that closes a definition in the first column; empty without one.
SourceRange definitionFrom(const std::vector<std::string_view>& lines, std::size_t begin) {
    const auto close = std::find(lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end(), "}");
    if (close == lines.end()) return {};
    return {begin, static_cast<std::size_t>(close - lines.begin()) + 1};
}

// The rungs of products are short files; what computes is in a file that they include.
std::size_t mainFile(const ShaderTexts& texts, const std::vector<std::string>& files) {
    for (std::size_t i = 0; i < files.size(); ++i)
        if (texts.contains(files[i])) return i;
    for (std::size_t i = 0; i < files.size(); ++i)
        if (functionIn(linesOf(textOf(texts, files[i])), "main").end > 0) return i;
    return 0;
}

std::string fileTitle(const std::string& file, const ShaderTexts& texts) {
    return "GPU  " + file + (texts.contains(file) ? ", edited" : "");
}

} // namespace

// Definitions begin in the first column and end with a brace there.
SourceRange firstFunctionIn(const std::vector<std::string_view>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const bool head = !line.empty() &&
                          std::string_view(" /#").find(line.front()) == std::string_view::npos &&
                          !line.starts_with("layout") && line.ends_with(") {");
        if (head) return definitionFrom(lines, i);
    }
    return {};
}

SourceRange functionIn(const std::vector<std::string_view>& lines, std::string_view function) {
    const std::string call = std::string(function) + "(";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const std::size_t at = line.find(" " + call);
        if (at == std::string_view::npos || line.starts_with(' ') || line.starts_with("//")) continue;
        return definitionFrom(lines, i > 0 && lines[i - 1].starts_with("template <") ? i - 1 : i);
    }
    return {};
}

void SourceView::show(const ShaderEdits& edits, const std::string& shader, const OperationRow& row) {
    files_ = shader.empty() ? std::vector<std::string>{} : withIncludes(edits.texts(), shader + ".comp");
    file_ = std::min(file_, files_.empty() ? 0 : files_.size() - 1);
    if (shader == shader_ && &row == row_) return;
    shader_ = shader;
    row_ = &row;
    file_ = mainFile(edits.texts(), files_);
    lit_ = functionIn(linesOf(sourceText(row.plainFile)), row.plainFunction);
    scroll_ = settling;
}

void SourceView::draw(Ui& ui, const TracedOperation& operation, const TracedOperation* gpu,
                      ShaderEdits& edits) {
    const OperationRow& row = rowOf(kindOf(operation));
    show(edits, gpu == nullptr ? std::string() : gpu->source, row);
    if (!files_.empty()) drawChoices(ui);
    const bool both = panes_ == 0 && !files_.empty();
    const bool edited = editing && !files_.empty() && panes_ != 2;
    if (edited) drawEditing(ui, edits);
    const float whole = ImGui::GetContentRegionAvail().x;
    const float width = both ? (whole - ui.px(10)) / 2 : whole;
    if (edited)
        drawEditor(ui, edits, width);
    else if (!files_.empty() && panes_ != 2) {
        const std::string_view text = textOf(edits.texts(), files_[file_]);
        drawPane(ui, fileTitle(files_[file_], edits.texts()), text, firstFunctionIn(linesOf(text)),
                 ui.theme.gpu, width);
    }
    if (both) ImGui::SameLine(0, ui.px(10));
    if (files_.empty() || panes_ != 1)
        drawPane(ui, std::string("CPU reference  ") + row.plainFile, sourceText(row.plainFile), lit_,
                 ui.theme.cpu, width);
    scroll_ = std::max(scroll_ - 1, 0);
}

void SourceView::drawChoices(Ui& ui) {
    ui.segments("##inside/panes", panes_, std::array<std::string, 3>{"Both", "GLSL", "C++"});
    if (panes_ == 2) return;
    const float edit = ImGui::CalcTextSize("Edit").x + 2 * ImGui::GetStyle().FramePadding.x;
    if (files_.size() > 1) {
        ImGui::SameLine();
        const float room = ImGui::GetContentRegionAvail().x - edit - ImGui::GetStyle().ItemSpacing.x;
        ImGui::SetNextItemWidth(std::max(ui.px(60), std::min(room, ui.px(260))));
        if (ui.combo("##inside/shader", file_, files_)) scroll_ = settling;
    }
    ImGui::SameLine();
    if (ui.toggle("Edit##inside", editing)) {
        editing = !editing;
        scroll_ = settling;
    }
}

void SourceView::drawEditing(Ui& ui, ShaderEdits& edits) {
    const std::string& file = files_[file_];
    if (ui.primaryButton("Check and run", edits.canSubmit())) {
        edits.submit();
        editor_.checked = true;
    }
    ImGui::SameLine();
    const bool changed = edits.texts().contains(file) || edits.submitted().contains(file);
    if (ui.button("Revert##inside", changed)) edits.revert(file);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const EditStatus status = statusOf(edits);
    const bool masked = ui.masked && !status.timing.empty();
    ui.paragraph(status.text + (masked ? " -" : status.timing), ui.theme.*status.colour);
    const TrialReport* last = edits.last();
    if (last == nullptr) return;
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < std::min(most, last->errors.size()); ++i)
        if (drawError(ui, last->errors[i], fmt::format("error {}##inside", i + 1)))
            goTo(last->errors[i], edits);
}

// The caret goes to the error's line, and the keyboard with it.
void SourceView::goTo(const CompileError& error, const ShaderEdits& edits) {
    const auto found = std::ranges::find(files_, error.file);
    if (found == files_.end()) return;
    file_ = static_cast<std::size_t>(found - files_.begin());
    const std::string_view text = textOf(edits.texts(), error.file);
    const std::vector<std::string_view> lines = linesOf(text);
    const std::size_t line = std::clamp<std::size_t>(error.line, 1, std::max<std::size_t>(lines.size(), 1));
    editor_.caret = lines.empty() ? 0 : static_cast<int>(lines[line - 1].data() - text.data());
    editor_.wanted = line;
    editor_.checked = true;
}

void SourceView::drawEditor(Ui& ui, ShaderEdits& edits, float width) {
    const std::vector<CompileError> errors =
        edits.last() == nullptr ? std::vector<CompileError>{} : edits.last()->errors;
    const bool fresh = std::exchange(seenTrials_, edits.ended()) != edits.ended() && !errors.empty();
    if (fresh && std::ranges::find(errors, files_[file_], &CompileError::file) == errors.end()) {
        const auto other = std::ranges::find(files_, errors.front().file);
        if (other != files_.end()) {
            file_ = static_cast<std::size_t>(other - files_.begin());
            editor_.checked = editor_.active; // the keyboard goes with it
            editor_.caret = 0;
        }
    }
    const std::string& file = files_[file_];
    std::vector<std::size_t> marked;
    for (const CompileError& error : errors)
        if (error.file == file) marked.push_back(error.line);
    if (fresh && !marked.empty()) editor_.wanted = marked.front();
    std::string text(textOf(edits.texts(), file));
    if (scroll_ > 0 && marked.empty()) {
        editor_.wanted = firstFunctionIn(linesOf(text)).begin + 1;
        editor_.first = true;
    }
    ImGui::BeginGroup();
    ui.text(fileTitle(file, edits.texts()), ui.theme.gpu, ui.fonts.strong);
    ImGui::PushID(file.c_str()); // each file has a caret and a way back of its own
    const bool submitted = drawText(ui, editor_, text, marked, {width, 0});
    ImGui::PopID();
    ImGui::EndGroup();
    if (text != textOf(edits.texts(), file)) edits.setText(file, std::move(text));
    if (submitted && edits.canSubmit()) edits.submit();
}

void SourceView::drawPane(Ui& ui, const std::string& title, std::string_view text, const SourceRange& lit,
                          ImU32 colour, float width) const {
    ImGui::BeginGroup();
    ui.text(title, colour, ui.fonts.strong);
    beginSourcePane(ui, colour == ui.theme.gpu ? "glsl" : "plain", {width, 0});
    const float letter = ImGui::CalcTextSize("m").x;
    const float gutter = gutterLetters * letter;
    const std::vector<std::string_view> lines = linesOf(text);
    const float height = ImGui::GetTextLineHeight();
    if (scroll_ > 0) {
        ImGui::SetScrollX(0);
        ImGui::SetScrollY(ImGui::GetCursorPosY() + static_cast<float>(lit.begin) * height);
    }
    // As wide as the longest of all lines, whichever are in sight.
    std::size_t longest = 0;
    for (const std::string_view line : lines) longest = std::max(longest, line.size());
    const ImVec2 start = ImGui::GetCursorPos();
    ImGui::Dummy({gutter + static_cast<float>(longest) * letter, 0});
    ImGui::SetCursorPos(start);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines.size()), height);
    while (clipper.Step())
        for (auto i = static_cast<std::size_t>(clipper.DisplayStart);
             i < static_cast<std::size_t>(clipper.DisplayEnd); ++i) {
            const ImVec2 at = drawSourceLine(ui, i + 1, lines[i], gutter);
            const float x = at.x + gutter - ui.px(7);
            if (i >= lit.begin && i < lit.end)
                ImGui::GetWindowDrawList()->AddRectFilled({x, at.y}, {x + ui.px(3), at.y + height}, colour);
        }
    clipper.End();
    endSourcePane();
    ImGui::EndGroup();
}

} // namespace lockstep::demos
