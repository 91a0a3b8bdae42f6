#include "demos/shell/device_list.h"

#include <algorithm>

namespace lockstep::demos {

namespace {

bool identifies(const std::string& uuid, const std::vector<gpu::DeviceReport>& devices) {
    return uuid.find_first_not_of('0') != std::string::npos &&
           std::ranges::count(devices, uuid, &gpu::DeviceReport::uuid) == 1;
}

std::string selectOf(const gpu::DeviceReport& device, const std::vector<gpu::DeviceReport>& devices) {
    if (device.chosen) return {};
    return identifies(device.uuid, devices) ? device.uuid : std::to_string(device.index);
}

} // namespace

std::vector<DeviceLine> deviceLines(const std::vector<gpu::DeviceReport>& devices,
                                    const gpu::DeviceReport& current) {
    std::vector<DeviceLine> lines;
    for (const gpu::DeviceReport& device : devices) {
        DeviceLine& line = lines.emplace_back();
        line.name = device.name;
        line.label = std::to_string(device.index) + "  " + device.name;
        line.select = selectOf(device, devices);
        line.usable = device.refused.empty();
        line.remark = describe(device.type);
        if (!line.usable) line.remark += "; cannot be used: " + device.refused;
        // Numbers change when a device comes or goes.
        line.current = device.uuid == current.uuid &&
                       (device.index == current.index || identifies(device.uuid, devices));
    }
    return lines;
}

} // namespace lockstep::demos
