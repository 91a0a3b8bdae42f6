// The lanes as cards, and what all panels of the race draw alike.
#pragma once

#include <span>
#include <string>

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"
#include "demos/exhibits/race/race_replay.h"
#include "demos/exhibits/race/race_words.h"

namespace lockstep::demos {

/// Lane `index` of several: its machine's colour, the second lane of a machine a shade nearer to the text.
ImU32 laneColour(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index);

/// Continues the line of the item before with what is `width` pixels wide, or begins a new line. False then.
bool continueLine(Ui& ui, float width);
/// The width that segments with these names take.
float segmentsWidth(const Ui& ui, std::span<const std::string> names);
/// Why the processor won, if it did.
inline std::string whyText(const Ui& ui, const RaceRun& run) {
    const std::string why = whyTheProcessorWins(run);
    return why.empty() ? why : ui.timing(why);
}

/// The lanes of `run`: as they are, or where `replay` shows them.
void drawLanes(Ui& ui, const RaceRun& run, const RaceReplay& replay);
/// Lanes at the start, `height` pixels high in total, if they need no more.
void drawStartingLanes(Ui& ui, std::span<const LaneSpec> specs, float height);

} // namespace lockstep::demos
