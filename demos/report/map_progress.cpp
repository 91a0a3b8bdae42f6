#include "demos/report/map_progress.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "demos/report/text.h"

namespace lockstep::demos {

std::string mapProgressLine(const std::string& lane, std::size_t trained, std::size_t pixels,
                            double seconds) {
    constexpr std::size_t cells = 24;
    const double share = static_cast<double>(trained) / static_cast<double>(pixels);
    const auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
    std::string line = fmt::format("{}  [{}{}]  {:3.0f} %  {} networks", lane, std::string(full, '#'),
                                   std::string(cells - full, '-'), std::floor(share * 100), grouped(trained));
    if (seconds <= 0 || trained == 0) return line;
    line += fmt::format("  {} networks/s", shortRate(static_cast<double>(trained) / seconds));
    if (trained < pixels) line += fmt::format("  {} left", clockTime(seconds / share * (1 - share)));
    return line;
}

MapProgress::MapProgress(std::string lane, std::size_t pixels, bool quiet)
    : lane_(std::move(lane)), pixels_(pixels), quiet_(quiet), terminal_(terminalOf(stderr)) {}

MapProgress::~MapProgress() {
    if (drawn_) std::fputs("\n", stderr);
}

void MapProgress::update(std::size_t trained, double seconds) {
    if (quiet_) return;
    const std::string line = mapProgressLine(lane_, trained, pixels_, seconds);
    if (terminal_.live) {
        fmt::print(stderr, "\r{}\x1b[K", cut(line, terminal_.width - 1));
        std::fflush(stderr);
        drawn_ = true;
        return;
    }
    constexpr double tenth = 0.1;
    constexpr std::chrono::seconds leastTime{1};
    const double share = static_cast<double>(trained) / static_cast<double>(pixels_);
    if (share < printedShare_ + tenth || Clock::now() < printedAt_ + leastTime) return;
    fmt::print(stderr, "{}\n", line);
    printedShare_ = share;
    printedAt_ = Clock::now();
}

} // namespace lockstep::demos
