#include "demos/shell/state_file.h"

#include <cstdlib>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/net/atomic_file.h"
#include "engine/net/file_bytes.h"
#include "engine/train/kernel_cache.h"

namespace lockstep::demos {

namespace {

constexpr std::uint64_t largestState = 64u << 20;

} // namespace

nlohmann::ordered_json readStateFile(const std::filesystem::path& file) {
    const std::vector<std::byte> bytes = readFileBytes(file, largestState);
    try {
        return nlohmann::ordered_json::parse(asText(bytes));
    } catch (const nlohmann::json::exception& broken) {
        throw std::runtime_error("cannot read " + file.string() + ": " + broken.what());
    }
}

void writeStateFile(const std::filesystem::path& file, const nlohmann::ordered_json& state) {
    std::error_code ignored;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    writeFileAtomically(file, state.dump(2) + "\n");
}

std::filesystem::path lastStateFile() {
    if (const char* named = std::getenv("LOCKSTEP_STATE_FILE")) return named;
    const std::filesystem::path folder = cacheFolder();
    return folder.empty() ? folder : folder / "state.json";
}

} // namespace lockstep::demos
