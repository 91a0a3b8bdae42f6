// The mosaic's answer, once every network has finished.
#pragma once

#include <string>

#include "demos/exhibits/mosaic/mosaic_model.h"

namespace lockstep::demos {

/// The side that the answer is of: the first one that has trained all networks; null before all sides are
/// done, and where none has.
const MosaicSide* answeringSide(const MosaicModel& model);

/// "Best: learning rate 2.26, initial weight scale 2.63", with the hyperparameters along both axes; empty
/// before the end.
std::string mosaicVerdict(const MosaicModel& model);
/// How fast all networks together were trained on each side, and the best one on the CPU where that is
/// another. It gives no reason for the speeds: both sides hold a network per element of a vector, and compete
/// for the machine.
std::string mosaicEvidence(const MosaicModel& model);

} // namespace lockstep::demos
