// Any bytes as a file of tensors; what could be read is written and read again.
#include <cstring>

#include "engine/files/safetensors.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

namespace {

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::expectDocumented("fuzz.safetensors", [&] {
        const TensorFile file = parseSafetensors(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
        const TensorFile again = parseSafetensors(safetensorsBytes(file), "fuzz.safetensors");
        fuzz::require(again.metadata == file.metadata, "the same metadata");
        fuzz::require(again.tensors.size() == file.tensors.size(), "as many tensors");
        for (const Tensor& tensor : file.tensors) {
            const Tensor* other = again.find(tensor.name);
            fuzz::require(other != nullptr && other->shape == tensor.shape, "the same shape");
            fuzz::require(sameBits(tensor.values, other->values), "the same numbers");
        }
    });
    return 0;
}
