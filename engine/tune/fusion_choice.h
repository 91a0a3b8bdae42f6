// Which operations of a step are worth fusing on a device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/step/step_fusions.h"
#include "engine/tune/kernel_cache.h"
#include "engine/tune/tuning.h"

namespace lockstep {

/// Switches on each fusion that makes steps faster next to those before it: steps with and without it are
/// timed in turn. What is known from an earlier start is not measured again.
/// Once the comparison is skipped, fusions that were not measured stay as they are, and are not remembered.
///   cache              null: every time is measured, and forgotten
///   key                what the time of a step depends on
///   stepMilliseconds   the mean of so many steps with the fusions as they are
void chooseFusions(StepFusions& fusions, KernelCache* cache, const std::string& key,
                   const std::function<double(std::uint64_t)>& stepMilliseconds, Tuning& tuning);

} // namespace lockstep
