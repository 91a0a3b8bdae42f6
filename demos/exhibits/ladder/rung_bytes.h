// How many bytes the products of a training step ask memory for. The kernels count them: each runs once at
// the sizes of the network.
#pragma once

#include "demos/exhibits/ladder/access_record.h"
#include "engine/net/net_shape.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// The kernel of a traced operation that is a product. Throws std::runtime_error when it cannot be counted.
ProductKernel kernelOf(const TracedOperation& operation, gpu::Device& device, const DenseShape& shape);

/// The sum over a step's products. Throws std::runtime_error, gpu::GpuError.
double countProductBytes(const std::vector<TracedOperation>& operations, const NetShape& net,
                         std::size_t batch, gpu::Device& device, AccessRecorder& recorder);

bool isProduct(const TracedOperation& operation);
/// All operations in one kernel, so that its products cannot be told from the rest.
bool isWholeStep(const TracedOperation& operation);

} // namespace lockstep::demos
