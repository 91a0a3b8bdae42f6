// The card in letters: for terminals, screen readers and scripts.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/card/card_rows.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

std::string ratioText(const CardRow& row) {
    return row.cpu > 0 && row.gpu > 0 ? threeDigits(row.gpu / row.cpu) + "x" : "";
}

std::string partText(const CardPart& part) {
    std::vector<std::vector<std::string>> rows{{headText(part), "CPU", "GPU", "GPU/CPU"}};
    for (const CardRow& row : part.rows)
        rows.push_back({"  " + row.name, cardCell(row, row.cpu), cardCell(row, row.gpu), ratioText(row)});
    std::string text = table(rows, 1);
    for (const std::string& note : cardNotes(part)) text += wrapped("  " + note) + "\n";
    if (!part.remark.empty()) text += wrapped("  " + part.remark) + "\n";
    return text;
}

} // namespace

std::string headText(const CardPart& part) { return fmt::format("{}, {}", part.title, part.unit); }

const CardRow* rowIn(const Card& card, const std::string& part, const std::string& name) {
    const auto found = std::ranges::find(card.parts, part, &CardPart::id);
    if (found == card.parts.end()) return nullptr;
    const auto row = std::ranges::find(found->rows, name, &CardRow::name);
    return row == found->rows.end() ? nullptr : &*row;
}

std::string cardText(const Card& card) {
    std::string text = fmt::format("GPU  {}\nCPU  {}\n", card.gpuName(), card.cpuName());
    if (!card.gpu.driver.empty()) text += fmt::format("     {}\n", card.gpu.driver);
    if (!card.facts.empty()) text += "\n";
    for (const auto& [name, value] : card.facts) text += fmt::format("  {:<28} {}\n", name, value);
    for (const CardPart& part : card.parts) text += "\n" + partText(part);
    return text + "\n" + wrapped(cardOrigin(card) + " " + cardSigns({&card, 1})) + "\n";
}

std::vector<std::string> cardNotes(const CardPart& part) {
    using Note = std::pair<std::string, std::vector<std::string>>; // and the names of its lines
    std::vector<Note> notes;
    for (const CardRow& row : part.rows) {
        if (row.note.empty()) continue;
        const auto known = std::ranges::find(notes, row.note, &Note::first);
        if (known == notes.end())
            notes.push_back({row.note, {row.name}});
        else
            known->second.push_back(row.name);
    }
    std::vector<std::string> lines;
    lines.reserve(notes.size());
    for (const auto& [note, names] : notes) {
        std::string of;
        for (const std::string& name : names) of.append(of.empty() ? "" : ", ").append(name);
        if (names.size() > 3) of = counted(names.size(), "row");
        lines.push_back(of.append(": ").append(note));
    }
    return lines;
}

std::string cardOrigin(const Card& card) {
    return translatedFormat("{}{}, {}, measured in {:.0f} s{}.", card.owner.empty() ? "" : card.owner + ": ",
                            card.program, card.date, card.seconds,
                            translated(card.quick ? " (quick run: numbers come out too low)" : ""));
}

Card translatedCard(Card card) {
    const auto translate = [](std::string& text) { text = translatedParts(text); };
    for (auto& [name, value] : card.facts) translate(name), translate(value);
    for (CardPart& part : card.parts) {
        for (std::string* text : {&part.title, &part.unit, &part.remark}) translate(*text);
        for (CardRow& row : part.rows) translate(row.name), translate(row.note);
    }
    return card;
}

std::string cardCell(const CardRow& row, double value) {
    return cardNumber(value) + (row.unchecked && value > 0 ? "*" : "");
}

std::string cardSigns(std::span<const Card> cards) {
    const auto unchecked = [](const CardPart& part) {
        return std::ranges::any_of(part.rows, &CardRow::unchecked);
    };
    const bool any = std::ranges::any_of(
        cards, [&](const Card& card) { return std::ranges::any_of(card.parts, unchecked); });
    return std::string(translated("\"-\": not measured."))
        .append(translated(any ? " *: losses not checked." : ""));
}

std::vector<CardPart> allParts(const std::vector<Card>& cards) {
    constexpr std::size_t most = 1000;
    std::size_t lines = 0;
    const auto count = [&] {
        if (++lines > most)
            throw std::runtime_error(
                fmt::format("the cards have more than {} different rows", grouped(most)));
    };
    std::vector<CardPart> parts;
    for (const Card& card : cards)
        for (const CardPart& part : card.parts) {
            auto known = std::ranges::find(parts, part.id, &CardPart::id);
            if (known == parts.end()) {
                count();
                known = parts.insert(parts.end(), {part.id, part.title, part.unit, {}, {}});
            }
            for (const CardRow& row : part.rows)
                if (std::ranges::find(known->rows, row.name, &CardRow::name) == known->rows.end()) {
                    count();
                    known->rows.push_back({row.name});
                }
        }
    return parts;
}

std::vector<std::vector<std::string>> comparisonRows(const std::vector<Card>& cards, const CardPart& part) {
    std::vector<std::vector<std::string>> rows;
    for (const CardRow& line : part.rows) {
        std::vector<std::string> cells{line.name};
        for (const Card& card : cards) {
            const CardRow* row = rowIn(card, part.id, line.name);
            cells.push_back(row == nullptr ? "-" : cardCell(*row, row->cpu));
            cells.push_back(row == nullptr ? "-" : cardCell(*row, row->gpu));
        }
        rows.push_back(std::move(cells));
    }
    return rows;
}

std::string factsLine(const Card& card) {
    std::string line;
    for (const auto& [name, value] : card.facts)
        line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, value);
    return line;
}

Decades::Decades(const CardPart& part) {
    double least = 1e30;
    double most = 0;
    for (const CardRow& row : part.rows)
        for (const double value : {row.cpu, row.gpu}) {
            if (!(value > 0)) continue;
            least = std::min(least, value);
            most = std::max(most, value);
        }
    if (most == 0) return;
    from = std::floor(std::log10(least) - 0.1);
    to = std::max(std::log10(most), from + 1);
}

std::vector<double> Decades::lines() const {
    std::vector<double> shares;
    for (double decade = from; decade <= to; ++decade) shares.push_back(share(std::pow(10, decade)));
    return shares;
}

double Decades::share(double value) const { return (std::log10(value) - from) / (to - from); }

} // namespace lockstep::demos
