// Few multiply-adds for each number read, or many: a roofline, measured point by point.
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "demos/kit/pacer.h"
#include "demos/kit/roof.h"
#include "demos/lab/experiment.h"
#include "demos/lab/step_intensity.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t group = 8; // numbers that are read together
constexpr std::uint32_t groupsOf =
    4; // of an invocation; it writes one word for 32 read, which is not counted
constexpr float summand = 1.0f / 1024;

/// What is turned: `perNumber` multiply-adds for one number, or one for `merged` numbers.
struct Intensity {
    explicit Intensity(double flopPerByte)
        : merged(flopPerByte < 0.5 ? static_cast<std::uint32_t>(std::lround(0.5 / flopPerByte)) : 1),
          perNumber(flopPerByte < 0.5 ? 1 : static_cast<std::uint32_t>(std::lround(2 * flopPerByte))) {}
    double multiplyAdds(std::uint32_t words) const { return 1.0 * words / merged * perNumber; }

    std::uint32_t merged;
    std::uint32_t perNumber;
};

/// Numbers from 1 to 2 with ten bits behind the point: OR and sums of them are exact.
struct Numbers {
    explicit Numbers(std::uint32_t twoTo) : words(std::size_t{1} << twoTo) {
        for (std::uint32_t i = 0; i < words.size(); ++i)
            words[i] = std::bit_cast<std::uint32_t>(1.0f + static_cast<float>(i * 2654435769u >> 22) / 1024);
    }
    /// So many of them that every setting takes about as long, but enough to keep a device busy.
    std::uint32_t countFor(const Intensity& at) const {
        const auto all = static_cast<std::uint32_t>(words.size());
        return at.perNumber <= 16 ? all : std::max(all / at.perNumber * 16, all / 8);
    }
    /// Before any sample: what takes long at the first time would be taken for slowness.
    void expect(const Intensity& at) {
        std::uint32_t sum = 0;
        const std::uint32_t width = group / at.merged;
        for (std::uint32_t first = 0; first < countFor(at); first += group)
            for (std::uint32_t i = 0; i < width; ++i) {
                std::uint32_t bits = 0;
                for (std::uint32_t j = i; j < group; j += width) bits |= words[first + j];
                sum += std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) +
                                                    static_cast<float>(at.perNumber) * summand);
            }
        sums[{at.merged, at.perNumber}] = sum;
    }
    void requireSum(const Intensity& at, std::uint32_t sum) const {
        if (sum != sums.at({at.merged, at.perNumber}))
            throw std::runtime_error("wrong results, so it is not timed");
    }

    std::vector<std::uint32_t> words;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sums;
};

class DeviceNumbers {
  public:
    DeviceNumbers(LabBench& bench, std::span<const double> values)
        : bench_(bench), numbers_(bench.rough()      ? 16
                                  : bench.software() ? 20
                                                     : 25),
          buffer_(bench.buffer(4 * numbers_.words.size(), "numbers")),
          totals_(bench.buffer(4 * numbers_.words.size() / group / groupsOf, "totals")) {
        buffer_.uploadValues<std::uint32_t>(numbers_.words);
        for (const double value : values) {
            numbers_.expect(Intensity(value));
            milliseconds(Intensity(value), bench.groupSize()); // compiles it
        }
    }

    /// GFLOP/s.
    double rate(const Intensity& at) {
        const std::uint32_t count = numbers_.countFor(at);
        const std::uint32_t items = count / group / groupsOf;
        const double taken = milliseconds(at, items);
        const auto totals = totals_.downloadValues<std::uint32_t>(items);
        numbers_.requireSum(at, std::accumulate(totals.begin(), totals.end(), 0u));
        return 2e-6 * at.multiplyAdds(count) / taken;
    }

  private:
    double milliseconds(const Intensity& at, std::uint32_t items) {
        const LabKernel& kernel = bench_.kernel(
            "lab_intensity",
            {{shared::labGroupSize, bench_.groupSize()}, {shared::labChoice, at.merged}, {3, at.perNumber}});
        const shared::LabParams params{items, groupsOf, std::bit_cast<std::uint32_t>(1.0f),
                                       std::bit_cast<std::uint32_t>(summand)};
        return bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            recorder.dispatch(kernel, {items, 1, 1}, params, {buffer_.view(), totals_.view()});
        });
    }

    LabBench& bench_;
    Numbers numbers_;
    gpu::Buffer buffer_;
    gpu::Buffer totals_;
};

/// The same on the CPU: the sum of the bits of what becomes of these words. A plain loop; the values of
/// a block are independent, as in the shader.
template <std::uint32_t merged>
std::uint32_t plainLoop(std::span<const std::uint32_t> words, std::uint32_t perNumber, float factor,
                        float add) {
    constexpr std::size_t block = 32; // words, enough for independent values
    constexpr std::size_t width = group / merged;
    std::uint32_t sum = 0;
    for (std::size_t first = 0; first < words.size(); first += block) {
        std::uint32_t bits[block / merged];
        for (std::size_t i = 0; i < block / merged; ++i) {
            const std::uint32_t* from = &words[first + i / width * group + i % width];
            bits[i] = from[0];
            for (std::size_t j = 1; j < merged; ++j) bits[i] |= from[j * width];
        }
        float value[block / merged];
        for (std::size_t i = 0; i < block / merged; ++i) value[i] = std::bit_cast<float>(bits[i]);
        for (std::uint32_t n = 0; n < perNumber; ++n)
            for (std::size_t i = 0; i < block / merged; ++i) value[i] = value[i] * factor + add;
        for (std::size_t i = 0; i < block / merged; ++i) sum += std::bit_cast<std::uint32_t>(value[i]);
    }
    return sum;
}

double processorRate(LabBench& bench, const Numbers& numbers, const Intensity& at) {
    const volatile float factor = 1; // no compiler may know it
    const auto loop = at.merged == 1   ? plainLoop<1>
                      : at.merged == 2 ? plainLoop<2>
                      : at.merged == 4 ? plainLoop<4>
                                       : plainLoop<8>;
    const std::uint32_t count = numbers.countFor(at);
    std::vector<std::uint32_t> sums(bench.threads());
    const double begin = secondsNow();
    bench.team().run([&](std::size_t thread) {
        const Share share = shareOf(count, thread, bench.threads(), 32);
        sums[thread] = loop(std::span(numbers.words).subspan(share.begin, share.end - share.begin),
                            at.perNumber, factor, summand);
    });
    const double seconds = secondsNow() - begin;
    numbers.requireSum(at, std::accumulate(sums.begin(), sums.end(), 0u));
    return 2e-9 * at.multiplyAdds(count) / seconds;
}

/// Where a curve comes within a quarter of its best speed.
struct Reach {
    double best = 0;
    const LabPoint* from = nullptr; ///< the first point that does; null: there are no points
    const LabPoint* dip = nullptr;  ///< a later one that does not, although more work is never slower
};

Reach reachOf(const LabSeries* series) {
    Reach reach;
    if (series == nullptr) return reach;
    for (const LabPoint& point : series->points) reach.best = std::max(reach.best, point.median);
    for (const LabPoint& point : series->points) {
        const bool fast = point.median >= 0.75 * reach.best;
        if (fast && reach.from == nullptr) reach.from = &point;
        if (!fast && reach.from != nullptr) reach.dip = &point;
    }
    return reach;
}

/// GFLOP/s of the curve at this intensity, between its points; beyond them, that of the nearest.
double rateAt(const LabSeries& series, double flopPerByte) {
    const auto& points = series.points;
    const auto right =
        std::ranges::find_if(points, [&](const LabPoint& point) { return point.x >= flopPerByte; });
    if (right == points.begin() || right == points.end())
        return right == points.end() ? points.back().median : right->median;
    const LabPoint& left = *(right - 1);
    const double share = std::log(flopPerByte / left.x) / std::log(right->x / left.x);
    return left.median * std::pow(right->median / left.median, share);
}

constexpr const char* curveOf(bool gpu) { return gpu ? "measured" : "plain loop"; }

/// The roof, which is measured apart from the curve, lifted to where the curve lies above it.
Roof liftedRoof(const LabResult& result, bool gpu) {
    const std::string machine = gpu ? "gpu" : "cpu";
    Roof roof;
    roof.gflops = result.number(machine + "_roof_gflops");
    roof.gigabytesPerSecond = result.number(machine + "_roof_gigabytes_per_second");
    if (const LabSeries* series = result.find(gpu, curveOf(gpu)))
        for (const LabPoint& point : series->points) {
            roof.gflops = std::max(roof.gflops, point.median);
            roof.gigabytesPerSecond = std::max(roof.gigabytesPerSecond, point.median / point.x);
        }
    return roof;
}

void measure(LabBench& bench, LabResult& result) {
    std::vector<double> values; // FLOP per byte: a multiply-add is two, a number four bytes
    for (double perNumber = 0.125; perNumber <= (bench.rough() ? 16 : 1024);
         perNumber *= bench.rough() ? 8 : 2)
        values.push_back(perNumber / 2);
    std::optional<DeviceNumbers> onDevice;
    if (bench.device() != nullptr) onDevice.emplace(bench, values);
    Numbers numbers(bench.rough() ? 16 : 24);
    for (const double value : values) numbers.expect(Intensity(value));
    const auto cost = [&](double value) {
        const Intensity at(value);
        return numbers.countFor(at) * std::max(1.0 * at.perNumber, 8.0);
    };
    bench.sweep(result, {true, curveOf(true), values,
                         [&](double value) { return onDevice->rate(Intensity(value)); }, cost});
    bench.sweep(result,
                {false, curveOf(false), values,
                 [&](double value) { return processorRate(bench, numbers, Intensity(value)); }, cost});
    if (bench.stopped()) return;
    const auto note = [&](bool gpu, const Roof& roof) {
        const std::string machine = gpu ? "gpu" : "cpu";
        result.numbers[machine + "_roof_gflops"] = roof.gflops;
        result.numbers[machine + "_roof_gigabytes_per_second"] = roof.gigabytesPerSecond;
        result.numbers[machine + "_ridge_flop_per_byte"] = roof.ridge();
        const LabSeries* found = result.find(gpu, curveOf(gpu));
        if (found == nullptr || found->points.empty()) return;
        const Reach reach = reachOf(found);
        result.numbers[machine + "_best_gflops"] = reach.best;
        result.numbers[machine + "_gflops_at_one"] = found->at(0.5);
        if (found->note.empty() && reach.dip == nullptr) // else it may become faster still, or it was noise
            result.numbers[machine + "_full_multiply_adds"] = 2 * reach.from->x;
    };
    if (bench.measuresCpu()) note(false, measureCpuRoof(bench.threads()));
    if (bench.device() == nullptr) return;
    Kernels kernels(*bench.device()); // never edited ones: their results are not checked
    note(true, measureRoof(*bench.device(), kernels, bench.rough()));
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("gpu_full_multiply_adds")) return std::nullopt;
    const double full = result.number("gpu_full_multiply_adds");
    return full <= 4 ? 0 : full <= 16 ? 1 : full <= 64 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    const double layer = stepIntensities().back().flopPerByte;
    values["layer_flop_per_byte"].number = layer;
    for (const bool gpu : {false, true}) {
        const std::string machine = gpu ? "gpu" : "cpu";
        if (!result.has(machine + "_best_gflops")) continue;
        const Roof roof = liftedRoof(result, gpu);
        values[machine + "_lifted_roof_gflops"].number = roof.gflops;
        values[machine + "_bend_flop_per_byte"].number = roof.ridge();
    }
    const LabSeries* curve = result.find(true, curveOf(true));
    if (curve == nullptr || curve->points.empty()) return;
    values["gpu_layer_gflops"].number = rateAt(*curve, layer);
    const Reach reach = reachOf(curve);
    if (result.has("gpu_full_multiply_adds") || reach.dip == nullptr) return;
    values["gpu_fast_multiply_adds"].number = 2 * reach.from->x;
    values["gpu_fast_gflops"].number = reach.from->median;
    values["gpu_dip_multiply_adds"].number = 2 * reach.dip->x;
    values["gpu_dip_gflops"].number = reach.dip->median;
}

/// The measured points under the roofs, and where a training step's operations stand.
void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    if (!result.measured()) return drawLabCurves(ui, experiment, result, view);
    struct Curve {
        std::vector<double> x, y;
    };
    std::vector<Curve> curves;
    curves.reserve(16); // lines point into it
    std::vector<PlotLine> lines;
    // A law is dotted, as everywhere.
    const auto add = [&](std::string name, ImU32 colour, bool gpu, Curve curve, bool points,
                         bool law = false) {
        if (curve.x.empty()) return;
        const Curve& kept = curves.emplace_back(std::move(curve));
        lines.push_back({.name = std::move(name),
                         .colour = colour,
                         .dashed = gpu && !law,
                         .dotted = law,
                         .x = kept.x,
                         .y = kept.y,
                         .points = points});
    };
    constexpr double first = 1.0 / 16;
    constexpr double last = 512;
    double highest = 0;
    for (const bool gpu : {false, true}) {
        const std::string machine = gpu ? "gpu" : "cpu";
        const Roof roof = liftedRoof(result, gpu);
        if (!roof.measured() || !(gpu || view.all)) continue;
        highest = std::max(highest, roof.gflops);
        add(translatedFormat("{} roof", gpu ? "GPU" : "CPU"), gpu ? ui.theme.gpu : ui.theme.cpu, gpu,
            {{first, roof.ridge(), last}, {first * roof.gigabytesPerSecond, roof.gflops, roof.gflops}}, false,
            true);
    }
    double lowest = highest;
    for (const LabSeries& series : result.series) {
        if (!draws(view, experiment, result, series)) continue;
        Curve curve;
        for (const LabPoint& point : series.points) {
            curve.x.push_back(point.x);
            curve.y.push_back(point.median);
            lowest = std::min(lowest, point.median);
        }
        add(view.nameOf(series), series.gpu ? ui.theme.gpu : ui.theme.cpu, series.gpu, std::move(curve),
            true);
    }
    // A mark stands on the axis; the operations' labels take turns, one above the other.
    std::size_t step = 0;
    if (highest > 0)
        for (const StepIntensity& operation : stepIntensities()) {
            const double top =
                lowest * std::pow(highest / lowest, 0.05 + 0.07 * static_cast<double>(step++ % 3));
            add(operation.name, ui.theme.muted, false,
                {{operation.flopPerByte, operation.flopPerByte}, {lowest, top}}, false);
        }
    const BuiltInLines builtIn(ui, view);
    lines.insert(lines.end(), builtIn.lines().begin(), builtIn.lines().end());
    const ImVec2 room = ImGui::GetContentRegionAvail();
    view.plot.draw(
        ui, "lab", labPlotWords, lines,
        {.x = {.title = std::string(experiment.x.title), .unit = std::string(experiment.x.unit), .log = true},
         .y = {.title = std::string(experiment.y.title),
               .unit = std::string(experiment.y.unit),
               .log = true,
               .measured = true},
         .size = {room.x, std::max(room.y, ui.px(120))},
         .empty = "Predict, then measure.",
         .legend = false,
         .overlay = builtInLegend});
}

/// Every number is read and used once; then one that is read is used ten times.
LabScene scene() {
    constexpr float rows[] = {1.1f, 4.4f};
    LabScene scene{.beats = 20};
    scene.labels = {{0, rows[0], "one multiply-add per number"}, {0, rows[1], "many per number"}};
    for (int number = 0; number < 4; ++number) {
        const float x = 4.0f * static_cast<float>(number);
        scene.blocks.push_back({x, rows[0], 2.8f, 1.5f, x, x + 2.8, LabTone::pale, "wait"});
        scene.blocks.push_back({x + 2.9f, rows[0], 0.8f, 1.5f, x + 2.9, x + 3.7, LabTone::gpu, "×+"});
    }
    scene.blocks.push_back({0, rows[1], 2.8f, 1.5f, 0, 2.8, LabTone::pale, "wait"});
    for (int use = 0; use < 14; ++use) {
        const float x = 2.9f + 0.92f * static_cast<float>(use);
        scene.blocks.push_back({x, rows[1], 0.8f, 1.5f, x, x + 0.8, LabTone::gpu, "×+"});
    }
    return scene;
}

LabVerdict verdict(const LabResult& result) {
    const double full = result.number("gpu_full_multiply_adds");
    return {translatedFormat("GPU {}", twoDigits(full)),
            translatedFormat("multiply-adds per number read: three quarters of its {} GFLOP/s",
                             threeDigits(result.number("gpu_best_gflops")))};
}

} // namespace

extern const Experiment intensity{
    .place = 110,
    .name = "intensity",
    .title = "Memory or arithmetic",
    .idea = "Every number that is read goes through one multiply-add or through a thousand, or up to eight "
            "numbers "
            "share one. One multiply-add per number is 0.5 FLOP/byte.",
    .group = LabGroup::memory,
    .scene = scene,
    .question =
        "How many multiply-adds per number read does the GPU need to reach three quarters of its best speed?",
    .choices = {"up to 4", "5 to 16", "17 to 64", "more than 64"},
    .x = {"arithmetic intensity", "FLOP/byte"},
    .y = {"speed", "GFLOP/s"},
    .lines = {"GPU measured", "CPU plain loop"},
    .sources = {"lab_intensity.comp", "intensity.cpp", "roof.glsl"},
    .link = {"See a training step under the roof", "ladder", R"({"tab": "roofline"})"},
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
