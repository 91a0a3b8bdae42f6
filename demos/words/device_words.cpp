#include "demos/words/device_words.h"

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

std::string deviceVerdict(const gpu::DeviceReport& report) {
    if (report.chosen) return "used: " + report.reason;
    return report.refused.empty() ? "not used: " + report.reason : "cannot be used: " + report.refused;
}

std::vector<std::pair<std::string, std::string>> deviceFacts(const gpu::DeviceReport& report) {
    const gpu::Limits& limits = report.limits;
    return {{"memory", translatedFormat("{:.1f} GiB", static_cast<double>(report.memory) / (1 << 30))},
            {"largest buffer", fmt::format("{} MiB", grouped(limits.storageRange >> 20))},
            {"shared memory per workgroup", fmt::format("{} KiB", limits.sharedMemory / 1024)},
            {"largest workgroup", translatedFormat("{} invocations", grouped(limits.groupInvocations))},
            {"subgroup", translatedFormat("{} invocations", limits.subgroupSize)},
            {"timestamps", limits.timestampNanoseconds > 0
                               ? translatedFormat("every {:g} ns", limits.timestampNanoseconds)
                               : "none"},
            {"driver", report.driver},
            {"Vulkan", report.apiVersion},
            {"UUID", report.uuid}};
}

} // namespace lockstep::demos
