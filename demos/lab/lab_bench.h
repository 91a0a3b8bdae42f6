// What measures an experiment: both machines, sweeps that begin small, rounds and medians.
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/lane_measure.h"
#include "demos/kit/machines.h"
#include "demos/lab/lab_result.h"
#include "engine/cpu/thread_team.h"
#include "engine/gpu/recorder.h"
#include "engine/step/kernels.h"
#include "shaders/shared/lab.h"

namespace lockstep::demos {

using LabKernel = gpu::Kernel<shared::LabParams>;

/// How the note of a series begins that ends before a sample that would take too long.
inline constexpr std::string_view tooLongNote = "the next sample would take more than ";

/// One series: a sample at each of some settings, round after round.
struct LabSweep {
    bool gpu = false;
    std::string name;           ///< of the series
    std::vector<double> values; ///< of what is turned, ascending
    /// Does the work once at this setting, and returns what is plotted. Throws std::runtime_error, for
    /// people, if the results are wrong.
    std::function<double(double value)> sample;
    /// The time of a sample grows as this does; empty: as the setting itself.
    std::function<double(double value)> cost = {};
    double longest = 0; ///< milliseconds of a sample; 0: what the device may be held for
};

struct BenchDevice {
    gpu::Device* device = nullptr;
    std::string missing = {}; ///< why there is none
    std::string noCpu = {};   ///< why the CPU is not measured; empty: it is
};

/// Used by one thread. The device may serve a window at the same time.
class LabBench {
  public:
    /// Says what is being measured, and which share of the whole is done.
    using Progress = std::function<void(const std::string& what)>;

    /// rough   a few rounds of little work: to try the program, and for pictures without numbers
    /// stop    becoming true ends every sweep soon
    /// lanes   the machines to measure, at most one of each kind; empty: both
    LabBench(Machines& machines, bool rough, Progress progress, const std::atomic<bool>& stop,
             std::span<const LaneSpec> lanes = {});
    /// The same on any device.
    ///   threads   of the CPU; 0: one per core
    LabBench(std::size_t threads, BenchDevice device, bool rough, Progress progress,
             const std::atomic<bool>& stop);

    /// The CPU's series of `result` are not measured again, if this machine measured them as this bench
    /// would.
    void know(const LabResult& result);
    /// Adds what measuring those series has brought besides.
    void addKnownNumbers(LabResult& result) const;

    /// Null: there is none.
    gpu::Device* device() const { return device_; }
    const std::string& noDevice() const { return noDevice_; }
    /// Whether the CPU is measured, too.
    bool measuresCpu() const { return noCpu_.empty(); }
    bool software() const { return device_ != nullptr && device_->software(); }
    bool rough() const { return rough_; }
    bool stopped() const { return stop_; }
    /// The same, for work that watches a flag.
    const std::atomic<bool>& stop() const { return stop_; }
    /// Invocations that run together, in one register of a software device or one subgroup of a card, as its
    /// driver reports it. A kernel may run in smaller ones (branches.cpp).
    std::uint32_t subgroupSize() const { return device_ == nullptr ? 1 : device_->limits().subgroupSize; }
    /// A usual size for workgroups here: whole subgroups, and not too large for any device.
    std::uint32_t groupSize() const { return software() ? 32 : 128; }

    ThreadTeam& team() { return *team_; }
    std::size_t threads() const { return team_->size(); }

    // Only with a device.
    Kernels& kernels() { return *kernels_; }
    const LabKernel& kernel(const std::string& stem, gpu::SpecConstants constants,
                            gpu::WorkItems itemsPerGroup = {0, 0, 0}) {
        return kernels_->find<shared::LabParams>(stem, std::move(constants), {}, itemsPerGroup);
    }
    gpu::Recorder& recorder() { return *recorder_; }
    gpu::Buffer buffer(std::uint64_t bytes, const char* name, gpu::Memory memory = gpu::Memory::device) {
        return {*device_, bytes, memory, std::string("lab: ") + name};
    }
    /// Milliseconds of the device for what `record` writes into one submission, waited for.
    template <class Record> double deviceMilliseconds(Record record) {
        recorder_->begin();
        record(*recorder_);
        return recorder_->submitAndTime();
    }

    /// Measures a series and adds it to the result. The first round goes through the settings from the
    /// smallest on, and ends before one that would take too long; what is left out is a note. Of a
    /// machine that is not measured, a series is a note only.
    void sweep(LabResult& result, const LabSweep& sweep);

  private:
    gpu::Device* device_ = nullptr;
    std::string noDevice_, noCpu_; // why not; empty: it is measured
    bool rough_;
    Progress progress_;
    const std::atomic<bool>& stop_;
    LabResult known_;
    std::unique_ptr<ThreadTeam> team_;
    std::unique_ptr<Kernels> kernels_;
    std::unique_ptr<gpu::Recorder> recorder_;
};

/// A powers-of-`factor` ladder from `first` to `last`, both included.
std::vector<double> labValues(double first, double last, double factor);

} // namespace lockstep::demos
