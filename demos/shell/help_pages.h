// What F1 opens: the keys and the glossary; beside them the lessons, and what the program is made of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "demos/draw/ui.h"
#include "demos/lesson/lesson_desk.h"

namespace lockstep::demos {

enum class HelpPage : std::size_t { keys, glossary, lessons, about };

class HelpPages {
  public:
    void open(HelpPage page) {
        open_ = true;
        page_ = static_cast<std::size_t>(page);
    }
    /// Opens it on the keys or the glossary, whichever was read last.
    void toggle() {
        open_ = !open_;
        if (open_ && !shows(HelpPage::glossary)) open(HelpPage::keys);
    }
    void close() { open_ = false; }
    bool isOpen() const { return open_; }

    /// Draws the page over everything else. Returns the lesson that is to be opened.
    std::optional<std::filesystem::path> draw(Ui& ui, LessonDesk& lessons);

  private:
    bool shows(HelpPage page) const { return page_ == static_cast<std::size_t>(page); }
    void drawGlossary(Ui& ui) const;
    std::optional<std::filesystem::path> drawLessons(Ui& ui, LessonDesk& lessons);

    bool open_ = false;
    std::size_t page_ = 0;   // a HelpPage
    std::string soughtTerm_; // in the glossary
};

} // namespace lockstep::demos
