#include "demos/exhibits/devices/scaling.h"

#include <algorithm>

namespace lockstep::demos {

double ScalingModel::exchangeSeconds(std::size_t ranks) const {
    double seconds = 0;
    for (const std::size_t bytes : layerBytes) seconds += allReduceSeconds(allReduce, ranks, bytes, link);
    return seconds;
}

double ScalingModel::stepSeconds(std::size_t ranks, bool weak) const {
    const double share = weak ? 1 : 1 / static_cast<double>(std::min(ranks, batch));
    const double turns =
        places == 0 ? 1 : std::max(1.0, static_cast<double>(ranks) / static_cast<double>(places));
    return computeSeconds * share * turns + exchangeSeconds(ranks);
}

double ScalingModel::efficiency(std::size_t ranks, bool weak) const {
    return efficiencyOf(stepSeconds(1, weak), stepSeconds(ranks, weak), ranks, weak);
}

std::optional<std::size_t> ScalingModel::stopsPayingAt(bool weak) const {
    for (std::size_t ranks = 2; ranks <= mostModelledRanks; ++ranks)
        if (efficiency(ranks, weak) < 0.5) return ranks;
    return std::nullopt;
}

} // namespace lockstep::demos
