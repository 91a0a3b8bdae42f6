#include "engine/data/table_layout.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "engine/files/file_bytes.h"

namespace lockstep {

namespace {

using Row = std::vector<CsvField>;

constexpr std::size_t sampledRows = 1000;
constexpr std::size_t fewestSampledRows = 20; ///< however many cells they have
constexpr std::size_t sampledCells = std::size_t{1} << 19;
constexpr std::size_t separatorRows = 50; ///< that decide what separates fields
constexpr std::size_t fewClasses = 20;
constexpr std::size_t fewestRowNumbers = 20; ///< without a header that says so

constexpr const char* asked = "asked for";

// What a first column called so holds, if its numbers are whole and distinct.
constexpr std::array<std::string_view, 12> identifierNames = {"id",    "index",  "idx",        "row",
                                                              "rowid", "row_id", "rownames",   "no",
                                                              "nr",    "number", "unnamed: 0", "passengerid"};
// Names of targets: the first ones wherever they stand, the others only in the first or the last column, for
// features are called so, too.
constexpr std::array<std::string_view, 8> targetNames = {"label",   "labels",  "class",    "target",
                                                         "species", "outcome", "survived", "diagnosis"};
constexpr std::array<std::string_view, 7> likelyTargetNames = {"y",    "output",  "category", "response",
                                                               "kind", "quality", "digit"};

std::string lowerCase(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return lower;
}

template <class Names> bool isOneOf(std::string_view name, const Names& names) {
    return std::ranges::find(names, lowerCase(name)) != names.end();
}

// What a column of the sample holds. Row numbers, classes and kinds all read it.
struct ColumnLook {
    std::size_t numbers = 0;
    std::size_t words = 0;
    std::size_t missing = 0; ///< empty cells and those that stand for a missing number
    bool whole = true;       ///< all numbers
    bool inOrder = true;     ///< n, n + 1, n + 2, ... with n = 0 or 1
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    std::set<std::string> distinct; ///< cells, up to `mostDistinct`

    // One odd cell does not turn numbers into words.
    ColumnKind kind() const { return words > numbers ? ColumnKind::words : ColumnKind::numbers; }
    bool empty() const { return numbers + words == 0; }
    bool smallWhole() const { return numbers > 0 && whole && least >= 0 && most <= 99; }
};

constexpr std::size_t mostDistinct = std::size_t{1} << 20;

void look(ColumnLook& column, const CsvField& cell, char decimal) {
    if (isMissing(cell, ColumnKind::numbers)) {
        ++column.missing;
        column.inOrder = false;
        return;
    }
    const ParsedNumber number = cellNumber(cell, decimal);
    if (number.kind == NumberKind::text) {
        ++column.words;
        column.inOrder = false;
    } else {
        const double value = number.value;
        if (column.numbers == 0 && value != 0 && value != 1) column.inOrder = false;
        if (column.numbers > 0 && value != column.most + 1) column.inOrder = false;
        ++column.numbers;
        column.whole = column.whole && value == std::floor(value) && number.kind == NumberKind::finite;
        column.least = std::min(column.least, value);
        column.most = std::max(column.most, value);
    }
    if (column.distinct.size() < mostDistinct) column.distinct.insert(cellText(cell));
}

std::vector<Row> firstRows(const TableText& text, std::string_view name, char separator, std::size_t most) {
    CsvReader reader(text.text(), name, separator, text.firstLine());
    std::vector<Row> rows;
    std::size_t cells = 0;
    for (Row row; rows.size() < most && reader.next(row);) {
        rows.push_back(row);
        cells += row.size();
        if (cells > sampledCells && rows.size() >= fewestSampledRows) break;
    }
    return rows;
}

char separatorOf(TableSeparator separator) {
    switch (separator) {
    case TableSeparator::semicolon: return ';';
    case TableSeparator::tab: return '\t';
    case TableSeparator::pipe: return '|';
    case TableSeparator::blanks: return ' ';
    case TableSeparator::comma: return ',';
    default: throw std::logic_error("a separator that is not known yet");
    }
}

// How well a separator explains the first rows; larger is better.
struct SeparatorFit {
    bool even = false;  ///< all rows have the same number of fields, two or more
    double numbers = 0; ///< the share of cells that are numbers, below the first row
    std::size_t columns = 0;
    auto operator<=>(const SeparatorFit&) const = default;
};

SeparatorFit fitOf(const TableText& text, std::string_view name, char separator) {
    std::vector<Row> rows;
    try {
        rows = firstRows(text, name, separator, separatorRows);
    } catch (const std::exception&) { // quotation marks in the wrong places
        return {};
    }
    if (rows.empty()) return {};
    const std::size_t columns = rows.back().size();
    SeparatorFit fit{columns >= 2, 0, columns};
    std::size_t numbers = 0;
    std::size_t cells = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool rowNames = i == 0 && rows[i].size() + 1 == columns;
        fit.even = fit.even && (rows[i].size() == columns || rowNames);
        if (i == 0 && rows.size() > 1) continue;
        for (const CsvField& cell : rows[i]) {
            ++cells;
            if (cellNumber(cell, '.').kind != NumberKind::text ||
                (separator != ',' && cellNumber(cell, ',').kind != NumberKind::text))
                ++numbers;
        }
    }
    fit.numbers = static_cast<double>(numbers) / static_cast<double>(cells);
    return fit;
}

void inferSeparator(TableSchema& schema, const TableText& text, std::string_view name,
                    const TableOptions& options) {
    if (options.separator != TableSeparator::automatic) {
        schema.separator = separatorOf(options.separator);
        schema.why.separator = asked;
        return;
    }
    if (text.separator() != 0) {
        schema.separator = text.separator();
        schema.why.separator = "the line sep=";
        return;
    }
    schema.separator = ',';
    SeparatorFit best = fitOf(text, name, ',');
    for (const char separator : {';', '\t', '|'})
        if (const SeparatorFit fit = fitOf(text, name, separator); fit.even && fit > best) {
            best = fit;
            schema.separator = separator;
        }
    // Blanks stand in texts, too.
    if (const SeparatorFit fit = fitOf(text, name, ' ');
        fit.even && (!best.even || fit.numbers > best.numbers))
        schema.separator = ' ';
    const bool even = best.even || schema.separator == ' ';
    schema.why.separator = even ? "it divides the rows evenly" : "usual";
}

// 1,234 may be a thousand and more.
bool mayBeThousands(std::string_view number) {
    const std::size_t comma = number.find(',');
    const std::string_view before = number.substr(number.starts_with('-') ? 1 : 0);
    return number.size() - comma == 4 && !before.starts_with('0');
}

void inferDecimal(TableSchema& schema, const std::vector<Row>& rows, std::string_view name,
                  const TableOptions& options) {
    schema.decimal = options.decimal == TableDecimal::comma ? ',' : '.';
    schema.why.decimal = asked;
    if (options.decimal != TableDecimal::automatic) return;
    std::size_t points = 0;
    std::size_t commas = 0;
    std::size_t certain = 0; // commas that no thousands have
    const CsvField* example = nullptr;
    for (const Row& row : rows)
        for (const CsvField& cell : row) {
            const std::string_view text = trimmed(cell.raw);
            if (cellNumber(cell, '.').kind == NumberKind::finite) {
                points += text.find('.') != std::string_view::npos ? 1 : 0;
            } else if (cellNumber(cell, ',').kind == NumberKind::finite) {
                ++commas;
                certain += mayBeThousands(text) ? 0 : 1;
                example = &cell;
            }
        }
    // Programs write semicolons where the comma is the decimal sign; beside other separators it may be
    // either.
    const bool open = points == 0 && commas > 0 && certain == 0 && schema.separator != ';';
    if (open && schema.separator != ',')
        throw std::runtime_error(
            concat(name, ":", example->line, ": the comma of ", quotedForMessage(trimmed(example->raw)),
                   " may be a decimal sign or separate thousands; say --decimal comma, or "
                   "write the thousands without it"));
    const bool comma = points == 0 && commas > 0 && !open;
    schema.decimal = comma ? ',' : '.';
    schema.why.decimal = comma ? "numbers have commas and none has a point" : "usual";
}

// What the header's rule may see: the first row, and each column below it.
struct HeaderView {
    const Row& first;
    const std::vector<ColumnLook>& below;
    char decimal;

    bool isNumber(std::size_t column) const {
        return cellNumber(first[column], decimal).kind != NumberKind::text;
    }
    bool isEmpty(std::size_t column) const { return trimmed(first[column].raw).empty(); }
};

// The reason why the first row is a header; empty if it is none.
std::string headerReason(const HeaderView& view) {
    const std::size_t columns = std::min(view.first.size(), view.below.size());
    if (columns < view.below.size()) return "it has one name less than the rows have cells";
    std::size_t overNumbers[3] = {0, 0, 0}; // words, numbers, nothing over a column of numbers
    std::size_t wordColumns = 0;
    bool newWords = true; // over columns of words, none comes again below
    bool ordered = true;  // the first row's numbers follow each other
    bool anyNumber = false;
    bool targetName = false; // one of the first row's words is what targets are called
    double last = -1;
    for (std::size_t column = 0; column < columns; ++column) {
        const ColumnLook& below = view.below[column];
        const bool number = view.isNumber(column);
        const std::string word = cellText(view.first[column]);
        anyNumber = anyNumber || number;
        targetName = targetName || (!below.distinct.contains(word) &&
                                    (isOneOf(word, targetNames) || isOneOf(word, likelyTargetNames)));
        if (number) {
            const double value = cellNumber(view.first[column], view.decimal).value;
            ordered = ordered && (last < 0 ? value == 0 || value == 1 : value == last + 1);
            last = value;
        }
        if (below.kind() == ColumnKind::words) {
            ++wordColumns;
            newWords = newWords && !number && !view.isEmpty(column) && !below.distinct.contains(word) &&
                       below.distinct.size() < below.words;
        } else if (below.numbers > 0 && below.words == 0 &&
                   !(view.isEmpty(column) && column + 1 == columns)) {
            const bool missing = !view.isEmpty(column) && isMissing(view.first[column], ColumnKind::numbers);
            if (!missing) ++overNumbers[view.isEmpty(column) ? 2 : number ? 1 : 0];
        }
    }
    const auto [words, numbers, empty] = overNumbers;
    if (words > 0 && words >= numbers) return "words stand over columns of numbers";
    if (empty > 0 && view.isEmpty(0) && view.below[0].inOrder && ordered)
        return "its first cell is empty over row numbers";
    if (numbers >= 3 && ordered && wordColumns > 0 && newWords) return "its numbers count the columns";
    if (numbers > 0 && targetName && wordColumns > 0 && newWords) // years, wavelengths
        return "one of its words is a usual name of targets and does not come again below";
    if (numbers + words + empty == 0 && wordColumns > 0 && newWords)
        return "its words do not come again below";
    if (targetName && !anyNumber) return "one of its words is a usual name of targets";
    return {};
}

// A table that is a header alone has no number in it.
bool allWords(const Row& row) {
    return std::ranges::all_of(row, [](const CsvField& cell) {
        return cellNumber(cell, '.').kind == NumberKind::text &&
               cellNumber(cell, ',').kind == NumberKind::text;
    });
}

// The names in `list`, separated by commas; one name that has commas stays whole if a column is called so.
std::vector<std::string> splitNames(const std::string& list) {
    std::vector<std::string> names;
    std::size_t begin = 0;
    while (begin <= list.size()) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        names.emplace_back(trimmed(std::string_view(list).substr(begin, end - begin)));
        begin = end + 1;
    }
    return names;
}

// The index of the column that `number` counts from 1; `columns` if it is not such a number.
std::size_t columnByNumber(std::string_view text, std::size_t columns) {
    const ParsedNumber number = parseNumber(text);
    const bool valid = number.kind == NumberKind::finite && number.value == std::floor(number.value) &&
                       number.value >= 1 && number.value <= static_cast<double>(columns);
    return valid ? static_cast<std::size_t>(number.value) - 1 : columns;
}

class Inference {
  public:
    Inference(const TableText& text, std::string_view name, const TableOptions& options,
              const TableSchema* model)
        : text_(text), name_(name), options_(options), model_(model) {}

    TableLayout run() {
        inferSeparator(schema(), text_, name_, options_);
        sample_ = firstRows(text_, name_, schema().separator, sampledRows);
        if (sample_.empty()) throw std::runtime_error(concat(name_, ": the table has no rows"));
        inferDecimal(schema(), sample_, name_, options_);
        inferHeader();
        scan();
        if (model_ != nullptr) {
            followModel();
        } else {
            ignoreColumns();
            chooseTarget();
            requireColumns();
            requireNumbersAlike();
        }
        return std::move(layout_);
    }

  private:
    TableSchema& schema() { return layout_.schema; }
    std::vector<TableColumn>& columns() { return layout_.schema.columns; }

    std::vector<ColumnLook> looks(std::size_t from) const {
        std::vector<ColumnLook> found(width_);
        for (std::size_t row = from; row < sample_.size(); ++row)
            for (std::size_t column = 0; column < std::min(found.size(), sample_[row].size()); ++column)
                look(found[column], sample_[row][column], layout_.schema.decimal);
        return found;
    }

    bool namesInFirstRow(const std::string& list) const {
        if (list.empty() || list == "first" || list == "last") return false;
        const auto says = [this](std::string_view wanted) {
            return columnByNumber(wanted, sample_.front().size()) == sample_.front().size() &&
                   std::ranges::any_of(sample_.front(),
                                       [&](const CsvField& cell) { return cellText(cell) == wanted; });
        };
        return says(list) || std::ranges::any_of(splitNames(list), says);
    }

    void inferHeader() {
        const Row& first = sample_.front();
        // R writes names for the rows, but no name over them. A model that was trained on such a table
        // expects another; for any other model a cell more is a mistake, such as a decimal comma between
        // commas.
        const bool mayBeShort = model_ == nullptr || model_->columns.front().name.empty();
        const auto hasOneMore = [&](const Row& row) { return row.size() == first.size() + 1; };
        const bool oneLess = mayBeShort && sample_.size() > 1 && allWords(first) &&
                             std::all_of(sample_.begin() + 1, sample_.end(), hasOneMore);
        width_ = first.size() + (oneLess ? 1 : 0);
        std::string reason;
        if (options_.header == TableHeader::present) {
            reason = asked;
        } else if (options_.header == TableHeader::absent) {
            schema().why.header = asked;
        } else if (namesInFirstRow(options_.target)) {
            reason = "it has the target's name";
        } else if (model_ != nullptr && holdsModelNames()) {
            reason = "it has the names of the model's columns";
        } else if (sample_.size() == 1) {
            if (model_ == nullptr && allWords(first)) reason = "it has words alone";
        } else {
            reason = headerReason({first, looks(1), schema().decimal});
        }
        schema().header = !reason.empty();
        if (schema().why.header.empty())
            schema().why.header = reason.empty() ? "it looks like a row" : reason;
        columns().resize(width_);
        if (!schema().header) return;
        // A separator at the end of every row but the header's leaves the last column without a name.
        const bool atEnd = std::ranges::all_of(
            std::span(sample_).subspan(1), [](const Row& row) { return trimmed(row.back().raw).empty(); });
        layout_.headerShort = oneLess && !atEnd;
        const std::size_t shift = layout_.headerShort ? 1 : 0;
        for (std::size_t i = 0; i < first.size(); ++i) {
            std::string name = cellText(first[i]);
            const bool models =
                model_ != nullptr && std::ranges::count(model_->columns, name, &TableColumn::name) > 0;
            if (i == 0 && name.starts_with('#') && !models)
                name = std::string(trimmed(std::string_view(name).substr(1)));
            columns()[i + shift].name = name;
        }
        if (sample_.size() == 1)
            throw std::runtime_error(concat(name_, ": the table has a header but no rows"));
        sample_.erase(sample_.begin());
    }

    // Every row: the same number of cells, and which columns have any.
    void scan() {
        const std::size_t width = columns().size();
        CsvReader reader(text_.text(), name_, schema().separator, text_.firstLine());
        Row row;
        if (schema().header) reader.next(row);
        filled_.assign(width, false);
        while (reader.next(row)) {
            if (row.size() != width) throwUneven(row);
            ++layout_.rows;
            for (std::size_t column = 0; column < width; ++column)
                if (!filled_[column] && !trimmed(row[column].raw).empty()) filled_[column] = true;
            look(edges_[0], row.front(), schema().decimal);
            look(edges_[1], row.back(), schema().decimal);
        }
        // Names of rows differ.
        if (layout_.headerShort && edges_[0].distinct.size() < std::min(layout_.rows, mostDistinct))
            throw std::runtime_error(
                concat(name_, ": the header has ", counted(width - 1, "name"), ", every row ",
                       counted(width, "field"),
                       ", and the first does not name the rows, for it comes again; is a "
                       "comma a decimal sign?"));
        looks_ = looks(0);
        for (std::size_t column = 0; column < width; ++column) columns()[column].kind = looks_[column].kind();
    }

    // Numbers that only the other decimal sign makes numbers would be taken for words, silently.
    void requireNumbersAlike() const {
        const char other = layout_.schema.decimal == '.' ? ',' : '.';
        for (std::size_t column = 0; column < looks_.size(); ++column) {
            const TableColumn& each = layout_.schema.columns[column];
            if (each.role == ColumnRole::ignored || each.kind != ColumnKind::words) continue;
            if (each.role == ColumnRole::target && options_.task == TableTask::classes) continue;
            std::size_t numbers = 0;
            const CsvField* example = nullptr;
            for (const Row& row : sample_)
                if (column < row.size() && cellNumber(row[column], other).kind == NumberKind::finite) {
                    ++numbers;
                    example = &row[column];
                }
            if (2 * numbers <= looks_[column].words) continue;
            throw std::runtime_error(concat(
                name_, ":", example->line, ":", column + 1, ": ", layout_.schema.header ? "column " : "",
                layout_.schema.title(column), ": ", quotedForMessage(trimmed(example->raw)),
                " is a number only if its '", std::string(1, other), "' is the decimal sign; here it is '",
                std::string(1, layout_.schema.decimal), "' (", layout_.schema.why.decimal,
                "). Write all numbers alike, choose --decimal, or leave the column out "
                "with --ignore"));
        }
    }

    [[noreturn]] void throwUneven(const Row& row) const {
        throw std::runtime_error(
            concat(name_, ":", row.front().line, ": this row has ", counted(row.size(), "field"),
                   layout_.headerShort ? ", the row below the header " : ", the first row ", width_));
    }

    // -- a table to train on

    std::size_t columnNamed(const std::string& wanted, const char* what) const {
        const std::vector<TableColumn>& all = layout_.schema.columns;
        const auto called = [&wanted](const TableColumn& column) { return column.name == wanted; };
        const auto found = std::ranges::find_if(all, called);
        if (found != all.end()) {
            if (std::find_if(found + 1, all.end(), called) != all.end())
                throw std::runtime_error(concat(name_, ": two columns are called ", quotedForMessage(wanted),
                                                "; give the ", what, "'s number, from 1 to ", all.size()));
            return static_cast<std::size_t>(found - all.begin());
        }
        if (const std::size_t column = columnByNumber(wanted, all.size()); column < all.size()) return column;
        if (!layout_.schema.header)
            throw std::invalid_argument(concat(name_, " has no header, so there is no column ",
                                               quotedForMessage(wanted), "; give the ", what,
                                               "'s number, from 1 to ", all.size()));
        std::vector<std::string_view> known;
        known.reserve(all.size());
        for (const TableColumn& column : all) known.emplace_back(column.name);
        throwUnknownName("column of " + std::string(name_), wanted, known);
    }

    void ignore(std::size_t column, std::string why) {
        columns()[column].role = ColumnRole::ignored;
        columns()[column].why = std::move(why);
    }

    // The column `split`, if all that the sample says there is train or test.
    void findSplit() {
        const auto found = std::ranges::find(columns(), "split", &TableColumn::name);
        if (found == columns().end() || options_.target == "split") return;
        const auto isModels = [&](std::size_t target) { return model_->columns[target].name == "split"; };
        if (model_ != nullptr && std::ranges::any_of(model_->targets, isModels)) return;
        const auto column = static_cast<std::size_t>(found - columns().begin());
        const bool says = std::ranges::all_of(looks_[column].distinct, [](const std::string& word) {
            return word == "train" || word == "test";
        });
        if (says && !looks_[column].distinct.empty()) layout_.split = column;
    }

    void ignoreColumns() {
        findSplit();
        if (layout_.split) ignore(*layout_.split, "it says which rows are for testing");
        const bool nothing = options_.ignore == std::vector<std::string>{"none"};
        if (!nothing)
            for (const std::string& name : options_.ignore) {
                const std::size_t column = columnNamed(name, "column");
                if (layout_.split == column) layout_.split.reset();
                ignore(column, asked);
            }
        for (std::size_t column = 0; column < columns().size(); ++column)
            if (!filled_[column]) ignore(column, "it is empty in every row");
        if (!nothing && columns().front().role == ColumnRole::feature && options_.target != "first")
            if (std::string why = whyRowNames(); !why.empty()) ignore(0, std::move(why));
    }

    // Why the first column only numbers or names the rows; empty if it does not.
    std::string whyRowNames() const {
        const ColumnLook& first = edges_[0];
        const bool distinct = first.inOrder || first.distinct.size() == std::min(layout_.rows, mostDistinct);
        const bool whole = first.numbers == layout_.rows && first.whole;
        const std::string& name = layout_.schema.columns.front().name;
        if (layout_.headerShort) return "the header has no name for it: row names";
        if (layout_.schema.header && name.empty() && distinct && (whole || first.words == layout_.rows))
            return "it has no name and numbers or names the rows";
        if (isOneOf(name, identifierNames) && distinct && whole)
            return "its name and its distinct whole numbers: it numbers the rows";
        if (!layout_.schema.header && first.inOrder && layout_.rows >= fewestRowNumbers &&
            layout_.schema.columns.size() >= 4)
            return "it counts the rows";
        return {};
    }

    void target(std::size_t column, const std::string& why) {
        columns()[column].role = ColumnRole::target;
        columns()[column].why = why;
    }

    void chooseTarget() {
        const std::string& wanted = options_.target;
        if (wanted == "none") {
            layout_.hasTargets = false;
            return;
        }
        if (!wanted.empty()) {
            schema().why.target = asked;
            const auto named = [&](const std::string& name) {
                return std::ranges::any_of(columns(),
                                           [&](const TableColumn& each) { return each.name == name; });
            };
            std::vector<std::string> names{wanted};
            if (!named(wanted) && wanted.find(',') != std::string::npos) names = splitNames(wanted);
            for (const std::string& name : names) {
                if (!named(name) && (name == "first" || name == "last"))
                    target(name == "first" ? 0 : lastUsed(), asked);
                else
                    target(columnNamed(name, "target"), asked);
            }
            layout_.oneHot = names.size() > 1 && options_.task != TableTask::values &&
                             isOneHot(schema().of(ColumnRole::target));
            return;
        }
        const auto [found, why] = inferTarget();
        for (const std::size_t column : found) target(column, why);
        schema().why.target = why;
    }

    std::size_t lastUsed() const {
        std::size_t last = layout_.schema.columns.size();
        while (last > 1 && layout_.schema.columns[last - 1].role == ColumnRole::ignored) --last;
        return last - 1;
    }

    // In every row of the sample, exactly one of the columns is 1 and the others are 0.
    bool isOneHot(const std::vector<std::size_t>& group) const {
        return std::ranges::all_of(sample_, [&](const Row& row) {
            std::size_t ones = 0;
            for (const std::size_t column : group) {
                const ParsedNumber number = cellNumber(row[column], layout_.schema.decimal);
                if (number.kind != NumberKind::finite || (number.value != 0 && number.value != 1))
                    return false;
                ones += number.value == 1 ? 1 : 0;
            }
            return ones == 1;
        });
    }

    struct Choice {
        std::vector<std::size_t> columns;
        std::string why;
    };

    Choice inferTarget() {
        std::vector<std::size_t> used;
        for (std::size_t column = 0; column < columns().size(); ++column)
            if (columns()[column].role == ColumnRole::feature) used.push_back(column);
        if (used.empty()) return {};
        const std::size_t last = used.back();
        const std::size_t first = used.front();
        const auto named = [this](std::size_t column, const auto& names) {
            return isOneOf(columns()[column].name, names);
        };
        if (named(last, targetNames) || named(last, likelyTargetNames))
            return {{last}, "its name, and it is the last column"};
        // Not where one example of each class could pass for it by chance.
        for (std::size_t width = 2; width < used.size() && sample_.size() >= 2 * width; ++width) {
            const std::vector<std::size_t> group(used.end() - static_cast<std::ptrdiff_t>(width), used.end());
            if (!isOneHot(group)) continue;
            layout_.oneHot = true;
            return {group, "one-hot columns: each row has a single 1"};
        }
        std::vector<std::size_t> called;
        for (const std::size_t column : used)
            if (named(column, targetNames)) called.push_back(column);
        if (called.size() == 1) return {called, "its name"};
        if (named(first, targetNames) || named(first, likelyTargetNames))
            return {{first}, "its name, and it is the first column"};
        const bool edges = first == 0 && last + 1 == columns().size();
        if (!schema().header && edges && looksLikeClasses(edges_[0]) && !looksLikeClasses(edges_[1]) &&
            looks_[last].kind() == ColumnKind::numbers && !looks_[last].smallWhole())
            return {{first}, "the first column holds few classes, the last one does not"};
        return {{last}, "it is the last column"};
    }

    // A few words or small whole numbers, each in more than one row.
    bool looksLikeClasses(const ColumnLook& column) const {
        const std::size_t distinct = column.distinct.size();
        const bool kinds = column.kind() == ColumnKind::words || column.smallWhole();
        return kinds && distinct >= 2 && distinct <= fewClasses && 2 * distinct <= layout_.rows;
    }

    void requireColumns() {
        const bool targets = !layout_.hasTargets || !schema().of(ColumnRole::target).empty();
        if (!schema().of(ColumnRole::feature).empty() && targets) return;
        throw std::runtime_error(concat(name_,
                                        ": the table has only one column; it needs at least one feature "
                                        "and a target"));
    }

    // -- a table for a trained network

    bool holdsModelNames() const {
        const auto says = [this](const std::string& name) {
            return std::ranges::any_of(sample_.front(),
                                       [&](const CsvField& cell) { return cellText(cell) == name; });
        };
        bool any = false;
        for (const std::size_t column : model_->features) {
            if (model_->columns[column].name.empty() || !says(model_->columns[column].name)) return false;
            any = true;
        }
        return any;
    }

    void followModel() {
        for (TableColumn& column : columns()) column.role = ColumnRole::ignored;
        layout_.modelColumns.assign(columns().size(), std::nullopt);
        const std::vector<std::size_t> features = model_->features;
        const std::vector<std::size_t> targets = model_->targets;
        layout_.oneHot = model_->classes && targets.size() > 1;
        findSplit();
        if (schema().header && model_->header)
            byName(features, targets);
        else
            byPosition(features, targets);
    }

    void use(std::size_t own, std::size_t models, const char* why) {
        columns()[own].role = model_->columns[models].role;
        columns()[own].kind = model_->columns[models].kind;
        columns()[own].why = why;
        layout_.modelColumns[own] = models;
    }

    void byName(const std::vector<std::size_t>& features, const std::vector<std::size_t>& targets) {
        std::vector<bool> taken(columns().size(), false); // of columns with equal names, in turn
        const auto find = [&](std::size_t models) {
            std::size_t own = 0;
            while (own < columns().size() &&
                   (taken[own] || columns()[own].name != model_->columns[models].name))
                ++own;
            if (own < columns().size()) taken[own] = true;
            return own;
        };
        std::string missing;
        for (const std::size_t models : features) {
            const std::size_t own = find(models);
            if (own == columns().size())
                missing += concat(missing.empty() ? "" : ", ", model_->title(models));
            else
                use(own, models, "the model's column of that name");
        }
        if (!missing.empty()) {
            std::string has;
            for (const TableColumn& column : columns()) has += concat(has.empty() ? "" : ", ", column.name);
            throw std::runtime_error(concat(name_, ": the model needs the columns ", missing,
                                            ", which this table does not have (it has: ", has, ")"));
        }
        const std::size_t none = columns().size();
        const std::size_t wanted = targets.size() == 1 ? wantedTarget().value_or(none) : none;
        for (const std::size_t models : targets) {
            const std::size_t own = wanted < none && !taken[wanted] ? wanted : find(models);
            if (own == columns().size())
                layout_.hasTargets = false;
            else
                use(own, models, "the model's target");
        }
        if (!layout_.hasTargets)
            for (std::size_t own = 0; own < columns().size(); ++own)
                if (columns()[own].role == ColumnRole::target) columns()[own].role = ColumnRole::ignored;
    }

    // The column that the options name, where the table has it.
    std::optional<std::size_t> wantedTarget() const {
        const std::vector<TableColumn>& all = layout_.schema.columns;
        const std::string& wanted = options_.target;
        const auto found = std::ranges::find(all, wanted, &TableColumn::name);
        if (!wanted.empty() && found != all.end()) return static_cast<std::size_t>(found - all.begin());
        if (wanted == "first") return 0;
        if (wanted == "last") return lastUsed();
        const std::size_t number = columnByNumber(wanted, all.size());
        return number < all.size() ? std::optional(number) : std::nullopt;
    }

    // As many columns as the model's table had, or the same without the targets, or its features alone.
    void byPosition(const std::vector<std::size_t>& features, const std::vector<std::size_t>& targets) {
        const std::size_t width = columns().size();
        std::vector<std::size_t> models;
        if (width == model_->columns.size()) {
            for (std::size_t i = 0; i < width; ++i) models.push_back(i);
        } else if (width + targets.size() == model_->columns.size()) {
            // Or it has the targets, and lacks as many columns that the model does not read.
            const bool rowNumbers = model_->columns[0].role == ColumnRole::ignored && edges_[0].inOrder;
            if (width == features.size() + targets.size() && !rowNumbers)
                throw std::runtime_error(concat(
                    name_, ": the table has ", counted(width, "column"), ", the model was trained on ",
                    model_->columns.size(),
                    "; without a header it is not clear whether the targets are missing or columns that "
                    "the model does not read; give all columns, or the ",
                    features.size(), " that it reads"));
            for (std::size_t i = 0; i < model_->columns.size(); ++i)
                if (model_->columns[i].role != ColumnRole::target) models.push_back(i);
            layout_.hasTargets = false;
        } else if (width == features.size()) {
            models = features;
            layout_.hasTargets = false;
        } else {
            throw std::runtime_error(concat(name_, ": the table has ", counted(width, "column"),
                                            ", the model was trained on ", model_->columns.size(),
                                            ", of which it reads ", features.size()));
        }
        for (std::size_t own = 0; own < width; ++own)
            if (model_->columns[models[own]].role != ColumnRole::ignored)
                use(own, models[own], "the model's column at this place");
    }

    const TableText& text_;
    std::string_view name_;
    const TableOptions& options_;
    const TableSchema* model_;
    TableLayout layout_;
    std::size_t width_ = 0;         // cells in a row
    std::vector<Row> sample_;       // without the header, once it is known
    std::vector<ColumnLook> looks_; // of the sample
    ColumnLook edges_[2];           // the first and the last column, of all rows
    std::vector<bool> filled_;      // by column: whether any row has something there
};

} // namespace

ParsedNumber cellNumber(const CsvField& cell, char decimal) {
    const std::string_view text = trimmed(cell.raw);
    if (decimal == '.') return parseNumber(text);
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos)
        return text.find('.') == std::string_view::npos ? parseNumber(text) : ParsedNumber();
    constexpr std::size_t longest = 64;
    if (text.size() > longest || text.find_first_of(",.", comma + 1) != std::string_view::npos) return {};
    std::array<char, longest> copy{};
    std::ranges::copy(text, copy.begin());
    copy[comma] = '.';
    return parseNumber({copy.data(), text.size()});
}

std::string cellText(const CsvField& cell) { return std::string(trimmed(cell.text())); }

bool isMissing(const CsvField& cell, ColumnKind kind) {
    const std::string_view text = trimmed(cell.raw);
    if (text.empty() || text == "?") return true;
    if (kind == ColumnKind::words || text.size() > 4) return false;
    constexpr std::array<std::string_view, 7> words = {"na", "n/a", "nan", "null", "none", "-", "."};
    return isOneOf(text, words);
}

TableLayout inferLayout(const TableText& text, std::string_view name, const TableOptions& options,
                        const TableSchema* model) {
    return Inference(text, name, options, model).run();
}

} // namespace lockstep
