#include "demos/exhibits/parallelism/experiment_cards.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "demos/draw/tile_columns.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

struct GroupWords {
    std::string_view title, about;
};

constexpr GroupWords groupWords[] = {{"Work", "Who does it, in which order, and what they do to each other"},
                                     {"Memory", "Where the numbers lie, and how they get to the arithmetic"},
                                     {"Launch", "How work and data get to the GPU, and when it starts"}};

/// The same for all cards, so that they stand in rows and columns.
struct CardLayout {
    TileColumns columns;
    float pad = 0, picture = 0;
    float question = 0; ///< height of the longest
    float letters = 0;  ///< height of a title's line

    float inside() const { return columns.width - 2 * pad; }
    float height() const { return picture + 2 * letters + question + 2.4f * pad; }
};

std::vector<std::string_view> questionLines(const Ui& ui, const Experiment& experiment, float width) {
    const SmallLetters small(ui);
    return linesAtBlanks(translated(experiment.question), width, lettersWidth);
}

CardLayout layOut(const Ui& ui, std::size_t group) {
    constexpr float least = 240; // units: five words of a question beside each other
    constexpr std::size_t most = 5;
    CardLayout layout{.columns = {ui, least, most}, .pad = ui.px(12), .letters = ImGui::GetTextLineHeight()};
    // Rows as full as each other: six cards are 3 and 3.
    const auto cards =
        static_cast<std::size_t>(std::ranges::count_if(experiments(), [&](const Experiment* each) {
            return static_cast<std::size_t>(each->group) == group;
        }));
    const std::size_t columns = layout.columns.count;
    const std::size_t rows = (std::max<std::size_t>(cards, 1) + columns - 1) / columns;
    if (rows > 1) layout.columns.share((cards + rows - 1) / rows);
    layout.picture = std::min(layout.inside() * LabScene::height / LabScene::width, ui.px(104));
    std::size_t lines = 0;
    for (const Experiment* each : experiments())
        lines = std::max(lines, questionLines(ui, *each, layout.inside()).size());
    const SmallLetters small(ui);
    layout.question = static_cast<float>(lines) * ImGui::GetTextLineHeight();
    return layout;
}

/// What is known of the experiment by now; empty: nothing.
std::string standText(const Ui& ui, const ParallelismModel& model, const Experiment& experiment) {
    if (model.measuring(experiment)) return std::string(translated("Measuring..."));
    const LabResult& result = model.resultOf(experiment);
    if (!result.measured()) return {};
    const std::string figure = ui.masked ? "-" : verdictOf(experiment, result).figure;
    if (figure.empty()) return std::string(translated("Measured: undecided here"));
    return result.gpu.software ? translatedFormat("{} (software, not a GPU)", figure) : figure;
}

bool drawCard(Ui& ui, const ParallelismModel& model, const Experiment& experiment, const CardLayout& layout,
              double seconds) {
    const std::string name = "experiment/" + std::string(experiment.name);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 end{at.x + layout.columns.width, at.y + layout.height()};
    const bool pressed = ui.tile(name.c_str(), experiment.idea, {layout.columns.width, layout.height()});
    if (ui.hidden(name.c_str()) || !ImGui::IsRectVisible(at, end)) return pressed;
    const bool pointed = ImGui::IsItemHovered();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(at, end, pointed ? ui.theme.hovered : ui.theme.raised, ui.px(6));
    if (pointed) draw.AddRect(at, end, ui.theme.accent, ui.px(6), 0, ui.line());
    const float left = at.x + layout.pad;
    float y = at.y + layout.pad;
    drawLabScene(ui, experiment.scene(), {{left, y}, {end.x - layout.pad, y + layout.picture}}, seconds);
    y += layout.picture + 0.4f * layout.pad;
    ImGui::PushFont(ui.fonts.strong);
    drawText(draw, {left, y}, ui.theme.text, fittedText(experiment.title, layout.inside()));
    ImGui::PopFont();
    y += layout.letters + ui.px(2);
    const SmallLetters small(ui);
    for (const std::string_view line : questionLines(ui, experiment, layout.inside())) {
        draw.AddText({left, y}, ui.theme.muted, line.data(), line.data() + line.size());
        y += ImGui::GetTextLineHeight();
    }
    const std::string stand = standText(ui, model, experiment);
    const float last = end.y - 0.7f * layout.pad - ImGui::GetTextLineHeight();
    drawText(draw, {left, last}, legible(ui.theme, ui.theme.good), fittedText(stand, layout.inside()));
    return pressed;
}

} // namespace

const Experiment* drawExperimentCards(Ui& ui, const ParallelismModel& model, double seconds) {
    ui.headline("What makes a GPU fast, and what slows it down?");
    ui.paragraph("Choose an experiment, predict its answer, then measure it on this machine.",
                 ui.theme.muted);
    const Experiment* pressed = nullptr;
    for (std::size_t group = 0; group < std::size(groupWords); ++group) {
        const CardLayout layout = layOut(ui, group);
        ImGui::Dummy({0, ui.px(2)});
        ui.heading(groupWords[group].title);
        if (layout.columns.count > 1) {
            ImGui::SameLine(0, ui.px(10));
            ui.muted(groupWords[group].about);
        }
        const ImVec2 start = ImGui::GetCursorScreenPos();
        std::size_t place = 0;
        for (const Experiment* each : experiments()) {
            if (static_cast<std::size_t>(each->group) != group) continue;
            const auto row = static_cast<float>(place / layout.columns.count);
            ImGui::SetCursorScreenPos({layout.columns.at(place % layout.columns.count),
                                       start.y + row * (layout.height() + layout.columns.gap)});
            if (drawCard(ui, model, *each, layout, seconds)) pressed = each;
            ++place;
        }
    }
    return pressed;
}

} // namespace lockstep::demos
