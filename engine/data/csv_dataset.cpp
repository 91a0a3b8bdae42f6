#include "engine/data/csv_dataset.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "engine/data/csv.h"
#include "engine/data/csv_targets.h"
#include "engine/files/file_bytes.h"
#include "engine/net/names.h"
#include "engine/net/numbers.h"

namespace lockstep {

namespace {

using Row = std::vector<CsvField>;

std::string cellText(const CsvField& field) { return std::string(trimmed(field.text())); }

NumberKind kindOf(const CsvField& field) { return parseNumber(trimmed(field.raw)).kind; }

void requireTwoColumns(const Row& first, std::string_view name) {
    if (first.size() >= 2) return;
    const bool otherSeparator = first.front().raw.find_first_of(";\t") != std::string_view::npos;
    throw std::runtime_error(std::string(name) +
                             ": the table has one column, and needs a feature and a target at least" +
                             (otherSeparator ? "; its fields have to be separated by commas" : ""));
}

// The column that `label` means as a number from 1; columns when it is none.
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
        if (column != byNumber && kindOf(first[column]) != NumberKind::text) return false;
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
        throw std::invalid_argument(std::string(name) + " has no header and so no column " +
                                    quotedForMessage(label) + "; give the target's number, from 1 to " +
                                    std::to_string(columns));
    const std::vector<std::string_view> known(names.begin(), names.end());
    throwUnknownName("column of " + std::string(name), label, known);
}

class TableReader {
  public:
    TableReader(std::string_view text, std::string_view name, const CsvOptions& options)
        : reader_(text, name), name_(name), options_(options) {}

    Dataset read();

  private:
    void readHead();
    void addRow();
    float feature(std::size_t column) const;
    CsvPlace place(std::size_t column) const;

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

void TableReader::readHead() {
    if (!reader_.next(row_)) throw std::runtime_error(name_ + ": the table has no rows");
    requireTwoColumns(row_, name_);
    columns_ = row_.size();
    const bool header = options_.header == CsvHeader::present ||
                        (options_.header == CsvHeader::automatic && looksLikeHeader(row_, options_.label));
    if (header)
        for (const CsvField& field : row_) names_.push_back(cellText(field));
    target_ = targetColumn(names_, columns_, options_.label, name_);
    more_ = header ? reader_.next(row_) : true;
    if (!more_) throw std::runtime_error(name_ + ": there are no rows below the header");
}

CsvPlace TableReader::place(std::size_t column) const {
    return {name_, row_[column].line, column + 1, names_.empty() ? "" : names_[column]};
}

float TableReader::feature(std::size_t column) const {
    const CsvField& field = row_[column];
    const ParsedNumber number = parseNumber(trimmed(field.raw));
    if (number.kind == NumberKind::finite) return static_cast<float>(number.value);
    if (trimmed(field.raw).empty()) throwAtCell(place(column), "the cell is empty; a number is needed");
    if (number.kind == NumberKind::notFinite)
        throwAtCell(place(column),
                    quotedForMessage(field.raw) + " is not a finite number that a float can hold");
    const bool firstRow = values_.size() < columns_ - 1;
    throwAtCell(place(column),
                quotedForMessage(field.raw) + " is not a number" +
                    (names_.empty() && firstRow ? "; is this row a header?"
                                                : "; every column but the target needs numbers"));
}

void TableReader::addRow() {
    if (row_.size() != columns_)
        throw std::runtime_error(name_ + ":" + std::to_string(row_.front().line) + ": the row has " +
                                 std::to_string(row_.size()) + " fields, the first one " +
                                 std::to_string(columns_));
    for (std::size_t column = 0; column < columns_; ++column)
        if (column != target_) values_.push_back(feature(column));
    if (trimmed(row_[target_].raw).empty())
        throwAtCell(place(target_), "the cell is empty; the row's class or value is needed");
    targets_.push_back(row_[target_]);
}

Dataset TableReader::read() {
    for (readHead(); more_; more_ = reader_.next(row_)) addRow();
    Dataset data;
    data.name = name_;
    data.inputs = columns_ - 1;
    data.train.count = targets_.size();
    data.train.values = std::move(values_);
    const std::string targetName = names_.empty() ? "" : names_[target_];
    fillTargets(data, targets_, {name_, 0, target_ + 1, targetName}, options_);
    if (!names_.empty()) {
        data.inputNames = names_;
        data.inputNames.erase(data.inputNames.begin() + static_cast<std::ptrdiff_t>(target_));
    }
    return data;
}

} // namespace

Dataset parseCsvDataset(std::string_view text, std::string_view name, const CsvOptions& options) {
    return TableReader(text, name, options).read();
}

} // namespace lockstep
