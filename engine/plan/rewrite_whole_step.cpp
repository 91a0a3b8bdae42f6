// The whole step in one operation (whole_step.h): parameters stay in a workgroup's shared memory from step to
// step, and everything in between never leaves it.
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

#include "engine/plan/rewrites.h"

namespace lockstep {

StepPlan wholeStepPlan(const NetShape& net) {
    const StepPlan recipe = trainStep(net);
    for (const PlannedOperation& each : recipe.operations) {
        constexpr Operation known[] = {Operation::gatherBatch,          Operation::dense,
                                       Operation::lossAndGradient,      Operation::denseBackwardInputs,
                                       Operation::denseBackwardWeights, Operation::update};
        if (std::ranges::find(known, each.operation) == std::end(known))
            throw std::logic_error("kernels of whole steps do not carry out '" +
                                   std::string(name(each.operation)) + "'");
    }
    return {{{Operation::wholeStep, 0, net.layers(), recipe.operations}}};
}

} // namespace lockstep
