#include "demos/report/population_report.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "demos/draw/canvas.h"
#include "demos/draw/theme.h"
#include "demos/report/grid_colours.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t gridPixels = 1024;  // about, along the longer side
constexpr std::uint32_t leastMapPixels = 4; // along a side of a decision map
constexpr std::uint32_t mostTilePixels = 64;
constexpr std::uint32_t margin = 20;
constexpr std::uint32_t leftLabels = 90;
constexpr float letterPixels = 18;
constexpr std::uint32_t line = 26;
constexpr float tickLength = 6;
constexpr float dimmed = 0.3f; // what a tile that diverged, or was never trained, keeps of its colours

std::uint32_t tilePixels(const PopulationSpec& spec) {
    const auto longer = static_cast<std::uint32_t>(std::max(spec.columns, spec.rows));
    return std::clamp<std::uint32_t>(gridPixels / longer, 1, mostTilePixels);
}

std::string legend(const PopulationLaneResult& lane, const LossScale& scale) {
    std::string text = scale.empty() ? "loss: none is finite"
                                     : fmt::format("loss: yellow {}, purple {} and more",
                                                   threeDigits(scale.best), threeDigits(scale.worst));
    if (lane.summary.diverged > 0) text += ", black diverged";
    if (lane.summary.begun < lane.members.size()) text += ", grey not trained";
    return text;
}

/// One lane's part of the picture: a title, and grids from left to right.
struct LaneDrawing {
    Canvas& canvas;
    const Letters& letters;
    const Theme& theme;
    const PopulationSpec& spec;
    std::uint32_t top; ///< of what comes next: the title, then the grids
    std::uint32_t left = margin + leftLabels;
    std::uint32_t side = tilePixels(spec);

    std::uint32_t width() const { return static_cast<std::uint32_t>(spec.columns) * side; }

    void title(const PopulationLaneResult& lane) {
        canvas.fill(margin, top, 6, line - 6, lane.spec.gpu ? theme.gpu : theme.cpu);
        std::string text = lane.spec.text() + " did not start";
        if (!lane.machine.device.empty())
            text = fmt::format(
                "{}: {}{}, {} network-steps/s", fullName(lane.spec, lane.machine),
                lane.summary.finished < lane.members.size() ? grouped(lane.summary.finished) + " of " : "",
                counted(lane.members.size(), "network"), shortRate(lane.networkStepsPerSecond()));
        canvas.text(letters, margin + 14, static_cast<float>(top), text, theme.text);
        top += 2 * line; // of a grid, over which its heading is
    }

    void mosaic(const PopulationLaneResult& lane) {
        std::vector<std::uint32_t> words = lane.maps;
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::size_t member = i / width() / side * spec.columns + i % width() / side;
            const MemberResult& result = lane.members[member];
            if (result.diverged || !result.begun()) words[i] = mixed(theme.background, words[i], dimmed);
        }
        axes("predictions over the plane");
        canvas.picture(left, top, width(), words);
        left += width() + margin + leftLabels;
    }

    void heatMap(const PopulationLaneResult& lane, const LossScale& scale) {
        axes(legend(lane, scale));
        for (std::size_t member = 0; member < lane.members.size(); ++member)
            canvas.fill(left + static_cast<std::uint32_t>(member % spec.columns) * side,
                        top + static_cast<std::uint32_t>(member / spec.columns) * side, side, side,
                        lossColour(theme, scale, lane.members[member]));
    }

    void axes(const std::string& heading) {
        const auto whole = [](float pixels) { return static_cast<std::uint32_t>(pixels); };
        const auto gridLeft = static_cast<float>(left);
        const auto bottom = static_cast<float>(top + static_cast<std::uint32_t>(spec.rows) * side);
        const auto cell = static_cast<float>(side);
        canvas.text(letters, gridLeft, static_cast<float>(top - line), heading, theme.muted);
        for (const AxisTick& tick : spec.x.ticks(spec.columns)) {
            const float x = gridLeft + static_cast<float>(tick.place) * cell;
            canvas.fill(whole(x), whole(bottom), 1, whole(tickLength), theme.muted);
            canvas.text(letters, x - letters.width(tick.label) / 2, bottom + tickLength, tick.label,
                        theme.muted);
        }
        for (const AxisTick& tick : spec.y.ticks(spec.rows)) {
            const float y = bottom - static_cast<float>(tick.place) * cell;
            canvas.fill(whole(gridLeft - tickLength), whole(y), whole(tickLength), 1, theme.muted);
            canvas.text(letters, gridLeft - tickLength - 3 - letters.width(tick.label),
                        y - letters.height() / 2, tick.label, theme.muted);
        }
        const std::string names =
            fmt::format("{} to the right, {} upwards", name(spec.x.parameter), name(spec.y.parameter));
        canvas.text(letters, gridLeft, bottom + tickLength + static_cast<float>(line), names, theme.text);
    }
};

} // namespace

std::optional<DecisionMapOptions> pictureMaps(const PopulationGrid& grid) {
    if (grid.job.shape.inputs() != 2 || tilePixels(grid.spec) < leastMapPixels) return std::nullopt;
    DecisionMapOptions options;
    options.columns = static_cast<std::uint32_t>(grid.spec.columns);
    options.cells = tilePixels(grid.spec);
    options.colours = planeColours(makeTheme(true));
    return options;
}

Pixels populationPicture(const PopulationGrid& grid, const std::vector<PopulationLaneResult>& results) {
    const Theme theme = makeTheme(true);
    const Letters letters(letterPixels);
    const std::uint32_t side = tilePixels(grid.spec);
    const bool maps = std::ranges::any_of(results, [](const auto& lane) { return !lane.maps.empty(); });
    const auto gridWidth = leftLabels + static_cast<std::uint32_t>(grid.spec.columns) * side + margin;
    const auto laneHeight = static_cast<std::uint32_t>(grid.spec.rows) * side + 5 * line;
    constexpr std::uint32_t leastWidth = 900; // for the letters
    Canvas canvas(std::max(margin + gridWidth * (maps ? 2 : 1), leastWidth),
                  margin + laneHeight * static_cast<std::uint32_t>(results.size()), theme.background);
    std::vector<const PopulationSummary*> summaries;
    for (const PopulationLaneResult& lane : results)
        if (!lane.members.empty()) summaries.push_back(&lane.summary);
    const LossScale scale = lossScaleOf(summaries);
    for (std::size_t i = 0; i < results.size(); ++i) {
        LaneDrawing drawing{canvas, letters, theme, grid.spec,
                            margin + static_cast<std::uint32_t>(i) * laneHeight};
        drawing.title(results[i]);
        if (!results[i].maps.empty()) drawing.mosaic(results[i]);
        if (!results[i].members.empty()) drawing.heatMap(results[i], scale);
    }
    return canvas.take();
}

} // namespace lockstep::demos
