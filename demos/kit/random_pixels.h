// Data for measurements: what is timed does not depend on what it means.
#pragma once

#include <cstddef>

#include "engine/net/dataset.h"

namespace lockstep::demos {

/// `count` examples of random pixels and of all classes in turn, the same in every run.
Dataset randomPixels(std::size_t inputs, std::size_t classes, std::size_t count);

} // namespace lockstep::demos
