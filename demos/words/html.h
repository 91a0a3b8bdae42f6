// What pages for a browser have in common.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::demos {

/// The text with the letters that mean something in HTML written out.
std::string htmlText(std::string_view text);
/// A whole page in the looks of this program's pages. `body` is HTML.
std::string htmlPage(std::string_view title, std::string_view body);

} // namespace lockstep::demos
