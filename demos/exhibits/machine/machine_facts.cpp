#include "demos/exhibits/machine/machine_facts.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "demos/words/device_words.h"
#include "demos/words/language.h"
#include "engine/cpu/cpu_info.h"

namespace lockstep::demos {

namespace {

std::string firstWord(const std::string& file) {
    std::ifstream in(file);
    std::string word;
    in >> word;
    return word;
}

/// "L1 32 KiB, L2 512 KiB, L3 32 MiB"; empty where the system does not tell.
std::string cachesText() {
    std::string text;
    for (int index = 0; index < 8; ++index) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
        const std::string level = firstWord(folder + "level");
        std::string size = firstWord(folder + "size"); // "32K"
        if (level.empty() || size.empty() || firstWord(folder + "type") == "Instruction") continue;
        std::size_t number = 0;
        for (const char digit : size)
            if (digit >= '0' && digit <= '9') number = 10 * number + static_cast<std::size_t>(digit - '0');
        const bool large = size.back() == 'K' && number >= 1024 && number % 1024 == 0;
        text += fmt::format("{}L{} {} {}", text.empty() ? "" : ", ", level, large ? number / 1024 : number,
                            large || size.back() == 'M' ? "MiB" : "KiB");
    }
    return text;
}

/// Of the whole machine, in GiB; 0 where the system does not tell.
double memoryGiB() {
    std::ifstream in("/proc/meminfo");
    std::string name;
    double kibibytes = 0;
    in >> name >> kibibytes;
    return in && name == "MemTotal:" ? kibibytes / (1 << 20) : 0;
}

} // namespace

MachineFacts processorFacts() {
    const std::array<std::size_t, 3> elements{4, 8, mostElements}; // by VectorLevel
    const VectorLevel level = vectorLevel();
    MachineFacts facts{{"cores", fmt::format("{}", usablePhysicalCores().physical)},
                       {"threads", fmt::format("{}", usableCores())},
                       {"vectors", translatedFormat("{}, {} numbers at a time", name(level),
                                                    elements[static_cast<std::size_t>(level)])}};
    if (std::string caches = cachesText(); !caches.empty()) facts.emplace_back("caches", std::move(caches));
    if (const double memory = memoryGiB(); memory > 0)
        facts.emplace_back("memory", translatedFormat("{:.1f} GiB", memory));
    return facts;
}

MachineFacts graphicsFacts(const gpu::DeviceReport& report) {
    constexpr std::array<std::string_view, 5> shown{"memory", "subgroup", "shared memory per workgroup",
                                                    "driver", "Vulkan"};
    MachineFacts facts;
    for (auto& fact : deviceFacts(report))
        if (std::ranges::find(shown, fact.first) != shown.end()) facts.push_back(std::move(fact));
    return facts;
}

std::string factsText(const MachineFacts& facts) {
    std::string text;
    for (const auto& [name, value] : facts)
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", translated(name), value);
    return text;
}

} // namespace lockstep::demos
