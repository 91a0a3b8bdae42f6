// How a table was understood, in words: what was inferred, why, and what was done to its numbers.
#pragma once

#include <string>
#include <vector>

#include "engine/net/dataset.h"

namespace lockstep::demos {

/// One sentence each: the target, the features and their scale, columns left out, how the file was read, and
/// the notes of the data set. For data that are not a table, its notes alone.
std::vector<std::string> understood(const Dataset& data);

/// The same as lines of at most 110 characters, the last with its line break; empty if there is nothing to
/// say.
std::string understoodText(const Dataset& data);

} // namespace lockstep::demos
