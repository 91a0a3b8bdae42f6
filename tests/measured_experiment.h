// An experiment on parallelism, measured in passing.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "demos/lab/experiment.h"

namespace lockstep::test {

inline demos::LabResult measured(const demos::Experiment& experiment, const std::string& device = "",
                                 const std::vector<LaneSpec>& lanes = {}) {
    std::atomic<bool> stop = false;
    demos::Machines machines(2, device);
    demos::LabBench bench(
        machines, true, [](const std::string&) {}, stop, lanes);
    return demos::runExperiment(experiment, bench);
}

} // namespace lockstep::test
