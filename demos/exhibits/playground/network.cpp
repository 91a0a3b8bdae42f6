// The network's panel: the graph, and above it the numbers of layers and neurons.
#include <algorithm>

#include <fmt/format.h>

#include "demos/exhibits/playground/playground_view.h"

namespace lockstep::demos {

namespace {

// The number of neurons below its buttons, if there is room for them; the number itself opens a slider.
void drawWidthButtons(const PlaygroundParts& parts, std::size_t layer, float x, float y, float room) {
    Ui& ui = parts.ui;
    PlaygroundSettings settings = parts.model.settings();
    std::size_t& count = settings.hidden[layer - 1];
    bool changed = false;
    const float pad = ui.px(3);
    const float line = ImGui::GetTextLineHeight();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {pad, ui.px(1)});
    const auto put = [&](const std::string& shown, std::string_view words, float left, float top) {
        ImGui::SetCursorScreenPos({left, top});
        return ui.button(shown.c_str(), words);
    };
    const float button = textWidth("+") + 2 * pad;
    const std::string number = fmt::format("{}", count);
    const float text = textWidth(number) + 2 * pad;
    const bool buttons = 2 * button + ui.px(6) <= room;
    // One less or more; in steps of a quarter where there are many.
    if (buttons &&
        put(fmt::format("-##neurons {}", layer),
            "Removes neurons from this layer. The weights are drawn anew.", x - button - ui.px(1), y))
        changed = true, count -= count > 1 ? std::max<std::size_t>(1, count / 5) : 0;
    if (buttons && put(fmt::format("+##neurons {}", layer),
                       "Adds neurons to this layer. The weights are drawn anew.", x + ui.px(1), y))
        changed = true, count = std::min(playgroundLimits.width, count + std::max<std::size_t>(1, count / 4));
    const std::string popup = fmt::format("width {}", layer);
    if (put(fmt::format("{}##width {}", number, layer),
            "The layer's number of neurons. Click to set it with a slider.", x - text / 2,
            y + line + ui.px(5)))
        ImGui::OpenPopup(popup.c_str());
    ImGui::PopStyleVar();
    if (ImGui::BeginPopup(popup.c_str())) {
        ui.muted(translatedFormat("Neurons of layer {}", layer));
        ImGui::SetNextItemWidth(ui.px(240));
        changed |= countSlider(ui, fmt::format("##neurons {}", layer).c_str(),
                               "The layer's number of neurons.", count, 1, playgroundLimits.width);
        ImGui::EndPopup();
    }
    if (changed) parts.model.change(settings);
}

void drawLayerButtons(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    PlaygroundSettings settings = parts.model.settings();
    const std::size_t count = settings.hidden.size();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(8), ui.px(2)});
    const bool fewer = ui.button("-##layers", "Removes the last hidden layer.", count > 0);
    ImGui::SameLine(0, ui.px(4));
    const bool more = ui.button("+##layers", "Adds a hidden layer.", count < playgroundLimits.layers);
    ImGui::PopStyleVar();
    ImGui::SameLine();
    std::string title = count == 1 ? "1 hidden layer" : translatedFormat("{} hidden layers", count);
    if (textWidth(title) * 1.1f > ImGui::GetContentRegionAvail().x) title = fmt::format("{}", count);
    ui.heading(title);
    if (fewer) settings.hidden.pop_back();
    if (more) settings.hidden.push_back(count == 0 ? 4 : std::min<std::size_t>(settings.hidden.back(), 8));
    if (fewer || more) parts.model.change(settings);
}

/// What lines and squares mean, in one line from `at`; returns its height, 0 where it has no room.
float drawLegend(const Ui& ui, ImVec2 at, ImVec2 room) {
    if (room.y < ui.px(300)) return 0;
    const SmallLetters small(ui);
    const float line = ImGui::GetTextLineHeight();
    const float sign = ui.px(26);
    const float gap = ui.px(14);
    const std::string_view names[] = {"positive weight", "negative weight", "bias"};
    float width = -gap;
    for (const std::string_view name : names) width += sign + ui.px(5) + textWidth(name) + gap;
    if (width > room.x) return 0;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    ImVec2 pen{at.x, at.y + room.y - line};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        const float middle = std::floor(pen.y + line / 2);
        const ImU32 colour = signedColour(ui.theme, i == 1 ? -1.0f : 1.0f);
        const float half = ui.px(4);
        if (i == 0) draw.AddLine({pen.x, middle}, {pen.x + sign, middle}, colour, ui.line(2));
        if (i == 1)
            for (float x = 0; x < sign; x += 2 * half)
                draw.AddLine({pen.x + x, middle}, {pen.x + std::min(x + half, sign), middle}, colour,
                             ui.line(2));
        if (i == 2)
            draw.AddRectFilled({pen.x + sign - 2 * half, middle - half}, {pen.x + sign, middle + half},
                               colour);
        pen.x += sign + ui.px(5);
        drawText(draw, pen, ui.theme.muted, names[i]);
        pen.x += textWidth(names[i]) + gap;
    }
    return line + ui.px(4);
}

/// The graph, the buttons above its layers, and the legend below.
void drawLayers(const PlaygroundParts& parts) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImVec2 room = ImGui::GetContentRegionAvail();
    room.y -= drawLegend(parts.ui, start, room);
    const float header = 2 * ImGui::GetTextLineHeight() + parts.ui.px(16);
    const std::vector<float> x =
        drawGraph(parts, {start.x, start.y + header},
                  {start.x + room.x, start.y + std::max(room.y, header + parts.ui.px(60))});
    const std::size_t layers = parts.model.settings().hidden.size();
    const float distance = layers > 1 ? x[2] - x[1] : room.x;
    for (std::size_t layer = 1; layer <= layers; ++layer)
        drawWidthButtons(parts, layer, x[layer], start.y, distance);
}

} // namespace

void drawNetwork(const PlaygroundParts& parts, ImVec2 size) {
    ImGui::BeginChild("network", size, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    const ImVec2 top = ImGui::GetCursorScreenPos();
    ImGui::Dummy({1, ImGui::GetTextLineHeight() + parts.ui.px(4)});
    if (parts.pictures.fit(parts.model))
        drawLayers(parts);
    else
        parts.ui.paragraph("Not enough memory for pictures of this network. Try a smaller one.",
                           parts.ui.theme.warning);
    ImGui::SetCursorScreenPos(top);
    drawLayerButtons(parts);
    ImGui::EndChild();
}

} // namespace lockstep::demos
