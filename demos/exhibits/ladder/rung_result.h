// What was measured of one rung, and the bytes that its products ask memory for.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/exhibits/ladder/access_record.h"
#include "demos/kit/lane_measure.h"
#include "demos/kit/roof.h"
#include "demos/report/other_load.h"
#include "engine/gpu/error.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

struct RungResult {
    LaneSpec spec;
    std::string refusal; ///< why this device cannot run it; empty: it can
    LaneMeasure measure;
    double productFlops = 0;      ///< of one step
    double leastProductBytes = 0; ///< of one step, if every matrix were read or written once
    double productBytes = 0; ///< what its kernels ask memory for in one step, as they count it; 0: unknown
    double otherBytes = 0;   ///< of the step's other operations, every tensor counted once
    std::string uncounted;   ///< why productBytes is not known; empty where it is
    bool brief = false;      ///< a preview's: checked by few steps, and timed for a moment
    std::optional<OtherLoad> load = {}; ///< what other programs used meanwhile; empty: unknown

    bool refused() const { return !refusal.empty(); }
    /// Only rungs that passed the check have times.
    bool timed() const { return !refused() && measure.right() && measure.timed(); }
    bool wrong() const { return !refused() && !measure.right(); }
    double bytes() const { return productBytes > 0 ? productBytes + otherBytes : 0; }
    /// Operations for every byte that the products' kernels ask memory for.
    double intensity() const { return productBytes > 0 ? productFlops / productBytes : 0; }
};

/// Adds to a rung's result what a step of its trainer does.
void describeStep(RungResult& result, Trainer& trainer, const TrainJob& job, gpu::Device& device,
                  AccessRecorder& recorder);

/// The kernel of a rung over a small product, in small tiles, so that a workgroup can be looked at. Throws
/// std::runtime_error for a rung that the device cannot run or that has no kernel of its own, gpu::GpuError.
AccessRecord recordOfRung(const LaneSpec& spec, Product product, gpu::Device& device,
                          AccessRecorder& recorder);

/// Why a device cannot run the rung, without the names of both: "it reads at most 64 bytes as texels".
std::string_view refusalReason(const RungResult& result);
/// The first clause of that reason: "it needs cooperative matrices".
std::string_view shortRefusal(const RungResult& result);
/// The same for a row of the staircase, with what it is: "not supported: it needs cooperative matrices", or
/// that this network does not fit, with both numbers.
std::string refusedText(const RungResult& result);
/// What a bar in the staircase says: "6.38 GFLOP/s", "wrong result", "cannot run here", "not measured".
std::string shortResult(const RungResult* result);
/// "25.2 % of the roof"; empty where there is no time or no roof.
std::string roofShare(const RungResult* result, const Roof* roof);
/// Names and numbers of a rung, for the panel beside it.
std::vector<std::pair<std::string, std::string>> numbersOf(const RungResult& result, const Roof* roof);
/// Whether the losses were the plain rung's, in a sentence.
std::string checkText(const RungResult& result);

/// What the invocations do at their `moment`-th access: what is touched, and how far apart neighbours are.
std::string momentText(const AccessRecord& record, std::size_t moment);
/// Words that a workgroup reads, and the outputs that it writes from them.
struct RecordReads {
    double memory = 0;
    double shared = 0;
    double outputs = 0; ///< in all its moments

    /// Workgroups differ in size, so that words are compared by the output; 0 where it writes none.
    double perOutput(double words) const { return outputs > 0 ? words / outputs : 0; }
};
/// In the first `moments` accesses of its invocations.
RecordReads readsUntil(const AccessRecord& record, std::size_t moments);
/// The most accesses that an invocation makes.
std::size_t moments(const AccessRecord& record);

} // namespace lockstep::demos
