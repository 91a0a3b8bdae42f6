// How the columns of a table become a network's inputs and targets: a data set carries what was found in its
// table, and a model what it expects of the tables that it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/net/names.h"

namespace lockstep {

enum class ColumnRole { feature, target, ignored };

enum class ColumnKind {
    numbers,
    words, ///< as a feature: one input per word, 1 where the row has it; a single input for two words
};

/// What happens to the numbers of a table before the network sees them.
enum class InputScale {
    automatic, ///< pixels or none where they fit, else standard
    standard,  ///< (x - mean) / deviation of the training rows, column by column
    pixels,    ///< whole numbers from 0 to 255, divided by 255, as images from IDX files
    none,      ///< as they stand in the table
};

/// What happens to rows with an empty or missing cell.
enum class MissingCells {
    error, ///< the table is refused
    drop,  ///< the row is left out
    mean,  ///< a number becomes the mean of the training rows, a word none of the words; targets as with drop
};

inline constexpr NameOf<ColumnRole> columnRoles[] = {
    {ColumnRole::feature, "feature"}, {ColumnRole::target, "target"}, {ColumnRole::ignored, "ignored"}};
inline constexpr NameOf<ColumnKind> columnKinds[] = {{ColumnKind::numbers, "numbers"},
                                                     {ColumnKind::words, "words"}};
inline constexpr NameOf<InputScale> inputScales[] = {{InputScale::automatic, "automatic"},
                                                     {InputScale::standard, "standard"},
                                                     {InputScale::pixels, "pixels"},
                                                     {InputScale::none, "none"}};
inline constexpr NameOf<MissingCells> missingCells[] = {
    {MissingCells::error, "error"}, {MissingCells::drop, "drop"}, {MissingCells::mean, "mean"}};

struct TableColumn {
    std::string name = {}; ///< from the header; empty without one
    ColumnRole role = ColumnRole::feature;
    ColumnKind kind = ColumnKind::numbers;
    std::string why = {};                ///< why it is the target or ignored; empty for features
    std::vector<std::string> words = {}; ///< of a feature, in the order of its inputs
    double least = 0;                    ///< of its numbers in the whole table
    double most = 0;
    std::size_t mostLine = 0; ///< the line that holds `most`; 0: not known
    std::size_t leastLine = 0;
    double mean = 0; ///< of its numbers in the training rows
    double deviation = 1;
    bool scaled = false; ///< whether the network sees (x - mean) / deviation

    /// The number of inputs of a feature.
    std::size_t inputs() const { return kind == ColumnKind::numbers || words.size() == 2 ? 1 : words.size(); }
    bool operator==(const TableColumn&) const = default;
};

/// Why something was inferred, in a few words for people ("its name", "all its numbers are whole"); "asked
/// for" where an option decided.
struct TableReasons {
    std::string separator = {};
    std::string decimal = {};
    std::string header = {};
    std::string target = {};
    std::string task = {};
    std::string scale = {};
    bool operator==(const TableReasons&) const = default;
};

struct TableSchema {
    char separator = ','; ///< ' ': any run of blanks
    char decimal = '.';
    bool header = false;
    bool classes = true;                 ///< whether targets are classes, else values
    InputScale scale = InputScale::none; ///< as it took effect: never automatic
    MissingCells missing = MissingCells::error;
    std::vector<TableColumn> columns = {};  ///< in the table's order
    std::vector<std::size_t> features = {}; ///< indices of columns, in the order of the network's inputs
    std::vector<std::size_t> targets = {};  ///< likewise for its outputs
    TableReasons why = {};
    std::uint64_t rows = 0;    ///< that are used
    std::uint64_t dropped = 0; ///< rows left out for a missing cell
    std::uint64_t filled = 0;  ///< cells filled in

    /// The columns of that role, in the table's order.
    std::vector<std::size_t> of(ColumnRole role) const {
        std::vector<std::size_t> found;
        for (std::size_t column = 0; column < columns.size(); ++column)
            if (columns[column].role == role) found.push_back(column);
        return found;
    }
    /// "'width'", or "column 3" for a table without a header (counted from 1).
    std::string title(std::size_t column) const {
        const std::string& name = columns[column].name;
        return name.empty() ? concat("column ", column + 1) : concat("'", name, "'");
    }
    bool operator==(const TableSchema&) const = default;
};

} // namespace lockstep
