#include "demos/exhibits/ladder/crossover.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/exhibits/ladder/ladder_model.h"
#include "demos/exhibits/ladder/rung_result.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::string_view sweepIdea =
    "cpu:best and gpu:best train the same network at each size. A GPU needs enough work to fill it; below "
    "that, the cost of launches decides.";

struct Part {
    const char* name;
    double StepParts::*seconds;
    const char* meaning;
};

constexpr Part partTable[] = {
    {"recording", &StepParts::recording,
     "The host writes the step's commands, one dispatch after the other."},
    {"submission", &StepParts::submission, "The host hands the commands over to the device."},
    {"upload", &StepParts::upload,
     "Copies data to the device. None per step: the data set was uploaded once, beforehand."},
    {"waiting", &StepParts::waiting,
     "Latency: from submission until the device starts, and from its end until the host notices."},
    {"execution", &StepParts::execution, "The device computes, by its own clock."},
    {"read-back", &StepParts::readBack, "The loss comes back to the host."},
};

// What the host does is in the processor's colour or near it, what the device does in the GPU's.
ImU32 partColour(const Theme& theme, std::size_t part) {
    const ImU32 colours[std::size(partTable)] = {
        theme.cpu, seriesColour(theme, 4), seriesColour(theme, 2), theme.muted,
        theme.gpu, seriesColour(theme, 3)};
    return colours[part];
}

// Above the bars, and above their sizes what these are. A part that no step has needs no colour.
void drawPartsLegend(Ui& ui, const std::vector<SweepPoint>& points, SweepBy by, float names) {
    const SmallLetters small(ui);
    const float line = ImGui::GetTextLineHeight();
    drawText(*ImGui::GetWindowDrawList(), ImGui::GetCursorScreenPos(), ui.theme.muted, nameOf(by));
    ImGui::Dummy({std::max(names - ui.px(10), textWidth(nameOf(by))), line});
    for (std::size_t i = 0; i < std::size(partTable); ++i) {
        if (std::ranges::none_of(
                points, [&](const SweepPoint& point) { return point.parts.*partTable[i].seconds > 0; }))
            continue;
        const float width = line * 0.7f + ui.px(5) + textWidth(partTable[i].name);
        ImGui::SameLine(0, ui.px(10));
        if (ImGui::GetCursorPosX() + width > ImGui::GetWindowContentRegionMax().x) ImGui::NewLine();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        draw.AddRectFilled({at.x, at.y + line * 0.15f}, {at.x + line * 0.7f, at.y + line * 0.85f},
                           partColour(ui.theme, i));
        drawText(draw, {at.x + line * 0.7f + ui.px(5), at.y}, ui.theme.muted, partTable[i].name);
        ImGui::Dummy({width, line});
        ui.explainItem({.title = partTable[i].name, .text = partTable[i].meaning});
    }
}

void drawStack(Ui& ui, const SweepPoint& point, float names, float height) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    const std::string time = ui.timing(duration(point.parts.sum()));
    const float numbers = ImGui::CalcTextSize("000.0 ms").x + ui.px(8);
    const std::string name = grouped(point.value);
    const float text = at.y + (height - ImGui::GetTextLineHeight()) / 2;
    draw.AddText({at.x, text}, ui.theme.muted, name.c_str());
    const float left = at.x + names;
    const float bars = std::max(room - names - numbers, ui.px(20));
    draw.AddRectFilled({left, at.y + height * 0.2f}, {left + bars, at.y + height * 0.8f}, ui.theme.raised);
    if (!ui.masked) {
        // All bars are as wide: what share each part has is what is asked.
        const double whole = std::max(point.parts.sum(), 1e-12);
        double before = 0;
        for (std::size_t i = 0; i < std::size(partTable); ++i) {
            const double after = before + point.parts.*partTable[i].seconds;
            const float x0 = left + bars * static_cast<float>(before / whole);
            const float x1 = left + bars * static_cast<float>(after / whole);
            if (x1 > x0)
                draw.AddRectFilled(
                    {x0, at.y + height * 0.2f},
                    {std::max(x1 - (x1 - x0 > 3 ? 1.0f : 0.0f), x0 + 0.5f), at.y + height * 0.8f},
                    partColour(ui.theme, i));
            before = after;
        }
    }
    draw.AddText({left + bars + ui.px(8), text}, ui.theme.text, time.c_str());
    ImGui::Dummy({room, height});
    Detail detail;
    detail.title = "A single GPU step";
    for (const Part& part : partTable)
        detail.values.emplace_back(part.name, ui.timing(duration(point.parts.*part.seconds)));
    detail.values.emplace_back("upload, once", ui.timing(duration(point.uploadOnce)));
    detail.text =
        "From the first recorded command to the loss on the host. Training queues many steps, so computing "
        "hides these parts, unless the steps are small.";
    ui.explainItem(detail);
}

/// "batch 17"; in masked pictures, whose curves are not shown either, what it is.
std::string crossingName(const Ui& ui, const Crossing& crossing, SweepBy by) {
    if (ui.masked) return "crossing";
    return fmt::format("{} {}", translated(nameOf(by)),
                       grouped(static_cast<std::uint64_t>(std::llround(crossing.value))));
}

// preview: of few sizes, which say nothing yet of where the curves cross
void drawCurves(Ui& ui, Plot& plot, const std::vector<SweepPoint>& points, SweepBy by, float height,
                bool preview = false) {
    std::vector<double> x;
    std::vector<double> cpu;
    std::vector<double> gpu;
    const auto orGap = [](double rate) { return rate > 0 ? rate : std::nan(""); };
    for (const SweepPoint& point : points) {
        x.push_back(static_cast<double>(point.value));
        cpu.push_back(orGap(point.cpuSamples));
        gpu.push_back(orGap(point.gpuSamples));
    }
    std::vector<PlotLine> lines;
    if (!x.empty()) {
        lines.push_back({.name = "cpu:best", .colour = ui.theme.cpu, .x = x, .y = cpu, .points = true});
        lines.push_back(
            {.name = "gpu:best", .colour = ui.theme.gpu, .dashed = true, .x = x, .y = gpu, .points = true});
    }
    // Where they cross: a mark on both lines.
    const std::vector<Crossing> crossings = preview ? std::vector<Crossing>{} : crossingsOf(points);
    for (const Crossing& crossing : crossings)
        lines.push_back({.name = crossingName(ui, crossing, by),
                         .colour = ui.theme.text,
                         .dashed = true,
                         .x = {&crossing.value, 1},
                         .y = {&crossing.rate, 1},
                         .points = true});
    std::optional<PlotRange> reach; // of the sweep: what is missing has its place
    if (preview) {
        const std::vector<std::size_t> all = LadderModel::sweepSizes(by);
        reach = PlotRange{static_cast<double>(all.front()), static_cast<double>(all.back())};
    }
    const char* sizes = by == SweepBy::batch ? "examples per batch" : "neurons per hidden layer";
    plot.draw(
        ui, "ladder crossover",
        "Time or rate of CPU and GPU by problem size. Where the lines cross, the faster machine changes.",
        lines,
        {.x = {.title = sizes, .unit = "", .log = true, .shown = reach},
         .y = {.title = "samples/s", .unit = "", .log = true, .measured = true},
         .size = {ImGui::GetContentRegionAvail().x, height},
         .empty = "The first size is being measured."});
}

void drawParts(Ui& ui, const std::vector<SweepPoint>& points, SweepBy by) {
    ui.text("Where a single GPU step goes, as shares of its time", ui.theme.text, ui.fonts.strong);
    float names = 0;
    for (const SweepPoint& point : points)
        names = std::max(names, ImGui::CalcTextSize(grouped(point.value).c_str()).x);
    drawPartsLegend(ui, points, by, names + ui.px(8));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, ui.px(1)});
    for (const SweepPoint& point : points)
        if (point.gpuSamples > 0)
            drawStack(ui, point, names + ui.px(8), ImGui::GetTextLineHeight() + ui.px(3));
    ImGui::PopStyleVar();
    const std::string text = partsText(points);
    if (!text.empty()) ui.paragraph(ui.timing(text), ui.theme.muted);
}

/// The question of a sweep, the button for it, and the curves of a few sizes. Returns whether it was pressed.
bool drawSweepPreview(Ui& ui, Plot& plot, const std::vector<SweepPoint>& points, SweepBy by,
                      const std::string& question, const std::string& label, const char* name,
                      std::string_view words) {
    ImGui::PushFont(ui.fonts.title);
    ui.paragraph(question);
    ImGui::PopFont();
    const bool pressed = ui.primaryButton(label.c_str(), words, true, name);
    ImGui::SameLine(0, ui.px(12));
    ImGui::AlignTextToFramePadding();
    ImGui::BeginGroup();
    std::string sizes;
    for (const SweepPoint& point : points) sizes += (sizes.empty() ? "" : ", ") + grouped(point.value);
    ui.paragraph(points.empty() ? std::string(translated(sweepIdea))
                                : translatedFormat("Preview: {} {}, measured briefly. The sweep measures "
                                                   "every size.",
                                                   translated(nameOf(by)), sizes),
                 ui.theme.muted);
    ImGui::EndGroup();
    drawCurves(ui, plot, points, by, std::max(ImGui::GetContentRegionAvail().y, ui.px(120)), true);
    return pressed;
}

} // namespace

std::string partsText(const std::vector<SweepPoint>& points) {
    const std::vector<SweepPoint> both = compared(points);
    if (both.size() < 2) return {};
    const auto computing = [](const SweepPoint& point) {
        return 100 * point.parts.execution / std::max(point.parts.sum(), 1e-12);
    };
    return translatedFormat(
        "The device computes for {:.0f} % of the smallest step and {:.0f} % of the largest. The "
        "rest is the cost of launching work. The data were uploaded once, beforehand: {} in "
        "{}.",
        computing(both.front()), computing(both.back()),
        amountText(static_cast<double>(both.back().uploadBytes), "B"), duration(both.back().uploadOnce));
}

bool drawInvitation(Ui& ui, const std::string& question, std::string_view about, const std::string& label,
                    const char* name, std::string_view words) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float gap = ui.px(10);
    const ImGuiStyle& style = ImGui::GetStyle();
    const float wrap = std::min(room.x - 2 * gap, ui.px(620));
    ImFont* large = ui.fonts.title;
    const std::string told(translated(about));
    const ImVec2 first = large->CalcTextSizeA(large->FontSize, FLT_MAX, wrap, question.c_str());
    const std::vector<std::string_view> lines = linesAtBlanks(told, wrap, lettersWidth);
    const float line = ImGui::GetTextLineHeight();
    const float button = textWidth(label) + 2 * style.FramePadding.x;
    const float high = first.y + static_cast<float>(lines.size()) * line + ImGui::GetFrameHeight() + 3 * gap;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRect(at, {at.x + room.x, at.y + room.y}, ui.theme.border, ui.px(6), 0, ui.line());
    const float middle = at.x + room.x / 2;
    float y = at.y + std::max((room.y - high) / 2, gap);
    draw.AddText(large, large->FontSize, {middle - first.x / 2, y}, ui.theme.text, question.c_str(), nullptr,
                 wrap);
    y += first.y + gap;
    for (const std::string_view each : lines) {
        const std::string text(each);
        draw.AddText({middle - lettersWidth(text) / 2, y}, ui.theme.muted, text.c_str());
        y += line;
    }
    y += 2 * gap;
    ImGui::SetCursorScreenPos({middle - button / 2, y});
    const bool pressed = ui.primaryButton(label.c_str(), words, true, name);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(room);
    return pressed;
}

void drawCrossover(Ui& ui, LadderModel& model, SweepBy& by, Plot& plot) {
    const std::vector<std::string> names(std::begin(sweepWords), std::end(sweepWords));
    auto chosen = static_cast<std::size_t>(by);
    if (ui.segments("##ladder/by", "What the sweep varies: the batch or the width of the layers.", chosen,
                    names))
        by = static_cast<SweepBy>(chosen);
    constexpr const char* button = "Sweep##ladder";
    constexpr std::string_view words = "Times CPU and GPU at many sizes and draws where they cross.";
    const std::vector<SweepPoint>& points = model.sweep(by);
    if (points.empty() && !model.sweeping(by)) {
        constexpr std::size_t secondsEach = 2; // of a size, both machines
        const std::string label = translatedFormat("Sweep both machines, about {} s",
                                                   secondsEach * LadderModel::sweepSizes(by).size());
        const std::string question(translated(by == SweepBy::batch
                                                  ? "At which batch size does the GPU overtake the CPU?"
                                                  : "At which width does the GPU overtake the CPU?"));
        // Not where a lesson asks first; nor where nothing can be measured.
        const std::vector<SweepPoint> none;
        const bool quiet = ui.lessonAsks || ui.masked;
        const std::vector<SweepPoint>& preview = quiet ? none : model.sweepPreview(by);
        const bool previews = !preview.empty() || (!quiet && model.busy());
        if (previews ? drawSweepPreview(ui, plot, preview, by, question, label, button, words)
                     : drawInvitation(ui, question, sweepIdea, label, button, words))
            model.startSweep(by);
        return;
    }
    ImGui::SameLine(0, ui.px(10));
    if (model.swept(by) ? ui.button(button, words) : ui.primaryButton(button, words, !model.sweeping(by)))
        model.startSweep(by);
    if (const std::string crossing = crossingText(points, by); !crossing.empty()) {
        ImGui::PushFont(ui.fonts.title);
        ui.paragraph(ui.timing(crossing));
        ImGui::PopFont();
    }
    if (!points.empty()) {
        const SweepPoint& last = points.back();
        ui.muted(fittedText(
            fmt::format("cpu:best: {}; gpu:best: {}", honestDevice(last.cpu, 40), honestDevice(last.gpu, 40)),
            ImGui::GetContentRegionAvail().x));
    }
    const std::string busy = ui.masked ? "" : busyText(model.sweepLoad(by));
    if (!busy.empty()) ui.paragraph(translatedFormat("Warning: {}.", busy), ui.theme.warning);
    for (const SweepPoint& point : points)
        if (!point.failure.empty())
            ui.paragraph(fmt::format("{} {}: {}", translated(nameOf(by)), grouped(point.value),
                                     translatedParts(point.failure)),
                         ui.theme.bad);
    const float row = ImGui::GetTextLineHeight() + ui.px(3);
    const float below = points.empty() ? 0
                                       : static_cast<float>(points.size()) * (row + ui.px(1)) +
                                             4 * ImGui::GetTextLineHeightWithSpacing();
    drawCurves(ui, plot, points, by, std::max(ImGui::GetContentRegionAvail().y - below, ui.px(170)));
    if (!points.empty()) drawParts(ui, points, by);
}

} // namespace lockstep::demos
