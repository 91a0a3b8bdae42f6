#include "demos/shell/window_log.h"

#include <cstdio>

#include <fmt/format.h>

namespace lockstep::demos {

void WindowLog::reacting(Window& window) {
    const double first = window.takeFirstEvent();
    if (event_ < 0) event_ = first;
}

void WindowLog::reacted(const Window& window, App& app) {
    if (!on_) return;
    const double now = window.seconds();
    if (event_ >= 0) fmt::print("reaction {:.1f}\n", (now - event_) * 1000);
    event_ = -1;
    if (now < nextTraining_ || !app.exhibit().running()) return;
    constexpr double period = 0.5;
    fmt::print("trained {} at {:.6f}\n", app.exhibit().trainedExamples(), now);
    std::fflush(stdout);
    nextTraining_ = now + period;
}

// A repeated message only gets a new time. A new window starts with no messages.
void WindowLog::noteMessages(const std::vector<Message>& messages) {
    if (messages.size() < messages_) messages_ = 0;
    for (std::size_t i = 0; i < messages.size(); ++i)
        if (i >= messages_ || messages[i].time > messageTime_) fmt::print("message {}\n", messages[i].text);
    messages_ = messages.size();
    if (!messages.empty()) messageTime_ = messages.back().time;
}

void WindowLog::note(App& app, VkExtent2D size) {
    if (!on_) return;
    const std::array<std::string, 5> now{
        fmt::format("exhibit {}", app.exhibit().id()), fmt::format("size {}x{}", size.width, size.height),
        app.exhibit().running() ? "running" : "paused", app.ui().theme.dark ? "theme dark" : "theme light",
        app.ui().presenter ? "presenter on" : "presenter off"};
    for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i] != lines_[i]) fmt::print("{}\n", now[i]);
    lines_ = now;
    noteMessages(app.ui().messages);
    std::fflush(stdout);
}

} // namespace lockstep::demos
