// Tensors in a file, in the format that PyTorch, JAX and others share:
// https://github.com/huggingface/safetensors
//   8 bytes      N, the length of the header, little-endian
//   N bytes      the header, JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]},
//   ...,
//                "__metadata__": {"key": "text", ...}}, offsets counted from the end of the header
//   the rest     the numbers, little-endian, last index contiguous, without a gap
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct Tensor {
    std::string name;
    std::vector<std::size_t> shape; ///< empty: a single number
    std::vector<float> values;      ///< the last index of `shape` is contiguous
};

/// A file's contents. Names are unique.
struct TensorFile {
    std::vector<Tensor> tensors; ///< in the order of their numbers in the file
    std::map<std::string, std::string> metadata;

    const Tensor* find(std::string_view name) const; ///< null when there is none
};

/// Reads a whole file. Numbers of the types F64, F16 and BF16 are converted to float.
///   bytes  the file; memory used is at most a small multiple of their number
///   name   how messages call the file
/// Throws std::runtime_error "NAME: place: reason" for anything that is not exactly this format: a header
/// that is longer than the file or 100 MB, is no JSON, repeats a name or lacks a field, other types, shapes
/// that do not fit their bytes, bytes that belong to no tensor or to two.
TensorFile parseSafetensors(std::span<const std::byte> bytes, std::string_view name);

/// The bytes of a file with these tensors, all as F32, the first number at a multiple of 8 bytes. Throws
/// std::invalid_argument when a shape does not fit its values or a name appears twice.
std::vector<std::byte> safetensorsBytes(const TensorFile& file);

} // namespace lockstep
