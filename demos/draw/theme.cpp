#include "demos/draw/theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>

namespace lockstep::demos {

namespace {

constexpr ImU32 rgb(std::uint32_t hex) {
    return IM_COL32((hex >> 16) & 255, (hex >> 8) & 255, hex & 255, 255);
}

struct ThemeRow {
    ImU32 Theme::*role;
    std::uint32_t dark, light;
};

// On white the machines' colours carry lines and areas: a little darker, they are still the same hues. What
// is good, bad or a warning is also written in its colour, which must be dark on white, and differ in
// lightness for who sees no red or no green.
constexpr ThemeRow themeRows[] = {
    {&Theme::background, 0x14171B, 0xF4F5F7}, {&Theme::panel, 0x1B1F25, 0xFFFFFF},
    {&Theme::raised, 0x262B33, 0xE9ECF0},     {&Theme::hovered, 0x323944, 0xDCE1E7},
    {&Theme::border, 0x333A45, 0xD3D8DF},     {&Theme::grid, 0x2A3038, 0xE3E6EB},
    {&Theme::text, 0xE8EBEF, 0x1A1E24},       {&Theme::muted, 0x9AA4B2, 0x59636F},
    {&Theme::accent, 0xE8EBEF, 0x1A1E24},     {&Theme::onAccent, 0x14171B, 0xFFFFFF},
    {&Theme::cpu, 0xE69F00, 0xD18E00},        {&Theme::gpu, 0x56B4E9, 0x2F93D0},
    {&Theme::good, 0x29A66C, 0x007552},       {&Theme::warning, 0xF0E442, 0x806000},
    {&Theme::bad, 0xF0743C, 0x9A1A2C},
};

} // namespace

Theme makeTheme(bool dark) {
    Theme theme;
    theme.dark = dark;
    for (const ThemeRow& row : themeRows) theme.*row.role = rgb(dark ? row.dark : row.light);
    return theme;
}

ImU32 seriesColour(const Theme& theme, std::size_t index) {
    const ImU32 purple = rgb(theme.dark ? 0xCC79A7 : 0xA8558A);
    const ImU32 series[] = {theme.gpu, theme.cpu, theme.good, purple, theme.warning, theme.bad};
    return series[index % std::size(series)];
}

float contrast(ImU32 a, ImU32 b) {
    const auto luminance = [](ImU32 colour) {
        const auto channel = [colour](int shift) {
            const float value = static_cast<float>((colour >> shift) & 255) / 255;
            return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
        };
        return 0.2126f * channel(IM_COL32_R_SHIFT) + 0.7152f * channel(IM_COL32_G_SHIFT) +
               0.0722f * channel(IM_COL32_B_SHIFT);
    };
    const auto [low, high] = std::minmax({luminance(a), luminance(b)});
    return (high + 0.05f) / (low + 0.05f);
}

ImU32 legible(const Theme& theme, ImU32 colour) {
    const auto clear = [&theme](ImU32 letters) {
        return std::ranges::all_of(std::array{theme.background, theme.panel, theme.raised},
                                   [letters](ImU32 ground) { return contrast(letters, ground) >= 4.5f; });
    };
    ImU32 letters = colour;
    for (float share = 0; share < 1 && !clear(letters); share += 0.05f)
        letters = mixed(colour, theme.text, share);
    return letters;
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

    const auto paint = [&style](ImU32 colour, std::initializer_list<ImGuiCol> parts) {
        for (const ImGuiCol part : parts) style.Colors[part] = ImGui::ColorConvertU32ToFloat4(colour);
    };
    paint(0, {ImGuiCol_ChildBg, ImGuiCol_BorderShadow, ImGuiCol_ScrollbarBg, ImGuiCol_ResizeGrip,
              ImGuiCol_TableRowBg});
    paint(theme.background, {ImGuiCol_WindowBg});
    paint(faded(theme.background, 0.7f), {ImGuiCol_ModalWindowDimBg});
    paint(theme.panel, {ImGuiCol_PopupBg, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed,
                        ImGuiCol_MenuBarBg, ImGuiCol_Tab, ImGuiCol_TableHeaderBg});
    paint(theme.raised, {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header});
    paint(faded(theme.raised, 0.4f), {ImGuiCol_TableRowBgAlt});
    paint(theme.hovered,
          {ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ScrollbarGrab, ImGuiCol_ButtonHovered,
           ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive, ImGuiCol_TabHovered});
    paint(theme.border,
          {ImGuiCol_Border, ImGuiCol_ButtonActive, ImGuiCol_Separator, ImGuiCol_TableBorderStrong});
    paint(theme.grid, {ImGuiCol_TableBorderLight});
    paint(theme.text, {ImGuiCol_Text, ImGuiCol_CheckMark, ImGuiCol_SliderGrabActive, ImGuiCol_SeparatorActive,
                       ImGuiCol_PlotLines});
    paint(theme.muted, {ImGuiCol_TextDisabled, ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive,
                        ImGuiCol_SliderGrab, ImGuiCol_SeparatorHovered});
    paint(theme.gpu, {ImGuiCol_DragDropTarget, ImGuiCol_NavHighlight}); // where the keyboard is
    paint(faded(theme.gpu, 0.35f), {ImGuiCol_TextSelectedBg});
}

ImU32 classColour(const Theme& theme, std::size_t index) {
    if (index == 0) return signedColour(theme, -1);
    if (index == 1) return signedColour(theme, 1);
    constexpr std::size_t own = 6; // that the theme has
    if (index < own) return seriesColour(theme, index);
    return mixed(seriesColour(theme, index - own), theme.dark ? theme.text : theme.background, 0.4f);
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
