// The safetensors reader against good files, and against every way in which a file can be wrong.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/files/safetensors.h"

using namespace lockstep;

namespace {

std::vector<std::byte> bytesOf(const std::string& header, std::size_t dataBytes, std::uint64_t announced) {
    std::vector<std::byte> bytes(8 + header.size() + dataBytes);
    std::memcpy(bytes.data(), &announced, 8);
    std::memcpy(bytes.data() + 8, header.data(), header.size());
    return bytes;
}

// The message with which the reader refuses a file of this header and that many zero bytes after it.
std::string refusal(const std::string& header, std::size_t dataBytes) {
    try {
        parseSafetensors(bytesOf(header, dataBytes, header.size()), "bad.safetensors");
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "accepted";
}

std::string entry(const std::string& type, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return text.find(part) != std::string::npos;
}

TensorFile sample() {
    return {{{"0.weight", {2, 3}, {1, -2, 3.5f, 0, 1e-30f, 1e30f}},
             {"0.bias", {2}, {0.1f, -0.2f}},
             {"scale", {}, {7}},
             {"none", {0, 4}, {}}},
            {{"note", "one \"two\" \xC3\xA4"}, {"empty", ""}}};
}

} // namespace

TEST_CASE("a file can be read back as written") {
    const TensorFile written = sample();
    const std::vector<std::byte> bytes = safetensorsBytes(written);
    const TensorFile read = parseSafetensors(bytes, "sample");
    CHECK(read.metadata == written.metadata);
    REQUIRE(read.tensors.size() == written.tensors.size());
    for (const Tensor& tensor : written.tensors) {
        REQUIRE(read.find(tensor.name) != nullptr);
        CHECK(read.find(tensor.name)->shape == tensor.shape);
        CHECK(read.find(tensor.name)->values == tensor.values);
    }
    CHECK(read.find("1.weight") == nullptr);
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), 8);
    CHECK(header % 8 == 0);
}

TEST_CASE("a file truncated at any byte is an error that names it") {
    const std::vector<std::byte> bytes = safetensorsBytes(sample());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        INFO(length);
        CHECK_THROWS_WITH_AS(parseSafetensors(std::span(bytes).first(length), "cut.safetensors"),
                             doctest::Contains("cut.safetensors: "), std::runtime_error);
    }
}

TEST_CASE("any value in any header byte: no crash, and no wrong sizes") {
    std::vector<std::byte> bytes = safetensorsBytes(sample());
    const std::size_t header = bytes.size() - 9 * sizeof(float);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < header; ++at) {
        for (const int value : {0x00, 0x22, 0x5B, 0x7B, 0x7D, 0x39, 0x80, 0xFF}) {
            const std::byte kept = bytes[at];
            bytes[at] = static_cast<std::byte>(value);
            try {
                for (const Tensor& tensor : parseSafetensors(bytes, "flipped").tensors) {
                    std::size_t count = 1;
                    for (const std::size_t extent : tensor.shape) count *= extent;
                    CHECK(count == tensor.values.size());
                }
            } catch (const std::runtime_error&) {
                ++refused;
            }
            bytes[at] = kept;
        }
    }
    CHECK(refused > header);
}

TEST_CASE("other float types are read as float") {
    const std::string header = R"({"d":)" + entry("F64", "[2]", "[0,16]") + R"(,"h":)" +
                               entry("F16", "[4]", "[16,24]") + R"(,"b":)" + entry("BF16", "[2]", "[24,28]") +
                               "}";
    std::vector<std::byte> bytes = bytesOf(header, 28, header.size());
    const double doubles[] = {0.1, 1e300};
    const std::uint16_t halves[] = {0x3C00, 0xC000, 0x0001,
                                    0x7C00, 0x3F80, 0xC049}; // 1, -2, 2^-24, inf; 1, -3.140625
    std::memcpy(bytes.data() + 8 + header.size(), doubles, 16);
    std::memcpy(bytes.data() + 8 + header.size() + 16, halves, 12);
    const TensorFile file = parseSafetensors(bytes, "types");
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(file.find("d")->type == "F64");
    CHECK(file.find("h")->type == "F16");
    CHECK(file.find("b")->type == "BF16");
    CHECK(file.find("d")->values == std::vector<float>{0.1f, infinity});
    CHECK(file.find("h")->values == std::vector<float>{1, -2, std::ldexp(1.0f, -24), infinity});
    CHECK(file.find("b")->values == std::vector<float>{1, -3.140625f});
}

TEST_CASE("wrong lengths of the header") {
    const std::string header = "{}";
    CHECK_THROWS_WITH_AS(parseSafetensors(bytesOf(header, 0, 3), "x"), doctest::Contains("truncated"),
                         std::runtime_error);
    for (const std::uint64_t announced : {std::uint64_t{100'000'001}, ~std::uint64_t{0}})
        CHECK_THROWS_WITH_AS(parseSafetensors(bytesOf(header, 0, announced), "x"),
                             doctest::Contains("not a safetensors file"), std::runtime_error);
    CHECK_THROWS_WITH_AS(parseSafetensors(bytesOf("{}", 4, 1), "x"), doctest::Contains("not valid JSON"),
                         std::runtime_error);
    CHECK(parseSafetensors(bytesOf("{}", 0, 2), "x").tensors.empty());
    CHECK(parseSafetensors(bytesOf("{}     ", 0, 7), "x").tensors.empty());
}

TEST_CASE("files of other formats are named, with a way to make safetensors of them") {
    using namespace std::string_literals;
    const std::pair<std::string, std::string> cases[] = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 940000\n",
         "a Git LFS pointer, which stands for the weights; fetch them with `git lfs pull`"},
        {"PK\x03\x04\0\0\x08\x08\0\0"s + "....archive/data.pklFB",
         "a PyTorch file (.pt, .pth); to convert it: python3"},
        {"PK\x03\x04\x14\0\0\0"s + "....arr_0.npy", "a NumPy archive (.npz); to convert it: python3"},
        {"PK\x03\x04\x14\0\0\0"s + "....metadata.json", "a Keras model (.keras); to convert it: python3"},
        {"PK\x03\x04\x14\0\0\0"s + "....photo.jpg", "a zip archive; unpack it"},
        {"\x89HDF\r\n\x1a\n\0\0\0"s, "an HDF5 file (.h5), as Keras writes it; to convert it: python3"},
        {"\x80\x02\x8a\nl\xfc\x9c"
         "F\xf9 j\xa8P\x19.",
         "a Python pickle (.pt, .pth, .pkl); to convert it: python3"},
        {"\x80\x04\x95\x10\0\0\0\0\0\0\0}"s, "a Python pickle"},
        {"\x93NUMPY\x01\0v\0"s, "a single NumPy array (.npy); save all arrays"},
        {"\x1F\x8B\x08\0\0\0\0\0\0\0"s, "a file compressed with gzip; unpack it"},
        {"GGUF\x03\0\0\0\x10"s, "a GGUF file"},
        {"<!DOCTYPE html>\n<html lang=\"en\">", "a web page; download the file itself"},
    };
    for (const auto& [content, what] : cases) {
        std::vector<std::byte> bytes(content.size());
        std::memcpy(bytes.data(), content.data(), content.size());
        std::string message = "accepted";
        try {
            parseSafetensors(bytes, "w.safetensors");
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK(contains(message, "w.safetensors: not a safetensors file, but " + what));
    }
}

TEST_CASE("headers that are not the expected JSON") {
    const std::string good = entry("F32", "[1]", "[0,4]");
    CHECK(contains(refusal("", 0), "bad.safetensors: byte 8: the header does not begin with '{'"));
    CHECK(contains(refusal("[]", 0), "does not begin with '{'"));
    CHECK(contains(refusal("{", 0), "not valid JSON"));
    CHECK(contains(refusal("{}x", 0), "byte 10: the header is not valid JSON"));
    CHECK(contains(refusal("{\"\xFF\":1}", 0), "not valid JSON"));
    CHECK(contains(refusal(R"({"a":1})", 0), "tensor 'a': it is a number"));
    CHECK(contains(refusal(R"({"a":null})", 0), "tensor 'a': it is null"));
    CHECK(contains(refusal(R"({"a":[]})", 0), "tensor 'a': it is a list"));
    CHECK(contains(refusal(R"({"a":{}})", 0), "tensor 'a': its 'dtype' is missing"));
    CHECK(contains(refusal(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "'data_offsets' is missing"));
    CHECK(contains(refusal(R"({"a":{"dtype":{}}})", 4), "'dtype' holds an object"));
    CHECK(contains(refusal(R"({"a":{"dtype":[]}})", 4), "'dtype' holds a list"));
    CHECK(contains(refusal(R"({"a":{"dtype":"F32","dtype":"F32"}})", 4), "'dtype' appears twice"));
    CHECK(contains(refusal(R"({"a":{"strides":[1]}})", 4), "field 'strides' is unknown"));
    CHECK(contains(refusal(R"({"a":)" + good + R"(,"a":)" + good + "}", 4), "this name appears twice"));
    CHECK(contains(refusal(R"({"__metadata__":{"a":1}})", 0), "__metadata__: its 'a' holds a number"));
    CHECK(contains(refusal(R"({"__metadata__":{"a":"1","a":"2"}})", 0), "'a' appears twice"));
    CHECK(contains(refusal(R"({"__metadata__":"text"})", 0), "__metadata__: it is a string"));
}

TEST_CASE("tensors that do not match their bytes") {
    const auto one = [](const std::string& type, const std::string& shape, const std::string& offsets,
                        std::size_t bytes) {
        return refusal(R"({"a":)" + entry(type, shape, offsets) + "}", bytes);
    };
    CHECK(one("F32", "[1]", "[0,4]", 4) == "accepted");
    CHECK(
        contains(one("I64", "[1]", "[0,8]", 8), "type is 'I64'; supported types are F64, F32, F16 and BF16"));
    CHECK(contains(one("F32", "[2]", "[0,4]", 4), "shape does not match"));
    CHECK(contains(one("F32", "[]", "[0,8]", 8), "shape does not match"));
    CHECK(contains(one("F32", "[4294967296,4294967296,4]", "[0,0]", 0), "shape does not match"));
    CHECK(contains(one("F32", "[9223372036854775809,2]", "[0,8]", 8), "shape does not match"));
    CHECK(contains(one("F32", "[1.5]", "[0,4]", 4), "'shape' holds a fraction"));
    CHECK(contains(one("F32", "[-1]", "[0,4]", 4), "'shape' holds a negative number"));
    CHECK(contains(one("F32", "[99999999999999999999]", "[0,4]", 4), "above 2^64"));
    CHECK(contains(one("F32", "[[1]]", "[0,4]", 4), "'shape' holds a list"));
    CHECK(contains(one("F32", "[1]", "[0,4,4]", 4), "not two numbers"));
    CHECK(contains(one("F32", "[1]", "[4,0]", 4), "offsets run backwards"));
    CHECK(contains(one("F32", "[1]", "[0,4]", 3), "only 3 bytes follow the header"));
    CHECK(contains(one("F32", "[1]", "[0,4]", 5), "1 bytes after the last tensor belong to none"));
    CHECK(contains(one("F32", "[1]", "[4,8]", 8), "unused bytes precede it"));
    const std::string overlap =
        R"({"a":)" + entry("F32", "[2]", "[0,8]") + R"(,"b":)" + entry("F32", "[1]", "[4,8]");
    CHECK(contains(refusal(overlap + "}", 8), "tensor 'b': its bytes overlap another tensor's"));
}

TEST_CASE("nesting a million levels deep is an error like any other") {
    CHECK(contains(refusal(R"({"a":)" + std::string(1'000'000, '['), 0), "it is a list"));
    CHECK(contains(refusal(R"({"a":{"shape":)" + std::string(1'000'000, '['), 0), "'shape' holds a list"));
}

TEST_CASE("invalid tensors are not written") {
    CHECK_THROWS_AS(safetensorsBytes({{{"a", {2}, {1}}}, {}}), std::invalid_argument);
    CHECK_THROWS_AS(safetensorsBytes({{{"a", {1}, {1}}, {"a", {1}, {1}}}, {}}), std::invalid_argument);
    CHECK_THROWS_AS(safetensorsBytes({{{"__metadata__", {1}, {1}}}, {}}), std::invalid_argument);
}
