// The target column of a table: classes or values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/data/csv.h"
#include "engine/data/csv_dataset.h"
#include "engine/net/dataset.h"

namespace lockstep {

/// A cell of a table, for messages.
struct CsvPlace {
    std::string file;
    std::size_t line = 0;   ///< from 1
    std::size_t field = 0;  ///< from 1
    std::string columnName; ///< empty without a header
};

/// Throws std::runtime_error "FILE:LINE:FIELD: column 'NAME': reason".
[[noreturn]] void throwAtCell(const CsvPlace& place, const std::string& reason);

/// Sets classes, classNames, targetWidth and the labels or targets of data.train from one cell per row, by
/// the rules of net/csv_dataset.h, and throws as they say.
///   cells    at least one, none of them blank
///   column   the place of the column; each message takes its line from the cell
void fillTargets(Dataset& data, const std::vector<CsvField>& cells, const CsvPlace& column,
                 const CsvOptions& options);

} // namespace lockstep
