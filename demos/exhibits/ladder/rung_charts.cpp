#include "demos/exhibits/ladder/rung_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "demos/exhibits/ladder/rung_result.h"
#include "demos/exhibits/ladder/rung_words.h"
#include "demos/report/headline.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// Doublings around all that is shown: a factor is as long wherever it stands.
struct Scale {
    double low = 0; ///< of GFLOP/s, as powers of two
    double high = 4;

    float share(double power) const {
        return static_cast<float>(std::clamp((power - low) / (high - low), 0.0, 1.0));
    }
};

constexpr double growSeconds = 0.6; // of a bar and its factor
constexpr double belowLowest = 0.5; // doublings that the scale begins below the slowest rung

/// Once every rung that it could be compared with is known: before, the bars have its room.
bool showsRoof(const Ui& ui, const LadderModel& model) {
    bool known = model.roof() != nullptr && !ui.masked;
    for (std::size_t i = 0; i < model.rungs().size(); ++i)
        known = known && (!model.rungs()[i].gpu() || model.result(i) != nullptr);
    return known;
}

Scale scaleOf(Ui& ui, const LadderModel& model) {
    constexpr double fewest = 4; // doublings: two rungs alike do not fill the width
    double least = 1e30;
    double most = 0;
    const auto add = [&](double gflops) {
        least = std::min(least, gflops);
        most = std::max(most, gflops);
    };
    for (std::size_t i = 0; i < model.rungs().size(); ++i)
        if (const auto rate = model.rate(i)) add(*rate);
    if (most == 0) return {};
    if (showsRoof(ui, model)) add(model.roof()->gflops);
    const double low = std::log2(least) - belowLowest; // a bar as short as nothing would be no bar
    const double high = std::max(std::log2(most) + 0.2, low + fewest);
    const auto eased = [&](const char* id, double target) {
        return static_cast<double>(ui.eased(id, static_cast<float>(target), growSeconds));
    };
    return {eased("ladder/low", low), eased("ladder/high", high)};
}

void explain(Ui& ui, const LadderModel& model, std::size_t index) {
    const RungRow& rung = model.rungs()[index];
    const RungResult* result = model.result(index);
    Detail detail;
    detail.title = rung.lane;
    detail.text = translated(rung.idea);
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
constexpr float tightStep = 12;  // in smaller letters, where not all would fit
constexpr float largeStep = 46;  // has room for larger letters
constexpr float highestStep = 64;
constexpr float machineGap = 10;  // between the processor's rungs and the GPU's
constexpr float leastSteps = 460; // beside the sentences, or these give way to the bars
constexpr float leastBars = 320;  // beside the names of what factors are over, or these give way
constexpr float baseGap = 7;      // before them

/// A ladder between two rails: names on the left of it; in it what each rung does, where there is room beside
/// the bars, the bars, and the rates.
struct Stairs {
    Scale scale;
    float left = 0;         // of the rungs, on the screen
    float bars = 0;         // left of the bars; beyond `left`: each rung has its sentence before them
    float numbers = 0;      // right of the bars
    float factors = 0;      // right of the factors
    bool namesBase = false; // behind a factor stands what it is over
    float right = 0;
    float rise = 0; // from rung to rung
    float roof = 0; // of the GPU's rungs; 0: there is none
    ImFont* font = nullptr;

    bool sentences() const { return bars > left; }
    float letters() const { return std::min(font->FontSize, rise); }
    /// The width of letters as they are here.
    float widthOf(const std::string& text, ImFont* in = nullptr) const {
        return (in != nullptr ? in : font)->CalcTextSizeA(letters(), FLT_MAX, 0, text.c_str()).x;
    }
    ImFont* strong(const Ui& ui) const { return font == ui.fonts.body ? ui.fonts.strong : font; }
    float at(double power) const { return bars + (numbers - bars) * scale.share(power); }
};

ImU32 colourOfRung(const Ui& ui, const RungRow& rung) { return rung.gpu() ? ui.theme.gpu : ui.theme.cpu; }

/// A rung with a rate, as it is drawn now.
struct Step {
    double from = 0; // powers of two: the rung that its factor is over, or where the scale begins
    double to = 0;
    std::optional<std::size_t> base;

    double factor() const { return base ? std::exp2(to - from) : 1; }
    /// By more than two times of the same thing differ.
    bool slower() const { return base && factor() < 1 / equalBelow; }
    bool alike() const { return base && !slower() && factor() < equalBelow; }
};

// Grows from its base while it is measured. A rung without a rate stands where its bar will begin.
std::optional<Step> stepOf(Ui& ui, const LadderModel& model, const Stairs& stairs, std::size_t rung) {
    Step step;
    step.base = model.base(rung);
    step.from = step.base ? std::log2(*model.rate(*step.base)) : stairs.scale.low;
    const auto rate = model.rate(rung);
    const double target = rate ? std::log2(*rate) : step.from;
    step.to = static_cast<double>(ui.eased("ladder/rate/" + std::string(model.rungs()[rung].lane),
                                           static_cast<float>(target), growSeconds));
    if (!rate) return std::nullopt;
    return step;
}

// The second cue beside the colour, in bars and in samples of them: it is no GPU.
void hatch(Ui& ui, ImVec2 low, ImVec2 high) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float rise = high.y - low.y;
    draw.PushClipRect(low, high, true);
    for (float x = low.x - rise; x < high.x; x += ui.px(9))
        draw.AddLine({x, high.y}, {x + rise, low.y}, faded(ui.theme.panel, 0.35f), ui.line());
    draw.PopClipRect();
}

bool onSoftware(const LadderModel& model) {
    const auto& machine = model.gpuMachine();
    return machine && machine->software;
}

// Up to its base, a line; from there what it is faster, in pieces that each double the speed.
void drawStep(Ui& ui, const Stairs& stairs, const Step& step, const RungRow& rung, bool software, float top) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = colourOfRung(ui, rung);
    const float edge = std::max(std::floor(stairs.rise * 0.14f), 1.0f);
    const float bottom = top + stairs.rise - edge;
    const float middle = top + stairs.rise / 2;
    top += edge;
    const float from = step.base ? stairs.at(step.from) : stairs.bars;
    const float to = stairs.at(step.to);
    draw.AddLine({stairs.bars, middle}, {step.base ? from : to, middle}, faded(colour, 0.4f), ui.line(2));
    const float seam = ui.px(2);
    if (step.slower()) {
        draw.AddRectFilled({to, top}, {from, bottom}, faded(ui.theme.bad, 0.45f), ui.px(2));
        draw.AddRectFilled({to, top}, {to + ui.px(3), bottom}, ui.theme.bad);
        return;
    }
    if (step.base)
        for (double power = step.from; power < step.to; power += 1) {
            const float low = stairs.at(power);
            const float high = stairs.at(std::min(power + 1, step.to));
            draw.AddRectFilled({low, top}, {std::max(high - seam, low), bottom}, faded(colour, 0.8f),
                               high - low > ui.px(8) ? ui.px(2) : 0);
        }
    if (software && step.base && to > from) hatch(ui, {from, top}, {to, bottom});
    draw.AddRectFilled({to - ui.px(3), top}, {to, bottom}, colour); // where one would stand
}

// In a column of its own: "6×", large, and what it is over.
void drawFactor(Ui& ui, const Stairs& stairs, const Step& step, const LadderModel& model, float top) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const std::string factor = twoDigits(step.factor()) + "×";
    ImFont* strong = stairs.strong(ui);
    const float size = stairs.letters();
    const float y = top + (stairs.rise - size) / 2;
    draw.AddText(strong, size, {stairs.factors - stairs.widthOf(factor, strong), y},
                 step.slower()                ? legible(ui.theme, ui.theme.bad)
                 : step.base && !step.alike() ? ui.theme.text
                                              : ui.theme.muted,
                 factor.c_str());
    if (!step.base || !stairs.namesBase) return;
    const std::string over = translatedFormat("over {}", model.rungs()[*step.base].lane);
    const float small = std::min(ui.fonts.small->FontSize, size);
    draw.AddText(ui.fonts.small, small, {stairs.factors + ui.px(baseGap), y + 0.8f * (size - small)},
                 ui.theme.muted, over.c_str());
}

// Flush right: the rate, and with much room its share of the roof.
void drawRate(const Ui& ui, const Stairs& stairs, const LadderModel& model, std::size_t index, double gflops,
              float top) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    ImFont* strong = stairs.strong(ui);
    const std::string rate = ui.timing(amountText(gflops * 1e9, "FLOP/s"));
    const float right = stairs.right - ui.px(10);
    const float size = stairs.letters();
    const float y = top + (stairs.rise - size) / 2;
    draw.AddText(strong, size, {right - stairs.widthOf(rate, strong), y}, ui.theme.text, rate.c_str());
    const std::string share = ui.masked ? "" : roofShare(model.result(index), model.roof());
    if (share.empty() || !stairs.sentences()) return;
    const std::string text = translatedFormat("{} of the roof", share);
    const float small = ui.fonts.small->FontSize;
    const float left = right - stairs.widthOf("888 GFLOP/s", strong) - ui.px(12) -
                       ui.fonts.small->CalcTextSizeA(small, FLT_MAX, 0, text.c_str()).x;
    if (left > stairs.factors)
        draw.AddText(ui.fonts.small, small, {left, y + 0.8f * (size - small)}, ui.theme.muted, text.c_str());
}

// A rung without a bar: what it does, and what it waits for. While it is measured, a light runs along it.
void drawOutline(Ui& ui, const LadderModel& model, std::size_t index, const Stairs& stairs, ImU32 ground,
                 float top) {
    const RungRow& rung = model.rungs()[index];
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = colourOfRung(ui, rung);
    const bool measuring = model.measuring(index);
    const ImVec2 low{stairs.left + ui.px(2), top + ui.px(1)};
    const ImVec2 high{stairs.right - ui.px(2), top + stairs.rise - ui.px(2)};
    draw.AddRectFilled(low, high, ground, ui.px(4));
    if (measuring && !ui.scripted) {
        const float share = static_cast<float>(std::fmod(ui.now * 0.7, 1.0));
        const float light = (high.x - low.x) * 0.2f;
        const float x = low.x - light + (high.x - low.x + light) * share;
        draw.PushClipRect(low, high, true);
        draw.AddRectFilled({x, low.y}, {x + light, high.y}, faded(colour, 0.3f));
        draw.PopClipRect();
    }
    draw.AddRect(low, high, faded(colour, measuring ? 1.0f : 0.25f), ui.px(4), 0, ui.line());
    const bool waits = measuring || model.waits(index);
    const std::string state = waits && !ui.masked ? std::string(translated(model.stateOf(index))) : "";
    const std::string sentence(translated(wordsOf(rung).plain));
    const float y = top + (stairs.rise - stairs.letters()) / 2;
    const float left = stairs.left + ui.px(12);
    draw.AddText(stairs.font, stairs.letters(), {left, y}, ui.theme.text, sentence.c_str());
    const float right = high.x - ui.px(10);
    if (left + stairs.widthOf(sentence) + ui.px(20) + stairs.widthOf(state) <= right)
        draw.AddText(stairs.font, stairs.letters(), {right - stairs.widthOf(state), y},
                     measuring ? colour : ui.theme.muted, state.c_str());
}

// What a measured rung does: right of its bar, or else before it, on the line that leads there; where it has
// no room beside the bar, nowhere.
void drawPhrase(Ui& ui, const Stairs& stairs, const Step& step, const RungRow& rung, ImU32 ground,
                float top) {
    const std::string phrase(translated(wordsOf(rung).plain));
    const float size = std::min(ui.fonts.small->FontSize, stairs.letters());
    const float width = ui.fonts.small->CalcTextSizeA(size, FLT_MAX, 0, phrase.c_str()).x;
    const float gap = ui.px(12);
    const float from = step.base ? stairs.at(step.from) : stairs.bars;
    const float to = stairs.at(step.to);
    const float end = std::max(from, to);
    const bool roofed = rung.gpu() && stairs.roof > end; // no letters over it
    const float right = roofed ? std::min(stairs.roof, stairs.numbers) : stairs.numbers;
    float left = end + gap;
    if (left + width > right - gap) {
        left = std::min(step.base ? from : to, to) - gap - width;
        // Up from the slowest rung a line leads to those that are compared with it.
        if (left < stairs.at(stairs.scale.low + belowLowest) + gap) return;
    }
    const float y = top + (stairs.rise - size) / 2;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled({left - ui.px(4), y}, {left + width + ui.px(4), y + size},
                       ground); // no line through it
    draw.AddText(ui.fonts.small, size, {left, y}, faded(ui.theme.muted, 0.85f), phrase.c_str());
}

// Name, and bar with its numbers; or what the rung does; or the reason why there is none.
void drawRow(Ui& ui, const LadderModel& model, std::size_t index, const Stairs& stairs, ImVec2 at) {
    const RungRow& rung = model.rungs()[index];
    const RungResult* result = model.result(index);
    const bool picked = index == model.picked();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 ground = picked ? ui.theme.hovered : ui.theme.panel;
    const float letters = stairs.letters();
    const float y = at.y + (stairs.rise - letters) / 2;
    const bool refused = result != nullptr && result->refused();
    const ImU32 quiet = faded(ui.theme.muted, refused ? 0.75f : 1.0f);
    ImFont* font = picked && stairs.font == ui.fonts.body ? ui.fonts.strong : stairs.font;
    draw.AddText(font, letters, {at.x + ui.px(6), y}, picked ? ui.theme.text : quiet, rung.lane.data(),
                 rung.lane.data() + rung.lane.size());
    const std::optional<Step> step = stepOf(ui, model, stairs, index);
    if (!step && result == nullptr) {
        drawOutline(ui, model, index, stairs, ground, at.y);
        return;
    }
    const auto write = [&](float left, float right, ImU32 colour, const std::string& text) {
        ImGui::PushFont(ui.fonts.body); // of which it may be cut
        const float scale = letters / ImGui::GetFontSize();
        const std::string fitted = fittedText(text, (right - left) / scale);
        ImGui::PopFont();
        // No line through the letters, and none of which only an end is left.
        const float edge = step ? ui.px(1) : 0;
        draw.AddRectFilled({left - ui.px(4), at.y + edge},
                           {left + stairs.widthOf(fitted) + ui.px(4), at.y + stairs.rise - 2 * edge}, ground);
        draw.AddText(stairs.font, letters, {left, y}, colour, fitted.c_str());
    };
    if (stairs.sentences())
        write(stairs.left + ui.px(12), stairs.bars - ui.px(12), quiet,
              std::string(translated(wordsOf(rung).plain)));
    if (!step) {
        const std::string text =
            refused ? refusedText(*result) : std::string(translated(model.stateOf(index)));
        write(stairs.bars + ui.px(12), stairs.right - ui.px(10), result->wrong() ? ui.theme.bad : quiet,
              text);
        return;
    }
    if (!ui.masked) {
        drawStep(ui, stairs, *step, rung, rung.gpu() && onSoftware(model), at.y);
        if (!stairs.sentences() && !picked) // of that the exhibit tells more
            drawPhrase(ui, stairs, *step, rung, ground, at.y);
        drawFactor(ui, stairs, *step, model, at.y);
    }
    drawRate(ui, stairs, model, index, std::exp2(step->to), at.y);
}

/// Of a ladder's row, in the order of the table; those that are not shown have none.
using RowTops = std::vector<std::optional<float>>;

// From the end of a bar up to where the next begins.
void drawRisers(Ui& ui, const LadderModel& model, const Stairs& stairs, const RowTops& tops) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < tops.size(); ++i) {
        const auto base = model.base(i);
        if (!base || !model.rate(i) || !tops[i] || !tops[*base]) continue;
        const float x = stairs.at(std::log2(*model.rate(*base))) - ui.line();
        draw.AddLine({x, *tops[*base] + stairs.rise / 2}, {x, *tops[i] + stairs.rise / 2},
                     faded(colourOfRung(ui, model.rungs()[i]), 0.4f), ui.line(2));
    }
}

// To the left and to the right of a machine's rungs.
void drawRails(Ui& ui, const LadderModel& model, const Stairs& stairs, const RowTops& tops, bool gpu) {
    float top = FLT_MAX;
    float bottom = -FLT_MAX;
    for (std::size_t i = 0; i < tops.size(); ++i) {
        if (!tops[i] || model.rungs()[i].gpu() != gpu) continue;
        top = std::min(top, *tops[i]);
        bottom = std::max(bottom, *tops[i] + stairs.rise);
    }
    if (top > bottom) return;
    for (const float x : {stairs.left, stairs.right})
        ImGui::GetWindowDrawList()->AddRectFilled({x - ui.line(2), top - ui.px(2)},
                                                  {x + ui.line(1), bottom + ui.px(1)}, ui.theme.border);
}

/// A sentence of the lines below the title, behind a sample of the bars that it is about.
struct Remark {
    std::string text;
    ImU32 colour = 0;
    ImU32 sample = 0; // 0: none
    bool hatched = false;
};

/// How to read the rungs.
std::vector<Remark> legendOf(const Ui& ui, const LadderModel& model) {
    std::vector<Remark> remarks;
    const std::size_t timed = model.timedRungs();
    // While the others are measured, they are on their way.
    if (const std::size_t brief = model.briefRungs(); brief > 0 && !model.measuringAll())
        remarks.push_back(
            {translatedFormat("Preview: {} of {} rungs", brief, model.rungs().size()), ui.theme.text});
    remarks.push_back({"Read from the bottom up.", ui.theme.muted});
    if (timed == 0) {
        remarks.push_back({"Click a rung to measure it.", ui.theme.muted});
        return remarks;
    }
    if (ui.masked) return remarks;
    bool slower = false;
    std::optional<RungRow> faster; // one with such a bar
    for (std::size_t i = 0; i < model.rungs().size(); ++i) {
        const auto base = model.base(i);
        if (!base || !model.rate(i)) continue;
        if (*model.rate(i) < *model.rate(*base) / equalBelow)
            slower = true;
        else
            faster = model.rungs()[i];
    }
    if (faster)
        remarks.push_back({"one piece: twice as fast", ui.theme.muted, faded(colourOfRung(ui, *faster), 0.8f),
                           faster->gpu() && onSoftware(model)});
    if (slower) remarks.push_back({"slower than its base", ui.theme.muted, faded(ui.theme.bad, 0.45f)});
    return remarks;
}

/// What is to be known of the numbers before they are believed.
std::vector<Remark> cautionsOf(const Ui& ui, const LadderModel& model) {
    std::vector<Remark> remarks;
    if (onSoftware(model)) // the key of its bars
        remarks.push_back({honestDevice(*model.gpuMachine()), ui.deviceColour(true),
                           ui.masked ? 0 : faded(ui.theme.gpu, 0.8f), true});
    const std::string busy = ui.masked ? "" : busyText(model.load());
    if (!busy.empty()) remarks.push_back({translatedFormat("Warning: {}.", busy), ui.theme.warning});
    return remarks;
}

// One after the other, in as many lines as there may be; what then has no room is left out whole.
void drawRemarks(Ui& ui, const std::vector<Remark>& remarks, int lines) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    const float gap = ui.px(14);
    const float sample = ui.px(22);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, 0});
    float end = -1; // of the line so far
    for (const Remark& remark : remarks) {
        const float before = remark.sample != 0 ? sample + ui.px(6) : 0;
        const float width = before + textWidth(remark.text);
        if (end >= 0 && end + gap + width > right && --lines == 0) break;
        if (end >= 0 && end + gap + width <= right) ImGui::SameLine(0, gap);
        if (remark.sample != 0) {
            const ImVec2 at = ImGui::GetCursorScreenPos();
            const float line = ImGui::GetTextLineHeight();
            ImGui::GetWindowDrawList()->AddRectFilled(
                {at.x, at.y + 0.15f * line}, {at.x + sample, at.y + 0.85f * line}, remark.sample, ui.px(2));
            if (remark.hatched) hatch(ui, {at.x, at.y + 0.15f * line}, {at.x + sample, at.y + 0.85f * line});
            ImGui::Dummy({sample, line});
            ImGui::SameLine(0, ui.px(6));
        }
        ui.text(fittedText(remark.text, ImGui::GetContentRegionAvail().x), remark.colour);
        end = ImGui::GetItemRectMax().x;
    }
    ImGui::PopStyleVar();
}

/// What all rungs together say, once each has a result that is no preview: what rewriting the kernel brings,
/// and which machine is ahead then. Empty: not yet, or nothing to say.
std::string findingOf(const Ui& ui, const LadderModel& model) {
    if (ui.masked || model.briefRungs() > 0) return {}; // which sentence holds differs from run to run
    for (std::size_t i = 0; i < model.rungs().size(); ++i)
        if (model.result(i) == nullptr) return {};
    const auto climb = model.climb(true);
    if (!climb) return {};
    auto cpu = model.fastest(false, model.rungs()[climb->to].half); // in as many bits, if that can be had
    if (!cpu) cpu = model.fastest(false, false);
    if (!cpu) return {};
    const std::string factor = twoDigits(climb->factor);
    const double ahead = *model.rate(*cpu) / *model.rate(climb->to);
    const std::string_view other = model.rungs()[*cpu].lane;
    const std::string_view best = model.rungs()[climb->to].lane;
    std::string finding = onSoftware(model)
                              ? translatedFormat("Rewriting alone: {}× on Vulkan in software", factor)
                              : translatedFormat("Rewriting alone: {}× on the GPU", factor);
    if (ahead >= equalBelow)
        finding += translatedFormat("; {} is still {}× ahead", other, twoDigits(ahead));
    else if (ahead > 1 / equalBelow)
        finding += translatedFormat("; {} is as fast", other);
    else
        finding += translatedFormat("; {} is {}× ahead of {}", best, twoDigits(1 / ahead), other);
    return finding;
}

} // namespace

void drawClimb(Ui& ui, const LadderModel& model, bool high) {
    const float room = ImGui::GetContentRegionAvail().x;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const std::string finding = findingOf(ui, model);
    const std::string title =
        finding.empty() ? translatedFormat("One training step, {} ways to write it", model.rungs().size())
                        : finding;
    const auto widthIn = [](ImFont* font, const std::string& text) {
        return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
    };
    // One subject: while rungs are measured, the fastest so far changes. The finding has the number in it.
    const auto climb = model.measuringMany() || !finding.empty() ? std::nullopt : model.climb();
    const double factor = std::exp2(static_cast<double>(
        ui.eased("ladder/climb", climb ? static_cast<float>(std::log2(climb->factor)) : 0.0f, growSeconds)));
    const std::string number = climb ? ui.timing(twoDigits(factor) + "×") : "";
    const std::string rungs =
        climb ? ui.timing(translatedFormat("from {} to {}", model.rungs()[climb->from].lane,
                                           model.rungs()[climb->to].lane))
              : "";
    const float large = ui.fonts.headline->FontSize;
    const float middle = ui.fonts.title->FontSize;
    const float gap = ui.px(10);
    const float numbers = widthIn(ui.fonts.headline, number) + gap + widthIn(ui.fonts.strong, rungs);
    const bool beside = !climb || widthIn(ui.fonts.title, title) + 2 * gap + numbers <= room;
    ImGui::PushFont(ui.fonts.title);
    const std::string fitted = fittedText(title, room);
    ImGui::PopFont();
    const float line = beside ? large : middle;
    draw.AddText(ui.fonts.title, middle, {start.x, start.y + 0.8f * (line - middle)}, ui.theme.text,
                 fitted.c_str());
    float height = line;
    if (climb) {
        const ImVec2 at{beside ? start.x + room - numbers : start.x, beside ? start.y : start.y + middle};
        draw.AddText(ui.fonts.headline, large, at, ui.theme.text, number.c_str());
        draw.AddText(ui.fonts.strong, ui.fonts.strong->FontSize,
                     {at.x + numbers - widthIn(ui.fonts.strong, rungs),
                      at.y + 0.8f * (large - ui.fonts.strong->FontSize)},
                     ui.theme.text, rungs.c_str());
        if (!beside) height += large;
    }
    ImGui::Dummy({room, height});
    std::vector<Remark> remarks = legendOf(ui, model);
    const std::vector<Remark> cautions = cautionsOf(ui, model);
    if (high) {
        drawRemarks(ui, std::exchange(remarks, {}), 1);
        if (!cautions.empty()) ImGui::Dummy({0, 0});
    }
    std::ranges::copy(cautions, std::back_inserter(remarks));
    drawRemarks(ui, remarks, 2);
    ImGui::Dummy({0, ui.px(1)});
}

std::optional<std::size_t> drawStaircase(Ui& ui, const LadderModel& model, float height) {
    std::optional<std::size_t> clicked;
    ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0f);
    const std::vector<RungRow>& all = model.rungs();
    const bool roofed = showsRoof(ui, model);
    // Where not all fit: neither the roof's name nor rungs that this device cannot run.
    const float name = roofed ? ui.fonts.small->FontSize + ui.px(4) : ui.px(machineGap);
    const bool low = height < static_cast<float>(all.size()) * ui.px(lowestStep) + name;
    const auto shown = [&](std::size_t rung) {
        return !low || model.result(rung) == nullptr || !model.result(rung)->refused();
    };
    const float between = low ? ui.px(machineGap) : name;
    float rungs = 0;
    for (std::size_t i = 0; i < all.size(); ++i) rungs += shown(i) ? 1.0f : 0.0f;

    Stairs stairs;
    stairs.rise = std::floor(std::clamp((height - between) / std::max(rungs, 1.0f),
                                        ui.px(low ? tightStep : lowestStep), ui.px(highestStep)));
    stairs.font = stairs.rise >= ui.px(largeStep) && width >= ui.px(1500) ? ui.fonts.title : ui.fonts.body;
    float names = 0;
    float sentences = 0;
    for (const RungRow& rung : all) {
        names = std::max(names, stairs.widthOf(std::string(rung.lane)));
        sentences = std::max(sentences, stairs.widthOf(std::string(translated(wordsOf(rung).plain))));
    }
    stairs.left = at.x + names + ui.px(20);
    stairs.right = at.x + width - ui.px(2);
    // From the right: rates, with much room their shares of the roof, factors and what they are over, bars.
    const auto smallWidth = [&](const std::string& text) {
        return ui.fonts.small->CalcTextSizeA(ui.fonts.small->FontSize, FLT_MAX, 0, text.c_str()).x;
    };
    float bases = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (const auto base = model.base(i); base && model.rate(i))
            bases =
                std::max(bases, smallWidth(translatedFormat("over {}", all[*base].lane)) + ui.px(baseGap));
    const float apart = ui.px(20);
    const float factor = stairs.widthOf("0.88×", stairs.strong(ui)) + apart;
    stairs.factors = stairs.right - stairs.widthOf("888 GFLOP/s", stairs.strong(ui)) - ui.px(10) - apart;
    const auto barsUpTo = [&](float factors) { return factors - factor - stairs.left; };
    stairs.namesBase = barsUpTo(stairs.factors - bases) >= ui.px(leastBars);
    if (stairs.namesBase) stairs.factors -= bases;
    stairs.bars = stairs.left + sentences + ui.px(28);
    const float share = smallWidth(translatedFormat("{} of the roof", "88.8 %")) + ui.px(20);
    if (barsUpTo(stairs.factors - share) - (stairs.bars - stairs.left) >= ui.px(leastSteps))
        stairs.factors -= share;
    else
        stairs.bars = stairs.left;
    stairs.numbers = stairs.factors - factor;
    stairs.scale = scaleOf(ui, model);
    if (roofed) stairs.roof = stairs.at(std::log2(model.roof()->gflops));

    const ImVec2 start = at;
    RowTops tops(all.size());
    float gap = start.y; // between the machines
    for (std::size_t i = all.size(); i-- > 0;) {
        if (!shown(i)) continue;
        if (!all[i].gpu() && gap == start.y) {
            gap = at.y;
            at.y += between;
        }
        tops[i] = at.y;
        at.y += stairs.rise;
    }
    const float bottom = at.y;
    drawRails(ui, model, stairs, tops, true);
    drawRails(ui, model, stairs, tops, false);
    if (const auto& top = tops[model.picked()])
        ImGui::GetWindowDrawList()->AddRectFilled(
            {start.x, *top}, {stairs.right, *top + stairs.rise - ui.px(1)}, ui.theme.hovered, ui.px(4));
    if (roofed) {
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        draw.AddLine({stairs.roof, start.y}, {stairs.roof, gap}, ui.theme.text, ui.line(2));
        const std::string label =
            low ? std::string()
                : translatedFormat("the GPU's roof: {}", amountText(model.roof()->gflops * 1e9, "FLOP/s"));
        const SmallLetters small(ui);
        const float left =
            std::min(stairs.roof - lettersWidth(label) / 2, stairs.right - ui.px(6) - lettersWidth(label));
        draw.AddText({left, gap + ui.px(1)}, ui.theme.text, label.c_str());
    }
    if (!ui.masked) drawRisers(ui, model, stairs, tops);
    for (std::size_t i = all.size(); i-- > 0;) {
        if (!tops[i]) continue;
        const std::string control = "rung/" + std::string(all[i].lane);
        const ImVec2 row{start.x, *tops[i]};
        if (!ui.hidden(control.c_str())) drawRow(ui, model, i, stairs, row);
        ImGui::SetCursorScreenPos(row);
        if (ui.tile(control.c_str(),
                    all[i].gpu()
                        ? "One version of the kernel. A click measures it; another one shows what it "
                          "reads from memory."
                        : "One version of the processor's loops. A click measures it.",
                    {width, stairs.rise}))
            clicked = i;
        if (i != model.picked()) explain(ui, model, i); // of that the exhibit tells more
    }
    ImGui::SetCursorScreenPos({start.x, bottom});
    ImGui::Dummy({width, 0});
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

namespace {

/// How far the picked rung is below what holds it back.
std::string belowRoof(const LadderModel& model, const RungDots& dots) {
    const double intensity = dots.x[*dots.now];
    const Roof& roof = *model.roof();
    const double most = std::min(roof.gflops, intensity * roof.gigabytesPerSecond);
    const std::string_view lane = model.rungs()[dots.rung].lane;
    const std::string share = translatedFormat("{} %", twoDigits(100 * dots.y[*dots.now] / most));
    return intensity < roof.ridge()
               ? translatedFormat("{} reaches {} of what memory allows", lane, share)
               : translatedFormat("{} reaches {} of what arithmetic allows", lane, share);
}

} // namespace

std::optional<std::size_t> drawRoofline(Ui& ui, const LadderModel& model, Plot& plot) {
    std::size_t batch = model.settings().settings.batch;
    ImGui::AlignTextToFramePadding();
    ui.muted("Batch");
    ImGui::SameLine(0, ui.px(8));
    ImGui::SetNextItemWidth(std::max(ui.px(80), ImGui::GetContentRegionAvail().x));
    ui.powerSlider("##ladder/walk", "The batch size at which dots are shown.", batch, 1, 4096);

    const std::vector<RungDots> dots = rooflineDots(model);
    if (const auto own = std::ranges::find(dots, model.picked(), &RungDots::rung);
        own != dots.end() && own->now && model.roof() != nullptr)
        ui.text(ui.timing(belowRoof(model, *own)), 0, ui.fonts.title);
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
        const auto half = [&](std::size_t index, float shade, std::string name) {
            bands.push_back(
                {faded(ui.theme.muted, shade), halves[index], nothing, everything, std::move(name)});
        };
        const auto atMost = [&](double amount, const char* unit) {
            return ui.timing(amountText(amount, unit));
        };
        half(0, 0.16f,
             translatedFormat("memory-bound: at most {}", atMost(measured->gigabytesPerSecond * 1e9, "B/s")));
        half(1, 0.05f,
             translatedFormat("compute-bound: at most {}", atMost(measured->gflops * 1e9, "FLOP/s")));
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
    const float below = 2 * ImGui::GetTextLineHeightWithSpacing();
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
        ui.paragraph(
            device.append(translated("Each dot is a GPU rung; the roof was measured here. Caches can "
                                     "lift a dot above the slope.")),
            ui.theme.muted);
    }
    if (batch == model.settings().settings.batch) return std::nullopt;
    return batch;
}

} // namespace lockstep::demos
