// What a lane has done with a population of networks.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/report/race_report.h"
#include "engine/grid/population.h"

namespace lockstep::demos {

/// The share of the networks whose losses after so many steps are those of another lane.
struct AgreedShare {
    std::uint64_t steps = 0;
    double share = 0;
};

/// Whether a lane computed the same as the reference. All lanes start every network from the same weights, so
/// a wrong kernel shows at once and in all networks; but at the edge of what trains at all, where a
/// population likes to be, a network multiplies rounding from step to step, and soon two runs of it differ
/// through no fault of either. So the networks' first steps decide, most of them are enough, and the rest is
/// reported.
struct PopulationAgreement {
    std::vector<AgreedShare> shares; ///< after 1, 10 and 100 steps; empty: nothing to compare
    bool same() const;

    static constexpr double tolerance = 1e-4; ///< relative, of the losses of a batch
    static constexpr std::uint64_t decisiveSteps = 10;
    static constexpr double decisiveShare = 0.9;
};

/// All networks after so many steps each.
struct OpeningResult {
    std::uint64_t steps = 0;
    std::vector<MemberResult> members;
};

struct PopulationLaneResult : LaneReport {
    std::vector<MemberResult> members; ///< empty where it did not start or failed
    PopulationSummary summary;
    double evaluationSeconds = 0;
    std::vector<OpeningResult> opening; ///< after each of openingSteps(); empty: not checked
    PopulationAgreement agreement;
    std::vector<std::uint32_t> maps; ///< Population::decisionMaps, where a picture was asked for

    double networkStepsPerSecond() const;
    double networksPerSecond() const; ///< that came to their end
    /// Its numbers may be compared: all networks came to their end, and it computed the same as the others.
    bool counts() const { return status == LaneStatus::finished && agreement.same(); }
};

/// After which of a network's steps lanes are compared: 1, 10 and 100, and no more than there are.
std::vector<std::uint64_t> openingSteps(std::uint64_t steps);

/// Fills in every result's agreement with the first lane of the processor that was checked, or else with the
/// first lane that was.
void addAgreements(std::vector<PopulationLaneResult>& results);

} // namespace lockstep::demos
