// A table as a data set: some columns are targets, some are left out, all others are features.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/data/table_options.h"
#include "engine/net/dataset.h"

namespace lockstep {

struct CsvOptions {
    TableOptions table = {};
    /// The classes of a trained network, in its order; they number the labels. Empty: found in the file.
    std::vector<std::string> classNames = {};
    /// What a network was trained with: columns are found and encoded as there. Null: a table to train on.
    const TableSchema* model = nullptr;
    /// Rows to predict for: targets may be missing, and labels unknown. Needs `model` or `classNames`.
    bool newRows = false;
};

/// Reads the table in `file` (table_text.h): every row becomes a training example, and Dataset::table says
/// how it was understood (table_layout.h). Numbers are decimal, stored as float; quoted numbers count as
/// numbers. Blanks around numbers, names and classes are ignored. A feature of at most 20 words becomes one
/// input per word. Text classes are numbered in byte order, numeric classes by value ("1" and "1.0" are one
/// class, named "1"). At most 1,000 classes are accepted, so that a column of names or dates is not mistaken
/// for classes; TableTask::classes raises the limit to 65,536. Numbers stand as in the table, NaN where
/// MissingCells::mean fills them in: call scaleInputs() (table_scaling.h) once the test split is chosen.
///   name   the file, for messages and Dataset::name
/// With `newRows`, rows without a label that the model knows come after the others, as the test split
/// (Dataset::unlabelled); all of them are the training split if no row has one.
/// Throws std::runtime_error "NAME:LINE:FIELD: reason" (both counted from 1; with the column's name) for a
/// missing cell unless the options say what to do, a feature that is not a finite number, a label missing
/// from `classNames`, and rows of different lengths; "NAME: reason" for a table without rows, with one
/// column, with one class, or with columns of too many words; and std::invalid_argument if the options name
/// no column.
Dataset parseCsvDataset(std::string_view file, std::string_view name, const CsvOptions& options);

} // namespace lockstep
