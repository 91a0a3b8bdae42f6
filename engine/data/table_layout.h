// How a table is understood: its separator, decimal sign and header, and what each column is. Options decide;
// the rest is inferred from the table, with the reason in a few words.
//
//   header      words stand over columns of numbers; or, where all columns are words, the first row's words
//   do
//               not come again below; or numbers in order with an empty first cell, as pandas writes them
//   target      one-hot columns at the end; a column called label, class, target, y, species, ...; without a
//               header the first column, if it holds classes and the last one does not; else the last column
//   ignored     columns without any value; row numbers, row names and identifiers in the first column; a
//               column called split that says train or test, as `lockstep data --csv` writes it
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/data/csv.h"
#include "engine/data/table_options.h"
#include "engine/data/table_text.h"
#include "engine/net/table_schema.h"

namespace lockstep {

struct TableLayout {
    TableSchema schema;       ///< without what only all rows can tell: words, ranges, task, scale
    bool oneHot = false;      ///< the targets are one class each, marked by a 1
    bool headerShort = false; ///< the header lacks the name of the first column (R's row names)
    std::size_t rows = 0;     ///< without the header
    /// The column that says of each row whether it is for training or testing.
    std::optional<std::size_t> split = {};

    /// For a table that a model reads: the model's column of each of the table's (none: it is not used), and
    /// whether the table has the targets.
    std::vector<std::optional<std::size_t>> modelColumns = {};
    bool hasTargets = true;
};

/// Infers the layout of the table `text`.
///   model   the schema that a network was trained with; its columns are found by name, whatever their order,
///           or by position where either table has no header. Null: a table to train on
/// Throws std::runtime_error "NAME:LINE:FIELD: reason" for rows of different lengths and what CsvReader
/// throws; "NAME: reason" for a table without rows, with too few columns, or without a column that the model
/// needs; std::invalid_argument for a column of the options that the table does not have.
TableLayout inferLayout(const TableText& text, std::string_view name, const TableOptions& options,
                        const TableSchema* model);

/// A cell's number, with '.' or ',' as the decimal sign.
ParsedNumber cellNumber(const CsvField& cell, char decimal);

/// A cell's text without blanks at both ends.
std::string cellText(const CsvField& cell);

/// True for what stands for a missing value: an empty cell and "?" in every column; among numbers also NA,
/// N/A, NaN, null, none, "-" and "." in upper or lower case.
bool isMissing(const CsvField& cell, ColumnKind kind);

} // namespace lockstep
