#include "demos/exhibits/ladder/ladder_views.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "demos/exhibits/ladder/rung_result.h"
#include "demos/kit/operations.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr double momentsPerSecond = 5;

/// An array as it lies in memory: rows of neighbouring elements.
struct ArrayGrid {
    std::uint32_t id = 0;
    std::string title; // "inputs 32×16"
    std::size_t rows = 0;
    std::size_t columns = 0;   // in words
    std::size_t wordsEach = 1; // of an element: 4 where vec4s are read
};

/// Rows of a buffer, and words from one to the next, by its binding: shaders/dense/dense_*_naive.comp.
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

/// Columns of shared memory, which no binding states: [k][m] or [k][n], as in product_tiled.glsl.
std::size_t sharedColumns(const AccessRecord& record, std::size_t elements) {
    const std::size_t rows = std::max<std::size_t>(record.kernel.slabK, 1);
    return elements % rows == 0 ? elements / rows : elements;
}

/// Who touches a word, and how many times it was touched before.
struct Touch {
    int invocation = -1; // the last of them
    int invocations = 0;
    bool write = false;
    bool before = false;
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
        for (std::size_t at = 0; at < std::min(moment, events.size()); ++at)
            if (events[at].access() && events[at].array == grid.id)
                eachWord(events[at], [](Touch& touch) { touch.before = true; });
        if (moment >= events.size() || !events[moment].access() || events[moment].array != grid.id) continue;
        eachWord(events[moment], [&](Touch& touch) {
            touch.invocation = static_cast<int>(i);
            ++touch.invocations;
            touch.write = events[moment].write;
        });
    }
    return touches;
}

ImU32 colourOfInvocation(std::size_t invocation, std::size_t count) {
    // Both ends of the scale would be lost on dark and light grounds.
    const float share = count < 2 ? 0.5f : static_cast<float>(invocation) / static_cast<float>(count - 1);
    return viridis(0.15f + 0.75f * share);
}

ImU32 touchedBefore(const Theme& theme) { return mixed(theme.raised, theme.muted, 0.35f); }

/// The arrays of a record that are touched by it, those in memory first.
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
            grid.columns = sharedColumns(record, words);
            grid.rows = (words + grid.columns - 1) / grid.columns;
        }
        grid.title = array.shared ? array.name + ", shared"
                                  : fmt::format("{} {}×{}", array.name, grid.rows, grid.columns);
        grids.push_back(std::move(grid));
    }
    // Matrices first, then single rows and shared memory.
    std::ranges::stable_sort(grids, {}, [&](const ArrayGrid& grid) {
        return record.array(grid.id).shared ? 2 : grid.rows == 1 ? 1 : 0;
    });
    return grids;
}

void drawGrid(Ui& ui, const AccessRecord& record, const ArrayGrid& grid, std::size_t moment, ImVec2 at,
              float cell) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(at, ui.theme.muted, grid.title.c_str());
    at.y += ImGui::GetTextLineHeight() + ui.px(2);
    const ImVec2 end{at.x + static_cast<float>(grid.columns) * cell,
                     at.y + static_cast<float>(grid.rows) * cell};
    draw.AddRectFilled(at, end, ui.theme.raised);
    const std::vector<Touch> touches = touchesOf(record, grid, moment);
    for (std::size_t word = 0; word < touches.size(); ++word) {
        const Touch& touch = touches[word];
        if (touch.invocations == 0 && !touch.before) continue;
        const ImVec2 low{at.x + static_cast<float>(word % grid.columns) * cell,
                         at.y + static_cast<float>(word / grid.columns) * cell};
        const ImVec2 high{low.x + cell - (cell > 4 ? 1 : 0), low.y + cell - (cell > 4 ? 1 : 0)};
        if (touch.invocations == 0) {
            draw.AddRectFilled(low, high, touchedBefore(ui.theme));
            continue;
        }
        const ImU32 colour =
            colourOfInvocation(static_cast<std::size_t>(touch.invocation), record.invocations.size());
        draw.AddRectFilled(low, high, touch.invocations > 1 ? ui.theme.text : colour);
        if (touch.write && touch.invocations == 1 && cell > 4) // a second cue: a hole in what is written
            draw.AddRectFilled({low.x + cell * 0.3f, low.y + cell * 0.3f},
                               {high.x - cell * 0.3f, high.y - cell * 0.3f}, ui.theme.background);
    }
    draw.AddRect({at.x - 1, at.y - 1}, {end.x + 1, end.y + 1}, ui.theme.border);
}

// Side by side, in rows where that is needed; cells as large as the room allows.
void drawGrids(Ui& ui, const AccessRecord& record, std::size_t moment, float height) {
    const std::vector<ArrayGrid> grids = gridsOf(record);
    const float width = ImGui::GetContentRegionAvail().x;
    const float title = ImGui::GetTextLineHeight() + ui.px(2);
    const float gap = ui.px(10);
    const auto sizeOf = [&](const ArrayGrid& grid, float cell) {
        return ImVec2{
            std::max(static_cast<float>(grid.columns) * cell, ImGui::CalcTextSize(grid.title.c_str()).x),
            static_cast<float>(grid.rows) * cell + title};
    };
    std::vector<ImVec2> corners;
    const auto place = [&](float cell) { // returns the height that they need
        corners.clear();
        ImVec2 at{0, 0};
        float row = 0;
        for (const ArrayGrid& grid : grids) {
            const ImVec2 size = sizeOf(grid, cell);
            if (at.x > 0 && at.x + size.x > width) {
                at = {0, at.y + row + gap / 2};
                row = 0;
            }
            corners.push_back(at);
            row = std::max(row, size.y);
            at.x += size.x + gap;
            if (at.x - gap > width) return height + 1; // a single one is too wide
        }
        return at.y + row;
    };
    float cell = std::floor(ui.px(14));
    // Never smaller than can be told apart: what does not fit is scrolled to.
    const float least = std::max(3.0f, ui.px(2));
    while (cell > least && place(cell) > height) cell -= 1;
    const float used = place(cell);
    corners.resize(grids.size());
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    for (std::size_t i = 0; i < grids.size(); ++i)
        drawGrid(ui, record, grids[i], moment, {origin.x + corners[i].x, origin.y + corners[i].y}, cell);
    ImGui::Dummy({width, used});
}

void drawAccessLegend(Ui& ui, std::size_t invocations) {
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight();
    const auto entry = [&](float width, auto fill, const char* label) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        fill(ImVec2{at.x, at.y + line * 0.15f}, ImVec2{at.x + width, at.y + line * 0.85f});
        ImGui::Dummy({width, line});
        ImGui::SameLine(0, ui.px(5));
        ui.muted(label);
        ImGui::SameLine(0, ui.px(12));
    };
    entry(
        ui.px(48),
        [&](ImVec2 low, ImVec2 high) {
            constexpr int pieces = 16;
            const float width = (high.x - low.x) / pieces;
            for (int i = 0; i < pieces; ++i)
                draw.AddRectFilled({low.x + static_cast<float>(i) * width, low.y},
                                   {low.x + static_cast<float>(i + 1) * width, high.y},
                                   colourOfInvocation(static_cast<std::size_t>(i), pieces));
        },
        fmt::format("invocation 0 to {}", invocations - 1).c_str());
    const auto filled = [&](ImU32 colour, const char* label) {
        entry(
            line * 0.7f, [&](ImVec2 low, ImVec2 high) { draw.AddRectFilled(low, high, colour); }, label);
    };
    filled(ui.theme.text, "several");
    filled(touchedBefore(ui.theme), "earlier");
    ImGui::NewLine();
}

void drawAccessPlayer(Ui& ui, AccessView& view) {
    const auto stepTo = [&](const char* label, bool any, std::size_t moment) {
        if (!ui.button(label, any)) return;
        view.playing = false;
        view.moment = moment;
    };
    stepTo("Back##ladder", view.moment > 0, view.moment - 1);
    ImGui::SameLine();
    stepTo("Next##ladder", view.moment < view.last, view.moment + 1);
    ImGui::SameLine();
    if (ui.toggle("Play##ladder", view.playing)) {
        view.playing = !view.playing;
        view.played = 0;
        if (view.moment == view.last) view.moment = 0;
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(std::max(ui.px(60), ImGui::GetContentRegionAvail().x));
    const auto count = static_cast<float>(view.last + 1);
    auto at = static_cast<float>(view.moment + 1);
    const std::string format = fmt::format("access %.0f of {}", view.last + 1);
    if (ui.slider("##ladder/moment", at, 1, count, format.c_str())) {
        view.playing = false;
        view.moment = static_cast<std::size_t>(std::clamp(std::round(at), 1.0f, count)) - 1;
    }
}

} // namespace

void AccessView::update(double seconds) {
    if (!playing) return;
    played += seconds * momentsPerSecond;
    while (played >= 1) {
        played -= 1;
        moment = moment < last ? moment + 1 : 0;
    }
}

namespace {

// What a kernel asks of memory, in large letters.
void drawReads(Ui& ui, const AccessRecord& record) {
    const RecordReads reads = readsPerOutput(record);
    ui.text(threeDigits(reads.memory), 0, ui.fonts.headline);
    ImGui::SameLine(0, ui.px(10));
    ImGui::BeginGroup();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ui.paragraph("words read from memory");
    const std::string shared = fmt::format(", and {} from shared memory", threeDigits(reads.shared));
    ui.paragraph("per output" + (reads.shared > 0 ? shared : ""), ui.theme.muted);
    ImGui::PopStyleVar();
    ImGui::EndGroup();
}

// One kernel: what it reads, the arrays, and what happens at the moment, so that the arrays stay where they
// are while the words change. Where it is low, words and arrays stand side by side.
void drawKernel(Ui& ui, const RungRow& rung, const RungPicture* picture, std::size_t moment, bool picked) {
    const ImVec2 whole = ImGui::GetContentRegionAvail();
    const bool beside = whole.x > 2 * whole.y;
    if (beside) ImGui::BeginChild("words", {whole.x * 0.36f, 0}, false, ImGuiWindowFlags_NoScrollbar);
    ui.text(rung.lane, picked ? ui.theme.text : ui.theme.muted, ui.fonts.strong);
    const bool drawn = picture != nullptr && picture->reason.empty();
    if (picture == nullptr)
        ui.muted("The kernel is being recorded.");
    else if (!drawn)
        ui.paragraph(picture->reason, ui.theme.muted);
    else
        drawReads(ui, picture->record);
    const float words = 3 * ImGui::GetTextLineHeight() + ui.px(8);
    if (drawn && !beside)
        drawGrids(ui, picture->record, moment, std::max(ImGui::GetContentRegionAvail().y - words, ui.px(60)));
    if (drawn) ui.paragraph(momentText(picture->record, moment), ui.theme.muted);
    if (!beside) return;
    ImGui::EndChild();
    ImGui::SameLine(0, ui.px(16));
    if (drawn) drawGrids(ui, picture->record, moment, whole.y);
}

bool recorded(const RungRow& rung) { return rung.gpu() && rung.unrecorded.empty(); }

} // namespace

std::optional<std::size_t> rungBeside(const std::vector<RungRow>& rungs, std::size_t rung) {
    const RungRow& row = rungs[rung];
    if (!recorded(row)) return std::nullopt;
    for (std::size_t i = 0; i < rungs.size(); ++i)
        if (recorded(rungs[i]) && rungs[i].below == row.rung) return i;
    for (std::size_t i = 0; i < rungs.size(); ++i)
        if (recorded(rungs[i]) && row.below == rungs[i].rung) return i;
    return std::nullopt;
}

std::vector<std::size_t> AccessView::draw(Ui& ui, LadderModel& model, float height) {
    const float top = ImGui::GetCursorPosY();
    std::vector<std::string> names;
    for (const Product each : allProducts) names.emplace_back(rowOf(kindOf(name(each))).label);
    auto chosen = static_cast<std::size_t>(product);
    if (ui.segments("##ladder/product", chosen, names)) product = allProducts[chosen];
    const float width = ImGui::GetContentRegionAvail().x;
    std::vector<std::size_t> rungs{model.picked()};
    const bool roomForTwo = width >= ui.px(420) && height >= ui.px(300);
    if (const auto beside = rungBeside(model.rungs(), model.picked()); beside && roomForTwo)
        rungs.push_back(*beside);
    std::ranges::sort(rungs); // the lower one on the left
    std::vector<const RungPicture*> pictures;
    const std::string now = fmt::format("{} {}", model.rung().lane, names[chosen]);
    std::size_t most = 1;
    std::size_t invocations = 1;
    for (const std::size_t rung : rungs) {
        pictures.push_back(model.picture(rung, product));
        if (pictures.back() == nullptr) continue;
        most = std::max(most, moments(pictures.back()->record));
        invocations = std::max(invocations, pictures.back()->record.invocations.size());
    }
    if (now != shown && !kept) moment = 0;
    const auto taken = [](const RungPicture* picture) { return picture != nullptr; };
    if (std::ranges::all_of(pictures, taken)) { // before that, a loaded moment seems to lie beyond the end
        kept = false;
        last = most - 1;
        moment = std::min(moment, last);
    }
    shown = now;
    if (most > 1) {
        if (width >= ui.px(620)) ImGui::SameLine(0, ui.px(12));
        drawAccessPlayer(ui, *this);
    }

    const float legend = ImGui::GetTextLineHeightWithSpacing() + ui.px(4);
    const float room = std::max(height - (ImGui::GetCursorPosY() - top) - legend, ui.px(110));
    const float gap = ui.px(16);
    const auto columns = static_cast<float>(rungs.size());
    for (std::size_t i = 0; i < rungs.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, gap);
        const RungRow& rung = model.rungs()[rungs[i]];
        ImGui::BeginChild(rung.lane.data(), {(width - gap * (columns - 1)) / columns, room});
        drawKernel(ui, rung, pictures[i], moment, rungs[i] == model.picked());
        ImGui::EndChild();
    }
    if (invocations > 1) drawAccessLegend(ui, invocations);
    return rungs;
}

} // namespace lockstep::demos
