// What a recorder reads from timestamps: the time of a submission, and when each of its dispatches ran.
#include <algorithm>
#include <utility>

#include "engine/gpu/error.h"
#include "engine/gpu/recorder.h"

namespace lockstep::gpu {

namespace {

constexpr std::size_t mostClockRegions = 65; // the last of them is never read
constexpr std::uint64_t clockRegionBytes =
    (4 * (clockHeaderWords + std::uint64_t{clockRecordWords} * mostClockedGroups) + 255) / 256 * 256;

} // namespace

double Recorder::millisecondsFromQueries(Slot& slot) {
    const auto count = static_cast<std::uint32_t>(2 + 2 * slot.timed.size());
    std::vector<std::uint64_t> ticks(count);
    check(device_.vk().GetQueryPoolResults(device_.handle(), slot.queries.get(), 0, count,
                                           count * sizeof(std::uint64_t), ticks.data(), sizeof(std::uint64_t),
                                           VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults"); // the submission has finished, so results are available without waiting
    const double millisecondsPerTick = device_.limits().timestampNanoseconds * 1e-6;
    // Counters with fewer than 64 bits wrap around, some every few minutes.
    const std::uint32_t bits = device_.limits().timestampBits;
    const std::uint64_t valid = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    const auto elapsed = [&](std::size_t from, std::size_t to) {
        if (bits >= 64 && ticks[to] < ticks[from]) return 0.0;
        return static_cast<double>((ticks[to] - ticks[from]) & valid) * millisecondsPerTick;
    };
    if (slot.traced && !traceOrigin_) traceOrigin_ = ticks[0];
    const double start =
        slot.traced ? static_cast<double>((ticks[0] - *traceOrigin_) & valid) * millisecondsPerTick : 0;
    for (std::size_t index = 0; index < slot.timed.size(); ++index) {
        slot.timed[index].beginMs = start + elapsed(0, 2 + 2 * index);
        slot.timed[index].endMs = start + elapsed(0, 3 + 2 * index);
    }
    return elapsed(0, 1);
}

void Recorder::noteTimed(Slot& slot) {
    for (TracedDispatch& timed : slot.timed) {
        if (!slot.traced) {
            KernelTiming& sum = timings_[timed.name];
            sum.milliseconds += timed.endMs - timed.beginMs;
            sum.calls += 1;
            sum.flops += timed.cost.flops;
            sum.bytes += timed.cost.bytes;
            continue;
        }
        // Its start timestamp may be taken while it still waits at its barrier.
        if (timed.barrierBefore) timed.beginMs = std::max(timed.beginMs, traceBarrier_);
        timed.endMs = std::max(timed.endMs, timed.beginMs);
        traceBarrier_ = std::max(traceBarrier_, timed.endMs);
        trace_.push_back(std::move(timed));
    }
}

// One for each dispatch; what comes after the last one shares it.
BufferView Recorder::nextClockRegion() {
    if (!clocks_) clocks_.emplace(device_, clockRegionBytes * mostClockRegions, Memory::device, "workgroups");
    const std::size_t region = std::min(clockRegions_++, mostClockRegions - 1);
    return clocks_->view(region * clockRegionBytes, clockRegionBytes);
}

// And clears what will be counted in the next trace.
void Recorder::readClocks() {
    for (TracedDispatch& dispatch : trace_) {
        const std::size_t region = dispatch.clockRegion.value_or(mostClockRegions);
        if (region + 1 >= mostClockRegions) continue;
        dispatch.workgroups = workgroupTimes(
            clocks_->downloadValues<std::uint32_t>(clockRegionBytes / 4, region * clockRegionBytes));
    }
    const std::uint32_t none = 0;
    for (std::size_t region = 0; region < std::min(clockRegions_, mostClockRegions); ++region)
        clocks_->uploadValues<std::uint32_t>({&none, 1}, region * clockRegionBytes);
    clockRegions_ = 0;
}

std::vector<TracedDispatch> Recorder::takeTrace() {
    collectFinished();
    readClocks();
    traceOrigin_.reset();
    traceBarrier_ = 0;
    return std::exchange(trace_, {});
}

} // namespace lockstep::gpu
