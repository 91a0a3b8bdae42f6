// The map's words, for networks and their places.
#pragma once

#include <string>

#include "demos/exhibits/map/map_window.h"

namespace lockstep::demos {

/// An axis, at length and where there is little room: "rate of the first layer", "rate 1".
struct AxisName {
    const char* full;
    const char* brief;
};
AxisName acrossName(MapAxes axes);
AxisName upName(MapAxes axes);

/// A hyperparameter from its decimal logarithm, with as many digits as neighbours need that lie `decades`
/// apart: "0.001", "12", "1.0372e+05".
std::string hyperparameterText(double logarithm, double decades);
/// "converged: mean loss 3 % of the first", "diverged at step 12", "no better at the end than at the
/// beginning", "not trained yet" (NaN).
std::string endingText(const MapJob& job, MapOutcome outcome);

/// On how many of the pixels two machines agree, and why not on all of them. The first sentence says it, too.
std::string agreementText(const MapAgreement& agreement);

} // namespace lockstep::demos
