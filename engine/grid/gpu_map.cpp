// A map on a GPU: batches of networks, each trained in slices of steps. A WorkSizer finds how many networks
// and steps fit into a submission. Three batches take turns: the host fills one while the device computes
// another.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>

#include "engine/gpu/kernel.h"
#include "engine/gpu/recorder.h"
#include "engine/grid/grid_pace.h"
#include "engine/grid/map.h"
#include "engine/plan/work.h"
#include "engine/step/shaders.h"

namespace lockstep {

namespace {

using gpu::asUint;

/// Parts of a network's hidden neurons that are trained one after the other. With so few weights at a time,
/// compilers keep them and their gradients in registers and finish within a second.
std::size_t partsOf(const MapJob& job) {
    constexpr std::size_t weightsAtATime = 64;
    return (job.inputs * job.hidden + weightsAtATime - 1) / weightsAtATime;
}

/// Hidden neurons of a part.
std::size_t rowsOf(const MapJob& job) { return (job.hidden + partsOf(job) - 1) / partsOf(job); }

/// Values of a network that are kept from slice to slice.
std::size_t stateValues(const MapJob& job) {
    constexpr std::size_t noted = 4;
    const std::size_t values = job.hidden * job.inputs + job.hidden + noted;
    return partsOf(job) == 1 ? values : values + job.examples;
}

/// Upper bound, in milliseconds, of a submission if none of its networks diverges: far from the time after
/// which operating systems reset a GPU.
constexpr double longestSubmission = 50;

/// Networks of the first submission: fewer don't keep a device busy.
std::size_t fewestNetworks(const gpu::Device& device) { return device.software() ? 64 : 1024; }

std::size_t mostNetworks(const gpu::Device& device, const MapJob& job) {
    const std::size_t wanted = device.software() ? 4096 : 65536;
    const std::uint64_t perNetwork = stateValues(job) * sizeof(float);
    const std::uint64_t fitting = device.limits().storageRange / perNetwork / fewestNetworks(device);
    return std::min<std::size_t>(wanted, fitting * fewestNetworks(device));
}

/// In one dispatch.
std::uint32_t mostSteps(const MapJob& job) {
    const std::size_t passes = partsOf(job) == 1 ? 1 : 2 * partsOf(job);
    return std::min(job.steps, asUint(mostLoopRounds / (loopRounds(passes, loopRounds(job.examples)) + 1)));
}

/// What the shader calls `examples`.
std::vector<float> examplesOf(const MapJob& job) {
    const MapData data = mapData(job);
    const std::size_t stride = (job.inputs / 4 + 1) * 4; // inputs and target, padded
    std::vector<float> examples(job.examples * stride);
    for (std::size_t example = 0; example < job.examples; ++example) {
        const auto inputs = data.inputs.begin() + static_cast<std::ptrdiff_t>(example * job.inputs);
        std::copy_n(inputs, job.inputs, examples.begin() + static_cast<std::ptrdiff_t>(example * stride));
        examples[example * stride + job.inputs] = data.targets[example];
    }
    examples.insert(examples.end(), data.firstWeights.begin(), data.firstWeights.end());
    examples.insert(examples.end(), data.secondWeights.begin(), data.secondWeights.end());
    return examples;
}

/// Items: networks.
gpu::KernelSource kernelOf(const gpu::Device& device, const MapJob& job) {
    // A software device runs a workgroup on one core: small groups share the work evenly.
    const std::uint32_t groupSize = device.software() ? device.limits().subgroupSize : 64;
    gpu::SpecConstants constants{
        {0, groupSize}, {1, asUint(job.inputs)}, {2, asUint(job.hidden)}, {3, asUint(job.activation)}};
    const bool parts = partsOf(job) > 1;
    if (parts) constants[4] = asUint(rowsOf(job));
    return {"map", shaderWords(parts ? "map_rows" : "map"), std::move(constants)};
}

class GpuMapTrainer final : public MapTrainer {
  public:
    GpuMapTrainer(gpu::Device& device, const MapJob& job)
        : MapTrainer(job.validate()), device_(device), kernel_(device, kernelOf(device, job)),
          fewest_(fewestNetworks(device)), capacity_(mostNetworks(device, job)),
          examples_(device, examplesOf(job).size() * sizeof(float), gpu::Memory::device, "map examples"),
          state_(device, stateValues(job) * capacity_ * sizeof(float), gpu::Memory::device, "map state"),
          batches_{{makeBatch(), makeBatch(), makeBatch()}}, recorder_(device),
          submission_({submissionMilliseconds(device.software()),
                       static_cast<double>(capacity_ / fewest_ * mostSteps(job))}) {
        examples_.uploadValues<float>(examplesOf(job));
        group_ = fewest_;
        machine_ = machineOf(device);
        machine_.kernels = "a network per invocation, " +
                           (partsOf(job) == 1 ? std::string("everything in registers")
                                              : std::to_string(rowsOf(job)) + " hidden neurons at a time");
        submit(batches_.front(), 1, 0, 1); // drivers compile a kernel at its first use
        recorder_.finish();
        recorder_.takeFinished();
        flights_.clear();
    }

    void train(std::span<const MapPoint> points, std::span<MapOutcome> outcomes) override {
        const auto begin = std::chrono::steady_clock::now();
        const auto count = static_cast<double>(points.size());
        for (Batch& batch : batches_) batch.outcomes = {}; // of a call that has failed
        while (!points.empty()) {
            const std::size_t together = std::min(batchSize(), points.size());
            Batch& batch = batches_[turn_++ % batches_.size()];
            collect(batch);
            trainBatch(batch, points.first(together));
            batch.outcomes = outcomes.first(together);
            points = points.subspan(together);
            outcomes = outcomes.subspan(together);
        }
        for (Batch& batch : batches_) collect(batch);
        speed_.add(count, 1e3 * secondsSince(begin));
    }

  private:
    /// Networks that are trained together, and where their outcomes go.
    struct Batch {
        gpu::Buffer starts;
        gpu::Buffer ends;
        std::span<MapOutcome> outcomes{}; ///< empty: nothing is under way
        gpu::Ticket ready = 0;
        double milliseconds = 0; ///< of its submissions
    };
    struct Flight {
        gpu::Ticket ticket = 0;
        std::uint64_t units = 0;
        std::size_t firstSteps = 0; ///< networks that make their first step, before any diverges
        Batch* batch = nullptr;
    };

    Batch makeBatch() const {
        return {.starts = {device_, capacity_ * sizeof(shared::MapStart), gpu::Memory::upload, "map starts"},
                .ends = {device_, capacity_ * sizeof(shared::MapEnd), gpu::Memory::readback, "map ends"}};
    }

    /// Whole trainings in one submission, where there is time for more than the fewest.
    std::size_t batchSize() const {
        const double wanted = static_cast<double>(submission_.units() / mostSteps(job_) * fewest_);
        const double most = std::min(cost_.networks(mostSteps(job_), longestSubmission), wanted);
        return std::clamp(static_cast<std::size_t>(most) / fewest_ * fewest_, fewest_, capacity_);
    }

    std::uint32_t stepsFor(std::size_t networks, std::uint32_t left) const {
        const std::size_t counted = std::max(networks, fewest_); // fewer take as long
        const double wanted = static_cast<double>(submission_.units() * fewest_ / counted);
        const double fitting = std::min(cost_.steps(counted, longestSubmission), wanted);
        return asUint(std::clamp(fitting, 1.0, static_cast<double>(std::min(left, mostSteps(job_)))));
    }

    void trainBatch(Batch& batch, std::span<const MapPoint> points) {
        std::vector<shared::MapStart> starts;
        starts.reserve(points.size());
        for (const MapPoint& point : points) starts.push_back(startOf(job_, point));
        batch.starts.writeValues<shared::MapStart>(starts);
        batch.milliseconds = 0;
        for (std::uint32_t step = 0; step < job_.steps;) {
            const std::uint32_t count = stepsFor(points.size(), job_.steps - step);
            submit(batch, points.size(), step, step + count);
            step += count;
            noteTimes();
        }
    }

    void submit(Batch& batch, std::size_t networks, std::uint32_t begin, std::uint32_t end) {
        const shared::MapParams params{asUint(networks), asUint(capacity_), asUint(job_.examples), begin, end,
                                       job_.steps,       tailOf(job_)};
        recorder_.begin(); // waits while too many are in flight
        recorder_.dispatch(kernel_, {asUint(networks), 1, 1}, params,
                           {examples_.view(), batch.starts.view(), state_.view(), batch.ends.view()});
        batch.ready = recorder_.submit();
        flights_.push_back({batch.ready, std::max(networks, fewest_) * (end - begin) / fewest_,
                            end == 1 ? networks : 0, &batch});
    }

    void noteTimes() {
        for (const gpu::FinishedSubmission& finished : recorder_.takeFinished())
            while (!flights_.empty() && flights_.front().ticket <= finished.ticket) {
                const Flight& flight = flights_.front();
                submission_.add(static_cast<double>(flight.units), finished.milliseconds);
                flight.batch->milliseconds += finished.milliseconds;
                if (flight.firstSteps > 0)
                    cost_.add(std::max(flight.firstSteps, fewest_), static_cast<double>(flight.firstSteps),
                              finished.milliseconds);
                flights_.pop_front();
            }
    }

    /// Waits for a batch that is under way, and hands over its outcomes.
    void collect(Batch& batch) {
        device_.wait(batch.ready);
        const std::byte* mapped = batch.ends.mapped().data();
        double trained = 0; // steps of all its networks until they diverged
        for (std::size_t network = 0; network < batch.outcomes.size(); ++network) {
            shared::MapEnd end{};
            std::memcpy(&end, mapped + network * sizeof end, sizeof end);
            batch.outcomes[network] = outcomeOf(job_, end);
            trained += end.step;
        }
        noteTimes();
        if (batch.outcomes.size() >= fewest_) // fewer do not fill the device
            cost_.add(batch.outcomes.size(), trained, batch.milliseconds);
        batch.outcomes = {};
    }

    gpu::Device& device_;
    gpu::Kernel<shared::MapParams> kernel_;
    std::size_t fewest_;
    std::size_t capacity_;
    gpu::Buffer examples_;
    gpu::Buffer state_;
    std::array<Batch, 3> batches_;
    std::size_t turn_ = 0;
    gpu::Recorder recorder_;
    WorkSizer submission_; ///< its unit: one step of `fewest_` networks
    MapCost cost_;
    std::deque<Flight> flights_;
};

} // namespace

std::unique_ptr<MapTrainer> makeGpuMapTrainer(gpu::Device& device, const MapJob& job) {
    return std::make_unique<GpuMapTrainer>(device, job);
}

} // namespace lockstep
