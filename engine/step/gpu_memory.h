// The memory of one training run on a Vulkan device, before any of it is allocated: its buffers with their
// sizes, and where tensors lie in them. GpuArenas allocates these, and requireMemory() refuses what does not
// fit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/plan/memory_use.h"
#include "engine/plan/tensor_table.h"
#include "engine/step/rungs.h"
#include "engine/step/step_kernels.h"
#include "engine/step/train_job.h"

namespace lockstep {

enum class RunBuffer {
    // Arenas, by TensorArena.
    activations,
    targets,
    sums,
    dSums,
    hostActivations,
    parameters,
    gradients,
    state1,
    state2,
    weightCopies,
    // The data set.
    trainInputs,
    trainAnswers,
    testInputs,
    testAnswers,
    // What a step or an evaluation tells, and tables that kernels read.
    losses,
    status,
    lossPartials,
    lastLayerPartials,
    scoreSums,
    scoreCounts,
    layerPlaces,
    lossScale,
    largestOperands,
    stepRecords,
    exchanged,
};

struct RunBufferRow {
    std::string_view name;
    MemoryCategory category;
    gpu::Memory memory = gpu::Memory::device;
};

/// In the order of RunBuffer.
inline constexpr RunBufferRow runBuffers[] = {
    {"activations", MemoryCategory::activations},
    {"targets", MemoryCategory::activations},
    {"preactivations", MemoryCategory::activations},
    {"gradients of preactivations", MemoryCategory::activations},
    {"activations on the host", MemoryCategory::activations, gpu::Memory::readback},
    {"parameters", MemoryCategory::parameters},
    {"gradients", MemoryCategory::gradients},
    {"optimizer state 1", MemoryCategory::optimizer}, // in the host's memory, if it is offloaded
    {"optimizer state 2", MemoryCategory::optimizer},
    {"copies of weights", MemoryCategory::copies},
    {"training examples", MemoryCategory::data},
    {"training answers", MemoryCategory::data},
    {"test examples", MemoryCategory::data},
    {"test answers", MemoryCategory::data},
    {"losses", MemoryCategory::workspace, gpu::Memory::readback},
    {"status", MemoryCategory::workspace},
    {"loss partials", MemoryCategory::workspace},
    {"last layer's partials", MemoryCategory::workspace},
    {"score sums", MemoryCategory::workspace, gpu::Memory::readback},
    {"score counts", MemoryCategory::workspace},
    {"places of layers", MemoryCategory::workspace},
    {"loss scale", MemoryCategory::workspace},
    {"largest operands", MemoryCategory::workspace},
    {"records of steps", MemoryCategory::workspace, gpu::Memory::upload},
    {"what ranks exchange", MemoryCategory::workspace, gpu::Memory::readback},
};

/// A buffer of a run, once it is allocated.
struct AllocatedBuffer {
    RunBuffer which;
    const gpu::Buffer& buffer;
};

/// What they take of the device, by what they are for.
std::vector<MemoryUse> usesOf(std::span<const AllocatedBuffer> buffers);

constexpr const RunBufferRow& rowOf(RunBuffer buffer) { return runBuffers[static_cast<std::size_t>(buffer)]; }

/// Words from one example of the data set to the next, as the kernels read it: rows are padded to 16 bytes.
std::uint32_t wordsPerExample(const Dataset& data);

/// Workgroups of last_layer.comp for a batch: those of whole blocks of 128 rows.
std::uint32_t lastLayerGroups(std::size_t rows);

class GpuMemory {
  public:
    static constexpr std::uint32_t ringSlots = 1u << 14; ///< losses that the host has not read yet
    static constexpr std::uint64_t stepRecords = 4096;   ///< of whole steps that are not done yet
    static constexpr std::uint64_t alignment = 256;      ///< the largest that a device may ask for a binding

    /// Sums of losses of a batch's piece, one per workgroup: bytes, so that the next piece's can be bound.
    static std::uint64_t partialsOfPiece(std::size_t pieceRows);

    /// What training with these kernels takes, by the rung that chose them.
    GpuMemory(const gpu::Device& device, const TrainJob& job, Rung rung, const StepKernels& how);

    StepPlan plan;    ///< of a step
    TensorTable step; ///< its tensors
    /// Of a forward pass over a part of a split, in fp32 on every rung. In the same arenas: the next step
    /// overwrites what it leaves.
    TensorTable evaluation;
    std::size_t batch = 0;          ///< rows of a step, at most
    std::size_t pieceRows = 0;      ///< of them at hand at once (TrainJob::pieceRows())
    std::size_t evaluationRows = 0; ///< rows of an evaluation at a time, at most

    bool has(RunBuffer buffer) const { return bytes_[static_cast<std::size_t>(buffer)].has_value(); }
    /// For a buffer that is bound and never touched, the smallest there is. Throws std::logic_error if the
    /// run has no such buffer.
    gpu::BufferSpec specOf(RunBuffer buffer) const;
    /// What the device allocates for them, exactly.
    std::vector<MemoryUse> uses(const gpu::Device& device) const;
    /// The same by heap, each buffer where it would go now. What fits nowhere counts where it belongs.
    std::vector<std::uint64_t> heapBytes(const gpu::Device& device) const;

  private:
    gpu::Memory memoryOf(RunBuffer buffer) const;

    std::vector<std::optional<std::uint64_t>> bytes_; ///< by RunBuffer
    Offload offload_ = Offload::none;
};

/// Rows of the widest layer's values that the device can bind at once, in any way; one at least.
std::size_t bindableRows(const gpu::Device& device, const NetShape& shape);

/// Throws gpu::GpuError for a network that breaks a limit of the device, whatever it is used for.
void requireShape(const gpu::Device& device, const NetShape& shape);

/// Before kernels are chosen: on `best`, which may then do without gradients, these are counted.
GpuMemory gpuMemoryOf(const gpu::Device& device, const TrainJob& job, Rung rung);

/// Throws gpu::OutOfMemoryError, with memoryAdvice(), when gpuMemoryOf() the job does not fit into what the
/// device has left, and gpu::GpuError when it breaks another limit of the device.
void requireMemory(const gpu::Device& device, const TrainJob& job, Rung rung);

/// What would fit in place of a job that does not: "A batch of 512 fits; or the same batch with
/// --recompute 2." Empty: neither a smaller batch nor a remedy is enough.
/// budget   bytes of the device's own memory that it may take at most, even where more are left
std::string memoryAdvice(const gpu::Device& device, const TrainJob& job, Rung rung, std::uint64_t budget);

} // namespace lockstep
