// A table (CSV) as a data set: one column is the target, all others are features.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/net/dataset.h"

namespace lockstep {

enum class CsvTarget {
    automatic, ///< classes when any target is text, or all are whole numbers from 0 to 99; else values
    classes,   ///< every distinct target is a class, at most 65,536
    values,    ///< regression; every target has to be a number
};

enum class CsvHeader {
    /// The first row is a header when `label` is one of its names, or when none of its features is a number.
    automatic,
    present,
    absent,
};

struct CsvOptions {
    /// The target's column: its name in the header, or its number from 1; empty: the last.
    std::string label = {};
    CsvTarget target = CsvTarget::automatic;
    CsvHeader header = CsvHeader::automatic;
    /// The classes of a trained network, in its order: labels are numbered by them. Empty: the file's
    /// classes.
    std::vector<std::string> classNames = {};
};

/// The table in `text`, every row a training example, with the columns' names where it has a header.
/// Features are finite decimal numbers, kept as float; a number in quotes is a number. Blanks around numbers,
/// names and classes do not count. Classes of text are numbered in the order of their bytes, classes of
/// numbers in the order of their values ("1" and "1.0" are one class, named "1"). There may be 1,000 classes,
/// so that a column of names or dates is not taken for classes by mistake; CsvTarget::classes lifts that to
/// 65,536.
///   name   the file, for messages and Dataset::name
/// Throws std::runtime_error "NAME:LINE:FIELD: reason" (both counted from 1; with the column's name) for an
/// empty cell, a feature that is no number, NaN or infinite, a label that is not among `classNames`, and rows
/// of different lengths; "NAME: reason" for a table without rows, with one column, or with one class; and
/// std::invalid_argument when no column is called `label`.
Dataset parseCsvDataset(std::string_view text, std::string_view name, const CsvOptions& options);

} // namespace lockstep
