// A step as a value: what the recipe is, which tensors its operations read and write, and what rewrites make
// of it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include <doctest/doctest.h>

#include "engine/cpu/simd_kernels.h"
#include "engine/net/activation.h"
#include "engine/net/param_layout.h"
#include "engine/plan/rewrites.h"
#include "engine/plan/tensor_table.h"
#include "engine/step/cpu_ops.h"
#include "engine/step/small_ops.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

const NetShape threeLayers{.widths = {6, 5, 4, 3}, .activation = Activation::silu};

/// "gather_batch, dense 0, update 0-2"
std::string textOf(const StepPlan& plan) {
    std::string text;
    for (const PlannedOperation& each : plan.operations) {
        if (!text.empty()) text += ", ";
        text += name(each.operation);
        if (rowOf(each.operation).ofLayer) text += " " + std::to_string(each.layer);
        if (each.operation == Operation::update || each.operation == Operation::roundParameters)
            text += " " + std::to_string(each.layer) + "-" + std::to_string(each.layer + each.layers - 1);
    }
    return text;
}

std::string textOf(const std::vector<TensorId>& ids) {
    std::string text;
    for (const TensorId& id : ids) text += (text.empty() ? "" : " ") + name(id) + (id.updated ? "'" : "");
    return text;
}

OptimizerSettings optimizer(Optimizer kind) {
    OptimizerSettings settings;
    settings.kind = kind;
    return settings;
}

std::string reads(const PlannedOperation& operation, Optimizer kind = Optimizer::sgd) {
    return textOf(operandsOf(threeLayers, optimizer(kind), operation).reads);
}
std::string writes(const PlannedOperation& operation, Optimizer kind = Optimizer::sgd) {
    return textOf(operandsOf(threeLayers, optimizer(kind), operation).writes);
}

StepPlan folded() {
    StepPlan plan = trainStep(threeLayers);
    foldUpdate(plan);
    return plan;
}

/// Losses and parameters after some steps, by the plain loops or other kernels.
struct Run {
    std::vector<float> losses;
    std::vector<float> parameters;

    bool operator==(const Run&) const = default;
};

Run run(const TrainJob& job, const StepPlan& plan, const CpuKernels& kernels = scalarKernels(),
        const std::function<void(CpuArenas&)>& afterStep = {}, std::size_t threads = 1) {
    CpuArenas arenas(job, kernels, threads);
    if (arenas.gradients.size() == 0) arenas.gradients = AlignedArray<float>(arenas.layout.size());
    ThreadTeam team(threads);
    std::vector<std::unique_ptr<CpuOps>> ops;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        ops.push_back(std::make_unique<CpuOps>(arenas, team, nullptr));
        const std::size_t own = arenas.parts() / threads;
        ops.back()->takeParts({thread * own, (thread + 1) * own});
    }
    Run result;
    for (std::uint64_t step = 0; step < 10; ++step) {
        team.run(
            [&](std::size_t thread) {
                execute(*ops[thread], plan, stepSettings(job.settings, arenas.order, step));
                ops[thread]->endStep();
            },
            threads);
        result.losses.push_back(ops.front()->loss());
        if (afterStep) afterStep(arenas);
    }
    result.parameters.assign(arenas.parameters.span().begin(), arenas.parameters.span().end());
    return result;
}

/// By a team, whose threads wait for each other where a plan needs it.
Run runByThree(const TrainJob& job, const StepPlan& plan) { return run(job, plan, scalarKernels(), {}, 3); }

} // namespace

TEST_CASE("the recipe is a plan of its operations, in order") {
    CHECK(textOf(trainStep(threeLayers)) ==
          "gather_batch, dense 0, dense 1, dense 2, loss_and_gradient, dense_backward_inputs 2, "
          "dense_backward_inputs 1, dense_backward_weights 2, dense_backward_weights 1, "
          "dense_backward_weights 0, update 0-2");
    CHECK(textOf(trainStep({.widths = {2, 1}})) ==
          "gather_batch, dense 0, loss_and_gradient, dense_backward_weights 0, update 0-0");
    for (const OperationRow& row : operationTable) {
        CAPTURE(row.name);
        CHECK(operationFromName(row.name) == row.operation);
        CHECK(rowOf(row.shownAs).shownAs == row.shownAs);
        CHECK(std::string(row.formula).find_first_of("=:") != std::string::npos);
        CHECK(row.purpose.ends_with('.'));
    }
}

TEST_CASE("operations read and write these tensors") {
    CHECK(reads({Operation::gatherBatch}) == "");
    CHECK(writes({Operation::gatherBatch}) == "A[0] t");
    CHECK(reads({Operation::dense, 1}) == "A[1] W[1] b[1]");
    CHECK(writes({Operation::dense, 1}) == "A[2] Z[1]"); // silu's derivative needs Z
    CHECK(writes({Operation::dense, 2}) == "A[3]");      // the outputs have none
    CHECK(reads({Operation::lossAndGradient}) == "A[3] t");
    CHECK(writes({Operation::lossAndGradient}) == "dZ[2]");
    CHECK(reads({Operation::denseBackwardInputs, 2}) == "dZ[2] W[2] Z[1]");
    CHECK(writes({Operation::denseBackwardInputs, 2}) == "dZ[1]");
    CHECK(reads({Operation::denseBackwardWeights, 1}) == "dZ[1] A[1]");
    CHECK(writes({Operation::denseBackwardWeights, 1}) == "dW[1] db[1]");
    CHECK(reads({Operation::update, 1, 1}, Optimizer::momentum) ==
          "dW[1] db[1] W[1] b[1] m of W[1] m of b[1]");
    CHECK(writes({Operation::update, 1, 2}) == "W[1]' b[1]' W[2]' b[2]'");
    CHECK_THROWS_AS(reads({Operation::lastLayer}), std::invalid_argument); // in whose place?
}

TEST_CASE("every tensor is written once, and before it is read") {
    for (const Activation activation : allActivations)
        for (const Optimizer kind : {Optimizer::sgd, Optimizer::adam}) {
            NetShape net = threeLayers;
            net.activation = activation;
            StepPlan plan = trainStep(net);
            const auto check = [&] {
                CAPTURE(textOf(plan));
                std::set<TensorId> written;
                for (const PlannedOperation& each : plan.operations) {
                    const Operands operands = operandsOf(net, optimizer(kind), each);
                    for (const TensorId& id : operands.reads) {
                        CAPTURE(name(id));
                        const TensorArena arena = rowOf(id.kind).arena;
                        const bool found = !ofBatch(arena) && arena != TensorArena::gradients;
                        CHECK((found || written.contains(id)));
                        // What the step found is not read any more once it is updated.
                        CHECK_FALSE(written.contains({id.kind, id.layer, true}));
                    }
                    for (const TensorId& id : operands.writes) CHECK(written.insert(id).second);
                }
            };
            check();
            foldUpdate(plan);
            check();
            joinGather(plan);
            joinLastLayer(plan);
            joinWeightGradients(plan);
            check();
            CHECK(plan.operations.size() == 5);
        }
}

TEST_CASE("folding the update leaves no gradients to be stored") {
    CHECK(canFoldUpdate(trainStep(threeLayers)));
    const StepPlan plan = folded();
    CHECK_FALSE(canFoldUpdate(plan));
    CHECK_FALSE(plan.has(Operation::update));
    CHECK(plan.operations.back().operation == Operation::denseBackwardWeightsAndUpdate);
    CHECK(reads(plan.operations.back(), Optimizer::momentum) == "dZ[0] A[0] W[0] b[0] m of W[0] m of b[0]");
    CHECK(writes(plan.operations.back(), Optimizer::momentum) == "W[0]' b[0]' m of W[0]' m of b[0]'");
    StepPlan early = trainStep(threeLayers); // a weight gradient among the input gradients
    std::swap(early.operations[6], early.operations[7]);
    CHECK_FALSE(canFoldUpdate(early)); // weights might change before they are read
    CHECK_THROWS_AS(foldUpdate(early), std::logic_error);
    CHECK_THROWS_AS(joinWeightGradients(early), std::logic_error);
}

TEST_CASE("joined operations have the operands of their parts, without what stays inside") {
    StepPlan plan = folded();
    REQUIRE(canJoinGather(plan));
    REQUIRE(canJoinLastLayer(plan));
    REQUIRE(canJoinWeightGradients(plan));
    joinWeightGradients(plan);
    joinLastLayer(plan);
    joinGather(plan);
    CHECK(textOf(plan) == "gathered_dense, dense 1, last_layer, dense_backward_inputs 1, weight_gradients");
    CHECK_FALSE(canJoinGather(plan));
    CHECK_FALSE(canJoinLastLayer(plan));
    CHECK_FALSE(canJoinWeightGradients(plan));
    CHECK(reads(plan.operations[0]) == "W[0] b[0]");
    CHECK(writes(plan.operations[0]) == "A[0] t A[1] Z[0]");
    CHECK(reads(plan.operations[2]) == "A[2] W[2] b[2] t Z[1]");
    CHECK(writes(plan.operations[2]) == "A[3] dZ[2] dZ[1]");
    CHECK(writes(plan.operations[4]) == "W[2]' b[2]' W[1]' b[1]' W[0]' b[0]'");
    const StepPlan whole = wholeStepPlan(threeLayers);
    CHECK(reads(whole.operations[0]) == "W[0] b[0] W[1] b[1] W[2] b[2]");
    CHECK(writes(whole.operations[0]) == "W[0]' b[0]' W[1]' b[1]' W[2]' b[2]'");
    // One layer: nothing below it that a gradient could be passed on to.
    CHECK_FALSE(canJoinLastLayer(trainStep({.widths = {2, 1}})));
    CHECK_FALSE(canJoinWeightGradients(trainStep(threeLayers))); // their update would be missing
}

TEST_CASE("the plain backend carries out what it has, and refuses the rest by name") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {13, 7});
    job.settings.optimizer.kind = Optimizer::adam;
    StepPlan layered = trainStep(job.shape);
    const Run right = run(job, layered);
    layered.operations.pop_back();
    for (std::size_t layer = 0; layer < job.shape.layers(); ++layer)
        layered.operations.push_back({Operation::update, layer});
    CHECK(run(job, layered) == right); // layer by layer
    StepPlan joined = trainStep(job.shape);
    joinLastLayer(joined);
    CHECK_THROWS_WITH_AS(run(job, joined), doctest::Contains("'last_layer'"), std::logic_error);
}

TEST_CASE("gradients early, layers computed anew, an exchange on one device: the same bits") {
    const Dataset data = classData();
    for (const Activation activation : {Activation::tanh, Activation::gelu}) { // which reads A, and which Z
        TrainJob job = jobFor(data, {13, 7, 5});
        job.shape.activation = activation;
        job.settings.optimizer.kind = Optimizer::adam;
        const Run right = run(job, trainStep(job.shape));

        StepPlan plan = trainStep(job.shape);
        gradientsEarly(plan);
        CHECK(textOf(plan) ==
              "gather_batch, dense 0, dense 1, dense 2, dense 3, loss_and_gradient, dense_backward_inputs 3, "
              "dense_backward_weights 3, dense_backward_inputs 2, dense_backward_weights 2, "
              "dense_backward_inputs 1, dense_backward_weights 1, dense_backward_weights 0, update 0-3");
        CHECK(run(job, plan) == right);
        CHECK(runByThree(job, plan) == runByThree(job, trainStep(job.shape)));
        const auto activationBytes = [&](const StepPlan& of) {
            return TensorTable(job.shape, {}, of, {.rows = 512, .gradientRows = 512, .reuse = true})
                .arenaBytes(TensorArena::activations);
        };
        const std::uint64_t kept = activationBytes(plan);

        for (const std::size_t layer : {2, 1, 0}) recomputeForward(plan, job.shape, layer);
        CHECK(std::ranges::count(plan.operations, Operation::dense, &PlannedOperation::operation) == 7);
        CHECK(run(job, plan) == right);
        CHECK(runByThree(job, plan) == runByThree(job, trainStep(job.shape)));
        CHECK(activationBytes(plan) <= kept);

        exchangeGradients(plan);
        CHECK(textOf(plan).find("dense_backward_weights 3, exchange 3, ") != std::string::npos);
        CHECK(run(job, plan) == right);
        recomputeForward(plan, job.shape, 3); // nothing asks for the outputs any more
        CHECK(std::ranges::count(plan.operations, Operation::dense, &PlannedOperation::operation) == 7);
    }
}

TEST_CASE("a layer that is computed anew lends its memory meanwhile") {
    NetShape net;
    net.widths = {64, 8, 512, 8, 512, 8, 512, 2};
    net.activation = Activation::tanh;
    StepPlan plan = trainStep(net);
    gradientsEarly(plan);
    const auto bytes = [&net](const StepPlan& of) {
        return TensorTable(net, {}, of, {.rows = 100, .gradientRows = 100, .reuse = true})
            .arenaBytes(TensorArena::activations);
    };
    const std::uint64_t kept = bytes(plan);
    for (const std::size_t layer : {5, 3, 1}) recomputeForward(plan, net, layer); // the wide ones
    MESSAGE("A of a batch: ", kept, " bytes kept, ", bytes(plan), " bytes with wide layers computed anew");
    CHECK(2 * bytes(plan) < kept);
}

namespace {

/// The plan of a run that leaves activations to the host.
StepPlan offloaded(const NetShape& net, const MemorySettings& memory = {}) {
    StepPlan plan = trainStep(net);
    MemorySettings with = memory;
    with.offload = Offload::activations;
    saveMemory(plan, net, with);
    return plan;
}

/// What such a plan needs of the device for A and Z, and of the host, in bytes.
struct Room {
    std::uint64_t own = 0;
    std::uint64_t host = 0;
};
Room roomOf(const NetShape& net, const StepPlan& plan, bool reuse = true) {
    const TensorTable table(net, {}, plan, {.rows = 64, .gradientRows = 64, .reuse = reuse});
    return {table.arenaBytes(TensorArena::activations) + table.arenaBytes(TensorArena::sums),
            table.arenaBytes(TensorArena::hostActivations)};
}

/// Carries out a plan's copies as a device does: what is not copied back in time is lost.
void checkCopies(const NetShape& net, const StepPlan& plan) {
    CAPTURE(textOf(plan));
    const TensorTable table(net, {}, plan, {.rows = 8, .gradientRows = 8, .reuse = true});
    std::vector<const StoredTensor*> lying; // where they were written, until others are
    for (const PlannedOperation& each : plan.operations) {
        const Operands operands = operandsOf(net, {}, each);
        for (const TensorId& id : operands.reads)
            if (ofBatch(rowOf(id.kind).arena)) {
                CAPTURE(name(id));
                CHECK(std::ranges::find(lying, &table.at(id)) != lying.end());
            }
        for (const TensorId& id : operands.writes) {
            if (!ofBatch(rowOf(id.kind).arena)) continue;
            const StoredTensor& own = table.at(id);
            std::erase_if(lying, [&](const StoredTensor* other) {
                return other->arena == own.arena && other->offset < own.offset + own.bytes() &&
                       own.offset < other->offset + other->bytes();
            });
            lying.push_back(&own);
        }
    }
}

} // namespace

TEST_CASE("activations in the host's memory: stored once written, fetched one operation early") {
    NetShape net;
    net.widths = {8, 8, 8, 8, 8, 2};
    net.activation = Activation::tanh; // whose derivative follows from A
    const StepPlan plan = offloaded(net);
    CHECK(textOf(plan) ==
          "gather_batch, store_activations 0, dense 0, store_activations 1, dense 1, store_activations 2, "
          "dense 2, store_activations 3, dense 3, dense 4, loss_and_gradient, dense_backward_inputs 4, "
          "fetch_activations 3, dense_backward_weights 4, dense_backward_inputs 3, fetch_activations 2, "
          "dense_backward_weights 3, dense_backward_inputs 2, fetch_activations 1, dense_backward_weights 2, "
          "dense_backward_inputs 1, fetch_activations 0, dense_backward_weights 1, dense_backward_weights 0, "
          "update 0-4"); // A[4] stays: the backward pass begins with it
    CHECK(reads({Operation::storeActivations, 2}) == "A[2] Z[1]");
    CHECK(writes({Operation::storeActivations, 2}) == "A on the host[2] Z on the host[1]");
    CHECK(reads({Operation::fetchActivations, 0}) == "A on the host[0]");
    CHECK(writes({Operation::fetchActivations, 0}) == "A[0]");
    CHECK(roomOf(net, plan).own == 64 * 4 * (8 + 8)); // two levels at a time
    CHECK(roomOf(net, plan).host == 64 * 4 * (8 + 8 + 8 + 8));

    StepPlan joined = trainStep(net);
    joinLastLayer(joined);
    CHECK_THROWS_WITH_AS(offloadActivations(joined, net), doctest::Contains("'last_layer'"),
                         std::logic_error);
    StepPlan one = trainStep({.widths = {8, 2}}); // A[0] is needed again at once
    offloadActivations(one, {.widths = {8, 2}});
    CHECK(textOf(one) == textOf(trainStep({.widths = {8, 2}})));
}

TEST_CASE("a copy lowers what a step needs at once, or is not made") {
    NetShape wide; // the first product needs A[0] and A[1]; the others fit into that beside each other
    wide.widths = {784, 256, 128, 64, 32, 10};
    wide.activation = Activation::relu;
    const StepPlan plan = offloaded(wide);
    CHECK(std::ranges::count(plan.operations, Operation::storeActivations, &PlannedOperation::operation) ==
          1);
    CHECK(plan.operations[1] == PlannedOperation{Operation::storeActivations, 0});
    CHECK(roomOf(wide, plan).own == 64 * 4 * (784 + 256));
    for (const std::vector<std::size_t>& widths : {std::vector<std::size_t>{8, 8, 8, 8, 8, 2},
                                                   {784, 256, 128, 10},
                                                   {784, 32, 784},
                                                   {64, 8, 512, 8, 512, 8, 2},
                                                   {3, 5, 9, 17, 33, 65, 129, 4},
                                                   {129, 65, 33, 17, 9, 5, 3},
                                                   {40, 4, 40, 4, 40, 4, 40, 4}})
        for (const Activation activation : {Activation::tanh, Activation::gelu})
            for (const std::size_t every : {1, 2, 3})
                for (const std::size_t parts : {1, 3}) {
                    NetShape net;
                    net.widths = widths;
                    net.activation = activation;
                    if (every >= net.layers()) continue;
                    const MemorySettings memory{.recompute = every, .accumulate = parts};
                    StepPlan without = trainStep(net);
                    gradientsEarly(without);
                    saveMemory(without, net, memory);
                    const StepPlan with = offloaded(net, memory);
                    checkCopies(net, with);
                    CAPTURE(textOf(with));
                    CHECK(roomOf(net, with).own <= roomOf(net, without).own);
                    if (textOf(with) != textOf(without))
                        CHECK(roomOf(net, with).own < roomOf(net, without).own);
                    CHECK((roomOf(net, with).host > 0) == with.has(Operation::fetchActivations));
                    // Each level that is copied out comes back, once for each part.
                    const auto count = [&](Operation operation) {
                        return std::ranges::count(with.operations, operation, &PlannedOperation::operation);
                    };
                    CHECK(count(Operation::storeActivations) == count(Operation::fetchActivations));
                    CHECK(count(Operation::storeActivations) % static_cast<std::ptrdiff_t>(parts) == 0);
                }
}

TEST_CASE("a batch in pieces: the same sums, up to rounding") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {13, 7});
    job.settings.batch = 40; // the last one of an epoch has 20
    job.settings.optimizer.kind = Optimizer::momentum;
    const Run whole = run(job, trainStep(job.shape));
    for (const std::size_t pieces : {1, 2, 3, 7, 40}) {
        CAPTURE(pieces);
        StepPlan plan = trainStep(job.shape);
        microBatches(plan, pieces);
        exchangeGradients(plan);
        CHECK(std::ranges::count(plan.operations, Operation::gatherBatch, &PlannedOperation::operation) ==
              static_cast<std::ptrdiff_t>(pieces));
        CHECK(std::ranges::count(plan.operations, Operation::exchange, &PlannedOperation::operation) == 3);
        const Run parts = run(job, plan);
        if (pieces == 1) CHECK(parts == whole);
        const Run team = runByThree(job, plan);
        for (std::size_t at = 0; at < whole.parameters.size(); ++at)
            CHECK(std::abs(team.parameters[at] - whole.parameters[at]) < 1e-6);
        for (std::size_t at = 0; at < whole.losses.size(); ++at)
            CHECK(parts.losses[at] == doctest::Approx(whole.losses[at]).epsilon(1e-6));
        for (std::size_t at = 0; at < whole.parameters.size(); ++at)
            CHECK(std::abs(parts.parameters[at] - whole.parameters[at]) < 1e-6);
        CHECK(operandsOf(job.shape, {}, plan.operations.back()).reads.size() > 0);
    }
    StepPlan plan = trainStep(job.shape);
    microBatches(plan, 2);
    CHECK(reads({Operation::denseBackwardWeights, 1, 1, {}, 1, 2}) == "dZ[1] A[1] dW[1] db[1]");
    CHECK_THROWS_AS(microBatches(plan, 0), std::invalid_argument);
    StepPlan noGradients = folded();
    CHECK_THROWS_AS(microBatches(noGradients, 2), std::invalid_argument);
    // A backend that does not add gradients up must not pretend.
    CpuArenas arenas(job, scalarKernels(), 1, true);
    CpuTiming timing;
    SmallOps small(arenas, widestTables().small, timing);
    CHECK_THROWS_WITH_AS(execute(small, plan, stepSettings(job.settings, arenas.order, 0)),
                         doctest::Contains("pieces"), std::logic_error);
}

TEST_CASE("operands are rounded behind what writes them, and weights once, into copies") {
    const auto roundedPlan = [](StepPlan plan, OperandFormat format) {
        roundOperands(plan, threeLayers, {format});
        return plan;
    };
    CHECK(roundedPlan(trainStep(threeLayers), OperandFormat::fp32).operations ==
          trainStep(threeLayers).operations);
    const StepPlan plan = roundedPlan(trainStep(threeLayers), OperandFormat::bf16);
    CHECK(textOf(plan) ==
          "gather_batch, round_activations 0, round_weights 0, round_weights 1, round_weights 2, dense 0, "
          "round_activations 1, dense 1, round_activations 2, dense 2, loss_and_gradient, round_d_sums 2, "
          "dense_backward_inputs 2, round_d_sums 1, dense_backward_inputs 1, round_d_sums 0, "
          "dense_backward_weights 2, dense_backward_weights 1, dense_backward_weights 0, update 0-2");
    CHECK(reads(plan.operations[1]) == "A[0]");
    CHECK(writes(plan.operations[1]) == "A[0]");
    CHECK(reads(plan.operations[3]) == "W[1]");
    CHECK(writes(plan.operations[3]) == "W rounded[1]");
    CHECK(reads(plan.operations[5]) == "A[0] W rounded[0] b[0]");
    CHECK(reads(plan.operations[12]) == "dZ[2] W rounded[2] Z[1]");
    CHECK(reads(plan.operations.back()) ==
          "dW[0] db[0] W[0] b[0] dW[1] db[1] W[1] b[1] dW[2] db[2] W[2] b[2]");
    CHECK(textOf(roundedPlan(folded(), OperandFormat::fp8)).ends_with("dense_backward_weights_update 0"));
    StepPlan joined = trainStep(threeLayers);
    joinLastLayer(joined);
    CHECK_THROWS_WITH_AS(roundedPlan(joined, OperandFormat::fp8), doctest::Contains("'last_layer'"),
                         std::logic_error);
    // Of a batch in pieces, every piece's tensors, but the weights once.
    StepPlan pieces = trainStep(threeLayers);
    microBatches(pieces, 3);
    pieces = roundedPlan(pieces, OperandFormat::fp16);
    const auto count = [&](Operation operation) {
        return std::ranges::count(pieces.operations, operation, &PlannedOperation::operation);
    };
    CHECK(count(Operation::roundActivations) == 9);
    CHECK(count(Operation::roundDSums) == 9);
    CHECK(count(Operation::roundWeights) == 3);
    CHECK(pieces.operations.back().operation == Operation::update);
    // Without master weights there are no copies, and the updated parameters are rounded.
    StepPlan stored = trainStep(threeLayers);
    roundOperands(stored, threeLayers, {.format = OperandFormat::bf16, .masterWeights = false});
    CHECK(textOf(stored) ==
          "gather_batch, round_activations 0, dense 0, round_activations 1, dense 1, round_activations 2, "
          "dense 2, loss_and_gradient, round_d_sums 2, dense_backward_inputs 2, round_d_sums 1, "
          "dense_backward_inputs 1, round_d_sums 0, dense_backward_weights 2, dense_backward_weights 1, "
          "dense_backward_weights 0, update 0-2, round_parameters 0-2");
    CHECK(reads(stored.operations[2]) == "A[0] W[0] b[0]");
    CHECK(reads(stored.operations.back()) == "W[0]' b[0]' W[1]' b[1]' W[2]' b[2]'");
    CHECK(writes(stored.operations.back()) == "W[0]' b[0]' W[1]' b[1]' W[2]' b[2]'");
    const TensorTable table(threeLayers, {}, plan, {.rows = 10, .gradientRows = 10});
    CHECK(table.at({TensorKind::weightCopies, 1}).format == NumberFormat::fp32);
    CHECK(table.arenaBytes(TensorArena::weightCopies) == 192 + 128 + 64); // 5x8, 4x8 and 3x4 floats
}

TEST_CASE("frozen layers stay, and the others learn as they would beside layers that do not move") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {13, 7, 5});
    const auto operations = [&](std::vector<std::size_t> frozen) {
        StepPlan plan = trainStep(job.shape);
        freeze(plan, frozen);
        return plan;
    };
    CHECK(textOf(operations({0, 2})) ==
          "gather_batch, dense 0, dense 1, dense 2, dense 3, loss_and_gradient, dense_backward_inputs 3, "
          "dense_backward_inputs 2, dense_backward_weights 3, dense_backward_weights 1, update 1-1, update "
          "3-3");
    CHECK_THROWS_AS(operations({0, 1, 2, 3}), std::invalid_argument);
    CHECK(run(job, operations({})) == run(job, trainStep(job.shape)));

    // The same by hand: all layers train, and after every step the frozen one is put back.
    const std::size_t frozen = 1;
    const Run without = run(job, operations({frozen}));
    const ParamLayout layout(job.shape);
    const std::vector<float> initial = initialWeights(job.shape, job.settings.seed);
    const Run putBack = run(job, trainStep(job.shape), scalarKernels(), [&](CpuArenas& arenas) {
        std::copy(initial.begin() + static_cast<std::ptrdiff_t>(layout.layer(frozen).weightOffset),
                  initial.begin() + static_cast<std::ptrdiff_t>(layout.endOf(frozen)),
                  arenas.parameters.data() + layout.layer(frozen).weightOffset);
    });
    CHECK(without == putBack);
    const TensorTable table(job.shape, {}, operations({frozen}), {.rows = 10, .gradientRows = 10});
    CHECK_FALSE(table.at({TensorKind::weights, frozen}).trains);
    CHECK(table.at({TensorKind::weights, 2}).trains);
    CHECK_FALSE(table.has({TensorKind::dWeights, frozen}));
}

TEST_CASE("the update folded into the weight gradients of a CPU: the same sums, up to rounding") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {13, 7});
    job.settings.optimizer.kind = Optimizer::sgd;
    StepPlan plan = trainStep(job.shape);
    const Run apart = run(job, plan, simdKernels());
    foldUpdate(plan);
    const Run together = run(job, plan, simdKernels());
    for (std::size_t at = 0; at < apart.parameters.size(); ++at)
        CHECK(together.parameters[at] == doctest::Approx(apart.parameters[at]).epsilon(1e-5));
}
