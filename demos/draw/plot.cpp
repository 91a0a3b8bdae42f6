#include "demos/draw/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/draw/plot_frame.h"

namespace lockstep::demos {

namespace {

std::size_t labelled(std::span<const PlotTick> ticks) {
    return static_cast<std::size_t>(
        std::ranges::count_if(ticks, [](const PlotTick& tick) { return !tick.label.empty(); }));
}

float widestLabel(std::span<const PlotTick> ticks) {
    float widest = 0;
    for (const PlotTick& tick : ticks) widest = std::max(widest, textWidth(tick.label));
    return widest;
}

// As many as stand beside each other: with more decimals they are wider.
std::vector<PlotTick> horizontalTicks(const PlotFrame& frame, bool whole) {
    const Ui& ui = frame.ui;
    const float width = frame.width();
    const auto fit = [&](const std::vector<PlotTick>& ticks) {
        return (widestLabel(ticks) + ui.px(16)) * static_cast<float>(labelled(ticks)) <= width;
    };
    std::vector<PlotTick> ticks;
    auto most = static_cast<std::size_t>(std::max(width / ui.px(52), 1.0f));
    for (; most > 0; --most)
        if (fit(ticks = plotTicks(frame.x, frame.logX, most, whole))) break;
    // A single number makes no scale.
    for (const std::size_t enough = most + 4; labelled(ticks) < 2 && most < enough;) {
        std::vector<PlotTick> more = plotTicks(frame.x, frame.logX, ++most, whole);
        if (fit(more)) ticks = std::move(more);
    }
    return ticks;
}

std::vector<PlotTick> verticalTicks(const PlotFrame& frame) {
    auto most = static_cast<std::size_t>(std::max(frame.height() / frame.ui.px(42), 1.0f));
    std::vector<PlotTick> ticks = plotTicks(frame.y, frame.logY, most);
    // A single number makes no scale.
    for (const std::size_t enough = most + 4; labelled(ticks) < 2 && most < enough;)
        ticks = plotTicks(frame.y, frame.logY, ++most);
    return ticks;
}

void drawGridLine(const PlotFrame& frame, ImVec2 from, ImVec2 to, const PlotTick& tick) {
    const ImU32 colour = faded(frame.ui.theme.grid, tick.label.empty() ? 0.5f : 1.0f);
    frame.draw.AddLine(from, to, colour, frame.ui.line());
}

void drawTicksBelow(const PlotFrame& frame, const PlotAxis& axis, const Place& whole) {
    const std::string title = shownAxisTitle(axis);
    const Ui& ui = frame.ui;
    const float titleLeft = whole.max.x - textWidth(title) - ui.px(2);
    const float top = frame.high.y + ui.px(6);
    float free = whole.min.x; // from here on nothing has been written
    for (const PlotTick& tick : horizontalTicks(frame, axis.whole)) {
        const float x = std::round(frame.at(tick.position, frame.y.low).x);
        if (x < frame.low.x - 1 || x > frame.high.x + 1) continue;
        drawGridLine(frame, {x, frame.low.y}, {x, frame.high.y}, tick);
        if (tick.label.empty()) continue;
        const float width = textWidth(tick.label);
        const float left = std::clamp(x - width / 2, whole.min.x, std::max(whole.max.x - width, whole.min.x));
        if (left < free || left + width > titleLeft - ui.px(10)) continue;
        drawText(frame.draw, {left, top}, ui.theme.muted, tick.label);
        free = left + width + ui.px(8);
    }
    if (titleLeft >= free) drawText(frame.draw, {titleLeft, top}, ui.theme.muted, title);
}

void drawTicksLeft(const PlotFrame& frame) {
    const Ui& ui = frame.ui;
    const float letters = ImGui::GetFontSize();
    float free = frame.high.y + letters; // above this nothing has been written
    for (const PlotTick& tick : verticalTicks(frame)) {
        const float y = std::round(frame.at(frame.x.low, tick.position).y);
        if (y < frame.low.y - 1 || y > frame.high.y + 1) continue;
        drawGridLine(frame, {frame.low.x, y}, {frame.high.x, y}, tick);
        if (tick.label.empty() || y + letters / 2 > free) continue;
        const float width = textWidth(tick.label);
        drawText(frame.draw, {frame.low.x - ui.px(8) - width, y - letters / 2}, ui.theme.muted, tick.label);
        free = y - letters / 2;
    }
}

// Grid, ticks and titles. `whole` is the area with its margins.
void drawPlotAxes(const PlotFrame& frame, const PlotOptions& options, const Place& whole) {
    drawTicksBelow(frame, options.x, whole);
    drawTicksLeft(frame);
    const ImU32 axis = frame.ui.theme.border;
    frame.draw.AddLine({frame.low.x, frame.high.y}, frame.high, axis, frame.ui.line());
    frame.draw.AddLine(frame.low, {frame.low.x, frame.high.y}, axis, frame.ui.line());
}

std::optional<PlotRange> extentOf(std::span<const PlotCurve> curves, const PlotAxis& axis, bool log,
                                  bool vertical) {
    std::optional<PlotRange> extent;
    if (axis.shown) extent = plotExtent(std::array{axis.shown->low, axis.shown->high}, log);
    for (const PlotCurve& curve : curves) {
        const PlotLine& line = *curve.line;
        extent = united(extent, plotExtent(vertical ? line.y : line.x, log));
    }
    return extent;
}

void drawCalmSentence(const Ui& ui, const Ui::Place& whole, const std::string& sentence) {
    const std::string text(translated(sentence));
    const float wrap = whole.max.x - whole.min.x - ui.px(16);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap);
    const ImVec2 at{(whole.min.x + whole.max.x - size.x) / 2, (whole.min.y + whole.max.y - size.y) / 2};
    ImGui::GetWindowDrawList()->AddText(nullptr, 0, at, ui.theme.muted, text.c_str(), nullptr, wrap);
}

// Inside the margins that labels need.
void layOut(PlotFrame& frame, const Place& whole) {
    const Ui& ui = frame.ui;
    const float letters = ImGui::GetFontSize();
    frame.low.y = whole.min.y + letters / 2 + ui.px(2);
    frame.high.y = std::max(whole.max.y - letters - ui.px(8), frame.low.y + 1);
    frame.low.x = whole.min.x + widestLabel(verticalTicks(frame)) + ui.px(10);
    const float room = endLabelRoom(frame, whole.max.x - whole.min.x);
    frame.high.x = std::max(whole.max.x - std::max(room, ui.px(14)), frame.low.x + 1);
}

} // namespace

std::string axisTitle(const PlotAxis& axis) {
    return axis.title + (axis.unit.empty() ? "" : " (" + axis.unit + ")");
}

std::string shownAxisTitle(const PlotAxis& axis) {
    return std::string(translated(axis.title)) + (axis.unit.empty() ? "" : " (" + axis.unit + ")");
}

void Plot::draw(Ui& ui, const char* id, std::string_view words, std::span<const PlotLine> lines,
                const PlotOptions& options) {
    id_ = id;
    overlay_ = options.overlay;
    nowLogX_ = logX_.value_or(options.x.log);
    nowLogY_ = logY_.value_or(options.y.log);
    nowSmoothing_ = smoothing_.value_or(options.smoothing);
    const std::string axes =
        fmt::format("{}\n{}\n{}{}", options.x.title, options.y.title, nowLogX_, nowLogY_);
    if (std::exchange(shownAxes_, axes) != axes) fitAll();
    ImVec2 size = options.size;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (size.x <= 0) size.x = room.x;
    if (size.y <= 0) size.y = room.y;
    size = {std::max(size.x, ui.px(80)), std::max(size.y, ui.px(80))};
    const ImVec2 start = ImGui::GetCursorScreenPos();
    whole_ = {start, {start.x + size.x, start.y + size.y}};
    ImGui::PushID(id);
    ImGui::BeginGroup(); // one item to what follows
    ImGui::SetCursorScreenPos({start.x + options.lead, start.y});
    drawBar(ui, lines, options, size.x - options.lead);
    const float used = ImGui::GetCursorScreenPos().y - start.y;
    ImGui::SetCursorScreenPos({start.x, start.y + used});
    drawArea(ui, words, lines, options, {size.x, std::max(size.y - used, ui.px(40))});
    ImGui::EndGroup();
    drawMenu(ui, lines, options);
    ImGui::PopID();
}

void Plot::drawArea(Ui& ui, std::string_view words, std::span<const PlotLine> lines,
                    const PlotOptions& options, ImVec2 size) {
    const ImU32 card = ImGui::GetColorU32(ImGuiCol_ChildBg);
    const ImU32 ground = (card & IM_COL32_A_MASK) == 0 ? ui.theme.background : card;
    // A window of its own, and one that could scroll a pixel: else the wheel would scroll the page as well.
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::BeginChild("area", size, false, ImGuiWindowFlags_NoScrollbar);
    ImGui::SetScrollY(0);
    const ImVec2 corner = ImGui::GetWindowPos();
    const Ui::Place whole{corner, {corner.x + size.x, corner.y + size.y}};
    PlotFrame frame{ui, *ImGui::GetWindowDrawList(), {}, {}, {}, {}, nowLogX_, nowLogY_, ground, {}};
    for (const PlotLine& line : lines)
        if (shows(line))
            frame.curves.push_back(
                {&line, nowSmoothing_ > 0 ? smoothed(line.y, nowSmoothing_) : std::vector<double>{}});
    const bool secret = ui.masked && (options.x.measured || options.y.measured);
    const auto x = extentOf(frame.curves, options.x, nowLogX_, false);
    const auto y = extentOf(frame.curves, options.y, nowLogY_, true);
    if (secret || !x || !y) {
        const bool allHidden = !lines.empty() && frame.curves.empty();
        frame.draw.AddRect(whole.min, whole.max, ui.theme.grid, ui.px(6), 0, ui.line());
        drawCalmSentence(ui, whole,
                         secret      ? "measured, but masked"
                         : allHidden ? "all lines are hidden"
                                     : options.empty);
    } else {
        const PlotRange ahead{x->low, x->low + 10}; // whole numbers go on
        frame.x = viewX_.value_or(x->span() > 0                  ? *x
                                  : options.x.whole && !nowLogX_ ? ahead
                                                                 : withMargin(*x, nowLogX_));
        frame.y = viewY_.value_or(withMargin(*y, nowLogY_));
        const SmallLetters small(ui);
        layOut(frame, whole);
        drawPlotAxes(frame, options, whole);
        if (lines.empty()) drawCalmSentence(ui, {frame.low, frame.high}, options.empty);
        drawPlotBands(frame, options.bands);
        drawPlotCurves(frame);
        drawEndLabels(frame, whole);
    }
    ImGui::InvisibleButton("curves", size,
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    ui.noteControl(options.pen != nullptr ? options.pen->name : id_.c_str(),
                   options.pen != nullptr ? options.pen->words : words);
    if (ImGui::IsItemHovered() && ImGui::IsMouseReleased(1)) openMenu_ = true;
    if (frame.width() > 0) {
        if (!ui.hidingControls) handleMouse(frame, options.pen);
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const bool over = mouse.x >= frame.low.x && mouse.x <= frame.high.x && mouse.y <= frame.high.y;
        const bool drawing = options.pen != nullptr && ImGui::IsItemActive();
        if (ImGui::IsItemHovered() && over && !drawing) drawReadout(frame, options, mouse.x);
    }
    ImGui::Dummy({1, ui.px(2)});
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

void Plot::handleMouse(const PlotFrame& frame, const PlotPen* pen) {
    const ImGuiIO& io = ImGui::GetIO();
    if (zoomWish_ != 1) {
        const double by = std::exchange(zoomWish_, 1);
        zoomAt(frame, {(frame.low.x + frame.high.x) / 2, (frame.low.y + frame.high.y) / 2}, by, by);
    }
    if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
        const double by = std::pow(1.2, -io.MouseWheel);
        const bool besideY = io.MousePos.x < frame.low.x;
        const bool belowX = io.MousePos.y > frame.high.y;
        zoomAt(frame, io.MousePos, besideY ? 1 : by, belowX || io.KeyShift ? 1 : by);
    }
    if (pen != nullptr) {
        if (ImGui::IsItemActive() && ImGui::IsMouseDown(0))
            pen->to(axisValue(frame.xAt(io.MousePos.x), frame.logX),
                    axisValue(frame.yAt(io.MousePos.y), frame.logY), ImGui::IsItemActivated());
    } else if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
        fitAll();
    } else if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0)) {
        const double byX = -io.MouseDelta.x / frame.width() * frame.x.span();
        const double byY = io.MouseDelta.y / frame.height() * frame.y.span();
        if (byX == 0 && byY == 0) return;
        viewX_ = PlotRange{frame.x.low + byX, frame.x.high + byX};
        viewY_ = PlotRange{frame.y.low + byY, frame.y.high + byY};
    }
}

void Plot::zoomAt(const PlotFrame& frame, ImVec2 mouse, double byX, double byY) {
    if (byX != 1) viewX_ = zoomed(frame.x, frame.xAt(std::clamp(mouse.x, frame.low.x, frame.high.x)), byX);
    if (byY != 1) viewY_ = zoomed(frame.y, frame.yAt(std::clamp(mouse.y, frame.low.y, frame.high.y)), byY);
}

nlohmann::ordered_json Plot::state() const {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (logX_) json["logX"] = *logX_;
    if (logY_) json["logY"] = *logY_;
    if (smoothing_) json["smoothing"] = *smoothing_;
    json["hidden"] = hidden_;
    return json;
}

void Plot::setState(const nlohmann::ordered_json& state) {
    if (!state.is_object()) throw std::invalid_argument("the state of a plot is not an object");
    const auto read = [&state](const char* name, auto otherwise) {
        try {
            return state.value(name, otherwise);
        } catch (const nlohmann::json::exception&) {
            throw std::invalid_argument(fmt::format("a plot's field '{}' has the wrong type", name));
        }
    };
    const bool logX = read("logX", false);
    const bool logY = read("logY", false);
    const float smoothing = read("smoothing", 0.0f);
    const auto hidden = read("hidden", hidden_);
    if (!(smoothing >= 0 && smoothing <= 0.999f))
        throw std::invalid_argument("a plot's field 'smoothing' must be from 0 to 0.999");
    if (state.contains("logX")) logX_ = logX;
    if (state.contains("logY")) logY_ = logY;
    if (state.contains("smoothing")) smoothing_ = smoothing;
    hidden_ = hidden;
}

} // namespace lockstep::demos
