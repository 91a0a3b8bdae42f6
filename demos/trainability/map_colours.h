// The colours of a map of trainability.
//   converged   blue to white: dark where training was slow, white where it was fast
//   diverged    black to yellow by way of orange: dark where the loss ran away at once, yellow where it held
//   out
// On the border of the two, dark blue meets bright yellow: people who see no colours see the difference in
// brightness, and blue and orange are what all kinds of colour vision tell apart (Okabe and Ito).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/train/trainability.h"

namespace lockstep::demos {

/// A word 0xAABBGGRR. An outcome that is NaN is a network that has not been trained: grey.
std::uint32_t mapColour(const TrainabilityJob& job, TrainabilityOutcome outcome);

/// Of many, in their order.
std::vector<std::uint32_t> mapColours(const TrainabilityJob& job,
                                      std::span<const TrainabilityOutcome> outcomes);

/// `count` colours for a legend, slow to fast and early to late.
std::vector<std::uint32_t> convergedColours(std::size_t count);
std::vector<std::uint32_t> divergedColours(std::size_t count);

} // namespace lockstep::demos
