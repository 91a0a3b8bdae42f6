// Who takes part in a race.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "demos/exhibits/race/race_flow.h"
#include "demos/exhibits/race/race_setup.h"
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

void RaceSetup::drawLanes(Ui& ui, SetupFlow& flow, RunOptions& run) {
    std::vector<LaneSpec> lanes = run.lanes.empty() ? plannedLanes({run, false}) : run.lanes;
    bool changed = false;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const std::string label = fmt::format("##race lane {}", i + 1);
        if (!flow.begin(label.c_str(), fmt::format("Lane {}", i + 1).c_str(), 156)) continue;
        std::vector<std::string> names = lanes_;
        const std::string now = lanes[i].text();
        if (std::ranges::find(names, now) == names.end()) names.push_back(now);
        auto chosen = static_cast<std::size_t>(std::ranges::find(names, now) - names.begin());
        ImGui::SetNextItemWidth(ui.px(lanes.size() > 1 ? 118 : 156));
        if (ui.combo(label.c_str(), chosen, names)) {
            lanes[i] = laneSpecFromText(names[chosen]);
            changed = true;
        }
        bool removed = false;
        if (lanes.size() > 1) {
            ImGui::SameLine(0, ui.px(3));
            removed = ui.namedButton(fmt::format("×##remove lane {}", i + 1).c_str(),
                                     fmt::format("Remove lane {}", i + 1).c_str());
        }
        flow.end();
        if (removed) {
            lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(i));
            changed = true;
            break;
        }
    }
    if (lanes.size() < mostLanes && flow.begin("Add lane", "", 100)) {
        if (ui.button("Add lane")) {
            lanes.push_back(laneSpecFromText("cpu:scalar"));
            changed = true;
        }
        flow.end();
    }
    if (changed) run.lanes = lanes;
}

// Asking the drivers takes a while.
void RaceSetup::findDevices(bool wait) {
    using namespace std::chrono_literals;
    if (lanes_.empty()) {
        for (const std::string_view lane : knownLanes()) lanes_.emplace_back(lane);
        devices_ = std::async(std::launch::async, laneNames);
    }
    if (devices_.valid() && (wait || devices_.wait_for(0s) == std::future_status::ready))
        lanes_ = devices_.get();
}

} // namespace lockstep::demos
