// Parts of a data set.
#pragma once

#include <vector>

#include "engine/net/dataset.h"

namespace lockstep {

/// Moves the chosen training examples into the (empty) test split. Both keep the source's order.
///   chosen   one per training example
void moveToTest(Dataset& data, const std::vector<bool>& chosen);

} // namespace lockstep
