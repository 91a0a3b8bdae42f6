#include "engine/files/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/files/file_bytes.h"
#include "engine/files/safetensors_header.h"
#include "engine/net/float_formats.h"

namespace lockstep {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

constexpr std::size_t lengthBytes = 8;
constexpr std::uint64_t largestHeader = 100'000'000;

[[noreturn]] void throwAtTensor(std::string_view file, const TensorEntry& entry, const std::string& reason) {
    throw std::runtime_error(std::string(file) + ": tensor " + quotedForMessage(entry.name) + ": " + reason);
}

std::uint64_t headerLength(std::span<const std::byte> bytes, std::string_view name) {
    if (bytes.size() < lengthBytes)
        throwAtByte(name, bytes.size(), "the file ends within its first 8 bytes, the length of its header");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), lengthBytes);
    const std::uint64_t left = bytes.size() - lengthBytes;
    if (length > largestHeader)
        throwAtByte(
            name, 0,
            "this is no safetensors file: its first 8 bytes would be the length of a header, and that is "
            "100 MB at most");
    if (length > left)
        throwAtByte(name, 0,
                    "a header of " + std::to_string(length) + " bytes is announced, but only " +
                        std::to_string(left) + " follow; is this a safetensors file, and whole?");
    return length;
}

std::size_t typeBytes(std::string_view file, const TensorEntry& entry) {
    if (entry.type == "F64") return 8;
    if (entry.type == "F32") return 4;
    if (entry.type == "F16" || entry.type == "BF16") return 2;
    throwAtTensor(file, entry,
                  "its type is " + quotedForMessage(entry.type) + "; F64, F32, F16 and BF16 can be read");
}

// Every tensor's bytes follow the last one's, and fill the file to its end.
void checkOffsets(std::string_view file, const std::vector<TensorEntry>& sorted, std::uint64_t size) {
    std::uint64_t expected = 0;
    for (const TensorEntry& entry : sorted) {
        const std::string range = std::to_string(entry.begin) + " to " + std::to_string(entry.end);
        if (entry.end < entry.begin) throwAtTensor(file, entry, "its offsets run backwards: " + range);
        if (entry.end > size)
            throwAtTensor(file, entry,
                          "its numbers lie at " + range + ", but only " + std::to_string(size) +
                              " bytes follow the header; is the file cut off?");
        if (entry.begin != expected)
            throwAtTensor(file, entry,
                          std::string(entry.begin < expected ? "its bytes overlap another tensor's: "
                                                             : "unused bytes lie before it: ") +
                              range + " where " + std::to_string(expected) + " begins");
        expected = entry.end;
    }
    if (expected != size)
        throw std::runtime_error(std::string(file) + ": " + std::to_string(size - expected) +
                                 " bytes after the last tensor belong to none");
}

// The product of the shape, which has to fill the tensor's bytes exactly.
std::size_t elementCount(std::string_view file, const TensorEntry& entry) {
    const std::uint64_t size = entry.end - entry.begin;
    const std::uint64_t available = size / typeBytes(file, entry);
    const bool empty = std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end();
    std::uint64_t count = empty ? 0 : 1;
    bool fits = true; // asked before each product, which might not fit 64 bits
    for (const std::uint64_t extent : entry.shape) {
        fits = fits && (empty || extent <= available / count);
        if (fits) count *= extent;
    }
    if (!fits || count * typeBytes(file, entry) != size)
        throwAtTensor(file, entry,
                      "its shape does not fit the " + std::to_string(size) + " bytes of its " + entry.type +
                          " numbers");
    return static_cast<std::size_t>(count);
}

std::vector<float> readValues(const TensorEntry& entry, std::span<const std::byte> bytes, std::size_t count) {
    std::vector<float> values(count);
    if (count == 0) return values;
    if (entry.type == "F32") std::memcpy(values.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; entry.type != "F32" && i < count; ++i) {
        if (entry.type == "F64") {
            double wide = 0;
            std::memcpy(&wide, bytes.data() + i * sizeof(wide), sizeof(wide));
            values[i] = narrow(wide);
        } else {
            std::uint16_t half = 0;
            std::memcpy(&half, bytes.data() + i * sizeof(half), sizeof(half));
            values[i] = entry.type == "F16" ? fromFloat16(half) : fromBfloat16(half);
        }
    }
    return values;
}

Tensor readTensor(std::string_view file, TensorEntry& entry, std::span<const std::byte> data) {
    const std::size_t count = elementCount(file, entry);
    const auto bytes = data.subspan(static_cast<std::size_t>(entry.begin),
                                    static_cast<std::size_t>(entry.end - entry.begin));
    Tensor tensor;
    tensor.values = readValues(entry, bytes, count);
    tensor.shape.assign(entry.shape.begin(), entry.shape.end());
    tensor.name = std::move(entry.name);
    return tensor;
}

std::string headerText(const TensorFile& file) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
    std::size_t offset = 0;
    std::set<std::string_view> names{"__metadata__"};
    for (const Tensor& tensor : file.tensors) {
        std::size_t count = 1;
        for (const std::size_t extent : tensor.shape) count *= extent;
        if (count != tensor.values.size() || !names.insert(tensor.name).second)
            throw std::invalid_argument("tensor " + quotedForMessage(tensor.name) +
                                        " has a shape that does not fit its values, or a name that is taken");
        const std::size_t end = offset + count * sizeof(float);
        header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    text.append((lengthBytes - text.size() % lengthBytes) % lengthBytes, ' ');
    return text;
}

} // namespace

const Tensor* TensorFile::find(std::string_view name) const {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

TensorFile parseSafetensors(std::span<const std::byte> bytes, std::string_view name) {
    const auto length = static_cast<std::size_t>(headerLength(bytes, name));
    SafetensorsHeader header =
        parseSafetensorsHeader(asText(bytes.subspan(lengthBytes, length)), name, lengthBytes);
    const auto data = bytes.subspan(lengthBytes + length);

    // An empty tensor may share its offset with the next one, and comes first.
    std::stable_sort(header.entries.begin(), header.entries.end(),
                     [](const TensorEntry& a, const TensorEntry& b) {
                         return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
                     });
    checkOffsets(name, header.entries, data.size());
    TensorFile file;
    file.metadata = std::move(header.metadata);
    for (TensorEntry& entry : header.entries) file.tensors.push_back(readTensor(name, entry, data));
    return file;
}

std::vector<std::byte> safetensorsBytes(const TensorFile& file) {
    const std::string header = headerText(file);
    const std::uint64_t length = header.size();
    std::vector<std::byte> bytes(lengthBytes + header.size());
    std::memcpy(bytes.data(), &length, lengthBytes);
    std::memcpy(bytes.data() + lengthBytes, header.data(), header.size());
    for (const Tensor& tensor : file.tensors) {
        const auto values = std::as_bytes(std::span(tensor.values));
        bytes.insert(bytes.end(), values.begin(), values.end());
    }
    return bytes;
}

} // namespace lockstep
