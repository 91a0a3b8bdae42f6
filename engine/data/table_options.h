// What a person may say about a table; everything else is inferred from the table itself.
#pragma once

#include <string>
#include <vector>

#include "engine/net/table_schema.h"

namespace lockstep {

enum class TableTask {
    /// Classes if the targets are words, two distinct whole numbers that repeat, or whole numbers from 0 to
    /// 99; otherwise values.
    automatic,
    classes, ///< classification: every distinct target is a class; at most 65,536
    values,  ///< regression: every target must be a number
};

enum class TableHeader {
    automatic, ///< the first row is a header if words stand over columns of numbers (table_layout.h)
    present,
    absent,
};

enum class TableSeparator { automatic, comma, semicolon, tab, pipe, blanks };

enum class TableDecimal { automatic, point, comma };

inline constexpr NameOf<TableTask> tableTasks[] = {
    {TableTask::automatic, "automatic"}, {TableTask::classes, "classes"}, {TableTask::values, "values"}};
inline constexpr NameOf<TableHeader> tableHeaders[] = {{TableHeader::automatic, "automatic"},
                                                       {TableHeader::present, "present"},
                                                       {TableHeader::absent, "absent"}};
inline constexpr NameOf<TableSeparator> tableSeparators[] = {
    {TableSeparator::automatic, "automatic"}, {TableSeparator::comma, "comma"},
    {TableSeparator::semicolon, "semicolon"}, {TableSeparator::tab, "tab"},
    {TableSeparator::pipe, "pipe"},           {TableSeparator::blanks, "blanks"}};
inline constexpr NameOf<TableDecimal> tableDecimals[] = {
    {TableDecimal::automatic, "automatic"}, {TableDecimal::point, "point"}, {TableDecimal::comma, "comma"}};

struct TableOptions {
    /// The target's column: a name, a number from 1, "first" or "last"; or several, separated by commas, for
    /// a regression with several outputs. "none": the table has only features. Empty: inferred.
    std::string target = {};
    TableTask task = TableTask::automatic;
    TableHeader header = TableHeader::automatic;
    TableSeparator separator = TableSeparator::automatic;
    TableDecimal decimal = TableDecimal::automatic;
    MissingCells missing = MissingCells::error;
    /// Columns to leave out, by name or number from 1; {"none"}: leave out nothing by inference either.
    std::vector<std::string> ignore = {};
    InputScale scale = InputScale::automatic;

    bool operator==(const TableOptions&) const = default;
};

} // namespace lockstep
