#include "engine/platform/sleep.h"

namespace lockstep::platform {

void sleepWhile(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    value.wait(old, std::memory_order_acquire);
}

void wakeOne(std::atomic<std::uint32_t>& value) { value.notify_one(); }

void wakeAll(std::atomic<std::uint32_t>& value) { value.notify_all(); }

} // namespace lockstep::platform
