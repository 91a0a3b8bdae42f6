#include "demos/exhibits/ladder/staircase.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/ladder/ladder_words.h"
#include "demos/report/text.h"

namespace lockstep::demos {

namespace {

/// Powers of ten around all that is shown.
struct Scale {
    double low = -1;
    double high = 2;

    float share(double gflops) const {
        return static_cast<float>(std::clamp((std::log10(gflops) - low) / (high - low), 0.0, 1.0));
    }
};

Scale scaleOf(const LadderModel& model) {
    double least = 1e30;
    double most = 0;
    const auto add = [&](double gflops) {
        least = std::min(least, gflops);
        most = std::max(most, gflops);
    };
    for (std::size_t i = 0; i < model.rungs().size(); ++i)
        if (const RungResult* result = model.result(i); result != nullptr && result->timed())
            add(result->measure.gflops);
    if (model.roof() && model.roof()->measured()) add(model.roof()->gflops);
    if (most == 0) return {};
    // A bar as short as nothing would be no bar.
    return {std::floor(std::log10(least) - 0.3), std::ceil(std::log10(most) + 0.01)};
}

struct Row {
    ImVec2 at;
    float height = 0;
    float names = 0; // width of the names
    float bars = 0;  // width of the longest bar
};

void explain(Ui& ui, const Rung& rung, const RungResult* result, const LadderModel& model) {
    Detail detail;
    detail.title = rung.lane;
    detail.text = rung.idea;
    if (result != nullptr) {
        for (auto& [name, value] : numbersOf(*result, model.roof() ? &*model.roof() : nullptr))
            detail.values.emplace_back(name, ui.timing(value));
        detail.text += "\n" + checkText(*result);
    }
    ui.explainItem(detail);
}

void drawRow(Ui& ui, const LadderModel& model, std::size_t index, const Scale& scale, const Row& row) {
    const Rung& rung = model.rungs()[index];
    const RungResult* result = model.result(index);
    const LaneSpec spec = laneSpecFromText(rung.lane);
    const bool picked = index == model.picked();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 end{row.at.x + ImGui::GetContentRegionAvail().x, row.at.y + row.height};
    ImGui::SetCursorScreenPos(row.at);
    if (picked) draw.AddRectFilled(row.at, end, ui.theme.hovered, ui.px(4));
    const float middle = row.at.y + (row.height - ImGui::GetTextLineHeight()) / 2;
    const float left = row.at.x + ui.px(6);
    draw.AddText(picked ? ui.fonts.strong : nullptr, 0, {left, middle},
                 picked ? ui.theme.text : ui.theme.muted, rung.lane.data(),
                 rung.lane.data() + rung.lane.size());

    const float x = left + row.names;
    float after = x;
    if (result != nullptr && result->timed() && !ui.masked) {
        after = x + std::max(row.bars * scale.share(result->measure.gflops), ui.px(2));
        const ImVec2 low{x, row.at.y + row.height * 0.18f};
        const ImVec2 high{after, row.at.y + row.height * 0.82f};
        draw.AddRectFilled(low, high, ui.colour(spec), ui.px(2));
        if (spec.gpu && result->measure.machine.software) // the second cue: it is no GPU
            for (float line = low.x + ui.px(3); line < high.x; line += ui.px(7))
                draw.AddLine({line, high.y}, {std::min(line + ui.px(5), high.x), low.y}, ui.theme.panel,
                             ui.line(1.5f));
    }
    std::string text = shortResult(result);
    ImU32 colour = ui.theme.muted;
    if (result != nullptr && result->timed()) {
        colour = ui.theme.text;
        const std::string share = model.roof() ? roofShare(result, *model.roof()) : "";
        if (!share.empty()) text += "  " + share;
        text = ui.timing(text);
    }
    if (result != nullptr && result->wrong()) colour = ui.theme.bad;
    if (result != nullptr && result->refused()) text += ": " + result->refusal;
    const float room = end.x - x - ui.px(10);
    text = fittedText(text, room);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    // After the bar, or over its end where there is no room.
    const float at = std::min(after + ui.px(6), end.x - size.x - ui.px(6));
    draw.AddRectFilled({at - ui.px(3), middle}, {at + size.x + ui.px(3), middle + size.y},
                       faded(picked ? ui.theme.hovered : ui.theme.panel, 0.85f), ui.px(3));
    draw.AddText({at, middle}, colour, text.c_str());
}

void drawRoof(Ui& ui, const Roof& roof, const Scale& scale, float x, float bars, float top, float bottom) {
    const float at = x + bars * scale.share(roof.gflops);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (float y = top; y < bottom; y += ui.px(8))
        draw.AddLine({at, y}, {at, std::min(y + ui.px(4), bottom)}, ui.theme.warning, ui.line(1.5f));
}

} // namespace

std::optional<std::size_t> drawStaircase(Ui& ui, const LadderModel& model) {
    std::optional<std::size_t> clicked;
    const Scale scale = scaleOf(model);
    Row row;
    row.height = ImGui::GetTextLineHeight() + ui.px(7);
    for (const Rung& rung : model.rungs())
        row.names =
            std::max(row.names, ImGui::CalcTextSize(rung.lane.data(), rung.lane.data() + rung.lane.size()).x);
    row.names += ui.px(12);
    row.bars = std::max(ImGui::GetContentRegionAvail().x - row.names - ui.px(24), ui.px(20));
    row.at = ImGui::GetCursorScreenPos();
    const float top = row.at.y;
    const auto isGpu = [](const Rung& rung) { return rung.lane.starts_with("gpu"); };
    const auto gpuRungs = static_cast<float>(std::ranges::count_if(model.rungs(), isGpu));
    if (model.roof() && model.roof()->measured() && !ui.masked)
        drawRoof(ui, *model.roof(), scale, row.at.x + ui.px(6) + row.names, row.bars, top,
                 top + gpuRungs * row.height);
    bool wasGpu = false;
    for (std::size_t i = model.rungs().size(); i-- > 0;) {
        const Rung& rung = model.rungs()[i];
        if (wasGpu && !isGpu(rung)) row.at.y += ui.px(8); // between the machines
        wasGpu = isGpu(rung);
        const std::string control = "rung/" + std::string(rung.lane);
        if (ui.hidden(control.c_str())) continue;
        drawRow(ui, model, i, scale, row);
        ImGui::SetCursorScreenPos(row.at);
        const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0f);
        if (ui.tile(control.c_str(), {width, row.height})) clicked = i;
        explain(ui, rung, model.result(i), model);
        row.at.y += row.height;
    }
    ImGui::SetCursorScreenPos({row.at.x, row.at.y + ui.px(4)});
    return clicked;
}

} // namespace lockstep::demos
