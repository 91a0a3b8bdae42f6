// The order of examples: a permutation per epoch, never stored, and how an epoch is cut into batches.
#include <doctest/doctest.h>

#include <vector>

#include "engine/net/batch_order.h"

using namespace lockstep;

namespace {

std::vector<std::size_t> epochOf(const BatchOrder& order, std::uint64_t epoch) {
    std::vector<std::size_t> examples(order.count());
    for (std::size_t position = 0; position < order.count(); ++position)
        examples[position] = order.example(epoch, position);
    return examples;
}

bool isPermutation(const std::vector<std::size_t>& examples) {
    std::vector<bool> seen(examples.size(), false);
    for (std::size_t example : examples) {
        if (example >= examples.size() || seen[example]) return false;
        seen[example] = true;
    }
    return true;
}

/// How often the example at `position` is each of the `count`, over many epochs.
std::vector<double> landings(std::size_t count, std::size_t position, std::uint64_t epochs) {
    const BatchOrder order(count, 1, 11, true);
    std::vector<double> landed(count, 0.0);
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) landed[order.example(epoch, position)] += 1;
    return landed;
}

/// Chi-squared statistic of `landings` against "equally often", divided by its degrees of freedom.
double landingSpread(std::size_t count, std::size_t position, std::uint64_t epochs) {
    const double expected = static_cast<double>(epochs) / static_cast<double>(count);
    double statistic = 0;
    for (double landed : landings(count, position, epochs))
        statistic += (landed - expected) * (landed - expected) / expected;
    return statistic / static_cast<double>(count - 1);
}

} // namespace

TEST_CASE("every epoch is a permutation, whatever the count") {
    for (std::size_t count : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 33u, 100u, 127u, 1000u, 1024u, 1025u, 60000u})
        for (std::uint64_t epoch : {0u, 1u, 2u, 1000u}) {
            CAPTURE(count);
            CAPTURE(epoch);
            CHECK(isPermutation(epochOf(BatchOrder(count, 7, 1, true), epoch)));
        }
}

TEST_CASE("small counts are permutations for many seeds") {
    for (std::size_t count = 1; count <= 40; ++count)
        for (std::uint64_t seed = 0; seed < 50; ++seed)
            REQUIRE(isPermutation(epochOf(BatchOrder(count, 1, seed, true), seed)));
}

TEST_CASE("the largest count stays in range") {
    const std::size_t count = std::size_t{1} << 30;
    const BatchOrder order(count, 128, 1, true);
    for (std::size_t position = 0; position < 1000; ++position)
        REQUIRE(order.example(0, count - 1 - position * 1000003) < count);
}

TEST_CASE("the order differs by epoch and by seed, and repeats for the same") {
    const BatchOrder one(1000, 10, 1, true);
    CHECK(epochOf(one, 0) == epochOf(BatchOrder(1000, 50, 1, true), 0)); // whatever the batch
    CHECK(epochOf(one, 0) != epochOf(one, 1));
    CHECK(epochOf(one, 0) != epochOf(BatchOrder(1000, 10, 2, true), 0));
    CHECK(epochOf(one, 0) != epochOf(BatchOrder(1000, 10, 1 + (std::uint64_t{1} << 32), true), 0));
}

TEST_CASE("an element lands everywhere equally often") {
    // For k degrees of freedom the statistic / k has mean 1 and standard deviation sqrt(2 / k): the bounds
    // are four of them.
    for (std::size_t position : {0u, 1u, 50u, 99u}) {
        CAPTURE(position);
        const double spread = landingSpread(100, position, 20000);
        CHECK(spread > 1 - 4 * 0.142);
        CHECK(spread < 1 + 4 * 0.142);
    }
    CHECK(landingSpread(1000, 17, 100000) < 1 + 4 * 0.0447);
    CHECK(landingSpread(33, 3, 20000) < 1 + 4 * 0.25);
}

TEST_CASE("in sets of a few examples none is preferred by more than a quarter") {
    // A Feistel network over a handful of values is not quite uniform: up to 19 % off at 5 examples, under a
    // standard error from 33 on.
    for (std::size_t count = 2; count < 33; ++count)
        for (std::size_t position : {std::size_t{0}, count / 2, count - 1}) {
            CAPTURE(count);
            CAPTURE(position);
            const double expected = 20000.0 / static_cast<double>(count);
            for (double landed : landings(count, position, 20000)) {
                CHECK(landed > 0.75 * expected);
                CHECK(landed < 1.25 * expected);
            }
        }
}

TEST_CASE("neighbours do not stay neighbours") {
    const std::vector<std::size_t> examples = epochOf(BatchOrder(60000, 128, 1, true), 0);
    std::size_t neighbours = 0, inPlace = 0;
    for (std::size_t position = 0; position + 1 < examples.size(); ++position) {
        if (examples[position] + 1 == examples[position + 1]) ++neighbours;
        if (examples[position] == position) ++inPlace;
    }
    // Each count is Poisson with mean 1 for a random permutation: 10 or more happens once in ten million.
    CHECK(neighbours < 10);
    CHECK(inPlace < 10);
}

TEST_CASE("without shuffling it is file order") {
    const std::vector<std::size_t> examples = epochOf(BatchOrder(100, 7, 1, false), 3);
    for (std::size_t position = 0; position < examples.size(); ++position)
        CHECK(examples[position] == position);
}

TEST_CASE("the last batch of an epoch holds what is left") {
    const BatchOrder order(10, 4, 1, true);
    CHECK(order.stepsPerEpoch() == 3);
    const std::size_t rows[] = {4, 4, 2};
    for (std::uint64_t step = 0; step < 9; ++step) {
        const BatchRange range = order.range(step);
        CHECK(range.epoch == step / 3);
        CHECK(range.first == step % 3 * 4);
        CHECK(range.rows == rows[step % 3]);
    }
    CHECK(BatchOrder(12, 4, 1, true).stepsPerEpoch() == 3);
    CHECK(BatchOrder(12, 4, 1, true).range(2).rows == 4);
}

TEST_CASE("a batch larger than the data is the data") {
    const BatchOrder order(10, 1000, 1, true);
    CHECK(order.batch() == 10);
    CHECK(order.stepsPerEpoch() == 1);
    CHECK(order.range(5).epoch == 5);
    CHECK(order.range(5).rows == 10);
}
