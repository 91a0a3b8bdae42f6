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
    std::string owner = {};  ///< Card::owner
    double seconds = 150;    ///< what does not fit is left out, and the card says so
    bool quick = false;      ///< Card::quick
};

/// The lines that have the processor's arithmetic and its copies.
inline constexpr const char* cardRoofRow = "fp32 vec4";
inline constexpr const char* cardCopyRow = "host to host";

/// What is measured next.
struct CardProgress {
    std::string part;                 ///< "Training, SGD"
    std::string line;                 ///< "2-8-8-1, batch 10"
    double done = 0;                  ///< share of the time that has passed when the line began, 0 to 1
    double secondsLeft = 0;           ///< from then on, at most
    std::vector<CardPart> parts = {}; ///< with the lines measured so far; the last one is under way

    std::string text() const { return part + ": " + line; }
};
using ShowCardProgress = std::function<void(const CardProgress&)>;

/// Measures everything on both machines in turn; nothing else should run meanwhile. Losses are compared
/// before anything is timed: the GPU's with the processor's, and every rung's with cpu:scalar's. Where there
/// is nothing to compare with, the row is CardRow::unchecked. A row that fails says so in its note; after a
/// lost device, the processor's rows follow. `stop` becoming true ends it early: what is missing then is not
/// measured. Throws gpu::GpuError where a device was asked for and cannot be had; without any, the card is
/// the processor's.
Card measureCard(const CardRequest& request, const ShowCardProgress& show, const std::atomic<bool>& stop);

/// measureCard()'s card before anything is measured: its parts and lines, without numbers.
///   gpu   the device's name; empty: there is none
Card blankCard(const std::string& gpu);

} // namespace lockstep::demos
