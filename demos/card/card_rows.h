// What text and picture share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demos/card/card.h"

namespace lockstep::demos {

/// Which program measured it, when, and how: "lockstep 0.9.0, 2026-03-01, measured in 120 s."
std::string cardOrigin(const Card& card);

/// The notes of a part's lines, those with the same words together: "fp16, fp64: skipped: out of time",
/// "5 rows: no GPU".
std::vector<std::string> cardNotes(const CardPart& part);

/// What is known of the GPU, in a line: "memory 12.0 GiB, subgroup 32".
std::string factsLine(const Card& card);

/// The card with its words in the language spoken now; cards are measured, and written, in English.
Card translatedCard(Card card);

/// A number of the row, marked where it is unchecked: "4.10M*".
std::string cardCell(const CardRow& row, double value);
/// What the signs in these cards' numbers mean.
std::string cardSigns(std::span<const Card> cards);

/// "Training, SGD, examples/s"
std::string headText(const CardPart& part);

/// Every part and line that any of the cards has, without numbers. Throws std::runtime_error where these are
/// more than fit a page.
std::vector<CardPart> allParts(const std::vector<Card>& cards);

/// The line of that name in a card's part; null: it has none.
const CardRow* rowIn(const Card& card, const std::string& part, const std::string& name);

/// For each line of `part`: its name, then the processor's and the GPU's number of each card.
std::vector<std::vector<std::string>> comparisonRows(const std::vector<Card>& cards, const CardPart& part);

/// "The CPU is 3.8× as fast as software Vulkan at training 784-256-128-10, batch 128": of the usual network,
/// or else of the largest that both have trained. Empty: none.
std::string cardHeadline(const Card& card);

/// What a part's numbers say, in the language spoken now: "GPU 3.1×" (the figure) and "as much arithmetic as
/// the CPU"; "About equal"; "Not measured" and why.
struct CardFinding {
    std::string figure, beside;
    std::optional<bool> gpu = {}; ///< whether the GPU is ahead; empty: neither
    CardRow row = {};             ///< the numbers that it follows from; its name is in that language, too

    /// "GPU 3.1× as much arithmetic as the CPU"
    std::string text() const { return beside.empty() ? figure : figure + (gpu ? " " : ": ") + beside; }
};
/// part       as measured, in English
/// software   Card::gpu.software
CardFinding findingOf(const CardPart& part, bool software);

/// Powers of ten that the bars of a part reach over.
struct Decades {
    double from = 0;
    double to = 1;

    explicit Decades(const CardPart& part);
    /// The share of a bar's whole length that `value`, a number of the part, takes: 0 to 1.
    double share(double value) const;
    /// Where the lines of the powers stand, as such shares.
    std::vector<double> lines() const;
};

} // namespace lockstep::demos
