#include "demos/exhibits/ladder/access_grids.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr float mostStretch = 1.5f;

/// Rows of a buffer, and words from one to the next, by its binding: shaders/dense/naive.
std::pair<std::size_t, std::size_t> extentOf(const AccessRecord& record, std::uint32_t id) {
    const DenseShape& shape = record.shape;
    const std::pair above{shape.rows, shape.outputStride};
    const std::pair below{shape.rows, shape.inputStride};
    const std::pair weights{shape.outputs, shape.inputStride};
    const std::pair bias{std::size_t{1}, shape.outputStride};
    switch (record.product) {
    case Product::forward: return id == 0 ? below : id == 1 ? weights : id == 2 ? bias : above;
    case Product::backwardInputs: return id == 0 ? above : id == 1 ? weights : below;
    case Product::backwardWeights: return id == 0 ? above : id == 2 ? weights : id == 3 ? bias : below;
    }
    return {1, 1};
}

/// Columns of shared memory, which no binding states: [k][m], then [k][n], as in product_tiled.glsl, with
/// their padding.
std::size_t sharedColumns(const ProductKernel& kernel, std::uint32_t id) {
    const std::size_t block =
        id == firstSharedId ? kernel.groupM * kernel.tileM : kernel.groupN * kernel.tileN;
    return block + kernel.slabPadding();
}

/// Who touches a word, and who has touched it before.
struct Touch {
    static constexpr int none = -1;
    static constexpr int several = -2;
    int invocation = none; // the last of them
    int invocations = 0;
    bool write = false;
    int before = none;     // an invocation, or several
    std::size_t reads = 0; // up to now
    std::size_t writes = 0;
};

std::vector<Touch> touchesOf(const AccessRecord& record, const ArrayGrid& grid, std::size_t moment) {
    std::vector<Touch> touches(grid.rows * grid.columns);
    const auto eachWord = [&](const AccessEvent& event, auto change) {
        for (std::size_t word = 0; word < grid.wordsEach; ++word)
            if (const std::size_t at = event.at * grid.wordsEach + word; at < touches.size())
                change(touches[at]);
    };
    for (std::size_t i = 0; i < record.invocations.size(); ++i) {
        const std::vector<AccessEvent>& events = record.invocations[i];
        const auto count = [](Touch& touch, bool write) { ++(write ? touch.writes : touch.reads); };
        for (std::size_t at = 0; at < std::min(moment, events.size()); ++at)
            if (events[at].access() && events[at].array == grid.id)
                eachWord(events[at], [&, who = static_cast<int>(i), write = events[at].write](Touch& touch) {
                    count(touch, write);
                    touch.before = touch.before == Touch::none || touch.before == who ? who : Touch::several;
                });
        if (moment >= events.size() || !events[moment].access() || events[moment].array != grid.id) continue;
        eachWord(events[moment], [&](Touch& touch) {
            count(touch, events[moment].write);
            touch.invocation = static_cast<int>(i);
            ++touch.invocations;
            touch.write = events[moment].write;
        });
    }
    return touches;
}

// Below the last row that was touched: "8×", large, and what it counts.
void drawSum(Ui& ui, const ArrayGrid& grid, const std::vector<Touch>& touches, ImVec2 at, ImVec2 end,
             CellSize cell) {
    std::size_t words = 0;
    std::size_t reads = 0;
    std::size_t writes = 0;
    std::size_t rows = 0;
    for (std::size_t word = 0; word < touches.size(); ++word) {
        if (touches[word].reads + touches[word].writes == 0) continue;
        ++words;
        reads += touches[word].reads;
        writes += touches[word].writes;
        rows = word / grid.columns + 1;
    }
    if (words == 0 || (reads > 0 && writes > 0)) return;
    const std::string number = reads > 0
                                   ? twoDigits(static_cast<double>(reads) / static_cast<double>(words)) + "×"
                                   : grouped(static_cast<std::uint64_t>(words));
    const std::string what(translated(reads > 0 ? "reads of each word" : "words written"));
    const float large = ui.fonts.title->FontSize;
    const float small = ImGui::GetFontSize();
    at.x += ui.px(8);
    at.y += static_cast<float>(rows) * cell.y + ui.px(8);
    if (at.y + large + small + ui.px(4) > end.y || at.x + lettersWidth(what) > end.x) return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(ui.fonts.title, large, at, ui.theme.text, number.c_str());
    draw.AddText({at.x, at.y + large}, ui.theme.muted, what.c_str());
}

} // namespace

std::vector<ArrayGrid> gridsOf(const AccessRecord& record) {
    std::map<std::uint32_t, std::size_t> largest; // element, by array
    for (const auto& events : record.invocations)
        for (const AccessEvent& event : events)
            if (event.access()) largest[event.array] = std::max<std::size_t>(largest[event.array], event.at);
    std::vector<ArrayGrid> grids;
    for (const auto& [id, last] : largest) {
        const RecordedArray& array = record.array(id);
        ArrayGrid grid{id, {}, 0, 0, array.numbers};
        const std::size_t words = (last + 1) * grid.wordsEach;
        std::tie(grid.rows, grid.columns) = extentOf(record, id);
        if (array.shared) {
            grid.columns = sharedColumns(record.kernel, id);
            grid.rows = (words + grid.columns - 1) / grid.columns;
        }
        grid.title = wordsFor(record, array);
        if (!array.shared) grid.title += fmt::format(" {}×{}", grid.rows, grid.columns);
        grids.push_back(std::move(grid));
    }
    // Matrices first, then shared memory and single rows.
    std::ranges::stable_sort(grids, {}, [&](const ArrayGrid& grid) {
        return record.array(grid.id).shared ? 1 : grid.rows == 1 ? 2 : 0;
    });
    return grids;
}

ImU32 colourOfInvocation(std::size_t invocation, std::size_t count) {
    // Both ends of the scale would be lost on dark and light grounds.
    const float share = count < 2 ? 0.5f : static_cast<float>(invocation) / static_cast<float>(count - 1);
    return viridis(0.15f + 0.75f * share);
}

void drawGrid(Ui& ui, const AccessRecord& record, const ArrayGrid& grid, std::size_t moment, ImVec2 at,
              CellSize cell) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const std::vector<Touch> touches = touchesOf(record, grid, moment);
    const bool active =
        std::ranges::any_of(touches, [](const Touch& touch) { return touch.invocations > 0; });
    draw.AddText(at, active ? ui.theme.text : ui.theme.muted, grid.title.c_str());
    at.y += ImGui::GetTextLineHeight() + ui.px(2);
    const ImVec2 end{at.x + static_cast<float>(grid.columns) * cell.x,
                     at.y + static_cast<float>(grid.rows) * cell.y};
    draw.AddRectFilled(at, end, ui.theme.raised);
    const bool shared = record.array(grid.id).shared;
    const bool large = std::min(cell.x, cell.y) > 4;
    const float seam = large ? 1.0f : 0.0f;
    for (std::size_t word = 0; word < touches.size(); ++word) {
        const Touch& touch = touches[word];
        if (touch.invocations == 0 && touch.before == Touch::none) continue;
        const auto corner = [&](std::size_t column, std::size_t row) {
            return ImVec2{std::round(at.x + static_cast<float>(column) * cell.x),
                          std::round(at.y + static_cast<float>(row) * cell.y)};
        };
        const ImVec2 low = corner(word % grid.columns, word / grid.columns);
        const ImVec2 next = corner(word % grid.columns + 1, word / grid.columns + 1);
        const ImVec2 high{next.x - seam, next.y - seam};
        if (touch.invocations == 0) {
            const ImU32 several = shared ? sharedColour(ui.theme) : memoryColour(ui.theme);
            const ImU32 who =
                touch.before == Touch::several
                    ? several
                    : colourOfInvocation(static_cast<std::size_t>(touch.before), record.invocations.size());
            draw.AddRectFilled(low, high, touchedBefore(ui.theme, who));
            continue;
        }
        const ImU32 colour =
            colourOfInvocation(static_cast<std::size_t>(touch.invocation), record.invocations.size());
        draw.AddRectFilled(low, high, touch.invocations > 1 ? ui.theme.text : colour);
        if (touch.write && touch.invocations == 1 && large) // a second cue: a hole in what is written
            draw.AddRectFilled({low.x + cell.x * 0.3f, low.y + cell.y * 0.3f},
                               {high.x - cell.x * 0.3f, high.y - cell.y * 0.3f}, ui.theme.background);
    }
    draw.AddRect({at.x - 1, at.y - 1}, {end.x + 1, end.y + 1}, ui.theme.border);
    if (!shared) drawSum(ui, grid, touches, at, end, cell);
}

float GridPlaces::top(const Ui& ui, std::size_t line, float cell) const {
    float sum = 0;
    for (std::size_t i = 0; i < line; ++i)
        sum += ImGui::GetTextLineHeight() + ui.px(7) + static_cast<float>(rows[i]) * cell;
    return sum;
}

GridPlaces placesOf(const Ui& ui, const AccessRecord& record, const std::vector<ArrayGrid>& grids,
                    float width, float cell) {
    const auto matrix = [&](const ArrayGrid& grid) { return grid.rows > 1 && !record.array(grid.id).shared; };
    GridPlaces places;
    float x = 0;
    for (const ArrayGrid& grid : grids) {
        const float needed = std::max(static_cast<float>(grid.columns) * cell, textWidth(grid.title));
        const bool below = x > 0 && !matrix(grid) && matrix(*(&grid - 1));
        if (places.rows.empty() || below || x + needed > width) {
            places.rows.push_back(0);
            x = 0;
        }
        places.corners.emplace_back(x, places.rows.size() - 1);
        places.rows.back() = std::max(places.rows.back(), grid.rows);
        places.fit = places.fit && needed <= width;
        x += needed + ui.px(10);
    }
    return places;
}

CellSize cellsFor(const Ui& ui, const AccessRecord& record, const std::vector<ArrayGrid>& grids,
                  ImVec2 room) {
    const float least = std::max(3.0f, ui.px(2));
    CellSize best{least, least};
    for (float x = ui.px(24); x >= least; x -= 0.25f) {
        const GridPlaces places = placesOf(ui, record, grids, room.x, x);
        if (!places.fit) continue;
        const float rows = places.height(ui, 1) - places.height(ui, 0);
        const float y = std::min((room.y - places.height(ui, 0)) / rows, x * mostStretch);
        if (y >= std::max(least, x / mostStretch) && x * y > best.x * best.y) best = {x, y};
    }
    return best;
}

} // namespace lockstep::demos
