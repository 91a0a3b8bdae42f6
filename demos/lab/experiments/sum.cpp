// The same million floats, added up in several orders: several results, each off by a little.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/lab/sum_picture.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t most = 1 << 20;
constexpr std::uint32_t perInvocation = 64;
constexpr std::uint32_t perDispatch = 32768; // of one invocation: some drivers stop loops at 65,535 rounds
constexpr std::size_t chunk = 1024;          // that a thread fetches at a time

using Numbers = std::span<const float>;

struct Summed {
    float sum;
    double seconds;
};

template <class Add> Summed timed(Add add) {
    const double begin = secondsNow();
    const float sum = add();
    return {sum, secondsNow() - begin};
}

float oneAfterAnother(Numbers numbers) {
    float sum = 0;
    for (const float number : numbers) sum += number;
    return sum;
}

float pairwise(Numbers numbers) {
    std::vector<float> sums(numbers.size() / 2);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = numbers[2 * i] + numbers[2 * i + 1];
    for (std::size_t left = sums.size() / 2; left > 0; left /= 2)
        for (std::size_t i = 0; i < left; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
    return sums.front();
}

float kahan(Numbers numbers) {
    float sum = 0;
    float excess = 0; // of the sum, by rounding
    for (const float number : numbers) {
        const float corrected = number - excess;
        const float next = sum + corrected;
        excess = (next - sum) - corrected;
        sum = next;
    }
    return sum;
}

float inDouble(Numbers numbers) {
    return static_cast<float>(std::accumulate(numbers.begin(), numbers.end(), 0.0));
}

float perThread(ThreadTeam& team, Numbers numbers) {
    std::vector<float> sums(team.size());
    team.run([&](std::size_t thread) {
        const Share share = shareOf(numbers.size(), thread, team.size());
        sums[thread] = oneAfterAnother(numbers.subspan(share.begin, share.end - share.begin));
    });
    return oneAfterAnother(sums);
}

float asTheyArrive(ThreadTeam& team, Numbers numbers) {
    std::atomic<float> sum = 0;
    std::atomic<std::size_t> next = 0;
    team.run([&](std::size_t) {
        for (std::size_t at = next.fetch_add(chunk); at < numbers.size(); at = next.fetch_add(chunk))
            sum.fetch_add(oneAfterAnother(numbers.subspan(at, std::min(chunk, numbers.size() - at))));
    });
    return sum;
}

class DeviceSums {
  public:
    DeviceSums(LabBench& bench, Numbers numbers)
        : bench_(bench), numbers_(bench.buffer(4 * numbers.size(), "numbers")),
          sums_{bench.buffer(2 * numbers.size(), "sums"), bench.buffer(2 * numbers.size(), "more sums")} {
        numbers_.uploadValues(numbers);
    }

    Summed oneAfterAnother(std::uint32_t count) {
        const LabKernel& kernel = bench_.kernel("lab_sum_serial", {{shared::labGroupSize, 1}});
        return run(0, [&](gpu::Recorder& recorder) {
            for (std::uint32_t first = 0; first < count; first += perDispatch) {
                if (first > 0) recorder.submitAndGoOn(); // each takes a card milliseconds
                recorder.dispatch(kernel, {1, 1, 1}, {1, std::min(count, perDispatch), 0, first},
                                  {numbers_.view(), sums_[0].view()});
            }
        });
    }

    Summed pairwise(std::uint32_t count) {
        const LabKernel& kernel =
            bench_.kernel("lab_sum_pairs", {{shared::labGroupSize, bench_.groupSize()}});
        return run(std::bit_width(count) % 2, [&](gpu::Recorder& recorder) { // two pairs are 3 bits
            std::size_t to = 0;
            for (std::uint32_t left = count / 2; left > 0; left /= 2, to = 1 - to)
                recorder.dispatch(kernel, {left, 1, 1}, {left, 1, 0, 0},
                                  {(left == count / 2 ? numbers_ : sums_[1 - to]).view(), sums_[to].view()});
        });
    }

    enum Way : std::uint32_t { plain, arrival, corrected }; // labChoice of the shader
    Summed perWorkgroup(std::uint32_t count, Way way) {
        const std::uint32_t group = bench_.groupSize();
        const LabKernel& kernel = bench_.kernel(
            "lab_sum", {{shared::labGroupSize, group}, {shared::labChoice, way}, {shared::labShared, group}});
        const std::uint32_t items = std::max(count / perInvocation, group);
        const std::uint32_t partials = 2 * items / group;
        return run(
            way == arrival ? 0 : 1,
            [&](gpu::Recorder& recorder) {
                recorder.dispatch(kernel, {items, 1, 1}, {items, perInvocation, count, 0},
                                  {numbers_.view(), sums_[0].view()});
                if (way == arrival) return;
                recorder.dispatch(kernel, {group, 1, 1}, {group, (partials + group - 1) / group, partials, 0},
                                  {sums_[0].view(), sums_[1].view()});
            },
            way == corrected);
    }

  private:
    /// The work leaves its sum at the beginning of a buffer, and its correction behind that.
    template <class Record> Summed run(std::size_t buffer, Record record, bool corrects = false) {
        bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            for (const gpu::Buffer& each : sums_) recorder.fill(each.view(), 0);
        });
        const double milliseconds = bench_.deviceMilliseconds(record);
        const std::vector<float> words = sums_[buffer].downloadValues<float>(2);
        return {corrects ? words[0] + words[1] : words[0], 1e-3 * milliseconds};
    }

    LabBench& bench_;
    gpu::Buffer numbers_;
    gpu::Buffer sums_[2];
};

/// The exact sum, in integers, of numbers that are multiples of 2^-24.
double exactSum(Numbers numbers) {
    std::uint64_t units = 0;
    for (const float number : numbers) units += static_cast<std::uint64_t>(std::ldexp(number, 24));
    return std::ldexp(static_cast<double>(units), -24);
}

/// What the last place of a float near `value` counts.
double unitOf(double value) { return std::ldexp(1.0, std::ilogb(value) - 23); }

void measure(LabBench& bench, LabResult& result) {
    const std::vector<double> values = labValues(4096, bench.rough() ? 16384 : most, 4);
    const auto last = static_cast<std::uint32_t>(values.back());
    std::vector<float> numbers(last);
    std::uint32_t state = 1;
    for (float& number : numbers) {
        state = shared::xorshift(state);
        number = std::ldexp(static_cast<float>(state >> 8), -24);
    }
    std::vector<float> shuffled(last);
    for (std::uint32_t i = 0; i < last; ++i) shuffled[i] = numbers[shared::labScatter(i, last - 1)];
    const double exact = exactSum(numbers);
    result.numbers["numbers_added"] = last;
    result.numbers["exact_sum"] = exact;
    result.numbers["unit_in_last_place"] = unitOf(exact);

    // depth: additions that a number goes through, one after another. Each errs by half a unit in the last
    // place, so the sum of numbers above 0 errs by 2^-24 times its depth (Higham, "The accuracy of floating
    // point summation", 1993).
    const auto sweep = [&](bool gpu, const char* name, Numbers of, auto depth, auto add, double longest = 0) {
        std::set<float> results;
        std::size_t runs = 0;
        bench.sweep(result, {gpu,
                             name,
                             values,
                             [&](double value) {
                                 const auto count = static_cast<std::uint32_t>(value);
                                 const Summed summed = add(count);
                                 const double right = exactSum(of.first(count));
                                 const double bound = std::ldexp(depth(count), -24);
                                 if (!(std::abs(static_cast<double>(summed.sum) - right) <=
                                       right * bound / (1 - bound)))
                                     throw std::runtime_error(
                                         fmt::format("{} is further from {} than rounding can bring it, so "
                                                     "it is not timed",
                                                     summed.sum, right));
                                 if (count != last) return 1e6 * summed.seconds;
                                 results.insert(summed.sum);
                                 ++runs;
                                 return 1e6 * summed.seconds;
                             },
                             {},
                             longest});
        if (results.empty()) return;
        const auto error = [&](float sum) {
            return std::abs(static_cast<double>(sum) - exactSum(of.first(last)));
        };
        const float furthest = *std::ranges::max_element(results, {}, error);
        result.numbers[sumNumberName(gpu, name, "sum")] = static_cast<double>(furthest);
        result.numbers[sumNumberName(gpu, name, "error_units")] = error(furthest) / unitOf(exact);
        result.numbers[sumNumberName(gpu, name, "results")] = static_cast<double>(results.size());
        result.numbers[sumNumberName(gpu, name, "runs")] = static_cast<double>(runs);
        result.numbers[sumNumberName(gpu, name, "microseconds")] = result.at(gpu, name, last);
    };
    const auto serial = [](std::uint32_t count) { return count - 1.0; };
    const auto tree = [](std::uint32_t count) { return std::log2(count); };
    const auto corrected = [](std::uint32_t) { return 3.0; }; // 2, and a little that grows with the count

    const auto processor = [&](const char* name, Numbers of, auto depth, auto add) {
        sweep(false, name, of, depth,
              [of, add](std::uint32_t count) { return timed([&] { return add(of.first(count)); }); });
    };
    std::optional<DeviceSums> device, shuffledDevice;
    if (bench.device() != nullptr) {
        device.emplace(bench, numbers);
        shuffledDevice.emplace(bench, shuffled);
    }
    const double group = bench.groupSize();
    const auto twoLevels = [=](std::uint32_t count) { // of an invocation, of its workgroup, and so again
        return perInvocation + 2 * std::log2(group) + std::ceil(2 * count / perInvocation / group / group);
    };
    const auto arrivals = [=](std::uint32_t count) {
        return perInvocation + std::log2(group) + count / perInvocation / group;
    };

    processor("one after another", numbers, serial, oneAfterAnother);
    sweep(
        true, "one after another", numbers, serial,
        [&](std::uint32_t count) { return device->oneAfterAnother(count); }, 400); // many submissions
    processor("pairwise tree", numbers, tree, pairwise);
    sweep(true, "pairwise tree", numbers, tree, [&](std::uint32_t count) { return device->pairwise(count); });
    processor("per thread", numbers, serial, [&](Numbers of) { return perThread(bench.team(), of); });
    sweep(true, "per workgroup", numbers, twoLevels,
          [&](std::uint32_t count) { return device->perWorkgroup(count, DeviceSums::plain); });
    processor("as threads arrive", numbers, serial,
              [&](Numbers of) { return asTheyArrive(bench.team(), of); });
    sweep(true, "as workgroups arrive", numbers, arrivals,
          [&](std::uint32_t count) { return device->perWorkgroup(count, DeviceSums::arrival); });
    processor("Kahan", numbers, corrected, kahan);
    sweep(true, "Kahan", numbers, corrected,
          [&](std::uint32_t count) { return device->perWorkgroup(count, DeviceSums::corrected); });
    processor("one after another, shuffled", shuffled, serial, oneAfterAnother);
    sweep(true, "per workgroup, shuffled", shuffled, twoLevels,
          [&](std::uint32_t count) { return shuffledDevice->perWorkgroup(count, DeviceSums::plain); });
    processor("double", numbers, corrected, inDouble);
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("cpu_one_after_another_error_units") || !result.has("cpu_pairwise_tree_error_units"))
        return std::nullopt;
    const double loop = result.number("cpu_one_after_another_error_units");
    const double tree = result.number("cpu_pairwise_tree_error_units");
    if (loop < 1 && tree < 1) return 3;
    return loop > 1.5 * tree ? 1 : tree > 1.5 * loop ? 0 : 2;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    const auto note = [&](const char* name, double value) {
        if (std::isfinite(value)) values[name].number = value; // else something in it was not measured
    };
    note("tree_roundings", std::log2(result.number("numbers_added")));
    const double exact = result.number("exact_sum");
    const double best = std::abs(static_cast<double>(static_cast<float>(exact)) - exact) /
                        result.number("unit_in_last_place");
    note("cpu_Kahan_above_best_units", result.number("cpu_Kahan_error_units") - best);
    note("gpu_tree_difference",
         std::abs(result.number("gpu_pairwise_tree_sum") - result.number("cpu_pairwise_tree_sum")));
    const double threads = result.number("cpu_as_threads_arrive_results");
    const double workgroups = result.number("gpu_as_workgroups_arrive_results");
    note("most_results_of_arrival", std::fmax(threads, workgroups)); // of NaN and a number: the number
}

void draw(Ui& ui, const Experiment&, const LabResult& result, LabView& view) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float tree = !result.measured() ? room.x : room.x > ui.px(800) ? 0.36f * room.x : 0;
    if (tree > 0)
        drawSumOrders(ui, {at.x, at.y + ui.px(8)}, {tree, room.y - ui.px(16)}, view.seconds,
                      !result.measured());
    if (!result.measured()) return;
    const float gap = tree > 0 ? ui.px(24) : 0;
    drawSumTable(ui, result, {at.x + tree + gap, at.y + ui.px(4)}, {room.x - tree - gap, room.y - ui.px(4)});
}

/// A tree adds in three steps, a loop in seven.
LabScene scene() {
    LabScene scene{.beats = 20, .labels = {{9.1f, 3.75f, "in pairs"}, {0, 4.95f, "one by one"}}};
    for (int level = 0; level < 4; ++level) {
        const auto width = static_cast<float>(2 << level);
        for (int i = 0; i < 8 >> level; ++i)
            scene.blocks.push_back({(static_cast<float>(i) + 0.5f) * width - 0.8f,
                                    1.0f * static_cast<float>(level), 1.6f, 0.65f, 2.0 * level, 2.0 * level});
    }
    for (int i = 0; i < 8; ++i)
        scene.blocks.push_back(
            {2.0f * static_cast<float>(i) + 0.2f, 5.1f, 1.6f, 0.8f, 2.0 * i, 2.0 * i, LabTone::muted});
    return scene;
}

LabVerdict verdict(const LabResult& result) {
    return {translatedFormat("Tree {} ulp", twoDigits(result.number("cpu_pairwise_tree_error_units"))),
            translatedFormat("off the exact sum; the loop is off by {} ulp",
                             twoDigits(result.number("cpu_one_after_another_error_units")))};
}

} // namespace

extern const Experiment sum{
    .place = 80,
    .name = "sum",
    .title = "The sum depends on the order",
    .idea = "Addition of floats is not associative. A million of them are added up in several orders, and "
            "compared with the exact sum.",
    .group = LabGroup::work,
    .scene = scene,
    .question = "Which is nearer to the exact sum of a million floats: a loop, or a tree of parallel sums?",
    .choices = {"the loop", "the tree", "equally near", "both are exact"},
    .x = {"numbers", ""},
    .y = {"time", "µs"},
    .lines = {"CPU one after another", "CPU pairwise tree"},
    .sources = {"lab_sum.comp", "lab_sum_pairs.comp", "lab_sum_serial.comp", "sum.cpp"},
    .link = {"See one seed on two machines", "race",
             R"({"data": "spiral", "hidden": [16, 16], "lanes": ["cpu:simd", "gpu:naive"]})"},
    .animated = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
