// Events of the window as lines on standard output: for tests that wait for something to happen, and
// for measuring how soon the window answers.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/shell/app.h"
#include "demos/shell/window.h"
#include "demos/words/streams.h"

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
    void reacting(Window& window) {
        const double first = window.takeFirstEvent();
        if (event_ < 0) event_ = first;
    }

    /// The last frame is done, if there was one.
    void reacted(const Window& window) {
        if (on_ && event_ >= 0) printOut("reaction {:.1f}\n", (window.seconds() - event_) * 1000);
        event_ = -1;
    }

    void noteTraining(const Window& window, App& app) {
        const double now = window.seconds();
        if (!on_ || now < nextTraining_ || !app.exhibit().running()) return;
        constexpr double period = 0.5;
        printOut("trained {} at {:.6f}\n", app.exhibit().trainedExamples(), now);
        flushText(stdout);
        nextTraining_ = now + period;
    }

    void note(App& app, VkExtent2D size) {
        if (!on_) return;
        const std::array<std::string, 5> now{fmt::format("exhibit {}", app.exhibit().id()),
                                             fmt::format("size {}x{}", size.width, size.height),
                                             app.exhibit().running() ? "running" : "paused",
                                             app.ui().theme.dark ? "theme dark" : "theme light",
                                             app.ui().presenter ? "presenter on" : "presenter off"};
        for (std::size_t i = 0; i < now.size(); ++i)
            if (now[i] != lines_[i]) printOut("{}\n", now[i]);
        lines_ = now;
        noteMessages(app.ui().messages);
        flushText(stdout);
    }

  private:
    // A repeated message only gets a new time. A new window starts with no messages.
    void noteMessages(const std::vector<Message>& messages) {
        if (messages.size() < messages_) messages_ = 0;
        for (std::size_t i = 0; i < messages.size(); ++i)
            if (i >= messages_ || messages[i].time > messageTime_) printOut("message {}\n", messages[i].text);
        messages_ = messages.size();
        if (!messages.empty()) messageTime_ = messages.back().time;
    }

    bool on_;
    double event_ = -1;
    double nextTraining_ = 0;
    std::array<std::string, 5> lines_; // each as it was written last
    std::size_t messages_ = 0;         // that have been written
    double messageTime_ = -1;          // of the last of them
};

} // namespace lockstep::demos
