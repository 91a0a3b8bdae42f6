#include "demos/exhibits/devices/devices_picture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

ImU32 workColour(const Theme& theme, RankWork what) {
    switch (what) {
    case RankWork::forward: return seriesColour(theme, 0);
    case RankWork::backward: return seriesColour(theme, 1);
    case RankWork::update: return seriesColour(theme, 2);
    case RankWork::exchange: return seriesColour(theme, 3);
    case RankWork::wait: return faded(theme.muted, 0.45f);
    }
    return theme.muted;
}

const char* workName(RankWork what) {
    switch (what) {
    case RankWork::forward: return "forward";
    case RankWork::backward: return "backward";
    case RankWork::update: return "update";
    case RankWork::exchange: return "exchange";
    case RankWork::wait: return "wait";
    }
    return "";
}

constexpr RankWork inLegend[] = {RankWork::forward, RankWork::backward, RankWork::update, RankWork::wait,
                                 RankWork::exchange};

std::string layerText(const RankTrace& trace, const RankSpan& span) {
    return span.layer >= trace.layers ? std::string(translated("the batch or the loss"))
                                      : translatedFormat("layer {}", span.layer + 1);
}

/// "L": a step's loss.
std::string shortLayer(const RankTrace& trace, const RankSpan& span) {
    if (span.layer < trace.layers) return std::to_string(span.layer + 1);
    return span.what == RankWork::exchange ? "L" : "";
}

/// The spans of a rank's two rows, with places on the axis.
struct Placed {
    const RankSpan* span;
    double begin, end;
};
std::vector<Placed> placedRow(const RankTrace& trace, std::size_t rank, bool exchanges, double first,
                              bool inOrder) {
    std::vector<Placed> row;
    for (const RankSpan& span : trace.spans)
        if (span.rank == rank && (span.what == RankWork::exchange) == exchanges)
            row.push_back({&span, span.begin - first, span.end - first});
    for (std::size_t at = 0; inOrder && at < row.size(); ++at)
        row[at].begin = static_cast<double>(at), row[at].end = static_cast<double>(at) + 1;
    return row;
}

/// An arrow from one place to another, short of both by `gap`.
void drawArrow(ImDrawList& draw, ImVec2 from, ImVec2 to, float gap, float head, ImU32 colour, float width) {
    const ImVec2 way{to.x - from.x, to.y - from.y};
    const float length = std::hypot(way.x, way.y);
    if (length <= 2 * gap + head) return;
    const ImVec2 unit{way.x / length, way.y / length};
    const ImVec2 begin{from.x + unit.x * gap, from.y + unit.y * gap};
    const ImVec2 end{to.x - unit.x * gap, to.y - unit.y * gap};
    const ImVec2 neck{end.x - unit.x * head, end.y - unit.y * head};
    draw.AddLine(begin, neck, colour, width);
    draw.AddTriangleFilled(end, {neck.x - unit.y * head / 2, neck.y + unit.x * head / 2},
                           {neck.x + unit.y * head / 2, neck.y - unit.x * head / 2}, colour);
}

} // namespace

float legendWidth(const Ui& ui) {
    const SmallLetters small(ui);
    float width = 0;
    for (const RankWork what : inLegend)
        width += ImGui::GetTextLineHeight() * 0.7f + ui.px(19) + textWidth(workName(what));
    return width;
}

void drawGanttLegend(Ui& ui) {
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float side = ImGui::GetTextLineHeight() * 0.7f;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImVec2 at = start;
    const float right = start.x + ImGui::GetContentRegionAvail().x;
    for (const RankWork what : inLegend) {
        const float width = side + ui.px(5) + textWidth(workName(what)) + ui.px(14);
        if (at.x + width > right && at.x > start.x)
            at = {start.x, at.y + ImGui::GetTextLineHeightWithSpacing()};
        const float top = at.y + (ImGui::GetTextLineHeight() - side) / 2;
        draw.AddRectFilled({at.x, top}, {at.x + side, top + side}, workColour(ui.theme, what), ui.px(2));
        drawText(draw, {at.x + side + ui.px(5), at.y}, ui.theme.muted, workName(what));
        at.x += width;
    }
    ImGui::Dummy({0, at.y - start.y + ImGui::GetTextLineHeight()});
}

void drawGantt(Ui& ui, const RankTrace& trace) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ui.tile("devices/gantt",
            "Every rank in the latest steps, on one axis of time: above what it computes, below what it "
            "exchanges.",
            {std::max(room.x, 1.0f), std::max(room.y, 1.0f)});
    if (ui.hidden("devices/gantt")) return;
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const SmallLetters small(ui);
    const float text = ImGui::GetTextLineHeight();
    const float axis = text + ui.px(6);
    const float left = start.x + textWidth("rank 00") + ui.px(8);
    const float width = start.x + room.x - left;
    const auto fit = static_cast<std::size_t>(std::max(1.0f, (room.y - axis) / std::max(text, ui.px(11))));
    const std::size_t rows = std::min(trace.ranks, fit);
    const float high = std::min((room.y - axis) / static_cast<float>(rows), ui.px(84));
    const double first = trace.spans.front().begin;
    double last = 0;
    for (std::size_t rank = 0; rank < rows; ++rank)
        for (const bool exchanges : {false, true})
            for (const Placed& each : placedRow(trace, rank, exchanges, first, ui.masked))
                last = std::max(last, each.end);
    const auto x = [&](double time) {
        return left + static_cast<float>(time / std::max(last, 1e-12)) * width;
    };
    const float bottom = start.y + high * static_cast<float>(rows);
    if (!ui.masked) {
        const double step = roundStep(last / std::max(2.0, static_cast<double>(width / ui.px(90))));
        for (int tick = 0; tick * step <= last; ++tick) {
            const float at = x(tick * step);
            draw.AddLine({at, start.y}, {at, bottom}, ui.theme.grid, ui.line());
            const std::string label = tick == 0 ? "0" : duration(tick * step);
            draw.AddText({std::min(at, left + width - lettersWidth(label)), bottom + ui.px(3)},
                         ui.theme.muted, label.c_str());
        }
    }
    const RankSpan* under = nullptr;
    const ImVec2 mouse = ImGui::GetMousePos();
    for (std::size_t rank = 0; rank < rows; ++rank) {
        const float top = start.y + high * static_cast<float>(rank);
        const float gap = std::min(ui.px(3), high * 0.08f);
        const float middle = top + (high - gap) * 0.6f;
        drawText(draw, {start.x, top + (high - text) / 2}, ui.theme.muted, translatedFormat("rank {}", rank));
        for (const bool exchanges : {false, true}) {
            const float low = exchanges ? middle + ui.px(1) : top + gap;
            const float end = exchanges ? top + high - gap : middle;
            for (const Placed& each : placedRow(trace, rank, exchanges, first, ui.masked)) {
                const float from = x(each.begin);
                const float to = std::max(x(each.end), from + 1);
                const ImU32 colour = workColour(ui.theme, each.span->what);
                draw.AddRectFilled({from, low}, {to, end}, colour);
                if (to - from > 3) draw.AddLine({to - 0.5f, low}, {to - 0.5f, end}, ui.theme.panel, 1);
                const std::string number = shortLayer(trace, *each.span);
                if (end - low >= text * 0.8f && to - from > lettersWidth(number) + ui.px(4))
                    draw.AddText({(from + to - lettersWidth(number)) / 2, (low + end - text) / 2},
                                 each.span->what == RankWork::wait ? ui.theme.muted : ui.theme.background,
                                 number.c_str());
                if (hovered && mouse.x >= from && mouse.x < to && mouse.y >= low && mouse.y < end) {
                    under = each.span;
                    draw.AddRect({from, low}, {to, end}, ui.theme.text, 0, 0, ui.line(1.5f));
                }
            }
        }
    }
    if (rows < trace.ranks) {
        const std::string rest = translatedFormat("{} more ranks", trace.ranks - rows);
        draw.AddText({left + width - lettersWidth(rest), bottom - text}, ui.theme.text, rest.c_str());
    }
    if (under == nullptr) return;
    Detail detail{.title = fmt::format("{}, {}", translatedFormat("rank {}", under->rank),
                                       translated(workName(under->what))),
                  .values = {{"step", grouped(under->step + 1)},
                             {"of", layerText(trace, *under)},
                             {"time", ui.timing(duration(under->seconds()))}}};
    if (under->what == RankWork::exchange) {
        detail.values.emplace_back("sent", binaryBytes(under->bytes));
        detail.values.emplace_back("messages", grouped(under->messages));
    }
    ui.detail(std::move(detail));
}

void drawAllReduce(Ui& ui, const DevicesModel& model, std::size_t round, float progress) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ui.tile(
        "devices/all-reduce",
        "The messages of one round between the ranks, with the bytes that each carries; beside them, what "
        "every rank sends in all rounds.",
        {std::max(room.x, 1.0f), std::max(room.y, 1.0f)});
    if (ui.hidden("devices/all-reduce")) return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const SmallLetters small(ui);
    const float text = ImGui::GetTextLineHeight();
    const std::size_t ranks = model.alive();
    const std::vector<ScheduledMessage> schedule = model.schedule();
    const std::size_t bytes = model.bytesPerNumber();
    std::vector<std::uint64_t> sent(ranks), messages(ranks);
    for (const ScheduledMessage& each : schedule) {
        sent[each.from] += each.numbers() * bytes;
        ++messages[each.from];
    }
    // Right: a row for each rank.
    const float column =
        std::max({textWidth("messages"), textWidth("most sent"), lettersWidth("88.8 MiB")}) + ui.px(10);
    const float tableWidth = std::min(room.x * 0.55f, textWidth("rank 0") + ui.px(12) + 3 * column);
    const float tableLeft = start.x + room.x - tableWidth;
    std::map<std::size_t, std::uint64_t> counted; // by rank, in the latest step
    if (const RankTrace* const trace = model.shown(); trace != nullptr && !model.opened()) {
        std::uint64_t step = 0;
        for (const RankSpan& span : trace->spans) step = std::max(step, span.step);
        for (const RankSpan& span : trace->spans)
            if (span.what == RankWork::exchange && span.layer == model.layer() && span.step == step)
                counted[span.rank] += span.bytes;
    }
    const auto cell = [&](std::size_t at, float y, const std::string& value, ImU32 colour) {
        draw.AddText({tableLeft + tableWidth - static_cast<float>(2 - at) * column - lettersWidth(value), y},
                     colour, value.c_str());
    };
    float y = start.y;
    cell(0, y, std::string(translated("messages")), ui.theme.muted);
    cell(1, y, std::string(translated("drawn")), ui.theme.muted);
    cell(2, y, std::string(translated("counted")), ui.theme.muted);
    const float line = std::min(text + ui.px(4), (room.y - text) / static_cast<float>(ranks + 1));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        y += line;
        drawText(draw, {tableLeft, y}, ui.theme.text, translatedFormat("rank {}", rank));
        cell(0, y, grouped(messages[rank]), ui.theme.text);
        cell(1, y, binaryBytes(sent[rank]), ui.theme.text);
        cell(2, y, counted.contains(rank) ? binaryBytes(counted[rank]) : "-",
             !counted.contains(rank)       ? ui.theme.muted
             : counted[rank] == sent[rank] ? legible(ui.theme, ui.theme.good)
                                           : legible(ui.theme, ui.theme.bad));
    }
    // Below, where there is room: the three ways, by what their busiest rank sends.
    y += line + text;
    if (y + 4 * line < start.y + room.y) {
        cell(1, y, std::string(translated("rounds")), ui.theme.muted);
        cell(2, y, std::string(translated("most sent")), ui.theme.muted);
        for (const AllReduce way : {AllReduce::ring, AllReduce::tree, AllReduce::naive}) {
            y += line;
            std::vector<std::uint64_t> by(ranks);
            std::size_t rounds = 0;
            for (const ScheduledMessage& each :
                 allReduceSchedule(way, ranks, model.numbersOf(model.layer()))) {
                by[each.from] += each.numbers() * bytes;
                rounds = each.round + 1;
            }
            const ImU32 colour = way == model.options().allReduce ? ui.theme.text : ui.theme.muted;
            drawText(draw, {tableLeft, y}, colour, name(way));
            cell(1, y, grouped(rounds), colour);
            cell(2, y, binaryBytes(std::ranges::max(by)), colour);
        }
    }
    // Left: the ranks, and this round's messages. A disc fills with the share of the numbers that are whole.
    const float circleRoom = tableLeft - start.x - ui.px(12);
    const float disc = std::clamp(std::min(circleRoom, room.y) * 0.09f, ui.px(9), ui.px(22));
    const float radius = std::min(circleRoom, room.y) / 2 - disc - ui.px(4);
    const ImVec2 centre{start.x + circleRoom / 2, start.y + room.y / 2};
    if (radius < disc) return;
    const auto place = [&](std::size_t rank) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(rank) / static_cast<double>(ranks);
        return ImVec2{centre.x + radius * static_cast<float>(std::sin(angle)),
                      centre.y - radius * static_cast<float>(std::cos(angle))};
    };
    const float numbers = static_cast<float>(std::max<std::size_t>(1, model.numbersOf(model.layer())));
    const ImU32 exchange = workColour(ui.theme, RankWork::exchange);
    for (const ScheduledMessage& each : schedule) {
        if (each.round != round) continue;
        const ImVec2 from = place(each.from), to = place(each.to);
        const ImU32 colour = each.adds ? exchange : ui.theme.good;
        const float share = static_cast<float>(each.numbers()) / numbers;
        drawArrow(draw, from, to, disc + ui.px(3), ui.px(9), colour, ui.line(1 + 4 * share));
        const ImVec2 packet{from.x + (to.x - from.x) * progress, from.y + (to.y - from.y) * progress};
        const float side = disc * (0.3f + 0.5f * std::sqrt(share));
        draw.AddRectFilled({packet.x - side / 2, packet.y - side / 2},
                           {packet.x + side / 2, packet.y + side / 2}, mixed(colour, ui.theme.text, 0.35f),
                           ui.px(2));
    }
    std::vector<float> whole(ranks);
    for (const ScheduledMessage& each : schedule)
        if (each.round < round && !each.adds) whole[each.to] += static_cast<float>(each.numbers()) / numbers;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const ImVec2 at = place(rank);
        draw.AddCircleFilled(at, disc, ui.theme.raised);
        if (const float share = std::min(whole[rank], 1.0f); share > 0) {
            constexpr float top = -std::numbers::pi_v<float> / 2;
            draw.PathLineTo(at);
            draw.PathArcTo(at, disc, top, top + 2 * std::numbers::pi_v<float> * share);
            draw.PathFillConvex(faded(ui.theme.good, 0.6f));
        }
        draw.AddCircle(at, disc, ui.theme.muted, 0, ui.line());
        const std::string name = std::to_string(rank);
        draw.AddText({at.x - lettersWidth(name) / 2, at.y - text / 2}, ui.theme.text, name.c_str());
    }
}

void drawScaling(Ui& ui, const DevicesModel& model, Plot& plot) {
    const bool weak = model.options().weak;
    std::vector<double> modelRanks, modelled, hereRanks, here, ranks, measured;
    if (const std::optional<ScalingModel> curve = model.model())
        for (double n = 1; n <= mostModelledRanks; n *= std::numbers::sqrt2) {
            const auto whole = static_cast<std::size_t>(std::lround(n));
            if (!modelRanks.empty() && modelRanks.back() == static_cast<double>(whole)) continue;
            modelRanks.push_back(static_cast<double>(whole));
            modelled.push_back(curve->efficiency(whole, weak));
        }
    const ScalingPoint* const one = model.point(1, false);
    for (const std::size_t n : {1U, 2U, 4U}) {
        const ScalingPoint* const point = model.point(n, weak);
        if (one == nullptr || point == nullptr) continue;
        ranks.push_back(static_cast<double>(n));
        measured.push_back(efficiencyOf(one->secondsPerStep, point->secondsPerStep, n, weak));
        hereRanks.push_back(static_cast<double>(n));
        here.push_back(model.modelHere()->efficiency(n, weak));
    }
    const double ends[] = {1, static_cast<double>(mostModelledRanks)};
    const double halves[] = {0.5, 0.5};
    double lostRanks[] = {0, 0}, lostEfficiency[] = {0, 0.5}; // where it stops to pay
    std::vector<PlotLine> lines;
    if (one != nullptr) {
        if (const std::optional<std::size_t> stops = model.model()->stopsPayingAt(weak)) {
            lostRanks[0] = lostRanks[1] = static_cast<double>(*stops);
            lines.push_back({.name = std::string(translated("more than half is lost")),
                             .colour = ui.theme.bad,
                             .x = lostRanks,
                             .y = lostEfficiency});
        }
        lines.push_back({.name = std::string(translated("measured")),
                         .colour = ui.theme.text,
                         .x = ranks,
                         .y = measured,
                         .points = true});
        lines.push_back({.name = std::string(translated("model of this machine")),
                         .colour = seriesColour(ui.theme, 1),
                         .dashed = true,
                         .x = hereRanks,
                         .y = here});
        lines.push_back({.name = std::string(translated("model with this link")),
                         .colour = seriesColour(ui.theme, 0),
                         .dotted = true,
                         .x = modelRanks,
                         .y = modelled});
        lines.push_back({.name = std::string(translated("one half")),
                         .colour = ui.theme.muted,
                         .faint = true,
                         .x = ends,
                         .y = halves});
    }
    plot.draw(
        ui, "devices/scaling",
        "How much of each rank's speed is left: measured on this machine, and by the model for a device "
        "per rank.",
        lines,
        {.x = {.title = "ranks", .unit = "", .log = true, .whole = true},
         .y = {.title = "efficiency", .unit = "", .measured = true, .shown = PlotRange{0, 1}},
         .empty = "Measure times 1, 2 and 4 ranks.",
         .overlay = "one half"});
}

} // namespace lockstep::demos
