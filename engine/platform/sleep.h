// Sleeping until a value changes: std::atomic's own waiting, where it is the system's.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep::platform {

/// Sleeps while `value` is `old`, with the memory order acquire. It may also return for no reason.
void sleepWhile(const std::atomic<std::uint32_t>& value, std::uint32_t old);
/// Wakes one of those that sleep on `value`, or all; call it after the change.
void wakeOne(std::atomic<std::uint32_t>& value);
void wakeAll(std::atomic<std::uint32_t>& value);

} // namespace lockstep::platform
