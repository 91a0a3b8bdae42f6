// The networks of a population that one thread of a processor trains at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/cpu_info.h"
#include "engine/grid/population.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

/// Some members, side by side. What they compute depends neither on the other blocks nor on how train() calls
/// divide the steps. Used by one thread at a time.
class PopulationBlock {
  public:
    virtual ~PopulationBlock() = default;
    PopulationBlock() = default;
    PopulationBlock(const PopulationBlock&) = delete;
    PopulationBlock& operator=(const PopulationBlock&) = delete;

    /// Their numbers in the job. `element` below is a position in this list.
    virtual std::span<const std::uint32_t> members() const = 0;
    /// Steps completed by those that have not diverged.
    virtual std::uint64_t step() const = 0;
    virtual bool allDiverged() const = 0;

    /// Back to the initial weights.
    virtual void reset() = 0;
    virtual void train(std::uint64_t steps) = 0;

    /// What is known of a member without an evaluation: steps, divergence and the loss of its last batch.
    virtual MemberResult state(std::size_t element) const = 0;
    /// The sums of each member over the examples of evaluatedSplit().
    virtual std::vector<ScoreSum> score() = 0;
    /// In ParamLayout's order.
    virtual std::vector<float> parameters(std::size_t element) const = 0;
    /// Each member's outputs, after the output activation, for points [rows][inputs]:
    /// [members][rows][outputs].
    virtual std::vector<float> answers(std::span<const float> points, std::size_t rows) = 0;
};

using PopulationBlocks = std::vector<std::unique_ptr<PopulationBlock>>;

/// A network per block, trained by the plain loops of cpu:scalar. `job` must outlive the blocks.
PopulationBlocks plainPopulationBlocks(const PopulationJob& job);
/// As many networks per block as a vector has elements, all with one activation. `job` must outlive the
/// blocks.
PopulationBlocks vectorPopulationBlocks(const PopulationJob& job, VectorLevel level);

} // namespace lockstep
