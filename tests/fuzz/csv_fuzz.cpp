// Any bytes as a table. The first byte chooses the options, the rest is the file.
#include <algorithm>
#include <cmath>

#include "engine/data/csv.h"
#include "engine/data/csv_dataset.h"
#include "engine/data/table_scaling.h"
#include "engine/files/file_bytes.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

namespace {

CsvOptions optionsFrom(std::uint8_t choice) {
    CsvOptions options;
    options.table.task = static_cast<TableTask>(choice % 3);
    options.table.header = static_cast<TableHeader>(choice / 3 % 3);
    options.table.missing = static_cast<MissingCells>(choice / 9 % 3);
    options.table.target = choice & 0x40 ? "b" : choice & 0x20 ? "2" : "";
    if (choice & 0x80) options.classNames = {"x", "y", "1"};
    return options;
}

void requireWhole(const Dataset& data) {
    const Examples& rows = data.train;
    fuzz::require(rows.count > 0 && rows.values.size() + rows.pixels.size() == rows.count * data.inputs,
                  "a value per cell");
    fuzz::require(
        std::all_of(rows.values.begin(), rows.values.end(), [](float v) { return std::isfinite(v); }),
        "finite values");
    fuzz::require((data.classes == 0 ? rows.targets.size() : rows.labels.size()) == rows.count,
                  "a target per row");
    fuzz::require(data.classNames.size() == data.classes, "a name per class");
    fuzz::require(data.inputNames.empty() || data.inputNames.size() == data.inputs, "a name per column");
    for (std::uint32_t label : rows.labels) fuzz::require(label < data.classes, "labels among the classes");
    for (float target : rows.targets) fuzz::require(std::isfinite(target), "finite targets");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text = asText(std::as_bytes(std::span(data + 1, size - 1)));
    const CsvOptions options = optionsFrom(data[0]);
    // A column that is not there is a wrong argument.
    const bool refusals = !options.table.target.empty();
    fuzz::expectDocumented(
        "t.csv",
        [&] {
            Dataset table = parseCsvDataset(text, "t.csv", options);
            const TableSchema model = *table.table;
            scaleInputs(table, InputScale::automatic, nullptr);
            requireWhole(table);
            // A model of this table reads it again, with or without the labels that it knows.
            CsvOptions again = options;
            again.classNames = table.classNames;
            again.model = &model;
            again.newRows = true;
            fuzz::require(parseCsvDataset(text, "t.csv", again).inputs == table.inputs, "the same inputs");
        },
        refusals);
    return 0;
}
