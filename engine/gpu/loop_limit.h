// Shaders that nobody has looked at: loops that may go on for ever are made to end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/reflection.h"

namespace lockstep::gpu {

/// What an invocation may spend, in all its loops without a barrier together, and once more in all those with
/// one. A round of a loop that is counted costs `roundCost`, and 1 more for each round of the short loops in
/// it. These are 65,280 rounds: the plain loops of any network have fewer, and some drivers end loops by
/// themselves after 65,536, without a word.
inline constexpr std::uint32_t roundBudget = 1u << 24;
inline constexpr std::uint32_t roundCost = 257;

/// Where a shader writes which loop ran out of rounds: a buffer of one number.
struct LoopReport {
    std::uint32_t binding = 0;
    /// The number of a loop, which is at "dense_naive.comp:23". Above 0.
    std::function<std::uint32_t(const std::string& place)> number;
};

/// Returns the module with counters of their own for each invocation, looked at in every round. When the
/// budget is spent, the invocation leaves the loop, and each further one at its first look: it still comes to
/// every barrier behind them, with unfinished results. Loops with a barrier inside have a counter of their
/// own, so that all invocations of a workgroup leave them in the same round. Where a loop can only be left
/// from within a condition, the invocation returns instead. Loops of the entry point that count from one
/// constant to another stay as they are, so that drivers still unroll them, as long as those inside each
/// other have at most 65,536 rounds together. In functions that the entry point calls, every loop is counted;
/// shaders compiled with optimization have no such functions.
///   constants   values of specialisation constants, as reflect() takes them
///   report      none: nobody is told
/// Throws std::runtime_error, naming `shader`, for a module that reflect() refuses, or whose loops are not
/// those of a GLSL compiler.
std::vector<std::uint32_t> limitLoops(std::span<const std::uint32_t> words, const SpecConstants& constants,
                                      const std::string& shader, const std::optional<LoopReport>& report);

} // namespace lockstep::gpu
