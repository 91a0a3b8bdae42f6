// Files of the window's state. They are JSON:
//   {"lockstep": 1, "title": "...", "about": "...", "task": "...", "answer": "...",
//    "exhibit": "race", "theme": "dark", "presenter": false, "zoom": 1.0, "animations": true,
//    "details": true, "hidden": ["Reset", "exhibit/map"],
//    "device": {"id": "3f0c9a5e...", "name": "..."}, "exhibits": {"race": {...}, ...}}
// "speed" (steps per second; 0: flat out; of the exhibit) and "speeds" (of others, by their ids) are there
// when a person has chosen them; so are "language", and "details", when a person has opened or closed these.
// "device" is there when it is not the best one. If that device is missing, the window says so and stays
// where it is. Every field but "lockstep" may be missing: then it stays as it is, but the texts of another
// state go.
#pragma once

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lockstep::demos {

inline constexpr int stateVersion = 1;

/// The field of a state; `otherwise` where it is missing. Throws std::invalid_argument naming it.
template <class T> T stateField(const nlohmann::ordered_json& json, const char* name, T otherwise) {
    const auto found = json.find(name);
    if (found == json.end()) return otherwise;
    try {
        return found->get<T>();
    } catch (const nlohmann::json::exception&) {
        throw std::invalid_argument(fmt::format("the state's field '{}' has the wrong type", name));
    }
}

/// Throws std::invalid_argument unless it is a state in this program's format.
void checkVersion(const nlohmann::ordered_json& state);

/// Throws std::runtime_error naming file, place and reason.
nlohmann::ordered_json readStateFile(const std::filesystem::path& file);
/// Atomically. Throws std::runtime_error, also for what would be too large to be read again.
void writeStateFile(const std::filesystem::path& file, const nlohmann::ordered_json& state);

/// Where the state is kept between starts: $LOCKSTEP_STATE_FILE, or state.json in the folder of caches.
/// Empty: nowhere.
std::filesystem::path lastStateFile();
/// Where progress in lessons is kept, beside that state. Empty: nowhere.
std::filesystem::path lessonProgressFile();

} // namespace lockstep::demos
