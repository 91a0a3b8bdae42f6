// When each workgroup of the selected operation ran, by the clock that shaders read, and which outputs it
// computed.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "demos/draw/plot_math.h"
#include "demos/exhibits/inside/inside.h"
#include "demos/exhibits/inside/operation_words.h"
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
    if (groups == 1) return std::string(translated("A single workgroup ran."));
    if (software)
        return rows == 1 ? translatedFormat("One CPU thread ran {} in turn.", all)
                         : translatedFormat("{} CPU threads shared {}.", rows, all);
    return rows == 1 ? translatedFormat("The GPU ran {} one after another.", all)
                     : translatedFormat("The GPU ran {}, up to {} at the same time.", all, rows);
}

/// The bars of workgroups: a row for each that ran at the same time.
struct BarChart {
    Place place;
    std::span<const GroupSpan> spans;
    double end = 0; ///< the last one's, at the right edge
    float row = 0;  ///< height

    BarChart(const Place& where, std::span<const GroupSpan> all)
        : place(where), spans(all), end(std::max(lastEnd(all), 1.0)),
          row((where.max.y - where.min.y) / static_cast<float>(std::max(rowsOf(all), 1u))) {}

    /// The rectangle of a bar, without the gap to its neighbours.
    Place bar(const Ui& ui, const GroupSpan& span) const {
        const auto x = [&](double time) {
            return place.min.x + static_cast<float>(time / end) * (place.max.x - place.min.x);
        };
        const float gap = row > ui.px(6) ? ui.px(1) : 0;
        const float left = x(span.begin), top = place.min.y + static_cast<float>(span.row) * row + gap;
        const float right = x(span.end);
        return {{left, top}, {right - left > 4 * gap ? right - gap : right, top + std::max(row - gap, 0.5f)}};
    }
};

/// The output matrix, as a picture of its tiles.
struct TileChart {
    Place place;
    GroupTiles tiles;

    Place tile(const Ui& ui, std::size_t group) const {
        const MatrixPart part = tiles.tile(group);
        const float cell = (place.max.x - place.min.x) / static_cast<float>(tiles.columns);
        const float line = (place.max.y - place.min.y) / static_cast<float>(tiles.rows);
        const ImVec2 from{place.min.x + static_cast<float>(part.column) * cell,
                          place.min.y + static_cast<float>(part.row) * line};
        const ImVec2 to{from.x + static_cast<float>(part.columns) * cell,
                        from.y + static_cast<float>(part.rows) * line};
        const float gap = std::min(to.x - from.x, to.y - from.y) > ui.px(6) ? ui.px(1) : 0;
        return {from, {std::max(to.x - gap, from.x), std::max(to.y - gap, from.y)}};
    }
    /// The workgroup whose tile is there.
    std::size_t groupAt(ImVec2 at) const {
        const auto index = [](float share, std::size_t count) {
            return static_cast<std::size_t>(std::clamp(share, 0.0f, 0.99999f) * static_cast<float>(count));
        };
        return tiles.groupOf(index((at.y - place.min.y) / (place.max.y - place.min.y), tiles.rows),
                             index((at.x - place.min.x) / (place.max.x - place.min.x), tiles.columns));
    }
};

/// From the full colour of the first start to the palest of the last one.
ImU32 startColour(const Theme& theme, double share) {
    return mixed(theme.gpu, theme.panel, 0.8f * static_cast<float>(share));
}

bool hasRoomFor(const Ui& ui, const Place& at, const std::string& number) {
    return at.max.y - at.min.y >= ImGui::GetTextLineHeight() + ui.px(1) &&
           at.max.x - at.min.x >= lettersWidth(number) + ui.px(8);
}

/// A workgroup's rectangle with its number; empty: without.
void drawGroup(const Ui& ui, const Place& at, ImU32 shade, const std::string& number) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(at.min, at.max, shade);
    const ImU32 ink = contrast(ui.theme.text, shade) > contrast(ui.theme.background, shade)
                          ? ui.theme.text
                          : ui.theme.background;
    draw.AddText({at.min.x + ui.px(4), (at.min.y + at.max.y - ImGui::GetTextLineHeight()) / 2}, ink,
                 number.c_str());
}

void outline(const Ui& ui, const Place& at) {
    ImGui::GetWindowDrawList()->AddRect({at.min.x - ui.line(), at.min.y - ui.line()},
                                        {at.max.x + ui.line(), at.max.y + ui.line()}, ui.theme.text, 0, 0,
                                        ui.line(2.5f));
}

/// Which workgroup starts when, as colours.
void drawStarts(const Ui& ui, ImVec2 at, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float letters = ImGui::GetTextLineHeight();
    const std::string_view first = translated("starts first"), last = translated("last");
    const float from = at.x + lettersWidth(first) + ui.px(6);
    const float to = std::min(from + ui.px(90), at.x + width - lettersWidth(last) - ui.px(6));
    if (to <= from) return;
    draw.AddText(at, ui.theme.muted, first.data(), first.data() + first.size());
    draw.AddRectFilledMultiColor({from, at.y + letters * 0.2f}, {to, at.y + letters * 0.9f},
                                 startColour(ui.theme, 0), startColour(ui.theme, 1), startColour(ui.theme, 1),
                                 startColour(ui.theme, 0));
    draw.AddText({to + ui.px(6), at.y}, ui.theme.muted, last.data(), last.data() + last.size());
}

/// What is said of a workgroup below the mouse.
///   ms   of a tick of the device's clock; 0: not known
Detail groupDetail(const GroupSpan& span, const std::optional<GroupTiles>& tiles, double ms) {
    Detail detail{.title = translatedFormat("workgroup {}", span.item)};
    if (tiles) {
        const MatrixPart part = tiles->tile(span.item);
        const auto range = [](std::size_t first, std::size_t count) {
            return count == 1 ? fmt::format("{}", first)
                              : translatedFormat("{} to {}", first, first + count - 1);
        };
        detail.values = {{translatedFormat("rows of {}", name(tiles->output)), range(part.row, part.rows)},
                         {"columns", range(part.column, part.columns)}};
    }
    if (ms > 0) {
        detail.values.emplace_back("starts after", timeText(ms * span.begin));
        detail.values.emplace_back("takes", timeText(ms * (span.end - span.begin)));
    }
    return detail;
}

std::string tileText(const GroupTiles& tiles) {
    const bool whole = tiles.rows % tiles.tileRows == 0 && tiles.columns % tiles.tileColumns == 0;
    const std::string output = name(tiles.output);
    return whole ? translatedFormat("Each computed a tile of {}: {} × {} outputs.", output, tiles.tileRows,
                                    tiles.tileColumns)
                 : translatedFormat("Each computed a tile of {}: {} × {} outputs, fewer at the edges.",
                                    output, tiles.tileRows, tiles.tileColumns);
}

/// What the charts leave open.
std::string notesOf(const StepTrace& trace, const TracedOperation& operation, bool tiled, bool timed) {
    std::string notes;
    const auto add = [&](std::string_view more) {
        if (!notes.empty()) notes += ' ';
        notes += translated(more);
    };
    if (!tiled)
        add(operation.replaced ? "No tiles are drawn: an edited shader may divide its outputs otherwise."
            : operation.workgroups.size() == gpu::mostClockedGroups
                ? "No tiles are drawn: not all workgroups are known."
            : isProduct(operation)
                ? "No tiles are drawn: the workgroups that noted their time are not one for each tile."
                : "Only products have tiles: each of their workgroups computes a rectangle of one matrix.");
    add("A workgroup is drawn in the first free row.");
    if (trace.machine.software) add("Here a row is a CPU thread.");
    add("The step ran once more for this, with a clock in every shader.");
    if (timed) add("That clock has no unit: the axis is stretched to the operation's measured time.");
    return notes;
}

struct Charts {
    std::optional<TileChart> tiles; ///< on the left
    BarChart bars;
};

Charts chartsIn(const Ui& ui, const WorkgroupRows& rows, Place place) {
    if (!rows.tiles) return {std::nullopt, {place, rows.spans}};
    // In the form of the matrix, unless that is too narrow or leaves the bars too little.
    const float high = place.max.y - place.min.y, least = high * 0.5f;
    const float shape = static_cast<float>(rows.tiles->columns) / static_cast<float>(rows.tiles->rows);
    const float most = std::max((place.max.x - place.min.x) * 0.4f, least);
    const TileChart tiles{{place.min, {place.min.x + std::clamp(high * shape, least, most), place.max.y}},
                          *rows.tiles};
    place.min.x = tiles.place.max.x + ui.px(16);
    return {tiles, {place, rows.spans}};
}

/// Makes the place an item. Whether the mouse is over it.
bool hoveredItem(Ui& ui, const Place& place, const char* name, std::string_view words) {
    ImGui::SetCursorScreenPos(place.min);
    ImGui::Dummy({place.max.x - place.min.x, place.max.y - place.min.y});
    ui.noteControl(name, words);
    return ImGui::IsItemHovered();
}

/// The workgroup below the mouse, in either chart; null: none.
const GroupSpan* pointedIn(Ui& ui, const Charts& charts) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto spanIf = [&](auto wanted) {
        const auto found = std::ranges::find_if(charts.bars.spans, wanted);
        return found == charts.bars.spans.end() ? nullptr : &*found;
    };
    const GroupSpan* pointed = nullptr;
    if (charts.tiles && hoveredItem(ui, charts.tiles->place, "workgroup tiles",
                                    "The operation's output matrix, cut into the tiles that workgroups "
                                    "compute. Point at a tile to find its bar."))
        pointed =
            spanIf([&, at = charts.tiles->groupAt(mouse)](const GroupSpan& span) { return span.item == at; });
    if (hoveredItem(ui, charts.bars.place, "workgroups",
                    "One bar per workgroup, from its start to its end, in the first row that was free."))
        pointed = spanIf([&](const GroupSpan& span) {
            const Place bar = charts.bars.bar(ui, span);
            return mouse.x >= bar.min.x && mouse.x <= bar.max.x && mouse.y >= bar.min.y &&
                   mouse.y <= bar.max.y;
        });
    return pointed;
}

/// Every workgroup in the colour of its start, in both charts, and the one below the mouse outlined.
void drawCharts(const Ui& ui, const Charts& charts, const GroupSpan* pointed) {
    const SmallLetters small(ui);
    const std::span<const GroupSpan> spans = charts.bars.spans;
    const double lastStart = std::max(spans.back().begin, 1.0); // they are in the order of their starts
    // Tiles of one size are numbered together, or not at all.
    const bool numbered =
        charts.tiles && hasRoomFor(ui, charts.tiles->tile(ui, 0), std::to_string(spans.size() - 1));
    for (const GroupSpan& span : spans) {
        const ImU32 shade = startColour(ui.theme, span.begin / lastStart);
        const std::string number = std::to_string(span.item);
        const auto draw = [&](const Place& at, bool named) {
            drawGroup(ui, at, shade, named && hasRoomFor(ui, at, number) ? number : "");
        };
        draw(charts.bars.bar(ui, span), true);
        if (charts.tiles) draw(charts.tiles->tile(ui, span.item), numbered);
    }
    if (pointed == nullptr) return;
    outline(ui, charts.bars.bar(ui, *pointed));
    if (charts.tiles) outline(ui, charts.tiles->tile(ui, pointed->item));
}

/// The size of the matrix above its tiles, and what their colours are below.
void drawTileWords(const Ui& ui, const TileChart& chart) {
    const SmallLetters small(ui);
    const float width = chart.place.max.x - chart.place.min.x;
    std::string caption =
        fmt::format("{}, {} × {}", name(chart.tiles.output), chart.tiles.rows, chart.tiles.columns);
    const std::string longer = caption + std::string(translated(": a tile per workgroup"));
    if (lettersWidth(longer) <= width) caption = longer;
    ImGui::GetWindowDrawList()->AddText(
        {chart.place.min.x, chart.place.min.y - ImGui::GetTextLineHeight() - ui.px(3)},
        legible(ui.theme, ui.theme.gpu), caption.c_str());
    drawStarts(ui, {chart.place.min.x, chart.place.max.y + ui.px(5)}, width);
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
    if (rows.spans.empty() || rows.origin != origin)
        rows = {origin, spansOf(operation.workgroups), tilesOf(trace, operation)};
    const std::vector<GroupSpan>& spans = rows.spans;
    const std::string title =
        translatedFormat("{}{} in {}, busy {:.0f} % of the time",
                         groups == gpu::mostClockedGroups ? translated("the first ") : std::string_view(),
                         counted(groups, "workgroup"), counted(rowsOf(spans), "row"), 100 * busyShare(spans));
    std::string turns = turnsText(groups, rowsOf(spans), trace.machine.software);
    if (rows.tiles) turns.append(" ").append(tileText(*rows.tiles));
    ui.paragraph(turns);
    // The device's clock has no unit; and of too many workgroups, the last ones are not known.
    const bool timed = trace.timed && operation.milliseconds() > 0 && groups < gpu::mostClockedGroups;
    // For a presenter's letters, the charts need the room.
    const std::string notes = ui.presenter ? "" : notesOf(trace, operation, rows.tiles.has_value(), timed);

    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float titled = ui.fonts.small->FontSize + ui.px(3);
    const float axis = timed || rows.tiles ? ImGui::GetTextLineHeight() + ui.px(6) : 0;
    const float below = notes.empty() ? 0
                                      : ImGui::CalcTextSize(notes.c_str(), nullptr, false, room.x).y +
                                            ImGui::GetStyle().ItemSpacing.y + ui.px(2);
    const float tall = static_cast<float>(rowsOf(spans)) * ui.px(110); // a higher row says no more
    const float most = titled + (rows.tiles ? std::max(tall, ui.px(360)) : tall);
    const float height = std::max(std::min(room.y - below - axis, most), titled + ui.px(40));
    const Charts charts =
        chartsIn(ui, rows, {{start.x, start.y + titled}, {start.x + room.x, start.y + height}});
    const Place& bars = charts.bars.place;
    drawWorkgroups(ui, {}, ui.theme.gpu, title, {{bars.min.x, start.y}, bars.max}); // their ground
    const GroupSpan* pointed = pointedIn(ui, charts);
    drawCharts(ui, charts, pointed);
    if (charts.tiles) drawTileWords(ui, *charts.tiles);
    if (timed) drawTimes(ui, operation.milliseconds(), {bars.min.x, bars.max.y}, bars.max.x - bars.min.x);
    if (pointed != nullptr) {
        const double ms = timed ? operation.milliseconds() / charts.bars.end : 0;
        const Detail detail = groupDetail(*pointed, rows.tiles, ms);
        ui.detailAtOnce(detail.title, detail);
    }
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({room.x, height + axis});
    if (!notes.empty()) ui.paragraph(notes, ui.theme.muted);
}

} // namespace lockstep::demos
