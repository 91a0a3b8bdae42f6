#include "demos/report/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "demos/report/text.h"

namespace lockstep::demos {

namespace {

// Plain lines: one per tenth of the way, but at least this apart; and one per this much time where the end is
// open.
constexpr double share = 0.1;
constexpr std::chrono::seconds leastTime{1};
constexpr std::chrono::seconds longestSilence{15};

// Okabe and Ito's orange and sky blue; the lane's name is the second cue.
constexpr const char* cpuColour = "\x1b[38;2;230;159;0m";
constexpr const char* gpuColour = "\x1b[38;2;86;180;233m";
constexpr const char* noColour = "\x1b[0m";

std::string bar(double progress, std::size_t cells) {
    const auto full = static_cast<std::size_t>(std::clamp(progress, 0.0, 1.0) * static_cast<double>(cells));
    return "[" + std::string(full, '#') + std::string(cells - full, '-') + "]";
}

std::string timeLeft(const LaneSnapshot& snapshot) {
    if (snapshot.progress <= 0 || snapshot.status != LaneStatus::running) return "";
    const double left = snapshot.trainingSeconds / snapshot.progress * (1 - snapshot.progress);
    return "  " + clockTime(left) + " left";
}

std::string numbersOf(const LaneSnapshot& snapshot, bool withTest = true) {
    if (snapshot.status == LaneStatus::waiting) return "waits for its turn";
    if (snapshot.status == LaneStatus::preparing) return "warms up";
    std::string text = fmt::format("step {}  mean loss {}", grouped(snapshot.step), lossText(snapshot.loss));
    const double rate = snapshot.status == LaneStatus::running ? snapshot.recentRate : snapshot.rate();
    if (rate > 0) text += fmt::format("  {} samples/s", shortRate(rate));
    if (withTest && !std::isnan(snapshot.testAccuracy)) text += "  test " + percent(snapshot.testAccuracy);
    text += timeLeft(snapshot);
    if (snapshot.over()) text += fmt::format("  {}", name(snapshot.status));
    return text;
}

} // namespace

Terminal terminalOf(std::FILE* stream) {
    Terminal terminal;
    const int descriptor = fileno(stream);
    const char* kind = std::getenv("TERM");
    terminal.live = isatty(descriptor) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
    terminal.colour = terminal.live && std::getenv("NO_COLOR") == nullptr;
    winsize size{};
    if (terminal.live && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        terminal.width = size.ws_col;
    return terminal;
}

std::string progressLine(const std::string& lane, const LaneSnapshot& snapshot, std::size_t laneWidth,
                         std::size_t width) {
    constexpr std::size_t leastCells = 8;
    constexpr std::size_t mostCells = 24;
    const std::string start = fmt::format("{:<{}}  ", lane, laneWidth);
    const std::string percentage = fmt::format("  {:3.0f} %", std::floor(snapshot.progress * 100));
    const std::string brief = "  " + numbersOf(snapshot, false);
    // What a narrow terminal has no room for: first the test accuracy, then the percentage, at last the bar.
    for (const std::string& text : {percentage + "  " + numbersOf(snapshot), percentage + brief, brief}) {
        const std::size_t taken = start.size() + 2 + text.size() + 1; // brackets; the last column stays free
        if (taken + leastCells > width) continue;
        return start + bar(snapshot.progress, std::min(width - taken, mostCells)) + text;
    }
    return cut(start + numbersOf(snapshot, false), std::max<std::size_t>(width, 12) - 1);
}

Progress::Progress(Race& race, bool quiet) : race_(race), quiet_(quiet), terminal_(terminalOf(stderr)) {
    for (std::size_t i = 0; i < race_.size(); ++i)
        laneWidth_ = std::max(laneWidth_, race_.lane(i).title().size());
    printed_.resize(race_.size());
}

void Progress::update() {
    if (quiet_) return;
    if (terminal_.live)
        drawLive();
    else
        printNews();
}

void Progress::finish() { update(); }

void Progress::drawLive() {
    terminal_ = terminalOf(stderr); // it may have been resized
    std::string picture;
    if (drawnLines_ > 0) picture += fmt::format("\x1b[{}A", drawnLines_);
    for (std::size_t i = 0; i < race_.size(); ++i) {
        const std::string line =
            progressLine(race_.lane(i).title(), race_.lane(i).snapshot(), laneWidth_, terminal_.width);
        const char* colour = race_.spec(i).gpu ? gpuColour : cpuColour;
        picture +=
            terminal_.colour ? fmt::format("{}{}{}\x1b[K\n", colour, line, noColour) : line + "\x1b[K\n";
    }
    drawnLines_ = race_.size();
    fmt::print(stderr, "{}", picture);
    std::fflush(stderr);
}

void Progress::printNews() {
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < race_.size(); ++i) {
        const LaneSnapshot snapshot = race_.lane(i).snapshot();
        Printed& last = printed_[i];
        const auto silence = now - last.time;
        const bool changed = snapshot.status != last.status && snapshot.status != LaneStatus::ready;
        const bool further = snapshot.progress >= last.progress + share && silence >= leastTime;
        const bool running = snapshot.status == LaneStatus::running;
        if (!changed && !(running && (further || silence >= longestSilence))) continue;
        last = {snapshot.status, snapshot.progress, now};
        if (changed && running && snapshot.runSteps == 0) continue; // nothing to say about it yet
        fmt::print(stderr, "{:<{}}  {:3.0f} %  {}\n", race_.lane(i).title(), laneWidth_,
                   std::floor(snapshot.progress * 100), numbersOf(snapshot));
    }
}

} // namespace lockstep::demos
