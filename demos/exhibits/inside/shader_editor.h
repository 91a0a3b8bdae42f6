// A text that is changed in place: letters of one width, line numbers, marked lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/draw/ui.h"

namespace lockstep::demos {

class ShaderEditor {
  public:
    /// Draws `size` large, and changes `text` as it is typed. `marked`: lines from 1 on that something is
    /// wrong with. True when Ctrl+Enter was pressed.
    bool draw(Ui& ui, const char* name, std::string& text, const std::vector<std::size_t>& marked,
              ImVec2 size);
    /// Brings a line, from 1 on, into sight.
    void reveal(std::size_t line) { wanted_ = line; }
    /// Scrolls so that a line, counted from 1, is the first in sight.
    void beginAt(std::size_t line) {
        wanted_ = line;
        first_ = true;
    }

  private:
    void drawLines(Ui& ui, const std::string& text, const std::vector<std::size_t>& marked) const;
    void follow(float top, float height, const std::string& text);

    int caret_ = 0; // byte
    std::optional<std::size_t> wanted_;
    bool first_ = false; ///< the wanted line shall be the first in sight
};

} // namespace lockstep::demos
