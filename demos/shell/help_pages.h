// What F1 opens: the keys, the glossary, this machine, and the lessons.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "demos/draw/ui.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/shell/machine_page.h"

namespace lockstep::demos {

enum class HelpPage : std::size_t { keys, glossary, machine, lessons };

class HelpPages {
  public:
    void open(HelpPage page) {
        open_ = true;
        page_ = static_cast<std::size_t>(page);
    }
    void toggle() { open_ = !open_; }
    void close() { open_ = false; }
    bool isOpen() const { return open_; }
    /// The machine is being measured, whether or not its page is open.
    bool measuring() const { return machine_.measuring(); }

    struct Press {
        bool measure = false; ///< a measurement has begun: nothing else should run meanwhile
        std::optional<std::filesystem::path> lesson; ///< to be opened
    };
    /// Draws the page over everything else.
    /// device   that the machine's page measures, as in gpu::DeviceOptions
    Press draw(Ui& ui, const std::string& device, LessonDesk& lessons);

  private:
    bool shows(HelpPage page) const { return page_ == static_cast<std::size_t>(page); }
    void drawGlossary(Ui& ui) const;
    std::optional<std::filesystem::path> drawLessons(Ui& ui, LessonDesk& lessons);

    bool open_ = false;
    std::size_t page_ = 0;   // a HelpPage
    std::string soughtTerm_; // in the glossary
    MachinePage machine_;
};

} // namespace lockstep::demos
