// Forward and backward passes of a block of small networks, one in each element of a vector.
//
// A fused form of the recipe (engine/step/step.cpp): takeBatch() is its line 1, forward() 2,
// lossAndGradient() 3, backward() 4 and the gradients of 5; VectorBlock::trainStep() (vector_population.cpp)
// walks through them and updates. It cannot use the recipe itself, whose operations work on one network: here
// every operation works on 4 to 16 networks that have their own rates, batches and ends, and a batch passes
// in parts that stay in the first-level cache. tests/population_test.cpp compares every member with the same
// network trained alone by the recipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/memory.h"
#include "engine/cpu/population_kernels.h"
#include "engine/grid/population.h"

namespace lockstep {

/// One layer's place in a block's arrays, in vectors.
struct VectorPlace {
    PopulationShape shape;  ///< without rows
    std::size_t offset = 0; ///< of its weights; its biases follow
};

/// What the blocks of a population share. `job` outlives it.
struct VectorPlan {
    VectorPlan(const PopulationJob& populationJob, const CpuPopulationKernels& table);

    const PopulationJob& job;
    const CpuPopulationKernels& kernels;
    const std::size_t arenaFloats;                 ///< ParamLayout::size()
    const std::vector<std::uint32_t> arenaIndices; ///< of a network's parameters
    const BatchOrder order; ///< of batches; that of examples depends on each network's seed
    const std::uint32_t targetKind;
    OptimizerSettings pace;   ///< the job's with a rate of 1 and no decay: what all members have in common
    bool ratesChange = false; ///< from step to step
    std::vector<VectorPlace> layers;
    std::size_t parameters = 0; ///< of one network
    std::size_t capacity = 0;   ///< examples that a pass takes at a time
};

/// The examples of all networks of a vector: where they lie, and in which order they come.
struct VectorExamples {
    PopulationData data;
    PopulationKeys keys{}; ///< of the epoch
    std::uint64_t epoch = 0;
    bool alike = false; ///< all networks see the same examples in the same order
};

/// Activations and gradients of the examples at hand: they live as long as a call of the block.
class VectorPass {
  public:
    /// `shape` is the plan's with the members' activation. Throws std::bad_alloc.
    VectorPass(const VectorPlan& plan, const NetShape& shape);

    /// X and targets = the examples at positions [first, first + rows) of the epoch's order; rows is at most
    /// the plan's capacity.
    void takeBatch(const VectorExamples& from, std::size_t first, std::size_t rows);
    /// The same of the file's order.
    void takeRange(const VectorExamples& from, std::size_t first, std::size_t rows);
    /// X [rows][inputs] = these points, the same for all networks.
    void takePoints(const float* points, std::size_t rows);

    void forward(const float* parameters);
    /// Adds the loss terms, and leaves their gradients for backward(). `terms` are the whole batch's.
    void lossAndGradient(std::size_t terms, PopulationLosses& losses);
    /// Gradients of all parameters; added to those of the batch's part before, where `add`.
    void backward(const float* parameters, bool add);
    /// Adds the loss terms and the examples answered rightly.
    void score(double* losses, std::uint64_t* correct) const;

    const float* outputs() const { return layers_.back().outputs.data(); }
    const float* gradients() const { return gradients_.data(); }

  private:
    struct Layer {
        AlignedArray<float> outputs; ///< Y
        AlignedArray<float> sums;    ///< Z, only where the activation's derivative needs it
        AlignedArray<float> dSums;   ///< dZ
    };

    void order(const VectorExamples& from, const PopulationBatch& batch);
    void gather(const VectorExamples& from, const std::uint32_t* examples);
    PopulationShape shapeOf(std::size_t layer) const;
    LossShape lossShape() const;
    /// What activationDerivative takes.
    const float* saved(std::size_t layer) const {
        return layers_[layer].sums.size() > 0 ? layers_[layer].sums.data() : layers_[layer].outputs.data();
    }

    const VectorPlan& plan_;
    const NetShape& shape_;
    std::size_t rows_ = 0;
    std::vector<Layer> layers_;
    AlignedArray<float> inputs_; ///< X
    AlignedArray<TargetWord> targets_;
    AlignedArray<float> gradients_; ///< as the parameters

    // Numbers of examples are computed some batches ahead: a vector of positions at a time.
    static constexpr std::size_t orderedRows = 128; ///< at least a plan's capacity
    AlignedArray<std::uint32_t> examples_;
    PopulationBatch ordered_; ///< the positions of examples_ ...
    std::uint64_t epoch_ = 0; ///< ... in this epoch's order
};

} // namespace lockstep
