// Reads and writes safetensors files, the format that PyTorch, JAX and others share:
// https://github.com/huggingface/safetensors
//   8 bytes      N, the length of the header, little-endian
//   N bytes      the header, JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//                "__metadata__": {"key": "text", ...}}, offsets counted from the end of the header
//   the rest     the values, little-endian, last index contiguous, without gaps
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
    std::vector<std::size_t> shape; ///< empty: a scalar
    std::vector<float> values;      ///< the last index of `shape` is contiguous
    std::string type = "F32";       ///< of the values in the file that was read
};

/// The contents of a file. Names are unique.
struct TensorFile {
    std::vector<Tensor> tensors; ///< in the order of their data in the file
    std::map<std::string, std::string> metadata;

    const Tensor* find(std::string_view name) const; ///< null if there is none
};

/// Parses a whole file. F64, F16 and BF16 values are converted to float.
///   bytes  the file; memory use is at most a small multiple of its size
///   name   the file's name, for messages
/// Throws std::runtime_error "NAME: place: reason" for anything that is not exactly this format: a header
/// that is longer than the file or than 100 MB, is not JSON, repeats a name or lacks a field; unsupported
/// types; shapes that do not match their bytes; bytes that belong to no tensor or to two. A file of another
/// kind that weights come in (PyTorch's .pt, HDF5, .npz, a Git LFS pointer, ...) is named as such, with a way
/// to make safetensors of it.
TensorFile parseSafetensors(std::span<const std::byte> bytes, std::string_view name);

/// Serializes the tensors as F32, with the data aligned to 8 bytes. Throws std::invalid_argument if a shape
/// does not match its values or a name appears twice.
std::vector<std::byte> safetensorsBytes(const TensorFile& file);

} // namespace lockstep
