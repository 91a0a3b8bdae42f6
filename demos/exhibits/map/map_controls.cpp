#include "demos/exhibits/map/map_controls.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/exhibits/map/map_pane.h"
#include "demos/kit/machines.h"
#include "demos/kit/run_form.h"
#include "engine/files/atomic_file.h"

namespace lockstep::demos {

namespace {

constexpr Activation activations[] = {Activation::tanh, Activation::relu, Activation::identity};
constexpr MapAxes axesChoices[] = {MapAxes::rates, MapAxes::rateAndScale};
constexpr double zoomOfKey = 0.5;
constexpr double moveOfKey = 0.25;
constexpr std::string_view bookmarkWords = "A saved region; Add saves the one on the screen.";

constexpr float signPadding = 5; // on either side of a narrow button's letter
constexpr float signGap = 3;

/// A button beside the last item, which ends at `end`, or below it where there is no room.
/// sign   narrow, for a single letter
bool rowButton(Ui& ui, std::optional<float>& end, const char* label, std::string_view words,
               bool enabled = true, bool sign = false) {
    const ImVec2 usual = ImGui::GetStyle().FramePadding;
    const ImVec2 padding{sign ? ui.px(signPadding) : usual.x, usual.y};
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    const float width = textWidth(shownLabel(label)) + 2 * padding.x;
    const float gap = ui.px(sign ? signGap : 6);
    if (end && *end + gap + width <= right) ImGui::SameLine(0, gap);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, padding);
    const bool pressed = ui.button(label, words, enabled);
    ImGui::PopStyleVar();
    end = ImGui::GetItemRectMax().x;
    return pressed;
}

/// Leaves room, so that the narrow buttons that follow stand at the row's right end.
void moveToEnd(const Ui& ui, std::optional<float>& end, std::span<const char* const> signs) {
    float width = 0;
    for (const char* const sign : signs) width += textWidth(sign) + 2 * ui.px(signPadding) + ui.px(signGap);
    const float spare = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x - width - *end;
    if (spare <= 0) return;
    ImGui::SameLine(0, 0);
    ImGui::Dummy({spare, ImGui::GetFrameHeight()});
    end = ImGui::GetItemRectMax().x;
}

/// A popup right below the last item.
bool beginPopupBelow(const Ui& ui, const char* name, float units) {
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)},
                            ImGuiCond_Appearing);
    ImGui::SetNextWindowSize({std::min(ui.px(units), ImGui::GetIO().DisplaySize.x), 0});
    return ImGui::BeginPopup(name);
}

void resolutionField(Ui& ui, const char* control, std::uint32_t& resolution) {
    std::vector<std::string> names;
    for (const std::uint32_t pixels : MapSettings::resolutions)
        names.push_back(pixels == 0 ? "to fit" : fmt::format("{0} x {0}", pixels));
    const auto now = std::ranges::find(MapSettings::resolutions, resolution);
    auto chosen = static_cast<std::size_t>(now - std::begin(MapSettings::resolutions));
    if (ui.combo(control,
                 "Size of the picture, in pixels; each pixel is a network. \"To fit\" fills the pane.",
                 chosen, names))
        resolution = MapSettings::resolutions[chosen];
}

void presetField(Ui& ui, const char* control, MapSettings& settings) {
    std::string shown = "custom";
    std::vector<std::string> names;
    for (const MapPreset& preset : mapPresets()) {
        if (preset.place() == settings.place()) shown = preset.name;
        names.emplace_back(preset.name);
    }
    if (chooseText(ui, control, "Places on the map worth visiting, with their settings.", shown, names))
        settings.place() = mapPresetFromName(shown).place();
}

void drawMapSettings(Ui& ui, MapModel& model) {
    MapSettings settings = model.settings();
    MapJob& job = settings.job;
    RunForm form(ui, "map/");
    form.field("##map/network", "Network", 96, [&](const char* control) {
        std::string network = mapNetworkText(job);
        if (chooseText(ui, control,
                       "Widths of the network that every pixel trains: inputs, hidden neurons, outputs.",
                       network, {"2-4-1", "8-8-1", "16-16-1"}))
            readMapNetwork(network, job);
    });
    form.choice("activation", "Activation", activationWords, 96, job.activation, activations);
    form.field("##map/axes", "Axes", 136, [&](const char* control) {
        if (chooseName(ui, control, "The two hyperparameters along the axes of the map.", job.axes,
                       axesChoices))
            settings.window = wholeWindow(job.axes);
    });
    form.field("##map/steps", "Steps", 90, [&](const char* control) {
        auto steps = static_cast<int>(job.steps);
        if (ui.intSlider(control, "Training steps of every network.", steps, 10, 2000))
            job.steps = static_cast<std::uint32_t>(std::clamp(steps, 1, 2000));
    });
    form.field("##map/examples", "Examples", 90, [&](const char* control) {
        ui.powerSlider(control, "Random examples that every network trains on, all in one batch.",
                       job.examples, 1, 512);
    });
    form.field("##map/picture", "Picture", 112,
               [&](const char* control) { resolutionField(ui, control, settings.resolution); });
    form.field("CPU##map", "", 60, [&](const char* control) {
        ui.checkbox(control, "Paints the same map on the CPU too.", settings.cpu);
    });
    form.end();
    // change() may throw, so it comes when everything has been drawn.
    if (settings != model.settings()) model.change(settings);
}

/// The preset, and a button for all other settings. Returns where they end.
std::optional<float> drawSettingsRow(Ui& ui, MapModel& model) {
    MapSettings settings = model.settings();
    ImGui::SetNextItemWidth(ui.px(130));
    presetField(ui, "##map/preset", settings);
    ui.explainItem({.title = "Preset", .text = "A network and a region of its map worth seeing."});
    std::optional<float> end = ImGui::GetItemRectMax().x;
    if (rowButton(ui, end, "Settings##map", settingsWords)) ImGui::OpenPopup("map settings");
    if (beginPopupBelow(ui, "map settings", 400)) {
        drawMapSettings(ui, model);
        ImGui::EndPopup();
    } else if (settings != model.settings()) {
        model.change(settings);
    }
    return end;
}

} // namespace

MakeMapTrainer mapMaker(Ui& ui, const MapJob& job, MapMachine machine) {
    if (machine == MapMachine::cpu)
        return [job, threads = ui.machines.threads()] { return makeCpuMapTrainer(job, threads); };
    return [job, device = ui.machines.deviceOf(laneOf(machine))] { return makeGpuMapTrainer(*device, job); };
}

void MapControls::update(Ui& ui) {
    if (const auto saved = saving.takeFinished(ui.scripted))
        ui.say(Severity::info,
               translatedFormat("Map of {} pixels saved to {}", mapSizeText(saved->picture.size),
                                std::filesystem::absolute(saved->file).string()));
}

void MapControls::draw(Ui& ui, MapModel& model) {
    std::optional<float> end = drawSettingsRow(ui, model);
    const auto button = [&](const char* label, std::string_view words, bool enabled = true) {
        return rowButton(ui, end, label, words, enabled);
    };
    const auto sign = [&](const char* label, std::string_view words) {
        return rowButton(ui, end, label, words, true, true);
    };
    const auto look = [&](const MapWindow& window) { sayRefused(ui, model.look(window, true)); };
    // By shares of the picture: the window goes where the arrow points.
    const auto move = [&](double columns, double rows) {
        const MapSize size = model.size();
        sayRefused(ui,
                   model.pan({-std::llround(columns * size.width), -std::llround(rows * size.height)}, true));
    };
    if (button("Back##map", "Returns to the region before this one (Alt+Left).", model.history().canGoBack()))
        model.goBack();
    if (!ui.presenter &&
        button("Forward##map", "Goes forward again through the regions you visited (Alt+Right).",
               model.history().canGoForward()))
        model.goForward();
    if (button("Whole##map", "Shows the whole map again.")) look(wholeWindow(model.settings().job.axes));
    if (button("Bookmarks##map", "Regions that you saved, and a field to save this one."))
        ImGui::OpenPopup("bookmarks");
    drawBookmarks(ui, model);
    if (!ui.presenter && button("Save PNG##map", "Saves the map as a picture of any size.", !saving.busy()))
        ImGui::OpenPopup("save map");
    drawSaving(ui, model);
    constexpr const char* signs[] = {"+", "−", "←", "↑", "↓", "→"};
    if (!ui.presenter) moveToEnd(ui, end, signs);
    if (sign("+##map", "Zooms in by a factor of 2.")) look(zoomed(model.window(), 0.5, 0.5, zoomOfKey));
    if (sign("−##map", "Zooms out by a factor of 2.")) look(zoomed(model.window(), 0.5, 0.5, 1 / zoomOfKey));
    if (ui.presenter) return; // one row: Alt with an arrow goes forward, dragging moves
    if (sign("←##map", "Moves the view left by a quarter.")) move(-moveOfKey, 0);
    if (sign("↑##map", "Moves the view up by a quarter.")) move(0, -moveOfKey);
    if (sign("↓##map", "Moves the view down by a quarter.")) move(0, moveOfKey);
    if (sign("→##map", "Moves the view right by a quarter.")) move(moveOfKey, 0);
}

void MapControls::drawBookmarks(Ui& ui, MapModel& model) {
    if (!beginPopupBelow(ui, "bookmarks", 320)) return;
    MapSettings settings = model.settings();
    std::optional<std::size_t> removed;
    for (std::size_t i = 0; i < settings.bookmarks.size(); ++i) {
        const MapBookmark& bookmark = settings.bookmarks[i];
        ImGui::PushID(static_cast<int>(i));
        if (ui.button(("×##map/remove " + bookmark.name).c_str(), "Deletes this bookmark.")) removed = i;
        ImGui::SameLine();
        if (ui.button((bookmark.name + "##map/bookmark").c_str(), bookmarkWords))
            settings.place() = bookmark.place();
        ImGui::PopID();
    }
    if (settings.bookmarks.empty()) ui.muted("Save places to return to.");
    ImGui::SetNextItemWidth(ui.px(200));
    const bool entered = ui.textField("##map/bookmark name", "Name of a new bookmark.", bookmarkName_);
    ImGui::SameLine();
    const bool addable = !bookmarkName_.empty() && settings.bookmarks.size() < MapSettings::mostBookmarks;
    if ((ui.primaryButton("Add##map/bookmark", bookmarkWords, addable) || entered) && addable) {
        settings.bookmarks.push_back({settings.place(), bookmarkName_});
        bookmarkName_.clear();
    }
    if (removed) settings.bookmarks.erase(settings.bookmarks.begin() + static_cast<std::ptrdiff_t>(*removed));
    ImGui::EndPopup();
    if (settings != model.settings()) model.change(settings);
}

void MapControls::drawSaving(Ui& ui, MapModel& model) {
    if (!beginPopupBelow(ui, "save map", 360)) return;
    ui.paragraph("Trains the map again at this size, up to 4096x4096, on the faster machine.",
                 ui.theme.muted);
    ImGui::SetNextItemWidth(ui.px(240));
    ui.textField("Pixels##map/saved size", "Width and height of the saved picture, in pixels.", pictureSize);
    ImGui::SetNextItemWidth(ui.px(240));
    ui.textField("File##map/saved file", "Name of the PNG file.", pictureFile_);
    const bool pressed = ui.primaryButton("Save##map", "Trains the picture's pixels and writes the file.");
    if (pressed) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    if (!pressed) return;
    const MapSize size = mapSizeFromText(pictureSize);
    if (pictureFile_.empty()) throw std::invalid_argument("name a file to save the picture to");
    requireWritable(pictureFile_);
    const MapSettings& settings = model.settings();
    const MapRequest picture{{settings.job, fitted(settings.window, size)}, size};
    if (!picture.resolved())
        ui.say(Severity::info, "At this size, some neighbouring pixels round to the same fp32 numbers.");
    saving.start({pictureFile_, picture}, mapMaker(ui, settings.job, model.fastest()));
}

// In the room of the remark; a presenter's is too low for a button.
void MapControls::drawProgress(Ui& ui) {
    if (!ui.presenter) {
        if (ui.button("Cancel##map", "Stops saving; no file is written.")) saving.cancel();
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
    }
    const float height = ui.presenter ? ImGui::GetTextLineHeight() : ImGui::GetFrameHeight();
    ui.muted(translatedFormat("Saving a picture: {:.0f} %", std::floor(100 * saving.share())));
    ImGui::SameLine();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = std::max(ImGui::GetContentRegionAvail().x, ui.px(20));
    const float y = start.y + height / 2;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddLine({start.x, y}, {start.x + width, y}, ui.theme.border, ui.px(4));
    draw.AddLine({start.x, y}, {start.x + width * static_cast<float>(saving.share()), y}, ui.theme.text,
                 ui.px(4));
    ImGui::Dummy({width, ImGui::GetTextLineHeight()});
}

} // namespace lockstep::demos
