// Invocations that go different ways: neighbours, or whole subgroups. On the CPU: branches that cannot be
// foreseen.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/lab/lab_cells.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t mostWays = 64;
constexpr std::uint32_t rounds = 512; // of an invocation; with all ways, less than drivers allow a loop

/// What invocation `i` computes on its way.
std::uint32_t wayOf(std::uint32_t i, std::uint32_t way, std::uint32_t turns) {
    std::uint32_t x = i + 1;
    for (std::uint32_t round = 0; round < turns; ++round) x = shared::xorshift(x) + way;
    return x;
}

class DeviceWays {
  public:
    /// As many invocations as all ways leave time for.
    explicit DeviceWays(LabBench& bench)
        : bench_(bench), items_(bench.rough()      ? 256
                                : bench.software() ? 1 << 10
                                                   : 1 << 14),
          values_(bench.buffer(std::uint64_t{4} * items_ * largerBy, "values")),
          subgroups_(bench.buffer(4, "subgroups")) {
        milliseconds(1, 1); // compiles
        subgroup_ = bench.groupSize() / std::max(subgroups_.downloadValues<std::uint32_t>(1).front(), 1u);
        if (bench.rough()) return;
        const double room = bench.device()->longestSubmission() / (3 * mostBranches() * milliseconds(1, 1));
        items_ *= std::clamp(std::bit_floor(static_cast<std::uint32_t>(room)), 1u, largerBy);
    }

    /// Invocations of a subgroup of this kernel. Drivers may report another size for the device: Intel's say
    /// 32 and run 8 to 32.
    std::uint32_t subgroup() const { return subgroup_; }
    std::uint32_t mostBranches() const { return std::min(subgroup_, mostWays); }

    /// Nanoseconds that the device spends on a turn of an invocation.
    double nanoseconds(std::uint32_t ways, std::uint32_t together) {
        const double took = milliseconds(ways, together);
        const std::vector<std::uint32_t> found = values_.downloadValues<std::uint32_t>(items_);
        for (std::uint32_t i = 0; i < items_; i += 1 + items_ / 512) // some of all ways
            if (found[i] != wayOf(i, i / together % ways, rounds))
                throw std::runtime_error("wrong results, so it is not timed");
        return 1e6 * took / (1.0 * items_ * rounds);
    }

  private:
    static constexpr std::uint32_t largerBy = 16;

    double milliseconds(std::uint32_t ways, std::uint32_t together) {
        const LabKernel& kernel = bench_.kernel("lab_branches", {{shared::labGroupSize, bench_.groupSize()}});
        return bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            recorder.dispatch(kernel, {items_, 1, 1}, {items_, rounds, ways, together},
                              {values_.view(), subgroups_.view()});
        });
    }

    LabBench& bench_;
    std::uint32_t items_;
    gpu::Buffer values_;
    gpu::Buffer subgroups_; ///< of a workgroup
    std::uint32_t subgroup_ = 1;
};

// The processor's ways are functions: a call through a table is a branch, and no compiler makes it a
// selection.
constexpr std::uint32_t calledTurns = 2;
template <std::size_t Way> std::uint32_t called(std::uint32_t i) {
    return wayOf(i, static_cast<std::uint32_t>(Way), calledTurns);
}
constexpr auto calledWays = []<std::size_t... Ways>(std::index_sequence<Ways...>) {
    return std::array{called<Ways>...};
}
(std::make_index_sequence<mostWays>());

/// Nanoseconds for an item, which goes one of `ways` at random; sorted: all items of a way follow each other.
double processorNanoseconds(std::uint32_t ways, std::uint32_t items, bool sorted) {
    std::vector<std::uint8_t> way(items);
    std::uint32_t state = 1;
    for (std::uint8_t& each : way) {
        state = shared::xorshift(state);
        each = static_cast<std::uint8_t>((state >> 8) % ways);
    }
    if (sorted) std::ranges::sort(way);
    std::uint32_t sum = 0;
    const double begin = secondsNow();
    for (std::uint32_t i = 0; i < items; ++i) sum += calledWays[way[i]](i);
    const double seconds = secondsNow() - begin;
    for (std::uint32_t i = 0; i < items; ++i) sum -= wayOf(i, way[i], calledTurns);
    if (sum != 0) throw std::runtime_error("wrong sum, so it is not timed");
    return 1e9 * seconds / items;
}

/// Divides a series by its first point, which took turns with the others: a busy machine slows all alike.
void relate(LabResult& result, bool gpu, std::string_view name, const std::string& number) {
    for (LabSeries& series : result.series) {
        if (series.gpu != gpu || series.name != name || series.points.empty()) continue;
        const double one = series.points.front().median;
        for (LabPoint& point : series.points)
            for (double* value : {&point.median, &point.low, &point.high}) *value /= one;
        result.numbers[number + "_one_branch_nanoseconds"] = one;
        result.numbers[number + "_factor"] = series.points.back().median;
        result.numbers[number + "_branches"] = series.points.back().x;
    }
}

void measure(LabBench& bench, LabResult& result) {
    const auto whole = [](double value) { return static_cast<std::uint32_t>(value); };
    const auto same = [](double) { return 1.0; }; // every item takes as many turns
    std::optional<DeviceWays> device;
    if (bench.device() != nullptr) {
        device.emplace(bench);
        result.numbers["gpu_subgroup_size"] = device->subgroup();
    }
    const std::vector<double> ways = labValues(1, device ? device->mostBranches() : 1, 2);
    bench.sweep(result, {true, "neighbours differ", ways,
                         [&](double value) { return device->nanoseconds(whole(value), 1); }});
    bench.sweep(result,
                {true, "subgroups differ", ways,
                 [&](double value) { return device->nanoseconds(whole(value), device->subgroup()); }, same});
    const std::uint32_t items = bench.rough() ? 1 << 10 : 1 << 18;
    for (const bool sorted : {false, true})
        bench.sweep(result,
                    {false, sorted ? "in order" : "at random", labValues(1, 32, 2),
                     [&](double value) { return processorNanoseconds(whole(value), items, sorted); }, same});
    relate(result, true, "neighbours differ", "gpu_neighbours");
    relate(result, true, "subgroups differ", "gpu_subgroups");
    relate(result, false, "at random", "cpu_random");
    relate(result, false, "in order", "cpu_in_order");
}

/// One branch, and as many as were measured; null: not measured.
std::pair<const LabPoint*, const LabPoint*> extremes(const LabResult& result, std::string_view name) {
    const LabSeries* series = result.find(true, name);
    if (series == nullptr || series->points.empty()) return {};
    return {&series->points.front(), &series->points.back()};
}

/// Whether the noise hides what branches cost.
bool tooBusy(const LabResult& result) {
    const auto [one, most] = extremes(result, "neighbours differ");
    return most != nullptr && (most->median < 0.8 || (most->median >= 1.4 && !apart(*one, *most)));
}

std::optional<std::size_t> answer(const LabResult& result) {
    const double branches = result.number("gpu_neighbours_branches");
    if (!(branches > 2) || tooBusy(result)) return std::nullopt; // not measured, or subgroups too small
    const double factor = result.number("gpu_neighbours_factor");
    return factor < 1.4 ? 0 : factor < 3 ? 1 : factor < 6 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    const auto [one, neighbours] = extremes(result, "neighbours differ");
    const LabPoint* subgroups = extremes(result, "subgroups differ").second;
    if (neighbours == nullptr || subgroups == nullptr || !(result.number("gpu_neighbours_branches") > 1))
        return;
    values["gpu_too_busy"].number = tooBusy(result) ? 1 : 0;
    values["gpu_neighbours_low_factor"].number = neighbours->low;
    values["gpu_neighbours_high_factor"].number = neighbours->high;
    values["gpu_subgroups_low_factor"].number = subgroups->low;
    values["gpu_subgroups_high_factor"].number = subgroups->high;
}

/// A row of a subgroup's lanes, with what stands before it.
struct Lanes {
    ImVec2 at; ///< of the first one
    float width, height;
    std::uint32_t count;

    void draw(const Ui& ui, std::string_view name, const auto& works, const auto& text) const {
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const float letters = ImGui::GetFontSize();
        if (height >= letters)
            labText(list, {at.x - ui.px(6), at.y + (height - letters) / 2 - ui.px(1)}, name, ui.theme.muted,
                    1);
        for (std::uint32_t i = 0; i < count; ++i) {
            const float x = at.x + static_cast<float>(i) * width;
            labCell(ui, list, {x, at.y},
                    {x + width - ui.px(2), at.y + height - ui.px(height > ui.px(6) ? 2.f : 1.f)},
                    ui.theme.gpu, works(i), works(i) ? text(i) : std::string(), "88");
        }
    }
};

/// One of the two groupings: invocations take branches 0 to `ways` - 1.
struct Grouping {
    std::uint32_t invocations; ///< of a subgroup
    std::uint32_t ways;
    bool neighbours; ///< differ; otherwise, subgroups do
};

/// Nearly square cells, where a subgroup has few.
float highestRow(const Ui& ui, std::uint32_t invocations) {
    return std::max(1.8f * ui.fonts.small->FontSize, ui.px(400) / static_cast<float>(invocations));
}

/// Title above, names on the left: the first row of lanes. `rows` fit below each other.
Lanes firstLanes(const Ui& ui, ImVec2 at, ImVec2 size, const Grouping& of, std::uint32_t rows,
                 std::string_view title, std::string_view longestName) {
    const float letters = ImGui::GetFontSize();
    title = translated(title);
    if (lettersWidth(title) > size.x) title = title.substr(0, title.find(':'));
    labText(*ImGui::GetWindowDrawList(), at, title, ui.theme.text);
    const float names = textWidth(longestName) + ui.px(24);
    const float top = at.y + letters + ui.px(6);
    return {{at.x + names, top},
            std::min((size.x - names) / static_cast<float>(of.invocations), ui.px(56)),
            std::min((at.y + size.y - top) / static_cast<float>(rows), highestRow(ui, of.invocations)),
            of.invocations};
}

/// Which branch each invocation of some subgroups takes: all that can be shown while time is the question.
void drawAssignment(const Ui& ui, ImVec2 at, ImVec2 size, const Grouping& of) {
    const SmallLetters small(ui);
    constexpr std::uint32_t subgroups = 4;
    Lanes row = firstLanes(ui, at, size, of, subgroups,
                           of.neighbours ? "Neighbours differ: the branch that each invocation takes"
                                         : "Subgroups differ: the branch that each invocation takes",
                           translatedFormat("subgroup {}", 0));
    for (std::uint32_t each = 0; each < subgroups; ++each) {
        row.draw(
            ui, translatedFormat("subgroup {}", each), [](std::uint32_t) { return true; },
            [&](std::uint32_t i) { return fmt::format("{}", (of.neighbours ? i : each) % of.ways); });
        row.at.y += row.height;
    }
}

/// What a subgroup executes, time going down: who takes a row's branch is filled, who waits is an outline.
void drawExecution(const Ui& ui, ImVec2 at, ImVec2 size, const Grouping& of, double share) {
    const SmallLetters small(ui);
    Lanes row =
        firstLanes(ui, at, size, of, of.ways,
                   !of.neighbours ? "Subgroups differ: one branch, in one turn"
                   : of.ways == 1 ? std::string("Neighbours differ: 1 branch")
                                  : translatedFormat("Neighbours differ: {} branches in turn", of.ways),
                   translatedFormat("branch {}", "00"));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 arrow{at.x + ui.px(4), row.at.y};
    const float tip = row.at.y + row.height * static_cast<float>(of.ways) - ui.px(2);
    draw.AddLine(arrow, {arrow.x, tip}, ui.theme.muted, ui.line());
    for (const float side : {-1.0f, 1.0f})
        draw.AddLine({arrow.x + side * ui.px(4), tip - ui.px(5)}, {arrow.x, tip}, ui.theme.muted, ui.line());
    const std::uint32_t turns = of.neighbours ? of.ways : 1;
    const auto executed = std::min(turns, 1 + static_cast<std::uint32_t>(share * of.ways));
    for (std::uint32_t turn = 0; turn < executed; ++turn) {
        const std::uint32_t branch = of.neighbours ? turn : of.ways / 2;
        row.draw(
            ui, translatedFormat("branch {}", branch),
            [&](std::uint32_t i) { return !of.neighbours || i % of.ways == branch; },
            [](std::uint32_t i) { return fmt::format("{}", i); });
        row.at.y += row.height;
    }
    const float letters = ImGui::GetFontSize();
    if (executed == turns && turns < of.ways && row.at.y + letters < at.y + size.y)
        labText(draw, {row.at.x, row.at.y + ui.px(2)}, "done: no other branch has takers here",
                ui.theme.muted);
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    constexpr double each = 3; // seconds, the last third of them at rest
    const auto invocations = static_cast<std::uint32_t>(
        std::clamp(result.has("gpu_subgroup_size") ? result.number("gpu_subgroup_size")
                   : !result.measured()            ? ui.graphics.device().limits().subgroupSize
                                                   : 8.0,
                   1.0, 64.0));
    std::vector<std::uint32_t> ways; // most telling first
    for (std::uint32_t count = std::min(invocations, 8u); count > 0; count /= 2) ways.push_back(count);
    for (std::uint32_t count = 16; count <= invocations; count *= 2) ways.push_back(count);
    const double now = view.seconds / each;
    const bool measured = result.measured();
    const float rows = 4.5f * highestRow(ui, invocations) / std::max(ImGui::GetContentRegionAvail().y, 1.0f);
    const LabPlace place = labPlace(ui, measured ? 0.45f : std::min(rows + 0.05f, 0.6f));
    const auto drawGrouping = [&](ImVec2 at, ImVec2 size, bool neighbours) {
        Grouping of{invocations, invocations, neighbours};
        if (!measured) return drawAssignment(ui, at, size, of);
        of.ways = ways[static_cast<std::size_t>(now) % ways.size()];
        drawExecution(ui, at, size, of, 1.5 * (now - std::floor(now)));
    };
    const float gap = ui.px(24);
    const ImVec2 size{place.low ? place.size.x : (place.size.x - gap) / 2, place.size.y - ui.px(8)};
    if (place.low) { // one after the other
        const double all = each * static_cast<double>(ways.size());
        drawGrouping(place.at, size, std::fmod(view.seconds, 2 * all) < all);
    } else {
        drawGrouping(place.at, size, true);
        drawGrouping({place.at.x + size.x + gap, place.at.y}, size, false);
    }
    drawLabCurves(ui, experiment, result, view, place.curves);
}

/// Eight invocations in four branches, time going down: each branch takes a turn, and the others wait.
LabScene scene() {
    LabScene scene{.beats = 16,
                   .lines = {{0.5f, 1.4f, 0.5f, 5.7f}, {0.2f, 5.3f, 0.5f, 5.7f}, {0.8f, 5.3f, 0.5f, 5.7f}},
                   .labels = {{0, 1.15f, "time"}, {3.2f, 1.15f, "8 invocations, 4 branches"}}};
    for (int branch = 0; branch < 4; ++branch)
        for (int i = 0; i < 8; ++i)
            scene.blocks.push_back({1.4f + 1.82f * static_cast<float>(i),
                                    1.3f + 1.18f * static_cast<float>(branch), 1.65f, 0.95f,
                                    i % 4 == branch ? 3.0 * branch : labNever, 3.0 * branch});
    return scene;
}

/// As many branches as a subgroup has invocations, each at its full price and half as much again.
LabAxes axes(const LabReach& reach) {
    const double ways = std::clamp(reach.subgroupSize, 4u, mostWays);
    return {{1, ways}, {0, 1.5 * ways}};
}

LabVerdict verdict(const LabResult& result) {
    const std::string branches = twoDigits(result.number("gpu_neighbours_branches"));
    const double factor = result.number("gpu_neighbours_factor");
    return ratioVerdict(
        factor, gpuFactor(factor, {extremes(result, "neighbours differ").second}),
        {"as long", "Just as long"},
        translatedFormat("with {} branches in a subgroup; in turn it would be {}×", branches, branches));
}

} // namespace

extern const Experiment branches{
    .place = 60,
    .name = "branches",
    .title = "Divergent branches",
    .idea = "A branch sends invocations into different loops. The work is the same: only the grouping "
            "changes.",
    .group = LabGroup::work,
    .scene = scene,
    .question =
        "Every invocation of a subgroup takes a different branch. How many times as long does the GPU "
        "take as when all take the same one?",
    .choices = {"about as long", "up to 3 times", "3 to 6 times", "more than 6 times"},
    .x = {.title = "branches", .log = false, .sketched = PlotRange{1, mostWays}},
    .y = {.title = "time, relative to one branch", .log = false, .sketched = PlotRange{0, 1.5 * mostWays}},
    .lines = {"GPU neighbours differ", "GPU subgroups differ"},
    .sketched = "neighbours differ",
    .sources = {"lab_branches.comp", "branches.cpp"},
    .link = {"See 1,024 networks that take the same branches", "mosaic", R"({"columns": 32, "rows": 32})"},
    .animated = true,
    .axes = axes,
    .folds = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
