#include "engine/data/csv_dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

// A column of a table, for messages.
struct Column {
    std::string file;
    std::size_t field = 0; // from 1
    std::string name;      // empty without a header
};

// Throws std::runtime_error "FILE:LINE:FIELD: column 'NAME': reason".
[[noreturn]] void throwAt(const Column& column, const CsvField& cell, const std::string& reason) {
    throw std::runtime_error(
        column.file + ":" + std::to_string(cell.line) + ":" + std::to_string(column.field) + ": " +
        (column.name.empty() ? "" : "column " + quotedForMessage(column.name) + ": ") + reason);
}

std::string cellText(const CsvField& field) { return std::string(trimmed(field.text())); }

ParsedNumber cellNumber(const CsvField& cell) { return parseNumber(trimmed(cell.raw)); }

void requireTwoColumns(const Row& first, std::string_view name) {
    if (first.size() >= 2) return;
    const bool otherSeparator = first.front().raw.find_first_of(";\t") != std::string_view::npos;
    throw std::runtime_error(std::string(name) +
                             ": the table has only one column; it needs at least one feature and a target" +
                             (otherSeparator ? "; separate its fields by commas" : ""));
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
            throw std::runtime_error(std::string(name) + ": two columns are called " +
                                     quotedForMessage(label) + "; give the target's number, from 1 to " +
                                     std::to_string(columns));
        return static_cast<std::size_t>(found - names.begin());
    }
    if (const std::size_t column = columnByNumber(label, columns); column < columns) return column;
    if (names.empty())
        throw std::invalid_argument(std::string(name) + " has no header, so there is no column " +
                                    quotedForMessage(label) + "; give the target's number, from 1 to " +
                                    std::to_string(columns));
    const std::vector<std::string_view> known(names.begin(), names.end());
    throwUnknownName("column of " + std::string(name), label, known);
}

bool isSmallWholeNumber(double value) { return value >= 0 && value <= 99 && value == std::floor(value); }

// Properties shared by all cells of the column.
struct ColumnKind {
    bool numbers = true;
    bool smallWholeNumbers = true;
};

ColumnKind columnKind(const std::vector<CsvField>& cells, const Column& column) {
    ColumnKind kind;
    for (const CsvField& cell : cells) {
        const ParsedNumber number = cellNumber(cell);
        if (number.kind == NumberKind::notFinite)
            throwAt(column, cell,
                    "the target " + quotedForMessage(cell.raw) +
                        " is not a finite number that a float can hold");
        kind.numbers = kind.numbers && number.kind == NumberKind::finite;
        kind.smallWholeNumbers = kind.smallWholeNumbers && kind.numbers && isSmallWholeNumber(number.value);
    }
    return kind;
}

void fillValues(Dataset& data, const std::vector<CsvField>& cells, const Column& column) {
    for (const CsvField& cell : cells) {
        const ParsedNumber number = cellNumber(cell);
        if (number.kind != NumberKind::finite)
            throwAt(column, cell,
                    "the target " + quotedForMessage(cell.raw) +
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

void fillFoundClasses(Dataset& data, const std::vector<CsvField>& cells, const Column& column, bool numbers,
                      std::size_t most) {
    std::map<ClassKey, std::uint32_t> classes;
    for (const CsvField& cell : cells) {
        classes.emplace(keyOf(cell, numbers), 0);
        if (classes.size() > most)
            throwAt(column, cell,
                    "the target is the " + std::to_string(most + 1) +
                        "th different class; is this the right target column? Choose another with the label "
                        "option");
    }
    if (classes.size() < 2)
        throw std::runtime_error(column.file + ": all " + std::to_string(cells.size()) +
                                 " rows have the class " + quotedForMessage(cells.front().raw) +
                                 "; classification needs at least two classes");
    for (auto& [key, number] : classes) {
        number = static_cast<std::uint32_t>(data.classNames.size());
        data.classNames.push_back(numbers ? shortestText(key.first) : key.second);
    }
    for (const CsvField& cell : cells) data.train.labels.push_back(classes.at(keyOf(cell, numbers)));
}

[[noreturn]] void throwUnknownLabel(const Column& column, const CsvField& cell,
                                    const std::vector<std::string>& classNames) {
    const std::vector<std::string_view> known(classNames.begin(), classNames.end());
    const std::string text = cellText(cell);
    const std::string_view nearest = nearestName(std::string_view(text).substr(0, 100), known);
    std::string reason = "the label " + quotedForMessage(text) + " is not one of the " +
                         std::to_string(known.size()) + " known classes (" + std::string(known.front());
    const std::size_t listed = std::min<std::size_t>(known.size(), 10);
    for (std::size_t i = 1; i < listed; ++i) reason += ", " + std::string(known[i]);
    reason += listed < known.size() ? ", ...)" : ")";
    if (!nearest.empty()) reason += "; did you mean '" + std::string(nearest) + "'?";
    throwAt(column, cell, reason);
}

void fillKnownClasses(Dataset& data, const std::vector<CsvField>& cells, const Column& column,
                      const std::vector<std::string>& classNames) {
    std::map<std::string, std::uint32_t> classes;
    for (const std::string& className : classNames)
        classes.emplace(className, static_cast<std::uint32_t>(classes.size()));
    if (classes.size() != classNames.size())
        throw std::invalid_argument("two of the known classes have the same name");
    for (const CsvField& cell : cells) {
        auto found = classes.find(cellText(cell));
        if (const ParsedNumber number = cellNumber(cell);
            found == classes.end() && number.kind == NumberKind::finite)
            found = classes.find(shortestText(number.value));
        if (found == classes.end()) throwUnknownLabel(column, cell, classNames);
        data.train.labels.push_back(found->second);
    }
    data.classNames = classNames;
}

// Sets the classes (or the target width) and the labels (or targets) of data.train from one cell per row.
//   cells    at least one, none of them blank
void fillTargets(Dataset& data, const std::vector<CsvField>& cells, const Column& column,
                 const CsvOptions& options) {
    if (options.target == CsvTarget::values) return fillValues(data, cells, column);
    if (!options.classNames.empty()) {
        fillKnownClasses(data, cells, column, options.classNames);
    } else {
        const ColumnKind kind = columnKind(cells, column);
        const bool asked = options.target == CsvTarget::classes;
        if (!asked && kind.numbers && !kind.smallWholeNumbers) return fillValues(data, cells, column);
        fillFoundClasses(data, cells, column, kind.numbers, asked ? mostClasses : mostUnaskedClasses);
    }
    data.classes = data.classNames.size();
}

class TableReader {
  public:
    TableReader(std::string_view text, std::string_view name, const CsvOptions& options)
        : reader_(text, name), name_(name), options_(options) {}

    Dataset read() {
        for (readHead(); more_; more_ = reader_.next(row_)) addRow();
        Dataset data;
        data.name = name_;
        data.inputs = columns_ - 1;
        data.train.count = targets_.size();
        data.train.values = std::move(values_);
        fillTargets(data, targets_, column(target_), options_);
        if (!names_.empty()) {
            data.inputNames = names_;
            data.inputNames.erase(data.inputNames.begin() + static_cast<std::ptrdiff_t>(target_));
        }
        return data;
    }

  private:
    void readHead() {
        if (!reader_.next(row_)) throw std::runtime_error(name_ + ": the table has no rows");
        requireTwoColumns(row_, name_);
        columns_ = row_.size();
        const bool header =
            options_.header == CsvHeader::present ||
            (options_.header == CsvHeader::automatic && looksLikeHeader(row_, options_.label));
        if (header)
            for (const CsvField& field : row_) names_.push_back(cellText(field));
        target_ = targetColumn(names_, columns_, options_.label, name_);
        more_ = header ? reader_.next(row_) : true;
        if (!more_) throw std::runtime_error(name_ + ": the table has a header but no rows");
    }

    void addRow() {
        if (row_.size() != columns_)
            throw std::runtime_error(name_ + ":" + std::to_string(row_.front().line) + ": this row has " +
                                     std::to_string(row_.size()) + " fields, the first row " +
                                     std::to_string(columns_));
        for (std::size_t index = 0; index < columns_; ++index)
            if (index != target_) values_.push_back(feature(index));
        if (trimmed(row_[target_].raw).empty())
            throwAt(column(target_), row_[target_],
                    "the cell is empty; it must hold the row's class or value");
        targets_.push_back(row_[target_]);
    }

    float feature(std::size_t index) const {
        const CsvField& cell = row_[index];
        const ParsedNumber number = cellNumber(cell);
        if (number.kind == NumberKind::finite) return static_cast<float>(number.value);
        if (trimmed(cell.raw).empty())
            throwAt(column(index), cell, "the cell is empty; it must hold a number");
        if (number.kind == NumberKind::notFinite)
            throwAt(column(index), cell,
                    quotedForMessage(cell.raw) + " is not a finite number that a float can hold");
        const bool firstRow = values_.size() < columns_ - 1;
        throwAt(column(index), cell,
                quotedForMessage(cell.raw) + " is not a number" +
                    (names_.empty() && firstRow ? "; is this row a header?"
                                                : "; every column but the target needs numbers"));
    }

    Column column(std::size_t index) const { return {name_, index + 1, names_.empty() ? "" : names_[index]}; }

    CsvReader reader_;
    std::string name_;
    const CsvOptions& options_;
    Row row_;
    bool more_ = false;
    std::size_t columns_ = 0;
    std::size_t target_ = 0;
    std::vector<std::string> names_; // of all columns; empty without a header
    std::vector<float> values_;
    std::vector<CsvField> targets_;
};

} // namespace

Dataset parseCsvDataset(std::string_view text, std::string_view name, const CsvOptions& options) {
    return TableReader(text, name, options).read();
}

} // namespace lockstep
