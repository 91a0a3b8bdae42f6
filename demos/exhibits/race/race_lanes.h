// The lanes as cards, and what all panels of the race draw alike.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"
#include "demos/exhibits/race/race_pictures.h"
#include "demos/exhibits/race/race_replay.h"
#include "demos/exhibits/race/race_words.h"

namespace lockstep::demos {

/// How many lanes of the same machine stand before lane `index`.
std::size_t lanesBefore(std::span<const LaneSpec> lanes, std::size_t index);
/// Lane `index` of several: its machine's colour, and a colour of its own for each further lane of a machine.
ImU32 laneColour(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index);
/// The machine's sign in that colour; with a hole for every second lane of a machine.
void drawMark(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index, ImVec2 centre, float size);

/// Continues the line of the item before with what is `width` pixels wide, or begins a new line. False then.
bool continueLine(Ui& ui, float width);
/// The width that segments with these names take.
float segmentsWidth(const Ui& ui, std::span<const std::string> names);
/// Why the processor won, if it did.
inline std::string whyText(const Ui& ui, const RaceRun& run) {
    const std::string why = whyTheProcessorWins(run);
    return why.empty() ? why : ui.timing(why);
}

/// The lanes of `run`: as they are, or where `replay` shows them. below: their pictures take all room but
/// that many pixels
void drawLanes(Ui& ui, const RaceRun& run, const RaceReplay& replay, const RacePictures& pictures,
               std::optional<float> below = {});
/// Lanes at the start, `height` pixels high in total, if they need no more.
void drawStartingLanes(Ui& ui, std::span<const LaneSpec> specs, const RacePictures& pictures, float height);

} // namespace lockstep::demos
