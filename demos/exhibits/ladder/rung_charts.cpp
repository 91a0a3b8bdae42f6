#include "demos/exhibits/ladder/rung_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "demos/exhibits/ladder/rung_result.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// Powers of ten around all that is shown.
struct Scale {
    double low = -1;
    double high = 2;

    float share(double gflops) const {
        return static_cast<float>(std::clamp((std::log10(gflops) - low) / (high - low), 0.0, 1.0));
    }
};

Scale scaleOf(const LadderModel& model) {
    double least = 1e30;
    double most = 0;
    const auto add = [&](double gflops) {
        least = std::min(least, gflops);
        most = std::max(most, gflops);
    };
    for (std::size_t i = 0; i < model.rungs().size(); ++i)
        if (const RungResult* result = model.result(i); result != nullptr && result->timed())
            add(result->measure.gflops);
    if (model.roof() != nullptr) add(model.roof()->gflops);
    if (most == 0) return {};
    // A bar as short as nothing would be no bar.
    return {std::floor(std::log10(least) - 0.3), std::ceil(std::log10(most) + 0.01)};
}

void explain(Ui& ui, const LadderModel& model, std::size_t index) {
    const RungRow& rung = model.rungs()[index];
    const RungResult* result = model.result(index);
    Detail detail;
    detail.title = rung.lane;
    detail.text = rung.idea;
    if (result != nullptr) {
        for (auto& [name, value] : numbersOf(*result, model.roof()))
            detail.values.emplace_back(name, ui.timing(value));
        if (const std::string gain = model.speedUp(index); !gain.empty())
            detail.values.emplace(detail.values.begin() + 1, "speed-up", ui.timing(gain));
        detail.text += "\n" + checkText(*result);
    }
    ui.explainItem(detail);
}

// Units, and as many pixels as the scale makes of them.
constexpr float lowestStep = 17; // a line can still be read
constexpr float tightStep = 13;  // in smaller letters, where not all would fit
constexpr float highestStep = 40;
constexpr float machineGap = 10; // between the processor's rungs and the GPU's

/// Names on the left, and the scale from there to the right.
struct Stairs {
    Scale scale;
    float left = 0; // of the steps, on the screen
    float right = 0;
    float rise = 0; // from step to step
    float roof = 0; // of the GPU's rungs; 0: there is none

    float letters() const { return std::min(ImGui::GetFontSize(), rise); }
    /// The width of a text in these letters.
    float widthOf(const std::string& text) const {
        return textWidth(text) * letters() / ImGui::GetFontSize();
    }
    float at(double gflops) const { return left + (right - left) * scale.share(gflops); }
};

// As long as the rung is fast, on the step below it.
void drawStep(Ui& ui, const Stairs& stairs, const RungResult& result, float top) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = result.spec.gpu ? ui.theme.gpu : ui.theme.cpu;
    const float end = std::max(stairs.at(result.measure.gflops), stairs.left + ui.px(3));
    const float bottom = top + stairs.rise;
    draw.AddRectFilled({stairs.left, top}, {end, bottom}, faded(colour, 0.45f));
    if (result.spec.gpu && result.measure.machine.software) { // the second cue: it is no GPU
        draw.PushClipRect({stairs.left, top}, {end, bottom}, true);
        for (float x = stairs.left - stairs.rise; x < end; x += ui.px(9))
            draw.AddLine({x, bottom}, {x + stairs.rise, top}, faded(colour, 0.3f), ui.line());
        draw.PopClipRect();
    }
    draw.AddRectFilled({stairs.left, top}, {end, top + ui.line(2)}, colour); // where one would stand
    draw.AddRectFilled({end - ui.px(3), top}, {end, bottom}, colour);
}

// Clear of the bar's end and of the roof: behind the bar, or in its end, or behind the roof; if anywhere.
std::optional<float> labelPlace(const Ui& ui, const Stairs& stairs, bool gpu, float end, float width) {
    const float gap = ui.px(8);
    const float roof = gpu ? stairs.roof : 0;
    const auto clear = [&](float left) {
        const bool across = roof > 0 && left < roof + gap / 2 && left + width > roof - gap / 2;
        return left >= stairs.left + gap && left + width + gap <= stairs.right && !across;
    };
    for (const float left : {end + gap, end - gap - width, roof + gap})
        if (clear(left)) return left;
    return std::nullopt;
}

// Speed and share of the roof; where there is room, the speed-up over the rung below.
void drawNumbers(const Ui& ui, const LadderModel& model, std::size_t index, const Stairs& stairs, float top) {
    const RungResult& result = *model.result(index);
    const float size = stairs.letters();
    const std::string speed = ui.timing(model.stateOf(index));
    const std::string gain = ui.masked ? "" : model.speedUp(index);
    std::string share = ui.masked ? "" : roofShare(&result, model.roof());
    const float first = ui.fonts.strong->CalcTextSizeA(size, FLT_MAX, 0, speed.c_str()).x;
    const auto widthWith = [&](const std::string& rest) {
        return first + (rest.empty() ? 0 : ui.px(10) + stairs.widthOf(rest));
    };
    const float end = ui.masked ? stairs.left : stairs.at(result.measure.gflops);
    const std::string both = gain.empty() ? share : share + (share.empty() ? "" : "   ") + gain;
    std::optional<float> place = labelPlace(ui, stairs, result.spec.gpu, end, widthWith(both));
    if (place)
        share = both;
    else
        place = labelPlace(ui, stairs, result.spec.gpu, end, widthWith(share));
    const float width = widthWith(share);
    const float left = place.value_or(stairs.right - ui.px(8) - width);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (left < end)
        draw.AddRectFilled({left - ui.px(5), top - ui.px(1)},
                           {left + width + ui.px(5), top + size + ui.px(2)}, faded(ui.theme.panel, 0.75f),
                           ui.px(4));
    draw.AddText(ui.fonts.strong, size, {left, top}, ui.theme.text, speed.c_str());
    draw.AddText(nullptr, size, {left + width - stairs.widthOf(share), top}, ui.theme.muted, share.c_str());
}

// Name, step, and number; or the state, or the reason why there is none.
void drawRow(Ui& ui, const LadderModel& model, std::size_t index, const Stairs& stairs, ImVec2 at) {
    const RungRow& rung = model.rungs()[index];
    const RungResult* result = model.result(index);
    const bool picked = index == model.picked();
    const bool timed = result != nullptr && result->timed();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (picked)
        draw.AddRectFilled(at, {stairs.right, at.y + stairs.rise - ui.px(1)}, ui.theme.hovered, ui.px(4));
    if (timed && !ui.masked) drawStep(ui, stairs, *result, at.y);
    const float letters = stairs.letters();
    const float top = at.y + (stairs.rise - letters) / 2;
    const ImU32 quiet = faded(ui.theme.muted, result != nullptr && result->refused() ? 0.6f : 1.0f);
    draw.AddText(picked ? ui.fonts.strong : nullptr, letters, {at.x + ui.px(6), top},
                 picked ? ui.theme.text : quiet, rung.lane.data(), rung.lane.data() + rung.lane.size());
    if (timed) {
        drawNumbers(ui, model, index, stairs, top);
        return;
    }
    if (result == nullptr) // as long as it is not known
        draw.AddRect({stairs.left, at.y + ui.px(1)}, {stairs.right, at.y + stairs.rise - ui.px(2)},
                     ui.theme.grid, ui.px(4), 0, ui.line());
    std::string text = model.measuring(index) || result != nullptr ? model.stateOf(index)
                                                                   : std::string(translated(rung.idea));
    if (result != nullptr && result->refused()) text.append(": ").append(shortRefusal(*result));
    const float room = (stairs.roof > 0 && rung.gpu() ? stairs.roof : stairs.right) - stairs.left;
    draw.AddText(nullptr, letters, {stairs.left + ui.px(8), top},
                 result != nullptr && result->wrong() ? ui.theme.bad : quiet,
                 fittedText(text, room - ui.px(16)).c_str());
}

/// A power of ten as a rate: powerText(8) is "100 MFLOP/s".
std::string powerText(int power) {
    constexpr std::array<const char*, 6> prefixes{"", "k", "M", "G", "T", "P"};
    const auto thousands = static_cast<std::size_t>(std::clamp(power / 3, 0, 5));
    const double number = std::pow(10.0, power - 3 * static_cast<int>(thousands));
    return fmt::format("{:g} {}FLOP/s", number, prefixes[thousands]);
}

// Powers of ten, behind the steps.
void drawPowers(Ui& ui, const Stairs& stairs, float top, float bottom, bool named) {
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    float free = stairs.left;
    for (double power = std::ceil(stairs.scale.low); power <= stairs.scale.high; ++power) {
        const double gflops = std::pow(10.0, power);
        const float x = std::round(stairs.at(gflops));
        draw.AddLine({x, top}, {x, bottom}, ui.theme.grid, ui.line());
        const std::string label = powerText(static_cast<int>(power) + 9);
        const float left = std::clamp(x - textWidth(label) / 2, stairs.left, stairs.right - textWidth(label));
        if (left < free || !named) continue;
        draw.AddText({left, bottom + ui.px(3)}, ui.theme.muted, label.c_str());
        free = left + textWidth(label) + ui.px(10);
    }
}

/// How many times as fast as the slowest GPU rung the fastest is: "263×", and in `rungs` which two these are.
/// Empty before two have times.
std::string climbText(const LadderModel& model, std::string& rungs) {
    std::optional<std::size_t> slowest;
    std::optional<std::size_t> fastest;
    const auto speed = [&](std::size_t rung) { return model.result(rung)->measure.gflops; };
    for (std::size_t i = 0; i < model.rungs().size(); ++i) {
        if (!model.rungs()[i].gpu() || model.result(i) == nullptr || !model.result(i)->timed()) continue;
        if (!slowest || speed(i) < speed(*slowest)) slowest = i;
        if (!fastest || speed(i) > speed(*fastest)) fastest = i;
    }
    if (slowest == fastest) return {};
    rungs = fmt::format("from {} to {}", model.rungs()[*slowest].lane, model.rungs()[*fastest].lane);
    return threeDigits(speed(*fastest) / speed(*slowest)) + "×";
}

} // namespace

void drawClimb(Ui& ui, const LadderModel& model) {
    std::string rungs;
    const std::string climb = climbText(model, rungs);
    if (climb.empty()) {
        ImGui::PushFont(ui.fonts.title);
        ui.text(fittedText(translatedFormat("One training step, {} ways to write it", model.rungs().size()),
                           ImGui::GetContentRegionAvail().x));
        ImGui::PopFont();
    } else {
        ui.text(ui.timing(climb), 0, ui.fonts.headline);
        ImGui::SameLine(0, ui.px(12));
    }
    ImGui::BeginGroup();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(12), 0});
    if (!climb.empty()) ui.text(ui.timing(rungs), 0, ui.fonts.strong);
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    ui.muted(
        fittedText("whole steps, each rung measured alone; log scale", ImGui::GetContentRegionAvail().x));
    if (const auto& machine = model.gpuMachine(); machine && machine->software) {
        const std::string device = honestDevice(*machine);
        if (ImGui::GetItemRectMax().x + ui.px(12) + textWidth(device) <= right) ImGui::SameLine();
        ui.text(device, ui.deviceColour(true));
    }
    ImGui::PopStyleVar();
    ImGui::EndGroup();
}

std::optional<std::size_t> drawStaircase(Ui& ui, const LadderModel& model, float height) {
    std::optional<std::size_t> clicked;
    ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0f);
    const bool roofed = model.roof() != nullptr && !ui.masked;
    // Where not all fit: neither names of the scale nor rungs that this device cannot run.
    const float line = ImGui::GetTextLineHeight() + ui.px(6);
    const auto all = static_cast<float>(model.rungs().size());
    const bool low = height < all * ui.px(lowestStep) + ui.px(machineGap) + 2 * line;
    const auto shown = [&](std::size_t rung) {
        return !low || model.result(rung) == nullptr || !model.result(rung)->refused();
    };
    const float axis = low ? 0 : line;
    const float head = roofed && !low ? line : 0; // the roof's name
    float rungs = 0;
    for (std::size_t i = 0; i < model.rungs().size(); ++i) rungs += shown(i) ? 1.0f : 0.0f;
    float names = 0;
    for (const RungRow& rung : model.rungs()) names = std::max(names, textWidth(rung.lane));
    Stairs stairs{scaleOf(model), at.x + names + ui.px(22), at.x + width, 0, 0};
    stairs.rise = std::floor(std::clamp((height - ui.px(machineGap) - axis - head) / rungs,
                                        ui.px(low ? tightStep : lowestStep), ui.px(highestStep)));
    if (roofed) stairs.roof = stairs.at(model.roof()->gflops);
    at.y += head;
    const ImVec2 start = at;
    const float bottom = start.y + stairs.rise * rungs + ui.px(machineGap);
    if (!ui.masked) drawPowers(ui, stairs, start.y, bottom, axis > 0);
    bool wasGpu = false;
    float gpuBottom = start.y;
    for (std::size_t i = model.rungs().size(); i-- > 0;) {
        const RungRow& rung = model.rungs()[i];
        const std::string control = "rung/" + std::string(rung.lane);
        if (!shown(i)) continue;
        if (wasGpu && !rung.gpu()) at.y += ui.px(machineGap);
        wasGpu = rung.gpu();
        if (!ui.hidden(control.c_str())) drawRow(ui, model, i, stairs, at);
        ImGui::SetCursorScreenPos(at);
        if (ui.tile(control.c_str(),
                    "One version of the kernel and its measured rate. Click to see its idea and source.",
                    {width, stairs.rise}))
            clicked = i;
        if (i != model.picked()) explain(ui, model, i); // of that the exhibit tells more
        at.y += stairs.rise;
        if (wasGpu) gpuBottom = at.y;
    }
    if (roofed) {
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        const std::string name =
            low ? "" : "the GPU's roof: " + amountText(model.roof()->gflops * 1e9, "FLOP/s");
        const float left = std::min(stairs.roof - textWidth(name) / 2, stairs.right - textWidth(name));
        draw.AddText({left, start.y - head}, ui.theme.text, name.c_str());
        draw.AddLine({stairs.roof, start.y}, {stairs.roof, gpuBottom}, ui.theme.text, ui.line(2));
    }
    ImGui::SetCursorScreenPos({start.x, std::max(at.y, bottom)});
    ImGui::Dummy({width, axis});
    return clicked;
}

std::vector<RungDots> rooflineDots(const LadderModel& model) {
    std::vector<RungDots> all;
    for (std::size_t rung = 0; rung < model.rungs().size(); ++rung) {
        std::multimap<double, std::pair<double, bool>>
            dots; // by x: y, and whether it is of the batch at hand
        for (const auto& [key, result] : model.results())
            if (key.first == rung && result.timed() && result.intensity() > 0)
                dots.emplace(result.intensity(),
                             std::pair{result.measure.gflops, key.second == model.settings().settings.batch});
        if (dots.empty()) continue;
        RungDots& entry = all.emplace_back();
        entry.rung = rung;
        for (const auto& [x, dot] : dots) {
            if (dot.second) entry.now = entry.x.size();
            entry.x.push_back(x);
            entry.y.push_back(dot.first);
        }
    }
    return all;
}

Curve rooflineOf(const Roof& roof, double lowest, double highest) {
    const double ridge = roof.ridge();
    const double from = std::min(lowest, ridge / 4);
    const double to = std::max(highest, ridge * 4);
    return {{from, ridge, to}, {from * roof.gigabytesPerSecond, roof.gflops, roof.gflops}};
}

std::optional<std::size_t> drawRoofline(Ui& ui, const LadderModel& model, Plot& plot) {
    std::size_t batch = model.settings().settings.batch;
    ImGui::AlignTextToFramePadding();
    ui.muted("Batch");
    ImGui::SameLine(0, ui.px(8));
    ImGui::SetNextItemWidth(std::max(ui.px(80), ImGui::GetContentRegionAvail().x));
    ui.powerSlider("##ladder/walk", "The batch size at which dots are shown.", batch, 1, 4096);

    const std::vector<RungDots> dots = rooflineDots(model);
    double lowest = 1e30;
    double highest = 0;
    for (const RungDots& each : dots) {
        lowest = std::min(lowest, each.x.front());
        highest = std::max(highest, each.x.back());
    }
    std::vector<PlotLine> lines;
    std::vector<PlotBand> bands;
    const Roof* measured = model.roof();
    Curve roof;
    std::array<std::array<double, 2>, 2> halves{};
    const std::array<double, 2> nothing{0, 0};
    const std::array<double, 2> everything{HUGE_VAL, HUGE_VAL};
    if (measured != nullptr) {
        roof = rooflineOf(*measured, lowest / 2, highest * 2);
        lines.push_back({.name = "roof", .colour = ui.theme.text, .x = roof.x, .y = roof.y});
        halves = {{{1e-12, measured->ridge()}, {measured->ridge(), 1e12}}};
        const auto half = [&](std::size_t index, float shade, const char* name) {
            bands.push_back({faded(ui.theme.muted, shade), halves[index], nothing, everything, name});
        };
        half(0, 0.16f, "memory-bound");
        half(1, 0.05f, "compute-bound");
    }
    std::array<double, 2> pickedX{};
    std::array<double, 2> upToRoof{};
    for (const RungDots& each : dots) {
        const bool picked = each.rung == model.picked();
        PlotLine line{.name = "",
                      .colour = picked ? ui.theme.text : ui.theme.gpu,
                      .faint = true,
                      .x = each.x,
                      .y = each.y};
        if (each.x.size() > 1) lines.push_back(line); // where it has been with other batches
        if (!each.now) continue;
        line.name = model.rungs()[each.rung].lane.substr(4);
        line.faint = false;
        line.points = true;
        line.x = std::span(each.x).subspan(*each.now, 1);
        line.y = std::span(each.y).subspan(*each.now, 1);
        if (picked && measured != nullptr) { // how far below the roof it is
            line.name += ", picked";
            pickedX = {line.x[0], line.x[0]};
            upToRoof = {line.y[0], std::min(measured->gflops, line.x[0] * measured->gigabytesPerSecond)};
            lines.push_back({.name = "",
                             .colour = ui.theme.text,
                             .dashed = true,
                             .faint = true,
                             .x = pickedX,
                             .y = upToRoof});
        }
        lines.push_back(line);
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float below = 3 * ImGui::GetTextLineHeightWithSpacing();
    plot.draw(
        ui, "ladder roofline",
        "Rate in FLOP/s over arithmetic intensity in FLOP/byte. No dot can lie above the roof.", lines,
        {.x = {.title = "FLOP per byte requested from memory", .unit = "", .log = true, .measured = true},
         .y = {.title = "GFLOP/s", .unit = "", .log = true, .measured = true},
         .size = {room.x, std::max(room.y - below, ui.px(120))},
         .empty = model.doing().empty() ? "Measure some rungs: each becomes a dot."
                                        : "Each measured rung becomes a dot.",
         .bands = bands,
         .legend = false});
    if (measured != nullptr) {
        std::string device = model.gpuMachine() ? honestDevice(*model.gpuMachine(), 60) + ". " : "";
        ui.paragraph("Each dot is a GPU rung. " + device +
                         ui.timing(fmt::format("The roof, measured here: {} of memory bandwidth, then {} "
                                               "of multiply-adds. Caches can lift a dot above the slope.",
                                               amountText(measured->gigabytesPerSecond * 1e9, "B/s"),
                                               amountText(measured->gflops * 1e9, "FLOP/s"))),
                     ui.theme.muted);
    }
    if (batch == model.settings().settings.batch) return std::nullopt;
    return batch;
}

} // namespace lockstep::demos
