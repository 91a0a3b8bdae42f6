#include "demos/exhibits/map/map_pane.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/report/grid_colours.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr double uploadSeconds = 0.1;  // between two of them, unless the picture moves
constexpr double gestureSeconds = 0.7; // turns of the wheel so close to each other are one
constexpr float zoomOfNotch = 0.8f;
constexpr double zoomOfClick = 0.5;

const LaneSpec gpuLane{true, Rung::best, {}};
const LaneSpec cpuLane{false, Rung::best, {}};

float widthOf(const Place& place) { return place.max.x - place.min.x; }
float heightOf(const Place& place) { return place.max.y - place.min.y; }

/// As large as it can be within `room`, in the middle of it.
Place placeOf(MapSize size, ImVec2 start, ImVec2 room) {
    const float scale =
        std::min(room.x / static_cast<float>(size.width), room.y / static_cast<float>(size.height));
    const ImVec2 extent{std::max(1.0f, std::floor(scale * static_cast<float>(size.width))),
                        std::max(1.0f, std::floor(scale * static_cast<float>(size.height)))};
    const ImVec2 min{start.x + std::floor((room.x - extent.x) / 2), start.y};
    return {min, {min.x + extent.x, min.y + extent.y}};
}

/// As much as there is room for; nothing where there is none.
std::string nameFor(const AxisName& name, float room) {
    for (const char* text : {name.full, name.brief})
        if (textWidth(text) <= room) return std::string(translated(text));
    return {};
}

/// Text on the picture, legible on every colour.
void drawOnPicture(const Ui& ui, ImVec2 at, const std::string& text) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    draw.AddRectFilled({at.x, at.y}, {at.x + size.x + ui.px(8), at.y + size.y + ui.px(2)},
                       faded(ui.theme.panel, 0.8f), ui.px(4));
    draw.AddText({at.x + ui.px(4), at.y + ui.px(1)}, ui.theme.text, text.c_str());
}

void drawMark(const Ui& ui, const Place& picture, MapSize size, std::uint32_t pixel) {
    const float scale = widthOf(picture) / static_cast<float>(size.width);
    const ImVec2 at{picture.min.x + (static_cast<float>(pixel % size.width) + 0.5f) * scale,
                    picture.min.y + (static_cast<float>(pixel / size.width) + 0.5f) * scale};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float radius = std::max(ui.px(6), scale);
    draw.AddCircle(at, radius, IM_COL32(0, 0, 0, 255), 24, ui.line(3));
    draw.AddCircle(at, radius, IM_COL32(255, 255, 255, 255), 24, ui.line());
}

/// "27.2k", and "networks/s, 65,536 in 2.41 s". A picture of several machines has no common time.
std::pair<std::string, std::string> progressText(const Ui& ui, const MapSide& side) {
    const double seconds = side.pictureSeconds.value_or(0);
    if (seconds <= 0) return {grouped(side.pictureNetworks), std::string(translated("networks"))};
    const double rate = static_cast<double>(side.pictureNetworks) / seconds;
    return {ui.timing(shortRate(rate)),
            translatedFormat("networks/s, {} in {}", grouped(side.pictureNetworks),
                             ui.timing(duration(seconds)))};
}

/// What trains, or why nothing does, and the colour of that.
std::pair<std::string, ImU32> remarkOf(const Ui& ui, const MapSide& side) {
    if (!side.failure.empty()) return {translatedParts(side.failure), ui.theme.bad};
    const MachineInfo* machine = side.painter();
    if (machine == nullptr) return {"not started", ui.theme.muted};
    return {ui.masked ? "-" : honestDevice(*machine), ui.deviceColour(machine->software)};
}

std::string shareText(const MapSide& side) {
    if (side.grid.complete()) return std::string(translated("done"));
    const double share =
        static_cast<double>(side.grid.known()) / static_cast<double>(side.grid.size().pixels());
    // A preview is less than a hundredth, and not nothing.
    if (share > 0 && share < 0.1) return translatedFormat("{:.1f} %", std::floor(1000 * share) / 10);
    return translatedFormat("{:.0f} %", std::floor(100 * share));
}

void drawTitle(Ui& ui, MapMachine machine) {
    const LaneSpec& lane = laneOf(machine);
    const float height = ImGui::GetTextLineHeight();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    drawLaneMark(draw, lane, {start.x + height / 2, start.y + height / 2}, height * 0.7f, ui.colour(lane));
    ImGui::SetCursorScreenPos({start.x + height * 1.4f, start.y});
    ui.text(titleOf(machine), 0, ui.fonts.strong);
}

void drawHeader(Ui& ui, const MapSide& side) {
    ImGui::SameLine();
    const auto& [remark, colour] = remarkOf(ui, side);
    ui.text(fittedText(remark, ImGui::GetContentRegionAvail().x), colour);
    const auto [number, words] = progressText(ui, side);
    const float lower = 0.8f * (ui.fonts.title->FontSize - ImGui::GetFontSize());
    ui.text(number, 0, ui.fonts.title);
    ImGui::SameLine(0, ui.px(6));
    const ImVec2 at{ImGui::GetCursorScreenPos().x, ImGui::GetCursorScreenPos().y + lower};
    const std::string share = shareText(side);
    const float room = ImGui::GetContentRegionAvail().x;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float beside = room - textWidth(share) - ui.px(12);
    draw.AddText(at, ui.theme.muted, fittedText(words, std::max(beside, 1.0f)).c_str());
    draw.AddText({at.x + room - textWidth(share), at.y}, ui.theme.text, share.c_str());
    ImGui::NewLine();
}

void drawColumn(Ui& ui, const MapSide& side) {
    const auto& [remark, colour] = remarkOf(ui, side);
    ui.paragraph(remark, colour);
    const auto [number, words] = progressText(ui, side);
    ui.text(number, 0, ui.fonts.title);
    ui.paragraph(words, ui.theme.muted);
    ui.paragraph(shareText(side));
}

void drawAxes(const Ui& ui, const MapModel& model, const Place& picture) {
    const MapWindow& window = model.window();
    const MapAxes axes = model.settings().job.axes;
    const double decades = window.right - window.left;
    const auto number = [decades](double logarithm) { return hyperparameterText(logarithm, decades); };
    const float line = ImGui::GetTextLineHeight();
    const float inset = ui.px(4);
    const float room = widthOf(picture) - 4 * inset;
    const std::string top = "↑ " + number(window.top) + "  ";
    drawOnPicture(ui, {picture.min.x + inset, picture.min.y + inset},
                  top + nameFor(upName(axes), room - textWidth(top)));
    if (model.closest())
        drawOnPicture(ui, {picture.min.x + inset, picture.min.y + line + 3 * inset},
                      fittedText("fp32 limits the zoom here", room));
    drawOnPicture(ui, {picture.min.x + inset, picture.max.y - line - 2 * inset}, number(window.bottom));

    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float y = picture.max.y + ui.px(3);
    const std::string left = number(window.left);
    const std::string right = number(window.right) + " →";
    const float leftWidth = textWidth(left);
    const float rightWidth = textWidth(right);
    if (leftWidth + rightWidth < widthOf(picture))
        draw.AddText({picture.min.x, y}, ui.theme.muted, left.c_str());
    draw.AddText({picture.max.x - rightWidth, y}, ui.theme.muted, right.c_str());
    const float between = widthOf(picture) - leftWidth - rightWidth - ui.px(16);
    const std::string name = nameFor(acrossName(axes), between);
    draw.AddText({picture.min.x + leftWidth + ui.px(8) + (between - textWidth(name)) / 2, y}, ui.theme.text,
                 name.c_str());
}

} // namespace

const LaneSpec& laneOf(MapMachine machine) { return machine == MapMachine::gpu ? gpuLane : cpuLane; }
const char* titleOf(MapMachine machine) { return machine == MapMachine::gpu ? "GPU" : "CPU"; }

float MapPane::heightFor(const Ui& ui, const MapModel& model, float width) {
    const ImVec2 padding = ImGui::GetStyle().WindowPadding;
    const float form = static_cast<float>(model.size().width) / static_cast<float>(model.size().height);
    const float words = 2 * ImGui::GetTextLineHeight() + ui.fonts.title->FontSize + ui.px(16);
    return 2 * padding.y + words + (width - 2 * padding.x) / form;
}

// The counters stand above the picture, or beside it where the picture is then larger.
MapPixel MapPane::draw(Ui& ui, MapModel& model, MapPixel marked, ImVec2 room) {
    MapPixel hovered;
    const MapSide& side = model.side(machine_);
    behind_ = false; // nor is a picture that there is no room for
    ui.beginCard(titleOf(machine_), room, ui.surface(laneOf(machine_)));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(8), ui.px(4)});
    const float labels = ImGui::GetTextLineHeight() + ui.px(4);
    const ImVec2 whole = ImGui::GetContentRegionAvail();
    const float form = static_cast<float>(model.size().width) / static_cast<float>(model.size().height);
    const float gap = ui.px(10);
    const float spare = whole.x - form * (whole.y - labels) - gap;
    const float column = std::clamp(spare, ui.px(76), ui.px(170)); // least: "networks/s,"
    const float header = ImGui::GetTextLineHeight() + ui.fonts.title->FontSize + ui.px(8);
    const float beside = std::min(whole.x - column - gap, form * (whole.y - labels));
    const float below = std::min(whole.x, form * (whole.y - labels - header));
    if (model.settings().resolution > 0 && beside > below) {
        ImGui::BeginChild("counters", {column, 0}, false, ImGuiWindowFlags_NoScrollbar);
        drawTitle(ui, machine_);
        drawColumn(ui, side);
        ImGui::EndChild();
        ImGui::SameLine(0, gap);
    } else {
        drawTitle(ui, machine_);
        drawHeader(ui, side);
    }
    ImVec2 left = ImGui::GetContentRegionAvail();
    left.y -= labels;
    if (left.x >= ui.px(24) && left.y >= ui.px(24)) hovered = drawPicture(ui, model, marked, left);
    ImGui::PopStyleVar();
    ui.endCard();
    return hovered;
}

MapPixel MapPane::drawPicture(Ui& ui, MapModel& model, MapPixel marked, ImVec2 room) {
    if (machine_ == MapMachine::gpu)
        model.setRoom({static_cast<std::uint32_t>(room.x), static_cast<std::uint32_t>(room.y)});
    const Place place = placeOf(model.size(), ImGui::GetCursorScreenPos(), room);
    ImGui::SetCursorScreenPos(place.min);
    const std::string name = std::string("map/") + titleOf(machine_);
    ImGui::InvisibleButton(name.c_str(), {widthOf(place), heightOf(place)});
    ui.noteControl(name.c_str(),
                   "One network per pixel. The wheel zooms, a drag pans, a double click zooms in by 2.");
    const MapPixel hovered = handleMouse(ui, model, place);
    refresh(ui, model, widthOf(place) < static_cast<float>(model.size().width));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(place.min, place.max, ui.theme.background);
    draw.AddImage(picture_->id(), place.min, place.max);
    draw.AddRect(place.min, place.max, ui.theme.border, 0, 0, ui.line());
    drawAxes(ui, model, place);
    if (marked) drawMark(ui, place, model.size(), *marked);
    return hovered;
}

// Colours what has changed, and shows it some ten times a second; at once when the picture moves.
void MapPane::refresh(Ui& ui, MapModel& model, bool smooth) {
    OutcomeGrid& grid = model.grid(machine_);
    const MapSize size = grid.size();
    const bool fits =
        picture_ && picture_->width() == size.width && picture_->height() == size.height && smooth_ == smooth;
    if (!fits) picture_ = std::make_unique<Picture>(ui.graphics, size.width, size.height, smooth);
    smooth_ = smooth;
    const bool moved = window_ != model.window();
    behind_ = grid.changed();
    if (fits && !behind_) return;
    if (fits && !moved && !ui.scripted && ui.now - uploaded_ < uploadSeconds) return;
    recolour(grid, model.settings().job);
    picture_->upload(colours_);
    window_ = model.window();
    uploaded_ = ui.now;
    behind_ = false;
}

// Most of a changed row is as it was, and a colour costs more than to see that.
void MapPane::recolour(OutcomeGrid& grid, const MapJob& job) {
    const MapSize size = grid.size();
    if (job != job_ || coloured_.size() != size.pixels()) {
        colours_.assign(size.pixels(), 0);
        coloured_.assign(size.pixels(), std::numeric_limits<float>::quiet_NaN());
        job_ = job;
    }
    for (const std::uint32_t row : grid.takeChangedRows())
        for (std::uint32_t index = row * size.width; index < (row + 1) * size.width; ++index) {
            const MapOutcome outcome = grid.shown(index);
            if (outcome == coloured_[index]) continue;
            coloured_[index] = outcome;
            colours_[index] = std::isnan(outcome) ? 0 : mapColour(job, outcome);
        }
}

MapPixel MapPane::handleMouse(Ui& ui, MapModel& model, const Place& picture) {
    if (ui.hidingControls) return std::nullopt;
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemActivated()) dragged_ = {};
    if (ImGui::IsItemActive()) drag(ui, model, picture);
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const double across = static_cast<double>((io.MousePos.x - picture.min.x) / widthOf(picture));
    const double down = static_cast<double>((io.MousePos.y - picture.min.y) / heightOf(picture));
    if (io.MouseWheel != 0) {
        const auto factor = static_cast<double>(std::pow(zoomOfNotch, io.MouseWheel));
        sayRefused(
            ui, model.look(zoomed(model.window(), across, down, factor), ui.now - wheeled_ > gestureSeconds));
        wheeled_ = ui.now;
    }
    if (ImGui::IsMouseDoubleClicked(0))
        sayRefused(ui, model.look(zoomed(model.window(), across, down, zoomOfClick), true));
    const MapSize size = model.size();
    const auto pixel = [](double share, std::uint32_t count) {
        return std::min(static_cast<std::uint32_t>(std::clamp(share, 0.0, 1.0) * count), count - 1);
    };
    return pixel(down, size.height) * size.width + pixel(across, size.width);
}

void MapPane::drag(Ui& ui, MapModel& model, const Place& picture) {
    const float pixelsPerPoint = static_cast<float>(model.size().width) / widthOf(picture);
    const ImVec2 delta = ImGui::GetMouseDragDelta(0, ui.px(3));
    const MapOffset whole{std::lround(delta.x * pixelsPerPoint), std::lround(delta.y * pixelsPerPoint)};
    const MapOffset further{whole.columns - dragged_.columns, whole.rows - dragged_.rows};
    if (further == MapOffset{}) return;
    sayRefused(ui, model.pan(further, dragged_ == MapOffset{}));
    dragged_ = whole;
}

} // namespace lockstep::demos
