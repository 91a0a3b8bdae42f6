#include "demos/exhibits/race/race_setup.h"

#include <optional>

#include <fmt/format.h>

#include "demos/kit/ready.h"
#include "engine/gpu/device.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

bool generated(const std::string& data) {
    return data != "fashion-mnist" && data.find(':') == std::string::npos;
}

/// Every lane that can run here. Devices beyond the first get their best rung only.
std::vector<std::string> findLanes() {
    std::vector<std::string> names = rungNames();
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

void drawFinish(Ui& ui, RunForm& form, RaceSettings& settings) {
    FinishLine& line = settings.run.finish;
    const FinishKind before = finishKind(line);
    form.add("finish", "Finish line", 130, [&](const char* control) {
        auto kind = static_cast<std::size_t>(before);
        if (!ui.combo(control, kind, finishKindNames())) return false;
        line = usualFinish(static_cast<FinishKind>(kind));
        return true;
    });
    if (before != FinishKind::usual)
        form.text("finish at", finishUnit(before), 80, finishValueText(line),
                  [&](const std::string& typed) { line = finishFromText(before, typed); });
    form.add("mode", "Lanes run", 210, [&](const char* control) {
        static const std::vector<std::string> modes = {"time trial", "head to head"};
        std::size_t mode = settings.together ? 1 : 0;
        if (!ui.segments(control, mode, modes)) return false;
        settings.together = mode == 1;
        return true;
    });
}

void drawLanes(Ui& ui, RunForm& form, RaceSettings& settings, const std::vector<std::string>& names) {
    std::vector<LaneSpec> lanes = plannedLanes(settings);
    bool changed = false;
    std::optional<std::size_t> removed;
    for (std::size_t i = 0; i < lanes.size(); ++i)
        form.add(fmt::format("lane {}", i + 1), fmt::format("Lane {}", i + 1).c_str(), 156,
                 [&](const char* control) {
                     std::string lane = lanes[i].text();
                     ImGui::SetNextItemWidth(ui.px(lanes.size() > 1 ? 118 : 156));
                     if (chooseText(ui, control, lane, names)) {
                         lanes[i] = laneSpecFromText(lane);
                         changed = true;
                     }
                     if (lanes.size() == 1) return false;
                     ImGui::SameLine(0, ui.px(3));
                     if (ui.namedButton(fmt::format("×##remove lane {}", i + 1).c_str(),
                                        fmt::format("Remove lane {}", i + 1).c_str()))
                         removed = i;
                     return false;
                 });
    if (lanes.size() < mostLanes)
        form.field("Add lane", "", 100, [&](const char* control) {
            if (!ui.button(control)) return;
            lanes.push_back(laneSpecFromText("cpu:scalar"));
            changed = true;
        });
    if (removed) lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(*removed));
    if (changed || removed) settings.run.lanes = lanes;
}

} // namespace

void RaceSetup::draw(Ui& ui, RaceSettings& settings) {
    findDevices(ui.scripted);
    RunOptions& run = settings.run;
    RunForm form(ui, "race ", ImGui::GetStyle().WindowPadding.x);
    form.data(run.data);
    if (generated(run.data)) {
        form.samples(run.dataOptions.samples);
        form.noise(run.dataOptions.noise);
    }
    form.hidden(run.hiddenWidths, run.data);
    form.activation(run.activation);
    form.optimizer(run.settings.optimizer);
    form.rate(run.settings.optimizer);
    form.batch(run.settings.batch);
    form.seed(run.settings.seed);
    drawFinish(ui, form, settings);
    form.newRow();
    drawLanes(ui, form, settings, lanes_);
    form.end();
}

// Asking the drivers takes a while.
void RaceSetup::findDevices(bool wait) {
    if (lanes_.empty()) {
        lanes_ = rungNames();
        devices_ = std::async(std::launch::async, findLanes);
    }
    if (devices_.valid() && (wait || ready(devices_))) lanes_ = devices_.get();
}

} // namespace lockstep::demos
