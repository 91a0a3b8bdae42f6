#include "engine/platform/sleep.h"

#include <windows.h>

// GCC's library makes a condition variable of all values whose addresses end alike, and wakes any one of its
// sleepers: a team whose members slept on different values never woke.
namespace lockstep::platform {

void sleepWhile(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    static_assert(sizeof(value) == sizeof(old));
    WaitOnAddress(const_cast<std::atomic<std::uint32_t>*>(&value), &old, sizeof(old), INFINITE);
    std::atomic_thread_fence(std::memory_order_acquire);
}

void wakeOne(std::atomic<std::uint32_t>& value) { WakeByAddressSingle(&value); }

void wakeAll(std::atomic<std::uint32_t>& value) { WakeByAddressAll(&value); }

} // namespace lockstep::platform
