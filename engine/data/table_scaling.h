// The scale on which a network sees the numbers of a table.
#pragma once

#include "engine/net/dataset.h"
#include "engine/net/table_schema.h"

namespace lockstep {

/// Scales a data set from parseCsvDataset() and fills in its missing numbers, by the mean and deviation of
/// the training rows; Dataset::table says what was done.
///   wanted   automatic: pixels for at least 16 columns (4 if they are called pixel0, 1x1, ...) of whole
///            numbers from 0 to 255, where their number is a square or thrice a square and one exceeds 127;
///            none if no number exceeds 1 and one exceeds 0.1; else standard.
///            Values to predict (regression) are standardised unless all lie from -1 to 1, or `wanted` is
///            none or pixels.
///   model    of a trained network, which decides instead; null while training
/// Inputs of words stay 0 and 1. A column whose numbers are all equal becomes 0.
/// Throws std::runtime_error if pixels are wanted and a number is not whole or outside 0 to 255.
void scaleInputs(Dataset& data, InputScale wanted, const TableSchema* model);

/// A network's output as the table's value: undoes the scaling of the target with that number.
float unscaledTarget(const Dataset& data, std::size_t output, float value);

/// Columns whose numbers leave the range of the model's table by more than that range, for people: "'income'
/// reaches 255 in line 3; the model was trained on 0 to 1". At most three, then how many more.
std::vector<std::string> strangeRanges(const TableSchema& table, const TableSchema& model);

} // namespace lockstep
