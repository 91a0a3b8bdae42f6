#include "demos/report/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/platform/terminal.h"

namespace lockstep::demos {

namespace {

// Plain lines: one per tenth of the run, at least `leastTime` apart; with an open end, per `longestSilence`.
constexpr double share = 0.1;
constexpr std::chrono::seconds leastTime{1};
constexpr std::chrono::seconds longestSilence{15};

// Okabe and Ito's colour-blind-safe orange and sky blue; the lane's name is the second cue.
constexpr const char* cpuColour = "\x1b[38;2;230;159;0m";
constexpr const char* gpuColour = "\x1b[38;2;86;180;233m";
constexpr const char* noColour = "\x1b[0m";

std::string bar(double progress, std::size_t cells) {
    const auto full = static_cast<std::size_t>(std::clamp(progress, 0.0, 1.0) * static_cast<double>(cells));
    return "[" + std::string(full, '#') + std::string(cells - full, '-') + "]";
}

std::string numbersOf(const LaneSnapshot& snapshot, bool withTest) {
    if (snapshot.status == LaneStatus::waiting) return "waits for its turn";
    if (snapshot.status == LaneStatus::preparing) return "warms up";
    std::string text = fmt::format("step {}  mean loss {}", grouped(snapshot.step),
                                   std::isnan(snapshot.loss) ? "n/a" : lossText(snapshot.loss));
    // The rate of the whole run so far, as in the table and as the time left assumes.
    if (snapshot.rate() > 0) text += fmt::format("  {} samples/s", shortRate(snapshot.rate()));
    if (withTest && !std::isnan(snapshot.testAccuracy)) text += "  test " + percent(snapshot.testAccuracy);
    if (snapshot.over()) text += fmt::format("  {}", name(snapshot.status));
    return text;
}

/// "gpu:best  [######----]   60 %  step 281  mean loss 0.4312". At most `width` columns.
std::string progressLine(const LaneProgress& lane, std::size_t laneWidth, std::size_t width) {
    constexpr std::size_t leastCells = 8;
    constexpr std::size_t mostCells = 24;
    const std::string start = fmt::format("{:<{}}  ", lane.title, laneWidth);
    const std::string percentage = fmt::format("  {:3.0f} %", std::floor(lane.progress * 100));
    const std::string brief = "  " + lane.brief;
    // A narrow terminal drops the longer numbers first, then the percentage, and finally the bar.
    for (const std::string& text : {percentage + "  " + lane.numbers, percentage + brief, brief}) {
        const std::size_t taken = start.size() + 2 + text.size() + 1; // brackets, and a free last column
        if (taken + leastCells > width) continue;
        return start + bar(lane.progress, std::min(width - taken, mostCells)) + text;
    }
    return cut(start + lane.brief, std::max<std::size_t>(width, 12) - 1);
}

} // namespace

LaneProgress tuningProgress(const std::string& title, const TuningProgress& tuning) {
    const std::string what = tuning.at == 0
                                 ? std::string("compiles the kernels to compare")
                                 : fmt::format("compares kernels, {} of {}", tuning.at, tuning.comparisons);
    return {.title = title,
            .gpu = true,
            .status = LaneStatus::preparing,
            .progress = tuning.share(),
            .numbers = what + ", once per network",
            .brief = what,
            .seconds = tuning.expected > 0 ? tuning.seconds : 0,
            .expected = tuning.expected,
            .tuning = true};
}

std::vector<LaneProgress> progressOf(Race& race) {
    std::vector<LaneProgress> lanes;
    for (std::size_t i = 0; i < race.size(); ++i) {
        const LaneSnapshot lane = race.lane(i).snapshot();
        const std::string& title = race.lane(i).title();
        if (lane.status == LaneStatus::preparing && lane.tuning.going())
            lanes.push_back(tuningProgress(title, lane.tuning));
        else
            lanes.push_back({title, race.spec(i).gpu, lane.status, lane.runSteps > 0, lane.progress,
                             numbersOf(lane, true), numbersOf(lane, false), lane.trainingSeconds});
    }
    return lanes;
}

void ProgressLines::show(std::vector<LaneProgress> lanes) {
    if (quiet_) return;
    printed_.resize(lanes.size());
    left_.resize(lanes.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        LaneProgress& lane = lanes[i];
        laneWidth_ = std::max(laneWidth_, lane.title.size());
        left_[i].add(lane.seconds, lane.expected > 0 ? lane.seconds / lane.expected : lane.progress);
        const std::string left = left_[i].text();
        if (left.empty() || (lane.status != LaneStatus::running && !lane.tuning)) continue;
        lane.numbers += "  " + left;
        lane.brief += "  " + left;
    }
    if (platform::obeysEscapes(stderr))
        drawLive(lanes);
    else
        printNews(lanes);
}

void ProgressLines::drawLive(const std::vector<LaneProgress>& lanes) {
    const std::size_t columns = platform::terminalColumns(stderr); // it may have been resized
    const std::size_t width = columns > 0 ? columns : 80;
    const bool coloured = std::getenv("NO_COLOR") == nullptr;
    std::string picture;
    if (drawnLines_ > 0) picture += fmt::format("\x1b[{}A", drawnLines_);
    for (const LaneProgress& lane : lanes) {
        const std::string row = withoutControls(progressLine(lane, laneWidth_, width));
        const char* colour = lane.gpu ? gpuColour : cpuColour;
        picture += coloured ? fmt::format("{}{}{}\x1b[K\n", colour, row, noColour) : row + "\x1b[K\n";
    }
    drawnLines_ = lanes.size();
    writeText(stderr, picture);
}

void ProgressLines::printNews(const std::vector<LaneProgress>& lanes) {
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const LaneProgress& lane = lanes[i];
        Printed& last = printed_[i];
        const auto silence = now - last.time;
        const bool changed =
            (lane.status != last.status && lane.status != LaneStatus::ready) || (lane.tuning && !last.tuning);
        const bool further = lane.progress >= last.progress + share && silence >= leastTime;
        const bool running = lane.status == LaneStatus::running;
        if (!changed && !(running && (further || silence >= longestSilence))) continue;
        last = {lane.status, lane.progress, lane.tuning, now};
        if (changed && running && !lane.begun) continue; // no numbers yet
        printError("{:<{}}  {:3.0f} %  {}\n", lane.title, laneWidth_, std::floor(lane.progress * 100),
                   lane.numbers);
    }
}

} // namespace lockstep::demos
