#include "demos/exhibits/race/race_views.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/report/race_report.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t places = 3;
constexpr float placeUnits[places] = {74, 54, 40}; // heights of the podium's steps

double speedOf(const RaceRun& run, std::size_t lane) {
    const LaneSnapshot& end = run.lanes[lane].end;
    if (!run.headline.bySeconds) return end.rate();
    return end.trainingSeconds > 0 ? 1 / end.trainingSeconds : 0;
}

std::string speedText(const RaceRun& run, std::size_t lane) {
    const LaneSnapshot& end = run.lanes[lane].end;
    return run.headline.bySeconds ? duration(end.trainingSeconds) : shortRate(end.rate()) + " samples/s";
}

/// Indices of the lanes whose numbers count, the fastest first: by the headline's measure.
std::vector<std::size_t> ranking(const RaceRun& run) {
    std::vector<std::size_t> lanes;
    if (run.stepped) return lanes;
    for (std::size_t i = 0; i < run.lanes.size(); ++i)
        if (run.lanes[i].counts()) lanes.push_back(i);
    std::ranges::stable_sort(lanes,
                             [&](std::size_t a, std::size_t b) { return speedOf(run, a) > speedOf(run, b); });
    return lanes;
}

/// "lockstep-race-20250131-140509.json", in the working folder.
std::filesystem::path resultFile(const char* ending) {
    return std::filesystem::absolute(
        fmt::format("lockstep-race-{:%Y%m%d-%H%M%S}.{}", fmt::localtime(std::time(nullptr)), ending));
}

void save(Ui& ui, const char* ending, const std::string& text) {
    const std::filesystem::path file = resultFile(ending);
    try {
        writeResult(file.string(), text);
        ui.say(Severity::info, "Saved " + file.string());
    } catch (const std::exception& error) {
        ui.say(Severity::error, error.what(),
               "The file is written to the folder where the program was started.");
    }
}

void drawSaveButtons(Ui& ui, const RaceRun& run) {
    if (ui.button("Save JSON"))
        save(ui, "json",
             raceJson(run.job, run.finish, run.settings.together, run.lanes, run.headline).dump(1) + "\n");
    ImGui::SameLine();
    if (ui.button("Save CSV")) save(ui, "csv", raceCsv(run.lanes));
    ImGui::SameLine();
    if (ui.button("Save PNG")) ui.pictureWish = PictureWish{resultFile("png").string(), {}};
}

// Second, first, third from left to right, as on any podium.
void drawPodium(Ui& ui, const RaceRun& run, std::span<const LaneSpec> specs) {
    constexpr std::size_t order[places] = {1, 0, 2};
    std::vector<std::size_t> ranked = ranking(run);
    if (ui.masked) std::ranges::sort(ranked); // who was faster differs from run to run
    const std::size_t shown = std::min(ranked.size(), places);
    if (shown < 2) return;
    const float line = ImGui::GetTextLineHeight();
    const float gap = ui.px(6);
    const float all = ImGui::GetContentRegionAvail().x;
    const float width = std::min((all - 2 * gap) / static_cast<float>(shown), ui.px(210));
    const float tallest = ui.px(placeUnits[0]) + 2 * line + ui.px(8);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    float x = start.x;
    for (const std::size_t place : order) {
        if (place >= shown) continue;
        const std::size_t lane = ranked[place];
        const ImU32 colour = laneColour(ui, specs, lane);
        const float top = start.y + tallest - ui.px(placeUnits[place]);
        draw.AddRectFilled({x, top}, {x + width, start.y + tallest}, mixed(ui.theme.panel, colour, 0.35f),
                           ui.px(4));
        draw.AddRectFilled({x, top}, {x + width, top + ui.px(4)}, colour, ui.px(4));
        const auto centred = [&](const std::string& text, float y, ImU32 tint, ImFont* font) {
            ImGui::PushFont(font);
            const std::string fits = fittedText(text, width - ui.px(8));
            const float left = x + (width - textWidth(fits)) / 2;
            draw.AddText({left, y}, tint, fits.c_str());
            ImGui::PopFont();
        };
        centred(specs[lane].text(), top - 2 * line - ui.px(4), ui.theme.text, ui.fonts.strong);
        centred(ui.timing(speedText(run, lane)), top - line - ui.px(3), ui.theme.muted, ui.fonts.body);
        centred(ui.masked ? "-" : std::to_string(place + 1), top + ui.px(8), ui.theme.text, ui.fonts.title);
        x += width + gap;
    }
    ImGui::Dummy({all, tallest});
}

std::vector<std::string> cellsOf(const Ui& ui, const LaneResult& lane) {
    const LaneSnapshot& end = lane.end;
    const Evaluation* test = lane.evaluation ? &*lane.evaluation : nullptr;
    return {grouped(end.runSteps),
            ui.timing(fixed(end.trainingSeconds, 3)),
            ui.timing(fixed(end.deviceSeconds, 3)),
            ui.timing(grouped(static_cast<std::uint64_t>(end.rate()))),
            ui.timing(threeDigits(lane.gflops)),
            lossText(test ? test->loss : LaneSnapshot::unknown),
            percent(test ? test->accuracy : LaneSnapshot::unknown)};
}

// Figures flush right in columns as wide as their headings; columns that do not fit are in the saved files.
void drawTable(Ui& ui, const RaceRun& run, std::span<const LaneSpec> specs) {
    static const std::vector<std::string> headings = {"steps",   "seconds",   "device s", "samples/s",
                                                      "GFLOP/s", "test loss", "accuracy"};
    const float line = ImGui::GetTextLineHeight();
    const float row = line + ui.px(8);
    const float width = ImGui::GetContentRegionAvail().x;
    const float first = ui.px(132);
    const float column = ui.px(84);
    const auto columns =
        std::min(headings.size(), static_cast<std::size_t>(std::max(1.0f, (width - first) / column)));
    const float step = std::min((width - first) / static_cast<float>(columns), ui.px(120));
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto flushRight = [&](const std::string& text, std::size_t index, float y, ImU32 colour) {
        const float right = start.x + first + step * static_cast<float>(index + 1);
        draw.AddText({right - textWidth(text), y}, colour, text.c_str());
    };
    for (std::size_t i = 0; i < columns; ++i) flushRight(headings[i], i, start.y, ui.theme.muted);
    for (std::size_t lane = 0; lane < specs.size(); ++lane) {
        const float y = start.y + row * static_cast<float>(lane + 1);
        draw.AddLine({start.x, y - ui.px(4)},
                     {start.x + first + step * static_cast<float>(columns), y - ui.px(4)}, ui.theme.grid,
                     ui.line());
        drawLaneMark(draw, specs[lane], {start.x + line / 2, y + line / 2}, ui.px(13),
                     laneColour(ui, specs, lane));
        draw.AddText({start.x + line + ui.px(4), y}, ui.theme.text,
                     fittedText(specs[lane].text(), first - line - ui.px(8)).c_str());
        const std::vector<std::string> cells = cellsOf(ui, run.lanes[lane]);
        for (std::size_t i = 0; i < columns; ++i) flushRight(cells[i], i, y, ui.theme.text);
    }
    ImGui::Dummy({width, row * static_cast<float>(specs.size() + 1)});
}

} // namespace

void drawResult(Ui& ui, const RaceRun* run) {
    if (run == nullptr || !run->over) {
        ui.muted("The podium appears once all lanes have reached the finish line. Then you can save the "
                 "results here.");
        return;
    }
    const std::vector<LaneSpec> specs = run->specs();
    drawPodium(ui, *run, specs);
    drawTable(ui, *run, specs);
    if (run->settings.together)
        ui.muted("Head to head: the lanes ran at the same time and shared the machine. Use a time trial to "
                 "measure.");
    if (const std::string why = whyTheProcessorWins(*run); !why.empty()) ui.paragraph(ui.timing(why));
    drawSaveButtons(ui, *run);
}

} // namespace lockstep::demos
