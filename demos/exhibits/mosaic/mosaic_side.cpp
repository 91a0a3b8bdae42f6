#include "demos/exhibits/mosaic/mosaic_side.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lockstep::demos {

namespace {

constexpr std::size_t mostMoments = 2048; // no plot has more pixels

std::vector<double> everyOther(const std::vector<double>& all) {
    std::vector<double> half;
    for (std::size_t i = 0; i < all.size(); i += 2) half.push_back(all[i]);
    return half;
}

} // namespace

void LossSpread::add(double meanSteps, const PopulationSummary& summary) {
    if (summary.begun == 0 || (!steps.empty() && meanSteps <= steps.back())) return;
    steps.push_back(meanSteps);
    for (std::size_t i = 0; i < losses.size(); ++i)
        losses[i].push_back(static_cast<double>(summary.percentiles[i]));
    if (steps.size() < mostMoments) return;
    steps = everyOther(steps);
    for (std::vector<double>& curve : losses) curve = everyOther(curve);
}

std::optional<MemberWeights> MosaicSide::takeNews() {
    MosaicNews news = lane->takeNews();
    if (news.machine) machine = std::move(*news.machine);
    if (news.maps) maps = std::move(news.maps);
    if (!news.error.empty()) failure = std::move(news.error);
    if (news.shot) {
        shot = std::move(news.shot);
        const auto count = static_cast<double>(shot->results.size());
        const double meanSteps = static_cast<double>(shot->summary.networkSteps) / count;
        if (!spread.steps.empty() && meanSteps < spread.steps.back()) spread = {}; // it has begun anew
        spread.add(meanSteps, shot->summary);
    }
    return std::move(news.weights);
}

void MosaicSide::reset() {
    shot.reset();
    spread = {};
    lane->reset();
}

bool MosaicSide::over() const {
    return !failure.empty() || (shot && shot->summary.finished == shot->results.size());
}

double MosaicSide::networkStepsPerSecond() const {
    if (!shot || shot->seconds <= 0) return 0;
    return static_cast<double>(shot->summary.networkSteps) / shot->seconds;
}

double MosaicSide::networksPerSecond(std::uint64_t steps) const {
    return networkStepsPerSecond() / static_cast<double>(steps);
}

double MosaicSide::shareDone(std::uint64_t steps) const {
    if (!shot || shot->results.empty()) return 0;
    double done = 0;
    for (const MemberResult& result : shot->results)
        done += result.diverged ? 1 : static_cast<double>(result.steps) / static_cast<double>(steps);
    return done / static_cast<double>(shot->results.size());
}

std::uint64_t MosaicSide::leastSteps() const {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    if (shot)
        for (const MemberResult& result : shot->results)
            if (!result.diverged) least = std::min(least, result.steps);
    return least == std::numeric_limits<std::uint64_t>::max() ? 0 : least;
}

} // namespace lockstep::demos
