#include "engine/files/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/files/file_bytes.h"
#include "engine/net/float_formats.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

using nlohmann::json;

constexpr std::size_t lengthBytes = 8;

struct TensorEntry {
    std::string name;
    std::string type; ///< "F32", ...
    std::vector<std::uint64_t> shape;
    std::uint64_t begin = 0; ///< byte offsets from the end of the header
    std::uint64_t end = 0;
};

// Handles the parser's events one by one and builds no document, so neither deep nesting nor a long list
// costs memory. The format has four levels: the file, the object of names, the object of one tensor (or the
// metadata), and a list (shape or offsets). Anything that does not belong on its level is an error.
class HeaderReader final : public json::json_sax_t {
  public:
    explicit HeaderReader(std::string_view file) : file_(file) {}

    std::vector<TensorEntry> entries; ///< in the order of the header
    std::map<std::string, std::string> metadata;

    bool start_object(std::size_t) override {
        if (level_ == Level::outside) {
            level_ = Level::names;
        } else if (level_ == Level::names) {
            level_ = key_ == "__metadata__" ? Level::metadata : Level::tensor;
            if (level_ == Level::tensor) entries.push_back({key_, {}, {}, 0, 0});
            seen_.clear();
        } else {
            refuse("an object");
        }
        return true;
    }

    bool end_object() override {
        if (level_ == Level::tensor) {
            for (const char* field : {"dtype", "shape", "data_offsets"})
                if (!seen_.contains(field)) fail("its '", field, "' is missing");
        }
        level_ = level_ == Level::names ? Level::outside : Level::names;
        return true;
    }

    bool key(std::string& text) override {
        if (level_ == Level::names) {
            key_ = text;
            if (!names_.insert(text).second) fail("this name appears twice");
            return true;
        }
        if (!seen_.insert(text).second) fail("its ", quotedForMessage(text), " appears twice");
        field_ = text;
        if (level_ == Level::tensor && field_ != "dtype" && field_ != "shape" && field_ != "data_offsets")
            fail("the field ", quotedForMessage(text), " is unknown");
        return true;
    }

    bool start_array(std::size_t) override {
        if (level_ != Level::tensor || field_ == "dtype") refuse("a list");
        level_ = Level::list;
        listed_ = 0;
        return true;
    }

    bool end_array() override {
        level_ = Level::tensor;
        if (field_ == "data_offsets" && listed_ != 2) fail("its 'data_offsets' are not two numbers");
        return true;
    }

    bool string(std::string& text) override {
        if (level_ == Level::metadata)
            metadata[field_] = text;
        else if (level_ == Level::tensor && field_ == "dtype")
            entries.back().type = text;
        else
            refuse("a string");
        return true;
    }

    bool number_unsigned(std::uint64_t value) override {
        if (level_ != Level::list) refuse("a number");
        TensorEntry& entry = entries.back();
        if (field_ == "shape") entry.shape.push_back(value);
        if (field_ == "data_offsets") (listed_ == 0 ? entry.begin : entry.end) = value;
        ++listed_;
        return true;
    }

    bool number_integer(std::int64_t) override { refuse("a negative number"); }
    bool number_float(double, const std::string&) override { refuse("a fraction or a number above 2^64"); }
    bool boolean(bool) override { refuse("true or false"); }
    bool null() override { refuse("null"); }
    bool binary(json::binary_t&) override { refuse("binary data"); }

    bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
        throwAtByte(file_, lengthBytes + (at > 0 ? at - 1 : 0), "the header is not valid JSON");
    }

  private:
    enum class Level { outside, names, tensor, metadata, list };

    [[noreturn]] void refuse(const char* what) const {
        const bool inField = level_ == Level::tensor || level_ == Level::metadata || level_ == Level::list;
        if (inField) fail("its ", quotedForMessage(field_), " holds ", what);
        fail("it is ", what);
    }

    template <class... Reason> [[noreturn]] void fail(const Reason&... reason) const {
        if (level_ == Level::outside) throwAtByte(file_, lengthBytes, "the header is not a JSON object");
        const std::string place =
            key_ == "__metadata__" ? "__metadata__" : "tensor " + quotedForMessage(key_);
        throw std::runtime_error(concat(file_, ": header, ", place, ": ", reason...));
    }

    std::string_view file_;
    Level level_ = Level::outside;
    std::string key_;             // on level `names`: the current tensor
    std::string field_;           // within it
    std::set<std::string> names_; // all so far
    std::set<std::string> seen_;  // fields of the current tensor
    std::size_t listed_ = 0;      // numbers in the current list
};

static_assert(std::endian::native == std::endian::little, "values are copied byte for byte");

constexpr std::uint64_t largestHeader = 100'000'000;

template <class... Reason>
[[noreturn]] void throwAtTensor(std::string_view file, const TensorEntry& entry, const Reason&... reason) {
    throw std::runtime_error(concat(file, ": tensor ", quotedForMessage(entry.name), ": ", reason...));
}

struct OtherFormat {
    std::string_view start; ///< of its files
    std::string_view part;  ///< also among their first bytes
    std::string_view what;
    std::string_view hint = {};
};

// Python that makes safetensors; FILE stands for the file.
constexpr std::string_view fromPytorch =
    "; to convert it: python3 -c \"import torch, safetensors.torch as s; "
    "s.save_file(torch.load('FILE', weights_only=True), 'weights.safetensors')\"";
constexpr std::string_view fromKeras =
    "; to convert it: python3 -c \"import keras, safetensors.numpy as s; "
    "s.save_file({w.path: w.numpy() for w in keras.saving.load_model('FILE').weights}, "
    "'weights.safetensors')\"";
constexpr std::string_view fromNumpy = "; to convert it: python3 -c \"import numpy, safetensors.numpy as s; "
                                       "s.save_file(dict(numpy.load('FILE')), 'weights.safetensors')\"";

// The first row that fits counts.
constexpr OtherFormat otherFormats[] = {
    {"version https://git-lfs.github.com/spec/", "", "a Git LFS pointer, which stands for the weights",
     "; fetch them with `git lfs pull`, or download the file itself"},
    {"PK\x03\x04", "data.pkl", "a PyTorch file (.pt, .pth)", fromPytorch},
    {"PK\x03\x04", ".npy", "a NumPy archive (.npz)", fromNumpy},
    {"PK\x03\x04", "config.json", "a Keras model (.keras)", fromKeras},
    {"PK\x03\x04", "metadata.json", "a Keras model (.keras)", fromKeras},
    {"PK\x03\x04", "", "a zip archive", "; unpack it"},
    {"\x89HDF\r\n", "", "an HDF5 file (.h5), as Keras writes it", fromKeras},
    {"\x80\x02", "", "a Python pickle (.pt, .pth, .pkl)", fromPytorch},
    {"\x80\x03", "", "a Python pickle (.pt, .pth, .pkl)", fromPytorch},
    {"\x80\x04", "", "a Python pickle (.pt, .pth, .pkl)", fromPytorch},
    {"\x80\x05", "", "a Python pickle (.pt, .pth, .pkl)", fromPytorch},
    {"\x93NUMPY", "", "a single NumPy array (.npy)",
     "; save all arrays of the network in one file with safetensors.numpy.save_file"},
    {"\x1F\x8B", "", "a file compressed with gzip", "; unpack it"},
    {"GGUF", "", "a GGUF file, as llama.cpp reads it", "; save the weights as safetensors"},
    {"<", "<html", "a web page", "; download the file itself"},
    {"<", "<HTML", "a web page", "; download the file itself"},
};

// Names the format of a file that is none of safetensors, if its first bytes tell.
void refuseOtherFormat(std::span<const std::byte> bytes, std::string_view name) {
    const std::string_view start = asText(bytes.first(std::min<std::size_t>(bytes.size(), 1024)));
    for (const OtherFormat& format : otherFormats)
        if (start.starts_with(format.start) && start.find(format.part) != std::string_view::npos)
            throw std::runtime_error(
                concat(name, ": not a safetensors file, but ", format.what, format.hint));
}

std::uint64_t headerLength(std::span<const std::byte> bytes, std::string_view name) {
    if (bytes.size() < lengthBytes)
        throwAtByte(name, bytes.size(), "the file ends inside its first 8 bytes, the header's length");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), lengthBytes);
    const std::uint64_t left = bytes.size() - lengthBytes;
    if (length > std::min(largestHeader, left)) refuseOtherFormat(bytes, name);
    if (length > largestHeader)
        throwAtByte(
            name, 0,
            "not a safetensors file: its first 8 bytes give a header length above the limit of 100 MB");
    if (length > left)
        throwAtByte(name, 0, "the header's length is given as ", length, " bytes, but only ", left,
                    " follow; the file is truncated, or not a safetensors file");
    return length;
}

std::size_t typeBytes(std::string_view file, const TensorEntry& entry) {
    if (entry.type == "F64") return 8;
    if (entry.type == "F32") return 4;
    if (entry.type == "F16" || entry.type == "BF16") return 2;
    throwAtTensor(file, entry, "its type is ", quotedForMessage(entry.type),
                  "; supported types are F64, F32, F16 and BF16");
}

// Tensors must lie back to back and fill the file to its end.
void checkOffsets(std::string_view file, const std::vector<TensorEntry>& sorted, std::uint64_t size) {
    std::uint64_t expected = 0;
    for (const TensorEntry& entry : sorted) {
        const std::string range = concat(entry.begin, " to ", entry.end);
        if (entry.end < entry.begin) throwAtTensor(file, entry, "its offsets run backwards: ", range);
        if (entry.end > size)
            throwAtTensor(file, entry, "its data are at bytes ", range, ", but only ", size,
                          " bytes follow the header; the file may be truncated");
        if (entry.begin != expected)
            throwAtTensor(file, entry,
                          entry.begin < expected ? "its bytes overlap another tensor's: "
                                                 : "unused bytes precede it: ",
                          range, ", expected to begin at ", expected);
        expected = entry.end;
    }
    if (expected != size)
        throw std::runtime_error(
            concat(file, ": ", size - expected, " bytes after the last tensor belong to none"));
}

// The product of the shape. It must match the tensor's bytes exactly.
std::size_t elementCount(std::string_view file, const TensorEntry& entry) {
    const std::uint64_t size = entry.end - entry.begin;
    const std::uint64_t available = size / typeBytes(file, entry);
    const bool empty = std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end();
    std::uint64_t count = empty ? 0 : 1;
    bool fits = true; // checked before each product, which could overflow 64 bits
    for (const std::uint64_t extent : entry.shape) {
        fits = fits && (empty || extent <= available / count);
        if (fits) count *= extent;
    }
    if (!fits || count * typeBytes(file, entry) != size)
        throwAtTensor(file, entry, "its shape does not match its ", size, " bytes of ", entry.type,
                      " values");
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
    std::vector<float> values = readValues(entry, bytes, count);
    return {std::move(entry.name),
            {entry.shape.begin(), entry.shape.end()},
            std::move(values),
            std::move(entry.type)};
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
            throw std::invalid_argument(
                concat("tensor ", quotedForMessage(tensor.name),
                       " has a shape that does not match its values, or a name that is already in use"));
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
    const auto found = std::ranges::find(tensors, name, &Tensor::name);
    return found == tensors.end() ? nullptr : &*found;
}

TensorFile parseSafetensors(std::span<const std::byte> bytes, std::string_view name) {
    const auto length = static_cast<std::size_t>(headerLength(bytes, name));
    const std::string_view text = asText(bytes.subspan(lengthBytes, length));
    if (!text.starts_with('{')) throwAtByte(name, lengthBytes, "the header does not begin with '{'");
    HeaderReader header(name);
    json::sax_parse(text.begin(), text.end(), &header);
    const auto data = bytes.subspan(lengthBytes + length);

    // An empty tensor may share its offset with the next one; it goes first.
    const auto place = [](const TensorEntry& entry) { return std::pair(entry.begin, entry.end); };
    std::ranges::stable_sort(header.entries, {}, place);
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
