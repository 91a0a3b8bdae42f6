// The card in the window: what is known of a machine, what measuring will answer, and the answers.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "demos/card/card.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/machine/machine_facts.h"

namespace lockstep::demos {

struct KnownMachine {
    std::string name;
    MachineFacts facts;
    ImU32 colour = 0;
};

/// Side by side where the width allows: name, and below it each fact as a value over its name.
void drawKnownMachines(Ui& ui, std::span<const KnownMachine> machines);
/// A tile for every part of the card: what it asks and, once it is measured, the answer in large letters,
/// with a track for each machine.
///   card       in English; its numbers fill the tracks
///   finished   so many of its parts, the first ones, are answered
void drawTiles(Ui& ui, const Card& card, std::size_t finished);

} // namespace lockstep::demos
