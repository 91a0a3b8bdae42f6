// Records dispatches into command buffers, orders them, submits them and times them.
#pragma once

#include <array>
#include <chrono>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/descriptor_sets.h"
#include "engine/gpu/hazards.h"
#include "engine/gpu/kernel.h"

namespace lockstep::gpu {

/// What one dispatch amounts to, for GFLOP/s and GB/s in timings.
struct Cost {
    double flops = 0;
    double bytes = 0;
    std::uint64_t tag = 0; ///< the caller's own; comes back with a traced dispatch
};

/// Sum over the timed dispatches of one kernel name.
struct KernelTiming {
    std::string name;
    double milliseconds = 0;
    std::uint64_t calls = 0;
    double flops = 0;
    double bytes = 0;
};

/// When one dispatch ran: milliseconds since the first traced submission began, by the device's clock.
struct TracedDispatch {
    std::string name;
    Cost cost;
    bool barrierBefore = false; ///< it waited for what was dispatched before it
    double beginMs = 0;
    double endMs = 0;
};

/// A submission that has run. Device time comes from timestamps, or from the host's clock on devices without.
struct FinishedSubmission {
    Ticket ticket = 0;
    double milliseconds = 0;
};

/// Use: begin(); dispatch() any number of times; submit(); again. A few submissions may be in flight at once;
/// begin() waits when all are. One thread at a time.
class Recorder {
  public:
    explicit Recorder(Device& device);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void begin();

    /// From here to the submission's end, dispatches are timed one by one. They run one after another then,
    /// so that each time is the kernel's own.
    void profileDispatches(bool on) { profiling_ = on && device_.limits().timestampNanoseconds > 0; }

    /// From here to the submission's end, dispatches are noted one by one as they really run: with no
    /// barriers but the needed ones, so that those which do not depend on one another may overlap. They count
    /// in no timings(). On a device without timestamps all times are 0.
    void traceDispatches(bool on) { tracing_ = on; }
    /// What was traced in submissions that have finished since the last call, in the order of dispatching.
    std::vector<TracedDispatch> takeTrace();

    /// Runs `kernel` over `items`, with `views` as its bindings 0, 1, ... Barriers are added where they are
    /// needed. Throws std::runtime_error, with the kernel's name, for a wrong number of views or one the
    /// device cannot bind.
    template <class Params>
    void dispatch(const Kernel<Params>& kernel, const WorkItems& items, const Params& params,
                  std::initializer_list<BufferView> views, const Cost& cost = {}) {
        dispatchBytes(kernel, items, &params, {views.begin(), views.size()}, cost);
    }

    /// Sets every 32-bit word of the view.
    void fill(const BufferView& view, std::uint32_t word);

    /// Copies `from` to `to`, which must be as long.
    void copy(const BufferView& from, const BufferView& to);

    Ticket submit();
    /// Submits what has been recorded and begins the next submission, profiled like this one.
    Ticket submitAndGoOn();

    /// Submissions that have finished since the last call, oldest first. Never waits.
    std::vector<FinishedSubmission> takeFinished();
    /// Waits for all submissions of this recorder.
    void finish();
    /// Submits what has been recorded, waits for it, and takes it. Returns the device's milliseconds of all
    /// that takeFinished() had not returned before.
    double submitAndTime();

    /// Sum of the finished submissions' device time, in seconds.
    double deviceSeconds() const { return deviceSeconds_; }
    std::vector<KernelTiming> timings() const;
    std::uint64_t barriers() const { return barriers_; } ///< emitted between dispatches so far

  private:
    static constexpr std::size_t slots = 3;
    static constexpr std::uint32_t timedDispatches = 512; ///< per submission; further ones are not timed
    static constexpr std::uint32_t queries = 2 + 2 * timedDispatches;

    struct Slot {
        VkCommandBuffer commands = VK_NULL_HANDLE;
        VkQueryPool queries = VK_NULL_HANDLE;
        std::unique_ptr<DescriptorSets> sets; ///< null where push descriptors are used
        Ticket ticket = 0;                    ///< 0: not in flight
        std::chrono::steady_clock::time_point submitted;
        std::vector<TracedDispatch> timed; ///< in order of their query pairs
        bool traced = false;               ///< `timed` is for takeTrace(), not for timings()
    };

    void createSlots();
    void release() noexcept;
    void requireRecording(const std::string& what) const;
    void dispatchBytes(const AnyKernel& kernel, const WorkItems& items, const void* params,
                       std::span<const BufferView> views, const Cost& cost);
    void checkViews(const AnyKernel& kernel, std::span<const BufferView> views) const;
    void bind(const AnyKernel& kernel, std::span<const BufferView> views);
    bool order(std::span<const Access> accesses);
    void memoryBarrier(VkPipelineStageFlags toStages, VkAccessFlags toAccess);
    void writeTimestamp(std::uint32_t query,
                        VkPipelineStageFlagBits after = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    void collect(Slot& slot);
    void collectFinished();
    double millisecondsFromQueries(Slot& slot);
    void noteTimed(Slot& slot);
    Slot& current() { return slots_[next_]; }

    Device& device_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::array<Slot, slots> slots_;
    std::size_t next_ = 0;
    bool recording_ = false;
    std::optional<CountedTime> recordingTime_; ///< while recording
    bool profiling_ = false;
    bool tracing_ = false;
    HazardTracker hazards_;
    std::vector<Access> accesses_;
    std::vector<FinishedSubmission> finished_;
    std::chrono::steady_clock::time_point lastFinished_{};
    double deviceSeconds_ = 0;
    std::uint64_t barriers_ = 0;
    std::map<std::string, KernelTiming> timings_;
    std::vector<TracedDispatch> trace_;
    std::optional<std::uint64_t> traceOrigin_; ///< ticks
    double traceBarrier_ = 0;                  ///< milliseconds: all that was traced so far has ended by then
};

} // namespace lockstep::gpu
