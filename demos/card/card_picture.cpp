// The card as a picture for slides and posters: three columns of bars, drawn without a device.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/card/card_rows.h"
#include "demos/draw/canvas.h"
#include "demos/draw/theme.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t pageWidth = 1920;
constexpr std::uint32_t pageMargin = 30;
constexpr std::uint32_t columnWidth = (pageWidth - 4 * pageMargin) / 3;
constexpr std::uint32_t namesWidth = 252;
constexpr std::uint32_t numberWidth = 76;
constexpr std::uint32_t barsWidth = columnWidth - namesWidth - 2 * numberWidth;
constexpr std::uint32_t rowHeight = 27;
constexpr std::uint32_t barHeight = 8;
constexpr std::uint32_t headHeight = 34;
constexpr std::uint32_t partGap = 18;
constexpr float titleGap = 12; // between a title and its unit

/// Writes on a page: letters, and the lines that fit a width.
struct Pen {
    Theme theme = makeTheme(true);
    Letters body{18};
    Letters title{30};

    std::vector<std::string_view> lines(std::string_view text, std::uint32_t width) const {
        return linesAtBlanks(text, static_cast<float>(width),
                             [this](std::string_view part) { return body.width(part); });
    }
};

/// Whether the unit stands behind the title, and not below.
bool unitBeside(const Pen& pen, const CardPart& part) {
    return pen.body.width(part.title) + titleGap + pen.body.width(part.unit) <
           static_cast<float>(namesWidth + barsWidth + numberWidth - 40);
}

std::uint32_t partHeight(const Pen& pen, const CardPart& part, const CardFinding& finding) {
    std::size_t lines = part.rows.size() + (unitBeside(pen, part) ? 0 : 1);
    lines += pen.lines(finding.text(), columnWidth).size();
    if (!part.remark.empty()) lines += pen.lines(part.remark, columnWidth).size();
    return headHeight + rowHeight * static_cast<std::uint32_t>(lines) + partGap;
}

std::uint32_t pixels(const Decades& decades, double value) {
    return static_cast<std::uint32_t>(decades.share(value) * barsWidth);
}

void textRight(Canvas& canvas, const Letters& letters, std::uint32_t right, std::uint32_t y,
               const std::string& text, ImU32 colour) {
    canvas.text(letters, static_cast<float>(right) - letters.width(text), static_cast<float>(y), text,
                colour);
}

void drawBars(Canvas& canvas, const Pen& pen, const CardRow& row, const Decades& decades, std::uint32_t left,
              std::uint32_t y) {
    std::uint32_t top = y + (rowHeight - 2 * barHeight) / 2 - 2;
    for (const auto& [value, colour] :
         {std::pair{row.cpu, pen.theme.cpu}, std::pair{row.gpu, pen.theme.gpu}}) {
        if (value > 0) canvas.fill(left, top, std::max(pixels(decades, value), 2u), barHeight, colour);
        top += barHeight + 1;
    }
}

void drawPart(Canvas& canvas, const Pen& pen, const CardPart& part, const CardFinding& finding,
              std::uint32_t left, std::uint32_t y) {
    const Theme& theme = pen.theme;
    const std::uint32_t bars = left + namesWidth;
    const std::uint32_t cpuRight = bars + barsWidth + numberWidth;
    const std::uint32_t gpuRight = cpuRight + numberWidth;
    const auto at = [](std::uint32_t pixels) { return static_cast<float>(pixels); };
    canvas.text(pen.body, at(left), at(y), part.title, theme.text);
    const bool beside = unitBeside(pen, part);
    if (beside)
        canvas.text(pen.body, at(left) + pen.body.width(part.title) + titleGap, at(y), part.unit,
                    theme.muted);
    textRight(canvas, pen.body, cpuRight, y, "CPU", theme.cpu);
    textRight(canvas, pen.body, gpuRight, y, "GPU", theme.gpu);
    y += rowHeight;
    if (!beside) {
        canvas.text(pen.body, at(left), at(y), part.unit, theme.muted);
        y += rowHeight;
    }
    canvas.fill(left, y, columnWidth, 1, theme.border);
    y += headHeight - rowHeight;
    const std::string found = finding.text();
    for (const std::string_view line : pen.lines(found, columnWidth)) {
        canvas.text(pen.body, at(left), at(y), line,
                    finding.gpu ? legible(theme, *finding.gpu ? theme.gpu : theme.cpu) : theme.text);
        y += rowHeight;
    }
    const Decades decades(part);
    for (const double line : decades.lines())
        canvas.fill(bars + static_cast<std::uint32_t>(line * barsWidth), y, 1,
                    rowHeight * static_cast<std::uint32_t>(part.rows.size()), theme.grid);
    for (const CardRow& row : part.rows) {
        canvas.text(pen.body, at(left), at(y), row.name, theme.text);
        drawBars(canvas, pen, row, decades, bars, y);
        textRight(canvas, pen.body, cpuRight, y, cardCell(row, row.cpu),
                  row.cpu > 0 ? theme.cpu : theme.muted);
        textRight(canvas, pen.body, gpuRight, y, cardCell(row, row.gpu),
                  row.gpu > 0 ? theme.gpu : theme.muted);
        y += rowHeight;
    }
    if (part.remark.empty()) return;
    for (const std::string_view line : pen.lines(part.remark, columnWidth)) {
        canvas.text(pen.body, at(left), at(y), line, theme.muted);
        y += rowHeight;
    }
}

/// Roofs on the left, the ladder on the right, and what is trained in between.
std::size_t columnOf(const CardPart& part) {
    if (part.id == "roofs" || part.id == "copies") return 0;
    return part.id == "ladder" ? 2 : 1;
}

// The machines' lines with a mark of their colour; returns where the next thing goes.
std::uint32_t drawMachines(Canvas& canvas, const Pen& pen, const Card& card, std::uint32_t y) {
    for (const auto& [name, colour] : {std::pair{"GPU  " + card.gpuName(), pen.theme.gpu},
                                       std::pair{"CPU  " + card.cpuName(), pen.theme.cpu}}) {
        canvas.fill(pageMargin, y + 4, 10, 26, colour);
        canvas.text(pen.title, pageMargin + 22, static_cast<float>(y), name, pen.theme.text);
        y += 40;
    }
    return y;
}

} // namespace

Pixels cardPicture(const Card& measured) {
    const Card card = translatedCard(measured);
    const Pen pen;
    const std::string facts = factsLine(card);
    const auto factLines = pen.lines(facts, pageWidth - 2 * pageMargin);
    const std::uint32_t top =
        pageMargin + 2 * 40 + rowHeight * static_cast<std::uint32_t>(factLines.size()) + partGap;
    std::array<std::uint32_t, 3> heights{};
    std::vector<CardFinding> findings;
    for (std::size_t i = 0; i < card.parts.size(); ++i) {
        findings.push_back(findingOf(measured.parts[i], card.gpu.software));
        heights[columnOf(card.parts[i])] += partHeight(pen, card.parts[i], findings[i]);
    }
    const std::uint32_t bottom = top + *std::ranges::max_element(heights);
    Canvas canvas(pageWidth, bottom + rowHeight + pageMargin, pen.theme.background);

    std::uint32_t y = drawMachines(canvas, pen, card, pageMargin);
    for (const std::string_view line : factLines) {
        canvas.text(pen.body, pageMargin, static_cast<float>(y), line, pen.theme.muted);
        y += rowHeight;
    }
    std::array<std::uint32_t, 3> next{top, top, top};
    for (std::size_t i = 0; i < card.parts.size(); ++i) {
        const CardPart& part = card.parts[i];
        const std::size_t column = columnOf(part);
        drawPart(canvas, pen, part, findings[i],
                 pageMargin + static_cast<std::uint32_t>(column) * (columnWidth + pageMargin), next[column]);
        next[column] += partHeight(pen, part, findings[i]);
    }
    canvas.text(
        pen.body, pageMargin, static_cast<float>(bottom),
        cardOrigin(card)
            .append(translated(" Bars are logarithmic, on a scale for each part: each line is ten times the "
                               "one before. "))
            .append(cardSigns({&card, 1})),
        pen.theme.muted);
    return canvas.take();
}

Pixels comparisonPicture(const std::vector<Card>& cards) {
    const Pen pen;
    const std::vector<CardPart> parts = allParts(cards);
    std::size_t lines = 0;
    for (const CardPart& part : parts) lines += part.rows.size() + 3;
    constexpr std::uint32_t names = 320;
    constexpr std::uint32_t number = 110;
    const auto count = static_cast<std::uint32_t>(cards.size());
    const std::uint32_t width = std::max(2 * pageMargin + names + count * 2 * number, 900u);
    const std::uint32_t top = pageMargin + count * 3 * rowHeight + partGap;
    const std::uint32_t height = top + static_cast<std::uint32_t>(lines + 2) * rowHeight + pageMargin;
    constexpr std::uint64_t most = std::uint64_t{1} << 28; // a gibibyte
    if (std::uint64_t{width} * height > most)
        throw std::runtime_error("these cards need too large a picture; compare fewer of them");
    Canvas canvas(width, height, pen.theme.background);
    const auto at = [](std::uint32_t pixels) { return static_cast<float>(pixels); };
    std::uint32_t y = pageMargin;
    const std::vector<std::string> labels = cardLabels(cards);
    for (std::size_t i = 0; i < cards.size(); ++i)
        for (const auto& [text, colour] :
             {std::pair{fmt::format("{}: GPU  {}", labels[i], cards[i].gpuName()),
                        legible(pen.theme, pen.theme.gpu)},
              std::pair{fmt::format("{}: CPU  {}", labels[i], cards[i].cpuName()),
                        legible(pen.theme, pen.theme.cpu)},
              std::pair{"    " + cardOrigin(cards[i]), pen.theme.muted}}) {
            canvas.text(pen.body, pageMargin, at(y), text, colour);
            y += rowHeight;
        }
    y = top;
    for (const CardPart& part : parts) {
        canvas.text(pen.body, pageMargin, at(y), fmt::format("{}, {}", part.title, part.unit),
                    pen.theme.text);
        y += rowHeight;
        for (std::uint32_t i = 0; i < count; ++i)
            textRight(canvas, pen.body, pageMargin + names + 2 * (i + 1) * number, y, labels[i],
                      pen.theme.text);
        for (std::uint32_t i = 0; i < 2 * count; ++i)
            textRight(canvas, pen.body, pageMargin + names + (i + 1) * number, y + rowHeight,
                      i % 2 == 0 ? "CPU" : "GPU", i % 2 == 0 ? pen.theme.cpu : pen.theme.gpu);
        y += 2 * rowHeight;
        for (const std::vector<std::string>& row : comparisonRows(cards, part)) {
            canvas.text(pen.body, pageMargin, at(y), row.front(), pen.theme.text);
            for (std::uint32_t i = 1; i < row.size(); ++i)
                textRight(canvas, pen.body, pageMargin + names + i * number, y, row[i],
                          row[i] == "-" ? pen.theme.muted
                          : i % 2 == 1  ? pen.theme.cpu
                                        : pen.theme.gpu);
            y += rowHeight;
        }
    }
    canvas.text(pen.body, pageMargin, at(y + rowHeight), cardSigns(cards), pen.theme.muted);
    return canvas.take();
}

} // namespace lockstep::demos
