// Workgroups that all do the same, more and more of them: how many run at once, and when each of them did.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/kit/workgroup_chart.h"
#include "demos/lab/experiment.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t group = 64; // invocations of a workgroup, or words that a thread takes at a time
constexpr std::uint32_t mostGroups = 4096;       // as many spans as files may have
constexpr int runs = 5;                          // of which the fastest is drawn
constexpr const char* workgroups = "workgroups"; // series
constexpr const char* pieces = "pieces on threads";

/// word[i] after the work of its group, which is linear: the bits of a number can be turned one by one.
class Turned {
  public:
    explicit Turned(std::uint32_t rounds) {
        for (std::uint32_t bit = 0; bit < 32; ++bit) {
            ofBit_[bit] = 1u << bit;
            turn(&ofBit_[bit], 1, rounds);
        }
    }
    static void turn(std::uint32_t* words, std::size_t count, std::uint32_t rounds) {
        for (std::uint32_t round = 0; round < rounds; ++round)
            for (std::size_t i = 0; i < count; ++i)
                for (int eight = 0; eight < 8; ++eight) words[i] = shared::xorshift(words[i]);
    }
    /// reversed   the words of a group come in the order from its last to its first
    void require(std::span<const std::uint32_t> words, bool reversed) const {
        for (std::uint32_t i = 0; i < words.size(); ++i) {
            const std::uint32_t from = (reversed ? i / group * group + group - 1 - i % group : i) + 1;
            std::uint32_t right = 0;
            for (std::uint32_t bit = 0; bit < 32; ++bit)
                if ((from >> bit & 1u) != 0) right ^= ofBit_[bit];
            if (words[i] != right) throw std::runtime_error("wrong results, so it is not timed");
        }
    }

  private:
    std::uint32_t ofBit_[32];
};

class DeviceGroups {
  public:
    explicit DeviceGroups(LabBench& bench)
        : bench_(bench), clock_(bench.device()->limits().deviceClock),
          kernel_(bench.kernel(clock_ ? "lab_who_ran_where" : "lab_who_ran_where_blind",
                               {{shared::labGroupSize, group},
                                {shared::labShared, bench.device()->limits().sharedMemory / 4}})),
          words_(bench.buffer(std::uint64_t{4} * group * mostGroups, "words")),
          times_(bench.buffer(std::uint64_t{16} * mostGroups, "times")) {
        // A group takes long enough for the start of others not to matter, and all waves are over soon.
        const double wanted = bench.rough() ? 0.05 : bench.software() ? 2 : 0.5; // milliseconds
        for (int round = 0; round < 3; ++round) {
            const double milliseconds = 1e-3 * run(1);
            if (round > 0) // the first run compiles
                rounds_ =
                    static_cast<std::uint32_t>(std::clamp(rounds_ * wanted / milliseconds, 4.0, 30000.0));
        }
        turned_ = Turned(rounds_);
    }

    bool clock() const { return clock_; }

    /// Microseconds of the submission, with results checked.
    double time(std::uint32_t groups) {
        const double microseconds = run(groups);
        turned_.require(words_.downloadValues<std::uint32_t>(std::size_t{groups} * group), true);
        if (clock_) mostAtOnce_ = std::max(mostAtOnce_, rowsOf(inRows(noted(groups))));
        return microseconds;
    }
    /// When the groups ran that were timed last.
    std::vector<GroupTimes> noted(std::uint32_t groups) const {
        return groupTimes(times_.downloadValues<std::uint32_t>(std::size_t{4} * groups));
    }
    /// The most that any of the timed runs had at once; 0: there is no clock.
    std::uint32_t mostAtOnce() const { return mostAtOnce_; }
    /// Groups that run at once.
    std::uint32_t atOnce() {
        if (!clock_) return atOnceByTime();
        // A software device's threads may sleep through a run, so the widest of many counts: never do more
        // groups run at once than there is room for.
        const int rounds = bench_.rough() ? 1 : bench_.software() ? 20 : 5;
        for (std::uint32_t groups = 4;; groups *= 2) {
            std::uint32_t rows = 0;
            for (int round = 0; round < rounds; ++round) {
                time(groups);
                rows = std::max(rows, rowsOf(inRows(noted(groups))));
            }
            if (rows < groups || groups >= mostGroups / 4) return rows;
        }
    }

  private:
    double run(std::uint32_t groups) {
        return 1e3 * bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            const shared::LabParams params{0, rounds_, 0, 0};
            if (clock_)
                recorder.dispatch(kernel_, {groups * group, 1, 1}, params, {words_.view(), times_.view()});
            else
                recorder.dispatch(kernel_, {groups * group, 1, 1}, params, {words_.view()});
        });
    }
    // The most that take hardly longer than one.
    std::uint32_t atOnceByTime() {
        double one = time(1);
        for (int round = 0; round < 4; ++round) one = std::min(one, time(1));
        const auto fits = [&](std::uint32_t groups) {
            double least = time(groups);
            for (int round = 0; round < 2; ++round) least = std::min(least, time(groups));
            return least < 1.5 * one;
        };
        std::uint32_t most = 1;
        while (most < mostGroups / 4 && fits(2 * most)) most *= 2;
        for (std::uint32_t step = most / 2; step > 0; step /= 2)
            if (fits(most + step)) most += step;
        return most;
    }

    LabBench& bench_;
    bool clock_;
    const LabKernel& kernel_;
    gpu::Buffer words_;
    gpu::Buffer times_;
    std::uint32_t rounds_ = 20; // to begin with
    std::uint32_t mostAtOnce_ = 0;
    Turned turned_{rounds_};
};

/// Threads that take the next group whenever they have finished one.
class ProcessorGroups {
  public:
    explicit ProcessorGroups(LabBench& bench) : team_(bench.team()) {
        double microseconds = 1e9; // of a group
        for (int round = 0; round < 5; ++round) {
            time(1);
            microseconds = std::min(microseconds, spans.front().end - spans.front().begin);
        }
        rounds_ = static_cast<std::uint32_t>(
            std::clamp(rounds_ * (bench.rough() ? 20 : 1000) / microseconds, 4.0, 30000.0));
        turned_ = Turned(rounds_);
    }

    double time(std::uint32_t groups) {
        std::vector<std::uint32_t> words(std::size_t{groups} * group);
        for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i + 1;
        spans.assign(groups, {});
        std::atomic<std::uint32_t> next = 0;
        const double start = secondsNow();
        const auto now = [&] { return 1e6 * (secondsNow() - start); };
        team_.run([&](std::size_t thread) {
            for (std::uint32_t item = next++; item < groups; item = next++) {
                const double begin = now();
                Turned::turn(&words[std::size_t{item} * group], group, rounds_);
                spans[item] = {static_cast<std::uint32_t>(thread), begin, now(), item};
            }
        });
        const double microseconds = now();
        turned_.require(words, false);
        return microseconds;
    }

    std::vector<GroupSpan> spans; ///< of the last time

  private:
    ThreadTeam& team_;
    std::uint32_t rounds_ = 20; // to begin with
    Turned turned_{rounds_};
};

/// Three waves and the first group of a fourth.
std::vector<double> stairs(std::uint32_t atOnce, bool rough) {
    std::set<std::uint32_t> values;
    for (std::uint32_t wave = 0; wave < (rough ? 1u : 3u); ++wave)
        for (const std::uint32_t quarter : {0u, 1u, 2u, 3u, 4u})
            values.insert(wave * atOnce + std::max(1u, quarter * atOnce / 4));
    values.insert(*values.rbegin() + 1);
    return {values.begin(), values.end()};
}

template <class Groups>
void sweepGroups(LabBench& bench, LabResult& result, bool gpu, std::uint32_t atOnce, Groups* groups) {
    const auto count = [](double value) { return static_cast<std::uint32_t>(value); };
    bench.sweep(result, {gpu, gpu ? workgroups : pieces, stairs(atOnce, bench.rough()),
                         [&](double value) { return groups->time(count(value)); },
                         [=](double value) { return std::ceil(value / atOnce); }});
    const auto found = [&](double value) {
        for (const LabPoint& point : result.series.back().points)
            if (point.x == value) return point;
        return LabPoint{};
    };
    const LabPoint one = found(1);
    const LabPoint full = found(atOnce);
    const LabPoint more = found(atOnce + 1);
    const std::string machine = gpu ? "gpu_" : "cpu_";
    if (!(one.low > 0 && full.low > 0 && more.low > 0)) return;
    // Other programs only ever add time, so the lower quartiles count.
    result.numbers[machine + "at_once"] = atOnce;
    result.numbers[machine + "one_microseconds"] = one.low;
    result.numbers[machine + "full_microseconds"] = full.low;
    result.numbers[machine + "one_more_microseconds"] = more.low;
    // Where those that run at once take longer than one, they did not all run at once.
    if (apart(full, more) && more.low > full.low && full.low <= 1.5 * one.low)
        result.numbers[machine + "one_more"] = more.low / full.low;
}

/// Adds the shortest of some runs of two and a half waves. `run` returns the spans of one.
template <class Run> void addSpans(LabBench& bench, LabResult& result, bool gpu, Run run) {
    std::vector<GroupSpan>& best = result.spans(gpu);
    for (int round = 0; round < (bench.rough() ? 1 : runs) && !bench.stopped(); ++round) {
        std::vector<GroupSpan> spans = run();
        if (best.empty() || lastEnd(spans) < lastEnd(best)) best = std::move(spans);
    }
    if (const double share = busyShare(best); share > 0)
        result.numbers[gpu ? "gpu_busy_share" : "cpu_busy_share"] = share;
}

std::uint32_t twoAndAHalfWaves(std::uint32_t atOnce) {
    return std::min(2 * atOnce + (atOnce + 1) / 2, mostGroups / 2);
}

void measureDevice(LabBench& bench, LabResult& result, DeviceGroups& groups) {
    const std::uint32_t atOnce = groups.atOnce();
    sweepGroups(bench, result, true, atOnce, &groups);
    if (!groups.clock() || bench.stopped()) return;
    const std::uint32_t many = twoAndAHalfWaves(atOnce);
    const auto ticksOf = [&](std::uint32_t count) { return lastEnd(inRows(groups.noted(count))); };
    // What a submission costs besides its groups is in both times.
    double perTick = 0; // microseconds
    addSpans(bench, result, true, [&] {
        const double shortTime = groups.time(1);
        const double shortTicks = ticksOf(1);
        const double longTime = groups.time(many);
        std::vector<GroupSpan> spans = inRows(groups.noted(many));
        if (!(lastEnd(spans) > 0)) return std::vector<GroupSpan>(); // the clock stands still
        perTick = (longTime - shortTime) / (lastEnd(spans) - shortTicks);
        if (!(perTick > 0)) perTick = longTime / lastEnd(spans); // something came in between
        for (GroupSpan& span : spans) span.begin *= perTick, span.end *= perTick;
        return spans;
    });
    result.numbers["gpu_nanoseconds_per_tick"] = 1e3 * perTick;
    // More were seen at once than the search found, which a busy machine had disturbed: its times are of too
    // few.
    if (const auto seen = static_cast<double>(groups.mostAtOnce()); seen > atOnce) {
        for (const char* of :
             {"gpu_one_microseconds", "gpu_full_microseconds", "gpu_one_more_microseconds", "gpu_one_more"})
            result.numbers.erase(of);
        result.numbers["gpu_at_once"] = seen;
    }
}

void measure(LabBench& bench, LabResult& result) {
    std::optional<DeviceGroups> device;
    const std::string failure = failureOf([&] {
        if (bench.device() == nullptr) return sweepGroups<DeviceGroups>(bench, result, true, 1, nullptr);
        device.emplace(bench);
        measureDevice(bench, result, *device);
    });
    if (!failure.empty()) result.series.push_back({true, workgroups, {}, failure});
    const auto threads = static_cast<std::uint32_t>(bench.threads());
    ProcessorGroups processor(bench);
    sweepGroups(bench, result, false, threads, &processor);
    if (!bench.measuresCpu()) return;
    addSpans(bench, result, false, [&] {
        processor.time(twoAndAHalfWaves(threads));
        return processor.spans;
    });
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("gpu_one_more")) return std::nullopt;
    const double times = result.number("gpu_one_more");
    return times < 1.25 ? 0 : times < 1.75 ? 1 : 2;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    if (!result.has("gpu_at_once")) {
        const LabSeries* series = result.find(true, workgroups);
        if (series != nullptr && !series->points.empty()) values["gpu_curve_ends_early"].number = 1;
        return;
    }
    // How many places the workgroups of a wave leave empty, if that explains the time that rows are busy.
    const auto filled = static_cast<double>(result.gpuSpans.size());
    const double rows = rowsOf(result.gpuSpans);
    const double places = std::ceil(filled / rows) * rows;
    if (!(std::abs(filled / places - result.number("gpu_busy_share")) <= 0.05)) return;
    values["gpu_filled_places"].number = filled;
    values["gpu_places"].number = places;
}

std::string titleOf(const LabResult& result, bool gpu) {
    const std::vector<GroupSpan>& spans = result.spans(gpu);
    if (spans.empty()) return gpu ? "GPU: no clock, so only the staircase below" : "CPU";
    const std::string best = result.rough ? "" : translatedFormat(", fastest of {} runs", runs);
    return gpu ? translatedFormat("GPU: {} in {}, {}{}", counted(spans.size(), "workgroup"),
                                  counted(rowsOf(spans), "row"), duration(1e-6 * lastEnd(spans)), best)
               : translatedFormat("CPU: {} on {}, {}{}", counted(spans.size(), "piece"),
                                  counted(rowsOf(spans), "thread"), duration(1e-6 * lastEnd(spans)), best);
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if ((result.gpuSpans.empty() && result.cpuSpans.empty()) || ui.masked || room.y < ui.px(170))
        return drawLabCurves(ui, experiment, result, view, room.y);
    // The whole picture, then how it came to be, in slow motion.
    const double phase = std::fmod(view.seconds, 8.0);
    const double shown = phase < 2 || !ui.animations ? 1 : std::min((phase - 2) / 5, 1.0);
    const float height = std::floor(0.45f * room.y);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float middle = start.x + room.x / 2;
    const auto drawRows = [&](bool gpu, Place place) {
        drawWorkgroups(ui, result.spans(gpu), gpu ? ui.theme.gpu : ui.theme.cpu, titleOf(result, gpu), place,
                       shown);
    };
    drawRows(true, {start, {middle - ui.px(8), start.y + height}});
    drawRows(false, {{middle + ui.px(8), start.y}, {start.x + room.x, start.y + height}});
    ImGui::Dummy({room.x, height});
    {
        const SmallLetters small(ui);
        ui.muted("A workgroup is drawn in the first free row. Clocks of different cores may disagree by "
                 "microseconds.");
    }
    // The runs above, in the plot of the medians: one basis for both.
    std::vector<double> many[2], took[2];
    std::vector<PlotLine> above;
    for (const bool gpu : {false, true}) {
        const std::vector<GroupSpan>& spans = result.spans(gpu);
        if (spans.empty() || result.rough || ui.masked) continue;
        many[gpu].push_back(static_cast<double>(spans.size()));
        took[gpu].push_back(lastEnd(spans));
        above.push_back({.name = std::string(gpu ? "GPU " : "CPU ").append(translated("run above")),
                         .colour = gpu ? ui.theme.gpu : ui.theme.cpu,
                         .dashed = gpu,
                         .x = many[gpu],
                         .y = took[gpu],
                         .points = true,
                         .hollow = true});
    }
    drawLabCurves(ui, experiment, result, view, std::max(ImGui::GetContentRegionAvail().y, ui.px(60)), above);
}

/// Two waves in four places, and one more.
LabScene scene() {
    LabScene scene{
        .beats = 20,
        .lines = {{10.4f, 5.1f, 15.8f, 5.1f}, {15.4f, 4.8f, 15.8f, 5.1f}, {15.4f, 5.4f, 15.8f, 5.1f}},
        .labels = {{10.4f, 2.5f, "one too many"}, {10.4f, 5, "time"}}};
    for (int wave = 0; wave < 2; ++wave)
        for (int place = 0; place < 4; ++place)
            scene.blocks.push_back({5.2f * static_cast<float>(wave), 1.5f * static_cast<float>(place), 5,
                                    1.2f, 5.0 * wave, 5.0 * (wave + 1), LabTone::gpu,
                                    place == 0 ? "workgroup" : ""});
    scene.blocks.push_back({10.4f, 0, 5, 1.2f, 10, 15, LabTone::other, "+1"});
    return scene;
}

LabVerdict verdict(const LabResult& result) {
    const double atOnce = result.number("gpu_at_once"), times = result.number("gpu_one_more");
    return ratioVerdict(
        times,
        gpuFactor(times, {labPointAt(result, true, workgroups, atOnce),
                          labPointAt(result, true, workgroups, atOnce + 1)}),
        {"as long", "Just as long"},
        translatedFormat("with one workgroup more than the {} that run at once", threeDigits(atOnce)));
}

} // namespace

extern const Experiment whoRanWhere{
    .place = 20,
    .name = "who-ran-where",
    .title = "Who ran when and where",
    .idea =
        "Workgroups that all do the same amount of work, more and more of them. Each takes all the shared "
        "memory that it may, so that few share a place, and records its start and end.",
    .group = LabGroup::launch,
    .scene = scene,
    .question = "The GPU is full: as many workgroups as it can run at once. Add one. How much longer does it "
                "all take?",
    .choices = {"hardly longer", "half as long again", "twice as long"},
    .x = {"workgroups or pieces", "", false},
    .y = {"time for all", "µs", false},
    .lines = {"GPU workgroups", "CPU pieces on threads"},
    .sources = {"lab_who_ran_where.glsl", "lab_who_ran_where.comp", "who_ran_where.cpp"},
    .link = {"See when the kernels of a step run", "inside",
             R"({"data": "spiral", "hidden": [64, 64], "batch": 128})"},
    .animated = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
