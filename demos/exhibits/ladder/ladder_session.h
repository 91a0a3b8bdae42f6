// What the ladder's thread does: for ladder_model.cpp only.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/exhibits/ladder/ladder_model.h"
#include "demos/kit/worker.h"

namespace lockstep::demos {

/// One setting at work: rungs are measured, kernels are recorded, and the network is trained, all on one
/// thread, one piece after the other, so that nothing is timed beside anything else.
class LadderModel::Session {
  public:
    /// `device` draws the window and runs the GPU's rungs; it, `model` and `machines` outlive the session.
    /// Throws for settings that do not fit the data.
    Session(LadderModel& model, std::shared_ptr<const Dataset> data, Machines& machines, gpu::Device& device)
        : model_(model), data_(std::move(data)), job_(makeJob(model.settings_, *data_)), machines_(machines),
          device_(device), recorder_(device) {}

    WorkQueue& queue() { return queue_; }

    void measureRoof(bool rough) {
        queue_.post("measuring the roof", [this, rough](const std::atomic<bool>& cancelled) {
            Kernels kernels(device_);
            Roof roof = demos::measureRoof(device_, kernels, rough);
            roof.productGflops = fastestProduct(device_, kernels, &cancelled, rough);
            if (cancelled) return;
            queue_.tell([this, roof] {
                model_.roof_ = roof;
                model_.measured(model_.rungs_.size());
            });
        });
    }

    /// Checks the rung, then times it for about `seconds`.
    void measure(std::size_t rung, double seconds) {
        const LaneSpec spec = laneOf(rung);
        queue_.post("measuring " + spec.text(),
                    [this, rung, spec, seconds, make = machines_.maker(job_, spec),
                     makePlain = machines_.maker(job_, LaneSpec{false, Rung::scalar, {}})](
                        const std::atomic<bool>& cancelled) {
                        if (expected_.empty()) {
                            expected_ = firstLosses(*makePlain(), job_, &cancelled);
                            if (cancelled) expected_.clear();
                        }
                        if (cancelled) return;
                        RungResult result;
                        result.spec = spec;
                        std::unique_ptr<Trainer> trainer;
                        result.refusal = failureOf([&] { trainer = make(&cancelled); });
                        if (trainer) {
                            result.measure = measureLane(*trainer, job_, expected_, lossTolerance(spec),
                                                         seconds, &cancelled);
                            if (result.measure.right() && !cancelled)
                                describeStep(result, *trainer, job_, device_, recorder_);
                        }
                        if (cancelled) return;
                        queue_.tell([this, rung, result] {
                            if (result.spec.gpu && !result.refused())
                                model_.gpuMachine_ = result.measure.machine;
                            model_.results_.insert_or_assign({rung, model_.settings_.settings.batch}, result);
                            model_.measured(rung);
                        });
                    });
    }

    void takePicture(std::size_t rung, Product product) {
        const LaneSpec spec = laneOf(rung);
        queue_.post("recording " + spec.text(), [this, rung, spec, product](const std::atomic<bool>&) {
            RungPicture picture;
            picture.reason =
                failureOf([&] { picture.record = recordOfRung(spec, product, device_, recorder_); });
            queue_.tell([this, rung, product, taken = std::move(picture)]() mutable {
                std::erase(model_.picturesPosted_, std::pair{rung, product});
                model_.pictures_.insert_or_assign({rung, product}, std::move(taken));
            });
        });
    }

    /// Trains on the rung from the current step, on any previous rung. One that is refused changes nothing.
    void train(std::size_t rung, std::uint64_t steps) {
        const auto make = machines_.maker(job_, laneOf(rung));
        queue_.post("", [this, rung, steps, make](const std::atomic<bool>&) {
            const std::string refusal = failureOf([&] { requireTrainer(rung, make); });
            if (!refusal.empty()) { // training stands where it stood; another rung goes on from there
                queue_.tell([this, refusal] {
                    model_.refusal_ = refusal;
                    model_.running_ = model_.training_ = false;
                });
                return;
            }
            const double before = trainer_->trainingSeconds();
            trainer_->run(steps);
            trainer_->finish();
            const double seconds = trainer_->trainingSeconds() - before;
            std::vector<LossPoint> losses;
            trainer_->takeLosses(losses);
            queue_.tell([this, rung, losses, seconds] { model_.addLosses(rung, losses, seconds); });
        });
    }

    /// Training stands at its first step again, with the same weights.
    void resetTraining() {
        queue_.post("", [this](const std::atomic<bool>&) { trainer_.reset(); });
    }

    /// Measures cpu:best and gpu:best over all sizes, each for about `seconds`.
    void sweep(SweepBy by, double seconds) {
        for (const std::size_t value : sweepValues(by, data_->train.count)) {
            const TrainJob job = makeJob(settingsFor(model_.settings_, by, value), *data_);
            const auto makeCpu = machines_.maker(job, LaneSpec{false, Rung::best, {}});
            const auto makeGpu = machines_.maker(job, LaneSpec{true, Rung::best, {}});
            queue_.post(
                fmt::format("measuring {} {}", nameOf(by), value),
                [this, by, value, job, seconds, makeCpu, makeGpu](const std::atomic<bool>& cancelled) {
                    const SweepPoint point =
                        measurePoint(value, job, makeCpu, makeGpu, device_, seconds, cancelled);
                    if (cancelled) return;
                    queue_.tell(
                        [this, by, point] { model_.sweeps_[static_cast<std::size_t>(by)].push_back(point); });
                });
        }
        queue_.post("", [this, by](const std::atomic<bool>& cancelled) {
            if (!cancelled) queue_.tell([this, by] { model_.swept_[static_cast<std::size_t>(by)] = true; });
        });
    }

  private:
    LaneSpec laneOf(std::size_t rung) const { return laneSpecFromText(model_.rungs_[rung].lane); }

    void requireTrainer(std::size_t rung, const Lane::MakeTrainer& make) {
        if (trainer_ && trainerRung_ == rung) return;
        std::optional<TrainerState> state;
        if (trainer_) state = trainer_->state();
        std::unique_ptr<Trainer> next = make(); // may be refused: then training stands where it stood
        if (state) next->restore(*state);
        trainer_ = std::move(next);
        trainerRung_ = rung;
    }

    LadderModel& model_; // of the window's thread: it is read when work is posted, and told what was done
    std::shared_ptr<const Dataset> data_;
    TrainJob job_;
    Machines& machines_; // used by the window's thread only
    gpu::Device& device_;

    // What only the queue's thread touches.
    AccessRecorder recorder_;
    std::vector<float> expected_; // losses of the plain rung
    std::unique_ptr<Trainer> trainer_;
    std::size_t trainerRung_ = 0;

    WorkQueue queue_; // last: its thread uses all of the above
};

} // namespace lockstep::demos
