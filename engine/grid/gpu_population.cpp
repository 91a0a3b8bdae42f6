// A population on a GPU: one dispatch per hidden activation trains all its networks, many steps at a time.
// population_gpu.h says which lines of the recipe that is, and why it cannot use them.
#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/grid/population_gpu.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;
using gpu::asUint;

PopulationPace firstPace(const PopulationArenas& arenas, const PopulationTraining& training) {
    return {arenas.device.software(), asUint(arenas.job.members.size()), training.quickNetworks(),
            training.mostNetworkSteps()};
}

// Networks whose tiles a submission draws: what it does ends in milliseconds.
std::uint32_t networksAtOnce(const gpu::Device& device, const NetShape& shape,
                             const DecisionMapOptions& options) {
    const double work = static_cast<double>(options.cells) * options.cells *
                        static_cast<double>(shape.parameters() + 100); // colours, activations
    return asUint(std::clamp((device.software() ? 3e7 : 1e9) / work, 1.0, 32768.0));
}

shared::PopulationPictureParams paramsOf(const DecisionMapOptions& options, std::size_t members) {
    shared::PopulationPictureParams params{};
    params.places = asUint(members);
    params.columns = options.columns;
    params.cells = options.cells;
    params.kinds = packedFeatures(options.features);
    params.left = options.from;
    params.top = options.to;
    params.cell = (options.to - options.from) / static_cast<float>(options.cells);
    params.discretise = options.colours.discretise ? 1 : 0;
    return params;
}

std::uint64_t pixelsOf(const DecisionMapOptions& options, std::size_t members) {
    return std::uint64_t{options.width()} * options.height(members);
}

void requirePixels(const gpu::Device& device, const DecisionMapOptions& options, std::size_t members) {
    const std::uint64_t most = device.limits().storageRange / 4;
    if (pixelsOf(options, members) <= most) return;
    DecisionMapOptions smaller = options;
    while (smaller.cells > 0 && pixelsOf(smaller, members) > most) --smaller.cells;
    throw std::invalid_argument("decision maps of " + std::to_string(pixelsOf(options, members)) +
                                " pixels are too large for the device, which takes " + std::to_string(most) +
                                ": with " + std::to_string(options.columns) +
                                " tiles beside each other their sides have at most " +
                                std::to_string(smaller.cells) + " pixels");
}

/// Pictures of all networks. The one before the last is given up for the next.
class PopulationMaps {
  public:
    /// `arenas` must outlive the object.
    explicit PopulationMaps(PopulationArenas& arenas) : arenas_(arenas), recorder_(arenas.device) {}

    /// Submits and returns. The picture stays valid until the call after the next one. Throws
    /// std::invalid_argument for options that don't fit the shape or the device (with the largest that do),
    /// gpu::OutOfMemoryError, gpu::DeviceLostError, gpu::TimeoutError, other gpu::GpuErrors.
    DevicePicture compute(const DecisionMapOptions& options) {
        options.validate(arenas_.job);
        requirePixels(arenas_.device, options, arenas_.job.members.size());
        Turn& turn = nextTurn(options);
        recorder_.begin();
        draw(turn, options);
        turn.ready = recorder_.submit();
        const std::uint64_t bytes = 4 * pixelsOf(options, arenas_.job.members.size());
        return {turn.picture->view(0, bytes), turn.ready};
    }

    /// The same in host memory. Waits for the device. Throws likewise.
    std::vector<std::uint32_t> download(const DecisionMapOptions& options) {
        const DevicePicture picture = compute(options);
        arenas_.device.wait(picture.ready);
        const Turn& turn = turns_[(next_ + turns_.size() - 1) % turns_.size()];
        return turn.picture->downloadValues<std::uint32_t>(picture.view.size / sizeof(std::uint32_t));
    }

  private:
    struct Turn {
        std::unique_ptr<gpu::Buffer> picture; ///< null: not yet, or of another size
        std::unique_ptr<gpu::Buffer> colours;
        gpu::Ticket ready = 0;
    };

    // The picture before the last one is given up.
    Turn& nextTurn(const DecisionMapOptions& options) {
        Turn& turn = turns_[next_++ % turns_.size()];
        arenas_.device.wait(turn.ready);
        const std::uint64_t bytes = 4 * pixelsOf(options, arenas_.job.members.size());
        if (!turn.picture || turn.picture->size() < bytes || turn.picture->size() > 2 * bytes + 16) {
            turn.picture.reset();
            turn.picture =
                std::make_unique<gpu::Buffer>(arenas_.device, bytes, gpu::Memory::device, "decision maps");
        }
        if (!turn.colours)
            turn.colours = std::make_unique<gpu::Buffer>(arenas_.device, sizeof(PlaneColourWords),
                                                         gpu::Memory::upload, "colours");
        turn.colours->writeValues<std::uint32_t>(wordsOf(options.colours));
        return turn;
    }

    void draw(const Turn& turn, const DecisionMapOptions& options) {
        recorder_.fill(turn.picture->view(), options.colours.background); // the last line may not be full
        const std::uint32_t most = networksAtOnce(arenas_.device, arenas_.job.shape, options);
        shared::PopulationPictureParams params = paramsOf(options, arenas_.job.members.size());
        for (const PopulationRun& piece : arenas_.places.pieces(0, params.places, most)) {
            if (piece.first > 0) recorder_.submitAndGoOn();
            params.first = piece.first;
            params.networks = piece.count;
            gpu::SpecConstants constants = arenas_.networkConstants(4, piece.activation);
            constants[5] = 8; // a workgroup has 16 x 8 cells: four beside each other per invocation
            recorder_.dispatch(arenas_.kernels.find<shared::PopulationPictureParams>(
                                   arenas_.loopedIfLarge("population_picture"), std::move(constants)),
                               {(params.cells + 3) / 4, params.cells, params.networks}, params,
                               {arenas_.parameters.view(), arenas_.networks.view(), turn.colours->view(),
                                turn.picture->view()});
        }
    }

    PopulationArenas& arenas_;
    std::array<Turn, 2> turns_;
    std::size_t next_ = 0;
    gpu::Recorder recorder_; ///< destroyed first: it waits for what still uses the buffers
};

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
        machine_.kernels = plan.describe(job_.members.size());
        warmUpSeconds_ = secondsSince(start);
    }

    bool advance(double milliseconds) override {
        const Clock::time_point start = Clock::now();
        // What is under way takes its time, too.
        const auto left = [&] {
            return milliseconds - 1e3 * secondsSince(start) -
                   pace_.target() * static_cast<double>(flights_.size());
        };
        do {
            if (blockFirst_ >= job_.steps) break;
            submitSlice(job_.steps);
            collect();
        } while (left() > 0);
        finish();
        trainingSeconds_ += secondsSince(start);
        return blockFirst_ < job_.steps;
    }

    void trainTo(std::uint64_t step) override {
        const Clock::time_point start = Clock::now();
        const std::uint64_t end = std::min(step, job_.steps);
        while (blockFirst_ < end) {
            submitSlice(end);
            collect();
        }
        finish();
        trainingSeconds_ += secondsSince(start);
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
    struct Flight {
        gpu::Ticket ticket = 0;
        PopulationSlice slice;
    };

    // The next networks of a block of steps, or the first ones of the next block.
    void submitSlice(std::uint64_t end) {
        scores_.forget();
        recorder_.begin(); // waits while too many are under way, so that records may be written
        if (blockSteps_ == 0) beginBlock(end);
        const auto all = static_cast<std::uint32_t>(job_.members.size());
        const PopulationSlice slice{blockSteps_, std::min(pace_.next().networks, all - nextPlace_)};
        training_.record(recorder_, blockFirst_, nextPlace_, slice);
        flights_.push_back({recorder_.submit(), slice});
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
        for (const gpu::FinishedSubmission& finished : recorder_.takeFinished())
            while (!flights_.empty() && flights_.front().ticket <= finished.ticket) {
                pace_.add(flights_.front().slice, finished.milliseconds);
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
    std::deque<Flight> flights_;
    gpu::Recorder recorder_; // destroyed first: it waits for what still uses the buffers
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
