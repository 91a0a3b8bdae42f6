// What the invocations of one workgroup read and write, in their own order, as the real shader did it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "demos/exhibits/ladder/recording_shader.h"
#include "engine/gpu/device.h"
#include "engine/net/plain_ops.h"
#include "engine/step/kernels.h"

namespace lockstep::demos {

inline constexpr Product allProducts[] = {Product::forward, Product::backwardInputs,
                                          Product::backwardWeights};

struct AccessEvent {
    std::uint32_t array = 0; ///< RecordedArray::id
    std::uint32_t at = 0;    ///< element
    bool write = false;
    bool barrier = false; ///< all invocations waited for each other here; the rest means nothing
    bool idle = false;    ///< nothing; the others go on (alignedAtBarriers)

    bool access() const { return !barrier && !idle; }
};

struct AccessRecord {
    Product product = Product::forward;
    ProductKernel kernel;
    DenseShape shape;
    std::string shader; ///< "dense_tiled"
    std::vector<RecordedArray> arrays;
    double bytesRead = 0; ///< from memory, by all workgroups
    double bytesWritten = 0;
    std::vector<std::vector<AccessEvent>>
        invocations;   ///< of the first workgroup; empty where none were asked for
    bool whole = true; ///< all events are there; false: an invocation had too many

    const RecordedArray& array(std::uint32_t id) const;
};

/// How people are told of an array: "weights", "shared copy of the inputs" for the tiles of a product C = A
/// B.
std::string wordsFor(const AccessRecord& record, const RecordedArray& array);

/// A device's kernels with recording, compiled when first asked for. Used by one thread at a time.
class AccessRecorder {
  public:
    explicit AccessRecorder(gpu::Device& device) : device_(device) {}

    /// Runs the product once with the kernel. With Recording::events, what its first workgroup does is noted
    /// access by access; that is for small products. Throws std::runtime_error when the shader cannot be
    /// recorded, gpu::GpuError.
    AccessRecord record(Product product, const ProductKernel& how, const DenseShape& shape,
                        Recording recording);

  private:
    struct Prepared {
        RecordingShader shader;
        std::unique_ptr<Kernels> kernels; // of it
    };

    const Prepared& prepare(const std::string& stem, bool half, Recording recording);

    gpu::Device& device_;
    std::map<std::pair<std::string, Recording>, Prepared> prepared_; // by the shader's stem
};

/// With idle moments where an invocation has nothing to do before a barrier that others have not reached, so
/// that a barrier has the same place in all lists.
AccessRecord alignedAtBarriers(AccessRecord record);

} // namespace lockstep::demos
