// What the exhibit draws: the timeline, the player below it, and what is known about the selected operation.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/exhibits/inside/inside.h"
#include "demos/exhibits/inside/operation_words.h"
#include "demos/kit/run_form.h"

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
    return formulaOf(shown, *inside.model.shape(), inside.model.settings().settings.optimizer.kind);
}

Detail detailOf(Ui& ui, const Inside& inside, OperationAt at) {
    const TracedOperation& shown = *inside.operation(at);
    Detail detail;
    detail.title = titleOf(shown, inside.model.shape()->layers());
    detail.formula = formulaShown(inside, shown);
    detail.values.emplace_back("operation", std::string(shown.name()));
    detail.values.emplace_back("work", amountText(shown.flops, "FLOP"));
    detail.values.emplace_back("bytes", amountText(shown.bytes, "B"));
    for (const std::size_t machine : {at.machine, 1 - at.machine}) {
        const StepTrace* trace = inside.model.trace(machine);
        if (trace == nullptr) continue;
        const std::size_t index = machine == at.machine ? at.index : counterpartOf(shown, *trace);
        const TracedOperation* each = inside.operation({machine, index});
        const std::string lane = inside.model.settings().lanes[machine].text();
        if (each == nullptr || !trace->timed) {
            detail.values.emplace_back(lane, each == nullptr ? "fused" : "untimed");
            continue;
        }
        const double time = each->milliseconds();
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
    if (shown.replaced) detail.values.emplace_back("shader", shown.source + ", edited");
    detail.text = rowOf(shown.operation).purpose;
    return detail;
}

/// What few people need to know about an operation.
std::string furtherText(const Ui& ui, const Inside& inside, OperationAt at) {
    const TracedOperation& shown = *inside.operation(at);
    std::string text = shown.shapes + ".";
    if (const std::string letters = lettersOf(shown, *inside.model.shape()); !letters.empty())
        text += "\n" + letters;
    if (shown.barrierBefore)
        text += at.machine == 1
                    ? "\nA barrier precedes it, because it reads what was just written."
                    : "\nThe threads synchronise before it, because it reads rows that all of them wrote.";
    if (!inside.model.trace(at.machine)->oneSubmission && !ui.masked)
        text += "\nThe step takes so long that its operations are submitted one by one.";
    return text;
}

void explainTimeline(Ui& ui, const Inside& inside) {
    if (const auto at = inside.timeline.hovered) {
        const Detail detail = detailOf(ui, inside, *at);
        ui.detailAtOnce(detail.title, detail);
    } else if (const auto& gap = inside.timeline.gap) {
        const StepTrace& trace = *inside.model.trace(gap->machine);
        ui.detail({.title = gap->first ? "Before the first operation" : "Between operations",
                   .values = {{inside.model.settings().lanes[gap->machine].text(),
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
        inside.view.settingsShown ? least : std::clamp(room * 0.28f, least, 3 * line + ui.px(2 * 80 + 30));
    if (const auto clicked = inside.timeline.draw(ui, inside.model, inside.view.selected, height, low);
        clicked && !ui.hidingControls) {
        inside.playing = false;
        inside.played = 0;
        inside.view.selected = *clicked;
    }
    explainTimeline(ui, inside);
    // Errors go below the rows, which keep showing the last good step.
    for (std::size_t machine = 0; machine < machineCount; ++machine)
        if (const std::string error = inside.model.status(machine);
            inside.model.trace(machine) != nullptr && inside.model.failed() && !error.empty())
            ui.paragraph(inside.model.settings().lanes[machine].text() + ": " + error, ui.theme.bad);
}

// Tabs and settings on the right of the player, or below it where there is no room.
void drawTabs(Ui& ui, Inside& inside) {
    const std::array<std::string, 4> names{"Tensors", "Source", "Network", "Workgroups"};
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
        "Tensors that the operation reads and writes, its source, the whole network, or its workgroups.",
        inside.view.tab, names, "When each workgroup of the GPU's operation ran, by the GPU's own clock.");
    ImGui::SameLine();
    if (ui.toggle("Settings", settingsWords, inside.view.settingsShown))
        inside.view.settingsShown = !inside.view.settingsShown;
}

void drawPlayer(Ui& ui, Inside& inside) {
    const bool any = inside.selected() != nullptr;
    const bool hasPrevious = any && inside.view.selected.index > 0;
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
    drawTabs(ui, inside);
}

// Behind the item just drawn.
float spaceBeside() {
    return ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x - ImGui::GetItemRectMax().x;
}

void drawNeuronsText(Ui& ui, const Inside& inside, float width) {
    const bool some = inside.neuronsLeftOut;
    ui.muted(fittedText(some ? "First example, some active neurons" : "Values of the first example", width));
    ui.explainItem({.title = "Neurons shown",
                    .text = "The values are those of the batch's first example. Of a layer with more neurons "
                            "than fit, you see some that are not 0, from the largest to the smallest."});
}

// On the line just written, if there is room; the colours of tensors at its end.
void drawFormulaBeside(Ui& ui, Inside& inside) {
    std::string text = formulaShown(inside, *inside.selected());
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, ";  ");
    const float gap = ui.px(20);
    ImGui::PushFont(ui.fonts.mono);
    const bool fits = gap + ImGui::CalcTextSize(text.c_str()).x <= spaceBeside();
    if (fits) ImGui::SameLine(0, gap);
    if (fits) ui.paragraph(text);
    ImGui::PopFont();
    if (inside.view.tab == tensorsTab && gap + scaleWidth(ui) <= spaceBeside()) {
        ImGui::SameLine(0, spaceBeside() - scaleWidth(ui));
        drawScale(ui);
    }
    if (fits || ui.presenter) return; // a presenter has no room for a line of its own
    ImGui::PushFont(ui.fonts.mono);
    ui.paragraph(text);
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
    const LaneSpec& lane = inside.model.settings().lanes[inside.view.selected.machine];
    drawChip(ui, ui.px(20), [&](ImVec2 low, ImVec2 high) {
        fillOperation(ui, *ImGui::GetWindowDrawList(), low, high, inside.selected()->shownAs());
    });
    ui.text(titleOf(*inside.selected(), inside.model.shape()->layers()), 0, ui.fonts.strong);
    ImGui::SameLine(0, ui.px(10));
    ui.text(lane.text(), ui.colour(lane));
    if (!inside.model.trace(inside.view.selected.machine)->timed) return;
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

/// named   which neurons are drawn has been said
void drawNetwork(Ui& ui, Inside& inside, bool named) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 size{room.x, room.y - (named ? 0 : ImGui::GetTextLineHeightWithSpacing())};
    const float phase = inside.playing ? static_cast<float>(inside.played) : -1;
    const StepTrace& trace = *inside.model.trace(inside.view.selected.machine);
    if (size.y > ui.px(50))
        inside.neuronsLeftOut = drawNet(ui, *inside.model.shape(), trace, *inside.selected(), phase, size);
    if (!named) drawNeuronsText(ui, inside, room.x);
}

void drawShown(Ui& ui, Inside& inside) {
    const std::size_t machine = inside.view.selected.machine;
    if (inside.view.tab == sourceTab) {
        const StepTrace* gpu = inside.model.trace(1);
        const std::size_t at = gpu == nullptr ? 0
                               : machine == 1 ? inside.view.selected.index
                                              : counterpartOf(*inside.selected(), *gpu);
        inside.source.draw(ui, *inside.selected(), inside.operation({1, at}), inside.model.edits());
    } else if (inside.view.tab == networkTab) {
        drawNetwork(ui, inside, true);
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
    drawNameAndTime(ui, inside);
    if (inside.view.tab == networkTab) {
        ImGui::SameLine(0, ui.px(20));
        drawNeuronsText(ui, inside, ImGui::GetContentRegionAvail().x);
    }
    drawFormulaBeside(ui, inside);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (roomy) {
        ui.beginCard("inside/net", {std::min(room.x * 0.34f, ui.px(360)), room.y});
        drawNetwork(ui, inside, false);
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
    if (inside.view.settingsShown) drawSettings(ui, inside);
    drawTimeline(ui, inside);
    if (!ui.detailPanel && !ui.presenter && ImGui::GetContentRegionAvail().x >= ui.px(900)) {
        const SmallLetters small(ui);
        drawLegend(ui, inside, true);
    }
    drawPlayer(ui, inside);
    if (inside.selected() != nullptr) drawBottom(ui, inside);
}

void drawInsideDetails(Ui& ui, Inside& inside) {
    if (inside.selected() == nullptr) {
        ui.paragraph("This exhibit takes one training step apart, on both machines.");
        return;
    }
    const Detail detail = detailOf(ui, inside, inside.view.selected);
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
    ui.paragraph(furtherText(ui, inside, inside.view.selected));
    ui.paragraph(
        "Layers are numbered from 1. Tensors are numbered from 0, as in PyTorch: layer 1 reads A[0], "
        "has W[0] and b[0], and writes A[1].");
    ui.paragraph("In the timeline, scroll to zoom, drag to pan, double-click to see the whole step.");
}

} // namespace lockstep::demos
