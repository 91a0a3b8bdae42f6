// Any bytes as a file of tensors; what could be read is written and read again, and searched for layers.
#include <cstring>

#include "engine/files/foreign_weights.h"
#include "engine/files/safetensors.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

namespace {

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void requireLayers(const TensorFile& file, const WantedLayers& wanted) {
    fuzz::expectDocumented("fuzz.safetensors", [&] {
        const ForeignWeights found = findDenseLayers(file, wanted, "fuzz.safetensors");
        std::size_t width = wanted.inputs;
        for (const DenseWeights& layer : found.layers) {
            fuzz::require(layer.inputs == width, "each layer takes what the one before gives");
            fuzz::require(layer.weight.size() == layer.inputs * layer.outputs,
                          "a weight per input and output");
            fuzz::require(layer.bias.size() == layer.outputs, "a bias per output");
            width = layer.outputs;
        }
        fuzz::require(width == wanted.outputs, "the outputs that were asked for");
        if (wanted.hidden)
            fuzz::require(found.layers.size() == wanted.hidden->size() + 1, "the layers that were asked for");
    });
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
        for (const std::size_t width : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
            requireLayers(file, {3, width, {}});
            requireLayers(file, {width, 2, std::vector<std::size_t>{3}});
        }
    });
    return 0;
}
