// `lockstep devices`: the Vulkan devices of this system.
#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/options/parse.h"
#include "demos/report/race_report.h"
#include "demos/words/device_words.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/cpu/cpu_info.h"
#include "engine/gpu/device.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

constexpr const char* devicesAbout =
    "Lists every Vulkan device with its limits, and which one Lockstep uses and why.";
constexpr const char* devicesExamples = R"(examples:
  lockstep devices
  lockstep devices --json devices.json
  lockstep devices --json              as JSON on standard output
  lockstep devices --device 1          whether device 1 can be used
)";

struct DevicesOptions {
    std::string device;
    std::string jsonFile; ///< "-": standard output
};

using Json = nlohmann::ordered_json; // keeps keys in the order written here

Json toJson(const gpu::DeviceReport& report) {
    const gpu::Limits& limits = report.limits;
    const auto textOrNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    return {{"index", report.index},
            {"name", report.name},
            {"type", gpu::describe(report.type)},
            {"software", report.type == gpu::DeviceType::software},
            {"driver", report.driver},
            {"uuid", report.uuid},
            {"api_version", report.apiVersion},
            {"memory_bytes", report.memory},
            {"chosen", report.chosen},
            {"reason", textOrNull(report.reason)},
            {"refused", textOrNull(report.refused)},
            {"limits",
             {{"group_invocations", limits.groupInvocations},
              {"group_size", limits.groupSize},
              {"group_count", limits.groupCount},
              {"shared_memory_bytes", limits.sharedMemory},
              {"push_constants_bytes", limits.pushConstants},
              {"push_descriptors", limits.pushDescriptors},
              {"storage_range_bytes", limits.storageRange},
              {"storage_alignment_bytes", limits.storageAlignment},
              {"texel_range_bytes", limits.texelRange},
              {"subgroup_size", limits.subgroupSize},
              {"timestamp_nanoseconds", limits.timestampNanoseconds}}}};
}

void printDevice(const gpu::DeviceReport& report) {
    printOut("{}  {} ({})\n   {}\n", report.index, report.name, gpu::describe(report.type),
             deviceVerdict(report));
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, value] : deviceFacts(report)) rows.push_back({"  " + name, value});
    printOut("{}", table(rows, 2));
}

int devices(const DevicesOptions& options) {
    gpu::DeviceOptions deviceOptions;
    deviceOptions.select = options.device;
    std::vector<gpu::DeviceReport> reports;
    std::string problem;
    try {
        reports = gpu::listDevices(deviceOptions);
        if (reports.empty())
            problem = "no Vulkan driver was found. " + gpu::installHint();
        else if (!options.device.empty() && std::ranges::none_of(reports, &gpu::DeviceReport::chosen))
            problem = fmt::format("no usable device matches '{}'.", options.device);
    } catch (const gpu::NoDeviceError& error) {
        problem = error.what();
    }
    const int exitCode = !problem.empty() && !options.device.empty() ? 1 : 0;
    if (!options.jsonFile.empty()) {
        Json json = {{"cpu", {{"name", cpuName()}, {"cores", usableCores()}}},
                     {"devices", Json::array()},
                     {"problem", nullptr}};
        for (const gpu::DeviceReport& report : reports) json["devices"].push_back(toJson(report));
        if (!problem.empty()) json["problem"] = problem;
        writeResult(options.jsonFile, json.dump(1) + "\n");
    }
    if (options.jsonFile == "-") return exitCode; // the JSON says all that the lines below say
    printOut("processor  {}, {} usable cores\n", cpuName(), usableCores());
    for (const gpu::DeviceReport& report : reports) printDevice(report);
    if (!problem.empty()) printOut("{}\nCPU lanes work without one.\n", problem);
    return exitCode;
}

} // namespace

Action addDevices(CLI::App& command) {
    const auto options = std::make_shared<DevicesOptions>(); // as long as the command may be run
    addManual(command, devicesAbout, devicesExamples);
    addValue(command, "--device", "DEVICE", options->device, "number, part of its name, or UUID");
    addValue(command, "--json", "[FILE]", options->jsonFile,
             "write the list as JSON; - or no FILE for standard output")
        ->expected(0, 1)
        ->default_str("-");
    return [options] { return devices(*options); };
}

} // namespace lockstep::demos
