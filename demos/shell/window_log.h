// What happens in the window, as lines on standard output: for tests that wait for something to happen, and
// for measuring how soon the window answers.
#pragma once

#include <cstdint>
#include <string>

#include "demos/shell/app.h"
#include "demos/shell/window.h"

namespace lockstep::demos {

/// Lines, each when it changes:
///   exhibit ID, size WIDTHxHEIGHT, running, paused, theme dark|light, presenter on|off, message TEXT
///   reaction MILLISECONDS   from an event of mouse or keyboard to the end of the frame that it was part of
class WindowLog {
  public:
    explicit WindowLog(bool on) : on_(on) {}

    /// The next frame takes in what has happened in the window.
    void reacting(Window& window);
    /// The last frame is done.
    void reacted(const Window& window);
    void note(App& app, VkExtent2D size);

  private:
    void line(std::string& last, std::string text) const;

    bool on_;
    double event_ = -1;
    std::string exhibit_;
    std::string size_;
    std::string running_;
    std::string theme_;
    std::string presenter_;
    std::size_t messages_ = 0;
};

} // namespace lockstep::demos
