#include "demos/exhibits/ladder/ladder_views.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "demos/exhibits/ladder/rung_result.h"
#include "demos/words/text.h"

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
    if (model.roof() != nullptr) add(model.roof()->gflops);
    if (most == 0) return {};
    // A bar as short as nothing would be no bar.
    return {std::floor(std::log10(least) - 0.3), std::ceil(std::log10(most) + 0.01)};
}

void explain(Ui& ui, const RungRow& rung, const RungResult* result, const LadderModel& model) {
    Detail detail;
    detail.title = rung.lane;
    detail.text = rung.idea;
    if (result != nullptr) {
        for (auto& [name, value] : numbersOf(*result, model.roof()))
            detail.values.emplace_back(name, ui.timing(value));
        detail.text += "\n" + checkText(*result);
    }
    ui.explainItem(detail);
}

// Units, and as many pixels as the scale makes of them.
constexpr float barHeight = 6;
constexpr float secondLine = 13; // of a row's text, below the first
constexpr float closest = 31;    // from row to row: two lines can still be read
constexpr float farthest = 33;
constexpr float machineGap = 8; // between the processor's rungs and the GPU's

void drawBar(Ui& ui, const LadderModel& model, const RungResult* result, bool gpu, const Scale& scale,
             ImVec2 low, float length) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float bottom = low.y + ui.px(barHeight);
    draw.AddRectFilled(low, {low.x + length, bottom}, ui.theme.raised, ui.px(2));
    if (ui.masked) return;
    if (result != nullptr && result->timed()) {
        const float end = low.x + std::max(length * scale.share(result->measure.gflops), ui.px(3));
        draw.AddRectFilled(low, {end, bottom}, gpu ? ui.theme.gpu : ui.theme.cpu, ui.px(2));
        if (gpu && result->measure.machine.software) // the second cue: it is no GPU
            for (float x = low.x + ui.px(3); x + ui.px(3) < end; x += ui.px(7))
                draw.AddLine({x, bottom}, {x + ui.px(3), low.y}, ui.theme.panel, ui.line(1.5f));
    }
    if (!gpu || model.roof() == nullptr) return;
    const float roof = low.x + length * scale.share(model.roof()->gflops);
    draw.AddLine({roof, low.y - ui.px(3)}, {roof, bottom + ui.px(3)}, ui.theme.warning, ui.line(2));
}

// Name and number, and below them the bar, or the reason why there is none.
void drawRow(Ui& ui, const LadderModel& model, std::size_t index, const Scale& scale, ImVec2 at,
             ImVec2 size) {
    const RungRow& rung = model.rungs()[index];
    const RungResult* result = model.result(index);
    const bool picked = index == model.picked();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (picked) draw.AddRectFilled(at, {at.x + size.x, at.y + size.y}, ui.theme.hovered, ui.px(4));
    const float left = at.x + ui.px(6);
    const float top = at.y + ui.px(2);
    const float width = size.x - ui.px(12);
    draw.AddText(picked ? ui.fonts.strong : nullptr, 0, {left, top}, picked ? ui.theme.text : ui.theme.muted,
                 rung.lane.data(), rung.lane.data() + rung.lane.size());
    const float name = textWidth(rung.lane);

    std::string text = shortResult(result);
    ImU32 colour = ui.theme.muted;
    if (result != nullptr && result->timed()) {
        colour = ui.theme.text;
        const std::string share = roofShare(result, model.roof());
        if (!share.empty()) text += "   " + share;
        text = ui.timing(text);
    }
    if (result != nullptr && result->wrong()) colour = ui.theme.bad;
    text = fittedText(text, width - name - ui.px(14));
    draw.AddText({left + width - ImGui::CalcTextSize(text.c_str()).x, top}, colour, text.c_str());
    if (result != nullptr && result->refused()) {
        const std::string reason = fittedText(refusalReason(*result), width);
        draw.AddText({left, top + ui.px(secondLine)}, ui.theme.muted, reason.c_str());
        return;
    }
    drawBar(ui, model, result, rung.gpu(), scale, {left, top + ImGui::GetTextLineHeight() + ui.px(2)}, width);
}

} // namespace

std::optional<std::size_t> drawStaircase(Ui& ui, const LadderModel& model, float height) {
    std::optional<std::size_t> clicked;
    const Scale scale = scaleOf(model);
    ImVec2 at = ImGui::GetCursorScreenPos();
    const float share = (height - ui.px(machineGap)) / static_cast<float>(model.rungs().size());
    const ImVec2 size{std::max(ImGui::GetContentRegionAvail().x, 1.0f),
                      std::floor(std::clamp(share, ui.px(closest), ui.px(farthest)))};
    bool wasGpu = false;
    for (std::size_t i = model.rungs().size(); i-- > 0;) {
        const RungRow& rung = model.rungs()[i];
        const std::string control = "rung/" + std::string(rung.lane);
        if (ui.hidden(control.c_str())) continue;
        if (wasGpu && !rung.gpu()) at.y += ui.px(machineGap);
        wasGpu = rung.gpu();
        drawRow(ui, model, i, scale, at, size);
        ImGui::SetCursorScreenPos(at);
        if (ui.tile(control.c_str(), size)) clicked = i;
        if (i != model.picked()) explain(ui, rung, model.result(i), model); // of that the exhibit tells more
        at.y += size.y;
    }
    ImGui::SetCursorScreenPos(at);
    return clicked;
}

std::vector<RungDots> rooflineDots(const LadderModel& model) {
    std::vector<RungDots> all;
    for (std::size_t rung = 0; rung < model.rungs().size(); ++rung) {
        std::multimap<double, std::pair<double, bool>>
            dots; // by x: y, and whether it is of the batch at hand
        for (const auto& [key, result] : model.results())
            if (key.first == rung && result.timed() && result.intensity() > 0)
                dots.emplace(result.intensity(),
                             std::pair{result.measure.gflops, key.second == model.settings().settings.batch});
        if (dots.empty()) continue;
        RungDots& entry = all.emplace_back();
        entry.rung = rung;
        for (const auto& [x, dot] : dots) {
            if (dot.second) entry.now = entry.x.size();
            entry.x.push_back(x);
            entry.y.push_back(dot.first);
        }
    }
    return all;
}

Curve rooflineOf(const Roof& roof, double lowest, double highest) {
    const double ridge = roof.ridge();
    const double from = std::min(lowest, ridge / 4);
    const double to = std::max(highest, ridge * 4);
    return {{from, ridge, to}, {from * roof.gigabytesPerSecond, roof.gflops, roof.gflops}};
}

std::optional<std::size_t> drawRoofline(Ui& ui, const LadderModel& model, Plot& plot) {
    std::size_t batch = model.settings().settings.batch;
    ImGui::AlignTextToFramePadding();
    ui.muted("Batch");
    ImGui::SameLine(0, ui.px(8));
    ImGui::SetNextItemWidth(std::max(ui.px(80), ImGui::GetContentRegionAvail().x));
    ui.powerSlider("##ladder/walk", batch, 1, 4096);

    const std::vector<RungDots> dots = rooflineDots(model);
    double lowest = 1e30;
    double highest = 0;
    for (const RungDots& each : dots) {
        lowest = std::min(lowest, each.x.front());
        highest = std::max(highest, each.x.back());
    }
    std::vector<PlotLine> lines;
    const Roof* measured = model.roof();
    Curve roof;
    if (measured != nullptr) {
        roof = rooflineOf(*measured, lowest / 2, highest * 2);
        lines.push_back({.name = "roof", .colour = ui.theme.warning, .x = roof.x, .y = roof.y});
    }
    for (const RungDots& each : dots) {
        PlotLine line{.name = "",
                      .colour = seriesColour(ui.theme, each.rung),
                      .dashed = each.rung % 2 == 1, // diamonds and squares
                      .faint = true,
                      .x = each.x,
                      .y = each.y};
        if (each.x.size() > 1) lines.push_back(line); // where it has been with other batches
        if (!each.now) continue;
        line.name = model.rungs()[each.rung].lane.substr(4);
        line.faint = false;
        line.points = true;
        line.x = std::span(each.x).subspan(*each.now, 1);
        line.y = std::span(each.y).subspan(*each.now, 1);
        lines.push_back(line);
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float below = 3 * ImGui::GetTextLineHeightWithSpacing();
    plot.draw(
        ui, "ladder roofline", lines,
        {.x = {.title = "FLOP per byte requested from memory", .unit = "", .log = true, .measured = true},
         .y = {.title = "GFLOP/s", .unit = "", .log = true, .measured = true},
         .size = {room.x, std::max(room.y - below, ui.px(120))},
         .empty = "Measure some rungs: each becomes a dot."});
    if (measured != nullptr) {
        std::string device = model.gpuMachine() ? honestDevice(*model.gpuMachine(), 60) + ". " : "";
        ui.paragraph(device + ui.timing(fmt::format("On the slope, memory ({}) is the limit; on the flat, "
                                                    "arithmetic ({}). Caches can lift a dot above the slope.",
                                                    amountText(measured->gigabytesPerSecond * 1e9, "B/s"),
                                                    amountText(measured->gflops * 1e9, "FLOP/s"))),
                     ui.theme.muted);
    }
    if (batch == model.settings().settings.batch) return std::nullopt;
    return batch;
}

} // namespace lockstep::demos
