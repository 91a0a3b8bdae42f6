// The colours of a map.
//   converged   blue to white: dark where training was slow, white where it was fast
//   diverged    black to yellow by way of orange: dark where the loss ran away at once, yellow where it held
//   out
// On the border of the two, dark blue meets bright yellow: people who see no colours see the difference in
// brightness, and blue and orange are what all kinds of colour vision tell apart (Okabe and Ito).
#pragma once

#include <cstdint>
#include <span>

#include "engine/grid/map.h"

namespace lockstep::demos {

/// A word 0xAABBGGRR. An outcome that is NaN is a network that has not been trained: grey.
std::uint32_t mapColour(const MapJob& job, MapOutcome outcome);

/// The same of many, in their order, as the bytes of a picture: red, green, blue, alpha.
/// rgba   four bytes per outcome
void paintMap(const MapJob& job, std::span<const MapOutcome> outcomes, std::span<std::uint8_t> rgba);

} // namespace lockstep::demos
