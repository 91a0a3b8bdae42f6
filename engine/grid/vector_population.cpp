// Networks side by side in SIMD registers, one per element: a block of them goes through every step together.
//
// A fused form of the recipe (engine/plan/step.cpp): VectorPass::takeBatch() is its line 1, forward() 2,
// lossAndGradient() 3, backward() 4; VectorBlock::trainStep() walks through them and updates. It cannot use
// the recipe itself, whose operations work on one network: here every operation works on 4 to 16 networks
// that have their own rates, batches and ends, and a batch passes in parts that stay in the first-level
// cache. population_test compares every member with the same network trained alone by the recipe.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/cpu/simd_kernels.h"
#include "engine/grid/population_block.h"
#include "engine/net/activation.h"
#include "engine/net/param_layout.h"
#include "engine/step/cpu_arenas.h"

namespace lockstep {

namespace {

/// What the blocks of a population share. `job` outlives it.
struct VectorPlan {
    VectorPlan(const PopulationJob& populationJob, const CpuPopulationKernels& table)
        : job(populationJob), kernels(table), arenaIndices(unpaddedParameters(job.shape)),
          order(job.data.front()->train.count, job.settings.batch, 0, job.settings.shuffle),
          targetKind(lockstep::targetKind(*job.data.front(), job.shape)), pace(job.settings.optimizer) {
        pace.learningRate = 1;
        pace.weightDecay = 0;
        const bool corrects = infoOf(pace.kind).has(correctsBias);
        ratesChange = corrects || pace.schedule != Schedule::constant || pace.warmupSteps > 0;
        std::size_t vectorsPerRow = job.shape.inputs(); // of the activations of one example
        for (std::size_t l = 0; l < job.shape.layers(); ++l) {
            const std::size_t outputs = job.shape.widths[l + 1];
            offsets.push_back(parameters);
            parameters += outputs * (job.shape.widths[l] + 1);
            vectorsPerRow += 2 * outputs;
        }
        // Half of a first-level cache: weights and gradients want the other half.
        constexpr std::size_t cacheFloats = 6144;
        const std::size_t rows = cacheFloats / (vectorsPerRow * elements) / 4 * 4;
        capacity = std::clamp<std::size_t>(rows, 4, 64);
    }

    const PopulationJob& job;
    const CpuPopulationKernels& kernels;
    const std::size_t elements = kernels.elements; ///< of a vector: networks side by side
    const std::vector<std::uint32_t> arenaIndices; ///< of a network's parameters
    const BatchOrder order; ///< of batches; that of examples depends on each network's seed
    const std::uint32_t targetKind;
    OptimizerSettings pace;   ///< the job's with a rate of 1 and no decay: what all members have in common
    bool ratesChange = false; ///< from step to step
    std::vector<std::size_t> offsets; ///< by layer: of its weights in vectors; its biases follow
    std::size_t parameters = 0;       ///< of one network
    std::size_t capacity = 0;         ///< examples that a pass takes at a time
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
        : plan_(plan), shape_(shape), inputs_(plan.capacity * shape.inputs() * plan.elements),
          targets_(plan.capacity * plan.job.data.front()->targetWidth * plan.elements),
          gradients_(plan.parameters * plan.elements), examples_(orderedRows * plan.elements) {
        for (std::size_t l = 0; l < shape.layers(); ++l) {
            const std::size_t size = plan.capacity * shape.widths[l + 1] * plan.elements;
            const bool keepsSums = derivativeNeedsSum(shape.activationOf(l));
            const auto array = [&] { return arrays_.emplace_back(size).data(); };
            layers_.push_back({array(), keepsSums ? array() : nullptr, array()});
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
        gather(from, examples_.data() + (first - ordered_.first) * (from.alike ? 1 : plan_.elements));
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
            std::fill_n(inputs_.data() + k * plan_.elements, plan_.elements, points[k]);
    }

    void forward(const float* parameters) {
        const float* below = inputs_.data();
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            LayerArrays& layer = layers_[l];
            plan_.kernels.dense(shapeOf(l), below, parameters + plan_.offsets[l] * plan_.elements,
                                shape_.activationOf(l), layer.outputs, layer.sums);
            below = layer.outputs;
        }
    }

    /// Adds the loss terms, and leaves their gradients for backward(). `terms` are the whole batch's.
    void lossAndGradient(std::size_t terms, PopulationLosses& losses) {
        LossShape shape = lossShape();
        shape.scale = 1.0 / static_cast<double>(terms);
        plan_.kernels.lossAndGradient(shape, outputs(), layers_.back().saved(), targets_.data(),
                                      layers_.back().dSums, losses);
    }

    /// Gradients of all parameters; added to those of the batch's part before, where `add`.
    void backward(const float* parameters, bool add) {
        for (std::size_t l = layers_.size(); l-- > 0;) {
            const std::size_t offset = plan_.offsets[l] * plan_.elements;
            const float* dSums = layers_[l].dSums;
            if (l > 0)
                plan_.kernels.denseBackwardInputs(shapeOf(l), dSums, parameters + offset,
                                                  shape_.activationOf(l - 1), layers_[l - 1].saved(),
                                                  layers_[l - 1].dSums);
            const float* below = l > 0 ? layers_[l - 1].outputs : inputs_.data();
            plan_.kernels.denseBackwardWeights(shapeOf(l), dSums, below, add, gradients_.data() + offset);
        }
    }

    /// Adds the loss terms and the examples answered rightly.
    void score(double* losses, std::uint64_t* correct) const {
        plan_.kernels.score(lossShape(), plan_.job.data.front()->classes, outputs(), targets_.data(), losses,
                            correct);
    }

    const float* outputs() const { return layers_.back().outputs; }
    const float* gradients() const { return gradients_.data(); }

  private:
    void order(const VectorExamples& from, const PopulationBatch& batch) {
        ordered_ = batch;
        epoch_ = from.epoch;
        plan_.kernels.orderExamples(batch, plan_.order.count(), from.keys, examples_.data());
    }

    void gather(const VectorExamples& from, const std::uint32_t* examples) {
        plan_.kernels.gatherExamples(from.data, rows_, from.alike, examples, inputs_.data(), targets_.data());
    }

    PopulationShape shapeOf(std::size_t layer) const {
        return {rows_, shape_.widths[layer], shape_.widths[layer + 1]};
    }

    LossShape lossShape() const {
        return {rows_,       shape_.outputs(), shape_.outputs(),       plan_.job.data.front()->targetWidth,
                shape_.loss, plan_.targetKind, shape_.outputActivation};
    }

    const VectorPlan& plan_;
    const NetShape& shape_;
    std::size_t rows_ = 0;
    std::vector<AlignedArray<float>> arrays_; ///< of layers_
    std::vector<LayerArrays> layers_;
    AlignedArray<float> inputs_; ///< X
    AlignedArray<TargetWord> targets_;
    AlignedArray<float> gradients_; ///< as the parameters

    // Numbers of examples are computed some batches ahead: a vector of positions at a time.
    static constexpr std::size_t orderedRows = 128; ///< at least a plan's capacity
    AlignedArray<std::uint32_t> examples_;
    PopulationBatch ordered_; ///< the positions of examples_ ...
    std::uint64_t epoch_ = 0; ///< ... in this epoch's order
};

class VectorBlock final : public PopulationBlock {
  public:
    /// At most plan.elements members, all of one activation. Elements left over are copies of the
    /// last member.
    VectorBlock(std::shared_ptr<const VectorPlan> plan, std::vector<std::uint32_t> members)
        : plan_(std::move(plan)), members_(std::move(members)), shape_(plan_->job.shape),
          parameters_(plan_->parameters * plan_->elements), stoppedAt_(plan_->elements) {
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
        return std::all_of(losses_.learns, losses_.learns + plan_->elements,
                           [](std::int32_t learns) { return learns == 0; });
    }

    void reset() override {
        for (std::size_t element = 0; element < plan_->elements; ++element) {
            const std::vector<float> arena = plan_->job.initialParameters(numberOf(element));
            for (std::size_t p = 0; p < plan_->arenaIndices.size(); ++p)
                parameters_.data()[p * plan_->elements + element] = arena[plan_->arenaIndices[p]];
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
        std::vector<float> arena(ParamLayout(shape_).size());
        for (std::size_t p = 0; p < plan_->arenaIndices.size(); ++p)
            arena[plan_->arenaIndices[p]] = parameters_.data()[p * plan_->elements + element];
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
                        pass.outputs()[k * plan_->elements + element];
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
        for (std::size_t element = 0; element < plan_->elements; ++element) {
            const shared::OrderKeys keys = orderKeys(memberOf(element).seed, epoch);
            training_.keys.k0[element] = keys.k0;
            training_.keys.k1[element] = keys.k1;
            training_.keys.k2[element] = keys.k2;
            training_.keys.k3[element] = keys.k3;
        }
    }

    /// What does not change from step to step.
    void takeHyperparameters() {
        for (std::size_t element = 0; element < plan_->elements; ++element) {
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
        for (std::size_t element = 0; element < plan_->elements; ++element) {
            const double rate = learningRates_[element];
            rates_.learningRate[element] =
                static_cast<float>(rate * static_cast<double>(rates_.common.learningRate));
            rates_.weightKeep[element] = static_cast<float>(1 - rate * factor * decays_[element]);
        }
    }

    VectorExamples examplesOf(Split split) const {
        VectorExamples result{};
        result.alike = true;
        for (std::size_t element = 0; element < plan_->elements; ++element) {
            const Dataset& data = *plan_->job.data[memberOf(element).data];
            const Examples& examples = data.of(split);
            result.data.values[element] = examples.values.data();
            result.data.targets[element] = examples.targets.data();
            if (data.classes > 0) result.data.targets[element] = examples.labels.data();
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
            for (std::size_t element = 0; element < plan_->elements; ++element)
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
    for (const PopulationRun& piece : places.pieces(0, job.members.size(), plan->elements)) {
        const auto first = places.members.begin() + static_cast<std::ptrdiff_t>(piece.first);
        blocks.push_back(
            std::make_unique<VectorBlock>(plan, std::vector<std::uint32_t>(first, first + piece.count)));
    }
    return blocks;
}

} // namespace lockstep
