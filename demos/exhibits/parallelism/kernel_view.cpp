#include "demos/exhibits/parallelism/kernel_view.h"

#include <algorithm>
#include <cmath>

#include "demos/exhibits/parallelism/parallelism_state.h"
#include "demos/kit/source_pane.h"

namespace lockstep::demos {

void KernelView::draw(Ui& ui, ParallelismModel& model, LabView& curves) {
    const auto sources = filled(model.open().sources);
    const std::vector<std::string> files(sources.begin(), sources.end());
    file_ = std::min(file_, files.size() - 1);
    ui.segments("##parallelism/file", "The file whose source is shown.", file_, files);
    const bool editable = isEditable(model.open(), files[file_]);
    if (editable) {
        ImGui::SameLine(0, ui.px(10));
        if (ui.toggle("Edit##parallelism", parallelismEdits.edit, editing)) editing = !editing;
    }
    if (editable && editing) return drawEditor(ui, model, curves, files);
    beginSourcePane(ui, "parallelism/source", {0, 0});
    const std::string_view text = textOf(model.editedTexts(model.open()), files[file_]);
    const float gutter = textWidth("0000 ");
    std::size_t number = 0;
    for (const std::string_view line : linesOf(text)) drawSourceLine(ui, ++number, line, {.gutter = gutter});
    endSourcePane();
}

void KernelView::showEdited(ParallelismModel& model) {
    const auto sources = filled(model.open().sources);
    const auto edited = std::ranges::find_if(
        sources, [&](std::string_view file) { return model.editedTexts(model.open()).contains(file); });
    if (edited != sources.end()) file_ = static_cast<std::size_t>(edited - sources.begin());
}

void KernelView::drawEditor(Ui& ui, ParallelismModel& model, LabView& curves,
                            const std::vector<std::string>& files) {
    editor_.drawStatus(ui, model.edits(), parallelismEdits, files, file_);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool both = model.result().measured() && room.x >= ui.px(640);
    const float width = both ? std::round(0.58f * room.x) : room.x;
    editor_.drawText(ui, model.edits(), parallelismEdits, files, file_, width);
    if (!both) return;
    ImGui::SameLine(0, ui.px(10));
    ImGui::BeginChild("parallelism/curves", {0, 0}, false, ImGuiWindowFlags_NoScrollbar);
    drawLabCurves(ui, model.open(), model.result(), curves);
    ImGui::EndChild();
}

} // namespace lockstep::demos
