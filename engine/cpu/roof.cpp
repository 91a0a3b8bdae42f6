// What no kernel can pass (kernels.h).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "engine/cpu/memory.h"
#include "engine/cpu/simd_kernels.h"
#include "engine/cpu/thread_team.h"

namespace lockstep {

namespace {

// What other programs take makes a round slower, never faster: the best one counts. A processor that idled
// takes up to half a second of work to reach its speed.
template <class Work> double leastSeconds(Work work) {
    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;
    constexpr int rounds = 3;
    constexpr double longEnough = 0.5;
    double least = 1e30;
    const Clock::time_point start = Clock::now();
    for (int round = 0; round < rounds || Seconds(Clock::now() - start).count() < longEnough; ++round) {
        const Clock::time_point begin = Clock::now();
        work();
        least = std::min(least, Seconds(Clock::now() - begin).count());
    }
    return least;
}

} // namespace

double roofGflops(ThreadTeam& team) {
    const VectorTables& kernels = widestTables();
    constexpr std::size_t rounds = 1 << 20; // some 6 ms
    std::atomic<float> kept{0};
    const double seconds =
        leastSeconds([&] { team.run([&](std::size_t) { kept.store(kernels.multiplyAdds(rounds)); }); });
    return 1e-9 * static_cast<double>(rounds * kernels.roundFlops * team.size()) / seconds;
}

double roofGigabytesPerSecond(ThreadTeam& team) {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    AlignedArray<char> from(bytes);
    AlignedArray<char> to(bytes);
    const double seconds = leastSeconds([&] {
        team.run([&](std::size_t thread) {
            const Share part = shareOf(bytes, thread, team.size(), 4096);
            std::memcpy(to.data() + part.begin, from.data() + part.begin, part.end - part.begin);
        });
    });
    return 2e-9 * static_cast<double>(bytes) / seconds;
}

} // namespace lockstep
