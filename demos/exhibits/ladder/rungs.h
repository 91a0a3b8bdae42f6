// The rungs of the ladder: what each adds to the one below, where its source is, and what to think about.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/step/lane_spec.h"

namespace lockstep::demos {

struct Rung {
    std::string_view lane;  ///< as in knownLanes(): "gpu:tiled"
    std::string_view idea;  ///< one sentence: what it does, and what that is for
    std::string_view file;  ///< that tells it best: "dense_tiled.comp"; empty: none by itself
    std::string_view below; ///< lane of the rung below, whose source it is compared with; empty: none
    std::string_view question;
    std::string_view answer;
    std::string_view against = {}; ///< file to compare with instead of the one of the rung below
};

/// All rungs that are told about, the lowest first: the processor's, then the GPU's.
std::span<const Rung> toldRungs();

/// The rungs of this program, in that order: told ones that `lanes` has, and at the end those it has besides.
std::vector<Rung> rungsOf(std::span<const std::string_view> lanes);

/// The nearest told rung below that is among `rungs`: where the one named is missing, the next below it.
std::optional<Rung> rungBelow(const Rung& rung, const std::vector<Rung>& rungs);

} // namespace lockstep::demos
