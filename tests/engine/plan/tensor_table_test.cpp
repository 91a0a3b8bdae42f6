// Where the tensors of a plan lie, and for how much of it each is needed.
#include <doctest/doctest.h>

#include <stdexcept>
#include <utility>

#include "engine/plan/rewrites.h"
#include "engine/plan/tensor_table.h"

using namespace lockstep;

TEST_CASE("the table says when a plan needs a tensor, and lets others have its memory") {
    NetShape net;
    net.widths = {5, 6, 7, 3};
    net.activation = Activation::gelu;
    const OptimizerSettings adam{.kind = Optimizer::adam};
    const TensorTable step(net, adam, trainStep(net), {.rows = 10, .gradientRows = 10});
    // gather, three dense, loss, two input gradients, three weight gradients, update
    const auto uses = [](const TensorTable& table, const TensorId& id) {
        return std::pair(table.at(id).firstUse(), table.at(id).lastUse());
    };
    CHECK(uses(step, {TensorKind::activations, 0}) == std::pair<std::size_t, std::size_t>(0, 9));
    CHECK(uses(step, {TensorKind::sums, 1}) == std::pair<std::size_t, std::size_t>(2, 5));
    CHECK(uses(step, {TensorKind::dWeights, 2}) == std::pair<std::size_t, std::size_t>(7, 10));
    CHECK(uses(step, {TensorKind::weightState2, 0}) == std::pair<std::size_t, std::size_t>(10, 10));
    CHECK(step.at({TensorKind::weights, 1}).trains);
    CHECK_FALSE(step.at({TensorKind::dWeights, 1}).trains);
    CHECK(step.at({TensorKind::activations, 1}).stride == 8);
    CHECK(step.at({TensorKind::activations, 1}).bytes() == 10 * 8 * 4);
    CHECK_THROWS_AS(step.at({TensorKind::weightCopies, 0}), std::out_of_range);

    const TensorTable forward(net, adam, forwardPass(net), {.rows = 10, .reuse = true});
    CHECK_FALSE(forward.has({TensorKind::dSums, 0}));
    CHECK(forward.arenaBytes(TensorArena::gradients) == 0);
    CHECK(forward.arenaBytes(TensorArena::activations) < step.arenaBytes(TensorArena::activations));
    for (std::size_t layer = 0; layer < net.layers(); ++layer) { // read and written at the same time
        const StoredTensor& from = forward.at({TensorKind::activations, layer});
        const StoredTensor& to = forward.at({TensorKind::activations, layer + 1});
        CHECK((from.offset + from.bytes() <= to.offset || to.offset + to.bytes() <= from.offset));
    }
}

TEST_CASE("what outlives a step shares its memory with no other tensor") {
    NetShape net;
    net.widths = {50, 60, 70, 80, 30};
    StepPlan plan = trainStep(net);
    gradientsEarly(plan);
    const TensorTable shared(net, {}, plan, {.rows = 10, .gradientRows = 10, .half = true, .reuse = true});
    const TensorTable apart(net, {}, plan, {.rows = 10, .gradientRows = 10, .half = true});
    CHECK(shared.arenaBytes(TensorArena::weightCopies) == apart.arenaBytes(TensorArena::weightCopies));
    CHECK(shared.arenaBytes(TensorArena::dSums) < apart.arenaBytes(TensorArena::dSums));
}
