// What text and picture share.
#pragma once

#include <string>
#include <vector>

#include "demos/card/card.h"

namespace lockstep::demos {

/// Which program measured it, when, and how: "lockstep 0.9.0, 2026-03-01, measured in 120 s."
std::string cardOrigin(const Card& card);

/// Every part and line that any of the cards has, without numbers.
std::vector<CardPart> allParts(const std::vector<Card>& cards);

/// For each line of `part`: its name, then the processor's and the GPU's number of each card.
std::vector<std::vector<std::string>> comparisonRows(const std::vector<Card>& cards, const CardPart& part);

} // namespace lockstep::demos
