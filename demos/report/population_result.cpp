#include "demos/report/population_report.h"

#include <algorithm>
#include <cmath>

namespace lockstep::demos {

namespace {

bool agree(const MemberResult& a, const MemberResult& b) {
    if (a.diverged || b.diverged) return a.diverged == b.diverged && a.steps == b.steps;
    const double difference = std::abs(static_cast<double>(a.batchLoss) - static_cast<double>(b.batchLoss));
    return difference <=
           PopulationAgreement::tolerance * std::max(std::abs(a.batchLoss), std::abs(b.batchLoss));
}

double agreedShare(const std::vector<MemberResult>& a, const std::vector<MemberResult>& b) {
    std::size_t agreed = 0;
    for (std::size_t member = 0; member < a.size(); ++member) agreed += agree(a[member], b[member]) ? 1 : 0;
    return static_cast<double>(agreed) / static_cast<double>(a.size());
}

double perSecond(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

const PopulationLaneResult* referenceOf(const std::vector<PopulationLaneResult>& results) {
    const PopulationLaneResult* reference = nullptr;
    for (const PopulationLaneResult& result : results) {
        if (result.opening.empty()) continue;
        if (!result.spec.gpu) return &result;
        if (reference == nullptr) reference = &result;
    }
    return reference;
}

} // namespace

bool PopulationAgreement::same() const {
    return std::ranges::all_of(shares, [](const AgreedShare& agreed) {
        return agreed.steps > decisiveSteps || agreed.share >= decisiveShare;
    });
}

double PopulationLaneResult::networkStepsPerSecond() const {
    return perSecond(static_cast<double>(summary.networkSteps), trainingSeconds);
}

double PopulationLaneResult::networksPerSecond() const {
    return perSecond(static_cast<double>(summary.finished), trainingSeconds);
}

std::vector<std::uint64_t> openingSteps(std::uint64_t steps) {
    std::vector<std::uint64_t> opening{1, 10, 100};
    for (std::uint64_t& step : opening) step = std::min(step, steps);
    opening.erase(std::unique(opening.begin(), opening.end()), opening.end());
    return opening;
}

void addAgreements(std::vector<PopulationLaneResult>& results) {
    const PopulationLaneResult* reference = referenceOf(results);
    for (PopulationLaneResult& result : results) {
        result.agreement = {};
        if (&result == reference) continue;
        const std::size_t compared =
            std::min(result.opening.size(), reference ? reference->opening.size() : 0);
        for (std::size_t i = 0; i < compared; ++i)
            result.agreement.shares.push_back(
                {result.opening[i].steps,
                 agreedShare(result.opening[i].members, reference->opening[i].members)});
    }
}

} // namespace lockstep::demos
