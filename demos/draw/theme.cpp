#include "demos/draw/theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace lockstep::demos {

namespace {

constexpr ImU32 rgb(std::uint32_t hex) {
    return IM_COL32((hex >> 16) & 255, (hex >> 8) & 255, hex & 255, 255);
}

ImVec4 vec(ImU32 colour) { return ImGui::ColorConvertU32ToFloat4(colour); }

} // namespace

Theme makeTheme(bool dark) {
    Theme theme;
    theme.dark = dark;
    if (dark) {
        theme.background = rgb(0x14171B);
        theme.panel = rgb(0x1B1F25);
        theme.raised = rgb(0x262B33);
        theme.hovered = rgb(0x323944);
        theme.border = rgb(0x333A45);
        theme.grid = rgb(0x2A3038);
        theme.text = rgb(0xE8EBEF);
        theme.muted = rgb(0x9AA4B2);
        theme.accent = rgb(0xE8EBEF);
        theme.onAccent = rgb(0x14171B);
        theme.cpu = rgb(0xE69F00);
        theme.gpu = rgb(0x56B4E9);
        theme.good = rgb(0x1FB98A);
        theme.warning = rgb(0xF0E442);
        theme.bad = rgb(0xF0743C);
    } else {
        theme.background = rgb(0xF4F5F7);
        theme.panel = rgb(0xFFFFFF);
        theme.raised = rgb(0xE9ECF0);
        theme.hovered = rgb(0xDCE1E7);
        theme.border = rgb(0xD3D8DF);
        theme.grid = rgb(0xE3E6EB);
        theme.text = rgb(0x1A1E24);
        theme.muted = rgb(0x5B6572);
        theme.accent = rgb(0x1A1E24);
        theme.onAccent = rgb(0xFFFFFF);
        // On white the machines' colours carry lines and areas; a little darker, they are still the same
        // hues.
        theme.cpu = rgb(0xD18E00);
        theme.gpu = rgb(0x2F93D0);
        theme.good = rgb(0x00845F);
        theme.warning = rgb(0x9A7B00);
        theme.bad = rgb(0xC24A00);
    }
    return theme;
}

ImU32 seriesColour(const Theme& theme, std::size_t index) {
    constexpr std::array<std::uint32_t, 6> dark{0x56B4E9, 0xE69F00, 0x1FB98A, 0xCC79A7, 0xF0E442, 0xF0743C};
    constexpr std::array<std::uint32_t, 6> light{0x2F93D0, 0xD18E00, 0x00845F, 0xA8558A, 0x9A7B00, 0xC24A00};
    return rgb((theme.dark ? dark : light)[index % dark.size()]);
}

ImU32 faded(ImU32 colour, float share) {
    const auto alpha = static_cast<float>((colour >> IM_COL32_A_SHIFT) & 255);
    return (colour & ~IM_COL32_A_MASK) |
           (static_cast<ImU32>(std::lround(alpha * std::clamp(share, 0.0f, 1.0f))) << IM_COL32_A_SHIFT);
}

ImU32 mixed(ImU32 a, ImU32 b, float share) {
    const float t = std::clamp(share, 0.0f, 1.0f);
    ImU32 result = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        const auto from = static_cast<float>((a >> shift) & 255);
        const auto to = static_cast<float>((b >> shift) & 255);
        result |= static_cast<ImU32>(std::lround(from + (to - from) * t)) << shift;
    }
    return result;
}

ImU32 signedColour(const Theme& theme, float value) {
    const ImU32 zero = theme.dark ? theme.panel : rgb(0xFFFFFF);
    const float size = std::isnan(value) ? 0 : std::min(std::abs(value), 1.0f);
    return mixed(zero, rgb(value < 0 ? 0x56B4E9 : 0xE69F00), size);
}

ImU32 viridis(float value) {
    // Nine of its colours; between them the straight line is within what the eye can tell.
    constexpr std::array<std::uint32_t, 9> stops{0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21918C,
                                                 0x28AE80, 0x5EC962, 0xADDC30, 0xFDE725};
    const float at = std::isnan(value) ? 0 : std::clamp(value, 0.0f, 1.0f) * (stops.size() - 1);
    const std::size_t index = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    return mixed(rgb(stops[index]), rgb(stops[index + 1]), at - static_cast<float>(index));
}

void applyTheme(const Theme& theme, float scale) {
    ImGuiStyle& style = ImGui::GetStyle();
    style = ImGuiStyle();
    style.WindowPadding = {12, 10};
    style.FramePadding = {10, 5};
    style.ItemSpacing = {10, 8};
    style.ItemInnerSpacing = {7, 6};
    style.IndentSpacing = 16;
    style.ScrollbarSize = 12;
    style.GrabMinSize = 14;
    style.WindowRounding = 0;
    style.ChildRounding = 8;
    style.FrameRounding = 6;
    style.PopupRounding = 8;
    style.ScrollbarRounding = 6;
    style.GrabRounding = 6;
    style.TabRounding = 6;
    style.WindowBorderSize = 0;
    style.ChildBorderSize = 0;
    style.PopupBorderSize = 1;
    style.FrameBorderSize = 0;
    style.DisabledAlpha = 0.45f;
    style.ScaleAllSizes(scale);

    ImVec4* colours = style.Colors;
    const auto set = [colours](int which, ImU32 colour) { colours[which] = vec(colour); };
    set(ImGuiCol_Text, theme.text);
    set(ImGuiCol_TextDisabled, theme.muted);
    set(ImGuiCol_WindowBg, theme.background);
    set(ImGuiCol_ChildBg, 0);
    set(ImGuiCol_PopupBg, theme.panel);
    set(ImGuiCol_Border, theme.border);
    set(ImGuiCol_BorderShadow, 0);
    set(ImGuiCol_FrameBg, theme.raised);
    set(ImGuiCol_FrameBgHovered, theme.hovered);
    set(ImGuiCol_FrameBgActive, theme.hovered);
    set(ImGuiCol_TitleBg, theme.panel);
    set(ImGuiCol_TitleBgActive, theme.panel);
    set(ImGuiCol_TitleBgCollapsed, theme.panel);
    set(ImGuiCol_MenuBarBg, theme.panel);
    set(ImGuiCol_ScrollbarBg, 0);
    set(ImGuiCol_ScrollbarGrab, theme.hovered);
    set(ImGuiCol_ScrollbarGrabHovered, theme.muted);
    set(ImGuiCol_ScrollbarGrabActive, theme.muted);
    set(ImGuiCol_CheckMark, theme.text);
    set(ImGuiCol_SliderGrab, theme.muted);
    set(ImGuiCol_SliderGrabActive, theme.text);
    set(ImGuiCol_Button, theme.raised);
    set(ImGuiCol_ButtonHovered, theme.hovered);
    set(ImGuiCol_ButtonActive, theme.border);
    set(ImGuiCol_Header, theme.raised);
    set(ImGuiCol_HeaderHovered, theme.hovered);
    set(ImGuiCol_HeaderActive, theme.hovered);
    set(ImGuiCol_Separator, theme.border);
    set(ImGuiCol_SeparatorHovered, theme.muted);
    set(ImGuiCol_SeparatorActive, theme.text);
    set(ImGuiCol_ResizeGrip, 0);
    set(ImGuiCol_Tab, theme.panel);
    set(ImGuiCol_TabHovered, theme.hovered);
    set(ImGuiCol_TextSelectedBg, faded(theme.gpu, 0.35f));
    set(ImGuiCol_DragDropTarget, theme.gpu);
    set(ImGuiCol_NavHighlight, theme.gpu); // where the keyboard is
    set(ImGuiCol_ModalWindowDimBg, faded(theme.background, 0.7f));
    set(ImGuiCol_PlotLines, theme.text);
    set(ImGuiCol_TableHeaderBg, theme.panel);
    set(ImGuiCol_TableBorderStrong, theme.border);
    set(ImGuiCol_TableBorderLight, theme.grid);
    set(ImGuiCol_TableRowBg, 0);
    set(ImGuiCol_TableRowBgAlt, faded(theme.raised, 0.4f));
}

ImU32 classColour(const Theme& theme, std::size_t index) {
    if (index == 0) return signedColour(theme, -1);
    if (index == 1) return signedColour(theme, 1);
    constexpr std::size_t own = 6; // that the theme has
    if (index < own) return seriesColour(theme, index);
    return mixed(seriesColour(theme, index - own), theme.dark ? theme.text : theme.muted, 0.55f);
}

PlaneColours planeColours(const Theme& theme, bool discretise) {
    PlaneColours colours{};
    colours.negative = signedColour(theme, -1);
    colours.zero = signedColour(theme, 0);
    colours.positive = signedColour(theme, 1);
    colours.background = theme.panel;
    for (std::size_t i = 0; i < std::size(colours.classes); ++i) colours.classes[i] = classColour(theme, i);
    colours.discretise = discretise;
    return colours;
}

} // namespace lockstep::demos
