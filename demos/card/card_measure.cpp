#include "demos/card/card_measure.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "demos/card/card_jobs.h"
#include "demos/card/roof_kinds.h"
#include "demos/card/time_limit.h"
#include "demos/kit/crossover.h"
#include "demos/kit/lane_measure.h"
#include "demos/kit/machines.h"
#include "demos/kit/pacer.h"
#include "demos/kit/roof.h"
#include "demos/report/population_report.h"
#include "demos/words/device_words.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/cpu/cpu_info.h"
#include "engine/data/data_source.h"
#include "engine/gpu/error.h"
#include "engine/grid/population.h"
#include "lockstep/version.h"

namespace lockstep::demos {

namespace {

// What each part may use of the whole time, from the start.
constexpr double roofsUntil = 0.15, copiesUntil = 0.18, racesUntil = 0.52, populationUntil = 0.58,
                 ladderUntil = 0.78, widthsUntil = 0.9, batchesUntil = 1;

const LaneSpec cpuBest{false, Rung::best, {}};
const LaneSpec gpuBest{true, Rung::best, {}};

constexpr const char* outOfTime = "skipped: out of time";
constexpr const char* wrongLosses = "losses are wrong; not timed";

void addNote(CardRow& row, const std::string& note) { row.note += (row.note.empty() ? "" : "; ") + note; }

/// The same for one of the line's lanes, which is named unless the line is its own. Of a refusal, "... cannot
/// run gpu:matrix: it needs ...", the reason is enough.
void addNote(CardRow& row, const LaneSpec& lane, std::string note) {
    const std::string refusal = "cannot run " + lane.text() + ": ";
    if (const std::size_t at = note.find(refusal); at != std::string::npos)
        note.erase(0, at + refusal.size());
    addNote(row, row.name == lane.text() ? note : lane.text() + ": " + note);
}

double sampleRate(const LaneMeasure& measure) { return measure.right() ? measure.samplesPerSecond : 0; }

class CardMeasurement {
  public:
    CardMeasurement(const CardRequest& request, const ShowCardProgress& show, const std::atomic<bool>& stop)
        : request_(request), show_(show), stop_(stop), machines_(request.threads, request.device) {}

    Card run() {
        card_.program = "lockstep " LOCKSTEP_VERSION;
        card_.owner = request_.owner;
        card_.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
        openDevice();
        measureProcessor();
        measureRoofs();
        measureCopies();
        pixels_ = randomPixels(784, 10, cardExamples); // takes longer than a short card has for its roofs
        spiral_ = loadDataset("spiral");
        measureRaces();
        measurePopulation();
        measureLadder();
        measureSweep(SweepBy::width, widthsUntil);
        measureSweep(SweepBy::batch, batchesUntil);
        card_.seconds = passed();
        card_.quick = request_.quick;
        return std::move(card_);
    }

    /// Every line, none of them measured; needs `stop`.
    Card blank(const std::string& gpu) {
        nameProcessor();
        card_.gpu.device = gpu;
        spiral_ = loadDataset("spiral");
        measureRoofs();
        measureCopies();
        measureRaces();
        measurePopulation();
        measureLadder();
        measureSweep(SweepBy::width, widthsUntil);
        measureSweep(SweepBy::batch, batchesUntil);
        for (CardPart& part : card_.parts) {
            part.remark.clear();
            for (CardRow& row : part.rows) row.note.clear();
        }
        return std::move(card_);
    }

  private:
    void nameProcessor() {
        card_.cpu.device = cpuName();
        card_.cpu.threads = request_.threads > 0 ? request_.threads : usablePhysicalCores().physical;
    }

    void openDevice() {
        nameProcessor();
        try {
            device_ = machines_.deviceOf(gpuBest);
        } catch (const gpu::GpuError& error) {
            if (machines_.deviceAsked()) throw;
            card_.noGpu = error.what();
            return;
        }
        const gpu::DeviceReport& report = device_->report();
        card_.gpu = {
            .device = report.name, .driver = report.driver, .gpu = true, .software = device_->software()};
        for (const auto& fact : deviceFacts(report))
            if (fact.first != "UUID" && fact.first != "driver") card_.facts.push_back(fact);
        kernels_ = std::make_unique<Kernels>(*device_);
    }

    double passed() const { return secondsNow() - begin_; }
    /// Seconds that the part may still take.
    double left(double until) const { return stop_ ? 0 : until * request_.seconds - passed(); }
    /// The same for one of `rows` lines that are still to come: a fast one leaves its time to the others.
    double share(double until, std::size_t rows) const {
        return std::min(left(until), 1.5 * left(until) / static_cast<double>(rows));
    }
    double roundSeconds() const { return request_.quick ? 0.01 : 0.3; }

    CardPart& part(const char* id, std::string title, const char* unit) {
        return card_.parts.emplace_back(CardPart{id, std::move(title), unit});
    }

    /// What `action` fails with; empty where it succeeds. An error that ends the device leaves the processor.
    template <class Action> std::string failureIn(Action action) {
        try {
            action();
        } catch (const gpu::Cancelled&) { // its time is over
        } catch (const std::runtime_error& error) {
            if (gpu::endsDevice(error)) device_ = nullptr;
            return error.what();
        }
        return {};
    }

    /// Adds the line and calls `work(row)`, unless there is no time for it. What fails is the line's note.
    template <class Work> void measure(CardPart& part, CardRow row, double until, Work work) {
        if (left(until) <= 0) {
            addNote(row, outOfTime);
        } else {
            const double done = std::min(passed() / request_.seconds, 1.0);
            show_({part.title, row.name, done, (1 - done) * request_.seconds, card_.parts});
            if (const std::string failure = failureIn([&] { work(row); }); !failure.empty())
                addNote(row, failure);
        }
        part.rows.push_back(std::move(row));
    }
    /// The same for a line that is the device's.
    template <class Work> void measureGpu(CardPart& part, CardRow row, double until, Work work) {
        if (device_) return measure(part, std::move(row), until, work);
        addNote(row, card_.gpu.device.empty() ? "no GPU" : "the GPU failed before");
        part.rows.push_back(std::move(row));
    }

    /// Fills the lines of the processor's roofs.
    void measureProcessor() {
        if (stop_) return;
        show_({"Arithmetic in registers", "processor", 0, request_.seconds});
        const std::string failure = failureIn([&] {
            const Roof roof = measureCpuRoof(card_.cpu.threads);
            cpuRoof_.cpu = roof.gflops;
            cpuCopies_.cpu = roof.gigabytesPerSecond / 2;
        });
        if (failure.empty()) return;
        addNote(cpuRoof_, "CPU: " + failure);
        addNote(cpuCopies_, "CPU: " + failure);
    }

    void measureRoofs() {
        CardPart& roofs = part("roofs", "Arithmetic in registers", "Gop/s");
        for (const RoofKind& kind : roofKinds) {
            const std::string_view name(kind.name);
            const CardRow row = name == cpuRoof_.name ? cpuRoof_ : CardRow{kind.name};
            measureGpu(roofs, row, roofsUntil, [&](CardRow& measured) { measureRoof(kind, measured); });
            if (name == "fp16 vec4") measureMatrices(roofs, "fp16 matrix, fp32 sums", false);
            if (name == "int8 dot product") measureMatrices(roofs, "int8 matrix, int32 sums", true);
        }
        roofs.remark = "Each multiply-add counts as two operations. The processor uses its widest vectors on "
                       "all threads.";
    }

    void measureMatrices(CardPart& roofs, const char* name, bool int8) {
        measureGpu(roofs, {name}, roofsUntil, [&](CardRow& row) {
            row.gpu = matrixRoof(*device_, *kernels_, int8, request_.quick);
            if (row.gpu == 0) addNote(row, "the device has no cooperative matrices of that kind");
        });
    }

    void measureRoof(const RoofKind& kind, CardRow& row) {
        if (kind.support != nullptr && !(device_->limits().*kind.support))
            return addNote(row, "the device does not support it");
        const auto& kernel =
            kernels_->find<shared::RoofParams>(kind.shader, {{shared::denseGroupSize, Kernels::roofGroup}});
        row.gpu = registerRate(*device_, kernel, kind.width * shared::roofOperations, sizeof(float),
                               request_.quick);
        if (std::string_view(kind.name).starts_with("fp32")) gpuRoof_ = std::max(gpuRoof_, row.gpu);
    }

    void measureCopies() {
        CardPart& copies = part("copies", "Copies, every byte counted once", "GB/s");
        struct CopyKind {
            const char* name;
            gpu::Memory from, to;
        };
        // The host's side is readback memory, which is the system's: large uploads may lie on the card.
        constexpr CopyKind kinds[] = {{"host to host", gpu::Memory::readback, gpu::Memory::readback},
                                      {"host to device", gpu::Memory::readback, gpu::Memory::device},
                                      {"device to host", gpu::Memory::device, gpu::Memory::readback},
                                      {"device to device", gpu::Memory::device, gpu::Memory::device}};
        for (const CopyKind& kind : kinds)
            measureGpu(
                copies, cpuCopies_.name == kind.name ? cpuCopies_ : CardRow{kind.name}, copiesUntil,
                [&](CardRow& row) { row.gpu = copyRate(*device_, kind.from, kind.to, request_.quick); });
        copies.remark = fmt::format(
            "The GPU's queue copies between buffers{}, the processor's threads between arrays of 64 MiB.",
            device_ ? fmt::format(" of {} MiB", copyBytes(*device_) >> 20) : "");
    }

    /// Examples per second of a lane, for at most `seconds`; 0, and a note, where it has none.
    LaneMeasure measureRate(const TrainJob& job, const LaneSpec& lane, const std::vector<float>& expected,
                            double seconds, CardRow& row) {
        LaneMeasure result;
        // At half of its roof, which a good lane reaches.
        const double roof = lane.gpu ? gpuRoof_ : cpuRoof_.cpu;
        const double step =
            job.shape.flopsPerExample() * static_cast<double>(job.settings.batch) / (0.5e9 * roof);
        if (roof > 0 && 6 * step > seconds && !request_.quick) {
            addNote(row, lane, fmt::format("skipped: one step would take about {}", duration(step)));
            return result;
        }
        const TimeLimit limit(seconds, stop_);
        bool begun = false;
        const std::string failure = failureIn([&] {
            const auto trainer = machines_.maker(job, lane)(limit.flag());
            begun = !limit.over();
            if (begun)
                result =
                    measureLane(*trainer, job, expected, lossTolerance(lane), roundSeconds(), limit.flag());
        });
        if (!failure.empty())
            addNote(row, lane, failure);
        else if (stop_ && !result.timed())
            addNote(row, lane, outOfTime);
        else if (!begun && lane == gpuBest)
            addNote(row, lane, "no time left after comparing kernels; run 'lockstep tune' first");
        else if (!result.right())
            addNote(row, lane, wrongLosses);
        else if (!result.timed())
            addNote(row, lane, "skipped: too slow for the time left");
        return result;
    }

    /// The same job on both machines; the GPU's losses are compared with the processor's.
    SweepPoint measureBoth(std::size_t value, const TrainJob& job, double seconds, CardRow& row) {
        const double begin = secondsNow();
        const LaneMeasure cpu = measureRate(job, cpuBest, {}, seconds / 2, row);
        row.cpu = sampleRate(cpu);
        SweepPoint point;
        point.value = value;
        point.cpuSamples = row.cpu;
        point.cpu = cpu.machine;
        if (!device_ || stop_) return point;
        const LaneMeasure gpu = measureRate(job, gpuBest, cpu.losses, seconds - (secondsNow() - begin), row);
        row.gpu = point.gpuSamples = sampleRate(gpu);
        point.gpu = card_.gpu;
        if (row.gpu > 0 && cpu.losses.empty()) {
            row.unchecked = true;
            addNote(row, gpuBest, "losses not checked: the CPU was too slow to compare with");
        }
        return point;
    }

    void measureRaces() {
        CardPart& races = part("races", "Training, SGD", "examples/s");
        const std::size_t count = request_.quick ? usualRace + 1 : raceKinds().size();
        for (std::size_t i = 0; i < count; ++i) {
            const RaceKind& kind = raceKinds()[i];
            measure(races, {kind.name}, racesUntil, [&](CardRow& row) {
                std::optional<Dataset> wide;
                const std::size_t inputs = kind.widths.front();
                if (inputs > 784) wide = randomPixels(inputs, kind.widths.back(), kind.batch);
                const Dataset& data = wide ? *wide : inputs == 2 ? spiral_ : pixels_;
                measureBoth(0, jobFor(kind.widths, kind.batch, data), share(racesUntil, count - i), row);
            });
        }
    }

    void measureLadder() {
        const RaceKind& kind = raceKinds()[usualRace];
        const TrainJob job = jobFor(kind.widths, kind.batch, pixels_);
        CardPart& ladder = part("ladder", fmt::format("The ladder, {}", kind.name), "examples/s");
        std::vector<float> expected;
        const auto lanes = knownLanes();
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            const LaneSpec lane = laneSpecFromText(lanes[i]);
            if (lane.gpu && card_.gpu.device.empty()) continue;
            const auto work = [&](CardRow& row) {
                // All others are compared with the first one, cpu:scalar.
                const double seconds = i == 0 ? left(ladderUntil) : share(ladderUntil, lanes.size() - i);
                const LaneMeasure measure = measureRate(job, lane, expected, seconds, row);
                if (i == 0) expected = measure.losses;
                (lane.gpu ? row.gpu : row.cpu) = sampleRate(measure);
                row.unchecked = expected.empty() && measure.timed();
                if (row.unchecked) addNote(row, "losses not checked: cpu:scalar was not measured");
            };
            if (lane.gpu)
                measureGpu(ladder, {lane.text()}, ladderUntil, work);
            else
                measure(ladder, {lane.text()}, ladderUntil, work);
        }
        ladder.remark = "The same training on every rung, each checked against the plain loops.";
    }

    void measureSweep(SweepBy by, double until) {
        const RaceKind& kind = raceKinds()[usualRace];
        const bool width = by == SweepBy::width;
        CardPart& sweep = width ? part("widths", "Crossover: 784-N-N-10, batch 128", "examples/s")
                                : part("batches", "Crossover: 784-256-128-10, batch N", "examples/s");
        std::vector<SweepPoint> points;
        const std::vector<std::size_t> values = sweepValues(by, request_.quick ? quickBatch : cardExamples);
        for (std::size_t i = 0; i < values.size(); ++i)
            measure(sweep, {fmt::format("N = {}", grouped(values[i]))}, until, [&](CardRow& row) {
                const TrainJob job = width ? jobFor({784, values[i], values[i], 10}, kind.batch, pixels_)
                                           : jobFor(kind.widths, values[i], pixels_);
                points.push_back(measureBoth(values[i], job, share(until, values.size() - i), row));
            });
        sweep.remark = crossingText(points, by);
    }

    /// Steps of all networks per second, in chunks that grow until one is long enough.
    double networkSteps(Population& population) const {
        population.reset();
        std::uint64_t done = 0;
        for (std::uint64_t chunk = 16;; chunk *= 4) {
            const double begin = secondsNow();
            population.trainTo(done += chunk);
            const double seconds = secondsNow() - begin;
            if (seconds >= roundSeconds() || done > population.job().steps / 8)
                return static_cast<double>(chunk * population.job().members.size()) / seconds;
        }
    }

    void measurePopulation() {
        const PopulationJob job = cardPopulation(spiral_, cardNetworks);
        CardPart& part = this->part("population", "Small networks at once", "network-steps/s");
        measure(part, {fmt::format("{} networks 2-8-8-1, batch 10", grouped(job.members.size()))},
                populationUntil, [&](CardRow& row) {
                    std::vector<PopulationLaneResult> results;
                    row.cpu = populationRate(job, cpuBest, results, row);
                    if (!device_ || stop_) return;
                    row.gpu = populationRate(job, gpuBest, results, row);
                    row.unchecked = row.gpu > 0 && row.cpu == 0;
                    if (row.unchecked) addNote(row, gpuBest, "losses not checked: the CPU was not measured");
                    addAgreements(results);
                    if (row.gpu == 0 || results.back().agreement.same()) return;
                    row.gpu = 0;
                    addNote(row, gpuBest, wrongLosses);
                });
    }

    /// Steps of all networks per second; 0, and a note, where it fails. Adds the lane's opening to `results`.
    double populationRate(const PopulationJob& job, const LaneSpec& lane,
                          std::vector<PopulationLaneResult>& results, CardRow& row) {
        PopulationLaneResult result;
        result.spec = lane;
        double rate = 0;
        const std::string failure = failureIn([&] {
            const auto population =
                makePopulation(job, lane, machines_.threads(), lane.gpu ? device_ : nullptr);
            for (const std::uint64_t steps : openingSteps(job.steps)) {
                population->trainTo(steps);
                result.opening.push_back({steps, population->results()});
            }
            rate = networkSteps(*population);
        });
        if (failure.empty())
            results.push_back(std::move(result));
        else
            addNote(row, lane, failure);
        return rate;
    }

    const CardRequest& request_;
    const ShowCardProgress& show_;
    const std::atomic<bool>& stop_;
    Machines machines_;
    gpu::Device* device_ = nullptr; // null: none can be used
    std::unique_ptr<Kernels> kernels_;
    Card card_;
    Dataset pixels_;
    Dataset spiral_;
    CardRow cpuRoof_{cardRoofRow}; // the processor's numbers go with the device's of these lines
    CardRow cpuCopies_{cardCopyRow};
    double gpuRoof_ = 0; // GFLOP/s in fp32; 0: not measured
    double begin_ = secondsNow();
};

} // namespace

Card measureCard(const CardRequest& request, const ShowCardProgress& show, const std::atomic<bool>& stop) {
    const EnglishHere english; // what is written down; pages translate it
    return CardMeasurement(request, show, stop).run();
}

Card blankCard(const std::string& gpu) {
    const EnglishHere english;
    const CardRequest request;
    const ShowCardProgress show = [](const CardProgress&) {};
    const std::atomic<bool> stop = true;
    return CardMeasurement(request, show, stop).blank(gpu);
}

} // namespace lockstep::demos
