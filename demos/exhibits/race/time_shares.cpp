#include "demos/exhibits/race/time_shares.h"

#include <algorithm>
#include <limits>

namespace lockstep::demos {

namespace {

constexpr TimePart parts[] = {
    {"gather_batch", "batch", "Copies the step's examples, in their shuffled order, side by side."},
    {"dense", "forward", "Product, bias and activation, layer by layer."},
    {"loss_and_gradient", "loss", "How wrong the answers are, and in which direction."},
    {"dense_backward", "backward",
     "From the loss back: gradients of inputs, weights and biases, layer by layer."},
    {"exchange", "exchange", "Gradients between devices."},
    {"update", "update", "The optimizer changes every weight."},
    {windowPart, "window",
     "Frames of this window, which the device drew while the lane trained: they take turns on one queue."},
    {waitingPart, "waiting", "Time in which the device had no step to work on: the host prepared or waited."},
};

} // namespace

std::span<const TimePart> timeParts() { return parts; }

std::size_t partOf(std::string_view operation) {
    std::size_t found = std::size(parts);
    for (std::size_t i = 0; i < std::size(parts); ++i)
        if (operation.starts_with(parts[i].prefix) &&
            (found == std::size(parts) || parts[i].prefix.size() > parts[found].prefix.size()))
            found = i;
    return found;
}

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
    std::ranges::stable_sort(shares, {}, [](const TimeShare& share) { return partOf(share.name); });
    if (drawn > 0) shares.push_back({std::string(windowPart), drawn});
    if (rest > drawn) shares.push_back({std::string(waitingPart), rest - drawn});
    return shares;
}

} // namespace lockstep::demos
