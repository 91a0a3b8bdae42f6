#include "engine/plan/plan.h"

#include <algorithm>

namespace lockstep {

bool StepPlan::has(Operation operation) const {
    return std::ranges::find(operations, operation, &PlannedOperation::operation) != operations.end();
}

} // namespace lockstep
