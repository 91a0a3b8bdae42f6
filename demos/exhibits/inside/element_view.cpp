// An element of a tensor, as the sum that it is: the two lines of numbers, their products, and the sum.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/inside/inside.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t sumColumn = 32; // letters before the column of products

/// The place in the sum under the mouse, of `count` that are `width` wide from `left` on.
std::size_t placeAt(float x, float left, float width, std::size_t count) {
    const float share = std::clamp((x - left) / width, 0.0f, 0.99999f);
    return static_cast<std::size_t>(share * static_cast<float>(count));
}

/// Draws `count` values side by side in the rectangle, each strip on a scale of its own.
template <class ValueAt> void drawStrip(Ui& ui, ImVec2 low, ImVec2 high, std::size_t count, ValueAt valueAt) {
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (std::isfinite(valueAt(i))) largest = std::max(largest, std::abs(valueAt(i)));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float width = high.x - low.x;
    const auto cells = std::min(count, static_cast<std::size_t>(std::max(width, 1.0f)));
    for (std::size_t cell = 0; cell < cells; ++cell) {
        double strongest = 0; // of all that share the cell
        for (std::size_t i = cell * count / cells; i < (cell + 1) * count / cells; ++i)
            if (!(std::abs(valueAt(i)) <= std::abs(strongest))) strongest = valueAt(i);
        const double share = largest > 0 ? std::sqrt(std::abs(strongest) / largest) : 0;
        const auto x = [&](std::size_t at) {
            return low.x + width * static_cast<float>(at) / static_cast<float>(cells);
        };
        const ImU32 colour = std::isfinite(strongest)
                                 ? signedColour(ui.theme, static_cast<float>(std::copysign(share, strongest)))
                                 : ui.theme.bad;
        draw.AddRectFilled({x(cell), low.y}, {x(cell + 1), high.y}, colour);
    }
    draw.AddRect(low, high, ui.theme.border, 0, 0, ui.line());
}

void explainPlace(Ui& ui, const ElementSum& element, std::size_t i) {
    Detail detail;
    detail.title = fmt::format("{} = {}", element.index, i);
    detail.values.emplace_back(element.first.name, translatedFormat("{:.5g}", element.first.values[i]));
    if (!element.second.values.empty()) {
        detail.values.emplace_back(element.second.name, translatedFormat("{:.5g}", element.second.values[i]));
        detail.values.emplace_back("product", translatedFormat("{:.5g}", element.product(i)));
    }
    ui.detailAtOnce(translatedFormat("{}:  {:.5g}", detail.title, element.product(i)), detail);
}

// Above each other, so that factors stand above their product.
void drawStrips(Ui& ui, const ElementSum& element) {
    const bool products = !element.second.values.empty();
    const float label =
        std::max({textWidth(element.first.place), textWidth(products ? element.second.place : ""),
                  textWidth(products ? "products" : "")}) +
        ui.px(10);
    const float line = ImGui::GetTextLineHeight();
    const float pitch = line + ui.px(4);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float left = start.x + label;
    const float width = std::max(ImGui::GetContentRegionAvail().x - label, ui.px(40));
    const float height = (products ? 3 : 1) * pitch;
    ImGui::Dummy({label + width, height});
    const auto strip = [&](float row, std::string_view text, auto valueAt) {
        const float top = start.y + row * pitch;
        drawText(*ImGui::GetWindowDrawList(), {start.x, top}, ui.theme.muted, text);
        drawStrip(ui, {left, top + ui.px(1)}, {left + width, top + line}, element.size(), valueAt);
    };
    strip(0, element.first.place, [&](std::size_t i) { return element.first.values[i]; });
    if (products) {
        strip(1, element.second.place, [&](std::size_t i) { return element.second.values[i]; });
        strip(2, "products", [&](std::size_t i) { return element.product(i); });
    }
    const float mouse = ImGui::GetIO().MousePos.x;
    if (!ImGui::IsItemHovered() || mouse < left) return;
    ImGui::GetWindowDrawList()->AddLine({mouse, start.y}, {mouse, start.y + height}, ui.theme.text,
                                        ui.line());
    explainPlace(ui, element, placeAt(mouse, left, width, element.size()));
}

void drawSumLine(Ui& ui, std::string_view name, double value, ImU32 colour = 0) {
    ui.text(translatedFormat("{:<{}} {:>13.6g}", name, sumColumn, value), colour);
}

void drawProducts(Ui& ui, const ElementSum& element) {
    const float line = ImGui::GetTextLineHeightWithSpacing();
    const std::size_t below =
        4 + (element.bias ? 1 : 0) + (element.activated ? 1 : 0) + (element.slope ? 1 : 0);
    const float room = ImGui::GetContentRegionAvail().y / line - static_cast<float>(below);
    const auto most = static_cast<std::size_t>(std::clamp(room, 4.0f, 24.0f));
    const LargestProducts largest = largestProducts(element, most);
    const bool factors = !element.second.values.empty();
    ui.muted(fmt::format("{:>4} {:>13} {:>13} {:>13}", element.index, element.first.name, element.second.name,
                         translated(factors ? "product" : "")));
    for (const std::size_t i : largest.shown) {
        const std::string second = factors ? translatedFormat("{:.5g}", element.second.values[i]) : "";
        ui.text(translatedFormat("{:>4} {:>13.5g} {:>13} {:>13.6g}", i, element.first.values[i], second,
                                 element.product(i)));
    }
    if (largest.others > 0)
        drawSumLine(ui, translatedFormat("… and {} more, together", largest.others), largest.othersSum,
                    ui.theme.muted);
    if (element.bias) drawSumLine(ui, translatedFormat("bias {}", element.bias->name), element.bias->value);
    drawSumLine(ui, translated("sum"), element.sum);
    if (element.activated) drawSumLine(ui, element.activated->name, element.activated->value);
    if (element.slope)
        drawSumLine(ui, translatedFormat("times {}", element.slope->name), element.slope->value);
    drawSumLine(ui, translatedFormat("{} as stored", element.stored.name), element.stored.value,
                ui.theme.good);
}

} // namespace

bool drawElement(Ui& ui, const ElementSum& element) {
    const bool back = ui.button("All tensors##inside/element", saysItself);
    ImGui::PushFont(ui.fonts.mono);
    ImGui::SameLine(0, ui.px(12));
    ImGui::AlignTextToFramePadding();
    ui.paragraph(element.formula);
    ImGui::PopFont();
    drawStrips(ui, element);
    ImGui::PushFont(ui.fonts.mono);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, ui.px(2)});
    drawProducts(ui, element);
    ImGui::PopStyleVar();
    ImGui::PopFont();
    return back;
}

} // namespace lockstep::demos
