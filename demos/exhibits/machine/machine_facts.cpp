#include "demos/exhibits/machine/machine_facts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "demos/words/device_words.h"
#include "demos/words/language.h"
#include "engine/cpu/cpu_info.h"
#include "engine/platform/processors.h"

namespace lockstep::demos {

namespace {

/// "L1 32 KiB, L2 512 KiB, L3 32 MiB"; empty where the system does not tell.
std::string cachesText() {
    std::string text;
    for (const platform::DataCache& cache : platform::dataCaches()) {
        const std::uint64_t kibibytes = cache.bytes >> 10;
        const bool large = kibibytes >= 1024 && kibibytes % 1024 == 0;
        text += fmt::format("{}L{} {} {}", text.empty() ? "" : ", ", cache.level,
                            large ? kibibytes >> 10 : kibibytes, large ? "MiB" : "KiB");
    }
    return text;
}

} // namespace

MachineFacts processorFacts() {
    const std::array<std::size_t, 3> elements{4, 8, mostElements}; // by VectorLevel
    const VectorLevel level = vectorLevel();
    MachineFacts facts{{"cores", fmt::format("{}", usablePhysicalCores().physical)},
                       {"threads", fmt::format("{}", usableCores())},
                       {"vectors", translatedFormat("{}, {} numbers at a time", name(level),
                                                    elements[static_cast<std::size_t>(level)])}};
    static const std::string caches = cachesText(); // they stay, and frames ask for them
    static const std::uint64_t memory = platform::machineMemory();
    if (!caches.empty()) facts.emplace_back("caches", caches);
    if (memory > 0)
        facts.emplace_back("memory", translatedFormat("{:.1f} GiB", static_cast<double>(memory) / (1 << 30)));
    return facts;
}

MachineFacts shownFacts(const MachineFacts& facts) {
    constexpr std::array<std::string_view, 5> shown{"memory", "subgroup", "shared memory per workgroup",
                                                    "driver", "Vulkan"};
    MachineFacts few;
    for (const auto& fact : facts)
        if (std::ranges::find(shown, fact.first) != shown.end()) few.push_back(fact);
    return few;
}

MachineFacts graphicsFacts(const gpu::DeviceReport& report) { return shownFacts(deviceFacts(report)); }

} // namespace lockstep::demos
