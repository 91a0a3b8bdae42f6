// What the exhibit draws: the timeline, the player below it, and what is known about the selected operation.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/inside/inside_exhibit.h"
#include "demos/exhibits/inside/operation_words.h"
#include "demos/exhibits/inside/tensor_gallery.h"
#include "demos/kit/run_form.h"

namespace lockstep::demos {

void InsideExhibit::draw(Ui& ui) {
    // A presenter has no room for settings.
    if (view_.settingsShown && !ui.presenter) drawSettings(ui);
    drawTimeline(ui);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float bottom = room.y - ImGui::GetFrameHeightWithSpacing();
    const Layout layout = room.x < ui.px(560)   ? Layout::narrow
                          : bottom < ui.px(210) ? Layout::low
                                                : Layout::roomy;
    drawPlayer(ui, layout);
    if (selected() != nullptr) drawBottom(ui, layout);
}

void InsideExhibit::drawSettings(Ui& ui) {
    RunOptions settings = model_.settings();
    RunForm form(ui, "inside/");
    form.data(settings.data);
    form.hidden(settings.hiddenWidths, settings.data);
    form.activation(settings.activation);
    form.optimizer(settings.settings.optimizer);
    form.batch(settings.settings.batch);
    form.seed(settings.settings.seed);
    form.keepTogether(2 * 122 + 10);
    for (LaneSpec& lane : settings.lanes) {
        std::string text = lane.text();
        form.lane(lane.gpu ? "gpu" : "cpu", lane.gpu ? "GPU, below" : "CPU, above", text,
                  rungNames(lane.gpu));
        lane = laneSpecFromText(text);
    }
    form.end();
    if (form.changed()) change(settings); // may throw, so only once nothing is half drawn
}

std::string InsideExhibit::formula(const TracedOperation& shown) const {
    return formulaOf(shown, *model_.shape(), model_.settings().settings.optimizer.kind);
}

void InsideExhibit::drawTimeline(Ui& ui) {
    const float line = ImGui::GetTextLineHeight();
    const float room = ImGui::GetContentRegionAvail().y;
    const float height =
        std::clamp(room * 0.34f, 3 * line + ui.px(2 * 26 + 30), 3 * line + ui.px(2 * 62 + 30));
    if (const auto clicked = timeline_.draw(ui, rows(), view_.selected, height);
        clicked && !ui.hidingControls) {
        playing_ = false;
        played_ = 0;
        view_.selected = *clicked;
    }
    explainTimeline(ui);
    // Errors go below the rows, which keep showing the last good step.
    for (const TimelineRow& row : rows())
        if (row.trace != nullptr && model_.failed() && !row.message.empty())
            ui.paragraph(row.lane.text() + ": " + row.message, ui.theme.bad);
}

void InsideExhibit::explainTimeline(Ui& ui) const {
    if (const auto at = timeline_.hovered) {
        Detail detail = detailOf(ui, *at);
        // Where there is no room for details, this is all that is said.
        ImGui::SetTooltip("%s", detail.title.c_str());
        ui.detail(std::move(detail));
    } else if (const auto& gap = timeline_.gap) {
        const StepTrace& trace = *model_.trace(gap->machine);
        ui.detail({.title = gap->first ? "Before the first operation" : "Between operations",
                   .formula = {},
                   .values = {{model_.settings().lanes[gap->machine].text(),
                               ui.timing(timeText(gap->endMs - gap->beginMs))}},
                   .text = purposeOfGap(trace.machine, gap->first)});
    }
}

void InsideExhibit::drawPlayer(Ui& ui, Layout layout) {
    const StepTrace* trace = model_.trace(view_.selected.machine);
    const bool any = selected() != nullptr;
    if (ui.button("Back##inside", any && view_.selected.index > 0)) moveSelection(-1);
    ImGui::SameLine();
    if (ui.button("Next##inside", any && !startOver_)) moveSelection(1);
    ImGui::SameLine();
    if (ui.toggle("Slow motion", playing_, any)) {
        playing_ = !playing_;
        played_ = 0;
        model_.pause();
    }
    if (layout == Layout::low) {
        ImGui::SameLine(0, ui.px(24));
        chooseTab(ui);
        return;
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(ui.px(112));
    ui.logSlider("##inside/slow", view_.slowSpeed, 0.25f, 20, "%.2g per s");
    ImGui::SameLine();
    const float right = ui.presenter ? 0 : ImGui::CalcTextSize("Settings").x + ui.px(30);
    ImGui::SetNextItemWidth(
        std::max(ui.px(60), ImGui::GetContentRegionAvail().x - right - (right > 0 ? ui.px(10) : 0)));
    float at = static_cast<float>(view_.selected.index + 1);
    const float last = any ? static_cast<float>(trace->operations.size()) : 1;
    const std::string format = fmt::format("%.0f of {:.0f}", last);
    if (ui.slider("##inside/operation", at, 1, last, format.c_str()) && any) {
        playing_ = false;
        view_.selected.index = static_cast<std::size_t>(std::clamp(std::round(at), 1.0f, last)) - 1;
        timeline_.reveal(*selected());
    }
    if (ui.presenter) return;
    ImGui::SameLine();
    if (ui.toggle("Settings", view_.settingsShown)) view_.settingsShown = !view_.settingsShown;
}

void InsideExhibit::drawBottom(Ui& ui, Layout layout) {
    // Beside the drawing of the network, its formula; elsewhere it stands here.
    drawNameAndTime(ui);
    if (view_.tab == Tab::source || (view_.tab == Tab::tensors && layout != Layout::roomy))
        drawFormulaBeside(ui);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (layout == Layout::roomy && view_.tab == Tab::tensors) {
        ui.beginCard("inside/net", {std::min(room.x * 0.34f, ui.px(360)), room.y});
        drawNetAndFormula(ui);
        ui.endCard();
        ImGui::SameLine(0, ui.px(10));
    }
    ui.beginCard("inside/tabs", {0, std::max(room.y, ui.px(72))});
    drawTabs(ui, layout);
    ui.endCard();
}

// On the line just written, if there is room.
void InsideExhibit::drawFormulaBeside(Ui& ui) {
    std::string text = formula(*selected());
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, ";  ");
    ImGui::PushFont(ui.fonts.mono);
    const float gap = ui.px(20);
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    if (ImGui::GetItemRectMax().x + gap + ImGui::CalcTextSize(text.c_str()).x <= right)
        ImGui::SameLine(0, gap);
    ui.paragraph(text);
    ImGui::PopFont();
}

namespace {

/// Draws `fill(low, high)` as high as a line's letters. What follows stands beside it.
template <class Fill> void drawChip(Ui& ui, float width, Fill fill) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight();
    fill(ImVec2{at.x, at.y + line * 0.12f}, ImVec2{at.x + width, at.y + line * 0.92f});
    ImGui::Dummy({width, line});
    ImGui::SameLine(0, ui.px(8));
}

} // namespace

// What is chosen, in its colour.
void InsideExhibit::drawNameAndTime(Ui& ui) {
    const LaneSpec& lane = model_.settings().lanes[view_.selected.machine];
    drawChip(ui, ui.px(20), [&](ImVec2 low, ImVec2 high) {
        fillOperation(ui, *ImGui::GetWindowDrawList(), low, high, kindOf(*selected()));
    });
    ui.text(titleOf(*selected(), model_.shape()->layers()), 0, ui.fonts.strong);
    ImGui::SameLine(0, ui.px(10));
    ui.text(lane.text(), ui.colour(lane));
    if (!model_.trace(view_.selected.machine)->timed) return;
    ImGui::SameLine(0, ui.px(10));
    ui.muted(ui.timing(timeText(selected()->milliseconds())));
    if (!selected()->replaced) return;
    ImGui::SameLine(0, ui.px(10));
    if (ui.button("edited##inside/title")) {
        view_.tab = Tab::source;
        source_.editing = true;
    }
    ImGui::SameLine(0, ui.px(6));
    const OperationTimes* times = model_.edits().timesOf(*selected());
    if (times != nullptr) ui.muted("built in: " + ui.timing(timeText(times->builtInMs)));
}

void InsideExhibit::drawNetAndFormula(Ui& ui) {
    ImGui::PushFont(ui.fonts.mono);
    ui.paragraph(formula(*selected()));
    ImGui::PopFont();
    if (const std::string letters = lettersOf(*selected(), *model_.shape()); !letters.empty())
        ui.paragraph(letters, ui.theme.muted);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float height = std::min(room.y, ui.px(320));
    const float phase = playing_ ? static_cast<float>(played_) : -1;
    if (height > ui.px(50)) drawNet(ui, *model_.shape(), *selected(), phase, {room.x, height});
}

void InsideExhibit::chooseTab(Ui& ui) {
    const std::array<std::string, 3> names{"Tensors", "Source", "Network"};
    auto tab = static_cast<std::size_t>(view_.tab);
    if (ui.segments("##inside/tab", tab, names)) view_.tab = static_cast<Tab>(tab);
}

void InsideExhibit::drawTabs(Ui& ui, Layout layout) {
    const bool chosenHere = layout != Layout::low;
    if (chosenHere) chooseTab(ui);
    const std::size_t machine = view_.selected.machine;
    if (view_.tab == Tab::source) {
        if (chosenHere) ImGui::SameLine(0, ui.px(16));
        const StepTrace* gpu = model_.trace(1);
        const std::size_t at = gpu == nullptr ? 0
                               : machine == 1 ? view_.selected.index
                                              : counterpartOf(*selected(), *gpu);
        source_.draw(ui, *selected(), operation({1, at}), model_.edits());
        return;
    }
    if (view_.tab == Tab::network) {
        drawNetAndFormula(ui);
        return;
    }
    ImGui::BeginChild("inside/tensors");
    tensors_.draw(ui, *model_.trace(machine), view_.selected.index, model_.trace(1 - machine),
                  model_.revision());
    ImGui::EndChild();
}

Detail InsideExhibit::detailOf(Ui& ui, OperationAt at) const {
    const TracedOperation& shown = *operation(at);
    Detail detail;
    detail.title = titleOf(shown, model_.shape()->layers());
    detail.formula = formula(shown);
    detail.values.emplace_back("operation", shown.name);
    detail.values.emplace_back("work", amountText(shown.flops, "FLOP"));
    detail.values.emplace_back("bytes", amountText(shown.bytes, "B"));
    for (const std::size_t machine : {at.machine, 1 - at.machine}) {
        const StepTrace* trace = model_.trace(machine);
        if (trace == nullptr) continue;
        const std::size_t index = machine == at.machine ? at.index : counterpartOf(shown, *trace);
        const TracedOperation* each = operation({machine, index});
        const std::string lane = model_.settings().lanes[machine].text();
        if (each == nullptr || !trace->timed) {
            detail.values.emplace_back(lane, each == nullptr ? "folded" : "no clock");
            continue;
        }
        const double time = each->milliseconds();
        detail.values.emplace_back(lane, ui.timing(timeText(time)));
        std::string rates = each->flops > 0 ? rateText(each->flops, time, "FLOP/s") + ", " : "";
        if (each->bytes > 0)
            detail.values.emplace_back("", ui.timing(rates + rateText(each->bytes, time, "B/s")));
        if (const OperationTimes* times = model_.edits().timesOf(*each)) {
            detail.values.emplace_back("edited, on trial", ui.timing(timeText(times->changedMs)));
            detail.values.emplace_back("built in", ui.timing(timeText(times->builtInMs)));
        }
    }
    if (!shown.kernel.empty())
        detail.values.emplace_back("kernel", ui.timing(shown.kernel)); // chosen by time
    if (shown.replaced) detail.values.emplace_back("shader", shown.source + ", edited");
    detail.text = shown.shapes + ".\n" + purposeOf(kindOf(shown));
    if (const std::string letters = lettersOf(shown, *model_.shape()); !letters.empty())
        detail.text += "\n" + letters;
    if (shown.barrierBefore)
        detail.text +=
            at.machine == 1
                ? " A barrier precedes it, because it reads what was just written."
                : " The threads wait for each other before it, because it reads the rows of all of them.";
    if (!model_.trace(at.machine)->oneSubmission && !ui.masked)
        detail.text += " The step takes so long that its operations are submitted one by one.";
    return detail;
}

void InsideExhibit::drawDetails(Ui& ui) {
    if (selected() == nullptr) {
        ui.paragraph("This exhibit takes one training step apart, on both machines.", ui.theme.muted);
        return;
    }
    const Detail detail = detailOf(ui, view_.selected);
    ui.heading(detail.title);
    ImGui::PushFont(ui.fonts.mono);
    ui.paragraph(detail.formula);
    ImGui::PopFont();
    for (const auto& [name, value] : detail.values) ui.row(name, value);
    ui.paragraph(detail.text, ui.theme.muted);
    ImGui::Dummy({0, ui.px(6)});
    drawLegend(ui);
    ImGui::Dummy({0, ui.px(6)});
    ui.paragraph(
        "Layers are numbered from 1. Tensors are numbered from 0, as in PyTorch: layer 1 reads A[0], has "
        "W[0] and b[0], and writes A[1].",
        ui.theme.muted);
    ui.paragraph(
        "In the timeline, click an operation to select it. Scroll to zoom, drag to pan, double-click to "
        "see the whole step.",
        ui.theme.muted);
}

void InsideExhibit::drawLegend(Ui& ui) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float width = ui.px(26);
    for (const OperationKind kind : operationKinds) {
        drawChip(ui, width, [&](ImVec2 low, ImVec2 high) { fillOperation(ui, draw, low, high, kind); });
        ui.muted(labelOf(kind));
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float middle = at.x + width / 2;
    drawChip(ui, width, [&](ImVec2, ImVec2) {
        draw.AddLine({middle, at.y}, {middle, at.y + ImGui::GetTextLineHeight()}, ui.theme.text,
                     ui.line(1.5f));
    });
    ui.muted("barrier");
    if (model_.edits().runs({})) return;
    drawChip(ui, width,
             [&](ImVec2 low, ImVec2 high) { drawEditedMark(ui, draw, low, high, low.x + ui.px(18)); });
    ui.muted("edited; the line: built in");
}

void InsideExhibit::drawMenu(Ui& ui) {
    if (ImGui::MenuItem("All of the step", nullptr, false, timeline_.view.has_value()))
        timeline_.view.reset();
    ui.noteControl("menu/All of the step");
}

} // namespace lockstep::demos
