#include "demos/exhibits/race/race_history_view.h"

#include <fmt/format.h>

#include "demos/exhibits/race/race_lanes.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostNoteLetters = 200;

/// "cpu:best 39.0k, gpu:best 11.2k samples/s"
std::string ratesText(const Ui& ui, const PastRun& run) {
    std::string text;
    for (const PastLane& lane : run.lanes)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", lane.spec.text(),
                            lane.rate > 0 ? ui.timing(shortRate(lane.rate)) : "-");
    return translatedFormat("{} samples/s", text);
}

void drawNote(Ui& ui, RaceModel& model, const PastRun& run, float width) {
    const std::string control = fmt::format("##note of run {}", run.number);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetNextItemWidth(width);
    if (const auto typed =
            ui.typedText(control.c_str(), "Your note on this race, up to 200 characters.", run.note))
        model.setNote(run.number, cut(*typed, mostNoteLetters));
    if (!run.note.empty() || ImGui::IsItemActive() || ui.hidden(control.c_str())) return;
    const ImVec2 padding = ImGui::GetStyle().FramePadding;
    ImGui::GetWindowDrawList()->AddText({at.x + padding.x, at.y + padding.y}, ui.theme.muted,
                                        std::string(translated("note")).c_str());
}

} // namespace

void RaceHistory::draw(Ui& ui, RaceModel& model, std::uint64_t current, ImVec2 size) {
    const std::vector<PastRun>& runs = model.history();
    const float top = ImGui::GetCursorPosY();
    if (current != 0) continueLine(ui, ImGui::GetFrameHeight() + textWidth("Keep in the state") + ui.px(14));
    ui.checkbox("Keep in the state",
                "Saves the settings, results and curves of these races in state files, and keeps them for "
                "the next start.",
                keep);
    if (runs.empty()) return ui.muted("A race appears here once it is over. The last 20 are listed.");
    const RaceRun* shown = model.shown();
    const PickedRuns picked =
        pickedRuns(runs, pick, current, shown != nullptr ? shown->settings.run.data : std::string());
    ImGui::BeginChild("history", {size.x, std::max(size.y - (ImGui::GetCursorPosY() - top), 1.0f)});
    for (std::size_t i = runs.size(); i-- > 0;) drawRun(ui, model, runs[i], picked, current);
    ImGui::EndChild();
}

void RaceHistory::drawRun(Ui& ui, RaceModel& model, const PastRun& run, const PickedRuns& picked,
                          std::uint64_t current) {
    const std::string name = fmt::format("##run {}", run.number);
    const bool front = picked.front != nullptr ? picked.front == &run : run.number == current;
    const bool behind = picked.behind == &run;
    const float width = ImGui::GetContentRegionAvail().x;
    const float noteWidth = 0.25f * width;
    const float right = ImGui::GetCursorPosX() + width - noteWidth;
    if (ui.toggle(("Front" + name).c_str(), "Shows the curves of this race in front.", front))
        pick.front = front || run.number == current ? 0 : run.number;
    ImGui::SameLine(0, ui.px(2));
    if (ui.toggle(("Behind" + name).c_str(),
                  "Draws the curves of this race faintly behind the others. Press again for none.", behind,
                  !front))
        pick.behind = behind ? 0 : run.number;
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const auto room = [&] { return std::max(right - ImGui::GetCursorPosX() - ui.px(10), 0.0f); };
    ImGui::PushFont(ui.fonts.strong); // in the letters that measure it
    ui.text(fittedText(fmt::format("{}  {}", run.number, ui.timing(run.result)), room()));
    ImGui::PopFont();
    ImGui::SameLine();
    ui.muted(fittedText(ratesText(ui, run), room()));
    ImGui::SameLine(right);
    drawNote(ui, model, run, noteWidth);
    ui.muted(fittedText(setupText(run.settings), width));
    ImGui::Dummy({0, ui.px(2)});
}

} // namespace lockstep::demos
