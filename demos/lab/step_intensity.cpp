#include "demos/lab/step_intensity.h"

#include <cstddef>

#include "engine/step/work.h"

namespace lockstep::demos {

std::vector<StepIntensity> stepIntensities() {
    const NetShape net{{784, 256, 128, 10}};
    constexpr std::size_t rows = 128;
    const auto ratio = [](const Work& work) { return work.flops / work.bytes; };
    OptimizerSettings adam;
    return {{"gather", ratio(gatherWork(rows, 784, true))},
            {"update", ratio(updateWork(net, adam))},
            {"loss", ratio(lossWork(rows, 10))},
            {"layer 3", ratio(denseWork(denseShapeOf(net, 2, rows)))},
            {"layer 2", ratio(denseWork(denseShapeOf(net, 1, rows)))},
            {"layer 1", ratio(denseWork(denseShapeOf(net, 0, rows)))}};
}

} // namespace lockstep::demos
