// Records dispatches into command buffers, inserts barriers, submits them and times them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/gpu/bindings.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/dispatch_pace.h"
#include "engine/gpu/hazards.h"
#include "engine/gpu/kernel.h"
#include "engine/gpu/workgroup_clock.h"

namespace lockstep::gpu {

/// The work of one dispatch, for GFLOP/s and GB/s in timings.
struct Cost {
    double flops = 0;
    double bytes = 0;
    std::uint64_t tag = 0;  ///< a number of the caller's choice, returned with a traced dispatch
    bool continues = false; ///< more of the same work as the dispatch before
};

/// Sums over the timed dispatches of one kernel.
struct KernelTiming {
    double milliseconds = 0;
    std::uint64_t calls = 0;
    double flops = 0;
    double bytes = 0;
};

/// The time span of one dispatch, in milliseconds of the device since the first traced submission began.
struct TracedDispatch {
    std::string name;    ///< of the kernel: the operation
    std::string shader;  ///< stem of the kernel's shader file; empty for a copy
    std::string variant; ///< how it is specialised
    WorkItems itemsPerGroup;
    Cost cost;
    bool barrierBefore = false; ///< it waited for earlier dispatches
    double beginMs = 0;
    double endMs = 0;
    /// When its workgroups ran, at most `mostClockedGroups`: of a kernel with a clock (KernelSource), in the
    /// first 64 dispatches of a trace.
    std::vector<WorkgroupTime> workgroups = {};
    std::optional<std::size_t> clockRegion = {}; ///< where they are noted; the recorder's own business
};

/// A finished submission. Its time comes from timestamps or, where there are none, from the host's clock.
struct FinishedSubmission {
    Ticket ticket = 0;
    double milliseconds = 0;
};

/// Usage: begin(), any number of dispatch(), submit(), and again. A few submissions can be in flight; begin()
/// waits if all are. Use from one thread at a time.
class Recorder {
  public:
    explicit Recorder(Device& device);
    ~Recorder();

    void begin();
    /// From now on, begin() throws Cancelled if the flag is set, and so does a dispatch that is submitted in
    /// pieces; nothing is in flight then. The flag must outlive the recorder, or the next call of this (null:
    /// none is watched).
    void endWhen(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }

    /// Times every dispatch until the end of the submission; they then run one after another.
    void profileDispatches(bool on) { profiling_ = on && device_.limits().timestampNanoseconds > 0; }

    /// Traces every dispatch until the end of the submission as it really runs: only the necessary barriers
    /// are used, so independent dispatches may overlap. Traced dispatches do not count in timings(). All
    /// times are 0 on a device without timestamps.
    void traceDispatches(bool on) { tracing_ = on; }
    /// Returns the traces of submissions that have finished since the last call, in dispatch order.
    std::vector<TracedDispatch> takeTrace();
    /// Milliseconds by which the clock moved in all traces: the divisor that their times share. Some clocks
    /// count nanoseconds and move by a microsecond. 0: no traces, or no timestamps.
    double clockStep() const {
        return static_cast<double>(clockTicks_) * device_.limits().timestampNanoseconds * 1e-6;
    }

    /// Runs `kernel` over `items`, with `views` as its bindings 0, 1, ... Adds the necessary barriers. Throws
    /// std::runtime_error, naming the kernel, for too few or many views or one that cannot be bound.
    ///
    /// Work whose cost is given never holds the device for long (dispatch_pace.h): what would is submitted in
    /// pieces, and the first of an unknown kernel are waited for. Then more than one submission finishes.
    template <class Params>
    void dispatch(const Kernel<Params>& kernel, const WorkItems& items, const Params& params,
                  std::initializer_list<BufferView> views, const Cost& cost = {}) {
        dispatchBytes(kernel, items, &params, {views.begin(), views.size()}, cost);
    }

    /// From now on, at most so many workgroups of this recorder are in flight at once (0: as many as the
    /// device takes): every dispatch is cut into pieces of at most that many, and each piece waits for the
    /// one before at an execution barrier. So the last workgroups of a piece run beside idle processors, as
    /// on a smaller device, and every piece costs a launch. Results are the same bits. On llvmpipe, only as
    /// many workgroups run at once as it has threads; higher limits only add launches.
    void limitWorkgroups(std::uint64_t most);

    /// From now on, leaves out the rest of a dispatch once its pieces show that all of it would take longer
    /// than so many milliseconds (0: never). For trials; results are incomplete then.
    void giveUpBeyond(double milliseconds) { giveUpBeyond_ = milliseconds; }
    /// Whether that has happened since the last call.
    bool gaveUp() { return std::exchange(gaveUp_, false); }

    /// Sets every 32-bit word of the view.
    void fill(const BufferView& view, std::uint32_t word);

    /// Copies `from` to `to`, which must have the same size. With a name, it is timed and traced as a
    /// dispatch of a kernel of that name would be.
    void copy(const BufferView& from, const BufferView& to, const std::string& name = {},
              const Cost& cost = {});

    Ticket submit();
    /// Submits the recorded work and begins the next submission, profiled like this one.
    Ticket submitAndGoOn();

    /// Returns submissions that have finished since the last call, oldest first. Never waits.
    std::vector<FinishedSubmission> takeFinished();
    /// Waits for all submissions of this recorder.
    void finish();
    /// Submits the recorded work and waits for it. Returns the device time, in milliseconds, of everything
    /// that takeFinished() had not returned before.
    double submitAndTime();

    /// Total device time of the finished submissions, in seconds.
    double deviceSeconds() const { return deviceSeconds_; }
    const std::map<std::string, KernelTiming>& timings() const { return timings_; } ///< by kernel
    Device& device() const { return device_; }
    std::uint64_t dispatches() const { return dispatches_; } ///< recorded so far, pieces one by one
    std::uint64_t barriers() const { return barriers_; }     ///< emitted between dispatches so far

  private:
    static constexpr std::size_t slots = 3;
    static constexpr std::uint32_t timedDispatches = 512; ///< per submission; later ones are not timed
    static constexpr std::uint32_t queries = 2 + 2 * timedDispatches;

    struct Slot {
        VkCommandBuffer commands = VK_NULL_HANDLE;
        Owned<VkQueryPool> queries;           ///< null without timestamps
        std::unique_ptr<DescriptorSets> sets; ///< null if push descriptors are used
        Ticket ticket = 0;                    ///< 0: not in flight
        std::chrono::steady_clock::time_point submitted;
        std::vector<TracedDispatch> timed; ///< in the order of their query pairs
        bool traced = false;               ///< `timed` is for takeTrace(), not for timings()
        std::uint64_t recorded = 0;        ///< dispatches, fills and copies
        std::uint64_t kernel = 0;          ///< of the last dispatch whose cost is known
        double flops = 0;                  ///< of that dispatch
    };

    void requireRecording(const std::string& what) const;
    void dispatchBytes(const AnyKernel& kernel, const WorkItems& items, const void* params,
                       std::span<const BufferView> views, const Cost& cost);
    void record(const AnyKernel& kernel, const GroupRange& groups, const void* params,
                std::span<const BufferView> views, const Cost& cost);
    bool beginTimed();
    void endTimed(TracedDispatch dispatch);
    void launch(const GroupRange& groups);
    double mostGroups() const;
    void submitPiece(const DispatchPace& pace, double flops);
    void checkViews(const AnyKernel& kernel, std::span<const BufferView> views) const;
    void bind(const AnyKernel& kernel, std::span<const BufferView> views);
    bool order(std::span<const Access> accesses);
    bool beforeTransfer();
    VkPipelineStageFlags stagesSoFar() const;
    void workBarrier();
    void memoryBarrier(VkPipelineStageFlags fromStages, VkPipelineStageFlags toStages,
                       VkAccessFlags toAccess);
    void writeTimestamp(std::uint32_t query,
                        VkPipelineStageFlagBits after = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    void collect(Slot& slot);
    void collectFinished();
    double millisecondsFromQueries(Slot& slot);
    void noteTimed(Slot& slot);
    Slot& current() { return slots_[next_]; }
    BufferView nextClockRegion();
    void readClocks();

    Device& device_;
    Owned<VkCommandPool> pool_;
    std::array<Slot, slots> slots_;
    std::size_t next_ = 0;
    bool recording_ = false;
    std::optional<CountedTime> recordingTime_; ///< while recording
    bool profiling_ = false;
    bool tracing_ = false;
    bool transfers_ = false; ///< the submission has fills or copies
    HazardTracker hazards_;
    std::vector<Access> accesses_;
    std::map<std::uint64_t, DispatchPace> paces_; ///< by kernel
    std::uint64_t mostWorkgroups_ = 0;            ///< at once; 0: no limit
    double giveUpBeyond_ = 0;
    bool gaveUp_ = false;
    const std::atomic<bool>* cancelled_ = nullptr;
    std::vector<FinishedSubmission> finished_;
    std::chrono::steady_clock::time_point lastFinished_{};
    double deviceSeconds_ = 0;
    std::uint64_t barriers_ = 0;
    std::uint64_t dispatches_ = 0;
    std::map<std::string, KernelTiming> timings_;
    std::vector<TracedDispatch> trace_;
    std::optional<std::uint64_t> traceOrigin_; ///< ticks
    std::uint64_t clockTicks_ = 0;             ///< of clockStep()
    std::optional<Buffer> clocks_;             ///< regions for the workgroups of one dispatch each
    std::size_t clockRegions_ = 0;             ///< used since the last takeTrace()
    double traceBarrier_ = 0;                  ///< milliseconds by which everything traced so far has ended
};

} // namespace lockstep::gpu
