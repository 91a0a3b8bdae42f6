// The whole step in one operation (whole_step.h): parameters stay in a workgroup's shared memory from step to
// step, and everything in between never leaves it.
#include "engine/plan/rewrites.h"

namespace lockstep {

StepPlan wholeStepPlan(const NetShape& net) {
    return {{{Operation::wholeStep, 0, net.layers(), trainStep(net).operations}}};
}

} // namespace lockstep
