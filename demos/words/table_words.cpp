#include "demos/words/table_words.h"

#include <stdexcept>

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostNamed = 8; ///< columns that a sentence lists

std::string titles(const TableSchema& table, const std::vector<std::size_t>& columns) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i == mostNamed) return translatedFormat("{} and {} more", text, columns.size() - i);
        text += (i == 0 ? "" : ", ") + table.title(columns[i]);
    }
    return text;
}

std::string because(const std::string& reason) {
    return reason.empty() ? std::string() : fmt::format(" ({})", translated(reason));
}

std::string targetSentence(const Dataset& data, const TableSchema& table) {
    if (table.targets.empty()) return std::string(translated("target: the table has none"));
    const std::string task = data.classes > 0 ? translatedFormat("{} classes", grouped(data.classes))
                                              : std::string(translated("values"));
    std::string text =
        translatedFormat("target {}{}: {}{}", titles(table, table.targets),
                         because(table.columns[table.targets.front()].why), task, because(table.why.task));
    for (const std::size_t index : table.targets)
        if (const TableColumn& column = table.columns[index]; column.scaled)
            text += translatedFormat("; {}standardised (mean {:.4g}, deviation {:.4g}), and losses with it",
                                     table.targets.size() > 1 ? table.title(index) + " " : "", column.mean,
                                     column.deviation);
    return text;
}

std::string scaleWords(const TableSchema& table) {
    switch (table.scale) {
    case InputScale::standard: return std::string(translated("standardised to mean 0 and deviation 1"));
    case InputScale::pixels: return std::string(translated("read as pixels / 255"));
    case InputScale::none: return std::string(translated("as in the table"));
    default: throw std::logic_error("a scale that is not known yet");
    }
}

std::string featureSentence(const Dataset& data, const TableSchema& table) {
    std::string text = translatedFormat("{} {}{}", counted(table.features.size(), "feature"),
                                        scaleWords(table), because(table.why.scale));
    std::vector<std::size_t> words;
    for (const std::size_t index : table.features)
        if (table.columns[index].kind == ColumnKind::words) words.push_back(index);
    if (!words.empty())
        text += translatedFormat("; words become one input each: {}, {} in all", titles(table, words),
                                 counted(data.inputs, "input"));
    return text;
}

std::string reading(const TableSchema& table) {
    const auto sign = [](char separator) -> std::string {
        if (separator == '\t') return std::string(translated("tab"));
        if (separator == ' ') return std::string(translated("blanks"));
        return fmt::format("'{}'", separator);
    };
    std::string text =
        translatedFormat("{}{}; separator {}", translated(table.header ? "header" : "no header"),
                         because(table.why.header), sign(table.separator));
    if (table.decimal == ',') text += translatedFormat("; decimal comma{}", because(table.why.decimal));
    if (table.dropped > 0)
        text += translatedFormat("; {} left out for missing cells", counted(table.dropped, "row"));
    if (table.filled > 0)
        text += translatedFormat("; {} filled in by the mean", counted(table.filled, "cell"));
    return text;
}

} // namespace

std::vector<std::string> understood(const Dataset& data) {
    std::vector<std::string> sentences;
    if (data.table) {
        const TableSchema& table = *data.table;
        sentences.push_back(targetSentence(data, table));
        sentences.push_back(featureSentence(data, table));
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            if (table.columns[column].role == ColumnRole::ignored)
                sentences.push_back(translatedFormat("left out: {}{}", table.title(column),
                                                     because(table.columns[column].why)));
        constexpr std::size_t mostLeftOut = 6;
        if (sentences.size() > 2 + mostLeftOut) {
            const std::size_t more = sentences.size() - 2 - mostLeftOut;
            sentences.resize(2 + mostLeftOut);
            sentences.push_back(translatedFormat("left out: {} more", counted(more, "column")));
        }
        sentences.push_back(reading(table));
    }
    for (const std::string& note : data.notes)
        sentences.push_back(translatedFormat("note: {}", translated(note)));
    return sentences;
}

std::string understoodText(const Dataset& data) {
    std::string text;
    for (const std::string& sentence : understood(data)) text += wrapped(sentence) + "\n";
    return text;
}

} // namespace lockstep::demos
