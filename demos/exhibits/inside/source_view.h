// The source of an operation: the shader that the GPU runs, and the plain twin on the CPU beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/shell/ui.h"
#include "engine/train/step_trace.h"

namespace lockstep::demos {

/// A function's place in a source text: lines [begin, end), counted from 0.
struct SourceRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

std::vector<std::string_view> linesOf(std::string_view text);
/// Where the definition of `function` is, its template line included; empty when it is not there.
SourceRange functionIn(const std::vector<std::string_view>& lines, std::string_view function);
/// The file and what it includes, each once, in the order of first mention.
std::vector<std::string> withIncludes(const std::string& file);

/// A line of a source, or a part of one that is too long for its pane.
struct SourceRow {
    std::size_t line = 0; ///< counted from 0
    bool first = true;    ///< of its line
    std::size_t indent = 0;
    std::string_view text;
    bool comment = false;
};

/// Breaks lines at blanks so that none is longer than `columns` (at least 16).
std::vector<SourceRow> rowsOf(const std::vector<std::string_view>& lines, std::size_t columns);

class SourceView {
  public:
    /// gpu   the operation in the GPU's trace, or null: then only the twin is shown
    void draw(Ui& ui, const TracedOperation& operation, const TracedOperation* gpu);

  private:
    void show(const std::string& shader, const std::string& twinFile, const std::string& function);
    void drawRow(Ui& ui, const SourceRow& row, SourceRange lit, float left) const;
    void drawPane(Ui& ui, const char* id, const std::string& file, SourceRange lit, float width,
                  bool scroll) const;

    std::string shader_;             // stem of what is shown
    std::vector<std::string> files_; // of the shader
    std::size_t file_ = 0;           // of these, the one shown
    std::string twinFile_;
    std::string function_;
    SourceRange lit_;
    int scroll_ = 0;        // frames: to the top and to the function, until the panes have their width
    std::size_t panes_ = 0; // both, GLSL, C++
};

} // namespace lockstep::demos
