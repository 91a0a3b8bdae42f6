// A population on a GPU: one dispatch per hidden activation trains all its networks, many steps at a time.
// population_gpu.h says which lines of the recipe that is, and why it cannot use them.
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>

#include "engine/grid/population_results.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;
using gpu::asUint;

PopulationPace firstPace(const PopulationArenas& arenas, const PopulationTraining& training) {
    return {arenas.device.software(), asUint(arenas.job.members.size()), training.quickNetworks(),
            training.mostNetworkSteps()};
}

class GpuPopulation final : public Population {
  public:
    GpuPopulation(gpu::Device& device, const PopulationJob& job, const PopulationPlan& plan,
                  Clock::time_point start)
        : Population(job), arenas_(device, job_), training_(arenas_, plan), scores_(arenas_), maps_(arenas_),
          pace_(firstPace(arenas_, training_)), recorder_(device) {
        recorder_.begin();
        training_.recordWarmUp(recorder_);
        recorder_.submitAndTime();
        machine_ = machineOf(device);
        machine_.kernels = "a network per " + std::string(lockstep::name(plan.layout)) + ", " +
                           std::to_string(job_.members.size()) + " at once, at most " +
                           std::to_string(plan.stepsPerDispatch) + " steps per dispatch";
        warmUpSeconds_ = secondsSince(start);
    }

    bool advance(double milliseconds) override {
        const Clock::time_point start = Clock::now();
        train(job_.steps, [&] { // What is under way takes its time, too.
            return milliseconds - 1e3 * secondsSince(start) -
                       pace_.target() * static_cast<double>(flights_.size()) >
                   0;
        });
        return blockFirst_ < job_.steps;
    }

    void trainTo(std::uint64_t step) override {
        train(std::min(step, job_.steps), [] { return true; });
    }

    void reset() override {
        finish();
        arenas_.reset();
        scores_.forget();
        pace_ = firstPace(arenas_, training_); // networks that diverged were quick; now all train again
        blockFirst_ = 0;
        blockSteps_ = 0;
        nextPlace_ = 0;
    }

    std::vector<MemberResult> results() override { return scores_.results(); }
    std::vector<float> parameters(std::size_t member) override { return scores_.parameters(member); }
    std::vector<std::uint32_t> decisionMaps(const DecisionMapOptions& options) override {
        return maps_.download(options);
    }
    std::optional<DevicePicture> decisionMapsOnDevice(const DecisionMapOptions& options) override {
        return maps_.compute(options);
    }

  private:
    // Slices up to step `end`, at least one and then as long as goesOn(). Waits for them.
    template <class GoesOn> void train(std::uint64_t end, GoesOn goesOn) {
        const Clock::time_point start = Clock::now();
        while (blockFirst_ < end) {
            submitSlice(end);
            collect();
            if (!goesOn()) break;
        }
        finish();
        trainingSeconds_ += secondsSince(start);
    }

    // The next networks of a block of steps, or the first ones of the next block.
    void submitSlice(std::uint64_t end) {
        scores_.forget();
        recorder_.begin(); // waits while too many are under way, so that records may be written
        if (blockSteps_ == 0) beginBlock(end);
        const auto all = static_cast<std::uint32_t>(job_.members.size());
        const PopulationSlice slice{blockSteps_, std::min(pace_.next().networks, all - nextPlace_)};
        training_.record(recorder_, blockFirst_, nextPlace_, slice);
        recorder_.submit();
        flights_.push_back(slice);
        nextPlace_ += slice.networks;
        if (nextPlace_ < all) return;
        blockFirst_ += blockSteps_;
        blockSteps_ = 0;
    }

    void beginBlock(std::uint64_t end) {
        blockSteps_ =
            training_.stepsFrom(blockFirst_, std::min<std::uint64_t>(end - blockFirst_, pace_.next().steps));
        nextPlace_ = 0;
        training_.prepare(blockFirst_, blockSteps_);
    }

    void collect() {
        for (const gpu::FinishedSubmission& finished : recorder_.takeFinished()) {
            pace_.add(flights_.front(), finished.milliseconds);
            flights_.pop_front();
        }
    }

    void finish() {
        recorder_.finish();
        collect();
    }

    PopulationArenas arenas_;
    PopulationTraining training_;
    PopulationScores scores_;
    PopulationMaps maps_;
    PopulationPace pace_;

    // All networks are at step `blockFirst_`, those before `nextPlace_` at `blockFirst_ + blockSteps_`.
    std::uint64_t blockFirst_ = 0;
    std::uint32_t blockSteps_ = 0;
    std::uint32_t nextPlace_ = 0;
    std::deque<PopulationSlice> flights_; // submitted, in the order in which they finish
    gpu::Recorder recorder_;              // destroyed first: it waits for what still uses the buffers
};

} // namespace

std::unique_ptr<Population> makeGpuPopulation(gpu::Device& device, const PopulationJob& job,
                                              PopulationLayout layout) {
    const Clock::time_point start = Clock::now();
    job.validate();
    requirePopulationMemory(device, job);
    return std::make_unique<GpuPopulation>(device, job, choosePopulationPlan(device, job, layout), start);
}

} // namespace lockstep
