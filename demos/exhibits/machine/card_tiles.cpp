#include "demos/exhibits/machine/card_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/card/card_rows.h"
#include "demos/draw/tile_columns.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr float tilePad = 14;
constexpr float tileUnits = 250; // of a question's tile, at least
constexpr float machineUnits = 400;
constexpr std::size_t mostTiles = 4; // side by side

std::string_view questionOf(const CardPart& part) {
    constexpr std::pair<std::string_view, std::string_view> questions[] = {
        {"roofs", "How much arithmetic can each do in a second, with numbers of 64 to 8 bits?"},
        {"copies", "How many bytes can move in a second, within a memory and between the two?"},
        {"races", "How many examples a second does each train on, with a small network and a large one?"},
        {"ladder", "The same training, written in many ways: what does each way bring?"},
        {"population", "How fast do many small networks train at once?"},
        {"widths", "How wide must layers be for the GPU to be faster?"},
        {"batches", "How large must a batch be for the GPU to be faster?"},
    };
    const auto found = std::ranges::find(questions, part.id, [](const auto& each) { return each.first; });
    return found == std::end(questions) ? "" : found->second;
}

/// Facts in lines of `width` pixels, from `at`; returns their height. `draw` null: nothing is drawn.
float drawFacts(const Ui& ui, ImDrawList* draw, const MachineFacts& facts, ImVec2 at, float width) {
    const float value = ui.fonts.strong->FontSize;
    const float height = value + ui.fonts.small->FontSize + ui.px(10);
    const float gap = ui.px(22);
    ImVec2 pen = at;
    for (const auto& [name, text] : facts) {
        ImGui::PushFont(ui.fonts.strong);
        const std::string shown = fittedText(text, width);
        float wide = lettersWidth(shown);
        ImGui::PopFont();
        const SmallLetters small(ui);
        wide = std::max(wide, textWidth(name));
        if (pen.x > at.x && pen.x + wide > at.x + width) pen = {at.x, pen.y + height};
        if (draw != nullptr) {
            draw->AddText(ui.fonts.strong, value, pen, ui.theme.text, shown.c_str());
            drawText(*draw, {pen.x, pen.y + value + ui.px(1)}, ui.theme.muted, name);
        }
        pen.x += wide + gap;
    }
    return pen.y + height - at.y;
}

/// What stands for a part: its first line with both numbers; until there is one, each machine's largest
/// number.
CardRow rowFor(const CardPart& part) {
    CardRow largest;
    for (const CardRow& row : part.rows) {
        if (row.cpu > 0 && row.gpu > 0) return row;
        largest.cpu = std::max(largest.cpu, row.cpu);
        largest.gpu = std::max(largest.gpu, row.gpu);
    }
    return largest;
}

std::string namesOf(const CardPart& part) {
    std::string names;
    for (const CardRow& row : part.rows) names.append(names.empty() ? "" : ", ").append(translated(row.name));
    return names;
}

/// Every number of a part: "8.81k on the CPU, 412k on the GPU" by name.
std::vector<std::pair<std::string, std::string>> numbersOf(const CardPart& part) {
    std::vector<std::pair<std::string, std::string>> numbers;
    for (const CardRow& row : part.rows)
        numbers.emplace_back(row.name,
                             fmt::format("CPU {}, GPU {}", cardCell(row, row.cpu), cardCell(row, row.gpu)));
    return numbers;
}

/// What a tile says above its bars: a question, or its answer with a figure in large letters.
struct TileWords {
    std::string figure = {}; ///< empty: a question
    ImFont* font = nullptr;  ///< of the figure: the largest in which it fits
    ImU32 colour = 0;        ///< likewise
    std::string text;
    CardRow row; ///< for the bars
    float height = 0;
};

float textHeight(std::string_view text, float width) {
    return static_cast<float>(linesAtBlanks(text, width, lettersWidth).size()) * ImGui::GetTextLineHeight();
}

TileWords questionIn(const CardPart& part, float width) {
    TileWords words{.text = std::string(translated(questionOf(part))), .row = rowFor(part)};
    words.height = textHeight(words.text, width);
    return words;
}

TileWords answerOf(const Ui& ui, const CardFinding& finding, float width) {
    TileWords words{
        .figure = finding.figure, .colour = ui.theme.text, .text = finding.beside, .row = finding.row};
    if (finding.gpu) words.colour = legible(ui.theme, *finding.gpu ? ui.theme.gpu : ui.theme.cpu);
    const bool compared = finding.row.cpu > 0 && finding.row.gpu > 0;
    if (!compared && !finding.gpu) words.colour = ui.theme.muted; // what is missing is no finding
    for (ImFont* font : {ui.fonts.headline, ui.fonts.title, ui.fonts.strong}) {
        if (font == ui.fonts.headline && !compared && !finding.gpu) continue;
        words.font = font;
        ImGui::PushFont(font);
        const bool fits = lettersWidth(finding.figure) <= width;
        ImGui::PopFont();
        if (fits) break;
    }
    words.height = ui.fonts.headline->FontSize + ui.px(2) + textHeight(words.text, width);
    return words;
}

/// "CPU", a track that is filled as far as the number's share of the larger one, and the number.
void drawTrack(Ui& ui, const std::string& id, const CardRow& row, bool gpu, ImVec2 at, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = gpu ? ui.theme.gpu : ui.theme.cpu;
    const double number = gpu ? row.gpu : row.cpu;
    const std::string shown = number > 0 ? cardCell(row, number) : "?";
    const float label = textWidth("GPU") + ui.px(10);
    const float numbers = lettersWidth("88.8k") + ui.px(10);
    const float line = ImGui::GetTextLineHeight();
    drawText(draw, at, legible(ui.theme, colour), gpu ? "GPU" : "CPU");
    const ImVec2 low{at.x + label, std::floor(at.y + 0.25f * line)};
    const ImVec2 high{at.x + width - numbers, std::floor(at.y + 0.8f * line)};
    draw.AddRectFilled(low, high, faded(colour, 0.14f), ui.px(3));
    const float share = number > 0 ? static_cast<float>(number / std::max(row.cpu, row.gpu)) : 0;
    const float filled = ui.eased("machine/" + id + (gpu ? "/gpu" : "/cpu"), share, 0.6);
    if (filled > 0)
        draw.AddRectFilled(low, {low.x + (high.x - low.x) * filled, high.y}, faded(colour, 0.8f), ui.px(3));
    draw.AddText({at.x + width - lettersWidth(shown), at.y}, number > 0 ? ui.theme.text : ui.theme.muted,
                 shown.c_str());
}

void drawTile(Ui& ui, const CardPart& part, const TileWords& words, ImVec2 low, ImVec2 high) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float pad = ui.px(tilePad);
    const float inside = high.x - low.x - 2 * pad;
    const float line = ImGui::GetTextLineHeight();
    const float small = ui.fonts.small->FontSize;
    draw.AddRectFilled(low, high, ui.theme.raised, ui.px(6));
    ImVec2 pen{low.x + pad, low.y + pad};
    {
        const SmallLetters letters(ui);
        draw.AddText(pen, ui.theme.muted, fittedText(part.title, inside).c_str());
    }
    pen.y += small + ui.px(6);
    if (!words.figure.empty()) {
        draw.AddText(words.font, words.font->FontSize, pen, words.colour, words.figure.c_str());
        pen.y += ui.fonts.headline->FontSize + ui.px(2);
    }
    for (const std::string_view each : linesAtBlanks(words.text, inside, lettersWidth)) {
        draw.AddText(pen, ui.theme.text, each.data(), each.data() + each.size());
        pen.y += line;
    }
    pen.y = high.y - pad - 2 * line - small - ui.px(12);
    for (const bool gpu : {false, true}) {
        drawTrack(ui, part.id, words.row, gpu, pen, inside);
        pen.y += line + ui.px(2);
    }
    const SmallLetters letters(ui);
    const std::string unit(translated(part.unit));
    const std::string said =
        words.row.name.empty() ? unit : unit + ", " + std::string(translated(words.row.name));
    draw.AddText({pen.x, high.y - pad - small}, ui.theme.muted, fittedText(said, inside).c_str());
}

} // namespace

void drawKnownMachines(Ui& ui, std::span<const KnownMachine> machines) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const TileColumns columns(ui, machineUnits, machines.size());
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float pad = ui.px(tilePad);
    const float inside = columns.width - 2 * pad;
    const float title = ui.fonts.title->FontSize;
    float facts = 0;
    for (const KnownMachine& each : machines)
        facts = std::max(facts, drawFacts(ui, nullptr, each.facts, {}, inside));
    const float height = title + facts + 2 * pad;
    float bottom = start.y;
    for (std::size_t i = 0; i < machines.size(); ++i) {
        const ImVec2 low{columns.at(i % columns.count),
                         start.y + static_cast<float>(i / columns.count) * (height + columns.gap)};
        const ImVec2 high{low.x + columns.width, low.y + height};
        draw.AddRectFilled(low, high, ui.surface(machines[i].colour), ui.px(6));
        draw.AddRectFilled(low, {low.x + ui.px(4), high.y}, machines[i].colour, ui.px(6),
                           ImDrawFlags_RoundCornersLeft);
        ImGui::PushFont(ui.fonts.title);
        const std::string name = fittedText(machines[i].name, inside);
        draw.AddText({low.x + pad, low.y + 0.7f * pad}, ui.theme.text, name.c_str());
        ImGui::PopFont();
        drawFacts(ui, &draw, machines[i].facts, {low.x + pad, low.y + 1.1f * pad + title}, inside);
        bottom = high.y;
    }
    ImGui::Dummy({0, bottom - start.y});
}

void drawTiles(Ui& ui, const Card& measured, std::size_t finished) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const TileColumns columns(ui, tileUnits, mostTiles);
    const float inside = columns.width - 2 * ui.px(tilePad);
    const Card card = translatedCard(measured);
    std::vector<TileWords> words;
    float height = 0; // of what is asked, or answered
    for (std::size_t i = 0; i < card.parts.size(); ++i) {
        words.push_back(i < finished
                            ? answerOf(ui, findingOf(measured.parts[i], measured.gpu.software), inside)
                            : questionIn(card.parts[i], inside));
        height = std::max(height, words.back().height);
        // A tile keeps its size when its question is answered.
        if (i < finished) height = std::max(height, questionIn(card.parts[i], inside).height);
    }
    const float line = ImGui::GetTextLineHeight();
    const float small = ui.fonts.small->FontSize;
    const float whole = 2 * ui.px(tilePad) + height + 2 * line + 2 * small + ui.px(30);
    float bottom = start.y;
    for (std::size_t i = 0; i < card.parts.size(); ++i) {
        const ImVec2 low{columns.at(i % columns.count),
                         start.y + static_cast<float>(i / columns.count) * (whole + columns.gap)};
        const CardPart& part = card.parts[i];
        drawTile(ui, part, words[i], low, {low.x + columns.width, low.y + whole});
        ImGui::SetCursorScreenPos(low);
        ImGui::Dummy({columns.width, whole});
        if (i < finished)
            ui.explainItem({.title = part.title + ", " + part.unit, .values = numbersOf(part)});
        else
            ui.explainItem({.title = part.title, .text = namesOf(part)});
        bottom = low.y + whole;
    }
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({0, bottom - start.y});
}

} // namespace lockstep::demos
