// Who takes part in a race.
#include <optional>

#include <fmt/format.h>

#include "demos/exhibits/race/race_setup.h"
#include "demos/kit/fields.h"
#include "demos/kit/ready.h"
#include "engine/gpu/device.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

/// Every lane that can run here: of further devices, the best rung each.
std::vector<std::string> laneNames() {
    std::vector<std::string> names;
    for (const std::string_view lane : knownLanes()) names.emplace_back(lane);
    try {
        const std::vector<gpu::DeviceReport> devices = gpu::listDevices();
        if (devices.size() > 1)
            for (const gpu::DeviceReport& device : devices)
                if (device.refused.empty()) names.push_back(fmt::format("gpu:best@{}", device.index));
    } catch (const gpu::GpuError&) {
        // Without a device there is nothing to list; starting such a lane says why.
    }
    return names;
}

} // namespace

void RaceSetup::drawLanes(Ui& ui, FieldFlow& flow, RunOptions& run) {
    std::vector<LaneSpec> lanes = plannedLanes({run, false});
    bool changed = false;
    std::optional<std::size_t> removed;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const std::string title = fmt::format("Lane {}", i + 1);
        flow.field(fmt::format("##race lane {}", i + 1).c_str(), title.c_str(), 156,
                   [&](const char* control) {
                       std::string lane = lanes[i].text();
                       ImGui::SetNextItemWidth(ui.px(lanes.size() > 1 ? 118 : 156));
                       if (chooseText(ui, control, lane, lanes_)) {
                           lanes[i] = laneSpecFromText(lane);
                           changed = true;
                       }
                       if (lanes.size() == 1) return;
                       ImGui::SameLine(0, ui.px(3));
                       if (ui.namedButton(fmt::format("×##remove lane {}", i + 1).c_str(),
                                          fmt::format("Remove lane {}", i + 1).c_str()))
                           removed = i;
                   });
    }
    if (lanes.size() < mostLanes)
        flow.field("Add lane", "", 100, [&](const char* control) {
            if (!ui.button(control)) return;
            lanes.push_back(laneSpecFromText("cpu:scalar"));
            changed = true;
        });
    if (removed) lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(*removed));
    if (changed || removed) run.lanes = lanes;
}

// Asking the drivers takes a while.
void RaceSetup::findDevices(bool wait) {
    if (lanes_.empty()) {
        for (const std::string_view lane : knownLanes()) lanes_.emplace_back(lane);
        devices_ = std::async(std::launch::async, laneNames);
    }
    if (devices_.valid() && (wait || ready(devices_))) lanes_ = devices_.get();
}

} // namespace lockstep::demos
