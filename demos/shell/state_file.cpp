#include "demos/shell/state_file.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"
#include "engine/files/json_text.h"
#include "engine/tune/kernel_cache.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t largestState = 128u << 20;

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
    std::error_code ignored;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    writeFileAtomically(file, text);
}

std::filesystem::path lastStateFile() {
    if (const char* named = std::getenv("LOCKSTEP_STATE_FILE")) return named;
    const std::filesystem::path folder = cacheFolder();
    return folder.empty() ? folder : folder / "state.json";
}

} // namespace lockstep::demos
