// The split of a table that says it row by row, as `lockstep data --csv` writes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// The name of the column, which is the table's last.
inline constexpr std::string_view splitColumn = "split";

struct SplitTable {
    std::string text;       ///< the table without the column; all other fields keep their lines and numbers
    std::vector<bool> test; ///< of each row below the header: "test" rather than "train"
};

/// Takes the column `split` off a table. Nothing where the header does not end in it, or where a row says
/// something else than "train" or "test": it is then a column like any other.
///   name   the file, for messages
/// Throws as CsvReader, and std::runtime_error where no row says "train".
std::optional<SplitTable> takeSplitColumn(std::string_view text, std::string_view name);

} // namespace lockstep
