#include "engine/data/csv_dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "engine/data/split.h"
#include "engine/data/table_layout.h"
#include "engine/files/file_bytes.h"

namespace lockstep {

namespace {

using Row = std::vector<CsvField>;

constexpr std::size_t mostClasses = 65536;
constexpr std::size_t mostUnaskedClasses = 1000;
constexpr std::size_t mostWords = 20; ///< of a feature
constexpr float missingNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float unknownWord = -1;

bool isSmallWholeNumber(double value) { return value >= 0 && value <= 99 && value == std::floor(value); }

// The words of a column of features, numbered in the order in which they come.
struct WordList {
    std::map<std::string, float> numbers;
    bool tooMany = false;
};

class TableReader {
  public:
    TableReader(const TableText& text, std::string_view name, const CsvOptions& options)
        : text_(text), name_(name), options_(options),
          layout_(inferLayout(text, name, options.table, options.model)), schema_(layout_.schema) {
        schema_.features = inModelOrder(ColumnRole::feature);
        if (layout_.hasTargets) schema_.targets = inModelOrder(ColumnRole::target);
        if (schema_.targets.empty() && !options.newRows)
            throw std::runtime_error(
                concat(name_, ": the table does not have the target that the model was trained with"));
        schema_.missing = options.table.missing;
        words_.resize(schema_.columns.size());
    }

    Dataset read() {
        readRows();
        requireWhole();
        Dataset data;
        data.name = name_;
        data.train.count = lines_.size();
        data.train.lines = std::move(lines_);
        fillTargets(data);
        encodeFeatures(data);
        data.notes = text_.notes();
        data.notes.insert(data.notes.end(), notes_.begin(), notes_.end());
        schema_.rows = data.train.count;
        data.table = std::move(schema_);
        if (options_.newRows && std::ranges::find(labelled_, false) != labelled_.end())
            separateUnlabelled(data);
        if (!options_.newRows && layout_.split) separateTest(data);
        return data;
    }

  private:
    // The columns of a role, in the order of the network's inputs or outputs.
    std::vector<std::size_t> inModelOrder(ColumnRole role) const {
        std::vector<std::size_t> own = schema_.of(role);
        if (!layout_.modelColumns.empty())
            std::ranges::sort(own, {}, [this](std::size_t column) { return layout_.modelColumns[column]; });
        return own;
    }

    // Throws std::runtime_error "FILE:LINE:FIELD: column 'NAME': reason".
    template <class... Reason>
    [[noreturn]] void throwAt(std::size_t column, const CsvField& cell, const Reason&... reason) const {
        const std::string& title = schema_.columns[column].name;
        throw std::runtime_error(concat(name_, ":", cell.line, ":", column + 1, ": ",
                                        title.empty() ? "" : concat("column ", quotedForMessage(title), ": "),
                                        reason...));
    }

    void readRows() {
        CsvReader reader(text_.text(), name_, schema_.separator, text_.firstLine());
        Row row;
        if (schema_.header) reader.next(row);
        values_.reserve(layout_.rows * schema_.features.size());
        lines_.reserve(layout_.rows);
        cells_.reserve(layout_.rows * schema_.targets.size());
        while (reader.next(row)) readRow(row);
    }

    void readRow(const Row& row) {
        const std::size_t before = values_.size();
        bool gap = false;
        for (const std::size_t column : schema_.features) {
            values_.push_back(feature(column, row[column]));
            if (!std::isnan(values_.back())) continue;
            gap = true;
            noteMissing(column, row[column]);
        }
        bool noTarget = schema_.targets.empty();
        for (const std::size_t column : schema_.targets)
            if (isMissing(row[column], schema_.columns[column].kind)) {
                noTarget = true;
                if (!options_.newRows) noteMissing(column, row[column]);
            }
        const bool incomplete = gap || (noTarget && !options_.newRows);
        rowsWithGaps_ += incomplete ? 1 : 0;
        const bool drop = schema_.missing == MissingCells::drop ? incomplete : noTarget && !options_.newRows;
        if (drop) {
            values_.resize(before);
            ++schema_.dropped;
            return;
        }
        lines_.push_back(static_cast<std::uint32_t>(row.front().line));
        labelled_.push_back(!noTarget);
        if (layout_.split) test_.push_back(isTest(row[*layout_.split]));
        for (const std::size_t column : schema_.targets) cells_.push_back(row[column]);
    }

    void noteMissing(std::size_t column, const CsvField& cell) {
        if (!firstGap_) firstGap_ = {column, cell};
    }

    float feature(std::size_t column, const CsvField& cell) {
        if (schema_.columns[column].kind == ColumnKind::words) return word(column, cell);
        const ParsedNumber number = cellNumber(cell, schema_.decimal);
        if (number.kind == NumberKind::finite) {
            noteRange(column, number.value, cell.line);
            return static_cast<float>(number.value);
        }
        if (isMissing(cell, ColumnKind::numbers)) return missingNumber;
        if (number.kind == NumberKind::notFinite)
            throwAt(column, cell, quotedForMessage(cell.raw),
                    " is not a finite number that a float can hold");
        throwAt(column, cell, quotedForMessage(cell.raw), " is not a number", whyNoNumber(cell));
    }

    const char* whyNoNumber(const CsvField& cell) const {
        if (!schema_.header && lines_.empty()) return "; is this row a header?";
        if (schema_.decimal == '.' && cellNumber(cell, ',').kind == NumberKind::finite)
            return "; is the comma a decimal sign (option --decimal comma)?";
        return "; this column is read as numbers (option --ignore leaves a column out)";
    }

    float word(std::size_t column, const CsvField& cell) {
        if (isMissing(cell, ColumnKind::words)) return missingNumber;
        WordList& list = words_[column];
        if (list.tooMany) return 0;
        std::string text = cellText(cell);
        if (options_.model != nullptr) {
            const auto& known = options_.model->columns[*layout_.modelColumns[column]].words;
            const auto found = std::ranges::find(known, text);
            if (found != known.end()) return static_cast<float>(found - known.begin());
            const bool another = list.numbers.emplace(text, 0).second;
            if (another && list.numbers.size() <= 3)
                notes_.push_back(concat("line ", cell.line, ": the model never saw ", quotedForMessage(text),
                                        " in ", schema_.title(column), "; it counts as none of the words"));
            else if (another && list.numbers.size() == 4)
                notes_.push_back(concat("line ", cell.line, ": the model never saw more words of ",
                                        schema_.title(column), ", which are not listed here"));
            return unknownWord;
        }
        const auto number = static_cast<float>(list.numbers.size());
        const auto found = list.numbers.emplace(std::move(text), number).first;
        list.tooMany = list.numbers.size() > mostWords;
        return found->second;
    }

    void noteRange(std::size_t index, double value, std::size_t line) {
        TableColumn& column = schema_.columns[index];
        if (column.leastLine == 0 || value < column.least) column.least = value, column.leastLine = line;
        if (column.mostLine == 0 || value > column.most) column.most = value, column.mostLine = line;
    }

    // What only all rows together can tell.
    void requireWhole() const {
        std::string names;
        std::string columns;
        for (const std::size_t column : schema_.features)
            if (words_[column].tooMany) {
                names += concat(names.empty() ? "" : ", ", schema_.title(column));
                const std::string& name = schema_.columns[column].name;
                columns +=
                    concat(columns.empty() ? "" : ",", name.empty() ? std::to_string(column + 1) : name);
            }
        if (!names.empty())
            throw std::runtime_error(concat(name_, ": ", names, " ",
                                            columns.find(',') == std::string::npos ? "has" : "have",
                                            " more than ", mostWords,
                                            " different words (names, dates?), too many for one input "
                                            "per word; leave them out with --ignore ",
                                            quotedColumns(columns)));
        if (firstGap_ && schema_.missing == MissingCells::error) throwGap();
        if (lines_.empty())
            throw std::runtime_error(concat(name_, ": none of the ", layout_.rows, " rows is complete",
                                            schema_.missing == MissingCells::mean
                                                ? ""
                                                : "; with --missing mean, missing numbers are filled in"));
    }

    static std::string quotedColumns(const std::string& columns) {
        return columns.find(' ') == std::string::npos ? columns : concat("\"", columns, "\"");
    }

    [[noreturn]] void throwGap() const {
        const auto& [column, cell] = *firstGap_;
        const std::string what = trimmed(cell.raw).empty()
                                     ? "the cell is empty"
                                     : concat(quotedForMessage(cell.raw), " stands for a missing value");
        throwAt(
            column, cell, what, " (", rowsWithGaps_, " of ", counted(layout_.rows, "row"),
            rowsWithGaps_ == 1 ? " has" : " have",
            " such cells); --missing drop leaves these rows out, --missing mean fills in the column's mean");
    }

    // -- targets

    void fillTargets(Dataset& data) {
        if (schema_.targets.empty()) return fillNone(data);
        if (layout_.oneHot) return fillOneHot(data);
        if (asValues()) return fillValues(data);
        if (!options_.classNames.empty()) {
            schema_.why.task = "the network's classes";
            fillKnownClasses(data);
        } else {
            fillFoundClasses(data);
        }
        data.classes = data.classNames.size();
        schema_.classes = true;
    }

    // New rows alone have no targets: the model says what they would be.
    void fillNone(Dataset& data) {
        const bool classes =
            options_.model != nullptr ? options_.model->classes : !options_.classNames.empty();
        data.classNames = classes ? options_.classNames : std::vector<std::string>();
        data.classes = data.classNames.size();
        schema_.classes = classes;
        if (classes) return data.train.labels.assign(data.train.count, 0);
        if (options_.model != nullptr) data.targetWidth = options_.model->of(ColumnRole::target).size();
        data.train.targets.assign(data.train.count * data.targetWidth, 0);
    }

    bool asValues() {
        if (options_.model != nullptr) {
            schema_.why.task = "as the model was trained";
            return !options_.model->classes;
        }
        if (options_.table.task != TableTask::automatic) schema_.why.task = "asked for";
        if (options_.table.task == TableTask::values) return true;
        if (!options_.classNames.empty()) return false;
        if (schema_.targets.size() > 1) {
            if (options_.table.task == TableTask::classes)
                throw std::invalid_argument(
                    concat(name_, ": the targets are classes only if each row has a single 1 in "
                                  "one of them; choose one column, or --task values"));
            schema_.why.task = "there are several";
            return true;
        }
        if (options_.table.task == TableTask::classes) return false;
        return !looksLikeClasses();
    }

    bool looksLikeClasses() {
        const std::size_t column = schema_.targets.front();
        if (schema_.columns[column].kind == ColumnKind::words) {
            schema_.why.task = "they are words";
            return true;
        }
        bool small = true;
        bool whole = true;
        std::map<double, std::size_t> distinct; // the first three
        for (const CsvField& cell : cells_) {
            const ParsedNumber number = cellNumber(cell, schema_.decimal);
            if (number.kind == NumberKind::text)
                throwAt(column, cell, "the target ", quotedForMessage(cell.raw),
                        " is not a number; most of this column are (--task classes takes all as classes)");
            if (number.kind == NumberKind::notFinite)
                throwAt(column, cell, "the target ", quotedForMessage(cell.raw),
                        " is not a finite number that a float can hold");
            small = small && isSmallWholeNumber(number.value);
            whole = whole && number.value == std::floor(number.value);
            if (distinct.size() < 3) ++distinct[number.value];
        }
        const bool two = whole && distinct.size() == 2 && cells_.size() >= 4;
        schema_.why.task = two     ? "they are two whole numbers"
                           : small ? "they are whole numbers from 0 to 99"
                                   : "they are numbers";
        return small || two;
    }

    void fillValues(Dataset& data) {
        schema_.classes = false;
        data.targetWidth = schema_.targets.size();
        data.train.targets.reserve(cells_.size());
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            const CsvField& cell = cells_[i];
            const std::size_t column = schema_.targets[i % schema_.targets.size()];
            const ParsedNumber number = cellNumber(cell, schema_.decimal);
            if (number.kind != NumberKind::finite && !labelled_[i / schema_.targets.size()]) {
                data.train.targets.push_back(0);
                continue;
            }
            if (number.kind != NumberKind::finite)
                throwAt(column, cell, "the target ", quotedForMessage(cell.raw),
                        " is not a finite number; regression needs numbers");
            noteRange(column, number.value, cell.line);
            data.train.targets.push_back(static_cast<float>(number.value));
        }
    }

    void fillOneHot(Dataset& data) {
        schema_.classes = true;
        schema_.why.task = "one-hot columns";
        const std::size_t width = schema_.targets.size();
        for (const std::size_t column : schema_.targets) {
            std::string name = schema_.columns[column].name;
            data.classNames.push_back(name.empty() ? concat("column ", column + 1) : name);
        }
        if (options_.classNames.size() == width) data.classNames = options_.classNames; // the model's
        for (std::size_t row = 0; row < data.train.count; ++row) {
            std::size_t ones = 0;
            std::uint32_t label = 0;
            for (std::size_t i = 0; i < width; ++i) {
                const CsvField& cell = cells_[row * width + i];
                const ParsedNumber number = cellNumber(cell, schema_.decimal);
                const bool one = number.kind == NumberKind::finite && number.value == 1;
                if (labelled_[row] && !one && (number.kind != NumberKind::finite || number.value != 0))
                    throwAt(schema_.targets[i], cell, quotedForMessage(cell.raw),
                            " is neither 0 nor 1, as one-hot targets are; "
                            "choose the target with --target");
                ones += one ? 1 : 0;
                if (one) label = static_cast<std::uint32_t>(i);
            }
            if (labelled_[row] && ones != 1)
                throwAt(schema_.targets.front(), cells_[row * width], "this row has ", ones,
                        " ones in its one-hot targets, not a single one; choose the target with --target");
            data.train.labels.push_back(label);
        }
        data.classes = width;
    }

    // The sorting key of a class: a number (and empty text), or a text (and the number 0).
    using ClassKey = std::pair<double, std::string>;

    ClassKey keyOf(const CsvField& cell, bool numbers) const {
        if (numbers) return {cellNumber(cell, schema_.decimal).value + 0.0, {}};
        return {0, cellText(cell)};
    }

    void fillFoundClasses(Dataset& data) {
        const std::size_t column = schema_.targets.front();
        const std::size_t most = options_.table.task == TableTask::classes ? mostClasses : mostUnaskedClasses;
        const bool numbers = std::ranges::all_of(cells_, [this](const CsvField& cell) {
            return cellNumber(cell, schema_.decimal).kind == NumberKind::finite;
        });
        std::map<ClassKey, std::uint32_t> classes;
        for (const CsvField& cell : cells_) {
            classes.emplace(keyOf(cell, numbers), 0);
            if (numbers) noteRange(column, keyOf(cell, true).first, cell.line);
            if (classes.size() > most)
                throwAt(column, cell, "more than ", most,
                        " distinct classes; is this the right target column? Choose another with --target");
        }
        if (classes.size() < 2)
            throw std::runtime_error(concat(name_, ": all ", cells_.size(), " rows have the class ",
                                            quotedForMessage(cells_.front().raw),
                                            "; classification needs at least two classes"));
        for (auto& [key, number] : classes) {
            number = static_cast<std::uint32_t>(data.classNames.size());
            data.classNames.push_back(numbers ? shortestText(key.first) : key.second);
        }
        for (const CsvField& cell : cells_) data.train.labels.push_back(classes.at(keyOf(cell, numbers)));
    }

    [[noreturn]] void throwUnknownLabel(const CsvField& cell) const {
        const std::vector<std::string>& classNames = options_.classNames;
        const std::vector<std::string_view> known(classNames.begin(), classNames.end());
        const std::string text = cellText(cell);
        const std::string_view nearest = nearestName(std::string_view(text).substr(0, 100), known);
        std::string listed(known.front());
        constexpr std::size_t most = 10;
        for (std::size_t i = 1; i < std::min(known.size(), most); ++i) listed += concat(", ", known[i]);
        throwAt(schema_.targets.front(), cell, "the label ", quotedForMessage(text), " is not one of the ",
                known.size(), " known classes (", listed, known.size() > most ? ", ...)" : ")",
                nearest.empty() ? "" : concat("; did you mean '", nearest, "'?"));
    }

    void fillKnownClasses(Dataset& data) {
        std::map<std::string, std::uint32_t> classes;
        for (const std::string& className : options_.classNames)
            classes.emplace(className, static_cast<std::uint32_t>(classes.size()));
        if (classes.size() != options_.classNames.size())
            throw std::invalid_argument("two of the known classes have the same name");
        std::map<std::string, std::size_t> strange;
        for (std::size_t row = 0; row < cells_.size(); ++row) {
            const CsvField& cell = cells_[row];
            auto found = classes.find(cellText(cell));
            if (const ParsedNumber number = cellNumber(cell, schema_.decimal);
                found == classes.end() && number.kind == NumberKind::finite)
                found = classes.find(shortestText(number.value));
            if (found == classes.end() && !options_.newRows) throwUnknownLabel(cell);
            if (found == classes.end() && labelled_[row]) {
                ++strange[cellText(cell)];
                labelled_[row] = false;
            }
            data.train.labels.push_back(found == classes.end() ? 0 : found->second);
        }
        std::size_t rows = 0;
        for (const auto& [label, count] : strange) rows += count;
        if (rows > 0)
            notes_.push_back(
                concat(counted(rows, "row"), rows == 1 ? " has a label" : " have labels",
                       " that the model does not know (", quotedForMessage(strange.begin()->first),
                       strange.size() > 1 ? ", ..." : "", "); they are predicted but not scored"));
        data.classNames = options_.classNames;
    }

    // -- features

    // The order of a column's words, by their bytes: for each number in the order of the rows, its place.
    std::vector<float> sortWords(std::size_t column) {
        std::vector<float> places(words_[column].numbers.size());
        for (const auto& [text, number] : words_[column].numbers) { // sorted by their text
            places[static_cast<std::size_t>(number)] =
                static_cast<float>(schema_.columns[column].words.size());
            schema_.columns[column].words.push_back(text);
        }
        return places;
    }

    void encodeFeatures(Dataset& data) {
        const bool words = std::ranges::any_of(schema_.features, [this](std::size_t column) {
            return schema_.columns[column].kind == ColumnKind::words;
        });
        std::vector<std::vector<float>> places(schema_.columns.size());
        for (const std::size_t column : schema_.features) {
            if (schema_.columns[column].kind == ColumnKind::words) {
                if (options_.model == nullptr)
                    places[column] = sortWords(column);
                else
                    schema_.columns[column].words =
                        options_.model->columns[*layout_.modelColumns[column]].words;
            }
            data.inputs += schema_.columns[column].inputs();
        }
        nameInputs(data, words);
        if (!words) {
            data.train.values = std::move(values_);
            return;
        }
        data.train.values.reserve(data.train.count * data.inputs);
        for (std::size_t row = 0; row < data.train.count; ++row)
            for (std::size_t i = 0; i < schema_.features.size(); ++i)
                encode(data.train.values, schema_.features[i], values_[row * schema_.features.size() + i],
                       places[schema_.features[i]]);
    }

    void encode(std::vector<float>& values, std::size_t index, float value,
                const std::vector<float>& places) const {
        const TableColumn& column = schema_.columns[index];
        if (column.kind == ColumnKind::numbers) return values.push_back(value);
        const bool word = !std::isnan(value) && value != unknownWord;
        if (word && !places.empty()) value = places[static_cast<std::size_t>(value)];
        if (column.inputs() == 1) return values.push_back(word ? value : 0.5F);
        for (std::size_t i = 0; i < column.words.size(); ++i)
            values.push_back(word && value == static_cast<float>(i) ? 1.0F : 0.0F);
    }

    void nameInputs(Dataset& data, bool words) const {
        if (!schema_.header && !words) return;
        for (const std::size_t index : schema_.features) {
            const TableColumn& column = schema_.columns[index];
            const std::string name =
                column.name.empty() && words ? concat("column ", index + 1) : column.name;
            if (column.kind == ColumnKind::numbers)
                data.inputNames.push_back(name);
            else if (column.inputs() == 1)
                data.inputNames.push_back(concat(name, "=", column.words.back()));
            else
                for (const std::string& each : column.words)
                    data.inputNames.push_back(concat(name, "=", each));
        }
    }

    // -- a split that the table says row by row

    bool isTest(const CsvField& cell) const {
        const std::string text = cellText(cell);
        if (text == "train" || text == "test") return text == "test";
        throwAt(*layout_.split, cell, quotedForMessage(text),
                " is neither train nor test, as the rows before");
    }

    void separateTest(Dataset& data) const {
        if (std::ranges::count(test_, false) == 0)
            throw std::runtime_error(concat(name_, ": no row of the column 'split' says 'train'"));
        moveToTest(data, test_);
    }

    // -- new rows

    void separateUnlabelled(Dataset& data) const {
        if (std::ranges::find(labelled_, true) == labelled_.end()) {
            data.unlabelled = Split::train;
            return;
        }
        std::vector<bool> without(labelled_);
        without.flip();
        moveToTest(data, without);
        data.unlabelled = Split::test;
    }

    struct Gap {
        std::size_t column;
        CsvField cell;
    };

    const TableText& text_;
    std::string_view name_;
    const CsvOptions& options_;
    TableLayout layout_;
    TableSchema& schema_;
    std::vector<float> values_;   // [rows][features]; for words their numbers
    std::vector<CsvField> cells_; // [rows][targets]
    std::vector<std::uint32_t> lines_;
    std::vector<bool> labelled_;  // whether the model knows the row's target
    std::vector<bool> test_;      // whether the row says that it is for testing
    std::vector<WordList> words_; // by column
    std::vector<std::string> notes_;
    std::optional<Gap> firstGap_;
    std::size_t rowsWithGaps_ = 0;
};

} // namespace

Dataset parseCsvDataset(std::string_view file, std::string_view name, const CsvOptions& options) {
    const TableText text(std::as_bytes(std::span(file)), name);
    return TableReader(text, name, options).read();
}

} // namespace lockstep
