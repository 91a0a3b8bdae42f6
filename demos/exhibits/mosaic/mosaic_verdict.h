// The mosaic's answer, once every network has finished.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/mosaic/mosaic_model.h"

namespace lockstep::demos {

/// The side that the answer is of: the first one that has trained all networks; null before all sides are
/// done, and where none has.
const MosaicSide* answeringSide(const MosaicModel& model);

/// Columns or rows of the mosaic, from the first to the last.
struct PlaceRange {
    std::size_t first = 0;
    std::size_t last = 0;

    bool operator==(const PlaceRange&) const = default;
};

/// Where along an axis the best networks lie: a quarter of all, those of the lowest losses. The range is
/// around the column (or row) that has the most of them, as far as each has half as many. Empty where that is
/// more than three fifths of the axis: then its hyperparameter hardly matters to the best.
///   good   by member
std::optional<PlaceRange> bestPlaces(const PopulationSpec& spec, const std::vector<bool>& good, bool alongX);

/// Along both axes.
struct BestRanges {
    std::optional<PlaceRange> x, y;
};
/// The ranges of a shot in which all networks have been trained.
BestRanges bestRanges(const PopulationSpec& spec, const MosaicShot& shot);

/// "Best: learning rate 0.7 to 4, almost whatever the initial weight scale", by bestPlaces() along both axes,
/// or the settings of the best network where both hardly matter; empty before the end.
std::string mosaicVerdict(const MosaicModel& model);
/// The settings of the best network; how fast all networks together were trained on each side, and the best
/// one on the CPU where that is another. It gives no reason for the speeds: both sides hold a network per
/// element of a vector, and compete for the machine.
std::string mosaicEvidence(const MosaicModel& model);

} // namespace lockstep::demos
