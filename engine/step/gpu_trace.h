// From what the recorder traced to operations of a step.
#pragma once

#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/step/gpu_ops.h"
#include "engine/step/step_trace.h"

namespace lockstep {

/// The dispatches of one training step, with the shader that each layer's kernel comes from. Shapes and
/// tensors are left to StepTracer::describe().
std::vector<TracedOperation> operationsOf(const std::vector<gpu::TracedDispatch>& dispatches,
                                          const StepKernels& how);

} // namespace lockstep
