#include "engine/data/csv_dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "engine/data/csv.h"
#include "engine/files/file_bytes.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

using Row = std::vector<CsvField>;

constexpr std::size_t mostClasses = 65536;
constexpr std::size_t mostUnaskedClasses = 1000;

struct Table {
    std::string file;
    std::size_t columns = 0;
    std::size_t target = 0;         // the target's column
    std::vector<std::string> names; // of all columns; empty without a header
    std::vector<float> values;      // [rows][columns - 1]
    std::vector<CsvField> targets;  // one per row, none of them blank
};

// Throws std::runtime_error "FILE:LINE:FIELD: column 'NAME': reason".
template <class... Reason>
[[noreturn]] void throwAt(const Table& table, std::size_t column, const CsvField& cell,
                          const Reason&... reason) {
    const std::string name =
        table.names.empty() ? "" : concat("column ", quotedForMessage(table.names[column]), ": ");
    throw std::runtime_error(concat(table.file, ":", cell.line, ":", column + 1, ": ", name, reason...));
}

std::string cellText(const CsvField& field) { return std::string(trimmed(field.text())); }

ParsedNumber cellNumber(const CsvField& cell) { return parseNumber(trimmed(cell.raw)); }

void requireTwoColumns(const Row& first, std::string_view name) {
    if (first.size() >= 2) return;
    const bool otherSeparator = first.front().raw.find_first_of(";\t") != std::string_view::npos;
    throw std::runtime_error(
        concat(name, ": the table has only one column; it needs at least one feature and a target",
               otherSeparator ? "; separate its fields by commas" : ""));
}

// The column that `label` gives as a number from 1; `columns` if it is not such a number.
std::size_t columnByNumber(std::string_view label, std::size_t columns) {
    const ParsedNumber number = parseNumber(label);
    const bool valid = number.kind == NumberKind::finite && number.value == std::floor(number.value) &&
                       number.value >= 1 && number.value <= static_cast<double>(columns);
    return valid ? static_cast<std::size_t>(number.value) - 1 : columns;
}

bool looksLikeHeader(const Row& first, const std::string& label) {
    const std::size_t byNumber = label.empty() ? first.size() - 1 : columnByNumber(label, first.size());
    if (byNumber == first.size())
        for (const CsvField& field : first)
            if (cellText(field) == label) return true;
    for (std::size_t column = 0; column < first.size(); ++column)
        if (column != byNumber && cellNumber(first[column]).kind != NumberKind::text) return false;
    return true;
}

// The column of the target. `names` is empty without a header.
std::size_t targetColumn(const std::vector<std::string>& names, std::size_t columns, const std::string& label,
                         std::string_view name) {
    if (label.empty()) return columns - 1;
    const auto found = std::find(names.begin(), names.end(), label);
    if (found != names.end()) {
        if (std::find(found + 1, names.end(), label) != names.end())
            throw std::runtime_error(concat(name, ": two columns are called ", quotedForMessage(label),
                                            "; give the target's number, from 1 to ", columns));
        return static_cast<std::size_t>(found - names.begin());
    }
    if (const std::size_t column = columnByNumber(label, columns); column < columns) return column;
    if (names.empty())
        throw std::invalid_argument(concat(name, " has no header, so there is no column ",
                                           quotedForMessage(label), "; give the target's number, from 1 to ",
                                           columns));
    const std::vector<std::string_view> known(names.begin(), names.end());
    throwUnknownName("column of " + std::string(name), label, known);
}

bool isSmallWholeNumber(double value) { return value >= 0 && value <= 99 && value == std::floor(value); }

// Properties shared by all cells of the column.
struct ColumnKind {
    bool numbers = true;
    bool smallWholeNumbers = true;
};

ColumnKind columnKind(const Table& table) {
    ColumnKind kind;
    for (const CsvField& cell : table.targets) {
        const ParsedNumber number = cellNumber(cell);
        if (number.kind == NumberKind::notFinite)
            throwAt(table, table.target, cell, "the target ", quotedForMessage(cell.raw),
                    " is not a finite number that a float can hold");
        kind.numbers = kind.numbers && number.kind == NumberKind::finite;
        kind.smallWholeNumbers = kind.smallWholeNumbers && kind.numbers && isSmallWholeNumber(number.value);
    }
    return kind;
}

void fillValues(Dataset& data, const Table& table) {
    for (const CsvField& cell : table.targets) {
        const ParsedNumber number = cellNumber(cell);
        if (number.kind != NumberKind::finite)
            throwAt(table, table.target, cell, "the target ", quotedForMessage(cell.raw),
                    " is not a finite number; regression needs numbers");
        data.train.targets.push_back(static_cast<float>(number.value));
    }
}

// The sorting key of a class: a number (and empty text), or a text (and the number 0).
using ClassKey = std::pair<double, std::string>;

ClassKey keyOf(const CsvField& cell, bool numbers) {
    if (numbers) return {cellNumber(cell).value + 0.0, {}};
    return {0, cellText(cell)};
}

void fillFoundClasses(Dataset& data, const Table& table, bool numbers, std::size_t most) {
    std::map<ClassKey, std::uint32_t> classes;
    for (const CsvField& cell : table.targets) {
        classes.emplace(keyOf(cell, numbers), 0);
        if (classes.size() > most)
            throwAt(
                table, table.target, cell, "more than ", most,
                " distinct classes; is this the right target column? Choose another with the label option");
    }
    if (classes.size() < 2)
        throw std::runtime_error(concat(table.file, ": all ", table.targets.size(), " rows have the class ",
                                        quotedForMessage(table.targets.front().raw),
                                        "; classification needs at least two classes"));
    for (auto& [key, number] : classes) {
        number = static_cast<std::uint32_t>(data.classNames.size());
        data.classNames.push_back(numbers ? shortestText(key.first) : key.second);
    }
    for (const CsvField& cell : table.targets) data.train.labels.push_back(classes.at(keyOf(cell, numbers)));
}

[[noreturn]] void throwUnknownLabel(const Table& table, const CsvField& cell,
                                    const std::vector<std::string>& classNames) {
    const std::vector<std::string_view> known(classNames.begin(), classNames.end());
    const std::string text = cellText(cell);
    const std::string_view nearest = nearestName(std::string_view(text).substr(0, 100), known);
    std::string listed(known.front());
    constexpr std::size_t most = 10;
    for (std::size_t i = 1; i < std::min(known.size(), most); ++i) listed += concat(", ", known[i]);
    throwAt(table, table.target, cell, "the label ", quotedForMessage(text), " is not one of the ",
            known.size(), " known classes (", listed, known.size() > most ? ", ...)" : ")",
            nearest.empty() ? "" : concat("; did you mean '", nearest, "'?"));
}

void fillKnownClasses(Dataset& data, const Table& table, const std::vector<std::string>& classNames) {
    std::map<std::string, std::uint32_t> classes;
    for (const std::string& className : classNames)
        classes.emplace(className, static_cast<std::uint32_t>(classes.size()));
    if (classes.size() != classNames.size())
        throw std::invalid_argument("two of the known classes have the same name");
    for (const CsvField& cell : table.targets) {
        auto found = classes.find(cellText(cell));
        if (const ParsedNumber number = cellNumber(cell);
            found == classes.end() && number.kind == NumberKind::finite)
            found = classes.find(shortestText(number.value));
        if (found == classes.end()) throwUnknownLabel(table, cell, classNames);
        data.train.labels.push_back(found->second);
    }
    data.classNames = classNames;
}

// Sets the classes (or the target width) and the labels (or targets) of data.train.
void fillTargets(Dataset& data, const Table& table, const CsvOptions& options) {
    if (options.target == CsvTarget::values) return fillValues(data, table);
    if (!options.classNames.empty()) {
        fillKnownClasses(data, table, options.classNames);
    } else {
        const ColumnKind kind = columnKind(table);
        const bool asked = options.target == CsvTarget::classes;
        if (!asked && kind.numbers && !kind.smallWholeNumbers) return fillValues(data, table);
        fillFoundClasses(data, table, kind.numbers, asked ? mostClasses : mostUnaskedClasses);
    }
    data.classes = data.classNames.size();
}

float feature(const Table& table, std::size_t column, const CsvField& cell) {
    const ParsedNumber number = cellNumber(cell);
    if (number.kind == NumberKind::finite) return static_cast<float>(number.value);
    if (trimmed(cell.raw).empty()) throwAt(table, column, cell, "the cell is empty; it must hold a number");
    if (number.kind == NumberKind::notFinite)
        throwAt(table, column, cell, quotedForMessage(cell.raw),
                " is not a finite number that a float can hold");
    const bool header = table.names.empty() && table.values.size() < table.columns - 1; // it is the first row
    throwAt(table, column, cell, quotedForMessage(cell.raw), " is not a number",
            header ? "; is this row a header?" : "; every column but the target needs numbers");
}

void addRow(Table& table, const Row& row) {
    if (row.size() != table.columns)
        throw std::runtime_error(concat(table.file, ":", row.front().line, ": this row has ", row.size(),
                                        " fields, the first row ", table.columns));
    for (std::size_t column = 0; column < row.size(); ++column)
        if (column != table.target) table.values.push_back(feature(table, column, row[column]));
    const CsvField& target = row[table.target];
    if (trimmed(target.raw).empty())
        throwAt(table, table.target, target, "the cell is empty; it must hold the row's class or value");
    table.targets.push_back(target);
}

Table readTable(std::string_view text, std::string_view name, const CsvOptions& options) {
    CsvReader reader(text, name);
    Row row;
    if (!reader.next(row)) throw std::runtime_error(concat(name, ": the table has no rows"));
    requireTwoColumns(row, name);
    Table table;
    table.file = name;
    table.columns = row.size();
    const bool header = options.header == CsvHeader::present ||
                        (options.header == CsvHeader::automatic && looksLikeHeader(row, options.label));
    if (header) std::ranges::transform(row, std::back_inserter(table.names), cellText);
    table.target = targetColumn(table.names, table.columns, options.label, name);
    if (header && !reader.next(row))
        throw std::runtime_error(concat(name, ": the table has a header but no rows"));
    do {
        addRow(table, row);
    } while (reader.next(row));
    return table;
}

} // namespace

Dataset parseCsvDataset(std::string_view text, std::string_view name, const CsvOptions& options) {
    Table table = readTable(text, name, options);
    Dataset data;
    data.name = name;
    data.inputs = table.columns - 1;
    data.train.count = table.targets.size();
    data.train.values = std::move(table.values);
    fillTargets(data, table, options);
    if (!table.names.empty()) {
        data.inputNames = std::move(table.names);
        data.inputNames.erase(data.inputNames.begin() + static_cast<std::ptrdiff_t>(table.target));
    }
    return data;
}

} // namespace lockstep
