#include "demos/exhibits/race/race_lanes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/words/text.h"
#include "engine/cpu/cpu_info.h"

namespace lockstep::demos {

std::size_t lanesBefore(std::span<const LaneSpec> lanes, std::size_t index) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < index; ++i) before += lanes[i].gpu == lanes[index].gpu ? 1 : 0;
    return before;
}

ImU32 laneColour(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index) {
    constexpr float shade = 0.25f;
    const std::size_t before = lanesBefore(lanes, index);
    const Theme& theme = ui.theme;
    // Of Okabe and Ito's colours those that no machine has and that mean neither right nor wrong.
    const ImU32 purple = seriesColour(theme, 3);
    const ImU32 yellow = theme.dark ? IM_COL32(240, 228, 66, 255) : IM_COL32(138, 122, 0, 255);
    const ImU32 machine = ui.colour(lanes[index]);
    const ImU32 colour = before % 2 == 0 ? machine : lanes[index].gpu ? purple : yellow;
    return mixed(colour, theme.text, std::min(shade * static_cast<float>(before / 2 * 2), 0.85f));
}

void drawMark(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index, ImVec2 centre, float size) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    drawLaneMark(draw, lanes[index], centre, size, laneColour(ui, lanes, index));
    if (lanesBefore(lanes, index) % 2 == 1)
        drawLaneMark(draw, lanes[index], centre, 0.45f * size, ui.theme.background);
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
constexpr float cardUnits = 87; // a whole card, without pictures

/// Only name, track and rate: where many lanes or large letters leave too little for the curves. Before the
/// first lane is drawn.
bool lowRoom(const Ui& ui, std::size_t lanes) {
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

/// Where the lane is on its track, 0 to 1.
struct Way {
    double now = 0;
    bool whole = false;      ///< it reached the flag later
    std::string moment = {}; ///< what `now` is then, and in fewer words
    std::string brief = {};
};

/// Right of x or, where there is no room, left of it.
/// start   of the track, in its middle
void drawMoment(Ui& ui, const Way& way, float x, float gap, ImVec2 start, float width) {
    const SmallLetters small(ui);
    const float y = start.y - ImGui::GetFontSize() / 2;
    for (const std::string& words : {way.moment, way.brief}) {
        const float letters = lettersWidth(words) + ui.px(8);
        const bool right = x + gap + letters <= start.x + width;
        if (!right && x - gap - letters < start.x) continue;
        const float left = right ? x + gap : x - gap - letters + ui.px(8);
        ImGui::GetWindowDrawList()->AddText({left, y}, ui.theme.text, words.c_str());
        return;
    }
}

void drawTrack(Ui& ui, std::span<const LaneSpec> specs, std::size_t index, const Way& way, ImVec2 at,
               float width, float height) {
    const ImU32 colour = laneColour(ui, specs, index);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float end = at.x + width - (height + ui.px(4)) / 2;
    draw.AddRectFilled(at, {at.x + width, at.y + height}, ui.theme.background, height / 2);
    const auto place = [&](double share) {
        return at.x + height / 2 + (end - at.x - height) * static_cast<float>(share);
    };
    const float x = place(way.now);
    const bool arrived = way.now >= 1;
    if (way.whole) draw.AddRectFilled(at, {at.x + width, at.y + height}, faded(colour, 0.38f), height / 2);
    if (way.now > 0)
        draw.AddRectFilled(at, {arrived ? at.x + width : x, at.y + height}, faded(colour, 0.55f), height / 2,
                           arrived ? ImDrawFlags_RoundCornersAll : ImDrawFlags_RoundCornersLeft);
    if (way.whole && !arrived) {
        draw.AddLine({x, at.y - ui.px(7)}, {x, at.y + height + ui.px(7)}, ui.theme.text, ui.line(2));
        drawMoment(ui, way, x, height / 2 + ui.px(8), {at.x, at.y + height / 2}, end - at.x);
    }
    drawFlag(ui, draw, {end, at.y - ui.px(2)}, height + ui.px(4));
    drawMark(ui, specs, index, {x, at.y + height / 2}, height + ui.px(9));
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
        return translatedFormat("✓ {} in {}", words, ui.timing(duration(all.seconds)));
    if ((compact || finished) && end.runSteps > 0 && end.status != LaneStatus::failed)
        return translatedFormat("{}{} samples/s",
                                !finished ? ""
                                : compact ? "✓ "
                                          : fmt::format("✓ {}, ", words),
                                ui.timing(shortRate(end.over() ? all.rate : end.recentRate)));
    if (finished) return "✓ " + words;
    if (end.status == LaneStatus::failed) return "✗ " + words;
    const bool moving = end.status == LaneStatus::running || end.status == LaneStatus::paused;
    return moving ? translatedFormat("{} {:.0f} %", words, std::floor(100 * share)) : words;
}

Detail laneDetail(const Ui& ui, const RaceRun& run, std::size_t index) {
    const LaneResult& lane = run.lanes[index];
    const LaneSnapshot& end = lane.end;
    const LaneFigures all = run.figures()[index];
    const auto seconds = [&ui](double value) { return ui.timing(translatedFormat("{:.3f} s", value)); };
    Detail detail{.title = lane.spec.text()};
    detail.values = {{"device", lane.machine.device.empty() ? "-" : shortDevice(lane.machine)},
                     {"threads", lane.spec.gpu ? "-" : threadsText(run, index)},
                     {"status", statusText(run, index)},
                     {"steps", grouped(end.runSteps)},
                     {"examples", grouped(end.examples)},
                     {"to the finish line", seconds(all.seconds)},
                     {"on the device", seconds(all.deviceSeconds)},
                     {"warm-up", seconds(all.warmUpSeconds)},
                     {"evaluation", seconds(all.evaluationSeconds)},
                     {"mean loss", translatedFormat("{}, over about 50 steps", lossText(end.loss))},
                     {"test loss", lossText(end.testLoss)},
                     {"test accuracy", percent(end.testAccuracy)}};
    if (lane.machine.throttled()) detail.values.emplace_back("throttled to", shareText(lane.machine));
    if (all.timedBeyond())
        detail.values.emplace_back(
            "timed in all", translatedFormat("{}, beyond the finish line, too", seconds(all.timedSeconds)));
    if (!lane.machine.driver.empty()) detail.text = translatedFormat("Driver: {}. ", lane.machine.driver);
    if (!lane.machine.kernels.empty())
        detail.text += translatedFormat("Kernels: {}. ", ui.timing(translatedParts(lane.machine.kernels)));
    if (lane.machine.software) detail.text += translated("This Vulkan device is software, not a GPU. ");
    detail.text += translated("Warm-up and evaluation do not count as training.");
    return detail;
}

/// The machine that a lane runs on; `machine` has no device before the lane prepares.
std::string machineTitle(const Ui& ui, const LaneSpec& spec, const MachineInfo& machine = {}) {
    const auto called = [](const std::string& name) {
        MachineInfo other;
        other.device = name;
        return shortDevice(other);
    };
    const bool known = !machine.device.empty();
    if (!spec.gpu) return translatedFormat("Processor: {}", known ? shortDevice(machine) : called(cpuName()));
    if (!known && !spec.device.empty()) return translatedFormat("Device {}", spec.device);
    const gpu::DeviceReport& device = ui.graphics.device().report();
    const std::string name = known ? shortDevice(machine) : called(device.name);
    if (known ? machine.software : device.type == gpu::DeviceType::software)
        return translatedFormat("Vulkan in software: {}", name);
    return translatedFormat("Graphics card: {}", name);
}

/// What must not be left out about a lane's machine: its threads, its share, that it is no GPU.
std::string machineRemark(const RaceRun& run, std::size_t index) {
    const MachineInfo& machine = run.lanes[index].machine;
    if (machine.device.empty()) return {};
    if (!run.lanes[index].spec.gpu) return threadsText(run, index);
    const std::string share = shareText(machine);
    const std::string kind(machine.software ? translated("not a GPU") : "");
    return kind + (kind.empty() || share.empty() ? "" : ", ") + share;
}

/// The machine as before the start, the lane's name beside it: the machine's is cut where room is short.
void drawTitleRow(Ui& ui, const RaceRun& run, std::span<const LaneSpec> specs, std::size_t index,
                  const std::string& status, ImU32 statusTint, ImVec2 at, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight();
    drawMark(ui, specs, index, {at.x + line / 2, at.y + line / 2}, ui.px(15));
    float x = at.x + line + ui.px(6);
    const float statusWidth = textWidth(status);
    const float right = at.x + width - statusWidth;
    const std::string name = specs[index].text();
    const std::string remark = machineRemark(run, index);
    const float gap = ui.px(10);
    const float beside = lettersWidth(name) + gap + (remark.empty() ? 0 : lettersWidth(remark) + gap);
    ImGui::PushFont(ui.fonts.strong);
    const std::string machine = fittedText(machineTitle(ui, specs[index], run.lanes[index].machine),
                                           std::max(right - gap - beside - x, 1.0f));
    draw.AddText({x, at.y}, ui.theme.text, machine.c_str());
    x += lettersWidth(machine) + gap;
    ImGui::PopFont();
    draw.AddText({x, at.y}, ui.theme.muted, name.c_str());
    x += lettersWidth(name) + gap;
    // The sign alone has the colour: the words must be legible on the machine's.
    const std::size_t sign = status.starts_with("✓") || status.starts_with("✗") ? status.find(' ') : 0;
    draw.AddText({right, at.y}, statusTint, status.c_str(), status.c_str() + sign);
    drawText(draw, {right + textWidth(status.substr(0, sign)), at.y},
             sign > 0 ? ui.theme.text : ui.theme.muted, status.c_str() + sign);
    draw.AddText({x, at.y}, ui.deviceColour(run.lanes[index].machine.software),
                 fittedText(remark, std::max(right - gap - x, 1.0f)).c_str());
}

/// After a race, where the lane was when the fastest one finished: the distance is the result.
Way wayOf(const RaceRun& run, std::size_t index) {
    const std::optional<LaneGap> gap = gapOf(run, index);
    if (!gap) return {.now = shareOfWay(run.finish, run.lanes[index])};
    const std::string fastest = laneName(run, gap->fastest);
    return {.now = gap->share,
            .whole = true,
            .moment = gap->byRates ? translatedFormat("here when {} finished, by their samples/s", fastest)
                                   : translatedFormat("here when {} finished", fastest),
            .brief = translatedFormat("when {} finished", fastest)};
}

void drawLane(Ui& ui, const RaceRun& run, std::span<const LaneSpec> specs, std::size_t index,
              const RaceReplay& replay, const RacePictures& pictures, float pictureHeight, bool compact) {
    const LaneResult& lane = run.lanes[index];
    const bool replayed = replay.playing() && !ui.masked;
    const LaneFigures all = run.figures()[index];
    const LaneSnapshot end = ui.masked ? lane.end : replay.shown(lane);
    const double share = replayed ? shareAfter(run, index, replay.seconds()) : shareOfWay(run.finish, lane);
    const ImU32 colour = laneColour(ui, specs, index);
    const float line = ImGui::GetTextLineHeight();
    const float pad = ui.px(12);
    const float room = ImGui::GetContentRegionAvail().x;
    const float width = room - 2 * pad;
    const std::string message = translatedParts(end.message);
    const float messageHeight =
        message.empty() ? 0 : ImGui::CalcTextSize(message.c_str(), nullptr, false, width).y;
    const float figuresAt = ui.px(8) + line + ui.px(7) + ui.px(trackUnits) + ui.px(8);
    float height = figuresAt;
    if (!compact) height += line + ui.px(8);
    const float picturesAt = height;
    height += pictureHeight;
    if (messageHeight > 0) height += messageHeight + ui.px(6);

    const ImVec2 low = drawSurface(ui, colour, room, height, index);
    if (ImGui::IsItemHovered()) ui.detail(laneDetail(ui, run, index));
    const ImVec2 top{low.x + pad, low.y + ui.px(8)};
    const ImU32 tint = end.status == LaneStatus::failed     ? ui.theme.bad
                       : end.status == LaneStatus::finished ? ui.theme.good
                                                            : ui.theme.muted;
    drawTitleRow(ui, run, specs, index, statusLabel(ui, run, index, end, all, share, compact), tint, top,
                 width);
    const Way way = replayed || ui.masked ? Way{share} : wayOf(run, index);
    drawTrack(ui, specs, index, way, {top.x, top.y + line + ui.px(7)}, width, ui.px(trackUnits));
    if (!compact)
        drawFigures(ui, cardFigures(ui, lane, end, all, run.over), {top.x, low.y + figuresAt}, width);
    if (pictureHeight > 0) {
        const Place place{{top.x, low.y + picturesAt}, {top.x + width, low.y + picturesAt + pictureHeight}};
        // Of the replayed moment no answers are recorded: those from later would contradict its step.
        const std::optional<std::uint64_t> until = replayed ? std::optional(end.step) : std::nullopt;
        pictures.drawAnswers(ui, run, index, {place.min, {place.max.x, place.max.y - ui.px(8)}}, until);
    }
    if (messageHeight > 0)
        ImGui::GetWindowDrawList()->AddText(nullptr, 0, {top.x, low.y + height - messageHeight - ui.px(8)},
                                            ui.theme.bad, message.c_str(), nullptr, width);
}

/// What a lane does that has not begun.
std::string startingText(const Ui& ui, const LaneSpec& spec) {
    if (spec.rung != Rung::best) return std::string(translated(spec.row().idea));
    if (!spec.gpu) return std::string(translated("Runs the fastest code for this network"));
    const bool software =
        spec.device.empty() && ui.graphics.device().report().type == gpu::DeviceType::software;
    return std::string(translated(software
                                      ? "Runs the fastest kernels for this network, on the CPU: not a GPU"
                                      : "Runs the fastest kernels for this network"));
}

/// The machine in large type, the lane's name beside it, the data that it is about to learn, and the track.
void drawStartingLane(Ui& ui, std::span<const LaneSpec> specs, const RacePictures& pictures,
                      std::size_t index, float height) {
    const LaneSpec& spec = specs[index];
    const float pad = ui.px(14);
    const float room = ImGui::GetContentRegionAvail().x;
    float width = room - 2 * pad;
    const ImVec2 low = drawSurface(ui, laneColour(ui, specs, index), room, height, index);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 at{low.x + pad, low.y + pad};
    const float bottom = low.y + height - pad;
    if (pictures.kind() == RacePictures::Kind::points) {
        const float side = std::min(bottom - at.y, 0.4f * width);
        pictures.drawPoints(ui, {{at.x + width - side, at.y}, {at.x + width, bottom}});
        width -= side + pad;
    }

    ImGui::PushFont(height > ui.px(80) ? ui.fonts.title : ui.fonts.strong);
    const float title = ImGui::GetFontSize();
    const float nameWidth = textWidth(spec.text());
    drawMark(ui, specs, index, {at.x + title / 2, at.y + title / 2}, 0.9f * title);
    const float left = at.x + title + ui.px(8);
    const std::string machine = fittedText(machineTitle(ui, spec), at.x + width - left - nameWidth);
    draw.AddText({left, at.y}, ui.theme.text, machine.c_str());
    const float beside = left + lettersWidth(machine) + ui.px(12);
    ImGui::PopFont();
    draw.AddText({beside, at.y + title - 1.1f * ImGui::GetFontSize()}, ui.theme.muted, spec.text().c_str());

    const bool images = pictures.kind() == RacePictures::Kind::images;
    const float track = std::clamp((images ? 0.12f : 0.22f) * height, ui.px(6), ui.px(images ? 24 : 48));
    const float trackTop = bottom - track;
    drawTrack(ui, specs, index, {}, {at.x, trackTop}, width, track);

    const std::string idea = startingText(ui, spec);
    float top = at.y + title + ui.px(6);
    const float ideaHeight = ImGui::CalcTextSize(idea.c_str(), nullptr, false, width).y;
    if (top + ideaHeight + ui.px(12) <= trackTop) {
        draw.AddText(nullptr, 0, {at.x, top}, ui.theme.muted, idea.c_str(), nullptr, width);
        top += ideaHeight + ui.px(10);
    }
    pictures.drawRows(ui, {{at.x, top}, {at.x + width, trackTop - ui.px(12)}});
}

} // namespace

void drawLanes(Ui& ui, const RaceRun& run, const RaceReplay& replay, const RacePictures& pictures,
               std::optional<float> below) {
    const std::vector<LaneSpec> specs = run.specs();
    const bool compact = lowRoom(ui, specs.size());
    const float room = ImGui::GetContentRegionAvail().y;
    float row = compact ? 0 : pictures.rowHeight(ui, specs.size(), ui.px(cardUnits), room);
    if (row > 0 && below) {
        const float each =
            (room - *below) / static_cast<float>(specs.size()) - ImGui::GetStyle().ItemSpacing.y;
        row = std::max(row, each - ui.px(cardUnits));
    }
    for (std::size_t i = 0; i < specs.size(); ++i)
        drawLane(ui, run, specs, i, replay, pictures, row, compact);
}

void drawStartingLanes(Ui& ui, std::span<const LaneSpec> specs, const RacePictures& pictures, float height) {
    constexpr float leastUnits = 58;
    const float gap = ImGui::GetStyle().ItemSpacing.y;
    const auto count = static_cast<float>(specs.size());
    const float each = std::max((height - gap * (count - 1)) / count, ui.px(leastUnits));
    for (std::size_t i = 0; i < specs.size(); ++i) drawStartingLane(ui, specs, pictures, i, each);
}

} // namespace lockstep::demos
