// How many rounds the loops of one invocation make: software drivers end a shader's loops after 65,535 of
// them in all, in silence.
#pragma once

#include <cstddef>

namespace lockstep {

/// In a dispatch, with room for an error in counting.
inline constexpr std::size_t mostLoopRounds = 60000;

/// Of a loop whose body makes `inner` rounds more. The last look, which ends the loop, counts too.
constexpr std::size_t loopRounds(std::size_t count, std::size_t inner = 0) { return count * (1 + inner) + 1; }

/// Turns of an invocation over items that `invocations` share.
constexpr std::size_t turnsOf(std::size_t items, std::size_t invocations) {
    return (items + invocations - 1) / invocations;
}

} // namespace lockstep
