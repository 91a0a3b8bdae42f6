#include "demos/report/time_left.h"

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

std::string TimeLeft::text() const {
    return left_ ? translatedFormat("{} left", clockTime(*left_)) : std::string();
}

} // namespace lockstep::demos
