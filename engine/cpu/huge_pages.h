// Large pages for large arrays: a shuffled batch touches pages all over the data set, and with pages of 4 KiB
// each of its rows costs a walk through the page tables, which takes longer than reading the row.
#pragma once

#include <cstddef>

namespace lockstep {

/// Asks the system to back [data, data + bytes) with its large pages, now if it can and else when it finds
/// the time. The contents stay as they are, and nothing happens where the system has no such thing.
void preferHugePages(const void* data, std::size_t bytes);

} // namespace lockstep
