// How training steps are recorded on a Vulkan device: operation by operation, some of them fused, or whole.
#pragma once

#include <optional>
#include <string>

#include "engine/gpu/recorder.h"
#include "engine/plan/rewrites.h"
#include "engine/step/gpu_ops.h"
#include "engine/step/step_fusions.h"
#include "engine/step/whole_step.h"
#include "engine/tune/tuning.h"

namespace lockstep {

class GpuSteps {
  public:
    /// All references must outlive the object. `half` as for GpuOps.
    /// workgroups   MachineShare::workgroups
    GpuSteps(gpu::Recorder& recorder, GpuArenas& arenas, Kernels& kernels, const TrainJob& job, Rung rung,
             const StepKernels& how, const HalfArenas* half, std::size_t workgroups);

    /// Dispatches all that steps will dispatch, so that drivers compile it now; on the rung `best` also
    /// chooses what is fastest on the whole device, unless `tuning` is skipped. The limit of workgroups holds
    /// from then on. Updates must be switched off.
    void warmUp(Tuning& tuning);
    /// Steps [first, first + count), into the submission that has begun.
    void record(std::uint64_t first, std::uint64_t count);
    /// One step whose operations can be told from each other: nothing is fused (the bits are the same), but a
    /// whole step stays whole.
    void recordApart(std::uint64_t step);
    /// What that step is.
    StepPlan planApart() const { return whole() ? wholeStepPlan(arenas_.shape) : fusions_.apart(); }
    /// GpuOps::exchange.
    void exchange(bool on) { ops_.exchange(on); }
    bool ranksFailed() const { return ops_.ranksFailed(); }
    /// GpuOps::submitEachOperation.
    void submitEachOperation(bool on) { ops_.submitEachOperation(on); }

    /// `best` trains in whole steps where they fit and are faster. They round differently from single
    /// operations, so a run has to stay with its choice.
    bool mayChange() const { return mayChange_; }
    bool whole() const { return wholeStep_.has_value(); }
    /// Compiles what it needs. Updates must be switched off.
    void setWhole(bool on);

    /// As in MachineInfo.
    std::size_t workgroups() const { return workgroups_; }
    /// Device time of a step while its kernels were compiled.
    double coldMilliseconds() const { return coldMilliseconds_; }
    /// What is special: "whole-step: ...", ", fused: last layer"; empty: nothing.
    std::string describe() const;
    /// As in MachineInfo.
    std::size_t dispatches() const { return whole() ? 0 : dispatches_; }
    std::size_t barriers() const { return whole() ? 0 : barriers_; }

  private:
    double warmUpSteps();
    void limitWorkgroups();
    void chooseWhole(Tuning& tuning);
    void chooseFused(Tuning& tuning);
    void settleOnce(const Tuning& tuning);
    void countDispatches();
    std::string key() const;
    double millisecondsOf(std::uint64_t first, std::uint64_t steps);

    gpu::Recorder& recorder_;
    GpuArenas& arenas_;
    Kernels& kernels_;
    const TrainJob& job_;
    const Rung rung_;
    const bool inPieces_;
    const std::size_t workgroups_;
    StepFusions fusions_;
    bool joins_ = false; ///< what fusions_ has chosen
    GpuOps ops_;
    std::optional<WholeStep> wholeStep_; ///< instead of ops_
    bool mayChange_ = false;
    bool settled_ = false; ///< the device, for the comparison of steps
    double coldMilliseconds_ = 0;
    std::size_t dispatches_ = 0;
    std::size_t barriers_ = 0;
};

} // namespace lockstep
