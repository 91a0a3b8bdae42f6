#include "demos/shell/window_log.h"

#include <cstdio>

#include <fmt/format.h>

namespace lockstep::demos {

void WindowLog::reacting(Window& window) {
    const double first = window.takeFirstEvent();
    if (event_ < 0) event_ = first;
}

void WindowLog::reacted(const Window& window) {
    if (event_ < 0) return;
    if (on_) fmt::print("reaction {:.1f}\n", (window.seconds() - event_) * 1000);
    event_ = -1;
}

void WindowLog::line(std::string& last, std::string text) const {
    if (text == last) return;
    if (on_) fmt::print("{}\n", text);
    last = std::move(text);
}

void WindowLog::note(App& app, VkExtent2D size) {
    line(exhibit_, fmt::format("exhibit {}", app.exhibit().id()));
    line(size_, fmt::format("size {}x{}", size.width, size.height));
    line(running_, app.exhibit().running() ? "running" : "paused");
    line(theme_, app.ui().theme.dark ? "theme dark" : "theme light");
    line(presenter_, app.ui().presenter ? "presenter on" : "presenter off");
    const std::vector<Message>& messages = app.ui().messages;
    for (; messages_ < messages.size(); ++messages_)
        if (on_) fmt::print("message {}\n", messages[messages_].text);
    if (on_) std::fflush(stdout);
}

} // namespace lockstep::demos
