#include "demos/report/tuning_notice.h"

#include <algorithm>
#include <cstdlib>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// As people write it: "~/.cache/lockstep/kernels.json".
std::string fileText(const std::filesystem::path& file) {
    const std::string text = file.string();
    const char* home = std::getenv("HOME");
    const std::string folder = home == nullptr ? "" : home;
    return folder.size() > 1 && text.starts_with(folder + "/") ? "~" + text.substr(folder.size()) : text;
}

} // namespace

std::string comparisonText(const TuningProgress& tuning) {
    if (tuning.at == 0) return std::string(translated("compiling the kernels to compare"));
    return translatedFormat("{} of {}: {}", tuning.at, tuning.comparisons, translated(tuning.comparing));
}

std::string whyCompared(const TuningProgress& tuning) {
    std::string text(
        translated("Several kernels can compute each product of this network. Timing them on this "
                   "device shows which is fastest. "));
    if (tuning.keptIn.empty())
        return text + std::string(translated("This happens once per network, as long as the program runs."));
    return text + translatedFormat("This happens once per network: the times are kept in {}.",
                                   fileText(tuning.keptIn));
}

bool TuningNotice::draw(Ui& ui, const std::string& lane, const TuningProgress& tuning) {
    left_.add(tuning.seconds, tuning.expected > 0 ? tuning.seconds / tuning.expected : 0);
    const ImVec2 pad{ui.px(12), ui.px(8)};
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float inner = width - 2 * pad.x;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.ChannelsSplit(2);
    draw.ChannelsSetCurrent(1);
    ImGui::SetCursorScreenPos({start.x + pad.x, start.y + pad.y});
    ImGui::BeginGroup();
    ui.heading(translatedFormat("{} compares kernels before it trains", lane));
    ui.paragraph(whyCompared(tuning), ui.theme.muted, inner);

    const char* const label = "Skip the comparison";
    const ImGuiStyle& style = ImGui::GetStyle();
    const float button = textWidth(translatedLabel(label)) + 2 * style.FramePadding.x;
    const float bar = ui.px(10);
    const ImVec2 row = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({row.x, row.y + (ImGui::GetFrameHeight() - bar) / 2});
    ImGui::ProgressBar(static_cast<float>(tuning.share()), {inner - button - style.ItemSpacing.x, bar}, "");
    ImGui::SetCursorScreenPos({row.x + inner - button, row.y});
    const bool pressed =
        ui.button(label,
                  "Trains at once, with the fastest kernels measured so far and the likeliest "
                  "for the rest. What was not compared is compared at the next start.",
                  !tuning.skipped);

    std::string text = comparisonText(tuning);
    if (tuning.skipped)
        text = translated("skipping: the kernel under way is the last one");
    else if (left_.seconds())
        text += translatedFormat(", {} so far, about {} left", clockTime(tuning.seconds),
                                 clockTime(*left_.seconds()));
    else
        text += translatedFormat(", {} so far", clockTime(tuning.seconds));
    ui.text(fittedText(text, inner));
    ImGui::EndGroup();
    const float bottom = ImGui::GetItemRectMax().y + pad.y;
    draw.ChannelsSetCurrent(0);
    draw.AddRectFilled(start, {start.x + width, bottom}, ui.theme.panel, ui.px(8));
    draw.ChannelsMerge();
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({width, bottom - start.y});
    return pressed;
}

} // namespace lockstep::demos
