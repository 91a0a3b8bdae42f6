// Events of the window as lines on standard output: for tests that wait for something to happen, and
// for measuring how soon the window answers.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "demos/shell/app.h"
#include "demos/shell/window.h"

namespace lockstep::demos {

/// Lines, each when it changes:
///   exhibit ID, size WIDTHxHEIGHT, running, paused, theme dark|light, presenter on|off
/// each when it happens:
///   message TEXT            also when the same is said again
///   reaction MILLISECONDS   from an event of mouse or keyboard to the end of the frame that it was part of
/// and twice a second while something trains, also while the window is minimised and nothing is drawn:
///   trained EXAMPLES at SECONDS   by the exhibit's lanes so far, and when that was
class WindowLog {
  public:
    explicit WindowLog(bool on) : on_(on) {}

    /// The next frame will react to the window's events.
    void reacting(Window& window);
    /// The last frame is done, if there was one.
    void reacted(const Window& window, App& app);
    void note(App& app, VkExtent2D size);

  private:
    void noteMessages(const std::vector<Message>& messages);

    bool on_;
    double event_ = -1;
    double nextTraining_ = 0;
    std::array<std::string, 5> lines_; // each as it was written last
    std::size_t messages_ = 0;         // that have been written
    double messageTime_ = -1;          // of the last of them
};

} // namespace lockstep::demos
