// Data sets in memory, as files and generators produce them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/net/net_shape.h"
#include "engine/net/table_schema.h"

namespace lockstep {

/// A part of a data set: the examples to learn from, or those that only measure.
enum class Split : std::uint32_t { train, test };

/// One split. Exactly one of `pixels` and `values` is filled, and exactly one of `labels` and `targets`.
struct Examples {
    std::size_t count = 0;
    std::vector<std::uint8_t> pixels;      ///< [count][inputs]; the network sees pixel * (1 / 255)
    std::vector<float> values;             ///< [count][inputs]
    std::vector<std::uint32_t> labels;     ///< [count], class numbers below Dataset::classes
    std::vector<float> targets;            ///< [count][targetWidth], regression
    std::vector<std::uint32_t> lines = {}; ///< [count] of the table, counted from 1; empty for other sources
};

struct Dataset {
    std::string name;            ///< as results show it: "fashion-mnist", "spiral", "csv:flowers.csv"
    std::size_t inputs = 0;      ///< numbers per example
    std::size_t classes = 0;     ///< 0: regression
    std::size_t targetWidth = 1; ///< values per target in regression; 1 for classes
    std::size_t imageWidth = 0;  ///< for images: width * height = inputs; else 0
    std::size_t imageHeight = 0;
    std::vector<std::string> classNames; ///< `classes` names
    std::vector<std::string> inputNames; ///< empty, or `inputs` names (CSV header; "Sex=male" for words)
    Examples train;
    Examples test;
    std::optional<TableSchema> table = {}; ///< how the table was understood; none for other sources
    /// The table's columns to predict, in the order of the outputs and with the scale of their values. Where
    /// the table has none, those of the table that the model was trained on.
    std::vector<TableColumn> targetColumns = {};
    /// Rows to predict for that have no label known to the model; their labels and targets mean nothing.
    std::optional<Split> unlabelled = {};
    std::vector<std::string> notes = {}; ///< what was guessed or converted while reading, for people

    const Examples& of(Split split) const { return split == Split::train ? train : test; }
    bool bytes() const { return !train.pixels.empty(); } ///< pixels rather than values
};

/// Examples [first, first + rows) of a split as the network sees them: [rows][inputs].
std::vector<float> inputsOf(const Dataset& data, Split split, std::size_t first, std::size_t rows);

/// What `outputs` makes of them, some thousand rows at a time: never more of the split as floats.
std::vector<float> inChunks(const Dataset& data, Split split, std::size_t first, std::size_t rows,
                            const std::function<std::vector<float>(std::span<const float>)>& outputs);

/// The outputs that a network for `data` with `loss` needs: one per class, but a single one for two classes
/// where the loss is not cross-entropy, and targetWidth in regression.
std::size_t outputsFor(const Dataset& data, Loss loss);

/// How labels become the values that the loss compares with (shared::target...). Throws std::invalid_argument
/// when shape, loss and data do not fit together (input widths, outputs against classes, cross-entropy on
/// regression data).
std::uint32_t targetKind(const Dataset& data, const NetShape& shape);

} // namespace lockstep
