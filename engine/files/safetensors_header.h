// The JSON header of a safetensors file, as it is written there; whether its numbers make sense is checked
// elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct TensorEntry {
    std::string name;
    std::string type; ///< "F32", ...
    std::vector<std::uint64_t> shape;
    std::uint64_t begin = 0; ///< byte offsets from the end of the header
    std::uint64_t end = 0;
};

struct SafetensorsHeader {
    std::vector<TensorEntry> entries; ///< in the order of the header
    std::map<std::string, std::string> metadata;
};

/// Reads the header event by event, without building a document, so that neither deep nesting nor a long list
/// takes more memory than the text itself is worth.
///   text      the JSON
///   name      how messages call the file
///   position  the first byte of `text` in the file, for messages
/// Throws std::runtime_error "NAME: place: reason".
SafetensorsHeader parseSafetensorsHeader(std::string_view text, std::string_view name,
                                         std::uint64_t position);

} // namespace lockstep
