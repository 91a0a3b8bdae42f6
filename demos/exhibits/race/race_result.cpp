#include "demos/exhibits/race/race_result.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/draw/icons.h"
#include "demos/exhibits/race/race_lanes.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// What the headline compares of a lane: seconds, or samples per second.
double comparedOf(const RaceRun& run, const LaneFigures& lane) {
    return run.bySeconds() ? lane.seconds : lane.rate;
}

/// Indices of the lanes whose numbers count, the fastest first: by the headline's measure.
std::vector<std::size_t> ranking(const RaceRun& run, const std::vector<LaneFigures>& figures) {
    std::vector<std::size_t> lanes;
    if (run.stepped) return lanes;
    for (std::size_t i = 0; i < run.lanes.size(); ++i)
        if (run.lanes[i].counts()) lanes.push_back(i);
    std::ranges::stable_sort(lanes, [&](std::size_t a, std::size_t b) {
        const double first = comparedOf(run, figures[a]), second = comparedOf(run, figures[b]);
        return run.bySeconds() ? first < second : first > second;
    });
    return lanes;
}

/// Under "lockstep-race-20250131-140509.json", unless a person chooses another name. What is written is the
/// text as it is now: the race may have gone on to another when the file is chosen.
void save(Ui& ui, const char* ending, std::string text) {
    ui.saveWish =
        SaveWish{fmt::format("lockstep-race-{:%Y%m%d-%H%M%S}.{}", fmt::localtime(std::time(nullptr)), ending),
                 [&ui, text = std::move(text)](const std::filesystem::path& file) {
                     writeResult(file.string(), text);
                     ui.say(Severity::info, translatedFormat("Saved {}", file.string()));
                 }};
}

/// In English, whatever the window speaks: programs read it.
std::string jsonOf(const RaceRun& run) {
    const EnglishHere english;
    return raceJson(run.job, run.finish, run.settings.together, run.repeated, run.headline, run.load)
               .dump(1) +
           "\n";
}

void drawSaveButtons(Ui& ui, const RaceRun& run) {
    if (ui.button("Save JSON", "Writes the results with all settings to a JSON file. Asks for the folder."))
        save(ui, "json", jsonOf(run));
    ImGui::SameLine();
    if (ui.button("Save CSV", "Writes one row of results per lane to a CSV file. Asks for the folder."))
        save(ui, "csv", raceCsv(run.lanes));
    ImGui::SameLine();
    if (ui.button("Save PNG", "Saves a picture of the window. Asks for the folder."))
        ui.pictureWish = PictureWish{};
}

// A bar per lane, the fastest first, from zero on: as long as the number beside it is large.
void drawBars(Ui& ui, const RaceRun& run, std::span<const LaneSpec> specs) {
    const std::vector<LaneFigures> figures = run.figures();
    std::vector<std::size_t> ranked = ranking(run, figures);
    if (ui.masked) std::ranges::sort(ranked); // who was faster differs from run to run
    if (ranked.size() < 2) return;
    const bool bySeconds = run.bySeconds();
    const auto valueOf = [&](std::size_t lane) { return comparedOf(run, figures[lane]); };
    double longest = 0;
    for (const std::size_t lane : ranked) longest = std::max(longest, valueOf(lane));
    const float line = ImGui::GetTextLineHeight();
    const float height = line + ui.px(10);
    const float spacing = ImGui::GetStyle().ItemSpacing.y;
    const float bars = (height + spacing) * static_cast<float>(ranked.size());
    if (ImGui::GetContentRegionAvail().y >= line + bars || ranked.size() > 2) // else the bars alone
        ui.muted(bySeconds ? "Training time until the finish line. Shorter is faster."
                           : "Samples per second. Longer is faster.");
    const float names = ui.px(120);
    const float values = ui.px(74);
    const float width = ImGui::GetContentRegionAvail().x;
    const float whole = std::max(width - names - values, 1.0f);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (const std::size_t lane : ranked) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const ImU32 colour = laneColour(ui, specs, lane);
        const float text = at.y + (height - line) / 2;
        const float left = at.x + names;
        drawMark(ui, specs, lane, {at.x + line / 2, at.y + height / 2}, ui.px(13));
        drawText(draw, {at.x + line + ui.px(4), text}, ui.theme.text,
                 fittedText(specs[lane].text(), names - line - ui.px(8)));
        const float length = ui.masked ? 0 : whole * static_cast<float>(valueOf(lane) / longest);
        const float right = left + std::max(length, ui.line());
        draw.AddRectFilled({left, at.y}, {right, at.y + height}, colour);
        const std::string value = bySeconds ? duration(valueOf(lane)) : shortRate(valueOf(lane));
        draw.AddText(ui.fonts.strong, ImGui::GetFontSize(), {right + ui.px(8), text}, ui.theme.text,
                     ui.timing(value).c_str());
        ImGui::Dummy({width, height});
        ui.noteControl(fmt::format("bar of lane {}", lane + 1).c_str(), saysItself);
    }
}

using ResultRows = std::vector<std::vector<std::string>>; // a row per lane below the headings

float resultRowHeight(const Ui& ui) { return ImGui::GetTextLineHeight() + ui.px(8); }

ResultRows medianRows(const Ui& ui, const RaceRun& run) {
    constexpr std::size_t times = 1, timesEnd = 5; // columns that differ from run to run
    ResultRows rows = figureRows(run.figures());
    for (std::size_t row = 1; row < rows.size(); ++row)
        for (std::size_t cell = times; cell < timesEnd; ++cell) rows[row][cell] = ui.timing(rows[row][cell]);
    return rows;
}

ResultRows rangeRows(const Ui& ui, const RaceRun& run) {
    ResultRows rows = spreadRows(run.repeated);
    for (std::vector<std::string>& row : rows) {
        row.erase(row.begin()); // the lane
        if (&row != &rows.front())
            for (std::string& cell : row) cell = ui.timing(cell);
    }
    return rows;
}

// Figures flush right in columns of one width; columns that do not fit are in the saved files.
void drawTable(Ui& ui, const ResultRows& rows, std::span<const LaneSpec> specs) {
    const std::vector<std::string>& headings = rows.front();
    const float line = ImGui::GetTextLineHeight();
    const float row = resultRowHeight(ui);
    const float width = ImGui::GetContentRegionAvail().x;
    float first = 0, column = ui.px(84);
    for (const LaneSpec& spec : specs) first = std::max(first, textWidth(spec.text()));
    first = std::min(first + line + ui.px(12), ui.px(132));
    for (const std::vector<std::string>& cells : rows)
        for (const std::string& cell : cells) column = std::max(column, textWidth(cell) + ui.px(16));
    const auto columns =
        std::min(headings.size(), static_cast<std::size_t>(std::max(1.0f, (width - first) / column)));
    const float step = std::max(column, std::min((width - first) / static_cast<float>(columns), ui.px(120)));
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto flushRight = [&](const std::string& text, std::size_t index, float y, ImU32 colour) {
        const float right = start.x + first + step * static_cast<float>(index + 1);
        drawText(draw, {right - textWidth(text), y}, colour, text);
    };
    for (std::size_t i = 0; i < columns; ++i) flushRight(headings[i], i, start.y, ui.theme.muted);
    for (std::size_t lane = 0; lane < specs.size(); ++lane) {
        const float y = start.y + row * static_cast<float>(lane + 1);
        draw.AddLine({start.x, y - ui.px(4)},
                     {start.x + first + step * static_cast<float>(columns), y - ui.px(4)}, ui.theme.grid,
                     ui.line());
        drawMark(ui, specs, lane, {start.x + line / 2, y + line / 2}, ui.px(13));
        drawText(draw, {start.x + line + ui.px(4), y}, ui.theme.text,
                 fittedText(specs[lane].text(), first - line - ui.px(8)));
        for (std::size_t i = 0; i < columns; ++i) flushRight(rows[lane + 1][i], i, y, ui.theme.text);
    }
    ImGui::Dummy({width, row * static_cast<float>(specs.size() + 1)});
}

/// The two lanes that the headline compares, with all that belongs to their numbers; empty without a
/// comparison.
/// remarks   with what limits them
std::string evidenceText(const Ui& ui, const RaceRun& run, bool remarks) {
    if (!run.headline.valid) return {};
    std::string text = shownReason(run.headline);
    if (!remarks) return ui.timing(text);
    if (run.finished.size() == 1) text += translated(" One run; repeat it to see the spread.");
    if (run.byFrames && !ui.masked)
        text += translated(" A script drove this race frame by frame; at full speed, rates may be higher.");
    return ui.timing(text);
}

} // namespace

void drawResult(Ui& ui, const RaceRun& run) {
    if (!run.over) {
        ui.muted("The result appears here once all lanes have reached the finish line.");
        return;
    }
    const std::vector<LaneSpec> specs = run.specs();
    drawBars(ui, run, specs);
    const float spacing = ImGui::GetStyle().ItemSpacing.y;
    float room = ImGui::GetContentRegionAvail().y;
    const bool always = specs.size() > 2; // so many lanes are scrolled through
    const auto taken = [&](float height) {
        if (!always && height > room) return false;
        room -= height + spacing;
        return true;
    };
    const float tableHeight = resultRowHeight(ui) * static_cast<float>(specs.size() + 1);
    const float note = ImGui::GetTextLineHeightWithSpacing();
    const bool repeated = run.finished.size() > 1;
    const bool ranges = repeated && taken(note + tableHeight);
    const bool medians = taken(tableHeight);
    const bool buttons = taken(ImGui::GetFrameHeight());
    const bool warned = run.settings.together && taken(note);
    if (medians) drawTable(ui, medianRows(ui, run), specs);
    if (ranges) {
        ui.muted(translatedFormat("{} runs of each lane. {}", run.finished.size(),
                                  translated(medians ? "The table above shows medians." : "")));
        drawTable(ui, rangeRows(ui, run), specs);
    }
    if (warned)
        ui.muted("Head to head: the lanes ran at the same time and shared the machine. Use a time trial to "
                 "measure.");
    const float width = ImGui::GetContentRegionAvail().x;
    const auto fits = [&](const std::string& text) {
        return !text.empty() && taken(ImGui::CalcTextSize(text.c_str(), nullptr, false, width).y);
    };
    for (const std::string& evidence : {evidenceText(ui, run, true), evidenceText(ui, run, false)}) {
        if (!fits(evidence)) continue;
        ui.paragraph(evidence, ui.theme.muted);
        break;
    }
    if (const std::string why = whyText(ui, run); fits(why)) ui.paragraph(why);
    if (buttons) drawSaveButtons(ui, run);
}

} // namespace lockstep::demos
