// Whether text is UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep {

/// Offset of the first byte that does not belong to a well-formed character (overlong forms, surrogates and
/// values above 10FFFF are none); std::string_view::npos when all do.
std::size_t findInvalidUtf8(std::string_view text);

} // namespace lockstep
