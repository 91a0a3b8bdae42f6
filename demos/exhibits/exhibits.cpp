// The exhibits, in the order of the list in the window, and the caption of the group that each stands in: one
// line each, groups together. An exhibit defines its make function, std::unique_ptr<Exhibit> makeRace() for
// example, in its own folder.
#include "demos/kit/exhibit.h"

#include <utility>

#include <nlohmann/json.hpp>

#define LOCKSTEP_EXHIBITS(EXHIBIT)                                                                           \
    EXHIBIT(Race, "Train")                                                                                   \
    EXHIBIT(Playground, "Train")                                                                             \
    EXHIBIT(Inside, "Look inside")                                                                           \
    EXHIBIT(Ladder, "Look inside")                                                                           \
    EXHIBIT(Memory, "Look inside")                                                                           \
    EXHIBIT(Mosaic, "Many networks")                                                                         \
    EXHIBIT(Map, "Many networks")                                                                            \
    EXHIBIT(Parallelism, "Measure")                                                                          \
    EXHIBIT(Machine, "Measure")

namespace lockstep::demos {

#define LOCKSTEP_DECLARE(name, group) std::unique_ptr<Exhibit> make##name();
LOCKSTEP_EXHIBITS(LOCKSTEP_DECLARE)

std::vector<std::unique_ptr<Exhibit>> makeExhibits() {
    std::vector<std::unique_ptr<Exhibit>> exhibits;
#define LOCKSTEP_ADD(name, group) exhibits.push_back(make##name());
    LOCKSTEP_EXHIBITS(LOCKSTEP_ADD)
    return exhibits;
}

nlohmann::ordered_json Exhibit::lastState() const { return state(); }

namespace {

// An id is the make function's name without "make", in lower case.
std::string idOf(std::string_view name) {
    std::string id(name);
    for (char& letter : id)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return id;
}

} // namespace

std::string exhibitIds() {
    std::string ids;
#define LOCKSTEP_NAME(name, group) ids += (ids.empty() ? "" : ", ") + idOf(#name);
    LOCKSTEP_EXHIBITS(LOCKSTEP_NAME)
    return ids;
}

const char* groupOf(std::string_view id) {
    constexpr std::pair<std::string_view, const char*> groups[] = {
#define LOCKSTEP_GROUP(name, group) {#name, group},
        LOCKSTEP_EXHIBITS(LOCKSTEP_GROUP)};
    for (const auto& [name, group] : groups)
        if (idOf(name) == id) return group;
    return groups[0].second;
}

} // namespace lockstep::demos
