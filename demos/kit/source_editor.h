// The field in which a shader's text is changed, with what is said about it: the same in every exhibit that
// lets people edit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/kit/shader_edits.h"

namespace lockstep::demos {

/// Letters that the numbers of lines take, with the gap behind them.
inline constexpr float gutterLetters = 4.5f;

/// A text that is changed in place, as it is looked at.
struct TextField {
    std::optional<std::size_t> wanted; ///< a line, from 1 on, to be brought into sight
    bool first = false;                ///< as the first one in sight
    int caret = 0;                     ///< byte
    bool active = false;               ///< it has the keyboard
    bool checked = false;              ///< a check began in this frame: the keyboard stays with the text
    std::optional<float> scroll;       ///< to be kept while it gets the keyboard back
    std::optional<int> caretKept;      ///< likewise
};

class SourceEditor {
  public:
    /// exhibit   ends the names of its controls: "inside"
    explicit SourceEditor(std::string exhibit) : exhibit_(std::move(exhibit)) {}

    /// Two buttons, and how far the changes have come. Below them the last trial's first errors; one that is
    /// pressed leads to its line, in whichever of the files that is.
    void drawStatus(Ui& ui, ShaderEdits& edits, const EditWords& words, const std::vector<std::string>& files,
                    std::size_t& file);
    /// The text of files[file], or of the file with a new error, below its name. Ctrl+Enter submits it.
    ///   first   a line, from 1 on, that becomes the first one in sight, unless one is wrong
    void drawText(Ui& ui, ShaderEdits& edits, const EditWords& words, const std::vector<std::string>& files,
                  std::size_t& file, float width, std::optional<std::size_t> first = {});

  private:
    void goTo(const CompileError& error, const ShaderEdits& edits, const std::vector<std::string>& files,
              std::size_t& file);
    std::string named(const char* label) const { return std::string(label) + "##" + exhibit_; }

    std::string exhibit_;
    TextField field_;
    std::uint64_t seenTrials_ = 0; // the first error of the last one has been brought into sight
};

/// "GPU  lab.h, edited"
std::string fileTitle(const std::string& file, const ShaderTexts& texts);

} // namespace lockstep::demos
