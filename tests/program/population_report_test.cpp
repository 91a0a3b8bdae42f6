// What is said and drawn of a population: whether lanes agree, who was faster, and the picture's tiles.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "demos/draw/theme.h"
#include "demos/report/population_report.h"
#include "demos/words/text.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

PopulationGrid smallGrid() {
    PopulationSpec spec;
    spec.columns = 5;
    spec.rows = 4;
    spec.hidden = {3};
    return makePopulationGrid(spec);
}

MemberResult member(float loss) {
    MemberResult result;
    result.steps = 2000;
    result.batchLoss = result.loss = loss;
    result.accuracy = 0.5f;
    result.weightNorm = 1;
    return result;
}

/// A lane whose networks have the losses 0.1, 0.2, ... and took `seconds`.
PopulationLaneResult lane(const std::string& name, const PopulationGrid& grid, double seconds) {
    PopulationLaneResult result;
    result.spec = laneSpecFromText(name, knownPopulationLanes());
    result.machine.device = "Device";
    result.machine.threads = result.spec.gpu ? 0 : 2;
    result.machine.gpu = result.machine.software = result.spec.gpu;
    result.end.status = LaneStatus::finished;
    for (std::size_t i = 0; i < grid.job.members.size(); ++i)
        result.members.push_back(member(0.1f * static_cast<float>(i + 1)));
    result.summary = summarise(grid.job, result.members);
    result.end.trainingSeconds = seconds;
    for (const std::uint64_t steps : openingSteps(grid.job.steps))
        result.opening.push_back({steps, result.members});
    return result;
}

} // namespace

TEST_CASE("lanes are compared after 1, 10 and 100 steps, or fewer where there are no more") {
    CHECK(openingSteps(2000) == std::vector<std::uint64_t>{1, 10, 100});
    CHECK(openingSteps(50) == std::vector<std::uint64_t>{1, 10, 50});
    CHECK(openingSteps(10) == std::vector<std::uint64_t>{1, 10});
    CHECK(openingSteps(1) == std::vector<std::uint64_t>{1});
}

TEST_CASE("early losses decide whether lanes computed the same") {
    const PopulationGrid grid = smallGrid();
    std::vector<PopulationLaneResult> lanes{lane("gpu:best", grid, 1), lane("cpu:best", grid, 2)};
    addAgreements(lanes);
    CHECK(lanes[1].agreement.shares.empty()); // the processor's lane is what the other is compared with
    REQUIRE(lanes[0].agreement.shares.size() == 3);
    CHECK(lanes[0].agreement.shares[0].share == 1.0);
    CHECK(lanes[0].counts());
    CHECK(agreementText(lanes).starts_with("same mathematics: gpu:best"));

    for (MemberResult& late : lanes[0].opening[2].members) late.batchLoss *= 1.5f;
    addAgreements(lanes);
    CHECK(lanes[0].agreement.shares[2].share == 0.0);
    CHECK(lanes[0].counts()); // rounding may do that in a hundred steps

    for (std::size_t i = 0; i < 3; ++i) lanes[0].opening[1].members[i].batchLoss *= 1.001f;
    addAgreements(lanes);
    CHECK(lanes[0].agreement.shares[1].share == doctest::Approx(0.85));
    CHECK_FALSE(lanes[0].counts());
    const std::string amplified = agreementText(lanes);
    CHECK(amplified.starts_with("different results: gpu:best agrees within 0.0001 in 100 % of the networks"));
    for (const char* words : {"batch loss", "cpu:best", "90 %", "step 10", "rounding"}) {
        CAPTURE(words);
        CHECK(amplified.find(words) != std::string::npos);
    }
    const Headline headline = headlineFor(lanes);
    CHECK_FALSE(headline.valid);
    CHECK(headline.text == "no comparison: the lanes computed different results");
}

TEST_CASE("networks that diverge agree where they do so at the same step") {
    const PopulationGrid grid = smallGrid();
    std::vector<PopulationLaneResult> lanes{lane("cpu:best", grid, 1), lane("gpu:best", grid, 2)};
    for (PopulationLaneResult& each : lanes) {
        each.opening[1].members[0].diverged = each.opening[1].members[1].diverged = true;
        each.opening[1].members[0].steps = each.opening[1].members[1].steps = 3;
    }
    lanes[1].opening[1].members[1].steps = 4;
    addAgreements(lanes);
    CHECK(lanes[1].agreement.shares[1].share == doctest::Approx(19.0 / 20));
}

TEST_CASE("the headline names both machines, and software as what it is") {
    const PopulationGrid grid = smallGrid();
    const std::vector<PopulationLaneResult> lanes{lane("cpu:best", grid, 1), lane("gpu:best", grid, 2)};
    const Headline headline = headlineFor(lanes);
    CHECK(headline.valid);
    CHECK(headline.ratio == doctest::Approx(2));
    CHECK(headline.text == "cpu:best on Device (2 threads) trained 2 times as fast as gpu:best on Device "
                           "(software, not a GPU): 40.0k network-steps/s against 20.0k (one after the other, "
                           "end to end, without warm-up).");
    CHECK(headlineFor({lanes[0]}).text == "no comparison: only one lane");
    const Headline hasty = headlineFor({lane("cpu:best", grid, 0.003), lanes[1]});
    CHECK_FALSE(hasty.valid);
    CHECK(hasty.text == "no comparison: cpu:best trained for 3.00 ms only; raise --steps");
    const std::string text = populationResultText(grid.spec, lanes);
    CHECK(text.find("best network: lr 0.0001, init-scale 10: loss 0.1000, accuracy 50.00 %") !=
          std::string::npos);
}

TEST_CASE("lanes without results leave tables and files whole") {
    const PopulationGrid grid = smallGrid();
    PopulationLaneResult failed;
    failed.spec = laneSpecFromText("gpu:workgroup@a,\"b\"", knownPopulationLanes());
    failed.end.status = LaneStatus::failed;
    failed.end.message = "no memory";
    const std::vector<PopulationLaneResult> lanes{failed, lane("cpu:best", grid, 1)};
    CHECK(populationResultText(grid.spec, lanes).find("failed with 0 networks finished: no memory") !=
          std::string::npos);
    const std::string csv = populationCsv(grid, {lane("cpu:best", grid, 1)});
    CHECK(populationCsv(grid, lanes) == csv);
    CHECK(csvField(failed.spec.text()) == "\"gpu:workgroup@a,\"\"b\"\"\"");
    CHECK(populationPicture(grid, lanes).height > 0);
    CHECK(populationPicture(grid, {failed}).height > 0);
}

TEST_CASE("the picture shows every network's map, darker where it diverged or was never trained") {
    const PopulationGrid grid = smallGrid();
    const auto maps = pictureMaps(grid);
    REQUIRE(maps.has_value());
    CHECK(maps->cells == 64);
    PopulationLaneResult one = lane("cpu:best", grid, 1);
    constexpr std::uint32_t white = 0xFFFFFFFF;
    one.maps.assign(std::size_t{maps->width()} * maps->height(20), white);
    const auto whites = [&] {
        const Pixels pixels = populationPicture(grid, {one});
        std::size_t count = 0;
        for (std::size_t i = 0; i < pixels.rgba.size(); i += 4)
            count += pixels.rgba[i] == 255 && pixels.rgba[i + 1] == 255 && pixels.rgba[i + 2] == 255 ? 1 : 0;
        return count;
    };
    constexpr std::size_t tile = 64 * 64;
    CHECK(whites() == 20 * tile);
    one.members[7].diverged = true;
    CHECK(whites() == 19 * tile);
    one.members[8].steps = 0; // the run was stopped before
    CHECK(whites() == 18 * tile);
}

TEST_CASE("long grids have small tiles and no maps") {
    PopulationSpec spec;
    spec.columns = 3000;
    spec.rows = 1;
    spec.hidden = {2};
    const PopulationGrid grid = makePopulationGrid(spec);
    CHECK_FALSE(pictureMaps(grid).has_value());
    CHECK(populationPicture(grid, {lane("cpu:best", grid, 1)}).width < 4000);
}
