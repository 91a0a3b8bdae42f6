// Numbers as people type them: with a decimal point or a decimal comma.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::demos {

/// The text of one number with a decimal point and without what separates thousands, for any reader of
/// numbers; what follows the number ("85,5%") stays. A comma is the decimal sign ("0,5") unless it separates
/// thousands in the language spoken now ("60,000" in English). A text that is no such number comes back as it
/// is.
std::string withDecimalPoint(std::string_view text);

} // namespace lockstep::demos
