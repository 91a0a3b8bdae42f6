// Measures a machine's card.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "demos/card/card.h"

namespace lockstep::demos {

struct CardRequest {
    std::size_t threads = 0; ///< of cpu:best; 0: one per core
    std::string device;      ///< as in gpu::DeviceOptions; empty: the best
    double seconds = 150;    ///< what does not fit is left out, and the card says so
    bool quick = false;      ///< Card::quick
};

/// Told what is measured next ("the ladder: gpu:tiled"), and the share of the time that has passed (0 to 1).
using CardProgress = std::function<void(const std::string& what, double done)>;

/// Measures everything on both machines in turn; nothing else should run meanwhile. Every rung and every
/// network is checked before it is timed. `stop` becoming true ends it early: what is missing then is not
/// measured. Throws gpu::GpuError where a device was asked for and cannot be had; without any, the card is
/// the processor's.
Card measureCard(const CardRequest& request, const CardProgress& progress, const std::atomic<bool>& stop);

} // namespace lockstep::demos
