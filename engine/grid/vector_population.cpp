// Networks side by side in SIMD registers, one per element: a block of them goes through every step together.
// vector_pass.h says which lines of the recipe that is, and why it cannot use them.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/cpu/simd_kernels.h"
#include "engine/grid/population_block.h"
#include "engine/grid/vector_pass.h"

namespace lockstep {

namespace {

class VectorBlock final : public PopulationBlock {
  public:
    /// At most plan.kernels.elements members, all of one activation. Elements left over are copies of the
    /// last member.
    VectorBlock(std::shared_ptr<const VectorPlan> plan, std::vector<std::uint32_t> members)
        : plan_(std::move(plan)), members_(std::move(members)), shape_(plan_->job.shape),
          parameters_(plan_->parameters * plan_->kernels.elements), stoppedAt_(plan_->kernels.elements) {
        shape_.activation = memberOf(0).activation;
        training_ = examplesOf(Split::train);
        for (std::size_t array = 0; array < plan_->pace.stateArrays(); ++array)
            states_.emplace_back(parameters_.size());
        takeHyperparameters();
        reset();
    }

    std::span<const std::uint32_t> members() const override { return members_; }
    std::uint64_t step() const override { return step_; }
    bool allDiverged() const override {
        return std::all_of(losses_.learns, losses_.learns + plan_->kernels.elements,
                           [](std::int32_t learns) { return learns == 0; });
    }

    void reset() override {
        for (std::size_t element = 0; element < plan_->kernels.elements; ++element) {
            const std::vector<float> arena = plan_->job.initialParameters(numberOf(element));
            for (std::size_t p = 0; p < plan_->arenaIndices.size(); ++p)
                parameters_.data()[p * plan_->kernels.elements + element] = arena[plan_->arenaIndices[p]];
        }
        for (AlignedArray<float>& state : states_) std::fill_n(state.data(), state.size(), 0.0f);
        std::ranges::fill(losses_.sum, 0.0);
        std::ranges::fill(losses_.mean, MemberResult::unknown);
        std::ranges::fill(losses_.learns, -1);
        step_ = 0;
        takeEpoch(0);
        takeRates();
    }

    void train(std::uint64_t steps) override {
        VectorPass pass(*plan_, shape_);
        for (; steps > 0 && !allDiverged(); --steps) trainStep(pass);
    }

    MemberResult state(std::size_t element) const override {
        MemberResult result;
        result.diverged = losses_.learns[element] == 0;
        result.steps = result.diverged ? stoppedAt_[element] : step_;
        result.batchLoss = losses_.mean[element];
        return result;
    }

    std::vector<ScoreSum> score() override {
        const Dataset& data = *plan_->job.data.front();
        const Split split = evaluatedSplit(data);
        const std::size_t count = data.of(split).count;
        const VectorExamples examples = examplesOf(split);
        VectorPass pass(*plan_, shape_);
        double losses[mostElements] = {};
        std::uint64_t correct[mostElements] = {};
        for (std::size_t first = 0; first < count; first += plan_->capacity) {
            pass.takeRange(examples, first, std::min(plan_->capacity, count - first));
            pass.forward(parameters_.data());
            pass.score(losses, correct);
        }
        std::vector<ScoreSum> sums;
        for (std::size_t element = 0; element < members_.size(); ++element)
            sums.push_back({losses[element], correct[element]});
        return sums;
    }

    std::vector<float> parameters(std::size_t element) const override {
        std::vector<float> arena(plan_->arenaFloats);
        for (std::size_t p = 0; p < plan_->arenaIndices.size(); ++p)
            arena[plan_->arenaIndices[p]] = parameters_.data()[p * plan_->kernels.elements + element];
        return arena;
    }

    std::vector<float> answers(std::span<const float> points, std::size_t rows) override {
        const std::size_t outputs = shape_.outputs();
        VectorPass pass(*plan_, shape_);
        std::vector<float> result(members_.size() * rows * outputs);
        for (std::size_t first = 0; first < rows; first += plan_->capacity) {
            const std::size_t now = std::min(plan_->capacity, rows - first);
            pass.takePoints(points.data() + first * shape_.inputs(), now);
            pass.forward(parameters_.data());
            for (std::size_t element = 0; element < members_.size(); ++element)
                for (std::size_t k = 0; k < now * outputs; ++k)
                    result[(element * rows + first) * outputs + k] =
                        pass.outputs()[k * plan_->kernels.elements + element];
        }
        return result;
    }

  private:
    std::uint32_t numberOf(std::size_t element) const {
        return members_[std::min(element, members_.size() - 1)];
    }
    const PopulationMember& memberOf(std::size_t element) const {
        return plan_->job.members[numberOf(element)];
    }
    void takeEpoch(std::uint64_t epoch) {
        training_.epoch = epoch;
        for (std::size_t element = 0; element < plan_->kernels.elements; ++element) {
            const shared::OrderKeys keys = orderKeys(memberOf(element).seed, epoch);
            training_.keys.k0[element] = keys.k0;
            training_.keys.k1[element] = keys.k1;
            training_.keys.k2[element] = keys.k2;
            training_.keys.k3[element] = keys.k3;
        }
    }

    /// What does not change from step to step.
    void takeHyperparameters() {
        for (std::size_t element = 0; element < plan_->kernels.elements; ++element) {
            const TrainSettings own = plan_->job.alone(numberOf(element)).settings;
            const shared::UpdateParams update = stepSettings(own, plan_->order, 0).update;
            learningRates_[element] = own.optimizer.effectiveLearningRate();
            const bool decoupled = infoOf(own.optimizer.kind).has(decouplesDecay);
            decays_[element] = decoupled ? own.optimizer.effectiveWeightDecay() : 0;
            rates_.momentum[element] = update.momentum;
            rates_.l2[element] = update.l2;
        }
    }

    /// The optimizer's numbers of step_: what changes from step to step is the same factor for all members.
    void takeRates() {
        const TrainSettings pace{plan_->pace, plan_->job.settings.batch, 0, plan_->job.settings.shuffle};
        rates_.common = stepSettings(pace, plan_->order, step_).update;
        const double factor = learningRate(plan_->pace, step_);
        for (std::size_t element = 0; element < plan_->kernels.elements; ++element) {
            const double rate = learningRates_[element];
            rates_.learningRate[element] =
                static_cast<float>(rate * static_cast<double>(rates_.common.learningRate));
            rates_.weightKeep[element] = static_cast<float>(1 - rate * factor * decays_[element]);
        }
    }

    VectorExamples examplesOf(Split split) const {
        VectorExamples result{};
        result.alike = true;
        for (std::size_t element = 0; element < plan_->kernels.elements; ++element) {
            const Dataset& data = *plan_->job.data[memberOf(element).data];
            const Examples& examples = data.of(split);
            result.data.values[element] = examples.values.data();
            result.data.targets[element] = data.classes > 0
                                               ? static_cast<const void*>(examples.labels.data())
                                               : static_cast<const void*>(examples.targets.data());
            result.data.inputs = data.inputs;
            result.data.targetWidth = data.targetWidth;
            result.alike = result.alike && memberOf(element).seed == memberOf(0).seed &&
                           memberOf(element).data == memberOf(0).data;
        }
        return result;
    }

    void trainStep(VectorPass& pass) {
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
            for (std::size_t element = 0; element < plan_->kernels.elements; ++element)
                if (learned[element] != losses_.learns[element]) stoppedAt_[element] = step_;
        plan_->kernels.update(plan_->pace.kind, rates_, losses_, plan_->parameters, pass.gradients(),
                              parameters_.data(), states_.empty() ? nullptr : states_[0].data(),
                              states_.size() < 2 ? nullptr : states_[1].data());
        ++step_;
    }

    const std::shared_ptr<const VectorPlan> plan_;
    const std::vector<std::uint32_t> members_;
    NetShape shape_; ///< with the members' activation

    AlignedArray<float> parameters_; ///< [plan.parameters]
    std::vector<AlignedArray<float>> states_;
    double learningRates_[mostElements] = {};
    double decays_[mostElements] = {}; ///< where the optimizer decouplesDecay
    VectorExamples training_;
    PopulationRates rates_{};
    PopulationLosses losses_{};
    std::vector<std::uint64_t> stoppedAt_; ///< by network: the step whose loss was not finite
    std::uint64_t step_ = 0;
};

} // namespace

PopulationBlocks vectorPopulationBlocks(const PopulationJob& job, VectorLevel level) {
    const auto plan = std::make_shared<const VectorPlan>(job, vectorTables(level).population);
    const PopulationPlaces places(job);
    PopulationBlocks blocks;
    for (const PopulationRun& piece : places.pieces(0, job.members.size(), plan->kernels.elements)) {
        const auto first = places.members.begin() + static_cast<std::ptrdiff_t>(piece.first);
        blocks.push_back(
            std::make_unique<VectorBlock>(plan, std::vector<std::uint32_t>(first, first + piece.count)));
    }
    return blocks;
}

} // namespace lockstep
