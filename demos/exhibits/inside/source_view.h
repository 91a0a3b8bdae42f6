// The sources of an operation beside each other: its shader, which can be changed in place, and the plain
// loop.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/exhibits/inside/shader_edits.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// Where a text that is changed in place is looked at.
struct ShaderEditor {
    std::optional<std::size_t> wanted; ///< a line, from 1 on, to be brought into sight
    bool first = false;                ///< as the first one in sight
    int caret = 0;                     ///< byte
};

/// A function's place in a source text: lines [begin, end), counted from 0.
struct SourceRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Where the definition of `function` is, its template line included; empty when it is not there.
SourceRange functionIn(const std::vector<std::string_view>& lines, std::string_view function);

/// Where the first function that a shader's file defines is; empty when it defines none.
SourceRange firstFunctionIn(const std::vector<std::string_view>& lines);

class SourceView {
  public:
    /// gpu   the operation in the GPU's trace, or null: then only the plain loops are shown
    void draw(Ui& ui, const TracedOperation& operation, const TracedOperation* gpu, ShaderEdits& edits);

    bool editing = false; ///< the shader's text is a field to type into

  private:
    void show(const ShaderEdits& edits, const std::string& shader, const char* plainFile,
              const char* function);
    void drawChoices(Ui& ui);
    void drawEditing(Ui& ui, ShaderEdits& edits);
    void drawEditor(Ui& ui, ShaderEdits& edits, float width);
    void drawPane(Ui& ui, const std::string& title, std::string_view text, const SourceRange& lit,
                  ImU32 colour, float width) const;

    std::string shader_;             // stem of what is shown
    std::vector<std::string> files_; // of the shader
    std::size_t file_ = 0;           // of these, the one shown
    std::string function_;           // the plain one
    SourceRange lit_;                // its lines
    int scroll_ = 0;                 // frames: to the functions, until the panes have their height
    std::size_t panes_ = 0;          // both, GLSL, C++
    ShaderEditor editor_;
    std::vector<CompileError> seen_; // the first of them has been brought into sight
};

} // namespace lockstep::demos
