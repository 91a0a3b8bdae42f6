// The exhibits, in the order of the list in the window: one line each. An exhibit defines its make function,
// std::unique_ptr<Exhibit> makeRace() for example, in its own folder.
#include "demos/kit/exhibit.h"

#include <nlohmann/json.hpp>

#define LOCKSTEP_EXHIBITS(EXHIBIT)                                                                           \
    EXHIBIT(Race)                                                                                            \
    EXHIBIT(Playground)                                                                                      \
    EXHIBIT(Inside)                                                                                          \
    EXHIBIT(Ladder)                                                                                          \
    EXHIBIT(Mosaic)                                                                                          \
    EXHIBIT(Map)                                                                                             \
    EXHIBIT(Parallelism)

namespace lockstep::demos {

#define LOCKSTEP_DECLARE(name) std::unique_ptr<Exhibit> make##name();
LOCKSTEP_EXHIBITS(LOCKSTEP_DECLARE)

std::vector<std::unique_ptr<Exhibit>> makeExhibits() {
    std::vector<std::unique_ptr<Exhibit>> exhibits;
#define LOCKSTEP_ADD(name) exhibits.push_back(make##name());
    LOCKSTEP_EXHIBITS(LOCKSTEP_ADD)
    return exhibits;
}

nlohmann::ordered_json Exhibit::lastState() const { return state(); }

// An id is the make function's name without "make", in lower case.
std::string exhibitIds() {
    std::string ids;
#define LOCKSTEP_NAME(name) ids += std::string(ids.empty() ? "" : ", ") + #name;
    LOCKSTEP_EXHIBITS(LOCKSTEP_NAME)
    for (char& letter : ids)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return ids;
}

} // namespace lockstep::demos
