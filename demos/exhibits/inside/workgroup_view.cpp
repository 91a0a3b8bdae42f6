// When each workgroup of the selected operation ran, by the clock that shaders read.
#include <algorithm>

#include <fmt/format.h>

#include "demos/draw/plot_math.h"
#include "demos/exhibits/inside/inside.h"
#include "demos/kit/workgroup_chart.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// Why there is no chart; empty: there is one.
std::string reason(const StepTrace& trace, const TracedOperation& operation) {
    if (!trace.machine.gpu) return "Choose an operation of the GPU: a CPU has no workgroups.";
    if (!trace.clocked)
        return trace.step == 0
                   ? "The step is being repeated, with a clock in every shader."
                   : "Press Step: from the next step on, you see when each workgroup of this operation runs.";
    if (!trace.noWorkgroups.empty()) return "No workgroup times: " + trace.noWorkgroups + ".";
    if (operation.workgroups.empty()) return "No workgroup of this operation noted its time.";
    return {};
}

/// In rows, numbered as gl_WorkGroupID counts them: along x, then y, then z.
std::vector<GroupSpan> spansOf(std::span<const gpu::WorkgroupTime> workgroups) {
    std::uint64_t first = workgroups.front().begin;
    std::uint32_t columns = 0, layer = 0; // workgroups along x; along x and y
    for (const gpu::WorkgroupTime& each : workgroups) {
        first = std::min(first, each.begin);
        columns = std::max(columns, each.group[0] + 1);
        layer = std::max(layer, each.group[1] + 1);
    }
    layer *= columns;
    std::vector<GroupTimes> times;
    times.reserve(workgroups.size());
    for (const gpu::WorkgroupTime& each : workgroups)
        times.push_back({static_cast<double>(each.begin - first),
                         static_cast<double>(std::max(each.end, each.begin) - first)});
    std::vector<GroupSpan> spans = inRows(times);
    for (GroupSpan& span : spans) {
        const std::uint32_t* group = workgroups[span.item].group;
        span.item = group[0] + group[1] * columns + group[2] * layer;
    }
    return spans;
}

/// Numbers below the chart, which ends at the operation's measured time.
void drawTimes(const Ui& ui, double wholeMs, ImVec2 at, float width) {
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float letters = lettersWidth("0000.00 ms");
    const double step = roundStep(wholeMs * static_cast<double>(letters * 1.3f / width));
    for (int i = 0; i * step <= wholeMs; ++i) {
        const float x = at.x + width * static_cast<float>(i * step / wholeMs);
        draw.AddLine({x, at.y}, {x, at.y + ui.px(4)}, ui.theme.border, ui.line());
        const std::string text = tickText(i * step, step);
        const float wide = lettersWidth(text);
        drawText(draw, {std::clamp(x - wide / 2, at.x, at.x + width - wide), at.y + ui.px(5)}, ui.theme.muted,
                 text);
    }
}

/// What the chart shows, in one sentence.
std::string turnsText(std::size_t groups, std::uint32_t rows, bool software) {
    const std::string all =
        std::string(groups == gpu::mostClockedGroups ? translated("the first ") : std::string_view())
            .append(counted(groups, "workgroup"));
    if (software)
        return rows == 1 ? translatedFormat("One CPU thread ran {} in turn.", all)
                         : translatedFormat("{} CPU threads shared {}.", rows, all);
    return rows == 1 ? translatedFormat("The GPU ran {} one after another.", all)
                     : translatedFormat("The GPU ran {}, up to {} at the same time.", all, rows);
}

} // namespace

void drawWorkgroupView(Ui& ui, Inside& inside) {
    const StepTrace& trace = *inside.model.trace(inside.at().machine);
    const TracedOperation& operation = *inside.selected();
    if (const std::string why = reason(trace, operation); !why.empty()) return ui.muted(why);
    if (ui.masked) return ui.muted("Workgroup times differ from run to run.");
    const std::size_t groups = operation.workgroups.size();
    WorkgroupRows& rows = inside.workgroups;
    const std::tuple origin{inside.model.revision(), inside.at().index};
    if (rows.spans.empty() || rows.origin != origin) rows = {origin, spansOf(operation.workgroups)};
    const std::vector<GroupSpan>& spans = rows.spans;
    const std::string title =
        translatedFormat("{}{} in {}, busy {:.0f} % of the time",
                         groups == gpu::mostClockedGroups ? translated("the first ") : std::string_view(),
                         counted(groups, "workgroup"), counted(rowsOf(spans), "row"), 100 * busyShare(spans));
    ui.paragraph(turnsText(groups, rowsOf(spans), trace.machine.software));
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    // The device's clock has no unit; and of too many workgroups, the last ones are not known.
    const bool timed = trace.timed && operation.milliseconds() > 0 && groups < gpu::mostClockedGroups;
    std::string words(translated("A workgroup is drawn in the first free row."));
    if (trace.machine.software) words.append(" ").append(translated("Here a row is a CPU thread."));
    words.append(" ").append(translated("The step ran once more for this, with a clock in every shader."));
    if (timed)
        words.append(" ").append(
            translated("That clock has no unit: the axis is stretched to the operation's measured time."));
    const float below = ImGui::CalcTextSize(words.c_str(), nullptr, false, room.x).y +
                        ImGui::GetStyle().ItemSpacing.y + ui.px(2);
    const float axis = timed ? ImGui::GetTextLineHeight() + ui.px(6) : 0;
    const float titled = ui.fonts.body->FontSize + ui.px(3);
    const float most = titled + static_cast<float>(rowsOf(spans)) * ui.px(110); // a higher row says no more
    const float height = std::max(std::min(room.y - below - axis, most), ui.px(40));
    drawWorkgroups(ui, spans, ui.theme.gpu, title, {start, {start.x + room.x, start.y + height}});
    if (timed) drawTimes(ui, operation.milliseconds(), {start.x, start.y + height}, room.x);
    ImGui::Dummy({room.x, height + axis});
    ui.noteControl("workgroups",
                   "One bar per workgroup, from its start to its end, in the first row that was free.");
    ui.paragraph(words, ui.theme.muted);
}

} // namespace lockstep::demos
