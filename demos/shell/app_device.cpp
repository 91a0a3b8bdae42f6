// The device in the bar above: which one it is, and the list to choose another from.
#include <algorithm>
#include <chrono>

#include "demos/draw/icons.h"
#include "demos/shell/app.h"

namespace lockstep::demos {

namespace {

constexpr const char* control = "device";
constexpr const char* listName = "all devices";
constexpr float chevronUnits = 18;

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

// Drivers take their time to answer; the window does not wait for them.
void App::listDevices() {
    using namespace std::chrono_literals;
    if (!devices_.empty() && !listing_.valid()) return;
    if (!listing_.valid()) {
        gpu::DeviceOptions options = ui_->graphics.device().options();
        options.select.clear();
        options.pipelineCache.clear();
        options.validation = options.gpuAssisted = false;
        listing_ = std::async(std::launch::async, [options] { return gpu::listDevices(options); });
    }
    if (!ui_->scripted && listing_.wait_for(0s) != std::future_status::ready) return;
    devices_ = deviceLines(listing_.get(), ui_->graphics.device().report());
}

void App::drawDeviceList(const char* prefix) {
    guarded([this] { listDevices(); });
    if (devices_.empty()) ui_->muted("looking for devices ...");
    for (const DeviceLine& line : devices_) {
        const bool chosen = ImGui::MenuItem(line.label.c_str(), nullptr, line.current, line.usable);
        ui_->noteControl((prefix + line.label.substr(0, line.label.find(' '))).c_str());
        ImGui::Indent(ui_->px(14));
        ui_->muted(line.remark);
        ImGui::Unindent(ui_->px(14));
        if (chosen && !line.current) wishes_.device = DeviceWish{line.select, line.name};
    }
}

// Flush right, if there is room; "software" is shown even where the device's name does not fit.
void App::drawDevice(float left, float right) {
    if (ui_->hidden(control)) return;
    gpu::Device& device = ui_->graphics.device();
    const std::string name = device.report().name;
    const std::string honest = device.software() ? std::string(describe(device.report().type)) : "";
    const float chevron = ui_->px(chevronUnits);
    const float gap = honest.empty() ? 0 : ui_->px(10);
    const float honestWidth = textWidth(honest);
    // Without the details in brackets, if need be; without the name, if that is still too long.
    const float space = right - left - honestWidth - gap - chevron;
    std::string shown = name;
    if (textWidth(shown) > space) shown = shown.substr(0, shown.find(" ("));
    const float nameWidth = textWidth(shown);
    const bool nameFits = nameWidth <= space;
    const float width = (nameFits ? nameWidth + gap : 0) + honestWidth + chevron;
    if (width > right - left) return;
    ImGui::SetCursorPosX(right - width);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetFrameHeight();
    const bool pressed = ui_->tile(control, {width, height});
    ui_->explainItem({"Draws the window; runs GPU lanes that name no device",
                      {},
                      {},
                      name + (honest.empty() ? "" : ": " + honest) + ". Click to choose another."});
    if (pressed) ImGui::OpenPopup(listName);
    const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float top = at.y + (height - ImGui::GetTextLineHeight()) / 2;
    if (nameFits) draw.AddText({at.x, top}, lit ? ui_->theme.text : ui_->theme.muted, shown.c_str());
    draw.AddText({at.x + (nameFits ? nameWidth + gap : 0), top}, ui_->theme.gpu, honest.c_str());
    drawChevron(*ui_, draw, {at.x + width - ui_->px(5), at.y + height / 2},
                lit ? ui_->theme.text : ui_->theme.muted);
    ImGui::SetNextWindowPos({at.x + width, at.y + height + ui_->px(4)}, ImGuiCond_Always, {1, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(14), ui_->px(12)});
    if (ImGui::BeginPopup(listName)) {
        drawDeviceList("device/");
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar();
}

} // namespace lockstep::demos
