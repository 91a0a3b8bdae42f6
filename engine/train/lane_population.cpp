// Networks in the lanes of vectors: a block of them goes through every step together.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "engine/cpu/aligned_array.h"
#include "engine/cpu/population_kernels.h"
#include "engine/net/activation.h"
#include "engine/net/param_layout.h"
#include "engine/train/population_block.h"

namespace lockstep {

namespace {

/// One layer's place in the block's arrays, in vectors.
struct LanePlace {
    PopulationShape shape;
    std::size_t offset = 0; ///< of its weights; its biases follow
};

/// What the blocks of a population share.
struct LanePlan {
    LanePlan(const PopulationJob& populationJob, const PopulationKernels& table);

    std::size_t rowFloats() const; ///< of the activations of one example, all lanes

    const PopulationJob& job;
    const PopulationKernels& kernels;
    const ParamLayout layout;
    const BatchOrder order; ///< batches only; every lane has its own seed
    const std::uint32_t targetKind;
    OptimizerSettings pace; ///< the job's with the rate 1 and no decay: what all members have in common
    bool ratesChange;       ///< from step to step
    std::vector<LanePlace> layers;
    std::size_t parameters = 0;
    std::size_t capacity = 0; ///< examples that are worked on at a time
};

LanePlan::LanePlan(const PopulationJob& populationJob, const PopulationKernels& table)
    : job(populationJob), kernels(table), layout(job.shape),
      order(job.data.front()->train.count, job.settings.batch, 0, job.settings.shuffle),
      targetKind(lockstep::targetKind(*job.data.front(), job.shape)), pace(job.settings.optimizer) {
    pace.learningRate = 1;
    pace.weightDecay = 0;
    const bool adam = pace.kind == Optimizer::adam || pace.kind == Optimizer::adamw;
    ratesChange = adam || pace.schedule != Schedule::constant || pace.warmupSteps > 0;
    for (std::size_t l = 0; l < layout.layers(); ++l) {
        const LayerLayout& place = layout.layer(l);
        layers.push_back({{0, place.inputs, place.outputs}, parameters});
        parameters += place.outputs * (place.inputs + 1);
    }
    // The activations of the examples at hand stay in the first-level cache, beside weights and gradients.
    constexpr std::size_t cacheFloats = 6144;
    const std::size_t rows = cacheFloats / rowFloats() / 4 * 4;
    capacity = std::clamp<std::size_t>(rows, 4, 64);
}

std::size_t LanePlan::rowFloats() const {
    std::size_t neurons = job.shape.inputs();
    for (const LanePlace& layer : layers) neurons += 2 * layer.shape.outputs;
    return neurons * kernels.lanes;
}

/// The activations of the examples at hand, for as long as one call takes.
struct LaneWorkspace {
    struct Layer {
        AlignedArray<float> outputs; ///< Y
        AlignedArray<float> sums;    ///< Z, only where the activation's derivative needs it
        AlignedArray<float> dSums;   ///< dZ
    };

    LaneWorkspace(const LanePlan& plan, const NetShape& shape)
        : examples(plan.capacity * plan.kernels.lanes),
          inputs(plan.capacity * plan.job.shape.inputs() * plan.kernels.lanes),
          targets(plan.capacity * plan.job.data.front()->targetWidth * plan.kernels.lanes),
          gradients(plan.parameters * plan.kernels.lanes) {
        for (std::size_t l = 0; l < plan.layers.size(); ++l) {
            const std::size_t size = plan.capacity * plan.layers[l].shape.outputs * plan.kernels.lanes;
            const bool keepsSums = derivativeNeedsSum(shape.activationOf(l));
            layers.push_back({AlignedArray<float>(size), AlignedArray<float>(keepsSums ? size : 0),
                              AlignedArray<float>(size)});
        }
    }

    /// What activationDerivative takes.
    const float* saved(std::size_t layer) const {
        return layers[layer].sums.size() > 0 ? layers[layer].sums.data() : layers[layer].outputs.data();
    }

    AlignedArray<std::uint32_t> examples;
    AlignedArray<float> inputs;
    AlignedArray<TargetWord> targets;
    AlignedArray<float> gradients;
    std::vector<Layer> layers;
};

class LaneBlock final : public PopulationBlock {
  public:
    /// At most plan.kernels.lanes members, all of one activation. Lanes that are left over are copies of the
    /// last member.
    LaneBlock(std::shared_ptr<const LanePlan> plan, std::vector<std::uint32_t> members);

    std::span<const std::uint32_t> members() const override { return members_; }
    std::uint64_t step() const override { return step_; }
    bool allDiverged() const override;
    void reset() override;
    void train(std::uint64_t steps) override;
    void evaluate(std::span<MemberResult> results) override;
    std::vector<float> parameters(std::size_t lane) const override;
    std::vector<float> answers(std::span<const float> points, std::size_t rows) override;

  private:
    std::uint32_t numberOf(std::size_t lane) const { return members_[std::min(lane, members_.size() - 1)]; }
    const PopulationMember& memberOf(std::size_t lane) const { return plan_->job.members[numberOf(lane)]; }
    const Dataset& dataOf(std::size_t lane) const { return *plan_->job.data[memberOf(lane).data]; }
    void load(std::size_t lane, std::span<const float> arena);
    void takeEpoch(std::uint64_t epoch);
    void takeHyperparameters();
    void takeRates();
    void gather(LaneWorkspace& at, Split split, std::size_t rows) const;
    void forward(LaneWorkspace& at, std::size_t rows) const;
    void backward(LaneWorkspace& at, std::size_t rows, bool add) const;
    void trainStep(LaneWorkspace& at);
    LossShape lossShape(std::size_t rows) const;

    const std::shared_ptr<const LanePlan> plan_;
    const std::vector<std::uint32_t> members_;
    NetShape shape_; ///< with the members' activation
    bool alike_;     ///< all lanes see the same examples in the same order

    AlignedArray<float> parameters_; ///< [plan.parameters]
    std::vector<AlignedArray<float>> states_;
    double learningRates_[mostPopulationLanes] = {};
    double decays_[mostPopulationLanes] = {}; ///< of adamw
    PopulationKeys keys_{};
    PopulationRates rates_{};
    PopulationLosses losses_{};
    std::vector<std::uint64_t> stoppedAt_; ///< by lane: the step whose loss was not finite
    std::uint64_t step_ = 0;
    std::uint64_t epoch_ = 0; ///< that keys_ are of
};

LaneBlock::LaneBlock(std::shared_ptr<const LanePlan> plan, std::vector<std::uint32_t> members)
    : plan_(std::move(plan)), members_(std::move(members)), shape_(plan_->job.shape),
      parameters_(plan_->parameters * plan_->kernels.lanes), stoppedAt_(plan_->kernels.lanes) {
    shape_.activation = memberOf(0).activation;
    alike_ = std::ranges::all_of(members_, [&](std::uint32_t number) {
        const PopulationMember& member = plan_->job.members[number];
        return member.seed == memberOf(0).seed && member.data == memberOf(0).data;
    });
    for (std::size_t array = 0; array < plan_->pace.stateArrays(); ++array)
        states_.emplace_back(parameters_.size());
    takeHyperparameters();
    reset();
}

bool LaneBlock::allDiverged() const {
    return std::all_of(losses_.learns, losses_.learns + plan_->kernels.lanes,
                       [](std::int32_t learns) { return learns == 0; });
}

void LaneBlock::reset() {
    for (std::size_t lane = 0; lane < plan_->kernels.lanes; ++lane)
        load(lane, plan_->job.initialParameters(numberOf(lane)));
    for (AlignedArray<float>& state : states_) std::fill_n(state.data(), state.size(), 0.0f);
    std::ranges::fill(losses_.sum, 0.0);
    std::ranges::fill(losses_.mean, MemberResult::unknown);
    std::ranges::fill(losses_.learns, -1);
    step_ = 0;
    takeEpoch(0);
    takeRates();
}

void LaneBlock::load(std::size_t lane, std::span<const float> arena) {
    float* to = parameters_.data() + lane;
    for (std::size_t l = 0; l < plan_->layers.size(); ++l) {
        const LayerLayout& place = plan_->layout.layer(l);
        for (std::size_t o = 0; o < place.outputs; ++o)
            for (std::size_t i = 0; i < place.inputs; ++i, to += plan_->kernels.lanes)
                *to = arena[place.weightOffset + o * place.rowStride + i];
        for (std::size_t o = 0; o < place.outputs; ++o, to += plan_->kernels.lanes)
            *to = arena[place.biasOffset + o];
    }
}

std::vector<float> LaneBlock::parameters(std::size_t lane) const {
    std::vector<float> arena(plan_->layout.size());
    const float* from = parameters_.data() + lane;
    for (std::size_t l = 0; l < plan_->layers.size(); ++l) {
        const LayerLayout& place = plan_->layout.layer(l);
        for (std::size_t o = 0; o < place.outputs; ++o)
            for (std::size_t i = 0; i < place.inputs; ++i, from += plan_->kernels.lanes)
                arena[place.weightOffset + o * place.rowStride + i] = *from;
        for (std::size_t o = 0; o < place.outputs; ++o, from += plan_->kernels.lanes)
            arena[place.biasOffset + o] = *from;
    }
    return arena;
}

void LaneBlock::takeEpoch(std::uint64_t epoch) {
    epoch_ = epoch;
    for (std::size_t lane = 0; lane < plan_->kernels.lanes; ++lane) {
        const shared::OrderKeys keys = orderKeys(memberOf(lane).seed, epoch);
        keys_.k0[lane] = keys.k0;
        keys_.k1[lane] = keys.k1;
        keys_.k2[lane] = keys.k2;
        keys_.k3[lane] = keys.k3;
    }
}

/// What does not change from step to step.
void LaneBlock::takeHyperparameters() {
    for (std::size_t lane = 0; lane < plan_->kernels.lanes; ++lane) {
        const TrainSettings own = plan_->job.alone(numberOf(lane)).settings;
        const shared::UpdateParams update = stepSettings(own, plan_->order, 0).update;
        learningRates_[lane] = own.optimizer.effectiveLearningRate();
        decays_[lane] = own.optimizer.kind == Optimizer::adamw ? own.optimizer.effectiveWeightDecay() : 0;
        rates_.momentum[lane] = update.momentum;
        rates_.l2[lane] = update.l2;
    }
}

/// The optimizer's numbers of step_: what changes from step to step is the same factor for all members.
void LaneBlock::takeRates() {
    const TrainSettings pace{plan_->pace, plan_->job.settings.batch, 0, plan_->job.settings.shuffle};
    rates_.common = stepSettings(pace, plan_->order, step_).update;
    const double factor = learningRate(plan_->pace, step_);
    for (std::size_t lane = 0; lane < plan_->kernels.lanes; ++lane) {
        const double rate = learningRates_[lane];
        rates_.learningRate[lane] =
            static_cast<float>(rate * static_cast<double>(rates_.common.learningRate));
        rates_.weightKeep[lane] = static_cast<float>(1 - rate * factor * decays_[lane]);
    }
}

/// The chosen examples into the lanes of X and of the targets.
void LaneBlock::gather(LaneWorkspace& at, Split split, std::size_t rows) const {
    const std::size_t lanes = plan_->kernels.lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const Dataset& data = dataOf(lane);
        const Examples& examples = split == Split::train ? data.train : data.test;
        for (std::size_t row = 0; row < rows; ++row) {
            const std::size_t example = at.examples[row * lanes + lane];
            const float* values = examples.values.data() + example * data.inputs;
            float* inputs = at.inputs.data() + row * data.inputs * lanes + lane;
            for (std::size_t i = 0; i < data.inputs; ++i) inputs[i * lanes] = values[i];
            TargetWord* targets = at.targets.data() + row * data.targetWidth * lanes + lane;
            if (data.classes > 0)
                targets[0] = examples.labels[example];
            else
                for (std::size_t j = 0; j < data.targetWidth; ++j)
                    targets[j * lanes] =
                        std::bit_cast<TargetWord>(examples.targets[example * data.targetWidth + j]);
        }
    }
}

void LaneBlock::forward(LaneWorkspace& at, std::size_t rows) const {
    const float* below = at.inputs.data();
    for (std::size_t l = 0; l < plan_->layers.size(); ++l) {
        PopulationShape shape = plan_->layers[l].shape;
        shape.rows = rows;
        LaneWorkspace::Layer& layer = at.layers[l];
        plan_->kernels.dense(shape, below,
                             parameters_.data() + plan_->layers[l].offset * plan_->kernels.lanes,
                             shape_.activationOf(l), layer.outputs.data(),
                             layer.sums.size() > 0 ? layer.sums.data() : nullptr);
        below = layer.outputs.data();
    }
}

void LaneBlock::backward(LaneWorkspace& at, std::size_t rows, bool add) const {
    const std::size_t lanes = plan_->kernels.lanes;
    for (std::size_t l = plan_->layers.size(); l-- > 0;) {
        PopulationShape shape = plan_->layers[l].shape;
        shape.rows = rows;
        const std::size_t offset = plan_->layers[l].offset * lanes;
        if (l > 0)
            plan_->kernels.denseBackwardInputs(shape, at.layers[l].dSums.data(), parameters_.data() + offset,
                                               shape_.activationOf(l - 1), at.saved(l - 1),
                                               at.layers[l - 1].dSums.data());
        plan_->kernels.denseBackwardWeights(shape, at.layers[l].dSums.data(),
                                            l > 0 ? at.layers[l - 1].outputs.data() : at.inputs.data(), add,
                                            at.gradients.data() + offset);
    }
}

LossShape LaneBlock::lossShape(std::size_t rows) const {
    LossShape shape;
    shape.rows = rows;
    shape.outputs = shape_.outputs();
    shape.stride = shape_.outputs();
    shape.targetWidth = plan_->job.data.front()->targetWidth;
    shape.loss = shape_.loss;
    shape.targetKind = plan_->targetKind;
    shape.outputActivation = shape_.outputActivation;
    return shape;
}

void LaneBlock::trainStep(LaneWorkspace& at) {
    const PopulationKernels& kernels = plan_->kernels;
    const BatchRange range = plan_->order.range(step_);
    if (range.epoch != epoch_) takeEpoch(range.epoch);
    if (plan_->ratesChange) takeRates();
    const std::size_t terms = lossTerms(shape_.loss, range.rows, shape_.outputs());
    for (std::size_t done = 0; done < range.rows; done += plan_->capacity) {
        const std::size_t rows = std::min(plan_->capacity, range.rows - done);
        kernels.orderExamples({range.first + done, rows, plan_->order.shuffles(), alike_},
                              plan_->order.count(), keys_, at.examples.data());
        gather(at, Split::train, rows);
        forward(at, rows);
        LossShape loss = lossShape(rows);
        loss.scale = 1.0 / static_cast<double>(terms);
        const std::size_t last = plan_->layers.size() - 1;
        kernels.lossAndGradient(loss, at.layers[last].outputs.data(), at.saved(last), at.targets.data(),
                                at.layers[last].dSums.data(), losses_);
        backward(at, rows, done > 0);
    }
    const auto before = std::to_array(losses_.learns);
    if (kernels.settleLosses(terms, losses_))
        for (std::size_t lane = 0; lane < kernels.lanes; ++lane)
            if (before[lane] != 0 && losses_.learns[lane] == 0) stoppedAt_[lane] = step_;
    kernels.update(plan_->pace.kind, rates_, losses_, plan_->parameters, at.gradients.data(),
                   parameters_.data(), states_.empty() ? nullptr : states_[0].data(),
                   states_.size() < 2 ? nullptr : states_[1].data());
    ++step_;
}

void LaneBlock::train(std::uint64_t steps) {
    LaneWorkspace workspace(*plan_, shape_);
    for (; steps > 0 && !allDiverged(); --steps) trainStep(workspace);
}

void LaneBlock::evaluate(std::span<MemberResult> results) {
    const PopulationKernels& kernels = plan_->kernels;
    const Dataset& data = *plan_->job.data.front();
    const Split split = data.test.count > 0 ? Split::test : Split::train;
    const std::size_t count = data.test.count > 0 ? data.test.count : data.train.count;
    LaneWorkspace at(*plan_, shape_);
    double sums[mostPopulationLanes] = {};
    std::uint64_t correct[mostPopulationLanes] = {};
    for (std::size_t first = 0; first < count; first += plan_->capacity) {
        const std::size_t rows = std::min(plan_->capacity, count - first);
        kernels.orderExamples({first, rows, false, false}, count, keys_, at.examples.data());
        gather(at, split, rows);
        forward(at, rows);
        kernels.score(lossShape(rows), data.classes, at.layers.back().outputs.data(), at.targets.data(), sums,
                      correct);
    }
    const auto terms = static_cast<double>(lossTerms(shape_.loss, count, shape_.outputs()));
    for (std::size_t lane = 0; lane < results.size(); ++lane) {
        MemberResult& result = results[lane];
        result.diverged = losses_.learns[lane] == 0;
        result.steps = result.diverged ? stoppedAt_[lane] : step_;
        result.batchLoss = losses_.mean[lane];
        result.loss = static_cast<float>(sums[lane] / terms);
        if (data.classes > 0)
            result.accuracy =
                static_cast<float>(static_cast<double>(correct[lane]) / static_cast<double>(count));
    }
}

std::vector<float> LaneBlock::answers(std::span<const float> points, std::size_t rows) {
    const std::size_t lanes = plan_->kernels.lanes;
    const std::size_t inputs = shape_.inputs();
    const std::size_t outputs = shape_.outputs();
    LaneWorkspace at(*plan_, shape_);
    std::vector<float> result(members_.size() * rows * outputs);
    for (std::size_t first = 0; first < rows; first += plan_->capacity) {
        const std::size_t now = std::min(plan_->capacity, rows - first);
        for (std::size_t k = 0; k < now * inputs; ++k)
            std::fill_n(at.inputs.data() + k * lanes, lanes, points[first * inputs + k]);
        forward(at, now);
        for (std::size_t lane = 0; lane < members_.size(); ++lane)
            for (std::size_t k = 0; k < now * outputs; ++k)
                result[(lane * rows + first) * outputs + k] = at.layers.back().outputs[k * lanes + lane];
    }
    return result;
}

} // namespace

PopulationBlocks lanePopulationBlocks(const PopulationJob& job, VectorLevel level) {
    const auto plan = std::make_shared<const LanePlan>(job, populationKernelsFor(level));
    std::vector<std::uint32_t> members(job.members.size());
    std::iota(members.begin(), members.end(), 0u);
    const auto activationOf = [&](std::uint32_t member) { return job.members[member].activation; };
    std::ranges::stable_sort(members, {}, activationOf);
    PopulationBlocks blocks;
    for (auto first = members.begin(); first != members.end();) {
        const auto most = std::min(static_cast<std::ptrdiff_t>(plan->kernels.lanes), members.end() - first);
        const auto last = std::find_if(first, first + most, [&](std::uint32_t member) {
            return activationOf(member) != activationOf(*first);
        });
        blocks.push_back(std::make_unique<LaneBlock>(plan, std::vector<std::uint32_t>(first, last)));
        first = last;
    }
    return blocks;
}

} // namespace lockstep
