#include "demos/lab/step_intensity.h"

#include <cstddef>

#include "engine/plan/work.h"

namespace lockstep::demos {

std::vector<StepIntensity> stepIntensities() {
    const NetShape net{{784, 256, 128, 10}};
    constexpr std::size_t rows = 128;
    const StepSizes sizes{.net = net, .optimizer = {}, .pixels = true};
    const auto ratio = [&](const PlannedOperation& operation) {
        const Work work = workOf(sizes, operation, rows);
        return work.flops / work.bytes;
    };
    return {{"gather", ratio({Operation::gatherBatch})},
            {"update", ratio({Operation::update, 0, net.layers()})},
            {"loss", ratio({Operation::lossAndGradient})},
            {"layer 3", ratio({Operation::dense, 2})},
            {"layer 2", ratio({Operation::dense, 1})},
            {"layer 1", ratio({Operation::dense, 0})}};
}

} // namespace lockstep::demos
