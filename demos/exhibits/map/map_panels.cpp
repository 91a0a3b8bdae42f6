// The map's controls: settings, navigation, the panes.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "demos/exhibits/map/map_exhibit.h"
#include "demos/exhibits/map/map_words.h"
#include "demos/kit/run_form.h"
#include "demos/options/map_options.h"

namespace lockstep::demos {

namespace {

constexpr Activation activations[] = {Activation::tanh, Activation::relu, Activation::identity};
constexpr MapAxes axesChoices[] = {MapAxes::rates, MapAxes::rateAndScale};
constexpr std::size_t networks[][2] = {{2, 4}, {8, 8}, {16, 16}}; // inputs and hidden neurons
constexpr double zoomOfKey = 0.5;
constexpr double moveOfKey = 0.25;

/// Buttons side by side, as many to a row as there is room for.
class ButtonRow {
  public:
    explicit ButtonRow(Ui& ui)
        : ui_(ui), right_(ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x) {}

    bool button(const char* label, bool enabled = true) {
        if (ui_.hidden(label)) return false;
        const std::string shown(shownLabel(label));
        const ImGuiStyle& style = ImGui::GetStyle();
        const float width = ImGui::CalcTextSize(shown.c_str()).x + 2 * style.FramePadding.x;
        const float gap = ui_.px(6);
        if (end_ && *end_ + gap + width <= right_) ImGui::SameLine(0, gap);
        const bool pressed = ui_.button(label, enabled);
        end_ = ImGui::GetItemRectMax().x;
        return pressed;
    }

  private:
    Ui& ui_;
    float right_;
    std::optional<float> end_; // of the last one
};

/// A popup right below the last item.
bool beginPopupBelow(const Ui& ui, const char* name, float units) {
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)},
                            ImGuiCond_Appearing);
    ImGui::SetNextWindowSize({std::min(ui.px(units), ImGui::GetIO().DisplaySize.x), 0});
    return ImGui::BeginPopup(name);
}

void networkField(Ui& ui, const char* control, MapJob& job) {
    std::vector<std::string> names;
    std::vector<MapJob> jobs;
    for (const auto& [inputs, hidden] : networks) {
        jobs.push_back(job);
        jobs.back().inputs = inputs;
        jobs.back().hidden = hidden;
        names.push_back(networkText(jobs.back()));
    }
    if (std::ranges::find(jobs, job) == jobs.end()) {
        jobs.push_back(job);
        names.push_back(networkText(job));
    }
    auto chosen = static_cast<std::size_t>(std::ranges::find(jobs, job) - jobs.begin());
    if (ui.combo(control, chosen, names)) job = jobs[chosen];
}

void resolutionField(Ui& ui, const char* control, std::uint32_t& resolution) {
    std::vector<std::string> names;
    std::vector<std::uint32_t> values;
    for (const std::uint32_t pixels : MapSettings::resolutions) {
        names.push_back(fmt::format("{0} x {0}", pixels));
        values.push_back(pixels);
    }
    names.emplace_back("to fit");
    values.push_back(0);
    auto chosen = static_cast<std::size_t>(std::ranges::find(values, resolution) - values.begin());
    if (ui.combo(control, chosen, names)) resolution = values[chosen];
}

} // namespace

void MapExhibit::draw(Ui& ui) {
    // Presenter mode has no room for settings; mouse and keys still navigate.
    if (!ui.presenter) {
        const bool low = ImGui::GetContentRegionAvail().y < ui.px(480);
        if (!low) drawSettings(ui);
        drawTravel(ui, low);
    }
    const float line = ImGui::GetTextLineHeight();
    const float gap = ImGui::GetStyle().ItemSpacing.y;
    const float legend = 2 * line + ui.px(2);
    const float remarks = remarkLines(ui) * line;
    drawPanes(ui, std::max(ImGui::GetContentRegionAvail().y - legend - remarks - 2 * gap, ui.px(90)));
    drawLegend(ui);
    // Not above them: a picture that fits its pane would be thrown away when the pane becomes another.
    if (export_.busy())
        drawProgress(ui);
    else
        drawRemark(ui);
}

void MapExhibit::drawSettings(Ui& ui) {
    MapSettings settings = model_.settings();
    MapJob& job = settings.job;
    FieldFlow fields(ui);
    fields.field("##map/preset", "Preset", 150, [&](const char*) { drawPreset(ui, settings); });
    fields.field("##map/network", "Network", 96,
                 [&](const char* control) { networkField(ui, control, job); });
    fields.field("##map/activation", "Activation", 96,
                 [&](const char* control) { chooseName(ui, control, job.activation, activations); });
    fields.field("##map/axes", "Axes", 136, [&](const char* control) {
        if (chooseName(ui, control, job.axes, axesChoices)) settings.window = wholeWindow(job.axes);
    });
    fields.field("##map/steps", "Steps", 90, [&](const char* control) {
        auto steps = static_cast<int>(job.steps);
        if (ui.intSlider(control, steps, 10, 2000))
            job.steps = static_cast<std::uint32_t>(std::clamp(steps, 1, 2000));
    });
    fields.field("##map/examples", "Examples", 90,
                 [&](const char* control) { ui.powerSlider(control, job.examples, 1, 512); });
    fields.field("##map/picture", "Picture", 112,
                 [&](const char* control) { resolutionField(ui, control, settings.resolution); });
    fields.field("CPU##map", "", 60, [&](const char* control) { ui.checkbox(control, settings.cpu); });
    fields.end();
    // change() may throw, so it comes when everything has been drawn.
    if (settings != model_.settings()) model_.change(settings);
}

void MapExhibit::drawPreset(Ui& ui, MapSettings& settings) {
    std::vector<std::string> names;
    std::size_t chosen = mapPresets().size();
    for (const MapPreset& preset : mapPresets()) {
        if (preset.job == settings.job && preset.window == settings.window) chosen = names.size();
        names.emplace_back(preset.name);
    }
    if (chosen == names.size()) names.emplace_back("own");
    if (!ui.combo("##map/preset", chosen, names) || chosen >= mapPresets().size()) return;
    settings.job = mapPresets()[chosen].job;
    settings.window = mapPresets()[chosen].window;
}

void MapExhibit::drawTravel(Ui& ui, bool withSettings) {
    ButtonRow row(ui);
    if (withSettings) {
        if (row.button("Settings##map")) ImGui::OpenPopup("map settings");
        if (beginPopupBelow(ui, "map settings", 400)) {
            drawSettings(ui);
            ImGui::EndPopup();
        }
    }
    if (row.button("Back##map", model_.history().canGoBack())) model_.goBack();
    if (row.button("Forward##map", model_.history().canGoForward())) model_.goForward();
    if (row.button("+##map")) look(ui, zoomed(model_.window(), 0.5, 0.5, zoomOfKey));
    if (row.button("−##map")) look(ui, zoomed(model_.window(), 0.5, 0.5, 1 / zoomOfKey));
    if (row.button("←##map")) move(ui, -moveOfKey, 0);
    if (row.button("→##map")) move(ui, moveOfKey, 0);
    if (row.button("↑##map")) move(ui, 0, -moveOfKey);
    if (row.button("↓##map")) move(ui, 0, moveOfKey);
    if (row.button("Whole##map")) look(ui, wholeWindow(model_.settings().job.axes));
    if (row.button("Bookmarks##map")) ImGui::OpenPopup("bookmarks");
    drawBookmarks(ui);
    if (row.button("Save PNG##map", !export_.busy())) ImGui::OpenPopup("save map");
    drawSaving(ui);
}

void MapExhibit::drawBookmarks(Ui& ui) {
    if (!beginPopupBelow(ui, "bookmarks", 320)) return;
    MapSettings settings = model_.settings();
    std::optional<std::size_t> removed;
    for (std::size_t i = 0; i < settings.bookmarks.size(); ++i) {
        const MapBookmark& bookmark = settings.bookmarks[i];
        ImGui::PushID(static_cast<int>(i));
        if (ui.button(("×##map/remove " + bookmark.name).c_str())) removed = i;
        ImGui::SameLine();
        if (ui.button((bookmark.name + "##map/bookmark").c_str())) {
            settings.job = bookmark.job;
            settings.window = bookmark.window;
        }
        ImGui::PopID();
    }
    if (settings.bookmarks.empty()) ui.muted("Save places to return to.");
    ImGui::SetNextItemWidth(ui.px(200));
    const bool entered = ui.textField("##map/bookmark name", bookmarkName_);
    ImGui::SameLine();
    const bool full = settings.bookmarks.size() == MapSettings::mostBookmarks;
    if ((ui.primaryButton("Add##map/bookmark", !bookmarkName_.empty() && !full) || entered) &&
        !bookmarkName_.empty() && !full) {
        settings.bookmarks.push_back({bookmarkName_, settings.job, settings.window});
        bookmarkName_.clear();
    }
    if (removed) settings.bookmarks.erase(settings.bookmarks.begin() + static_cast<std::ptrdiff_t>(*removed));
    ImGui::EndPopup();
    if (settings != model_.settings()) model_.change(settings);
}

void MapExhibit::drawSaving(Ui& ui) {
    if (!beginPopupBelow(ui, "save map", 360)) return;
    ui.paragraph("Trains the map again at this size, up to 4096x4096, on the faster machine.",
                 ui.theme.muted);
    ImGui::SetNextItemWidth(ui.px(240));
    ui.textField("Pixels##map/saved size", pictureSize_);
    ImGui::SetNextItemWidth(ui.px(240));
    ui.textField("File##map/saved file", pictureFile_);
    const bool pressed = ui.primaryButton("Save##map");
    if (pressed) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    if (pressed) startSaving(ui);
}

// In the room of the remark; a presenter's is too low for a button.
void MapExhibit::drawProgress(Ui& ui) {
    if (!ui.presenter) {
        if (ui.button("Cancel##map")) export_.cancel();
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
    }
    const float height = ui.presenter ? ImGui::GetTextLineHeight() : ImGui::GetFrameHeight();
    ui.muted(fmt::format("Saving a picture: {:.0f} %", std::floor(100 * export_.share())));
    ImGui::SameLine();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = std::max(ImGui::GetContentRegionAvail().x, ui.px(20));
    const float y = start.y + height / 2;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddLine({start.x, y}, {start.x + width, y}, ui.theme.border, ui.px(4));
    draw.AddLine({start.x, y}, {start.x + width * static_cast<float>(export_.share()), y}, ui.theme.text,
                 ui.px(4));
    ImGui::Dummy({width, ImGui::GetTextLineHeight()});
}

// Side by side, or where the window is narrow, one above the other.
void MapExhibit::drawPanes(Ui& ui, float height) {
    const std::optional<std::uint32_t> marked = hovered();
    const float width = ImGui::GetContentRegionAvail().x;
    const float gap = ui.px(10);
    if (!model_.enabled(MapMachine::cpu)) {
        panes_[0].draw(ui, model_, marked, {width, height});
        return;
    }
    const bool beside = width > 0.9f * height;
    const ImVec2 room = beside ? ImVec2{(width - gap) / 2, height}
                               : ImVec2{width, (height - ImGui::GetStyle().ItemSpacing.y) / 2};
    panes_[0].draw(ui, model_, marked, room);
    if (beside) ImGui::SameLine(0, gap);
    panes_[1].draw(ui, model_, marked, room);
}

} // namespace lockstep::demos
