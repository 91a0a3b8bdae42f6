// The memory of one training run on a CPU, shared by its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/cpu/memory.h"
#include "engine/many/step_exchange.h"
#include "engine/net/param_layout.h"
#include "engine/plan/memory_use.h"
#include "engine/plan/plan.h"
#include "engine/plan/tensor_table.h"
#include "engine/plan/work.h"
#include "engine/step/train_job.h"

namespace lockstep {

/// Arrays of one layer for the rows at hand.
struct LayerArrays {
    float* outputs = nullptr; ///< A[l + 1]
    float* sums = nullptr;    ///< Z[l]; null unless the activation's derivative needs it
    float* dSums = nullptr;   ///< dZ[l]

    /// What activationDerivative takes: the preactivations, or the outputs.
    const float* saved() const { return sums != nullptr ? sums : outputs; }
};

/// What a run takes on a CPU, before any of it is allocated.
struct CpuMemory {
    /// byNeuron   as in CpuArenas
    CpuMemory(const TrainJob& job, const CpuKernels& kernels, std::size_t threads, bool byNeuron);

    StepPlan plan;               ///< of a step; where the update is folded into it, there are no gradients
    const std::size_t pieceRows; ///< that a step has at hand: its batch, or the largest part of it
    const std::size_t capacity;  ///< rows that the activations hold: a batch, or a chunk of an evaluation
    const TensorStorage storage;
    TensorTable tensors; ///< of the plan

    /// What is allocated for them. What threads and kernels keep besides is not counted.
    std::vector<MemoryUse> uses() const;
};

/// The threads share these arrays without locks: between two barriers, no two threads write the same rows (or
/// slices of weights). Those of a batch are [rows][width rounded up to four] or, `byNeuron`, as SmallOps
/// wants them: [width rounded up to 16][capacity].
struct CpuArenas : CpuMemory {
    /// Parameters are the seed's initial weights. Throws std::bad_alloc.
    CpuArenas(const TrainJob& job, const CpuKernels& kernels, std::size_t threads, bool byNeuron = false);

    const Dataset& data;
    const NetShape shape;
    OptimizerSettings optimizer;
    const ParamLayout layout;
    const BatchOrder order;
    const TrainSettings settings; ///< but for the optimizer
    const std::uint32_t targetKind;
    const CpuKernels& kernels;
    const bool byNeuron;
    const std::size_t partsPerThread; ///< when all threads run and have equal shares
    AlignedArray<float> parameters;
    AlignedArray<float> gradients; ///< empty when the plan stores none
    std::vector<AlignedArray<float>> optimizerState;

    AlignedArray<float> weightCopies; ///< rounded, by `tensors`; empty where products read the parameters
    std::vector<std::uint32_t>
        largestParts; ///< by scaleSlot(), then by part: bits of a tensor's largest number

    AlignedArray<float> activations; ///< A, by `tensors`; so are the next two
    AlignedArray<float> sums;        ///< Z
    AlignedArray<float> dSums;       ///< dZ
    AlignedArray<TargetWord> targets;
    float* inputs = nullptr; ///< A[0]
    std::vector<LayerArrays> layers;

    StepWork work; ///< of the plan, counted for every batch; only the thread that is timed asks

    std::optional<StepExchange> ranks; ///< where several share the job
    bool exchanging = true;            ///< else a step of one of them goes without the others
    double summedLoss = 0;             ///< of all ranks
    std::exception_ptr rankFailure;    ///< why an exchange failed, for whoever waits for the threads

    std::vector<double> partialLosses; ///< of a batch, one per part of a step

    /// Where the layer's gradients lie until they are summed up.
    FloatRange gradientsOf(std::size_t layer) const {
        return ranks ? ranks->shards().gradients(layer)
                     : FloatRange{layout.layer(layer).weightOffset, layout.endOf(layer)};
    }
    /// Tensors that are not needed at the same time lie in the same memory.
    bool sharesMemory() const { return settings.memory.shareMemory(); }
    /// How many parts a step has.
    std::size_t parts() const { return partialLosses.size(); }
    /// Shares are cut at multiples of so many parts. Kernels whose results depend on the cuts always work on
    /// one of the equal shares of the whole team.
    std::size_t partGrain() const { return kernels.anyCut ? 1 : partsPerThread; }
    /// A[layer]: what the layer reads.
    const float* below(std::size_t layer) const { return layer == 0 ? inputs : layers[layer - 1].outputs; }
    /// The layer's weights as the operation reads them; null: outside of a plan.
    const float* weights(std::size_t layer, const PlannedOperation* operation) const;
    float* weightCopy(std::size_t layer) { return at(weightCopies, {TensorKind::weightCopies, layer}); }
    /// Takes other settings of the same optimizer, between steps. They can change whether the update is
    /// folded.
    void setOptimizer(const OptimizerSettings& other);
    /// The loss of `rows` rows of a batch of `batchRows`, outputs stored row by row.
    LossShape lossShape(std::size_t rows, std::size_t batchRows) const;
    float* stateArray(std::size_t index);  ///< null when the optimizer keeps fewer
    std::vector<MemoryUse> memory() const; ///< as uses(), but what was allocated
    /// Copies the first `floats` floats of a tensor, row by row. Rows are padded to a multiple of four;
    /// targets are words, without padding.
    std::vector<float> tensor(const TensorId& id, std::size_t floats) const;

  private:
    void countWork();
    void placeLayers();
    float* at(AlignedArray<float>& arena, const TensorId& id) {
        return arena.data() + tensors.at(id).offset / sizeof(float);
    }
    const void* arena(TensorArena which) const;
};

} // namespace lockstep
