// What the ladder says and asks about each rung.
#pragma once

#include <span>
#include <string_view>

#include "engine/step/rungs.h"

namespace lockstep::demos {

struct RungWords {
    std::string_view lane{};  ///< "gpu:tiled"
    std::string_view plain{}; ///< what it does, in one short sentence: the whole line of a narrow window
    std::string_view question{};
    std::string_view answer{};
};

std::span<const RungWords> allRungWords();
/// Empty texts for a rung without a question.
RungWords wordsOf(const RungRow& rung);

} // namespace lockstep::demos
