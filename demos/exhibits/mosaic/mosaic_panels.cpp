// The mosaic's panels beside its tiles: the settings, the spread of the losses over time, and one network by
// itself.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/kit/run_form.h"
#include "demos/options/parse.h"
#include "demos/words/typed_number.h"
#include "engine/data/points_2d.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t sizes[] = {8, 12, 16, 32, 64};
constexpr std::size_t mostBatch = 256; // of every network: thousands share the device's memory
constexpr Hyperparameter hyperparameterChoices[] = {
    Hyperparameter::learningRate, Hyperparameter::initialScale, Hyperparameter::momentum,
    Hyperparameter::weightDecay,  Hyperparameter::noise,        Hyperparameter::seed,
    Hyperparameter::activation};
constexpr PopulationLayout layouts[] = {PopulationLayout::best, PopulationLayout::invocation,
                                        PopulationLayout::subgroup, PopulationLayout::workgroup};

/// "0.0001:1:log" of "lr=0.0001:1:log".
std::string rangeText(const PopulationAxis& axis) {
    const std::string text = axis.text();
    return text.substr(text.find('=') + 1);
}

/// The same with the decimal sign of the language; the names of activations have no points.
std::string shownRange(const PopulationAxis& axis) { return withDecimalSign(rangeText(axis)); }

/// The numbers between the colons with decimal points. The names of activations are a list with commas.
std::string typedRange(Hyperparameter parameter, const std::string& typed) {
    if (parameter == Hyperparameter::activation) return typed;
    std::string range;
    for (std::size_t from = 0; from != std::string::npos;) {
        const std::size_t colon = typed.find(':', from);
        const std::string_view part = std::string_view(typed).substr(from, colon - from);
        range += (from > 0 ? ":" : "") + withDecimalPoint(trimmed(part));
        from = colon == std::string::npos ? colon : colon + 1;
    }
    return range;
}

/// `other` is the other axis, which gets what this one had when it takes the other's hyperparameter.
void axisField(Ui& ui, RunForm& form, const char* axisName, std::string_view words, PopulationAxis& axis,
               PopulationAxis& other) {
    form.add(axisName, axisName, 94, [&](const char* control) {
        Hyperparameter parameter = axis.parameter;
        if (!chooseName(ui, control, words, parameter, hyperparameterChoices)) return false;
        if (parameter == other.parameter)
            std::swap(axis, other);
        else
            axis = usualAxis(parameter);
        return true;
    });
}

void rangeField(RunForm& form, const std::string& axisName, std::string_view words, PopulationAxis& axis) {
    form.text(axisName + " range", translatedFormat("{} from : to", axisName).c_str(), words, 108,
              shownRange(axis), [&](const std::string& typed) {
                  axis = populationAxisFromText(
                      fmt::format("{}={}", name(axis.parameter), typedRange(axis.parameter, typed)));
              });
}

/// What all networks share; a hyperparameter that lies along an axis is not among it.
void furtherFields(Ui& ui, RunForm& form, MosaicSettings& settings) {
    PopulationSpec& spec = settings.population;
    rangeField(form, "x", "Range of the horizontal axis, from : to. Add :log for equal factors.", spec.x);
    rangeField(form, "y", "Range of the vertical axis, from : to. Add :log for equal factors.", spec.y);
    const auto shared = [&](Hyperparameter parameter) { return spec.axisOf(parameter) == nullptr; };
    if (shared(Hyperparameter::noise)) form.noise(spec.dataOptions.noise);
    form.hidden(spec.hidden);
    if (shared(Hyperparameter::activation)) form.activation(spec.activation);
    form.optimizer(spec.train.optimizer);
    if (shared(Hyperparameter::learningRate)) form.rate(spec.train.optimizer);
    form.batch(spec.train.batch, mostBatch);
    form.text("steps", "Steps", "Training steps of every network.", 72, std::to_string(spec.steps),
              [&](const std::string& typed) { spec.steps = wholeNumberFromText(typed, "steps are"); });
    form.choice("layout", "GPU layout",
                "What trains one network on the GPU: an invocation, a subgroup or a workgroup. \"best\" "
                "measures which is fastest.",
                104, settings.layout, layouts);
    form.add("cpu", "CPU", 36, [&](const char* control) {
        return ui.checkbox(control, "Trains the same networks on the CPU too.", settings.cpu);
    });
}

void drawSort(const MosaicPanel& panel, const char* control) {
    if (panel.ui.toggle(control, "Orders the networks by loss, the lowest first.", panel.view.sorted))
        panel.view.sorted = !panel.view.sorted;
    panel.ui.explainItem({.title = "Sort", .text = "Orders the tiles by loss: the best first, row by row."});
}

/// Where fewer have begun than there are ranks to choose, the last of them.
std::size_t shownRank(const MosaicPanel& panel, const MosaicSide& side) {
    return std::min(panel.view.rank, side.shot->summary.begun - 1);
}

/// As many of them as there are lines above `end`.
void drawNumbers(const MosaicPanel& panel, ImVec2 corner, float end, std::size_t member,
                 const MemberResult& result) {
    const Ui& ui = panel.ui;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    for (const auto& [name, value] : memberValues(panel.spec, member, result)) {
        if (corner.y + ImGui::GetTextLineHeight() > end) return;
        const float left = right - textWidth(value);
        draw.AddText(corner, ui.theme.muted, fittedText(name, left - corner.x - ui.px(6)).c_str());
        drawText(draw, {left, corner.y}, ui.theme.text, value);
        corner.y += ImGui::GetTextLineHeight() + ui.px(3);
    }
}

std::string titleOf(const MosaicPanel& panel, const MemberResult* shown) {
    if (shown == nullptr) return "Best network";
    const std::size_t rank = shownRank(panel, *shownSide(panel));
    return rank == 0 && std::isfinite(shown->loss) ? "Best network" : translatedFormat("Rank {}", rank + 1);
}

/// What is shown, and of which side.
void drawNetworkTitle(const MosaicPanel& panel, const MemberResult* shown) {
    Ui& ui = panel.ui;
    const std::string title = titleOf(panel, shown);
    if (panel.sides.size() < MosaicView::mostSides) {
        ui.heading(title);
        return;
    }
    const std::string names[] = {"GPU", "CPU"};
    float width = ui.px(2);
    for (const std::string& name : names) width += textWidth(name) + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::AlignTextToFramePadding();
    const float space = ImGui::GetContentRegionAvail().x - width - ui.px(8);
    ui.heading(textWidth(title) <= space ? title
                                         : fittedText(title == "Best network" ? "Best" : title, space));
    ImGui::SameLine();
    ImGui::SetCursorPosX(ImGui::GetWindowContentRegionMax().x - width);
    ui.segments("##mosaic/side", "Whose results are shown: the GPU's or the CPU's.", panel.view.side, names);
}

/// What the mosaics are of, and where their settings vary; then the same in fewer words, because the axes
/// have names. While both fill: what tells them apart.
std::vector<std::string> gridTexts(const MosaicPanel& panel) {
    if (panel.model.running() && panel.sides.size() == MosaicView::mostSides)
        return {std::string(
                    translated("GPU: all networks advance together. CPU: one group after another finishes.")),
                std::string(translated("GPU: all together. CPU: group after group."))};
    const PopulationSpec& spec = panel.spec;
    const std::string_view data = translated(spec.data);
    if (panel.view.sorted)
        return {translatedFormat("{} x {} networks; {}; sorted by loss, best first", spec.columns, spec.rows,
                                 data),
                std::string(translated("sorted by loss, best first"))};
    return {translatedFormat("{} x {} networks; {}; {} to the right, {} upwards", spec.columns, spec.rows,
                             data, translated(hyperparameterLabel(spec.x.parameter)),
                             translated(hyperparameterLabel(spec.y.parameter))),
            translatedFormat("{} x {} networks; {}", spec.columns, spec.rows, data)};
}

constexpr const char* openName = "Open in Playground##mosaic";

float openWidth() { return textWidth(shownLabel(openName)) + 2 * ImGui::GetStyle().FramePadding.x; }

/// Whether the slider and the button stand side by side in such a width.
bool choiceInOneRow(const Ui& ui, float width) { return width >= openWidth() + ui.px(88); }

/// Which network is shown, by its rank, and the way to the playground.
void drawChoice(const MosaicPanel& panel, std::size_t side, std::optional<std::size_t> member) {
    Ui& ui = panel.ui;
    const auto members = static_cast<int>(panel.model.members());
    const float gap = ui.px(8);
    const float room = ImGui::GetContentRegionAvail().x;
    const bool oneRow = choiceInOneRow(ui, room);
    const float button = openWidth();
    const float left = ImGui::GetCursorPosX();
    ImGui::SetNextItemWidth(oneRow ? room - button - gap : room);
    int rank = static_cast<int>(panel.view.rank) + 1;
    if (ui.intSlider("##mosaic/rank", "The network shown, by its rank: 1 has the lowest loss.", rank, 1,
                     members, "rank %d"))
        panel.view.rank = static_cast<std::size_t>(std::clamp(rank, 1, members)) - 1;
    ui.explainItem({.title = "Rank", .text = "Selects a network by its loss: 1 is the best."});
    if (oneRow)
        ImGui::SameLine(0, gap);
    else
        ImGui::SetCursorPosX(left);
    if (ui.button(openName, "Opens this network, with its weights, in the playground.", member.has_value()))
        panel.model.open(side, *member);
    if (member)
        ui.explainItem(
            {.title = "Open in Playground", .text = openingText(panel.sides[side].shot->results[*member])});
}

} // namespace

void drawMosaicBar(const MosaicPanel& panel) {
    Ui& ui = panel.ui;
    drawSort(panel, "Sort##mosaic");
    ImGui::SameLine();
    if (ui.toggle("Settings##mosaic", settingsWords, panel.view.settingsShown))
        panel.view.settingsShown = !panel.view.settingsShown;
    ImGui::SameLine(0, ui.px(12));
    ImGui::AlignTextToFramePadding();
    // Behind it the signs of both mosaics, or below it where there is no room for them.
    const float room = ImGui::GetContentRegionAvail().x;
    const float legend = mosaicLegendWidth(panel) + ui.px(24);
    const std::vector<std::string> texts = gridTexts(panel);
    const auto fitting = [&](float width) {
        return std::ranges::find_if(texts, [&](const std::string& text) { return textWidth(text) <= width; });
    };
    const bool beside = fitting(room - legend) != texts.end();
    const auto text = fitting(beside ? room - legend : room);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ui.muted(text != texts.end() ? *text : fittedText(texts.back(), room));
    if (beside)
        drawMosaicLegend(panel, {at.x + room, at.y + ImGui::GetStyle().FramePadding.y});
    else
        drawMosaicLegendRow(panel);
}

MosaicSettings drawMosaicSettings(const MosaicPanel& panel, bool everything) {
    Ui& ui = panel.ui;
    MosaicSettings settings = panel.model.settings();
    PopulationSpec& spec = settings.population;
    RunForm form(ui, "mosaic/");
    form.add("size", "Networks", 90, [&](const char* control) {
        std::vector<std::string> names;
        for (const std::size_t size : sizes) names.push_back(fmt::format("{0} x {0}", size));
        std::string chosen = fmt::format("{} x {}", spec.columns, spec.rows);
        if (!chooseText(ui, control, "How many networks the grid has; each has hyperparameters of its own.",
                        chosen, names))
            return false;
        spec.columns = spec.rows = std::stoul(chosen);
        return true;
    });
    const bool narrow = !everything && ImGui::GetContentRegionAvail().x < ui.px(600);
    const auto data = [&](RunForm& into) {
        into.data(spec.data, {points2dNames.begin(), points2dNames.end()});
    };
    if (!narrow) data(form);
    axisField(ui, form, "x", "The hyperparameter that varies from left to right.", spec.x, spec.y);
    axisField(ui, form, "y", "The hyperparameter that grows upwards.", spec.y, spec.x);
    if (everything)
        form.field("Sort##mosaic", "Order", 60, [&](const char* control) { drawSort(panel, control); });
    if (everything)
        furtherFields(ui, form, settings);
    else
        form.popup("More##mosaic",
                   "Opens all other settings: ranges of the axes, layers, optimizer, batch and steps.", [&] {
                       RunForm further(ui, "mosaic/");
                       if (narrow) data(further);
                       furtherFields(ui, further, settings);
                       further.end();
                   });
    form.end();
    return settings;
}

std::size_t shownIndex(const MosaicPanel& panel) {
    return std::min(panel.view.side, std::max<std::size_t>(panel.sides.size(), 1) - 1);
}

const MosaicSide* shownSide(const MosaicPanel& panel) {
    return panel.sides.empty() ? nullptr : &panel.sides[shownIndex(panel)];
}

std::optional<std::size_t> shownMember(const MosaicPanel& panel) {
    const MosaicSide* side = shownSide(panel);
    if (side == nullptr || !side->shot || side->shot->summary.begun == 0) return std::nullopt;
    return side->shot->summary.ranking[shownRank(panel, *side)];
}

void drawLossSpread(const MosaicPanel& panel, Plot& plot, ImVec2 size) {
    Ui& ui = panel.ui;
    ui.beginCard("mosaic/spread", size);
    const MosaicSide* side = shownSide(panel);
    const LossSpread none;
    const LossSpread& spread = side == nullptr ? none : side->spread;
    const ImU32 colour = side == nullptr ? ui.theme.muted : ui.colour(side->spec);
    // shares: 0, 5, 25, 50, 75, 95, 100 percent
    const PlotLine lines[] = {
        {.name = "median", .colour = ui.theme.text, .x = spread.steps, .y = spread.losses[3]},
        {.name = "best", .colour = colour, .dashed = true, .x = spread.steps, .y = spread.losses[0]},
        {.name = "p95", .colour = faded(colour, 0.7f), .x = spread.steps, .y = spread.losses[5]},
    };
    const PlotBand bands[] = {
        {faded(colour, 0.14f), spread.steps, spread.losses[0], spread.losses[6]},
        {faded(colour, 0.16f), spread.steps, spread.losses[1], spread.losses[5]},
        {faded(colour, 0.22f), spread.steps, spread.losses[2], spread.losses[4]},
    };
    plot.draw(ui, "mosaic losses",
              "How the networks' losses are spread. p95: of 100 networks, 95 have a lower loss.", lines,
              {.x = {.title = "step", .unit = "", .whole = true},
               .y = {.title = "loss", .unit = "", .log = true},
               .empty = "Press Run. Lines: best, median. Bands: 50, 90 and 100 % of the networks",
               .bands = bands,
               .legend = false});
    ui.endCard();
}

void drawNetworkCard(const MosaicPanel& panel, ImVec2 size) {
    Ui& ui = panel.ui;
    MosaicView& view = panel.view;
    ui.beginCard("mosaic/network", size);
    const std::optional<std::size_t> member = shownMember(panel);
    const std::size_t index = shownIndex(panel);
    const MemberResult* const shown = member ? &panel.sides[index].shot->results[*member] : nullptr;
    drawNetworkTitle(panel, shown);
    // The plane as large as it can be; numbers and controls beside it, or below it in a column.
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float gap = ui.px(12);
    const auto controlsIn = [&](float width) {
        const float rows = choiceInOneRow(ui, width) ? 1 : 2;
        return rows * ImGui::GetFrameHeight() + (rows - 1) * ImGui::GetStyle().ItemSpacing.y;
    };
    const float numbers = 4 * (ImGui::GetTextLineHeight() + ui.px(3));
    const float leastWords = ui.px(150); // beside the plane
    const float above = std::min(room.x, room.y - controlsIn(room.x) - numbers - 2 * gap);
    const float beside = std::min(room.x - leastWords - gap, room.y);
    const bool column = above > beside;
    const float tile = std::max(ui.px(40), std::max(above, beside));
    const float controls = controlsIn(column ? room.x : room.x - tile - gap);
    const ImVec2 end{start.x + tile, start.y + tile};
    const float left = column ? start.x : end.x + gap;
    const float below = start.y + room.y - controls;
    view.cardCorner = start;
    view.cardTile = tile;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (member && panel.pictures.has(index)) {
        drawPlane(panel, draw, {index, *member}, start, {tile, tile});
        drawNumbers(panel, {left, column ? end.y + gap : start.y}, below, *member, *shown);
    } else if (!member) {
        const float width = tile - 2 * gap;
        for (const char* all :
             {"The best network appears here once it has been trained.", "not trained yet"}) {
            const std::string words(translated(all));
            const float height = ImGui::CalcTextSize(words.c_str(), nullptr, false, width).y;
            if (height > tile - gap) continue;
            draw.AddText(nullptr, 0, {start.x + gap, start.y + (tile - height) / 2}, ui.theme.muted,
                         words.c_str(), nullptr, width);
            break;
        }
    }
    draw.AddRect(start, end, ui.theme.border, 0, 0, ui.line());
    ImGui::SetCursorScreenPos({left, below});
    drawChoice(panel, index, member);
    ui.endCard();
}

} // namespace lockstep::demos
