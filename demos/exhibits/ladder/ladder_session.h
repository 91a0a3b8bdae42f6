// One setting of the exhibit at work: rungs are measured, kernels are recorded, and the network is trained,
// all on one thread, one piece after the other, so that nothing is timed beside anything else.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/ladder/access_record.h"
#include "demos/exhibits/ladder/crossover.h"
#include "demos/exhibits/ladder/rung_result.h"
#include "demos/kit/machines.h"
#include "demos/kit/roof.h"
#include "demos/kit/run_settings.h"
#include "demos/kit/worker.h"

namespace lockstep::demos {

/// The kernel of a rung over a small product, and what its first workgroup does.
struct RungPicture {
    std::string lane;
    Product product = Product::forward;
    AccessRecord record; ///< without invocations where there is none
    std::string reason;  ///< why there is none; empty where there is
};

/// Losses of steps that were trained on one rung, and the time they took.
struct TrainedPiece {
    std::string lane;
    std::vector<LossPoint> losses;
    double seconds = 0;
};

/// What has been done since it was last taken.
struct LadderNews {
    std::optional<Roof> roof;
    std::vector<RungResult> results;
    std::vector<RungPicture> pictures;
    std::vector<TrainedPiece> trained;
    std::string refusal; ///< why the rung to train on cannot run; empty: it can
    std::vector<SweepPoint> sweep;
};

class LadderSession {
  public:
    /// `device` draws the window and runs the GPU's rungs; it and `machines` outlive the session. Throws for
    /// settings that do not fit the data. The destructor cancels what is under way and waits for it.
    LadderSession(const RunOptions& settings, std::shared_ptr<const Dataset> data, Machines& machines,
                  gpu::Device& device);

    const TrainJob& job() const { return job_; }

    void measureRoof(bool rough);
    /// Checks the rung, then times it for about `seconds`.
    void measure(const LaneSpec& spec, double seconds);
    void takePicture(const LaneSpec& spec, Product product);
    /// Trains on the rung from the current step, on any previous rung. One that is refused changes
    /// nothing.
    void train(const LaneSpec& spec, std::uint64_t steps);
    /// Measures cpu:best and gpu:best over all sizes, each for about `seconds`.
    void sweep(SweepBy by, double seconds);
    /// Training stands at its first step again, with the same weights.
    void resetTraining();

    LadderNews takeNews();
    WorkQueue& queue() { return queue_; }

  private:
    void requireTrainer(const LaneSpec& spec, const Lane::MakeTrainer& make);
    template <class Change> void tell(Change change) {
        const std::lock_guard lock(mutex_);
        change(news_);
    }

    const RunOptions settings_;
    std::shared_ptr<const Dataset> data_;
    TrainJob job_;
    Machines& machines_; // used by the window's thread only
    gpu::Device& device_;

    // Of the queue's thread.
    AccessRecorder recorder_;
    std::vector<float> expected_; // losses of the plain rung
    std::unique_ptr<Trainer> trainer_;
    std::string trainerLane_;

    std::mutex mutex_; // guards news_
    LadderNews news_;
    WorkQueue queue_; // last: its thread uses all of the above
};

} // namespace lockstep::demos
