// Forward and backward passes of a block of small networks, one in each element of a vector.
//
// A fused form of the recipe (engine/step/step.cpp): takeBatch() is its line 1, forward() 2,
// lossAndGradient() 3, backward() 4 and the gradients of 5; VectorBlock::trainStep() (vector_population.cpp)
// walks through them and updates. It cannot use the recipe itself, whose operations work on one network: here
// every operation works on 4 to 16 networks that have their own rates, batches and ends, and a batch passes
// in parts that stay in the first-level cache. tests/population_test.cpp compares every member with the same
// network trained alone by the recipe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/memory.h"
#include "engine/cpu/population_kernels.h"
#include "engine/grid/population.h"
#include "engine/net/activation.h"
#include "engine/net/param_layout.h"

namespace lockstep {

/// One layer's place in a block's arrays, in vectors.
struct VectorPlace {
    PopulationShape shape;  ///< without rows
    std::size_t offset = 0; ///< of its weights; its biases follow
};

/// What the blocks of a population share. `job` outlives it.
struct VectorPlan {
    VectorPlan(const PopulationJob& populationJob, const CpuPopulationKernels& table)
        : job(populationJob), kernels(table), arenaFloats(ParamLayout(job.shape).size()),
          arenaIndices(unpaddedParameters(job.shape)),
          order(job.data.front()->train.count, job.settings.batch, 0, job.settings.shuffle),
          targetKind(lockstep::targetKind(*job.data.front(), job.shape)), pace(job.settings.optimizer) {
        pace.learningRate = 1;
        pace.weightDecay = 0;
        const bool corrects = infoOf(pace.kind).has(correctsBias);
        ratesChange = corrects || pace.schedule != Schedule::constant || pace.warmupSteps > 0;
        std::size_t vectorsPerRow = job.shape.inputs(); // of the activations of one example
        for (std::size_t l = 0; l < job.shape.layers(); ++l) {
            const PopulationShape shape{0, job.shape.widths[l], job.shape.widths[l + 1]};
            layers.push_back({shape, parameters});
            parameters += shape.outputs * (shape.inputs + 1);
            vectorsPerRow += 2 * shape.outputs;
        }
        // Half of a first-level cache: weights and gradients want the other half.
        constexpr std::size_t cacheFloats = 6144;
        const std::size_t rows = cacheFloats / (vectorsPerRow * kernels.elements) / 4 * 4;
        capacity = std::clamp<std::size_t>(rows, 4, 64);
    }

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
    VectorPass(const VectorPlan& plan, const NetShape& shape)
        : plan_(plan), shape_(shape), inputs_(plan.capacity * shape.inputs() * plan.kernels.elements),
          targets_(plan.capacity * plan.job.data.front()->targetWidth * plan.kernels.elements),
          gradients_(plan.parameters * plan.kernels.elements),
          examples_(orderedRows * plan.kernels.elements) {
        for (std::size_t l = 0; l < plan.layers.size(); ++l) {
            const std::size_t size = plan.capacity * plan.layers[l].shape.outputs * plan.kernels.elements;
            const bool keepsSums = derivativeNeedsSum(shape.activationOf(l));
            layers_.push_back({AlignedArray<float>(size), AlignedArray<float>(keepsSums ? size : 0),
                               AlignedArray<float>(size)});
        }
    }

    /// X and targets = the examples at positions [first, first + rows) of the epoch's order; rows is at most
    /// the plan's capacity.
    void takeBatch(const VectorExamples& from, std::size_t first, std::size_t rows) {
        rows_ = rows;
        const bool known =
            epoch_ == from.epoch && first >= ordered_.first && first + rows <= ordered_.first + ordered_.rows;
        if (!known)
            order(from, {first, std::min(orderedRows, plan_.order.count() - first), plan_.order.shuffles(),
                         from.alike});
        gather(from, examples_.data() + (first - ordered_.first) * (from.alike ? 1 : plan_.kernels.elements));
    }

    /// The same of the file's order.
    void takeRange(const VectorExamples& from, std::size_t first, std::size_t rows) {
        rows_ = rows;
        order(from, {first, rows, false, from.alike});
        gather(from, examples_.data());
    }

    /// X [rows][inputs] = these points, the same for all networks.
    void takePoints(const float* points, std::size_t rows) {
        rows_ = rows;
        for (std::size_t k = 0; k < rows * shape_.inputs(); ++k)
            std::fill_n(inputs_.data() + k * plan_.kernels.elements, plan_.kernels.elements, points[k]);
    }

    void forward(const float* parameters) {
        const float* below = inputs_.data();
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            Layer& layer = layers_[l];
            plan_.kernels.dense(shapeOf(l), below,
                                parameters + plan_.layers[l].offset * plan_.kernels.elements,
                                shape_.activationOf(l), layer.outputs.data(),
                                layer.sums.size() > 0 ? layer.sums.data() : nullptr);
            below = layer.outputs.data();
        }
    }

    /// Adds the loss terms, and leaves their gradients for backward(). `terms` are the whole batch's.
    void lossAndGradient(std::size_t terms, PopulationLosses& losses) {
        LossShape shape = lossShape();
        shape.scale = 1.0 / static_cast<double>(terms);
        plan_.kernels.lossAndGradient(shape, outputs(), saved(layers_.size() - 1), targets_.data(),
                                      layers_.back().dSums.data(), losses);
    }

    /// Gradients of all parameters; added to those of the batch's part before, where `add`.
    void backward(const float* parameters, bool add) {
        for (std::size_t l = layers_.size(); l-- > 0;) {
            const std::size_t offset = plan_.layers[l].offset * plan_.kernels.elements;
            const float* dSums = layers_[l].dSums.data();
            if (l > 0)
                plan_.kernels.denseBackwardInputs(shapeOf(l), dSums, parameters + offset,
                                                  shape_.activationOf(l - 1), saved(l - 1),
                                                  layers_[l - 1].dSums.data());
            const float* below = l > 0 ? layers_[l - 1].outputs.data() : inputs_.data();
            plan_.kernels.denseBackwardWeights(shapeOf(l), dSums, below, add, gradients_.data() + offset);
        }
    }

    /// Adds the loss terms and the examples answered rightly.
    void score(double* losses, std::uint64_t* correct) const {
        plan_.kernels.score(lossShape(), plan_.job.data.front()->classes, outputs(), targets_.data(), losses,
                            correct);
    }

    const float* outputs() const { return layers_.back().outputs.data(); }
    const float* gradients() const { return gradients_.data(); }

  private:
    struct Layer {
        AlignedArray<float> outputs; ///< Y
        AlignedArray<float> sums;    ///< Z, only where the activation's derivative needs it
        AlignedArray<float> dSums;   ///< dZ
    };

    void order(const VectorExamples& from, const PopulationBatch& batch) {
        ordered_ = batch;
        epoch_ = from.epoch;
        plan_.kernels.orderExamples(batch, plan_.order.count(), from.keys, examples_.data());
    }

    void gather(const VectorExamples& from, const std::uint32_t* examples) {
        plan_.kernels.gatherExamples(from.data, rows_, from.alike, examples, inputs_.data(), targets_.data());
    }

    PopulationShape shapeOf(std::size_t layer) const {
        PopulationShape shape = plan_.layers[layer].shape;
        shape.rows = rows_;
        return shape;
    }

    LossShape lossShape() const {
        LossShape shape;
        shape.rows = rows_;
        shape.outputs = shape_.outputs();
        shape.stride = shape_.outputs();
        shape.targetWidth = plan_.job.data.front()->targetWidth;
        shape.loss = shape_.loss;
        shape.targetKind = plan_.targetKind;
        shape.outputActivation = shape_.outputActivation;
        return shape;
    }

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
