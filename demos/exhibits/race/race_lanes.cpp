#include "demos/exhibits/race/race_lanes.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/words/text.h"
#include "engine/cpu/cpu_info.h"

namespace lockstep::demos {

ImU32 laneColour(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index) {
    constexpr float shade = 0.4f;
    std::size_t before = 0;
    for (std::size_t i = 0; i < index; ++i) before += lanes[i].gpu == lanes[index].gpu ? 1 : 0;
    return mixed(ui.colour(lanes[index]), ui.theme.text, std::min(shade * static_cast<float>(before), 0.85f));
}

bool continueLine(Ui& ui, float width) {
    ImGui::SameLine(0, ui.px(14));
    if (ImGui::GetContentRegionAvail().x >= width) return true;
    ImGui::NewLine();
    return false;
}

float segmentsWidth(const Ui& ui, std::span<const std::string> names) {
    float width = 0;
    for (const std::string& name : names)
        width += textWidth(name) + 2 * ImGui::GetStyle().FramePadding.x + ui.px(2);
    return width;
}

namespace {

struct Figure {
    const char* name;
    const char* widest; ///< for the width of its column
    std::string value;
};

constexpr float trackUnits = 16;

/// Only name, track and rate: where many lanes or large letters leave too little for the curves. Before the
/// first lane is drawn.
bool lowRoom(const Ui& ui, std::size_t lanes) {
    constexpr float cardUnits = 87;
    constexpr float mostOfRoom = 0.52f;
    return static_cast<float>(lanes) * ui.px(cardUnits) > mostOfRoom * ImGui::GetContentRegionAvail().y;
}

/// `end`: the lane as it is to be shown.
std::vector<Figure> cardFigures(const Ui& ui, const LaneResult& lane, const LaneSnapshot& end,
                                const LaneFigures& all, bool raceOver) {
    const bool begun = end.runSteps > 0;
    const double rate = end.over() ? all.rate : end.recentRate;
    const double perStep = begun ? static_cast<double>(end.examples) / static_cast<double>(end.runSteps) : 0;
    const double steps = perStep > 0 ? rate / perStep : 0;
    const double average = lane.end.rate(); // of the whole run, as `gflops` is
    const double flops = average > 0 ? lane.gflops * 1e9 * rate / average : 0;
    const auto measured = [&](std::string text) { return begun ? ui.timing(std::move(text)) : "-"; };
    return {{"step", "88,888", begun ? grouped(end.step) : "-"},
            {"mean loss", "0.8888", lossText(end.loss)},
            {"accuracy", "88.88 %", percent(end.testAccuracy)},
            {"samples/s", "88.8k", measured(shortRate(rate))},
            {"steps/s", "88.8", measured(steps < 99.5 ? threeDigits(steps) : shortRate(steps))},
            {"FLOP/s", "88.8G", measured(shortRate(flops))},
            raceOver && end.over() ? Figure{"per step", "88.8 ms", measured(duration(all.secondsPerStep))}
                                   : Figure{"elapsed", "88.8 ms", measured(duration(end.trainingSeconds))}};
}

/// In one line: as many of the first ones as fit.
void drawFigures(Ui& ui, const std::vector<Figure>& all, ImVec2 at, float width) {
    const float inner = ui.px(5), least = ui.px(12);
    const auto column = [&](const Figure& figure) {
        return textWidth(figure.name) + inner + 1.08f * textWidth(figure.widest); // in strong letters
    };
    std::size_t count = 0;
    float used = 0;
    while (count < all.size() && used + column(all[count]) + least * static_cast<float>(count) <= width)
        used += column(all[count++]);
    const float gap = (width - used) / static_cast<float>(std::max<std::size_t>(count, 1));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < count; ++i) {
        drawText(draw, at, ui.theme.muted, all[i].name);
        draw.AddText(ui.fonts.strong, ImGui::GetFontSize(), {at.x + textWidth(all[i].name) + inner, at.y},
                     ui.theme.text, all[i].value.c_str());
        at.x += column(all[i]) + gap;
    }
}

// A chequered flag: marks the end of the track without relying on colour.
void drawFlag(const Ui& ui, ImDrawList& draw, ImVec2 top, float height) {
    constexpr int rows = 4;
    const float side = height / rows;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < 2; ++column) {
            const ImVec2 at{top.x + side * static_cast<float>(column),
                            top.y + side * static_cast<float>(row)};
            draw.AddRectFilled(at, {at.x + side, at.y + side},
                               (row + column) % 2 == 0 ? ui.theme.text : ui.theme.background);
        }
}

/// Where the lane is on its track, and how far it came later. 0 to 1.
struct Way {
    double now = 0;
    double later = 0;
    std::string moment = {}; ///< what `now` is, where there is a later
};

void drawTrack(Ui& ui, const LaneSpec& spec, ImU32 colour, const Way& way, ImVec2 at, float width,
               float height) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float end = at.x + width - (height + ui.px(4)) / 2;
    draw.AddRectFilled(at, {at.x + width, at.y + height}, ui.theme.background, height / 2);
    const auto place = [&](double share) {
        return at.x + height / 2 + (end - at.x - height) * static_cast<float>(share);
    };
    const float x = place(way.now);
    if (way.later > way.now) {
        draw.AddRectFilled(at, {place(way.later), at.y + height}, faded(colour, 0.2f), height / 2);
        const SmallLetters small(ui);
        const float left = x + height / 2 + ui.px(8);
        const std::string words = fittedText(way.moment, place(way.later) - left - ui.px(8));
        if (words == way.moment)
            drawText(draw, {left, at.y + (height - ImGui::GetFontSize()) / 2}, ui.theme.text, words);
    }
    if (way.now > 0) draw.AddRectFilled(at, {x, at.y + height}, faded(colour, 0.55f), height / 2);
    drawFlag(ui, draw, {end, at.y - ui.px(2)}, height + ui.px(4));
    drawLaneMark(draw, spec, {x, at.y + height / 2}, height + ui.px(9), colour);
}

/// A card in the machine's colour. Returns its upper left corner.
ImVec2 drawSurface(Ui& ui, ImU32 colour, float width, float height, std::size_t index) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(low, {low.x + width, low.y + height}, ui.surface(colour),
                                              ui.px(8));
    ImGui::Dummy({width, height});
    ui.noteControl(fmt::format("lane {}", index + 1).c_str(),
                   "A contestant in the race: its machine, its progress and its rates.");
    return low;
}

// A cross, a tick or nothing before the words: not by colour alone. Once the race is over, a lane shows
// what the headline compares.
std::string statusLabel(const Ui& ui, const RaceRun& run, std::size_t index, const LaneSnapshot& end,
                        const LaneFigures& all, double share, bool compact) {
    const bool replayed = end.status != run.lanes[index].end.status;
    const std::string words(translated(replayed ? "running" : statusText(run, index)));
    const bool finished = end.status == LaneStatus::finished;
    if (finished && (run.bySeconds() || (!run.over && !compact)))
        return fmt::format("✓ {} in {}", words, ui.timing(duration(all.seconds)));
    if ((compact || finished) && end.runSteps > 0 && end.status != LaneStatus::failed)
        return translatedFormat("{}{} samples/s",
                                !finished ? ""
                                : compact ? "✓ "
                                          : fmt::format("✓ {}, ", words),
                                ui.timing(shortRate(end.over() ? all.rate : end.recentRate)));
    if (finished) return "✓ " + words;
    if (end.status == LaneStatus::failed) return "✗ " + words;
    const bool moving = end.status == LaneStatus::running || end.status == LaneStatus::paused;
    return moving ? fmt::format("{} {:.0f} %", words, 100 * share) : words;
}

Detail laneDetail(const Ui& ui, const RaceRun& run, std::size_t index) {
    const LaneResult& lane = run.lanes[index];
    const LaneSnapshot& end = lane.end;
    const LaneFigures all = run.figures()[index];
    const auto seconds = [&ui](double value) { return ui.timing(fmt::format("{:.3f} s", value)); };
    Detail detail{.title = lane.spec.text()};
    detail.values = {{"device", lane.machine.device.empty() ? "-" : shortDevice(lane.machine)},
                     {"status", statusText(run, index)},
                     {"steps", grouped(end.runSteps)},
                     {"examples", grouped(end.examples)},
                     {"to the finish line", seconds(all.seconds)},
                     {"on the device", seconds(all.deviceSeconds)},
                     {"warm-up", seconds(all.warmUpSeconds)},
                     {"evaluation", seconds(all.evaluationSeconds)},
                     {"mean loss", lossText(end.loss) + ", over about 50 steps"},
                     {"test loss", lossText(end.testLoss)},
                     {"test accuracy", percent(end.testAccuracy)}};
    if (lane.machine.throttled()) detail.values.emplace_back("throttled to", shareText(lane.machine));
    if (all.timedBeyond())
        detail.values.emplace_back("timed in all",
                                   seconds(all.timedSeconds) + ", beyond the finish line, too");
    if (!lane.machine.driver.empty()) detail.text = "Driver: " + lane.machine.driver + ". ";
    if (!lane.machine.kernels.empty()) detail.text += "Kernels: " + ui.timing(lane.machine.kernels) + ". ";
    if (lane.machine.software) detail.text += "This Vulkan device is software, not a GPU. ";
    detail.text += "Warm-up and evaluation do not count as training.";
    return detail;
}

/// The device, its name cut rather than what must not be left out.
std::string deviceText(const MachineInfo& machine, float width) {
    if (machine.device.empty()) return {};
    std::string text;
    for (std::size_t letters = 60; letters >= 8; letters -= 4) {
        text = honestDevice(machine, letters);
        if (textWidth(text) <= width) return text;
    }
    return fittedText(text, width);
}

void drawTitleRow(Ui& ui, const LaneSpec& spec, const MachineInfo& machine, const std::string& status,
                  ImU32 colour, ImU32 statusTint, ImVec2 at, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight();
    drawLaneMark(draw, spec, {at.x + line / 2, at.y + line / 2}, ui.px(15), colour);
    float x = at.x + line + ui.px(6);
    const std::string name = spec.text();
    draw.AddText(ui.fonts.strong, ImGui::GetFontSize(), {x, at.y}, ui.theme.text, name.c_str());
    ImGui::PushFont(ui.fonts.strong);
    x += textWidth(name) + ui.px(10);
    ImGui::PopFont();
    const float statusWidth = textWidth(status);
    const float right = at.x + width - statusWidth;
    // The sign alone has the colour: the words must be legible on the machine's.
    const std::size_t sign = status.starts_with("✓") || status.starts_with("✗") ? status.find(' ') : 0;
    draw.AddText({right, at.y}, statusTint, status.c_str(), status.c_str() + sign);
    drawText(draw, {right + textWidth(status.substr(0, sign)), at.y},
             sign > 0 ? ui.theme.text : ui.theme.muted, status.c_str() + sign);
    drawText(draw, {x, at.y}, ui.deviceColour(machine.software), deviceText(machine, right - x - ui.px(10)));
}

/// After a race, where the lane was when the fastest one finished: the distance is the result.
Way wayOf(const RaceRun& run, std::size_t index) {
    Way way{.now = shareOfWay(run.finish, run.lanes[index]), .later = 0};
    if (!canReplay(run)) return way;
    const LaneResult* fastest = nullptr;
    for (const LaneResult& lane : run.lanes)
        if (lane.end.status == LaneStatus::finished &&
            (fastest == nullptr || lane.end.trainingSeconds < fastest->end.trainingSeconds))
            fastest = &lane;
    if (fastest == nullptr || run.lanes[index].end.status != LaneStatus::finished) return way;
    return {.now = shareAfter(run, index, fastest->end.trainingSeconds),
            .later = way.now,
            .moment = translatedFormat("when {} finished", fastest->spec.text())};
}

void drawLane(Ui& ui, const RaceRun& run, std::span<const LaneSpec> specs, std::size_t index,
              const RaceReplay& replay, bool compact) {
    const LaneSpec& spec = specs[index];
    const LaneResult& lane = run.lanes[index];
    const bool replayed = replay.playing() && !ui.masked;
    const LaneFigures all = run.figures()[index];
    const LaneSnapshot end = replayed ? snapshotAfter(lane, replay.seconds()) : lane.end;
    const double share = replayed ? shareAfter(run, index, replay.seconds()) : shareOfWay(run.finish, lane);
    const ImU32 colour = laneColour(ui, specs, index);
    const float line = ImGui::GetTextLineHeight();
    const float pad = ui.px(12);
    const float room = ImGui::GetContentRegionAvail().x;
    const float width = room - 2 * pad;
    const float messageHeight =
        end.message.empty() ? 0 : ImGui::CalcTextSize(end.message.c_str(), nullptr, false, width).y;
    const float figuresAt = ui.px(8) + line + ui.px(7) + ui.px(trackUnits) + ui.px(8);
    float height = figuresAt;
    if (!compact) height += line + ui.px(8);
    if (messageHeight > 0) height += messageHeight + ui.px(6);

    const ImVec2 low = drawSurface(ui, colour, room, height, index);
    if (ImGui::IsItemHovered()) ui.detail(laneDetail(ui, run, index));
    const ImVec2 top{low.x + pad, low.y + ui.px(8)};
    const ImU32 tint = end.status == LaneStatus::failed     ? ui.theme.bad
                       : end.status == LaneStatus::finished ? ui.theme.good
                                                            : ui.theme.muted;
    drawTitleRow(ui, spec, lane.machine, statusLabel(ui, run, index, end, all, share, compact), colour, tint,
                 top, width);
    const Way way = replayed || ui.masked ? Way{share, share} : wayOf(run, index);
    drawTrack(ui, spec, colour, way, {top.x, top.y + line + ui.px(7)}, width, ui.px(trackUnits));
    if (!compact)
        drawFigures(ui, cardFigures(ui, lane, end, all, run.over), {top.x, low.y + figuresAt}, width);
    if (messageHeight > 0)
        ImGui::GetWindowDrawList()->AddText(nullptr, 0, {top.x, low.y + height - messageHeight - ui.px(8)},
                                            ui.theme.bad, end.message.c_str(), nullptr, width);
}

/// What a lane is that has not begun. Where it is the best, the machine says more than the rung does.
std::string startingText(const Ui& ui, const LaneSpec& spec) {
    if (spec.rung != Rung::best) return std::string(spec.row().idea);
    const auto called = [](const std::string& name) {
        MachineInfo machine;
        machine.device = name;
        return shortDevice(machine);
    };
    if (!spec.gpu) return translatedFormat("{}, with the fastest code for this network", called(cpuName()));
    if (!spec.device.empty()) return translatedFormat("Device {}, with its fastest kernels", spec.device);
    const gpu::DeviceReport& device = ui.graphics.device().report();
    const bool software = device.type == gpu::DeviceType::software;
    const std::string whole = called(device.name);
    return software ? translatedFormat("{} (software, not a GPU), with its fastest kernels", whole)
                    : translatedFormat("{}, with its fastest kernels", whole);
}

/// Its name in large type, what runs it, as far as there is room for it, and the track.
void drawStartingLane(Ui& ui, std::span<const LaneSpec> specs, std::size_t index, float height) {
    const LaneSpec& spec = specs[index];
    const ImU32 colour = laneColour(ui, specs, index);
    const float pad = ui.px(14);
    const float room = ImGui::GetContentRegionAvail().x;
    const float width = room - 2 * pad;
    const ImVec2 low = drawSurface(ui, colour, room, height, index);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    ImFont* font = height > ui.px(80) ? ui.fonts.title : ui.fonts.strong;
    const float title = font->FontSize;
    draw.AddText(font, title, {low.x + pad, low.y + pad}, ui.theme.text, spec.text().c_str());

    const std::string idea = startingText(ui, spec);
    const float ideaTop = low.y + pad + title + ui.px(4);
    const float ideaHeight = ImGui::CalcTextSize(idea.c_str(), nullptr, false, width).y;
    const float left = low.y + height - ideaTop - ideaHeight - pad;
    const bool told = left >= ui.px(trackUnits + 16);
    if (told) draw.AddText(nullptr, 0, {low.x + pad, ideaTop}, ui.theme.muted, idea.c_str(), nullptr, width);
    const float top = told ? ideaTop + ideaHeight : ideaTop;
    const float free = low.y + height - pad - top;
    const float track = std::clamp(free * 0.5f, ui.px(6), ui.px(56));
    drawTrack(ui, spec, colour, {}, {low.x + pad, top + (free - track) / 2 + ui.px(4)}, width, track);
}

} // namespace

void drawLanes(Ui& ui, const RaceRun& run, const RaceReplay& replay) {
    const std::vector<LaneSpec> specs = run.specs();
    const bool compact = lowRoom(ui, specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) drawLane(ui, run, specs, i, replay, compact);
}

void drawStartingLanes(Ui& ui, std::span<const LaneSpec> specs, float height) {
    constexpr float leastUnits = 58;
    const float gap = ImGui::GetStyle().ItemSpacing.y;
    const auto count = static_cast<float>(specs.size());
    const float each = std::max((height - gap * (count - 1)) / count, ui.px(leastUnits));
    for (std::size_t i = 0; i < specs.size(); ++i) drawStartingLane(ui, specs, i, each);
}

} // namespace lockstep::demos
