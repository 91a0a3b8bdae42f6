// What the exhibit draws: the timeline, the player below it, and what is known about the selected operation.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/exhibits/inside/inside.h"
#include "demos/exhibits/inside/operation_words.h"
#include "demos/kit/run_form.h"
#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

void drawSettings(Ui& ui, Inside& inside) {
    RunOptions settings = inside.model.settings();
    RunForm form(ui, "inside/");
    form.data(settings.data);
    form.table(settings.dataOptions.table, settings.data, {});
    form.hidden(settings.hiddenWidths, settings.data);
    form.activation(settings.activation);
    form.optimizer(settings.settings.optimizer);
    form.batch(settings.settings.batch);
    form.seed(settings.settings.seed);
    form.keepTogether(2 * 122 + 10);
    for (LaneSpec& lane : settings.lanes) {
        std::string text = lane.text();
        form.lane(lane.gpu ? "gpu" : "cpu", lane.gpu ? "GPU, below" : "CPU, above",
                  lane.gpu ? "The rung that the GPU's step uses (lower row)."
                           : "The rung that the CPU's step uses (upper row).",
                  text, rungNames(lane.gpu));
        lane = laneSpecFromText(text);
    }
    form.end();
    if (form.changed()) inside.change(settings); // may throw, so only once nothing is half drawn
}

std::string formulaShown(const Inside& inside, const TracedOperation& shown) {
    const ShownStep& step = *inside.model.shown();
    return formulaOf(shown, step.shape, step.settings.settings.optimizer.kind);
}

Detail detailOf(Ui& ui, const Inside& inside, OperationAt at) {
    const TracedOperation& shown = *inside.operation(at);
    Detail detail;
    detail.title = titleOf(shown, inside.model.shown()->shape.layers());
    detail.formula = formulaShown(inside, shown);
    detail.values.emplace_back("operation", std::string(shown.name()));
    detail.values.emplace_back("work", amountText(shown.flops, "FLOP"));
    detail.values.emplace_back("bytes", amountText(shown.bytes, "B"));
    for (const std::size_t machine : {at.machine, 1 - at.machine}) {
        const StepTrace* trace = inside.model.trace(machine);
        if (trace == nullptr) continue;
        const std::size_t index = machine == at.machine ? at.index : counterpartOf(shown, *trace);
        const TracedOperation* each = inside.operation({machine, index});
        const std::string lane = inside.model.lane(machine).text();
        if (each == nullptr || !trace->timed) {
            detail.values.emplace_back(lane, each == nullptr ? "fused" : "untimed");
            continue;
        }
        const double time = each->milliseconds();
        if (trace->tooShort(*each)) {
            detail.values.emplace_back(
                lane, ui.timing(std::isfinite(trace->clockStepMs)
                                    ? translatedFormat("too short for the clock, which moves by {}",
                                                       timeText(trace->clockStepMs))
                                    : std::string(translated("too short for the clock"))));
            continue;
        }
        detail.values.emplace_back(lane, ui.timing(timeText(time)));
        std::string rates = each->flops > 0 ? rateText(each->flops, time, "FLOP/s") + ", " : "";
        if (each->bytes > 0)
            detail.values.emplace_back("", ui.timing(rates + rateText(each->bytes, time, "B/s")));
        if (const OperationTimes* times = inside.model.timesOf(*each)) {
            detail.values.emplace_back("edited, on trial", ui.timing(timeText(times->changedMs)));
            detail.values.emplace_back("built in", ui.timing(timeText(times->builtInMs)));
        }
    }
    if (!shown.kernel.empty())
        detail.values.emplace_back("kernel", ui.timing(shown.kernel)); // chosen by time
    if (shown.replaced) detail.values.emplace_back("shader", translatedFormat("{}, edited", shown.source));
    detail.text = rowOf(shown.operation).purpose;
    return detail;
}

/// What few people need to know about an operation.
std::string furtherText(const Ui& ui, const Inside& inside, OperationAt at) {
    const TracedOperation& shown = *inside.operation(at);
    std::string text = shown.shapes + ".";
    if (const std::string letters = lettersOf(shown, inside.model.shown()->shape); !letters.empty())
        text.append("\n").append(translated(letters));
    const auto add = [&text](std::string_view more) { text.append("\n").append(translated(more)); };
    if (shown.barrierBefore)
        add(at.machine == 1
                ? "A barrier precedes it, because it reads what was just written."
                : "The threads synchronise before it, because it reads rows that all of them wrote.");
    if (!inside.model.trace(at.machine)->oneSubmission && !ui.masked)
        add("The step takes so long that its operations are submitted one by one.");
    return text;
}

void explainTimeline(Ui& ui, const Inside& inside) {
    if (const auto at = inside.timeline.hovered) {
        const Detail detail = detailOf(ui, inside, *at);
        ui.detailAtOnce(detail.title, detail);
    } else if (const auto& gap = inside.timeline.gap) {
        const StepTrace& trace = *inside.model.trace(gap->machine);
        ui.detail({.title = gap->first  ? "Before the first operation"
                            : gap->last ? "After the last operation"
                                        : "Between operations",
                   .values = {{inside.model.lane(gap->machine).text(),
                               ui.timing(timeText(gap->endMs - gap->beginMs))}},
                   .text = purposeOfGap(trace.machine, gap->first)});
    }
}

void drawTimeline(Ui& ui, Inside& inside) {
    const float line = ImGui::GetTextLineHeight();
    const float room = ImGui::GetContentRegionAvail().y;
    // Settings take their room from the timeline, so that tensors stay about where they are.
    const bool low = room < ui.px(340);
    const float least = (low ? 2 : 3) * line + ui.px(2 * 26 + (low ? 24 : 30));
    const float height =
        inside.view.settingsShown ? least : std::clamp(room * 0.2f, least, 3 * line + ui.px(2 * 80 + 30));
    if (const auto clicked = inside.timeline.draw(ui, inside.model, inside.at(), height, low);
        clicked && !ui.hidingControls)
        inside.select(*clicked);
    explainTimeline(ui, inside);
    // Errors go below the rows, which keep showing the last good step.
    for (std::size_t machine = 0; machine < machineCount; ++machine)
        if (const std::string error = inside.model.status(machine);
            inside.model.trace(machine) != nullptr && inside.model.failed() && !error.empty())
            ui.paragraph(inside.model.settings().lanes[machine].text() + ": " + error, ui.theme.bad);
}

// Tabs and settings on the right of the player, or below it where there is no room.
void drawTabs(Ui& ui, Inside& inside) {
    const std::array<std::string, 4> names{"Network", "Tensors", "Source", "Workgroups"};
    const float padding = 2 * ImGui::GetStyle().FramePadding.x;
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    float width = ui.px(4);
    for (const std::string& name : names) width += textWidth(name) + padding;
    width += gap + textWidth("Settings") + padding;
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const float free = right - width - ImGui::GetItemRectMax().x;
    if (free >= gap) ImGui::SameLine(0, free);
    ui.segments(
        "##inside/tab",
        "The whole network, tensors that the operation reads and writes, its source, or its workgroups.",
        inside.view.tab, names, "When each workgroup of the GPU's operation ran, by the GPU's own clock.");
    ImGui::SameLine();
    if (ui.toggle("Settings", settingsWords, inside.view.settingsShown))
        inside.view.settingsShown = !inside.view.settingsShown;
}

void drawPlayer(Ui& ui, Inside& inside) {
    const bool any = inside.selected() != nullptr;
    const bool hasPrevious = any && inside.chosen().index > 0;
    if (iconButton(ui, "Previous operation", "Selects the operation before this one.", Icon::back,
                   {.signOnly = true, .enabled = hasPrevious}))
        inside.moveSelection(-1);
    ImGui::SameLine();
    const bool hasNext = any && !inside.startOver;
    if (iconButton(ui, "Next operation", "Selects the operation after this one.", Icon::next,
                   {.signOnly = true, .enabled = hasNext}))
        inside.moveSelection(1);
    ImGui::SameLine();
    if (ui.toggle("Slow motion", "Walks through the operations of the step one by one.", inside.playing,
                  any)) {
        if (!inside.playing) inside.select(inside.chosen());
        inside.playing = !inside.playing;
        inside.played = 0;
        inside.model.pause();
    }
    if (!ui.presenter && ImGui::GetContentRegionAvail().x >= ui.px(640)) {
        ImGui::SameLine();
        ImGui::SetNextItemWidth(ui.px(112));
        if (ui.logSlider("##inside/slow", "Operations per second in slow motion.", inside.view.slowSpeed,
                         0.25f, 20, "%.2g per s"))
            inside.view.slowSpeed = std::clamp(inside.view.slowSpeed, 0.25f, 20.0f); // it may be typed
    }
    // Behind all others, so that these stay where they are in every tab.
    if (inside.view.tab == networkTab) {
        ImGui::SameLine();
        if (ui.toggle("Examples",
                      "Sends the batch's examples through the network, one after another, each with what "
                      "corrects it.",
                      inside.examplesPass())) {
            inside.view.examples = !inside.examplesPass();
            inside.playing = false;
        }
    }
    drawTabs(ui, inside);
}

// Behind the item just drawn.
float spaceBeside() {
    return ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x - ImGui::GetItemRectMax().x;
}

/// "Example 3 of 128, labelled Sandal."
std::string exampleText(const Inside& inside) {
    const ShownStep& step = *inside.model.shown();
    const StepTrace& trace = *inside.model.trace(inside.at().machine);
    const TracedTensor* inputs = trace.find({TensorKind::activations, 0});
    const TracedTensor* labels = trace.find({TensorKind::targets, 0});
    const std::size_t example = inside.passing.example;
    std::string text =
        translatedFormat("Example {} of {}", example + 1, inputs == nullptr ? example + 1 : inputs->rows);
    if (labels == nullptr || example >= labels->values.size()) return text + ".";
    const auto label = static_cast<std::size_t>(std::max(labels->values[example], 0.0f));
    if (step.data != nullptr && label < step.data->classNames.size())
        text += translatedFormat(", labelled {}", step.data->classNames[label]);
    return text + ".";
}

/// What the moving marks of the network are; empty while nothing moves.
std::string_view movingText(const Inside& inside) {
    constexpr std::string_view weighted = "Moving: the largest products, value × weight.";
    if (inside.examplesPass() && !inside.correction()) return weighted;
    if (!inside.playing && !inside.correction()) return {};
    switch (inside.selected()->shownAs()) {
    case Operation::dense: return weighted;
    case Operation::denseBackwardInputs: return "Moving: the largest products, gradient × weight.";
    case Operation::denseBackwardWeights: return "Moving: the largest products, activation × gradient.";
    default: return {};
    }
}

void drawNeuronsText(Ui& ui, const Inside& inside, float width) {
    std::string text = exampleText(inside);
    const std::string_view neurons =
        inside.neuronsLeftOut ? "Some neurons of wide layers, the same for all examples." : "All neurons.";
    // What explains the most comes first, as much of it as there is room for.
    for (const std::string_view sentence :
         {movingText(inside), neurons, std::string_view("Links: the colours of their weights.")}) {
        if (sentence.empty()) continue;
        const std::string longer = text + " " + std::string(translated(sentence));
        if (lettersWidth(longer) > width) break;
        text = longer;
    }
    ui.muted(fittedText(text, width));
    ui.explainItem(
        {.title = "Neurons shown",
         .text = "The values are those of one example of the batch. Of a layer with more neurons "
                 "than fit, you see some, chosen evenly from the half that is more active in this batch. "
                 "They are the same for every example, so some of them may be 0."});
}

std::string formulaLine(const Inside& inside, const TracedOperation& shown) {
    std::string text = formulaShown(inside, shown);
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, ";  ");
    return text;
}

/// The parts of the formula that the source's lines name; none in other tabs.
std::vector<EquationPart> partsShown(const Inside& inside) {
    if (inside.view.tab != sourceTab) return {};
    return equationParts(*inside.selected(), inside.model.shown()->shape);
}

/// Where formulas stand: in the same place for every operation of a step, as large as the longest of them
/// needs it, so that nothing moves from one to the next.
struct FormulaPlace {
    float left = 0;        ///< beside names and times; 0: below them
    std::size_t lines = 0; ///< below them
};

FormulaPlace formulaPlace(Ui& ui, const Inside& inside) {
    const OperationAt at = inside.at();
    const StepTrace& trace = *inside.model.trace(at.machine);
    const float room = ImGui::GetContentRegionAvail().x;
    float names = 0, formulas = 0;
    std::size_t lines = 1;
    bool edited = false;
    ImGui::PushFont(ui.fonts.strong);
    for (const TracedOperation& each : trace.operations)
        names = std::max(names, lettersWidth(titleOf(each, inside.model.shown()->shape.layers())));
    ImGui::PopFont();
    ImGui::PushFont(ui.fonts.mono);
    for (const TracedOperation& each : trace.operations) {
        const std::string formula = formulaLine(inside, each);
        formulas = std::max(formulas, lettersWidth(formula));
        lines = std::max(lines, linesAtBlanks(formula, room + 1, lettersWidth).size());
        edited = edited || each.replaced;
    }
    ImGui::PopFont();
    const float left = ui.px(28 + 10) + names + lettersWidth(inside.model.lane(at.machine).text()) +
                       ui.px(10) + lettersWidth("0.000 ms") + ui.px(24);
    const bool beside = !edited && left + formulas + ui.px(20) + scaleWidth(ui) <= room;
    if (beside) return {.left = left};
    return {.lines = ui.presenter ? 0 : lines}; // a presenter has no room for lines of their own
}

// The colours of tensors at the end of the line just written.
void drawFormula(Ui& ui, Inside& inside, const FormulaPlace& place) {
    const float start = ImGui::GetCursorPosX();
    const std::string formula = formulaLine(inside, *inside.selected());
    const std::vector<EquationPart> parts = partsShown(inside);
    if (place.left > 0) {
        ImGui::SameLine(start + place.left);
        ui.text(formula, 0, ui.fonts.mono);
        ImGui::PushFont(ui.fonts.mono);
        underlineParts(ui, parts, std::array{std::string_view(formula)}, ImGui::GetItemRectMin());
        ImGui::PopFont();
    }
    if (inside.view.tab == tensorsTab && ui.px(20) + scaleWidth(ui) <= spaceBeside()) {
        ImGui::SameLine(0, spaceBeside() - scaleWidth(ui));
        drawScale(ui);
    }
    if (place.lines == 0) return;
    ImGui::PushFont(ui.fonts.mono);
    const float below = ImGui::GetCursorPosY() +
                        static_cast<float>(place.lines) * ImGui::GetTextLineHeight() +
                        ImGui::GetStyle().ItemSpacing.y;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    ui.paragraph(formula);
    underlineParts(ui, parts, linesAtBlanks(formula, room + 1, lettersWidth), at);
    ImGui::SetCursorPosY(below);
    ImGui::PopFont();
}

/// Draws `fill(low, high)` as high as a line's letters. What follows stands beside it.
template <class Fill> void drawChip(Ui& ui, float width, Fill fill) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight();
    fill(ImVec2{at.x, at.y + line * 0.12f}, ImVec2{at.x + width, at.y + line * 0.92f});
    ImGui::Dummy({width, line});
    ImGui::SameLine(0, ui.px(8));
}

// What is chosen, in its colour.
void drawNameAndTime(Ui& ui, Inside& inside) {
    const std::size_t machine = inside.at().machine;
    const LaneSpec& lane = inside.model.lane(machine);
    drawChip(ui, ui.px(20), [&](ImVec2 low, ImVec2 high) {
        fillOperation(ui, *ImGui::GetWindowDrawList(), low, high, inside.selected()->shownAs());
    });
    ui.text(titleOf(*inside.selected(), inside.model.shown()->shape.layers()), 0, ui.fonts.strong);
    ImGui::SameLine(0, ui.px(10));
    ui.text(lane.text(), ui.colour(lane));
    if (!inside.model.trace(machine)->timed) return;
    ImGui::SameLine(0, ui.px(10));
    ui.muted(ui.timing(timeText(inside.selected()->milliseconds())));
    if (!inside.selected()->replaced) return;
    ImGui::SameLine(0, ui.px(10));
    if (ui.button("edited##inside/title", "A shader of this step is edited. Click to open its source.")) {
        inside.view.tab = sourceTab;
        inside.source.editing = true;
    }
    ImGui::SameLine(0, ui.px(6));
    const OperationTimes* times = inside.model.timesOf(*inside.selected());
    if (times != nullptr) ui.muted("built in: " + ui.timing(timeText(times->builtInMs)));
}

void drawNetwork(Ui& ui, Inside& inside) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 size{room.x, room.y - ImGui::GetTextLineHeightWithSpacing()};
    const ShownStep& step = *inside.model.shown();
    NetMoment moment{.shape = step.shape,
                     .trace = inside.model.trace(inside.at().machine),
                     .data = step.data.get(),
                     .example = inside.passing.example};
    const std::optional<float> correction = inside.correction();
    if (inside.examplesPass() && !correction) {
        moment.phase = inside.passing.layersPassed();
    } else if (correction) {
        moment.operation = inside.selected();
        moment.phase = *correction;
    } else {
        moment.operation = inside.selected();
        moment.phase = inside.playing ? static_cast<float>(inside.played) : -1;
    }
    if (size.y > ui.px(50)) inside.neuronsLeftOut = drawNet(ui, moment, size);
    drawNeuronsText(ui, inside, room.x);
}

/// Before the first step is there: the layers that are known, with signals on their way.
void drawOutline(Ui& ui, Inside& inside) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ui.beginCard("inside/tabs", {0, std::max(room.y, ui.px(72))});
    const ImVec2 within = ImGui::GetContentRegionAvail();
    const ImVec2 size{within.x, within.y - ImGui::GetTextLineHeightWithSpacing()};
    const NetShape shape = outlineOf(inside.model.settings());
    if (size.y > ui.px(50)) drawNet(ui, {.shape = shape, .phase = inside.passing.layersPassed()}, size);
    ui.muted(
        fittedText(inside.model.failed() ? "No step yet." : "The first step is being prepared.", within.x));
    ui.endCard();
}

void drawShown(Ui& ui, Inside& inside) {
    const std::size_t machine = inside.at().machine;
    if (inside.view.tab == sourceTab) {
        const StepTrace* gpu = inside.model.trace(1);
        const std::size_t at = gpu == nullptr ? 0
                               : machine == 1 ? inside.at().index
                                              : counterpartOf(*inside.selected(), *gpu);
        inside.source.draw(ui, *inside.selected(), inside.operation({1, at}), partsShown(inside),
                           inside.model.shown()->shaders, inside.model.edits());
    } else if (inside.view.tab == networkTab) {
        drawNetwork(ui, inside);
    } else if (inside.view.tab == workgroupsTab) {
        drawWorkgroupView(ui, inside);
    } else {
        ImGui::BeginChild("inside/tensors");
        drawTensors(ui, inside);
        ImGui::EndChild();
    }
}

void drawBottom(Ui& ui, Inside& inside) {
    // Where there is room, the network stands beside the tensors.
    const bool roomy = ImGui::GetContentRegionAvail().x >= ui.px(840) && inside.view.tab == tensorsTab;
    const FormulaPlace place = formulaPlace(ui, inside);
    drawNameAndTime(ui, inside);
    drawFormula(ui, inside, place);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (roomy) {
        ui.beginCard("inside/net", {std::min(room.x * 0.34f, ui.px(360)), room.y});
        drawNetwork(ui, inside);
        ui.endCard();
        ImGui::SameLine(0, ui.px(10));
    }
    ui.beginCard("inside/tabs", {0, std::max(room.y, ui.px(72))});
    drawShown(ui, inside);
    ui.endCard();
}

/// In a column, or as far as a line reaches.
void drawLegend(Ui& ui, Inside& inside, bool oneLine = false) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float width = ui.px(26);
    for (const Operation kind : recipeOperations) {
        drawChip(ui, width, [&](ImVec2 low, ImVec2 high) { fillOperation(ui, draw, low, high, kind); });
        ui.muted(wordsOf(kind).label);
        if (oneLine) ImGui::SameLine(0, ui.px(14));
    }
    drawChip(ui, width, [&](ImVec2 low, ImVec2 high) { fillWaiting(ui, draw, low, high); });
    ui.muted("waiting");
    if (oneLine) ImGui::SameLine(0, ui.px(14));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float middle = at.x + width / 2;
    drawChip(ui, width, [&](ImVec2, ImVec2) {
        draw.AddLine({middle, at.y}, {middle, at.y + ImGui::GetTextLineHeight()}, ui.theme.text,
                     ui.line(1.5f));
    });
    ui.muted("barrier");
    if (inside.model.edits().runs({})) return;
    if (oneLine) ImGui::SameLine(0, ui.px(14));
    drawChip(ui, width,
             [&](ImVec2 low, ImVec2 high) { drawEditedMark(ui, draw, low, high, low.x + ui.px(18)); });
    ui.muted("edited (line: built-in)");
}

} // namespace

void drawInside(Ui& ui, Inside& inside) {
    if (!inside.view.settingsShown && !ui.presenter && !ui.lessonShown)
        ui.headline("One training step: predict, compare, correct");
    if (inside.view.settingsShown) drawSettings(ui, inside);
    drawTimeline(ui, inside);
    if (!ui.detailPanel && !ui.presenter && ImGui::GetContentRegionAvail().x >= ui.px(900)) {
        const SmallLetters small(ui);
        drawLegend(ui, inside, true);
    }
    drawPlayer(ui, inside);
    if (inside.selected() != nullptr)
        drawBottom(ui, inside);
    else if (inside.view.tab == networkTab)
        drawOutline(ui, inside);
}

void drawInsideDetails(Ui& ui, Inside& inside) {
    if (inside.selected() == nullptr) {
        ui.paragraph("This exhibit takes one training step apart, on both machines.");
        return;
    }
    const OperationAt at = inside.chosen();
    const Detail detail = detailOf(ui, inside, at);
    ui.heading(detail.title);
    ImGui::PushFont(ui.fonts.mono);
    ui.paragraph(detail.formula);
    ImGui::PopFont();
    for (const auto& [name, value] : detail.values) ui.row(name, value);
    ui.paragraph(detail.text);
    ImGui::Dummy({0, ui.px(6)});
    drawLegend(ui, inside);
    ImGui::Dummy({0, ui.px(6)});
    if (!ui.lessonShown)
        ui.paragraph("Click an operation in the timeline, then a value of a tensor that it writes.");
    if (!ui.more("more about this operation")) return;
    ui.paragraph(furtherText(ui, inside, at));
    ui.paragraph(
        "Layers are numbered from 1. Tensors are numbered from 0, as in PyTorch: layer 1 reads A[0], "
        "has W[0] and b[0], and writes A[1].");
    ui.paragraph("In the timeline, scroll to zoom, drag to pan, double-click to see the whole step.");
}

} // namespace lockstep::demos
