// The exhibits, in the order of the list in the window, the caption of the group that each stands in, and the
// exhibit whose entry in the list it shares, mostly its own: one line each, groups and entries together. An
// exhibit defines its make function, std::unique_ptr<Exhibit> makeRace() for example, in its own folder.
#include "demos/kit/exhibit.h"

#include <utility>

#include <nlohmann/json.hpp>

#define LOCKSTEP_EXHIBITS(EXHIBIT)                                                                           \
    EXHIBIT(Race, "Train", Race)                                                                             \
    EXHIBIT(Playground, "Train", Playground)                                                                 \
    EXHIBIT(Inside, "Look inside", Inside)                                                                   \
    EXHIBIT(Ladder, "Look inside", Ladder)                                                                   \
    EXHIBIT(Memory, "Look inside", Memory)                                                                   \
    EXHIBIT(Precision, "Look inside", Memory)                                                                \
    EXHIBIT(Mosaic, "Many networks", Mosaic)                                                                 \
    EXHIBIT(Map, "Many networks", Map)                                                                       \
    EXHIBIT(Devices, "Measure", Devices)                                                                     \
    EXHIBIT(Parallelism, "Measure", Parallelism)                                                             \
    EXHIBIT(Machine, "Measure", Machine)

namespace lockstep::demos {

#define LOCKSTEP_DECLARE(name, group, entry) std::unique_ptr<Exhibit> make##name();
LOCKSTEP_EXHIBITS(LOCKSTEP_DECLARE)

std::vector<std::unique_ptr<Exhibit>> makeExhibits() {
    std::vector<std::unique_ptr<Exhibit>> exhibits;
#define LOCKSTEP_ADD(name, group, entry) exhibits.push_back(make##name());
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
#define LOCKSTEP_NAME(name, group, entry) ids += (ids.empty() ? "" : ", ") + idOf(#name);
    LOCKSTEP_EXHIBITS(LOCKSTEP_NAME)
    return ids;
}

const char* groupOf(std::string_view id) {
    constexpr std::pair<std::string_view, const char*> groups[] = {
#define LOCKSTEP_GROUP(name, group, entry) {#name, group},
        LOCKSTEP_EXHIBITS(LOCKSTEP_GROUP)};
    for (const auto& [name, group] : groups)
        if (idOf(name) == id) return group;
    return groups[0].second;
}

std::string entryOf(std::string_view id) {
    constexpr std::pair<std::string_view, std::string_view> entries[] = {
#define LOCKSTEP_ENTRY(name, group, entry) {#name, #entry},
        LOCKSTEP_EXHIBITS(LOCKSTEP_ENTRY)};
    for (const auto& [name, entry] : entries)
        if (idOf(name) == id) return idOf(entry);
    return std::string(id);
}

} // namespace lockstep::demos
