// A CSV table as a data set: one column is the target, all others are features.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/net/dataset.h"

namespace lockstep {

enum class CsvTarget {
    automatic, ///< classes if any target is text or all are whole numbers from 0 to 99; otherwise values
    classes,   ///< classification: every distinct target is a class; at most 65,536
    values,    ///< regression: every target must be a number
};

enum class CsvHeader {
    /// The first row is a header if `label` is one of its fields, or if none of its features is a number.
    automatic,
    present,
    absent,
};

struct CsvOptions {
    /// The target's column, by name or by number from 1. Empty: the last column.
    std::string label = {};
    CsvTarget target = CsvTarget::automatic;
    CsvHeader header = CsvHeader::automatic;
    /// The classes of a trained network, in its order; they number the labels. Empty: found in the file.
    std::vector<std::string> classNames = {};
};

/// Reads the table in `text`; every row becomes a training example. Features are finite decimal numbers,
/// stored as float; quoted numbers count as numbers. Blanks around numbers, names and classes are ignored.
/// Text classes are numbered in byte order, numeric classes by value ("1" and "1.0" are one class, named
/// "1"). At most 1,000 classes are accepted, so that a column of names or dates is not mistaken for classes;
/// CsvTarget::classes raises the limit to 65,536.
///   name   the file, for messages and Dataset::name
/// Throws std::runtime_error "NAME:LINE:FIELD: reason" (both counted from 1; with the column's name) for an
/// empty cell, a feature that is not a finite number, a label missing from `classNames`, and rows of
/// different lengths; "NAME: reason" for a table without rows, with one column, or with one class; and
/// std::invalid_argument if no column is called `label`.
Dataset parseCsvDataset(std::string_view text, std::string_view name, const CsvOptions& options);

} // namespace lockstep
