// A population trained in one piece, or in parts of whole rows that follow one another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/grid/population.h"

namespace lockstep::demos {

/// A processor takes its networks a few at a time, and how far it has come after a moment depends on its
/// speed. A script counts work instead of time: then the processor's population is made of rows, and the next
/// row begins where the last one has ended. Used by one thread at a time.
class PopulationParts {
  public:
    using Make = std::function<std::unique_ptr<Population>(const PopulationJob&)>;

    /// rowLength   networks in a row; each row is a part of its own. 0: one part has all of them
    /// Throws what `make` throws.
    PopulationParts(const PopulationJob& job, std::size_t rowLength, const Make& make);

    const MachineInfo& machine() const { return parts_.front().population->machine(); }

    /// As Population::advance.
    bool advance(double milliseconds);
    /// Every network that is behind `step` is trained up to it.
    void trainTo(std::uint64_t step);
    /// That many steps of all networks together, the first parts first.
    void trainBy(std::uint64_t networkSteps);
    void reset();

    std::vector<MemberResult> results();
    /// Of the same moment as `results`, which are what results() has returned.
    PopulationSummary summary(const std::vector<MemberResult>& results);
    std::vector<float> parameters(std::size_t member);
    std::vector<std::uint32_t> decisionMaps(const DecisionMapOptions& options);
    /// Nothing where they are not on a device, or in parts.
    std::optional<DevicePicture> decisionMapsOnDevice(const DecisionMapOptions& options);
    double trainingSeconds() const;

  private:
    struct Part {
        std::size_t members = 0;
        std::uint64_t reached = 0; ///< what every network has been trained to, at least
        std::unique_ptr<Population> population;
    };
    static void bring(Part& part, std::uint64_t step);

    PopulationJob job_;
    std::vector<Part> parts_;
    std::uint64_t asked_ = 0; ///< by trainBy(), network-steps
};

} // namespace lockstep::demos
