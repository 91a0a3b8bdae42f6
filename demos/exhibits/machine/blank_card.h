// A card before its machine is measured: what is known of it, and what measuring will answer.
#pragma once

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
/// A tile for every part of the card: what it asks, and a track for each machine, filled where a preview has
/// brought a number.
void drawQuestions(Ui& ui, const Card& card);

} // namespace lockstep::demos
