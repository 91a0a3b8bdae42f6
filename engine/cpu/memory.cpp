#include "engine/cpu/memory.h"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lockstep {

void preferHugePages([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    constexpr std::uintptr_t hugePage = std::uintptr_t{2} << 20;
    constexpr int collapseNow = 25; // MADV_COLLAPSE, Linux 6.1; the C library's headers may be older
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t first = (begin + hugePage - 1) / hugePage * hugePage;
    const std::uintptr_t last = (begin + bytes) / hugePage * hugePage;
    if (last <= first) return;
    auto* pages = reinterpret_cast<void*>(first);
    // If the system refuses, the pages stay small.
    static_cast<void>(madvise(pages, last - first, MADV_HUGEPAGE));
    static_cast<void>(madvise(pages, last - first, collapseNow));
#endif
}

} // namespace lockstep
