#include "demos/exhibits/ladder/access_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "demos/exhibits/ladder/access_grids.h"
#include "demos/exhibits/ladder/rung_result.h"
#include "demos/kit/operations.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr double momentsPerSecond = 5;
constexpr double longestPlay = 30; // seconds
constexpr double restSeconds = 3;  // at the end, where the counters are whole

void drawAccessLegend(Ui& ui, std::size_t invocations) {
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight();
    const auto entry = [&](float width, auto fill, const char* label) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        fill(ImVec2{at.x, at.y + line * 0.15f}, ImVec2{at.x + width, at.y + line * 0.85f});
        ImGui::Dummy({width, line});
        ImGui::SameLine(0, ui.px(5));
        ui.muted(label);
        ImGui::SameLine(0, ui.px(12));
    };
    const auto invocationScale = [&](auto shade, const char* label) {
        entry(
            ui.px(48),
            [&](ImVec2 low, ImVec2 high) {
                constexpr int pieces = 16;
                const float width = (high.x - low.x) / pieces;
                for (int i = 0; i < pieces; ++i)
                    draw.AddRectFilled({low.x + static_cast<float>(i) * width, low.y},
                                       {low.x + static_cast<float>(i + 1) * width, high.y},
                                       shade(colourOfInvocation(static_cast<std::size_t>(i), pieces)));
            },
            label);
    };
    const auto filled = [&](ImU32 colour, const char* label) {
        entry(
            line * 0.7f, [&](ImVec2 low, ImVec2 high) { draw.AddRectFilled(low, high, colour); }, label);
    };
    const auto earlier = [&](ImU32 colour) { return touchedBefore(ui.theme, colour); };
    invocationScale([](ImU32 colour) { return colour; },
                    translatedFormat("now, by invocation 0 to {}", invocations - 1).c_str());
    filled(ui.theme.text, "now, by several");
    invocationScale(earlier, "before");
    filled(earlier(memoryColour(ui.theme)), "before, by several");
    filled(earlier(sharedColour(ui.theme)), "shared memory, by several");
    ImGui::NewLine();
}

void drawAccessPlayer(Ui& ui, AccessView& view) {
    const auto stepTo = [&](const char* label, std::string_view words, bool any, std::size_t moment) {
        if (!ui.button(label, words, any)) return;
        view.playing = false;
        view.moment = moment;
    };
    stepTo("Back##ladder", "The memory access before this one.", view.moment > 0, view.moment - 1);
    ImGui::SameLine();
    stepTo("Next##ladder", "The memory access after this one.", view.moment < view.last, view.moment + 1);
    ImGui::SameLine();
    constexpr const char* play = "Play##ladder";
    constexpr std::string_view playWords = "Plays the memory accesses one after another, or pauses.";
    if (view.playing ? ui.primaryButton("Pause", playWords, true, play) : ui.button(play, playWords)) {
        view.playing = !view.playing;
        view.played = 0;
        if (view.moment == view.last) view.moment = 0;
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(std::max(ui.px(60), ImGui::GetContentRegionAvail().x));
    const auto count = static_cast<float>(view.last + 1);
    auto at = static_cast<float>(view.moment + 1);
    const std::string format = translatedFormat("access %.0f of {}", view.last + 1);
    if (ui.slider("##ladder/moment",
                  "The memory access shown, in the order in which the invocations make them.", at, 1, count,
                  format.c_str())) {
        view.playing = false;
        view.moment = static_cast<std::size_t>(std::clamp(std::round(at), 1.0f, count)) - 1;
    }
}

} // namespace

void AccessView::update(double seconds) {
    if (!playing) return;
    const double pace = std::max(momentsPerSecond, static_cast<double>(last) / longestPlay);
    played += seconds * pace;
    for (double due = 1;; played -= due) {
        due = moment < last ? 1 : restSeconds * pace;
        if (played < due) return;
        moment = moment < last ? moment + 1 : 0;
    }
}

void AccessView::playFromStart() {
    playing = true;
    opened = false;
    moment = 0;
    played = 0;
}

namespace {

/// When half of what an invocation copies to shared memory before the first barrier is there; 0: it copies
/// nothing.
std::size_t halfCopied(const AccessRecord& record) {
    if (record.invocations.empty()) return 0;
    std::vector<std::size_t> writes;
    const std::vector<AccessEvent>& events = record.invocations.front();
    for (std::size_t at = 0; at < events.size() && !events[at].barrier; ++at)
        if (events[at].access() && events[at].write && record.array(events[at].array).shared)
            writes.push_back(at);
    return writes.empty() ? 0 : writes[writes.size() / 2];
}

/// "gpu:tiled reads 3 words from memory per output, gpu:pipelined 2.25."; empty: none is recorded.
std::string readsText(const LadderModel& model, const std::vector<std::size_t>& rungs,
                      const std::vector<const RungPicture*>& pictures) {
    std::string text;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
        if (pictures[i] == nullptr || pictures[i]->record.invocations.empty()) continue;
        const AccessRecord& record = pictures[i]->record;
        const RecordReads all = readsUntil(record, moments(record));
        const std::string words = threeDigits(all.perOutput(all.memory));
        const std::string_view lane = model.rungs()[rungs[i]].lane;
        text += text.empty() ? translatedFormat("{} reads {} words from memory per output", lane, words)
                             : fmt::format(", {} {}", lane, words);
    }
    return text.empty() ? text : text + ".";
}

/// A kernel and its arrays.
struct KernelView {
    const RungRow& rung;
    const RungPicture* picture; // null: being taken
    bool picked;
    std::vector<ArrayGrid> grids;

    bool drawn() const { return !grids.empty(); }
};

/// Words read from memory and from shared memory, as lines that fill as they are counted.
struct WordCounter {
    const char* from;
    double RecordReads::*words;
};
constexpr WordCounter wordCounters[] = {{"words from memory", &RecordReads::memory},
                                        {"words from shared memory", &RecordReads::shared}};

float counterHeight(const Ui& ui) { return ui.fonts.title->FontSize + ui.px(8); }

/// The most words by the output that a counter will reach.
double mostWords(const AccessRecord& record) {
    const RecordReads all = readsUntil(record, moments(record));
    return std::max(all.perOutput(all.memory), all.perOutput(all.shared));
}

/// "64 of 4,224 words from memory, for 128 outputs: 33 each", or "no words from shared memory", above a bar.
/// That is as long as the words by the output are in all, the whole width at `most` of them, and as bright as
/// the share that has been read. What is read by then is no measure of a kernel: one loads early, another one
/// late.
void drawCounter(Ui& ui, const WordCounter& counter, const RecordReads& reads, const RecordReads& all,
                 double most, ImU32 colour) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = counterHeight(ui);
    const double words = reads.*counter.words;
    const std::string from(translated(counter.from));
    if (all.*counter.words == 0) {
        ui.muted(translatedFormat("no {}", from));
        ImGui::SetCursorScreenPos({at.x, at.y + height});
        return;
    }
    const double inEach = reads.perOutput(all.*counter.words);
    const float length = most > 0 ? width * static_cast<float>(std::min(inEach / most, 1.0)) : 0;
    const float share = static_cast<float>(std::min(words / (all.*counter.words), 1.0));
    const ImVec2 end{at.x + width, at.y + height - ui.px(3)};
    const float bar = end.y - ui.px(4); // below the letters, which no edge crosses
    draw.AddRectFilled({at.x, bar}, {at.x + length, end.y}, faded(colour, 0.3f), ui.px(1));
    if (words > 0)
        draw.AddRectFilled({at.x, bar}, {at.x + std::max(length * share, ui.px(2)), end.y}, colour, ui.px(1));
    const std::string count = grouped(static_cast<std::uint64_t>(std::llround(words)));
    const float large = ui.fonts.title->FontSize;
    const float numbers = ui.fonts.title->CalcTextSizeA(large, FLT_MAX, 0, count.c_str()).x;
    draw.AddText(ui.fonts.title, large, {at.x, at.y - ui.px(1)}, ui.theme.text, count.c_str());
    const float left = at.x + numbers + ui.px(7);
    const float baseline = at.y - ui.px(1) + 0.8f * (large - ImGui::GetFontSize());
    const std::string total = grouped(static_cast<std::uint64_t>(std::llround(all.*counter.words)));
    const std::string inAll = threeDigits(all.perOutput(all.*counter.words));
    const std::string outputs = grouped(static_cast<std::uint64_t>(std::llround(reads.outputs)));
    for (const std::string& text :
         {translatedFormat("of {} {}, for {} outputs: {} each", total, from, outputs, inAll),
          translatedFormat("of {} {}", total, from), from}) {
        if (left + lettersWidth(text) > end.x) continue; // half a sentence says something else
        draw.AddText({left, baseline}, ui.theme.text, text.c_str());
        break;
    }
    ImGui::Dummy({width, height - ImGui::GetStyle().ItemSpacing.y});
    ui.explainItem({.title = counter.from,
                    .values = {{"so far", count},
                               {"in all", total},
                               {"outputs of the workgroup", outputs},
                               {"words per output, in all", inAll}},
                    .text =
                        "The bright part of the bar is what the workgroup has read so far. All bars share "
                        "one scale: words per output, because the workgroups compute different numbers of "
                        "outputs."});
}

// One kernel: the words that it has read, the arrays, and below them what happens at the moment.
// most   words per output at which the counters are full; 0: no room for them, a line says it
void drawKernel(Ui& ui, const KernelView& kernel, std::size_t moment, CellSize cell, float arrays,
                double most) {
    ui.text(kernel.rung.lane, kernel.picked ? ui.theme.text : ui.theme.muted, ui.fonts.strong);
    if (!kernel.drawn()) {
        if (kernel.picture == nullptr)
            ui.muted("The kernel is being recorded.");
        else
            ui.paragraph(kernel.picture->reason, ui.theme.muted);
        return;
    }
    const AccessRecord& record = kernel.picture->record;
    const RecordReads reads = readsUntil(record, moment + 1);
    const RecordReads all = readsUntil(record, moments(record));
    if (most > 0) {
        for (const WordCounter& counter : wordCounters)
            drawCounter(ui, counter, reads, all, most,
                        &counter == wordCounters ? memoryColour(ui.theme) : sharedColour(ui.theme));
    } else {
        ImGui::SameLine(0, ui.px(8));
        ui.text(fittedText(translatedFormat("{} words per output, {} shared",
                                            threeDigits(all.perOutput(all.memory)),
                                            threeDigits(all.perOutput(all.shared))),
                           ImGui::GetContentRegionAvail().x));
    }
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const SmallLetters small(ui);
    const GridPlaces places = placesOf(ui, record, kernel.grids, ImGui::GetContentRegionAvail().x, cell.x);
    for (std::size_t i = 0; i < kernel.grids.size(); ++i) {
        const auto& [x, line] = places.corners[i];
        drawGrid(ui, record, kernel.grids[i], moment, {origin.x + x, origin.y + places.top(ui, line, cell.y)},
                 cell);
    }
    ImGui::Dummy({1, std::max(arrays, places.height(ui, cell.y))});
    ui.paragraph(momentText(record, moment));
}

bool recorded(const RungRow& rung) { return rung.gpu() && rung.unrecorded.empty(); }

} // namespace

std::optional<std::size_t> rungBeside(const std::vector<RungRow>& rungs, std::size_t rung) {
    const RungRow& row = rungs[rung];
    if (!recorded(row)) return std::nullopt;
    for (std::size_t i = 0; i < rungs.size(); ++i)
        if (recorded(rungs[i]) && rungs[i].below == row.rung) return i;
    for (std::size_t i = 0; i < rungs.size(); ++i)
        if (recorded(rungs[i]) && row.below == rungs[i].rung) return i;
    return std::nullopt;
}

std::vector<std::size_t> AccessView::draw(Ui& ui, LadderModel& model, float height) {
    const float top = ImGui::GetCursorPosY();
    std::vector<std::string> names;
    for (const Product each : allProducts) names.emplace_back(wordsOf(operationFromName(name(each))).label);
    auto chosen = static_cast<std::size_t>(product);
    const bool roomy = ImGui::GetContentRegionAvail().x >= ui.px(620);
    if (!roomy) ImGui::SetNextItemWidth(std::min(ui.px(156), ImGui::GetContentRegionAvail().x));
    constexpr std::string_view productWords =
        "The matrix product of the step: forward, by inputs, or by weights.";
    if (roomy ? ui.segments("##ladder/product", productWords, chosen, names)
              : ui.combo("##ladder/product", productWords, chosen, names))
        product = allProducts[chosen];
    const float width = ImGui::GetContentRegionAvail().x; // of the next line
    const bool playerBeside = ImGui::GetCursorScreenPos().x + width - ImGui::GetItemRectMax().x >= ui.px(280);
    std::vector<std::size_t> rungs{model.picked()};
    const bool roomForTwo = width >= ui.px(420) && height >= ui.px(150);
    if (const auto beside = rungBeside(model.rungs(), model.picked()); beside && roomForTwo)
        rungs.push_back(*beside);
    std::ranges::sort(rungs); // the lower one on the left
    std::vector<const RungPicture*> pictures;
    const std::string now = fmt::format("{} {}", model.rung().lane, names[chosen]);
    std::size_t most = 1;
    std::size_t invocations = 1;
    double mostEach = 0;
    for (const std::size_t rung : rungs) {
        pictures.push_back(model.picture(rung, product));
        if (pictures.back() == nullptr) continue;
        most = std::max(most, moments(pictures.back()->record));
        mostEach = std::max(mostEach, mostWords(pictures.back()->record));
        invocations = std::max(invocations, pictures.back()->record.invocations.size());
    }
    if (now != shown && !kept) moment = 0, opened = true;
    const auto taken = [](const RungPicture* picture) { return picture != nullptr; };
    if (std::ranges::all_of(pictures, taken)) { // before that, a loaded moment seems to lie beyond the end
        kept = false;
        last = most - 1;
        if (std::exchange(opened, false) && moment == 0 && !playing)
            for (const RungPicture* picture : pictures)
                moment = std::max(moment, halfCopied(picture->record));
        moment = std::min(moment, last);
    }
    shown = now;
    if (most > 1) {
        if (playerBeside) ImGui::SameLine(0, ui.px(12));
        drawAccessPlayer(ui, *this);
    }
    if (const std::string reads = readsText(model, rungs, pictures); !reads.empty() && height >= ui.px(430)) {
        ImGui::PushFont(ui.fonts.title);
        ui.text(fittedText(reads, width));
        ImGui::PopFont();
    }

    const float gap = ui.px(16);
    const auto columns = static_cast<float>(rungs.size());
    const float column = (width - gap * (columns - 1)) / columns;
    const float spacing = ImGui::GetStyle().ItemSpacing.y;
    const float small = ui.fonts.small->FontSize + spacing;
    const float room = std::max(height - (ImGui::GetCursorPosY() - top) - small - spacing, ui.px(70));
    const float sentence = column < ui.px(720) ? 2 * small - spacing : small;
    float counters = static_cast<float>(std::size(wordCounters)) * counterHeight(ui);
    if (room < ui.px(220)) counters = 0;
    const float words = ImGui::GetTextLineHeightWithSpacing() + counters + sentence + spacing;
    std::vector<KernelView> kernels;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
        KernelView kernel{model.rungs()[rungs[i]], pictures[i], rungs[i] == model.picked(), {}};
        if (kernel.picture != nullptr && kernel.picture->reason.empty())
            kernel.grids = gridsOf(kernel.picture->record);
        kernels.push_back(std::move(kernel));
    }
    // Words are as large here as there, so that the kernels can be compared.
    CellSize cell{FLT_MAX, FLT_MAX};
    float arrays = 0;
    {
        const SmallLetters letters(ui);
        for (const KernelView& kernel : kernels) {
            if (!kernel.drawn()) continue;
            const CellSize own = cellsFor(ui, kernel.picture->record, kernel.grids, {column, room - words});
            cell = {std::min(cell.x, own.x), std::min(cell.y, own.y)};
        }
        for (const KernelView& kernel : kernels)
            if (kernel.drawn())
                arrays = std::max(
                    arrays,
                    placesOf(ui, kernel.picture->record, kernel.grids, column, cell.x).height(ui, cell.y));
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, gap);
        ImGui::BeginChild(kernels[i].rung.lane.data(), {column, room});
        drawKernel(ui, kernels[i], moment, cell, arrays, counters > 0 ? mostEach : 0);
        ImGui::EndChild();
    }
    if (invocations > 1) drawAccessLegend(ui, invocations);
    return rungs;
}

} // namespace lockstep::demos
