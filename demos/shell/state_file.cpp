#include "demos/shell/state_file.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "engine/files/atomic_file.h"
#include "engine/files/json_text.h"
#include "engine/tune/kernel_cache.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t largestState = 8u << 20; // as JSON in memory, it can be 25 times as much

bool isListOfNumbers(const ordered_json& json) {
    return json.is_array() && std::ranges::all_of(json, &ordered_json::is_number);
}

// As dump(2) writes it, but lists of numbers in one line: weights can be millions.
void append(std::string& text, const ordered_json& json, std::size_t indent) {
    if (json.is_primitive() || json.empty() || isListOfNumbers(json)) {
        text += json.dump();
        return;
    }
    text += json.is_object() ? '{' : '[';
    const char* separator = "\n";
    for (const auto& [key, value] : json.items()) {
        text += separator + std::string(indent + 2, ' ');
        if (json.is_object()) text += ordered_json(key).dump() + ": ";
        append(text, value, indent + 2);
        separator = ",\n";
    }
    text += '\n' + std::string(indent, ' ') + (json.is_object() ? '}' : ']');
}

} // namespace

void checkVersion(const ordered_json& state) {
    if (!state.is_object() || !state.contains("lockstep"))
        throw std::invalid_argument("not a Lockstep state file: the field 'lockstep' is missing");
    if (stateField(state, "lockstep", 0) != stateVersion)
        throw std::invalid_argument(
            fmt::format("this state file was written by another version of Lockstep "
                        "(its format is not {}); use that version, or start from a new state",
                        stateVersion));
}

ordered_json readStateFile(const std::filesystem::path& file) { return readJsonFile(file, largestState); }

void writeStateFile(const std::filesystem::path& file, const ordered_json& state) {
    std::string text;
    append(text, state, 0);
    text += '\n';
    if (text.size() > largestState)
        throw std::runtime_error(
            fmt::format("cannot write {}: the state has {} bytes, and at most {} can be read back; "
                        "save it without weights, or train a smaller network",
                        file.string(), text.size(), largestState));
    createFoldersFor(file);
    writeFileAtomically(file, text);
}

std::filesystem::path lastStateFile() {
    if (const char* named = std::getenv("LOCKSTEP_STATE_FILE")) return named;
    const std::filesystem::path folder = cacheFolder();
    return folder.empty() ? folder : folder / "state.json";
}

std::filesystem::path lessonProgressFile() {
    const std::filesystem::path file = lastStateFile();
    return file.empty() ? file : file.parent_path() / "lessons.json";
}

} // namespace lockstep::demos
