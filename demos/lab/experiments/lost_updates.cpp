// Many workers add to one counter: plainly, which loses additions, and in ways that lose none.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/lab/lab_cells.h"
#include "demos/words/median.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t rounds = 8; // additions of an invocation
constexpr std::uint32_t most = 1 << 20;
constexpr std::size_t mostBars = 15; // usually: a round each

using Counter = std::atomic<std::uint32_t>;
struct alignas(64) Line { // of a cache
    Counter counters[16]{};
};

/// Two accesses that are atomic each, but not together: a lost update without undefined behaviour.
void addPlainly(Counter& counter, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i)
        counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void addAtomically(Counter& counter, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) counter.fetch_add(1, std::memory_order_relaxed);
}

struct Outcome {
    double nanoseconds; // per addition
    double counted;     // share of the additions
    double overlap = 0; // share of the time in which all threads ran
};

Outcome outcome(double seconds, std::uint32_t additions, std::uint32_t sum, bool exact) {
    if (exact ? sum != additions : sum == 0 || sum > additions)
        throw std::runtime_error(
            fmt::format("the counter says {} after {} additions, so it is not timed", sum, additions));
    return {1e9 * seconds / additions, static_cast<double>(sum) / additions};
}

/// Thread t adds to the counter `spread` * t of the lines, so 0 is one counter for all.
Outcome onProcessor(LabBench& bench, std::uint32_t additions, void (*add)(Counter&, std::size_t),
                    std::size_t spread, bool exact) {
    std::vector<Line> lines(bench.threads());
    std::vector<double> begins(bench.threads()), ends(bench.threads());
    std::atomic<std::size_t> awake{0};
    bench.team().run([&](std::size_t thread) {
        const Share share = shareOf(additions, thread, bench.threads());
        for (++awake; awake < bench.threads();) // a barrier that sleeps would let them run one by one
            std::this_thread::yield();
        begins[thread] = secondsNow();
        add(lines[spread * thread / 16].counters[spread * thread % 16], share.end - share.begin);
        ends[thread] = secondsNow();
    });
    const double seconds = std::ranges::max(ends) - std::ranges::min(begins);
    std::uint32_t sum = 0;
    for (const Line& line : lines)
        for (const Counter& counter : line.counters) sum += counter;
    Outcome found = outcome(seconds, additions, sum, exact);
    found.overlap = std::max(std::ranges::min(ends) - std::ranges::max(begins), 0.0) / seconds;
    return found;
}

Outcome onDevice(LabBench& bench, const LabKernel& kernel, const gpu::Buffer& counter,
                 std::uint32_t additions, bool exact) {
    bench.deviceMilliseconds([&](gpu::Recorder& recorder) { recorder.fill(counter.view(), 0); });
    const std::uint32_t items = additions / rounds;
    const double milliseconds = bench.deviceMilliseconds([&](gpu::Recorder& recorder) {
        recorder.dispatch(kernel, {items, 1, 1}, {items, rounds, 0, 0}, {counter.view()});
    });
    return outcome(1e-3 * milliseconds, additions, counter.downloadValues<std::uint32_t>(1).front(), exact);
}

std::string roundName(bool gpu, std::size_t round) {
    return fmt::format("{}_round_{}_counted", gpu ? "gpu" : "cpu", round + 1);
}

/// Shares of the most additions that were counted, round by round.
std::vector<double> countedShares(const LabResult& result, bool gpu) {
    std::vector<double> shares;
    while (result.has(roundName(gpu, shares.size())))
        shares.push_back(result.number(roundName(gpu, shares.size())));
    return shares;
}

void measure(LabBench& bench, LabResult& result) {
    const std::vector<double> values = labValues(1024, bench.rough() ? 4096 : most, 4);
    std::map<double, std::vector<Outcome>> outcomes; // of a series, by additions
    const auto sweep = [&](bool gpu, const char* name, const char* number, auto once) {
        outcomes.clear();
        bench.sweep(result, {gpu, name, values, [&, once](double additions) {
                                 const Outcome each = once(static_cast<std::uint32_t>(additions));
                                 outcomes[additions].push_back(each);
                                 return each.nanoseconds;
                             }});
        const std::vector<LabPoint>& points = result.series.back().points;
        if (!points.empty())
            result.numbers[fmt::format("{}_{}_nanoseconds", gpu ? "gpu" : "cpu", number)] =
                points.back().median;
    };
    const auto medianOf = [](const std::vector<Outcome>& of, double Outcome::*what) {
        std::vector<double> shares(of.size());
        std::ranges::transform(of, shares.begin(), what);
        return median(std::move(shares));
    };
    const auto noteCounted = [&](bool gpu) {
        if (outcomes.empty()) return;
        const std::vector<Outcome>& found = outcomes.rbegin()->second; // of the most additions
        for (std::size_t round = 0; round < found.size(); ++round)
            result.numbers[roundName(gpu, round)] = found[round].counted;
        result.numbers[gpu ? "gpu_lost_share" : "cpu_lost_share"] = 1 - medianOf(found, &Outcome::counted);
        if (!gpu) result.numbers["cpu_overlap_share"] = medianOf(found, &Outcome::overlap);
    };

    std::optional<gpu::Buffer> counter;
    if (bench.device() != nullptr)
        counter.emplace(*bench.device(), sizeof(std::uint32_t), gpu::Memory::device, "lab: counter");
    const auto device = [&](const char* name, const char* number, const char* shader, std::uint32_t way) {
        sweep(true, name, number, [&, shader, way](std::uint32_t additions) {
            gpu::SpecConstants constants{{shared::labGroupSize, bench.groupSize()}};
            const bool choice = std::string_view(shader) == "lab_lost_updates";
            if (choice) constants[shared::labChoice] = way;
            return onDevice(bench, bench.kernel(shader, constants), *counter, additions, !choice || way > 0);
        });
    };
    device("plain", "plain", "lab_lost_updates", 0);
    noteCounted(true);
    device("atomic", "atomic", "lab_lost_updates", 1);
    if (bench.device() == nullptr || bench.device()->limits().subgroupSums)
        device("per subgroup", "subgroup", "lab_lost_updates_subgroup", 0);
    else
        result.series.push_back({true, "per subgroup", {}, "this device has no sums over subgroups"});
    device("per workgroup", "workgroup", "lab_lost_updates", 2);

    const auto processor = [&](const char* name, const char* number, void (*add)(Counter&, std::size_t),
                               std::size_t spread, bool exact) {
        sweep(false, name, number, [&, add, spread, exact](std::uint32_t additions) {
            return onProcessor(bench, additions, add, spread, exact);
        });
    };
    processor("plain", "plain", addPlainly, 0, bench.threads() == 1);
    noteCounted(false);
    processor("atomic", "atomic", addAtomically, 0, true);
    processor("per thread, one line", "one_line", addPlainly, 1, true);
    processor("per thread, own lines", "own_lines", addPlainly, 16, true);
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("gpu_lost_share")) return std::nullopt;
    const double counted = 1 - result.number("gpu_lost_share");
    return counted == 1 ? 0 : counted > 0.5 ? 1 : counted >= 0.01 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    double worst = 0;
    for (const bool gpu : {false, true})
        if (const std::vector<double> shares = countedShares(result, gpu); !shares.empty()) {
            const double lost = 1 - std::ranges::min(shares);
            values[gpu ? "gpu_worst_lost_share" : "cpu_worst_lost_share"].number = lost;
            worst = std::max(worst, lost);
        }
    values["worst_lost_share"].number = worst;
}

// Two workers and one counter in time: first plainly, then atomically; a row high each. Still and without
// values: before anything is measured, when they would be the answer.
void drawRace(const Ui& ui, ImVec2 at, float width, float row, double seconds, bool still) {
    struct Step {
        int worker; // 2: the counter
        float begin, end;
        const char* text;
        bool waits = false;
    };
    constexpr Step steps[] = {
        {0, 0, 1, "loads 7"},
        {0, 1, 2, "adds 1"},
        {0, 2, 3, "stores 8"},
        {1, 1, 2, "loads 7"},
        {1, 2, 3, "adds 1"},
        {1, 3, 4, "stores 8"},
        {2, 0, 3, "7"},
        {2, 3, 4, "8"},
        {2, 4, 4.9f, "8: one is lost"},
        {0, 5.1f, 7, "atomic add"},
        {1, 5.1f, 7, "waits", true},
        {1, 7, 8.9f, "atomic add"},
        {2, 5.1f, 7, "7"},
        {2, 7, 8.9f, "8"},
        {2, 8.9f, 10, "9: both count"},
    };
    ImGui::PushFont(row < 1.8f * ImGui::GetFontSize() ? ui.fonts.small : ui.fonts.body);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float names = textWidth("worker 2") + ui.px(10);
    const float unit = (width - names) / 10;
    const auto now = static_cast<float>(std::fmod(seconds, 11.0)); // one second of rest at the end
    constexpr const char* workers[] = {"worker 1", "worker 2", "counter"};
    for (int i = 0; i < 3; ++i)
        labText(draw, {at.x, at.y + (static_cast<float>(i) + 0.5f) * row - ImGui::GetFontSize() / 2},
                workers[i], ui.theme.muted);
    for (const Step& step : steps) {
        const ImVec2 from{at.x + names + step.begin * unit, at.y + static_cast<float>(step.worker) * row};
        const ImVec2 to{at.x + names + step.end * unit - ui.px(2), from.y + row - ui.px(3)};
        std::string_view text = step.text;
        if (still) {
            if (step.worker == 2 && text != "7") continue;
            if (step.worker < 2 && !text.starts_with("atomic")) {
                text = translated(text);
                text = text.substr(0, text.find(' '));
            }
        }
        const bool end = step.worker == 2 && text.size() > 1; // good or bad
        const ImU32 colour = !end ? ui.theme.text : step.begin < 5 ? ui.theme.bad : ui.theme.good;
        labCell(ui, draw, from, to, colour, now >= step.begin && !step.waits && !still, text);
    }
    ImGui::PopFont();
    if (still) return;
    const float x = at.x + names + std::min(now, 10.0f) * unit;
    draw.AddLine({x, at.y - ui.px(2)}, {x, at.y + 3 * row}, ui.theme.text, ui.line());
}

// A bar per round: the outline is what should have been counted.
void drawCounted(const Ui& ui, const LabResult& result, ImVec2 at, ImVec2 size) {
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float letters = ImGui::GetFontSize();
    labText(draw, at, "plain additions counted, by round", ui.theme.muted);
    const float top = at.y + letters + ui.px(8);
    const float bottom = at.y + size.y - 2 * letters - ui.px(8);
    float x = at.x;
    const float half = size.x / 2;
    for (const bool gpu : {false, true}) {
        const ImU32 colour = gpu ? ui.theme.gpu : ui.theme.cpu;
        const std::vector<double> shares = countedShares(result, gpu);
        const float step = (half - ui.px(16)) / static_cast<float>(std::max(shares.size(), mostBars));
        for (std::size_t i = 0; i < (ui.masked ? mostBars : shares.size()); ++i) {
            const float left = x + static_cast<float>(i) * step;
            const float right = left + step - ui.px(3);
            labCell(ui, draw, {left, top}, {right, bottom}, colour, false);
            if (ui.masked) continue;
            const float height = std::max(static_cast<float>(shares[i]) * (bottom - top), ui.px(2));
            draw.AddRectFilled({left, bottom - height}, {right, bottom}, colour);
        }
        const double lost = result.number(gpu ? "gpu_lost_share" : "cpu_lost_share");
        const std::string machine = gpu ? "GPU" : "CPU";
        labText(draw, {x, bottom + ui.px(4)},
                shares.empty() ? translatedFormat("{}: not measured", machine)
                               : fmt::format("{}: {} %", machine, ui.timing(threeDigits(100 - 100 * lost))),
                ui.theme.text);
        x += half;
    }
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float row =
        std::max(result.measured() ? std::min(room.y / 7, ui.px(52)) : room.y / 3.2f, ui.px(24));
    const ImVec2 race{room.x, 3 * row + ui.px(12)};
    float below = room.y;
    if (!result.measured() || (view.all && room.y > ui.px(240))) {
        drawRace(ui, {at.x, at.y + ui.px(4)}, race.x, row, view.seconds, !result.measured());
        ImGui::Dummy(race);
        below -= race.y + ImGui::GetStyle().ItemSpacing.y;
    }
    if (!result.measured()) return;
    const float bars = 0.3f * room.x; // the curves need room for their names
    drawCounted(ui, result, ImGui::GetCursorScreenPos(), {bars - ui.px(16), below});
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + bars);
    drawLabCurves(ui, experiment, result, view, below);
}

/// Both workers load 7, add 1 and store 8: one addition is lost.
LabScene scene() {
    return {.beats = 18,
            .blocks = {{0, 0.3f, 3.4f, 2, 2, 2, LabTone::gpu, "7"},
                       {0, 3.6f, 3.4f, 2, 3, 3, LabTone::gpu, "7"},
                       {3.7f, 0.3f, 2, 2, 4, 5, LabTone::pale, "+1"},
                       {3.7f, 3.6f, 2, 2, 5, 6, LabTone::pale, "+1"},
                       {11, 1.9f, 5, 2.2f, 0, 0, LabTone::muted, "7"},
                       {11, 1.9f, 5, 2.2f, 9, 9, LabTone::bad, "8"}},
            .dots = {{10.6f, 2.6f, 1.7f, 1.3f, 0, 2, LabTone::gpu, true},
                     {10.6f, 3.4f, 1.7f, 4.6f, 1, 3, LabTone::gpu, true},
                     {6, 1.3f, 10.6f, 2.6f, 6, 9},
                     {6, 4.6f, 10.6f, 3.4f, 7, 10}},
            .labels = {{0, 3.55f, "two threads"}, {11, 1.85f, "counter"}}};
}

LabVerdict verdict(const LabResult& result) {
    return {translatedFormat("GPU {} %", twoDigits(100 - 100 * result.number("gpu_lost_share"))),
            std::string(translated("of the plain additions are counted"))};
}

} // namespace

extern const Experiment lostUpdates{
    .place = 70,
    .name = "lost-updates",
    .title = "Lost updates",
    .idea = "Many workers add 1 to one counter: with a load, an add and a store (a race condition), "
            "atomically, or in teams that sum first.",
    .group = LabGroup::work,
    .scene = scene,
    .question = "A million plain additions by the GPU's invocations to one counter. How many are counted?",
    .choices = {"all of them", "more than half", "1 to 50 in 100", "fewer than 1 in 100"},
    .x = {"additions", ""},
    .y = {"time per addition", "ns"},
    .lines = {"GPU plain", "GPU atomic"},
    .sources = {"lab_lost_updates.comp", "lab_lost_updates_subgroup.comp", "lost_updates.cpp"},
    .link = {"See what a step adds up", "inside",
             R"({"data": "spiral", "hidden": [8, 8], "machine": "gpu"})"},
    .animated = true,
    .counts = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
