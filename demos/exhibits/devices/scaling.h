// What more ranks should bring: a model of a step's time, and what it takes into account.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/many/link_model.h"

namespace lockstep::demos {

inline constexpr std::size_t mostModelledRanks = 16384;

/// A step on n ranks = what one rank computes, shared by n, and then the exchange of every layer, one after
/// the other. Nothing is hidden: overlap can only make it shorter.
struct ScalingModel {
    double computeSeconds = 0;           ///< of a step on one rank, measured
    std::vector<std::size_t> layerBytes; ///< of gradients, as they travel
    std::size_t batch = 1;               ///< examples; more ranks than these have nothing to do
    AllReduce allReduce = AllReduce::ring;
    Link link;
    std::size_t places = 0; ///< ranks that compute at once; others share them. 0: all do

    /// weak   the batch grows with the ranks; else all share one batch
    double stepSeconds(std::size_t ranks, bool weak) const;
    double exchangeSeconds(std::size_t ranks) const;
    /// 1: twice the ranks do twice the work in a second.
    double efficiency(std::size_t ranks, bool weak) const;
    /// The fewest ranks with an efficiency below one half; empty: not up to mostModelledRanks.
    std::optional<std::size_t> stopsPayingAt(bool weak) const;
};

/// Efficiency from the measured step times of one rank and of several.
inline double efficiencyOf(double oneRankSeconds, double seconds, std::size_t ranks, bool weak) {
    return oneRankSeconds / (weak ? seconds : seconds * static_cast<double>(ranks));
}

/// Links that exist, by what their standards promise for one direction, without protocols: PCI Express Base
/// Specification 3.0, 4.0, 5.0 (16 lanes at 8, 16, 32 GT/s, 128b/130b); NVIDIA H100 data sheet (NVLink 4: 900
/// GB/s both ways); IEEE 802.3ae and 802.3ba (10 and 100 Gbit/s Ethernet); InfiniBand Architecture
/// Specification 1.6, NDR (four lanes: 400 Gbit/s).
struct NamedLink {
    std::string_view name;
    double gigabytesPerSecond;
};
inline constexpr NamedLink namedLinks[] = {{"10 Gbit/s Ethernet", 1.25},
                                           {"100 Gbit/s Ethernet", 12.5},
                                           {"PCIe 3.0 x16", 15.8},
                                           {"PCIe 4.0 x16", 31.5},
                                           {"InfiniBand NDR", 50},
                                           {"PCIe 5.0 x16", 63},
                                           {"NVLink 4", 450}};

} // namespace lockstep::demos
