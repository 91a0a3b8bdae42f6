// Networks side by side in SIMD registers, one per element: a block of them goes through every step together.
//
// LanePass holds the recipe from dense() to denseBackwardWeights(), this file the rest of trainStep() in
// engine/step/step.cpp. They cannot use its operations, which work on the examples of one network: a register
// would hold examples instead of networks, and networks this small would leave most of it empty.
// tests/population_test.cpp compares every network with the same one trained alone by cpu:scalar.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "engine/grid/lane_pass.h"
#include "engine/grid/population_block.h"

namespace lockstep {

namespace {

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
    std::vector<float> batchLosses() const override { return {losses_.mean, losses_.mean + members_.size()}; }
    void evaluate(std::span<MemberResult> results) override;
    std::vector<float> parameters(std::size_t lane) const override;
    std::vector<float> answers(std::span<const float> points, std::size_t rows) override;

  private:
    std::uint32_t numberOf(std::size_t lane) const { return members_[std::min(lane, members_.size() - 1)]; }
    const PopulationMember& memberOf(std::size_t lane) const { return plan_->job.members[numberOf(lane)]; }
    void load(std::size_t lane, std::span<const float> arena);
    void takeEpoch(std::uint64_t epoch);
    void takeHyperparameters();
    void takeRates();
    LaneExamples examplesOf(Split split) const;
    void trainStep(LanePass& pass);

    const std::shared_ptr<const LanePlan> plan_;
    const std::vector<std::uint32_t> members_;
    NetShape shape_; ///< with the members' activation

    AlignedArray<float> parameters_; ///< [plan.parameters]
    std::vector<AlignedArray<float>> states_;
    double learningRates_[mostPopulationLanes] = {};
    double decays_[mostPopulationLanes] = {}; ///< where the optimizer decouplesDecay
    LaneExamples training_;
    PopulationRates rates_{};
    PopulationLosses losses_{};
    std::vector<std::uint64_t> stoppedAt_; ///< by lane: the step whose loss was not finite
    std::uint64_t step_ = 0;
};

LaneBlock::LaneBlock(std::shared_ptr<const LanePlan> plan, std::vector<std::uint32_t> members)
    : plan_(std::move(plan)), members_(std::move(members)), shape_(plan_->job.shape),
      parameters_(plan_->parameters * plan_->kernels.lanes), stoppedAt_(plan_->kernels.lanes) {
    shape_.activation = memberOf(0).activation;
    training_ = examplesOf(Split::train);
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
    training_.epoch = epoch;
    for (std::size_t lane = 0; lane < plan_->kernels.lanes; ++lane) {
        const shared::OrderKeys keys = orderKeys(memberOf(lane).seed, epoch);
        training_.keys.k0[lane] = keys.k0;
        training_.keys.k1[lane] = keys.k1;
        training_.keys.k2[lane] = keys.k2;
        training_.keys.k3[lane] = keys.k3;
    }
}

/// What does not change from step to step.
void LaneBlock::takeHyperparameters() {
    for (std::size_t lane = 0; lane < plan_->kernels.lanes; ++lane) {
        const TrainSettings own = plan_->job.alone(numberOf(lane)).settings;
        const shared::UpdateParams update = stepSettings(own, plan_->order, 0).update;
        learningRates_[lane] = own.optimizer.effectiveLearningRate();
        const bool decoupled = infoOf(own.optimizer.kind).has(decouplesDecay);
        decays_[lane] = decoupled ? own.optimizer.effectiveWeightDecay() : 0;
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

LaneExamples LaneBlock::examplesOf(Split split) const {
    LaneExamples result{};
    result.alike = true;
    for (std::size_t lane = 0; lane < plan_->kernels.lanes; ++lane) {
        const Dataset& data = *plan_->job.data[memberOf(lane).data];
        const Examples& examples = split == Split::train ? data.train : data.test;
        result.data.values[lane] = examples.values.data();
        result.data.targets[lane] = data.classes > 0 ? static_cast<const void*>(examples.labels.data())
                                                     : static_cast<const void*>(examples.targets.data());
        result.data.inputs = data.inputs;
        result.data.targetWidth = data.targetWidth;
        result.alike = result.alike && memberOf(lane).seed == memberOf(0).seed &&
                       memberOf(lane).data == memberOf(0).data;
    }
    return result;
}

void LaneBlock::trainStep(LanePass& pass) {
    const BatchRange batch = plan_->order.range(step_);
    if (batch.epoch != training_.epoch) takeEpoch(batch.epoch);
    if (plan_->ratesChange) takeRates();
    const std::size_t terms = lossTerms(shape_.loss, batch.rows, shape_.outputs());
    for (std::size_t done = 0; done < batch.rows; done += plan_->capacity) {
        pass.takeBatch(training_, batch.first + done, std::min(plan_->capacity, batch.rows - done));
        pass.forward(parameters_.data());
        pass.lossAndGradient(terms, losses_);
        pass.backward(parameters_.data(), done > 0);
    }
    const auto learned = std::to_array(losses_.learns);
    if (plan_->kernels.settleLosses(terms, losses_))
        for (std::size_t lane = 0; lane < plan_->kernels.lanes; ++lane)
            if (learned[lane] != losses_.learns[lane]) stoppedAt_[lane] = step_;
    plan_->kernels.update(plan_->pace.kind, rates_, losses_, plan_->parameters, pass.gradients(),
                          parameters_.data(), states_.empty() ? nullptr : states_[0].data(),
                          states_.size() < 2 ? nullptr : states_[1].data());
    ++step_;
}

void LaneBlock::train(std::uint64_t steps) {
    LanePass pass(*plan_, shape_);
    for (; steps > 0 && !allDiverged(); --steps) trainStep(pass);
}

void LaneBlock::evaluate(std::span<MemberResult> results) {
    const Dataset& data = *plan_->job.data.front();
    const Split split = data.test.count > 0 ? Split::test : Split::train;
    const std::size_t count = data.test.count > 0 ? data.test.count : data.train.count;
    const LaneExamples examples = examplesOf(split);
    LanePass pass(*plan_, shape_);
    double sums[mostPopulationLanes] = {};
    std::uint64_t correct[mostPopulationLanes] = {};
    for (std::size_t first = 0; first < count; first += plan_->capacity) {
        pass.takeRange(examples, first, std::min(plan_->capacity, count - first));
        pass.forward(parameters_.data());
        pass.score(sums, correct);
    }
    const auto terms = static_cast<double>(lossTerms(shape_.loss, count, shape_.outputs()));
    for (std::size_t lane = 0; lane < results.size(); ++lane) {
        MemberResult& result = results[lane];
        result.diverged = losses_.learns[lane] == 0;
        result.steps = result.diverged ? stoppedAt_[lane] : step_;
        result.batchLoss = losses_.mean[lane];
        if (!result.begun()) continue;
        result.loss = static_cast<float>(sums[lane] / terms);
        if (data.classes > 0)
            result.accuracy =
                static_cast<float>(static_cast<double>(correct[lane]) / static_cast<double>(count));
    }
}

std::vector<float> LaneBlock::answers(std::span<const float> points, std::size_t rows) {
    const std::size_t outputs = shape_.outputs();
    LanePass pass(*plan_, shape_);
    std::vector<float> result(members_.size() * rows * outputs);
    for (std::size_t first = 0; first < rows; first += plan_->capacity) {
        const std::size_t now = std::min(plan_->capacity, rows - first);
        pass.takePoints(points.data() + first * shape_.inputs(), now);
        pass.forward(parameters_.data());
        for (std::size_t lane = 0; lane < members_.size(); ++lane)
            for (std::size_t k = 0; k < now * outputs; ++k)
                result[(lane * rows + first) * outputs + k] = pass.outputs()[k * plan_->kernels.lanes + lane];
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
