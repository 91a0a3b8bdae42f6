// The state of the program as a file.
#pragma once

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

namespace lockstep::demos {

/// Throws std::runtime_error naming file, place and reason.
nlohmann::ordered_json readStateFile(const std::filesystem::path& file);
/// Atomically. Throws std::runtime_error, also for what would be too large to be read again.
void writeStateFile(const std::filesystem::path& file, const nlohmann::ordered_json& state);

/// Where the last state is kept between starts: $LOCKSTEP_STATE_FILE, else state.json in the folder of
/// caches; empty when there is none.
std::filesystem::path lastStateFile();

} // namespace lockstep::demos
