// The card in letters: for terminals, screen readers and scripts.
#include <algorithm>

#include <fmt/format.h>

#include "demos/card/card_rows.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

std::string ratioText(const CardRow& row) {
    return row.cpu > 0 && row.gpu > 0 ? threeDigits(row.gpu / row.cpu) + "x" : "";
}

std::string partText(const CardPart& part) {
    std::vector<std::vector<std::string>> rows{{part.title, "CPU", "GPU", "GPU/CPU"}};
    for (const CardRow& row : part.rows)
        rows.push_back({"  " + row.name, cardNumber(row.cpu), cardNumber(row.gpu), ratioText(row)});
    std::string text = table(rows, 1);
    for (const CardRow& row : part.rows)
        if (!row.note.empty()) text += wrapped(fmt::format("  {}: {}", row.name, row.note)) + "\n";
    if (!part.remark.empty()) text += wrapped("  " + part.remark) + "\n";
    return text;
}

/// The line of that name in a part, or none.
const CardRow* rowIn(const Card& card, const std::string& part, const std::string& name) {
    const auto found = std::ranges::find(card.parts, part, &CardPart::id);
    if (found == card.parts.end()) return nullptr;
    const auto row = std::ranges::find(found->rows, name, &CardRow::name);
    return row == found->rows.end() ? nullptr : &*row;
}

} // namespace

std::string cardText(const Card& card) {
    std::string text = fmt::format("GPU  {}\nCPU  {}\n", card.gpuName(), card.cpuName());
    if (!card.gpu.driver.empty()) text += fmt::format("     {}\n", card.gpu.driver);
    text += "\n";
    for (const auto& [name, value] : card.facts) text += fmt::format("  {:<28} {}\n", name, value);
    for (const CardPart& part : card.parts) text += "\n" + partText(part);
    return text + "\n" + cardOrigin(card) + " \"-\": not measured.\n";
}

std::string cardOrigin(const Card& card) {
    return fmt::format("{}, {}, measured in {:.0f} s{}.", card.program, card.date, card.seconds,
                       card.quick ? ", in passing: the numbers are too low" : "");
}

std::vector<CardPart> allParts(const std::vector<Card>& cards) {
    std::vector<CardPart> parts;
    for (const Card& card : cards)
        for (const CardPart& part : card.parts) {
            auto known = std::ranges::find(parts, part.id, &CardPart::id);
            if (known == parts.end())
                known = parts.insert(parts.end(), {part.id, part.title, part.unit, {}, {}});
            for (const CardRow& row : part.rows)
                if (std::ranges::find(known->rows, row.name, &CardRow::name) == known->rows.end())
                    known->rows.push_back({row.name});
        }
    return parts;
}

std::vector<std::vector<std::string>> comparisonRows(const std::vector<Card>& cards, const CardPart& part) {
    std::vector<std::vector<std::string>> rows;
    for (const CardRow& line : part.rows) {
        std::vector<std::string> cells{line.name};
        for (const Card& card : cards) {
            const CardRow* row = rowIn(card, part.id, line.name);
            cells.push_back(cardNumber(row == nullptr ? 0 : row->cpu));
            cells.push_back(cardNumber(row == nullptr ? 0 : row->gpu));
        }
        rows.push_back(std::move(cells));
    }
    return rows;
}

std::string comparisonText(const std::vector<Card>& cards) {
    std::string text;
    std::vector<std::string> heads{""};
    for (std::size_t i = 0; i < cards.size(); ++i) {
        text += fmt::format("{}  GPU  {}\n   CPU  {}\n   {}\n", i + 1, cards[i].gpuName(), cards[i].cpuName(),
                            cardOrigin(cards[i]));
        heads.push_back(fmt::format("CPU {}", i + 1));
        heads.push_back(fmt::format("GPU {}", i + 1));
    }
    for (const CardPart& part : allParts(cards)) {
        std::vector<std::vector<std::string>> rows = comparisonRows(cards, part);
        for (auto& row : rows) row.front().insert(0, "  ");
        heads.front() = part.title;
        rows.insert(rows.begin(), heads);
        text += "\n" + table(rows, 1);
    }
    return text + "\n\"-\": not measured.\n";
}

} // namespace lockstep::demos
