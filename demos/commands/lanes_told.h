// What commands that run lanes say before they run, and after.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "demos/kit/machines.h"
#include "demos/report/headline.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"

namespace lockstep::demos {

/// A remark on which lanes were chosen, a note where Vulkan runs in software, and what is going to be
/// trained.
inline void tellBefore(std::FILE* people, const LaneChoice& choice, bool software, const std::string& job) {
    if (!choice.remark.empty()) printTo(people, "{}\n", choice.remark);
    if (software) printTo(people, "note: Vulkan runs in software here, not on a GPU\n");
    printTo(people, "{}", job);
    flushText(people);
}

/// The table of results; of several lanes, also whether they computed the same, and which one was faster.
template <class Lane>
void tellAfter(std::FILE* people, const std::string& results, const std::vector<Lane>& lanes,
               const Headline& headline) {
    printTo(people, "{}", results);
    if (lanes.size() > 1) printTo(people, "\n{}{}\n", agreementText(lanes), wrapped(headline.text));
    flushText(people);
}

} // namespace lockstep::demos
