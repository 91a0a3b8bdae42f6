#include "demos/report/progress.h"

#include <cmath>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

std::string numbersOf(const LaneSnapshot& snapshot, bool withTest) {
    if (snapshot.status == LaneStatus::waiting) return "waiting for its turn";
    if (snapshot.status == LaneStatus::preparing) return "warming up";
    std::string text = fmt::format("step {}  mean loss {}", grouped(snapshot.step),
                                   std::isnan(snapshot.loss) ? "n/a" : lossText(snapshot.loss));
    const double rate = snapshot.status == LaneStatus::running ? snapshot.recentRate : snapshot.rate();
    if (rate > 0) text += fmt::format("  {} samples/s", shortRate(rate));
    if (withTest && !std::isnan(snapshot.testAccuracy)) text += "  test " + percent(snapshot.testAccuracy);
    text += timeLeft(snapshot.status, snapshot.trainingSeconds, snapshot.progress);
    if (snapshot.over()) text += fmt::format("  {}", name(snapshot.status));
    return text;
}

LaneProgress progressOf(const std::string& title, const LaneSpec& spec, const LaneSnapshot& snapshot) {
    return {title,
            spec.gpu,
            snapshot.status,
            snapshot.runSteps > 0,
            snapshot.progress,
            numbersOf(snapshot, true),
            numbersOf(snapshot, false)};
}

} // namespace

void Progress::update() {
    std::vector<LaneProgress> lanes;
    for (std::size_t i = 0; i < race_.size(); ++i)
        lanes.push_back(progressOf(race_.lane(i).title(), race_.spec(i), race_.lane(i).snapshot()));
    lines_.show(lanes);
}

} // namespace lockstep::demos
