// JSON that others have written: read within a depth, with the place in every complaint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace lockstep {

/// Brackets within brackets. Files of this program have fewer than ten; code that walks through a value calls
/// itself once per level, and 100,000 levels would overflow the stack.
inline constexpr std::size_t deepestJson = 64;

/// Values in one text. In memory each takes up to a hundred bytes, however few letters it has: within this
/// limit, no file costs more than half a gigabyte.
inline constexpr std::size_t mostJsonValues = 4'000'000;

/// The value of a JSON text. Throws std::runtime_error
/// "NAME:3:7: not valid JSON: reason", with line and column, for anything else, for brackets nested too
/// deeply, and for too many values.
nlohmann::ordered_json parseJson(std::string_view text, std::string_view name);

/// The same for a file of at most so many bytes. Throws like readFileBytes(), too.
nlohmann::ordered_json readJsonFile(const std::filesystem::path& file, std::uint64_t largest);

} // namespace lockstep
