// What is said of a map that several lanes have painted: whether they agree, and who was faster.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "demos/report/map_report.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

/// A lane that trained `pixels` networks, of which every other one converged, in that many seconds.
MapResult lane(const std::string& name, std::size_t pixels, double seconds) {
    MapResult result;
    result.spec = laneSpecFromText(name);
    result.machine.device = "Device";
    result.end.status = pixels > 0 ? LaneStatus::finished : LaneStatus::failed;
    result.end.trainingSeconds = seconds;
    for (std::size_t i = 0; i < pixels; ++i) result.outcomes.push_back({i % 2 == 0 ? 1.0f : -1.0f});
    result.trained = pixels;
    return result;
}

} // namespace

TEST_CASE("lanes are compared with the first that trained anything") {
    std::vector<MapResult> lanes{lane("gpu:blocked", 0, 0), lane("cpu:best", 100, 4),
                                 lane("cpu:scalar", 100, 8)};
    addAgreements(lanes);
    CHECK(lanes[2].agreement.both == 100);
    CHECK(lanes[2].agreement.identical == 100);
    CHECK(lanes[2].counts());
    CHECK_FALSE(lanes[0].counts());
    CHECK(agreementText(lanes).find("cpu:scalar and cpu:best agree") != std::string::npos);
    const Headline headline = headlineFor(lanes);
    REQUIRE(headline.valid);
    CHECK(headline.faster == 1);
    CHECK(headline.ratio == doctest::Approx(2));
}

TEST_CASE("of lanes that trained nothing, none is compared") {
    std::vector<MapResult> lanes{lane("gpu:blocked", 0, 0), lane("cpu:best", 100, 4)};
    addAgreements(lanes);
    CHECK(agreementText(lanes).empty());
    const Headline headline = headlineFor(lanes);
    CHECK_FALSE(headline.valid);
    CHECK(headline.text == "no comparison: fewer than two lanes finished");
}
