#include "demos/shell/device_picker.h"

#include <algorithm>
#include <chrono>

#include "demos/draw/icons.h"
#include "demos/shell/guarded.h"
#include "demos/words/device_words.h"
#include "demos/words/text.h"
#include "engine/cpu/cpu_info.h"

namespace lockstep::demos {

namespace {

constexpr const char* deviceControl = "device";
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

/// Memory, the bus, and the largest workgroup: its shared memory above its subgroups, a square each.
void drawDeviceSketch(const Ui& ui, const gpu::DeviceReport& device) {
    const gpu::Limits& limits = device.limits;
    const float line = ImGui::GetTextLineHeight();
    const float gap = ui.px(8);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = 4 * line + 5 * gap;
    ImGui::Dummy({width, height});
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto write = [&](ImVec2 at, float room, const std::string& text, ImU32 colour) {
        draw.AddText(at, colour, fittedText(text, room).c_str());
    };
    const auto box = [&](ImVec2 from, ImVec2 to, ImU32 fill) {
        draw.AddRectFilled(from, to, fill, ui.px(6));
        draw.AddRect(from, to, ui.theme.border, ui.px(6), 0, ui.line());
    };
    const float memoryRight = low.x + 0.3f * width;
    const float groupLeft = low.x + 0.42f * width;
    const float right = low.x + width;
    const float middle = low.y + height / 2;
    box(low, {memoryRight, low.y + height}, ui.theme.raised);
    const float memoryRoom = memoryRight - low.x - 2 * gap;
    const bool ownMemory = device.type == gpu::DeviceType::discrete;
    write({low.x + gap, middle - line}, memoryRoom, deviceFacts(device).front().second, ui.theme.text);
    write({low.x + gap, middle}, memoryRoom, ownMemory ? "device memory" : "system memory", ui.theme.muted);
    draw.AddLine({memoryRight, middle}, {groupLeft, middle}, ui.theme.muted, ui.line(4));
    write({(memoryRight + groupLeft - textWidth("bus")) / 2, middle + ui.px(4)}, groupLeft - memoryRight,
          "bus", ui.theme.muted);

    box({groupLeft, low.y}, {right, low.y + height}, ui.theme.panel);
    const float room = right - groupLeft - 2 * gap;
    float y = low.y + gap;
    write({groupLeft + gap, y}, room,
          translatedFormat("workgroup: {}", counted(limits.groupInvocations, "invocation")), ui.theme.text);
    y += line + gap;
    box({groupLeft + gap, y}, {right - gap, y + line + gap}, ui.theme.raised);
    write({groupLeft + 2 * gap, y + gap / 2}, room - 2 * gap,
          translatedFormat("{} KiB shared memory", limits.sharedMemory / 1024), ui.theme.text);
    y += line + 2 * gap;
    const std::uint32_t subgroups = limits.groupInvocations / std::max(limits.subgroupSize, 1u);
    constexpr std::uint32_t perRow = 32;
    const auto rows = static_cast<float>(subgroups / perRow + (subgroups % perRow != 0 ? 1 : 0));
    const ImVec2 pitch{std::min(room / static_cast<float>(std::clamp(subgroups, 1u, perRow)), line),
                       0.8f * line / std::max(rows, 1.0f)};
    for (std::uint32_t i = 0; i < subgroups && pitch.y > ui.px(2); ++i) { // thinner is not to be seen
        const ImVec2 at{groupLeft + gap + pitch.x * static_cast<float>(i % perRow),
                        y + pitch.y * static_cast<float>(i / perRow)};
        draw.AddRectFilled(at, {at.x + pitch.x - ui.px(1), at.y + pitch.y - ui.px(1)}, ui.theme.gpu);
    }
    write({groupLeft + gap, y + line - ui.px(2)}, room,
          translatedFormat("{} of {}", counted(subgroups, "subgroup"), limits.subgroupSize), ui.theme.muted);
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
        if (!line.usable)
            line.remark = translatedFormat("{}; cannot be used: {}", translated(line.remark),
                                           translatedParts(device.refused));
        else if (!device.reason.empty())
            line.reason = translatedParts(device.reason);
        line.report = device;
        // Numbers change when a device comes or goes.
        line.current = device.uuid == current.uuid &&
                       (device.index == current.index || identifies(device.uuid, devices));
    }
    return lines;
}

// Drivers take their time to answer; the window does not wait for them.
void DevicePicker::list(Ui& ui) {
    using namespace std::chrono_literals;
    if (!lines_.empty() && !listing_.valid()) return;
    if (!listing_.valid()) {
        gpu::DeviceOptions options = ui.graphics.device().options();
        options.select.clear();
        options.validation = options.gpuAssisted = false;
        listing_ = std::async(std::launch::async, [options] { return gpu::listDevices(options); });
    }
    if (!ui.scripted && listing_.wait_for(0s) != std::future_status::ready) return;
    lines_ = deviceLines(listing_.get(), ui.graphics.device().report());
}

void DevicePicker::update(Ui& ui) {
    if (listing_.valid()) guarded(ui, [&] { list(ui); });
}

std::optional<DeviceWish> DevicePicker::drawList(Ui& ui, const char* prefix) {
    guarded(ui, [&] { list(ui); });
    std::optional<DeviceWish> wish;
    ImGui::Dummy({std::min(ui.px(430), ImGui::GetIO().DisplaySize.x - ui.px(60)), 0});
    if (lines_.empty()) ui.muted("looking for devices ...");
    const DeviceLine* shown = nullptr; // pointed at, else the one in use
    for (const DeviceLine& line : lines_) {
        const bool chosen = ImGui::MenuItem(line.label.c_str(), nullptr, line.current, line.usable);
        ui.noteControl((prefix + line.label.substr(0, line.label.find(' '))).c_str(),
                       "Moves the window, and GPU lanes that name no device, to this Vulkan device.");
        const bool pointed = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled);
        if (pointed || (line.current && shown == nullptr)) shown = &line;
        ImGui::Indent(ui.px(14));
        ui.paragraph(line.remark + (line.reason.empty() ? "" : "; " + line.reason), ui.theme.muted);
        ImGui::Unindent(ui.px(14));
        if (chosen && !line.current) wish = DeviceWish{line.select, line.name};
    }
    ImGui::Separator();
    ui.row("processor", cpuName());
    ui.row("usable cores", std::to_string(usableCores()));
    if (shown == nullptr) return wish;
    ImGui::Separator();
    ui.heading(shown->label);
    drawDeviceSketch(ui, shown->report);
    for (const auto& [name, value] : deviceFacts(shown->report)) ui.row(name, value);
    return wish;
}

// "software" is shown even where the device's name does not fit.
std::optional<DeviceWish> DevicePicker::drawButton(Ui& ui, float left, float right) {
    gpu::Device& device = ui.graphics.device();
    const std::string name = device.report().name;
    const std::string honest = device.software() ? std::string(describe(device.report().type)) : "";
    const float chevron = ui.px(chevronUnits);
    const float gap = honest.empty() ? 0 : ui.px(10);
    const float honestWidth = textWidth(honest);
    // Without the details in brackets, if need be; without the name, if that is still too long.
    const float space = right - left - honestWidth - gap - chevron;
    std::string shown = name;
    if (textWidth(shown) > space) shown = shown.substr(0, shown.find(" ("));
    const float nameWidth = textWidth(shown);
    const bool nameFits = nameWidth <= space;
    const float width = (nameFits ? nameWidth + gap : 0) + honestWidth + chevron;
    if (width > right - left) return {};
    ImGui::SetCursorPosX(right - width);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetFrameHeight();
    const bool pressed = ui.tile(deviceControl,
                                 "The Vulkan device that draws the window and runs GPU lanes that name no "
                                 "device. Click for its limits and to choose another.",
                                 {width, height});
    if (ui.hidden(deviceControl)) return {};
    ui.explainItem({"Draws the window; runs GPU lanes that name no device",
                    {},
                    {},
                    name + (honest.empty() ? "" : ": " + honest) + ". Click to choose another."});
    if (pressed) ImGui::OpenPopup(listName);
    const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float top = at.y + (height - ImGui::GetTextLineHeight()) / 2;
    if (nameFits) draw.AddText({at.x, top}, lit ? ui.theme.text : ui.theme.muted, shown.c_str());
    drawText(draw, {at.x + (nameFits ? nameWidth + gap : 0), top}, ui.deviceColour(true), honest);
    drawChevron(ui, draw, {at.x + width - ui.px(5), at.y + height / 2}, lit ? ui.theme.text : ui.theme.muted);
    ImGui::SetNextWindowPos({at.x + width, at.y + height + ui.px(4)}, ImGuiCond_Always, {1, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(14), ui.px(12)});
    std::optional<DeviceWish> wish;
    if (ImGui::BeginPopup(listName)) {
        wish = drawList(ui, "device/");
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar();
    return wish;
}

} // namespace lockstep::demos
