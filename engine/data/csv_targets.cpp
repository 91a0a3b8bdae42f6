#include "engine/data/csv_targets.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "engine/files/file_bytes.h"
#include "engine/net/names.h"
#include "engine/net/numbers.h"

namespace lockstep {

namespace {

constexpr std::size_t mostClasses = 65536;
constexpr std::size_t mostUnaskedClasses = 1000;

[[noreturn]] void throwAt(CsvPlace column, const CsvField& cell, const std::string& reason) {
    column.line = cell.line;
    throwAtCell(column, reason);
}

std::string cellText(const CsvField& cell) { return std::string(trimmed(cell.text())); }

ParsedNumber cellNumber(const CsvField& cell) { return parseNumber(trimmed(cell.raw)); }

bool isSmallWholeNumber(double value) { return value >= 0 && value <= 99 && value == std::floor(value); }

// What the cells of the column have in common.
struct ColumnKind {
    bool numbers = true;
    bool smallWholeNumbers = true;
};

ColumnKind kindOf(const std::vector<CsvField>& cells, const CsvPlace& column) {
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

void fillValues(Dataset& data, const std::vector<CsvField>& cells, const CsvPlace& column) {
    for (const CsvField& cell : cells) {
        const ParsedNumber number = cellNumber(cell);
        if (number.kind != NumberKind::finite)
            throwAt(column, cell,
                    "the target " + quotedForMessage(cell.raw) +
                        " is not a finite number, and values are wanted");
        data.train.targets.push_back(static_cast<float>(number.value));
    }
}

// Classes by number (the text stays empty) or by text (the number stays 0), in their order.
using ClassKey = std::pair<double, std::string>;

ClassKey keyOf(const CsvField& cell, bool numbers) {
    if (numbers) return {cellNumber(cell).value + 0.0, {}};
    return {0, cellText(cell)};
}

void fillFoundClasses(Dataset& data, const std::vector<CsvField>& cells, const CsvPlace& column, bool numbers,
                      std::size_t most) {
    std::map<ClassKey, std::uint32_t> classes;
    for (const CsvField& cell : cells) {
        classes.emplace(keyOf(cell, numbers), 0);
        if (classes.size() > most)
            throwAt(
                column, cell,
                "the target is the " + std::to_string(most + 1) +
                    "th different class; is this the column to be told? Name another with the label option");
    }
    if (classes.size() < 2)
        throw std::runtime_error(column.file + ": all " + std::to_string(cells.size()) +
                                 " rows have the class " + quotedForMessage(cells.front().raw) +
                                 "; telling classes apart takes two at least");
    for (auto& [key, number] : classes) {
        number = static_cast<std::uint32_t>(data.classNames.size());
        data.classNames.push_back(numbers ? shortestText(key.first) : key.second);
    }
    for (const CsvField& cell : cells) data.train.labels.push_back(classes.at(keyOf(cell, numbers)));
}

[[noreturn]] void throwUnknownLabel(const CsvPlace& column, const CsvField& cell,
                                    const std::vector<std::string>& classNames) {
    const std::vector<std::string_view> known(classNames.begin(), classNames.end());
    const std::string text = cellText(cell);
    const std::string_view nearest = nearestName(std::string_view(text).substr(0, 100), known);
    std::string reason = "the label " + quotedForMessage(text) + " is not among the " +
                         std::to_string(known.size()) + " known classes (" + std::string(known.front());
    const std::size_t listed = std::min<std::size_t>(known.size(), 10);
    for (std::size_t i = 1; i < listed; ++i) reason += ", " + std::string(known[i]);
    reason += listed < known.size() ? ", ...)" : ")";
    if (!nearest.empty()) reason += "; did you mean '" + std::string(nearest) + "'?";
    throwAt(column, cell, reason);
}

void fillKnownClasses(Dataset& data, const std::vector<CsvField>& cells, const CsvPlace& column,
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

} // namespace

void throwAtCell(const CsvPlace& place, const std::string& reason) {
    throw std::runtime_error(
        place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.field) + ": " +
        (place.columnName.empty() ? "" : "column " + quotedForMessage(place.columnName) + ": ") + reason);
}

void fillTargets(Dataset& data, const std::vector<CsvField>& cells, const CsvPlace& column,
                 const CsvOptions& options) {
    if (options.target == CsvTarget::values) return fillValues(data, cells, column);
    if (!options.classNames.empty()) {
        fillKnownClasses(data, cells, column, options.classNames);
    } else {
        const ColumnKind kind = kindOf(cells, column);
        const bool asked = options.target == CsvTarget::classes;
        if (!asked && kind.numbers && !kind.smallWholeNumbers) return fillValues(data, cells, column);
        fillFoundClasses(data, cells, column, kind.numbers, asked ? mostClasses : mostUnaskedClasses);
    }
    data.classes = data.classNames.size();
}

} // namespace lockstep
