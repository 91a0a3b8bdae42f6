#include "demos/draw/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/draw/plot_curves.h"
#include "demos/draw/plot_frame.h"
#include "demos/draw/plot_readout.h"

namespace lockstep::demos {

namespace {

constexpr std::string_view logXWords = "Switches the x axis between linear and logarithmic.";
constexpr std::string_view logYWords = "Switches the y axis between linear and logarithmic.";
constexpr std::string_view lineWords = "Shows or hides this line.";

// "time (s)"
std::string axisTitle(const PlotAxis& axis) {
    return axis.title + (axis.unit.empty() ? "" : " (" + axis.unit + ")");
}

// The same, translated: for pictures, not for tables.
std::string shownAxisTitle(const PlotAxis& axis) {
    return std::string(translated(axis.title)) + (axis.unit.empty() ? "" : " (" + axis.unit + ")");
}

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

struct TickLabel {
    float left = 0;
    std::string text;
};

// Those of the ticks' labels that stand apart from each other, and end at `right` at most.
std::vector<TickLabel> labelsBelow(const PlotFrame& frame, std::span<const PlotTick> ticks,
                                   const Place& whole, float right) {
    std::vector<TickLabel> labels;
    float free = whole.min.x; // from here on nothing has been written
    for (const PlotTick& tick : ticks) {
        const float x = std::round(frame.at(tick.position, frame.y.low).x);
        if (tick.label.empty() || x < frame.low.x - 1 || x > frame.high.x + 1) continue;
        const float width = textWidth(tick.label);
        const float left = std::clamp(x - width / 2, whole.min.x, std::max(whole.max.x - width, whole.min.x));
        if (left < free || left + width > right) continue;
        labels.push_back({left, tick.label});
        free = left + width + frame.ui.px(8);
    }
    return labels;
}

void drawTicksBelow(const PlotFrame& frame, const PlotAxis& axis, const Place& whole) {
    const std::string title = shownAxisTitle(axis);
    const Ui& ui = frame.ui;
    const float titleLeft = whole.max.x - textWidth(title) - ui.px(2);
    const float top = frame.high.y + ui.px(6);
    const std::vector<PlotTick> ticks = horizontalTicks(frame, axis.whole);
    for (const PlotTick& tick : ticks) {
        const float x = std::round(frame.at(tick.position, frame.y.low).x);
        if (x < frame.low.x - 1 || x > frame.high.x + 1) continue;
        drawGridLine(frame, {x, frame.low.y}, {x, frame.high.y}, tick);
    }
    const std::vector<TickLabel> beside = labelsBelow(frame, ticks, whole, titleLeft - ui.px(10));
    const std::vector<TickLabel> all = labelsBelow(frame, ticks, whole, whole.max.x);
    // The last number is often the one that matters: the title rather stands before it than in its place.
    const auto endOf = [](const TickLabel& label) { return label.left + textWidth(label.text); };
    if (all.size() > beside.size() && all.size() >= 3) {
        const float left = all.back().left - ui.px(12) - textWidth(title);
        if (left >= endOf(all[all.size() - 2]) + ui.px(12)) {
            for (const auto& [at, text] : all) drawText(frame.draw, {at, top}, ui.theme.muted, text);
            drawText(frame.draw, {left, top}, ui.theme.muted, title);
            return;
        }
    }
    // A single number makes no scale: then the title gives way.
    const bool titled = beside.size() >= 2 || all.size() <= beside.size();
    for (const auto& [left, text] : titled ? beside : all)
        drawText(frame.draw, {left, top}, ui.theme.muted, text);
    const float free = beside.empty() ? whole.min.x : endOf(beside.back()) + ui.px(8);
    if (titled && titleLeft >= free) drawText(frame.draw, {titleLeft, top}, ui.theme.muted, title);
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

// The range of the bands whose edges have to be on the axis, because a text speaks of them.
std::optional<PlotRange> heightOf(std::span<const PlotBand> bands, bool log) {
    std::optional<PlotRange> extent;
    for (const PlotBand& band : bands) {
        if (!band.shown) continue;
        extent = united(extent, united(plotExtent(band.low, log), plotExtent(band.high, log)));
    }
    return extent;
}

// inviting: it says what to do, in letters as large as all others
void drawCalmSentence(const Ui& ui, const Ui::Place& whole, const std::string& sentence,
                      bool inviting = false) {
    const std::string text(translated(sentence));
    ImGui::PushFont(inviting ? ui.fonts.body : ImGui::GetFont());
    const float wrap = whole.max.x - whole.min.x - ui.px(16);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap);
    const ImVec2 at{(whole.min.x + whole.max.x - size.x) / 2, (whole.min.y + whole.max.y - size.y) / 2};
    ImGui::GetWindowDrawList()->AddText(nullptr, 0, at, inviting ? ui.theme.text : ui.theme.muted,
                                        text.c_str(), nullptr, wrap);
    ImGui::PopFont();
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

// The width of a legend's entry: sample, gap, name, gap.
float entryWidth(const Ui& ui, const std::string& name) { return ui.px(22 + 6 + 14) + textWidth(name); }

} // namespace

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
    auto y = extentOf(frame.curves, options.y, nowLogY_, true);
    if (y) y = united(y, heightOf(options.bands, nowLogY_));
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
        if (lines.empty())
            drawCalmSentence(ui, {frame.low, frame.high}, options.empty, options.pen != nullptr);
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

// Overlays share one entry.
const std::string& Plot::legendName(const PlotLine& line) const { return line.faint ? overlay_ : line.name; }

void Plot::drawBar(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options, float width) {
    const SmallLetters small(ui);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float padding = ui.px(7);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding, ui.px(2)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(4), ui.px(2)});
    const auto switchWidth = [&](const char* label) { return textWidth(label) + 2 * padding + ui.px(4); };
    float switches = switchWidth("log x") + switchWidth("log y") + switchWidth("•••");
    const bool all = switches <= width / 2;
    if (!all) switches = switchWidth("•••");
    drawLegend(ui, lines, options, width - switches);
    const float below = ImGui::GetCursorScreenPos().y;
    ImGui::SetCursorScreenPos({start.x + width - switches, start.y});
    const auto pressed = [&](const char* label, const char* name, std::string_view words, bool on) {
        ImGui::PushStyleColor(ImGuiCol_Button, on ? ui.theme.hovered : ImU32{0});
        ImGui::PushStyleColor(ImGuiCol_Text, on ? ui.theme.text : ui.theme.muted);
        const bool result = ui.namedButton(label, named(name).c_str(), words);
        ImGui::PopStyleColor(2);
        return result;
    };
    if (all) {
        if (pressed("log x", "log x", logXWords, nowLogX_)) logX_ = !nowLogX_;
        ImGui::SameLine();
        if (pressed("log y", "log y", logYWords, nowLogY_)) logY_ = !nowLogY_;
        ImGui::SameLine();
    }
    if (pressed("•••", "more", "Smoothing, logarithmic axes, zoom, and saving of this plot.", false))
        openMenu_ = true;
    const float bottom = std::max(below, start.y + ImGui::GetFrameHeight() + ui.px(2));
    ImGui::PopStyleVar(2);
    ImGui::SetCursorScreenPos({start.x, bottom});
}

void Plot::drawLegend(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options, float room) {
    const std::string title = fittedText(shownAxisTitle(options.y), room - ui.px(16));
    const float start = ImGui::GetCursorScreenPos().x;
    float used = 0;
    // Beside the last one, or in a new row where it would not fit.
    const auto place = [&](float width) {
        if (used > 0 && used + width <= room)
            ImGui::SameLine(0, 0);
        else if (used > 0)
            used = 0;
        if (used == 0) ImGui::SetCursorScreenPos({start, ImGui::GetCursorScreenPos().y});
        used += width;
    };
    if (!title.empty()) {
        const float width = textWidth(title) + ui.px(16);
        place(width);
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        ImGui::GetWindowDrawList()->AddText({corner.x, corner.y + ui.px(2)}, ui.theme.muted, title.c_str());
        ImGui::Dummy({width, ImGui::GetFrameHeight()});
    }
    const auto entries = legendLines(lines);
    float wanted = 0;
    for (const PlotLine* line : entries) wanted += entryWidth(ui, legendName(*line));
    const float rows = 1 + std::floor(wanted / std::max(room, 1.0f));
    const float height = whole_.max.y - whole_.min.y;
    // Where it would take too much of the plot, the menu has it.
    legendShown_ = options.legend && (rows * ImGui::GetFrameHeight() <= 0.25f * height || rows <= 1);
    if (!legendShown_) return;
    for (const PlotLine* line : entries) {
        place(entryWidth(ui, legendName(*line)));
        legendEntry(ui, *line);
    }
}

// One line for each entry of the legend.
std::vector<const PlotLine*> Plot::legendLines(std::span<const PlotLine> lines) const {
    std::vector<const PlotLine*> entries;
    bool overlaid = false;
    for (const PlotLine& line : lines)
        if (!legendName(line).empty() && !(line.faint && std::exchange(overlaid, true)))
            entries.push_back(&line);
    return entries;
}

void Plot::legendEntry(Ui& ui, const PlotLine& line) {
    const std::string& name = legendName(line);
    const bool on = shows(line);
    const float height = ImGui::GetFrameHeight();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 size{entryWidth(ui, name), height};
    const bool clicked = ui.tile(named(name).c_str(), lineWords, size);
    if (ui.hidden(named(name).c_str())) return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const bool under = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    const ImU32 sample = faded(line.faint ? ui.theme.muted : line.colour, on ? 1.0f : 0.25f);
    drawLineSample(ui, draw, {corner.x, corner.y + height / 2}, ui.px(22), line, sample);
    const ImU32 letters = !on ? faded(ui.theme.muted, 0.5f) : under ? ui.theme.text : ui.theme.muted;
    const ImVec2 text{corner.x + ui.px(28), corner.y + (height - ImGui::GetFontSize()) / 2};
    drawText(draw, text, letters, name);
    if (!on) {
        const float middle = corner.y + height / 2;
        draw.AddLine({text.x, middle}, {text.x + textWidth(name), middle}, letters, ui.line());
    }
    if (clicked) toggle(name);
}

void Plot::toggle(const std::string& name) {
    if (hidden_.erase(name) == 0) hidden_.insert(name);
}

void Plot::drawMenu(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options) {
    if (std::exchange(openMenu_, false)) ImGui::OpenPopup("menu");
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(12), ui.px(10)});
    if (ImGui::BeginPopup("menu")) {
        const auto item = [&](const char* label, std::string_view words, bool on = false,
                              bool enabled = true) {
            const bool chosen = ImGui::MenuItem(translatedLabel(named(label)).c_str(), nullptr, on, enabled);
            ui.noteControl(named(label).c_str(), words);
            return chosen;
        };
        // By the memory it gives the mean, from 1 sample to 1,000: each tenth of the way is felt alike.
        float strength = -std::log10(1 - nowSmoothing_);
        ImGui::SetNextItemWidth(ui.px(150));
        const std::string shown = translatedFormat("{:.3f}", nowSmoothing_);
        if (ui.slider(named("smoothing").c_str(),
                      "Share of the running mean in each shown value, from 0 (none) to 0.999. Faint lines "
                      "show the raw values.",
                      strength, 0, 3, shown.c_str(), false))
            smoothing_ = std::clamp(1 - std::pow(10.0f, -strength), 0.0f, 0.999f);
        ImGui::Separator();
        if (!legendShown_) {
            for (const PlotLine* line : legendLines(lines))
                if (item(legendName(*line).c_str(), lineWords, shows(*line))) toggle(legendName(*line));
            ImGui::Separator();
        }
        if (item("Logarithmic x", logXWords, nowLogX_)) logX_ = !nowLogX_;
        if (item("Logarithmic y", logYWords, nowLogY_)) logY_ = !nowLogY_;
        ImGui::Separator();
        if (item("Fit all", "Shows all samples of all lines again.", false, viewX_ || viewY_)) fitAll();
        if (item("Zoom in", "Enlarges the middle of the plot by 1.5.")) zoomWish_ = 1 / 1.5;
        if (item("Zoom out", "Shows 1.5 times as much of both axes.")) zoomWish_ = 1.5;
        ImGui::Separator();
        if (item("Copy as CSV", "Puts the numbers of all lines on the clipboard, as a table.", false,
                 !lines.empty())) {
            ImGui::SetClipboardText(plotCsv(axisTitle(options.x), lines).c_str());
            ui.say(Severity::info, "The plot's numbers are on the clipboard, as CSV");
        }
        if (item("Save as PNG", "Saves a picture of this plot, in the folder that you choose."))
            ui.pictureWish = PictureWish{{}, whole_};
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar();
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
