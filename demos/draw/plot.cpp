#include "demos/draw/plot.h"

#include <algorithm>
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

// As many as stand beside each other: with more decimals they are wider.
std::vector<PlotTick> horizontalTicks(const PlotFrame& frame, bool whole) {
    const Ui& ui = frame.ui;
    const float width = frame.width();
    std::vector<PlotTick> ticks;
    for (auto most = static_cast<std::size_t>(std::max(width / ui.px(52), 1.0f)); most > 0; --most) {
        ticks = plotTicks(frame.x, frame.logX, most, whole);
        if ((widestLabel(ticks) + ui.px(16)) * static_cast<float>(labelled(ticks)) <= width) break;
    }
    return ticks;
}

void drawTicksBelow(const PlotFrame& frame, const PlotAxis& axis, const Ui::Place& whole) {
    const std::string title = axisTitle(axis);
    const Ui& ui = frame.ui;
    const float titleWidth = ImGui::CalcTextSize(title.c_str()).x;
    const float titleLeft = whole.max.x - titleWidth - ui.px(2);
    const float top = frame.high.y + ui.px(6);
    float free = whole.min.x; // from here on nothing has been written
    for (const PlotTick& tick : horizontalTicks(frame, axis.whole)) {
        const float x = std::round(frame.at(tick.position, frame.y.low).x);
        if (x < frame.low.x - 1 || x > frame.high.x + 1) continue;
        const bool plain = tick.label.empty();
        frame.draw.AddLine({x, frame.low.y}, {x, frame.high.y}, faded(ui.theme.grid, plain ? 0.5f : 1.0f),
                           ui.line());
        if (plain) continue;
        const float width = ImGui::CalcTextSize(tick.label.c_str()).x;
        const float left = std::clamp(x - width / 2, whole.min.x, std::max(whole.max.x - width, whole.min.x));
        if (left < free || left + width > titleLeft - ui.px(10)) continue;
        frame.draw.AddText({left, top}, ui.theme.muted, tick.label.c_str());
        free = left + width + ui.px(8);
    }
    if (titleLeft >= free) frame.draw.AddText({titleLeft, top}, ui.theme.muted, title.c_str());
}

void drawTicksLeft(const PlotFrame& frame) {
    const Ui& ui = frame.ui;
    const float letters = ImGui::GetFontSize();
    float free = frame.high.y + letters; // above this nothing has been written
    for (const PlotTick& tick : verticalTicks(ui, frame.y, frame.logY, frame.height())) {
        const float y = std::round(frame.at(frame.x.low, tick.position).y);
        if (y < frame.low.y - 1 || y > frame.high.y + 1) continue;
        const bool plain = tick.label.empty();
        frame.draw.AddLine({frame.low.x, y}, {frame.high.x, y}, faded(ui.theme.grid, plain ? 0.5f : 1.0f),
                           ui.line());
        if (plain || y + letters / 2 > free) continue;
        const float width = ImGui::CalcTextSize(tick.label.c_str()).x;
        frame.draw.AddText({frame.low.x - ui.px(8) - width, y - letters / 2}, ui.theme.muted,
                           tick.label.c_str());
        free = y - letters / 2;
    }
}

} // namespace

std::vector<PlotTick> verticalTicks(const Ui& ui, PlotRange range, bool log, float height) {
    auto most = static_cast<std::size_t>(std::max(height / ui.px(42), 1.0f));
    std::vector<PlotTick> ticks = plotTicks(range, log, most);
    // A single number makes no scale.
    for (const std::size_t enough = most + 4; labelled(ticks) < 2 && most < enough;)
        ticks = plotTicks(range, log, ++most);
    return ticks;
}

float widestLabel(std::span<const PlotTick> ticks) {
    float widest = 0;
    for (const PlotTick& tick : ticks) widest = std::max(widest, ImGui::CalcTextSize(tick.label.c_str()).x);
    return widest;
}

void drawPlotAxes(const PlotFrame& frame, const PlotOptions& options, const Ui::Place& whole) {
    drawTicksBelow(frame, options.x, whole);
    drawTicksLeft(frame);
    const ImU32 axis = frame.ui.theme.border;
    frame.draw.AddLine({frame.low.x, frame.high.y}, frame.high, axis, frame.ui.line());
    frame.draw.AddLine(frame.low, {frame.low.x, frame.high.y}, axis, frame.ui.line());
}

std::string plotValue(double value, const PlotAxis& axis, bool decimals) {
    return plotNumber(value, decimals) + (axis.unit.empty() ? "" : " " + axis.unit);
}

std::string axisTitle(const PlotAxis& axis) {
    return axis.title + (axis.unit.empty() ? "" : " (" + axis.unit + ")");
}

namespace {

std::optional<PlotRange> extentOf(std::span<const PlotCurve> curves, bool log, bool vertical) {
    std::optional<PlotRange> extent;
    for (const PlotCurve& curve : curves) {
        const PlotLine& line = *curve.line;
        extent = united(extent, plotExtent(vertical ? line.y : line.x, log));
    }
    return extent;
}

void drawCalmSentence(const Ui& ui, const Ui::Place& whole, const std::string& text) {
    const float wrap = whole.max.x - whole.min.x - ui.px(16);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap);
    const ImVec2 at{(whole.min.x + whole.max.x - size.x) / 2, (whole.min.y + whole.max.y - size.y) / 2};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRect(whole.min, whole.max, ui.theme.grid, ui.px(6), 0, ui.line());
    draw.AddText(nullptr, 0, at, ui.theme.muted, text.c_str(), nullptr, wrap);
}

// Inside the margins that labels need.
void layOut(PlotFrame& frame, const Ui::Place& whole) {
    const Ui& ui = frame.ui;
    const float letters = ImGui::GetFontSize();
    std::vector<const PlotLine*> lines;
    for (const PlotCurve& curve : frame.curves) lines.push_back(curve.line);
    frame.low.y = whole.min.y + letters / 2 + ui.px(2);
    frame.high.y = std::max(whole.max.y - letters - ui.px(8), frame.low.y + 1);
    const auto ticks = verticalTicks(ui, frame.y, frame.logY, frame.height());
    frame.low.x = whole.min.x + widestLabel(ticks) + ui.px(10);
    const float width = whole.max.x - whole.min.x;
    frame.high.x =
        std::max(whole.max.x - std::max(endLabelRoom(ui, lines, width), ui.px(14)), frame.low.x + 1);
}

} // namespace

void Plot::draw(Ui& ui, const char* id, std::span<const PlotLine> lines, const PlotOptions& options) {
    id_ = id;
    nowLogX_ = logX_.value_or(options.x.log);
    nowLogY_ = logY_.value_or(options.y.log);
    forgetOldZoom(options);
    ImVec2 size = options.size;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (size.x <= 0) size.x = room.x;
    if (size.y <= 0) size.y = room.y;
    size = {std::max(size.x, ui.px(80)), std::max(size.y, ui.px(80))};
    const ImVec2 start = ImGui::GetCursorScreenPos();
    whole_ = {start, {start.x + size.x, start.y + size.y}};
    ImGui::PushID(id);
    ImGui::BeginGroup(); // one item to what follows
    drawBar(ui, lines, options, size.x);
    const float used = ImGui::GetCursorScreenPos().y - start.y;
    drawArea(ui, lines, options, {size.x, std::max(size.y - used, ui.px(40))});
    ImGui::EndGroup();
    drawMenu(ui, lines, options);
    ImGui::PopID();
}

void Plot::forgetOldZoom(const PlotOptions& options) {
    const std::string axes =
        fmt::format("{}\n{}\n{}{}", options.x.title, options.y.title, nowLogX_, nowLogY_);
    if (axes != shownAxes_) {
        viewX_.reset();
        viewY_.reset();
    }
    shownAxes_ = axes;
}

std::vector<PlotCurve> Plot::shownCurves(std::span<const PlotLine> lines) const {
    std::vector<PlotCurve> curves;
    for (const PlotLine& line : lines)
        if (shows(line))
            curves.push_back({&line, smoothing_ > 0 ? smoothed(line.y, smoothing_) : std::vector<double>{}});
    return curves;
}

void Plot::drawArea(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options, ImVec2 size) {
    const ImU32 card = ImGui::GetColorU32(ImGuiCol_ChildBg);
    const ImU32 ground = (card & IM_COL32_A_MASK) == 0 ? ui.theme.background : card;
    // A window of its own, and one that could scroll a pixel: else the wheel would scroll the page as well.
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::BeginChild("area", size, false, ImGuiWindowFlags_NoScrollbar);
    ImGui::SetScrollY(0);
    const ImVec2 corner = ImGui::GetWindowPos();
    const Ui::Place whole{corner, {corner.x + size.x, corner.y + size.y}};
    PlotFrame frame{ui, *ImGui::GetWindowDrawList(), {}, {}, {}, {}, nowLogX_, nowLogY_, ground, {}};
    frame.curves = shownCurves(lines);
    const bool secret = ui.masked && (options.x.measured || options.y.measured);
    const auto x = extentOf(frame.curves, nowLogX_, false);
    const auto y = extentOf(frame.curves, nowLogY_, true);
    if (secret || !x || !y) {
        const bool allHidden = !lines.empty() && frame.curves.empty();
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
        layOut(frame, whole);
        drawPlotAxes(frame, options, whole);
        drawPlotBands(frame, options.bands);
        drawPlotCurves(frame);
        drawEndLabels(frame, whole);
    }
    ImGui::InvisibleButton("curves", size,
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    ui.noteControl(id_.c_str());
    if (ImGui::IsItemHovered() && ImGui::IsMouseReleased(1)) openMenu_ = true;
    if (frame.width() > 0) {
        handleMouse(frame);
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const bool over = mouse.x >= frame.low.x && mouse.x <= frame.high.x && mouse.y <= frame.high.y;
        if (ImGui::IsItemHovered() && over) drawReadout(frame, options, mouse.x);
    }
    ImGui::Dummy({1, ui.px(2)});
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

void Plot::handleMouse(const PlotFrame& frame) {
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
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
        viewX_.reset();
        viewY_.reset();
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
    json["smoothing"] = smoothing_;
    json["hidden"] = hidden_;
    return json;
}

void Plot::setState(const nlohmann::ordered_json& state) {
    if (!state.is_object()) throw std::invalid_argument("the state of a plot is not an object");
    const auto read = [&state](const char* name, auto& value) {
        const auto found = state.find(name);
        if (found == state.end()) return;
        try {
            value = found->template get<std::remove_reference_t<decltype(value)>>();
        } catch (const nlohmann::json::exception&) {
            throw std::invalid_argument(fmt::format("a plot's field '{}' has the wrong type", name));
        }
    };
    bool logX = nowLogX_;
    bool logY = nowLogY_;
    float smoothing = smoothing_;
    std::set<std::string, std::less<>> hidden = hidden_;
    read("logX", logX);
    read("logY", logY);
    read("smoothing", smoothing);
    read("hidden", hidden);
    if (!(smoothing >= 0 && smoothing <= 0.999f))
        throw std::invalid_argument("a plot's field 'smoothing' must be from 0 to 0.999");
    if (state.contains("logX")) logX_ = logX;
    if (state.contains("logY")) logY_ = logY;
    smoothing_ = smoothing;
    hidden_ = std::move(hidden);
}

} // namespace lockstep::demos
