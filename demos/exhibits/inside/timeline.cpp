#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/draw/plot_math.h"
#include "demos/exhibits/inside/operation_words.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

struct Frame {
    ImDrawList& draw;
    ImVec2 min;
    ImVec2 max;
    float axisTop = 0;   ///< the axis' numbers are below it
    float rowHeight = 0; ///< header and track of one machine
    float headerHeight = 0;
    bool empty = false;         ///< nothing was measured yet
    bool inOrder = false;       ///< no times: every operation is equally wide
    double whole = 1;           ///< the longer step, in milliseconds or operations
    double begin = 0;           ///< what is shown of it
    ImFont* numerals = nullptr; ///< of a step's time
    bool shortNames = false;    ///< bars have the short forms of their names
    double end = 1;

    float width() const { return max.x - min.x; }
    float x(double at) const { return min.x + static_cast<float>((at - begin) / (end - begin)) * width(); }
    double at(float x) const { return begin + (end - begin) * static_cast<double>((x - min.x) / width()); }
    float rowTop(std::size_t machine) const { return min.y + static_cast<float>(machine) * rowHeight; }
    float trackTop(std::size_t machine) const { return rowTop(machine) + headerHeight; }

    double from(const TracedOperation& operation, std::size_t index) const {
        return inOrder ? static_cast<double>(index) : operation.beginMs;
    }
    double to(const TracedOperation& operation, std::size_t index) const {
        return inOrder ? static_cast<double>(index) + 0.94 : operation.endMs;
    }
};

double lengthOf(const StepTrace* trace, bool byOrder) {
    if (trace == nullptr) return 0;
    return byOrder ? static_cast<double>(trace->operations.size()) : trace->totalMs;
}

constexpr double shortest = 1e-4; // a tenth of a microsecond

/// What a view shows of a step `whole` long: nothing beyond it, and not less than can be told apart.
std::array<double, 2> shownOf(const std::optional<std::array<double, 2>>& view, double whole) {
    if (!view) return {0, whole};
    const double length = std::min(std::max((*view)[1] - (*view)[0], shortest), whole);
    const double begin = std::clamp((*view)[0], 0.0, whole - length);
    return {begin, begin + length};
}

/// The stretch without an operation that a time lies in; none beyond the step.
std::optional<Timeline::Gap> gapAt(const StepTrace& trace, std::size_t machine, double ms) {
    Timeline::Gap gap{.machine = machine, .first = true, .endMs = std::numeric_limits<double>::infinity()};
    for (const TracedOperation& operation : trace.operations) {
        if (operation.endMs <= ms) {
            gap.beginMs = std::max(gap.beginMs, operation.endMs);
            gap.first = false;
        } else {
            gap.endMs = std::min(gap.endMs, operation.beginMs);
        }
    }
    gap.last = std::isinf(gap.endMs);
    if (gap.last && trace.machine.gpu) return std::nullopt;
    gap.endMs = std::min(gap.endMs, trace.totalMs);
    if (!(ms >= 0 && ms < gap.endMs)) return std::nullopt;
    return gap;
}

void drawAxis(Ui& ui, const Frame& frame) {
    const SmallLetters small(ui);
    frame.draw.AddLine({frame.min.x, frame.axisTop}, {frame.max.x, frame.axisTop}, ui.theme.border,
                       ui.line());
    if (frame.inOrder) {
        drawText(frame.draw, {frame.min.x, frame.axisTop + ui.px(4)}, ui.theme.muted,
                 ui.masked ? "in the order of operations" : "in order: device has no timestamps");
        return;
    }
    if (frame.empty) return;
    const float letters = ImGui::CalcTextSize("0000.00 ms").x;
    const double step =
        roundStep((frame.end - frame.begin) * static_cast<double>(letters * 1.3f / frame.width()));
    for (double at = std::ceil(frame.begin / step) * step; at <= frame.end; at += step) {
        const float x = frame.x(at);
        for (std::size_t machine = 0; machine < machineCount; ++machine)
            frame.draw.AddLine({x, frame.trackTop(machine)}, {x, frame.rowTop(machine + 1) - ui.px(5)},
                               ui.theme.grid, ui.line());
        frame.draw.AddLine({x, frame.axisTop}, {x, frame.axisTop + ui.px(4)}, ui.theme.border, ui.line());
        const std::string text = tickText(at, step);
        const float wide = ImGui::CalcTextSize(text.c_str()).x;
        const float left = std::clamp(x - wide / 2, frame.min.x, frame.max.x - wide);
        drawText(frame.draw, {left, frame.axisTop + ui.px(5)}, ui.theme.muted, text);
    }
}

/// What is said of a step's time, in brackets behind it; empty where there is nothing to say.
std::string besideTime(const Ui& ui, const InsideModel& model, std::size_t machine) {
    const StepTrace* trace = model.trace(machine);
    if (trace == nullptr || model.outdated() || ui.masked) return {};
    if (model.lane(machine).gpu) return translatedFormat("({} with launch)", timeText(trace->wallMs));
    if (!trace->timed || trace->machine.threads < 2) return {}; // a single thread waits for no other
    double computed = 0;
    for (const TracedOperation& operation : trace->operations) computed += operation.milliseconds();
    const double waited = trace->totalMs - computed;
    return waited > 0 ? translatedFormat("({} waiting)", timeText(waited)) : "";
}

std::string shownTime(const Ui& ui, const StepTrace& trace) {
    return ui.timing(trace.timed ? timeText(trace.totalMs) : "-");
}

// Name and device on the left, the step's time on the right; the device gives way where there is no room.
void drawRowLabel(Ui& ui, const Frame& frame, const InsideModel& model, std::size_t machine) {
    const LaneSpec& spec = model.lane(machine);
    const StepTrace* trace = model.trace(machine);
    const float size = ImGui::GetFontSize();
    const float large = frame.numerals->FontSize;
    const float baseline = frame.rowTop(machine) + ui.px(3);
    const float top = baseline + (large - size) * 0.8f;
    const ImU32 colour = ui.colour(spec);
    drawLaneMark(frame.draw, spec, {frame.min.x + size * 0.4f, top + size * 0.55f}, size * 0.82f, colour);
    const std::string lane = spec.text();
    float x = frame.min.x + size;
    frame.draw.AddText(ui.fonts.strong, size, {x, top}, legible(ui.theme, colour), lane.c_str());
    x += ui.fonts.strong->CalcTextSizeA(size, FLT_MAX, 0, lane.c_str()).x + ui.px(10);
    if (trace == nullptr) return;
    const std::string time = shownTime(ui, *trace);
    std::string step = translatedFormat("step {}", trace->step);
    if (std::ranges::any_of(trace->operations, &TracedOperation::replaced)) step += ", edited";
    // What is shown ran with earlier settings.
    const bool earlier = model.outdated();
    if (earlier && model.failed())
        step = translated("from an earlier run");
    else if (earlier)
        step = translatedFormat("from an earlier run; {} is being prepared",
                                model.settings().lanes[machine].text());
    // Each in a column of its own, flush right, for both machines alike.
    float brackets = 0, numbers = 0;
    const auto numberWidth = [&](const std::string& text) {
        return frame.numerals->CalcTextSizeA(large, FLT_MAX, 0, text.c_str()).x;
    };
    for (std::size_t each = 0; each < machineCount; ++each) {
        brackets = std::max(brackets, lettersWidth(besideTime(ui, model, each)));
        if (model.trace(each) != nullptr)
            numbers = std::max(numbers, numberWidth(shownTime(ui, *model.trace(each))));
    }
    const std::string beside = besideTime(ui, model, machine);
    drawText(frame.draw, {frame.max.x - lettersWidth(beside), top}, ui.theme.muted, beside);
    const float timeEnd = frame.max.x - (brackets > 0 ? brackets + ui.px(8) : 0);
    frame.draw.AddText(frame.numerals, large, {timeEnd - numberWidth(time), baseline}, ui.theme.text,
                       time.c_str());
    const float right = timeEnd - numbers - ui.px(10) - textWidth(step);
    if (right > x) drawText(frame.draw, {right, top}, earlier ? ui.theme.warning : ui.theme.muted, step);
    for (std::size_t letters = 60; letters >= 12; letters -= 4) {
        const std::string device = honestDevice(trace->machine, letters);
        if (x + ImGui::CalcTextSize(device.c_str()).x > right - ui.px(8)) continue;
        drawText(frame.draw, {x, top}, ui.deviceColour(trace->machine.software), device);
        return;
    }
}

// On top of the neighbours, because bars may be narrower than the frame around the chosen one; the tip below
// tells it from barriers.
void drawPointer(const Ui& ui, const Frame& frame, ImVec2 min, ImVec2 max) {
    const float half = ui.px(6);
    const float middle = std::clamp((min.x + max.x) / 2, frame.min.x, frame.max.x);
    const float inset = ui.px(3);
    const bool wide = max.x - min.x >= ui.px(8);
    frame.draw.PushClipRect({frame.min.x - half, min.y}, {frame.max.x + half, max.y + half}, true);
    frame.draw.AddRect({min.x - ui.line(), min.y + inset}, {max.x + ui.line(), max.y - inset}, ui.theme.text,
                       wide ? ui.px(3) : 0, 0, ui.line(wide ? 2.5f : 1.5f));
    frame.draw.AddTriangleFilled({middle, max.y - inset}, {middle + half, max.y + half},
                                 {middle - half, max.y + half}, ui.theme.text);
    frame.draw.PopClipRect();
}

/// The room for a bar's name, from its left edge; that of a bar partly out of sight stays in sight.
std::array<float, 2> nameRoom(const Ui& ui, const Frame& frame, float low, float high) {
    const float left = std::max(low, frame.min.x) + ui.px(5);
    return {left, std::min(high, frame.max.x) - left - ui.px(5)};
}

/// Whether some bar has room for the short form of its name only: then all bars have that one.
bool needsShortNames(const Ui& ui, const Frame& frame, const InsideModel& model) {
    for (std::size_t machine = 0; machine < machineCount; ++machine) {
        const StepTrace* trace = model.trace(machine);
        for (std::size_t i = 0; trace != nullptr && i < trace->operations.size(); ++i) {
            const TracedOperation& each = trace->operations[i];
            const std::vector<std::string> labels = barLabels(each);
            if (labels.size() < 2 || each.replaced) continue;
            const float room =
                nameRoom(ui, frame, frame.x(frame.from(each, i)), frame.x(frame.to(each, i)))[1];
            if (lettersWidth(labels.front()) > room && lettersWidth(labels.back()) <= room) return true;
        }
    }
    return false;
}

/// How a bar stands among the others.
struct BarState {
    bool waits;    ///< for those before it
    bool lit;      ///< below the mouse
    bool tooShort; ///< for the clock
};

void drawBar(Ui& ui, const Frame& frame, const TracedOperation& operation, ImVec2 min, ImVec2 max,
             const BarState& state) {
    const float inset = ui.px(5);
    const ImVec2 low{min.x, min.y + inset};
    const ImVec2 high{max.x, max.y - inset};
    fillOperation(ui, frame.draw, low, high, operation.shownAs());
    if (state.tooShort) frame.draw.AddRectFilled(low, high, faded(ui.theme.panel, 0.7f));
    if (state.waits) frame.draw.AddLine({min.x, min.y}, {min.x, max.y}, ui.theme.text, ui.line(1.5f));
    if (state.lit)
        frame.draw.AddRect({low.x - ui.line(), low.y - ui.px(2)}, {high.x + ui.line(), high.y + ui.px(2)},
                           ui.theme.muted, 0, 0, ui.line(1.5f));
    const auto [left, room] = nameRoom(ui, frame, low.x, high.x);
    for (const std::string& label : barLabels(operation, frame.shortNames)) {
        const ImVec2 size = ImGui::CalcTextSize(label.c_str());
        if (size.x > room) continue;
        const ImVec2 at{left, (low.y + high.y - size.y) / 2};
        frame.draw.AddRectFilled({at.x - ui.px(2), at.y}, {at.x + size.x + ui.px(2), at.y + size.y},
                                 faded(ui.theme.panel, 0.82f), ui.px(3));
        drawText(frame.draw, at, ui.theme.text, label);
        break;
    }
}

void drawRow(Ui& ui, const Frame& frame, const InsideModel& model, std::size_t machine, OperationAt selected,
             Timeline& timeline) {
    const StepTrace* trace = model.trace(machine);
    drawRowLabel(ui, frame, model, machine);
    const ImVec2 low{frame.min.x, frame.trackTop(machine)};
    const ImVec2 high{frame.max.x, frame.rowTop(machine + 1) - ui.px(5)};
    // As far as its step reaches, a machine waits where no operation runs: beyond, it has nothing to do.
    const bool measured = trace != nullptr && trace->timed && !frame.inOrder;
    frame.draw.AddRectFilled(low, high, measured ? ui.theme.panel : ui.surface(model.lane(machine)),
                             ui.px(6));
    if (measured)
        fillWaiting(ui, frame.draw, low, {std::clamp(frame.x(trace->totalMs), low.x, high.x), high.y});
    if (trace == nullptr) {
        const std::string status = model.status(machine);
        const std::string message = cut(status.substr(0, status.find('\n')), 90);
        drawText(frame.draw, {low.x + ui.px(8), (low.y + high.y - ImGui::GetTextLineHeight()) / 2},
                 ui.theme.muted, message);
        return;
    }
    const std::vector<TracedOperation>& operations = trace->operations;
    frame.draw.PushClipRect(low, high, true);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool over = ImGui::IsItemHovered() && mouse.y >= low.y && mouse.y <= high.y;
    std::optional<std::array<ImVec2, 2>> pointed;
    const std::vector<bool> waits = waitsOf(*trace);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const float left = frame.x(frame.from(operations[i], i));
        const float right = std::max(frame.x(frame.to(operations[i], i)), left + ui.line());
        if (right < low.x || left > high.x) continue;
        if (over && mouse.x >= left - 1 && mouse.x <= right + 1) timeline.hovered = OperationAt{machine, i};
        const bool chosen = selected == OperationAt{machine, i};
        drawBar(ui, frame, operations[i], {left, low.y}, {right, high.y},
                {waits[i], timeline.hovered == OperationAt{machine, i},
                 measured && trace->tooShort(operations[i])});
        if (chosen) pointed = {ImVec2{left, low.y}, ImVec2{right, high.y}};
        if (!operations[i].replaced) continue;
        const OperationTimes* times = model.timesOf(operations[i]);
        const bool timed = times != nullptr && !frame.inOrder;
        drawEditedMark(ui, frame.draw, {left, low.y}, {right, high.y},
                       timed ? frame.x(operations[i].beginMs + times->builtInMs) : left);
    }
    frame.draw.PopClipRect();
    if (pointed) drawPointer(ui, frame, (*pointed)[0], (*pointed)[1]);
    const bool free =
        over && !frame.inOrder && timeline.hovered.value_or(OperationAt{machineCount}).machine != machine;
    if (free) timeline.gap = gapAt(*trace, machine, frame.at(mouse.x));
}

// The wheel zooms at the mouse, dragging pans, a double click shows everything.
void zoom(std::optional<std::array<double, 2>>& view, const Frame& frame) {
    const ImGuiIO& io = ImGui::GetIO();
    if (frame.inOrder || !ImGui::IsItemHovered()) return;
    if (ImGui::IsMouseDoubleClicked(0)) {
        view.reset();
        return;
    }
    const bool panned = ImGui::IsItemActive() && io.MouseDelta.x != 0 && view;
    if (io.MouseWheel == 0 && !panned) return;
    auto [begin, end] = shownOf(view, frame.whole);
    const double perPixel = (end - begin) / static_cast<double>(frame.width());
    if (io.MouseWheel != 0) {
        const double mouse = begin + perPixel * static_cast<double>(io.MousePos.x - frame.min.x);
        const double factor = std::pow(0.8, static_cast<double>(io.MouseWheel));
        begin = mouse - (mouse - begin) * factor;
        end = mouse + (end - mouse) * factor;
    }
    if (panned) {
        begin -= perPixel * static_cast<double>(io.MouseDelta.x);
        end -= perPixel * static_cast<double>(io.MouseDelta.x);
    }
    view = shownOf(std::array{begin, end}, frame.whole);
    if ((*view)[1] - (*view)[0] >= frame.whole) view.reset();
}

} // namespace

std::string tickText(double milliseconds, double step) {
    if (milliseconds == 0) return "0";
    return step < 0.2 ? translatedFormat("{:.6g} µs", std::round(milliseconds * 1e5) / 1e2)
                      : translatedFormat("{:.4g} ms", milliseconds);
}

void fillWaiting(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max) {
    draw.AddRectFilled(min, max, ui.theme.hovered, ui.px(3));
}

void drawEditedMark(Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, float builtInX) {
    const float size = std::min(ui.px(9), max.x - min.x);
    draw.AddTriangleFilled({max.x - size, min.y}, {max.x, min.y}, {max.x, min.y + size}, ui.theme.warning);
    if (builtInX <= min.x) return;
    const float y = max.y - ui.px(2);
    draw.AddLine({min.x, y}, {builtInX, y}, ui.theme.warning, ui.line(2.5f));
    draw.AddLine({builtInX, y - ui.px(5)}, {builtInX, y + ui.px(2)}, ui.theme.warning, ui.line(2));
}

std::optional<OperationAt> Timeline::draw(Ui& ui, const InsideModel& model, OperationAt selected,
                                          float height, bool low) {
    hovered.reset();
    gap.reset();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = std::max(ImGui::GetContentRegionAvail().x, ui.px(40));
    ImGui::InvisibleButton("Timeline", {width, height});
    ui.noteControl(
        "Timeline",
        "One row per machine, one block per operation; widths are times. Click a block to look into it.");
    Frame frame{*ImGui::GetWindowDrawList(), start, {start.x + width, start.y + height}};
    const StepTrace* cpu = model.trace(0);
    const StepTrace* gpu = model.trace(1);
    frame.empty = cpu == nullptr && gpu == nullptr;
    frame.inOrder = ui.masked || (cpu != nullptr && !cpu->timed) || (gpu != nullptr && !gpu->timed);
    frame.whole = std::max({lengthOf(cpu, frame.inOrder), lengthOf(gpu, frame.inOrder), 1e-6}) * 1.01;
    const bool axis = !low || frame.inOrder; // its words say that there are no times
    frame.axisTop = frame.max.y - (axis ? ImGui::GetTextLineHeight() + ui.px(6) : 0);
    frame.rowHeight = (frame.axisTop - start.y) / machineCount;
    frame.numerals = frame.rowHeight >= ui.px(64) ? ui.fonts.title : ui.fonts.strong;
    frame.headerHeight = frame.numerals->FontSize + ui.px(7);
    zoom(view, frame);
    const auto shown = shownOf(frame.inOrder ? std::nullopt : view, frame.whole);
    frame.begin = shown[0];
    frame.end = shown[1];

    frame.shortNames = needsShortNames(ui, frame, model);

    if (axis) drawAxis(ui, frame);
    for (std::size_t machine = 0; machine < machineCount; ++machine)
        drawRow(ui, frame, model, machine, selected, *this);

    const bool dragged = ImGui::GetMouseDragDelta(0, ui.px(3)).x != 0;
    return ImGui::IsItemDeactivated() && !dragged ? hovered : std::nullopt;
}

void Timeline::reveal(const TracedOperation& operation) {
    if (!view || (operation.endMs > (*view)[0] && operation.beginMs < (*view)[1])) return;
    const double length = (*view)[1] - (*view)[0];
    const double begin = std::max(0.0, (operation.beginMs + operation.endMs - length) / 2);
    view = {begin, begin + length};
}

} // namespace lockstep::demos
