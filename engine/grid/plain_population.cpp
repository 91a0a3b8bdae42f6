// One network after the other by the plain loops: what cpu:scalar does, step by step.
#include <algorithm>

#include "engine/grid/population_block.h"
#include "engine/plan/tensor.h"
#include "engine/step/cpu_ops.h"

namespace lockstep {

namespace {

/// What a step of cpu:scalar works with, for as long as one call takes: only weights and states are kept.
struct PlainBackend {
    PlainBackend(const TrainJob& job, const std::vector<float>& parameters)
        : arenas(job, scalarKernels(), 1), team(1), ops(arenas, team, nullptr) {
        ops.takeParts({0, 1});
        std::ranges::copy(parameters, arenas.parameters.data());
    }
    CpuArenas arenas;
    ThreadTeam team;
    CpuOps ops;
};

class PlainBlock final : public PopulationBlock {
  public:
    PlainBlock(const PopulationJob& job, std::uint32_t member) : job_(job), member_(member) { reset(); }

    std::span<const std::uint32_t> members() const override { return {&member_, 1}; }
    std::uint64_t step() const override { return state_.steps; }
    bool allDiverged() const override { return state_.diverged; }
    void reset() override {
        parameters_ = job_.initialParameters(member_);
        optimizerState_.assign(job_.settings.optimizer.stateArrays(), std::vector<float>(parameters_.size()));
        state_ = {};
    }

    void train(std::uint64_t steps) override {
        if (state_.diverged) return;
        const TrainJob alone = job_.alone(member_);
        PlainBackend backend(alone, parameters_);
        CpuArenas& arenas = backend.arenas;
        for (std::size_t array = 0; array < optimizerState_.size(); ++array)
            std::ranges::copy(optimizerState_[array], arenas.stateArray(array));
        for (; steps > 0; --steps, ++state_.steps) {
            execute(backend.ops, arenas.plan, stepSettings(alone.settings, arenas.order, state_.steps));
            state_.diverged = backend.ops.failed();
            if (state_.diverged) break;
            state_.batchLoss = backend.ops.loss();
        }
        std::ranges::copy(arenas.parameters.span(), parameters_.begin());
        for (std::size_t array = 0; array < optimizerState_.size(); ++array)
            std::ranges::copy(arenas.optimizerState[array].span(), optimizerState_[array].begin());
    }

    MemberResult state(std::size_t) const override { return state_; }
    std::vector<ScoreSum> score() override {
        const TrainJob alone = job_.alone(member_);
        const Split split = evaluatedSplit(*alone.data);
        const std::size_t count = alone.data->of(split).count;
        PlainBackend backend(alone, parameters_);
        backend.ops.beginEvaluation(alone.data->classes);
        const std::size_t capacity = backend.arenas.capacity;
        for (std::size_t first = 0; first < count; first += capacity)
            scoreRange(backend.ops, backend.arenas.shape, split, first, std::min(capacity, count - first));
        return {backend.ops.scored()};
    }

    std::vector<float> parameters(std::size_t) const override { return parameters_; }
    std::vector<float> answers(std::span<const float> points, std::size_t rows) override {
        TrainJob alone = job_.alone(member_);
        Dataset asked; // the points as examples, of any class or value
        asked.inputs = alone.data->inputs;
        asked.classes = alone.data->classes;
        asked.targetWidth = alone.data->targetWidth;
        asked.train.count = rows;
        asked.train.values.assign(points.begin(), points.end());
        asked.train.labels.assign(asked.classes > 0 ? rows : 0, 0);
        asked.train.targets.assign(asked.classes > 0 ? 0 : rows * asked.targetWidth, 0);
        alone.data = &asked;
        PlainBackend backend(alone, parameters_);
        const std::size_t capacity = backend.arenas.capacity;
        const std::size_t stride = roundUpToFour(alone.shape.outputs());
        std::vector<float> outputs;
        for (std::size_t first = 0; first < rows; first += capacity) {
            const std::size_t count = std::min(capacity, rows - first);
            backend.ops.gatherRange(Split::train, first, count);
            for (std::size_t layer = 0; layer < alone.shape.layers(); ++layer) backend.ops.dense(layer);
            const std::vector<float> padded =
                backend.arenas.tensor({TensorKind::activations, alone.shape.layers()}, count * stride);
            const std::vector<float> found = withoutPadding(padded, alone.shape.outputs(), stride);
            outputs.insert(outputs.end(), found.begin(), found.end());
        }
        return outputs;
    }

  private:
    const PopulationJob& job_;
    const std::uint32_t member_;
    std::vector<float> parameters_;
    std::vector<std::vector<float>> optimizerState_;
    MemberResult state_;
};

} // namespace

PopulationBlocks plainPopulationBlocks(const PopulationJob& job) {
    PopulationBlocks blocks;
    for (std::uint32_t member = 0; member < job.members.size(); ++member)
        blocks.push_back(std::make_unique<PlainBlock>(job, member));
    return blocks;
}

} // namespace lockstep
