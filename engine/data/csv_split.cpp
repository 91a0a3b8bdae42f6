#include "engine/data/csv_split.h"

#include <algorithm>
#include <stdexcept>

#include "engine/data/csv.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

// Where the field and the comma before it begin, and where the field ends, in bytes of the text.
struct LastField {
    std::size_t begin = 0;
    std::size_t end = 0;
};

LastField placeOf(const CsvField& field, std::string_view text) {
    const auto begin = static_cast<std::size_t>(field.raw.data() - text.data());
    const std::size_t end = begin + field.raw.size();
    const bool quoted = text[begin - 1] == '"';
    return quoted ? LastField{begin - 2, end + 1} : LastField{begin - 1, end};
}

} // namespace

std::optional<SplitTable> takeSplitColumn(std::string_view text, std::string_view name) {
    CsvReader reader(text, name);
    std::vector<CsvField> row;
    if (!reader.next(row) || row.size() < 2 || row.back().text() != splitColumn) return std::nullopt;
    SplitTable table;
    std::size_t copied = 0;
    const auto copyWithoutLast = [&] {
        const LastField last = placeOf(row.back(), text);
        table.text += text.substr(copied, last.begin - copied);
        copied = last.end;
    };
    copyWithoutLast();
    while (reader.next(row)) {
        const std::string split = row.back().text();
        if (row.size() < 2 || (split != "train" && split != "test")) return std::nullopt;
        table.test.push_back(split == "test");
        copyWithoutLast();
    }
    table.text += text.substr(copied);
    if (!table.test.empty() && std::ranges::count(table.test, false) == 0)
        throw std::runtime_error(concat(name, ": no row of the column '", splitColumn, "' says 'train'"));
    return table;
}

} // namespace lockstep
