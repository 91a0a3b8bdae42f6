// Bytes that go to the device, come back, or stay there.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/words/median.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint64_t batchBytes = 128 * 784 * sizeof(float);
constexpr const char* toDevice = "host to device";
constexpr const char* toHost = "device to host";
constexpr const char* within = "within the device";
constexpr const char* oneThread = "memcpy, one thread";
constexpr const char* allThreads = "memcpy, all threads";

std::uint64_t mostBytes(const LabBench& bench) {
    return std::uint64_t{bench.rough() ? 1u : bench.software() ? 16u : 64u} << 20;
}

/// The words that are copied: all differ.
std::vector<std::uint32_t> wordsOf(std::uint64_t bytes) {
    std::vector<std::uint32_t> words(bytes / 4);
    for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = 2654435769u * (i + 1);
    return words;
}

/// Both ends of the bus, and a place for copies at each.
class Ends {
  public:
    explicit Ends(LabBench& bench)
        : bench_(bench), words_(wordsOf(mostBytes(bench))), most_(4 * words_.size()),
          upload_(bench.buffer(batchBytes, "batch", gpu::Memory::upload)),
          // Memory for uploads may lie on the card; this does not, where there is other.
          host_(bench.buffer(most_, "host", gpu::Memory::readback)),
          hostCopy_(bench.buffer(most_, "copy on the host", gpu::Memory::readback)),
          device_(bench.buffer(most_, "device")), deviceCopy_(bench.buffer(most_, "copy on the device")) {
        device_.uploadValues<std::uint32_t>(words_);
        bench.deviceMilliseconds(
            [&](gpu::Recorder& recorder) { recorder.copy(device_.view(), host_.view()); });
    }

    /// Microseconds of the device.
    double copy(bool fromHost, bool intoHost, std::uint64_t bytes) {
        const gpu::Buffer& from = fromHost ? host_ : device_;
        const gpu::Buffer& to = intoHost ? hostCopy_ : deviceCopy_;
        bench_.deviceMilliseconds([&](gpu::Recorder& recorder) { // or an earlier copy would pass for this one
            recorder.fill(deviceCopy_.view(0, bytes), 0);
            recorder.fill(hostCopy_.view(0, bytes), 0);
        });
        const double taken = bench_.deviceMilliseconds(
            [&](gpu::Recorder& recorder) { recorder.copy(from.view(0, bytes), to.view(0, bytes)); });
        requireCopied(to, bytes);
        return 1e3 * taken;
    }

    /// Microseconds in which a step gets its batch: from the host's memory into the device's, written there
    /// by the host first; or, if it is kept, from another place on the device.
    double batch(bool kept) {
        const std::uint64_t bytes = std::min(batchBytes, most_);
        if (kept) return copy(false, false, bytes);
        bench_.deviceMilliseconds(
            [&](gpu::Recorder& recorder) { recorder.fill(deviceCopy_.view(0, bytes), 0); });
        const double begin = secondsNow();
        upload_.writeValues<std::uint32_t>(std::span(words_).first(bytes / 4));
        const double written = secondsNow() - begin;
        const double copied = bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            recorder.copy(upload_.view(0, bytes), deviceCopy_.view(0, bytes));
        });
        requireCopied(deviceCopy_, bytes);
        return 1e6 * written + 1e3 * copied;
    }

  private:
    void requireCopied(const gpu::Buffer& copy, std::uint64_t bytes) {
        if (&copy != &hostCopy_)
            bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
                recorder.copy(copy.view(0, bytes), hostCopy_.view(0, bytes));
            });
        if (std::memcmp(hostCopy_.mapped().data(), words_.data(), bytes) != 0)
            throw std::runtime_error("wrong bytes arrived, so it is not timed");
    }

    LabBench& bench_;
    std::vector<std::uint32_t> words_;
    std::uint64_t most_;
    gpu::Buffer upload_, host_, hostCopy_, device_, deviceCopy_;
};

/// Microseconds of a memcpy; short ones are repeated, or the clock would be all that is measured.
double processorCopy(LabBench& bench, const std::vector<std::uint32_t>& from, std::vector<std::uint32_t>& to,
                     std::uint64_t bytes, bool all) {
    void* (*volatile copy)(void*, const void*, std::size_t) = std::memcpy; // not left out
    const std::uint64_t times =
        std::clamp<std::uint64_t>((std::uint64_t{1} << 20) / bytes, 1, all ? 64 : 4096);
    std::fill(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(bytes / 4), 0);
    const double begin = secondsNow();
    for (std::uint64_t time = 0; time < times; ++time) {
        if (!all) {
            copy(to.data(), from.data(), bytes);
            continue;
        }
        bench.team().run([&](std::size_t thread) {
            const Share share = shareOf(bytes / 4, thread, bench.threads(), 16);
            if (share.end > share.begin)
                copy(to.data() + share.begin, from.data() + share.begin, 4 * (share.end - share.begin));
        });
    }
    const double seconds = secondsNow() - begin;
    if (std::memcmp(from.data(), to.data(), bytes) != 0)
        throw std::runtime_error("wrong bytes arrived, so it is not timed");
    return 1e6 * seconds / static_cast<double>(times);
}

void measure(LabBench& bench, LabResult& result) {
    const auto most = static_cast<double>(mostBytes(bench));
    const std::vector<double> values = labValues(4, most, 4);
    const auto cost = [](double bytes) { return bytes + 1e6; }; // a short copy takes some time, too
    const auto bytesOf = [](double value) { return static_cast<std::uint64_t>(value); };
    const auto note = [&](const std::string& name, bool gpu, const char* series) {
        const LabSeries* found = result.find(gpu, series);
        if (found == nullptr || found->points.empty()) return;
        const LabPoint& first = found->points.front();
        result.numbers[name + "_gigabytes_per_second"] = found->points.back().median;
        result.numbers[name + "_microseconds_4_bytes"] = 1e-3 * first.x / first.median;
    };
    std::optional<Ends> ends;
    if (bench.device() != nullptr) ends.emplace(bench);
    const auto device = [&](const char* name, bool fromHost, bool intoHost) {
        bench.sweep(result, {true, name, values,
                             [&, fromHost, intoHost](double bytes) {
                                 return 1e-3 * bytes / ends->copy(fromHost, intoHost, bytesOf(bytes));
                             },
                             cost});
    };
    device(toDevice, true, false);
    device(toHost, false, true);
    device(within, false, false);
    const std::vector<std::uint32_t> from = wordsOf(mostBytes(bench));
    std::vector<std::uint32_t> to(from.size());
    for (const bool all : {false, true})
        bench.sweep(result, {false, all ? allThreads : oneThread, values,
                             [&, all](double bytes) {
                                 return 1e-3 * bytes / processorCopy(bench, from, to, bytesOf(bytes), all);
                             },
                             cost});
    note("to_device", true, toDevice);
    note("to_host", true, toHost);
    note("within_device", true, within);
    note("cpu", false, allThreads);
    note("cpu_one_thread", false, oneThread);
    if (!ends || bench.stopped()) return;
    const gpu::DeviceType type = bench.device()->report().type;
    result.numbers["unified_memory"] =
        type == gpu::DeviceType::integrated || type == gpu::DeviceType::software ? 1 : 0;
    for (const bool kept : {false, true}) {
        std::vector<double> rounds(bench.rough() ? 1 : 15);
        for (double& round : rounds) round = ends->batch(kept);
        result.numbers[kept ? "microseconds_batch_kept" : "microseconds_batch_uploaded"] = median(rounds);
    }
}

/// The memcpy that is faster for large copies.
const char* fasterMemcpy(const LabResult& result) {
    const bool one =
        result.number("cpu_one_thread_gigabytes_per_second") > result.number("cpu_gigabytes_per_second");
    return one ? oneThread : allThreads;
}

double ratio(const LabResult& result) {
    return result.number("within_device_gigabytes_per_second") /
           result.number("to_device_gigabytes_per_second");
}

std::optional<std::size_t> answer(const LabResult& result) {
    const double times = ratio(result);
    if (!(times > 0)) return std::nullopt;
    return times < 2 ? 0 : times < 8 ? 1 : times < 30 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    const LabSeries* there = result.find(true, toDevice);
    if (there != nullptr && !there->points.empty())
        values["to_device_largest_bytes"].number = there->points.back().x;
}

/// Copies of the same length race each other, in their true proportions; below them, the curves. Where the
/// room is low, the curves get all of it.
void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    struct Copy {
        bool gpu;
        const char* series;
    };
    if (ImGui::GetContentRegionAvail().y < ui.px(260)) return drawLabCurves(ui, experiment, result, view);
    const Copy copies[] = {{true, toDevice}, {true, toHost}, {true, within}, {false, fasterMemcpy(result)}};
    constexpr double slowestSeconds = 4; // on the screen
    constexpr double pause = 2;
    double slowest = 0; // seconds of a gigabyte
    for (const Copy& copy : copies)
        if (const LabSeries* series = result.find(copy.gpu, copy.series); series && !series->points.empty())
            slowest = std::max(slowest, 1 / series->points.back().median);
    const double now = std::fmod(view.seconds, slowestSeconds + pause) / slowestSeconds * slowest;
    const bool moves = slowest > 0 && !ui.masked;
    {
        const SmallLetters small(ui);
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const float row = ImGui::GetTextLineHeight() + ui.px(5);
        const float width = ImGui::GetContentRegionAvail().x;
        float left = 0;
        for (const Copy& copy : copies) left = std::max(left, textWidth(copy.series));
        left += textWidth("GPU ") + ui.px(12);
        const float right = textWidth(translatedFormat("1 GB in {}", "888 ms")) + ui.px(16);
        ImVec2 at = ImGui::GetCursorScreenPos();
        for (const Copy& copy : copies) {
            const ImU32 colour = copy.gpu ? ui.theme.gpu : ui.theme.cpu;
            const std::string name = fmt::format("{} {}", copy.gpu ? "GPU" : "CPU", translated(copy.series));
            list.AddText(at, legible(ui.theme, colour), name.c_str());
            const ImVec2 begin{at.x + left, at.y};
            const ImVec2 end{at.x + width - right, at.y + row - ui.px(5)};
            list.AddRectFilled(begin, end, ui.theme.raised, ui.px(3));
            const LabSeries* series = result.find(copy.gpu, copy.series);
            if (moves && series && !series->points.empty()) {
                const double seconds = 1 / series->points.back().median;
                const auto share = static_cast<float>(std::min(now / seconds, 1.0));
                list.AddRectFilled(begin, {begin.x + share * (end.x - begin.x), end.y}, colour, ui.px(3));
                list.AddText({end.x + ui.px(10), at.y}, ui.theme.text,
                             translatedFormat("1 GB in {}", duration(seconds)).c_str());
            }
            at.y += row;
        }
        ImGui::Dummy({width, row * static_cast<float>(std::size(copies))});
    }
    drawLabCurves(ui, experiment, result, view);
}

/// Numbers cross a narrow bus one by one; within the GPU's memory, many move at once.
LabScene scene() {
    LabScene scene{.beats = 16,
                   .blocks = {{0, 0.4f, 4, 5.2f, 0, 0, LabTone::cpu, "CPU"}, {8, 0.4f, 8, 5.2f, labNever, 0}},
                   .lines = {{4, 2.7f, 8, 2.7f}, {4, 3.3f, 8, 3.3f}},
                   .labels = {{4.9f, 2.6f, "bus"}, {8.4f, 1.8f, "GPU"}}};
    for (int number = 0; number < 2; ++number)
        scene.dots.push_back({4.3f, 3, 8.3f, 3, 8.0 * number, 8.0 * number + 8, LabTone::other});
    for (int row = 0; row < 5; ++row)
        for (int number = 0; number < 8; ++number) {
            const float y = 2 + 0.8f * static_cast<float>(row);
            scene.dots.push_back({8.8f, y, 15.2f, y, 2.0 * number + 0.4 * row, 2.0 * number + 0.4 * row + 3});
        }
    return scene;
}

LabAxes axes(const LabReach& reach) {
    return {{4, reach.software ? 0x1p24 : 0x1p28},
            reach.software ? PlotRange{1e-5, 100} : PlotRange{1e-4, 1e4}};
}

LabVerdict verdict(const LabResult& result) {
    return ratioVerdict(ratio(result), gpuFactor(ratio(result), {}), {"as fast", "No faster"},
                        translatedFormat("within its memory: {} GB/s instead of {} GB/s from the host",
                                         twoDigits(result.number("within_device_gigabytes_per_second")),
                                         twoDigits(result.number("to_device_gigabytes_per_second"))));
}

} // namespace

extern const Experiment bus{
    .place = 100,
    .name = "bus",
    .title = "Across the bus",
    .idea = "The same bytes are copied to the device, back from it, and within its memory, 4 bytes at a time "
            "or millions.",
    .group = LabGroup::launch,
    .scene = scene,
    .question = "How many times faster is a large copy within the GPU's memory than one from the host?",
    .choices = {"about as fast", "2 to 8 times", "8 to 30 times", "more than 30 times"},
    .x = {.title = "bytes in one copy", .sketched = PlotRange{4, 1 << 28}},
    .y = {.title = "copied", .unit = "GB/s", .sketched = PlotRange{1e-4, 1e4}},
    .lines = {"GPU host to device", "GPU within the device"},
    .sketched = toDevice,
    .sources = {"bus.cpp"},
    .link =
        {"See a step take its batch on the device", "inside",
         R"({"data": "fashion-mnist", "hidden": [256, 128], "batch": 128, "machine": "gpu", "operation": 0})"},
    .animated = true,
    .axes = axes,
    .introduced = true,
    .folds = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
