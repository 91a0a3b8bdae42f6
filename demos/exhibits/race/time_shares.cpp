#include "demos/exhibits/race/time_shares.h"

#include <algorithm>
#include <limits>

#include "demos/kit/operations.h"

namespace lockstep::demos {

namespace {

/// In the order of a step; then what the window takes, and waiting.
std::size_t placeOf(std::string_view name) {
    constexpr std::size_t operations = std::size(operationKinds);
    if (name == windowPart) return operations;
    if (name == waitingPart) return operations + 1;
    return static_cast<std::size_t>(kindOf(name));
}

} // namespace

std::vector<TimeShare> timeShares(const LaneResult& lane, std::span<const OperationTiming> operations,
                                  double windowSeconds) {
    if (lane.end.runSteps == 0) return {};
    std::uint64_t sampled = std::numeric_limits<std::uint64_t>::max();
    double sum = 0;
    for (const OperationTiming& operation : operations) {
        if (operation.calls > 0) sampled = std::min(sampled, operation.calls);
        sum += operation.milliseconds;
    }
    if (!(sum > 0)) return {};
    const auto steps = static_cast<double>(lane.end.runSteps);
    const double device = lane.end.deviceSeconds / steps;
    std::vector<TimeShare> shares;
    for (const OperationTiming& operation : operations)
        if (operation.milliseconds > 0)
            shares.push_back({operation.name, device * operation.milliseconds / sum});
    const double rest = std::max(0.0, lane.end.trainingSeconds - lane.end.deviceSeconds) / steps;
    const double drawn = std::min(windowSeconds / steps, rest);
    std::ranges::stable_sort(shares, {}, [](const TimeShare& share) { return placeOf(share.name); });
    if (drawn > 0) shares.push_back({std::string(windowPart), drawn});
    if (rest > drawn) shares.push_back({std::string(waitingPart), rest - drawn});
    return shares;
}

} // namespace lockstep::demos
