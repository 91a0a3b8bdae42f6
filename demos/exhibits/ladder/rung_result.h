// What was measured of one rung, and the bytes that its products ask memory for.
#pragma once

#include <string>
#include <vector>

#include "demos/exhibits/ladder/access_record.h"
#include "demos/kit/lane_measure.h"
#include "engine/net/net_shape.h"
#include "engine/step/lane_spec.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

struct RungResult {
    LaneSpec spec;
    std::string refusal; ///< why this device cannot run it; empty: it can
    LaneMeasure measure;
    double productFlops = 0;      ///< of one step
    double leastProductBytes = 0; ///< of one step, if every matrix were read or written once
    double productBytes =
        0; ///< what the products' kernels ask memory for in one step, as they count it; 0: unknown
    double otherBytes = 0;                   ///< of the step's other operations, every tensor counted once
    std::string uncounted;                   ///< why productBytes is not known; empty where it is
    std::vector<TracedOperation> operations; ///< of one step

    bool refused() const { return !refusal.empty(); }
    /// Only rungs that passed the check have times.
    bool timed() const { return !refused() && measure.right() && measure.timed(); }
    bool wrong() const { return !refused() && !measure.right(); }
    double bytes() const { return productBytes > 0 ? productBytes + otherBytes : 0; }
    /// Operations for every byte that the products' kernels ask memory for.
    double intensity() const { return productBytes > 0 ? productFlops / productBytes : 0; }
};

/// The kernel of a traced operation that is a product. Throws std::runtime_error when it is none that could
/// be counted.
ProductKernel kernelOf(const TracedOperation& operation, gpu::Device& device, const DenseShape& shape);

/// The sum over a step's products. Throws std::runtime_error, gpu::GpuError.
double countProductBytes(const std::vector<TracedOperation>& operations, const NetShape& net,
                         std::size_t batch, gpu::Device& device, AccessRecorder& recorder);

bool isProduct(const TracedOperation& operation);
/// All operations in one kernel: its products are not to be told from the rest.
bool isWholeStep(const TracedOperation& operation);

} // namespace lockstep::demos
