// The File menu, and the files behind it: states, presets, and what was opened before.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/kit/assets.h"
#include "demos/shell/app.h"
#include "demos/shell/run_window.h"

namespace lockstep::demos {

namespace {

namespace fs = std::filesystem;

// Notes the menu's item just drawn.
bool notedItem(Ui& ui, const std::string& name, std::string_view words, bool used) {
    ui.noteControl(("menu/" + name).c_str(), words);
    return used;
}

bool fileItem(Ui& ui, const char* label, std::string_view words, const char* key) {
    return notedItem(ui, label, words, ImGui::MenuItem(translatedLabel(label).c_str(), key));
}

bool fileMenu(Ui& ui, const char* label, std::string_view words, bool enabled = true) {
    return notedItem(ui, label, words, ImGui::BeginMenu(translatedLabel(label).c_str(), enabled));
}

} // namespace

void App::openState(const fs::path& file) {
    setState(readStateFile(file));
    std::error_code unknown; // presets are in a menu of their own
    if (fs::absolute(file, unknown).parent_path() != assetFolder("presets")) recent_.add(file);
}

void App::askForFile(FileChooser::Purpose purpose) {
    const bool saving = purpose == FileChooser::Purpose::save;
    ui_->hidingControls = false; // else a click would hide the chooser's buttons
    chooser_.ask(purpose, !saving             ? ""
                          : saveFile_.empty() ? usualStateFile
                                              : shownName(saveFile_.filename()));
}

void App::drawChooser() {
    const auto chosen = chooser_.draw(*ui_);
    if (!chosen) return;
    settle_ = 3;
    if (chooser_.purpose() == FileChooser::Purpose::open) {
        later_ = [this, file = *chosen] { openFile(file); };
    } else {
        saveFile_ = *chosen;
        saveState(saveFile_);
    }
}

void App::drawFileMenu() {
    fileMenuOpen_ = fileMenu(
        *ui_, "File", "Opens and saves states, lists the presets, saves pictures and recordings, and quits.");
    if (!fileMenuOpen_) return;
    const auto open = [this](const fs::path& file) { later_ = [this, file] { openFile(file); }; };
    if (fileItem(*ui_, "Open", "Opens a state, or a file of data or weights.", "Ctrl+O"))
        askForFile(FileChooser::Purpose::open);
    if (fileMenu(*ui_, "Open recent", "The last ten files that you opened.", !recent_.files().empty())) {
        for (const fs::path& file : recent_.files()) {
            const std::string name = file.filename().string();
            const bool pressed =
                ImGui::MenuItem((name + "##" + file.string()).c_str(), file.parent_path().string().c_str());
            if (notedItem(*ui_, "Open recent/" + name, saysItself, pressed)) open(file);
        }
        ImGui::EndMenu();
    }
    if (fileMenu(*ui_, "Presets", "Prepared states, each with a task to try.")) {
        if (const Preset* chosen = drawPresets()) open(chosen->file);
        ImGui::EndMenu();
    }
    ImGui::Separator();
    if (fileItem(*ui_, "Save state",
                 "Saves the state to the file of the last Save as, or to lockstep-state.json in the current "
                 "folder.",
                 "Ctrl+S"))
        saveState({});
    if (fileItem(*ui_, "Save as", "Saves the state under a name. Save state then uses that name.",
                 "Ctrl+Shift+S"))
        askForFile(FileChooser::Purpose::save);
    if (fileItem(*ui_, "Save picture", "Saves this window as a PNG file in the current folder.", "F12"))
        ui_->pictureWish.emplace();
    if (fileItem(*ui_, recordedSeconds_ ? "Stop recording" : "Record",
                 recordedSeconds_ ? stopRecordingWords
                                  : "Records this window as an animated picture, a WebP file in the current "
                                    "folder, for at most two minutes (Shift+F12).",
                 "Shift+F12"))
        recordWished_ = true;
    ImGui::Separator();
    if (fileItem(*ui_, "Quit", "Closes Lockstep. The next start continues with this state.", "Ctrl+Q"))
        wishes_.quit = true;
    ImGui::EndMenu();
}

const std::vector<Preset>& App::presets() {
    if (!presets_) presets_ = findPresets();
    return *presets_;
}

// A menu for each exhibit.
const Preset* App::drawPresets() {
    const Preset* chosen = nullptr;
    const auto drawGroup = [&](std::string_view exhibit) {
        float width = 0;
        for (const Preset& preset : presets())
            if (preset.exhibit == exhibit) width = std::max(width, presetWidth(*ui_, preset));
        for (const Preset& preset : presets())
            if (preset.exhibit == exhibit && drawPreset(*ui_, preset, width)) chosen = &preset;
    };
    if (presets().empty()) ui_->muted("No presets were found beside the program.");
    drawGroup(""); // what cannot be read says so
    for (const auto& entry : exhibits_) {
        if (std::ranges::count(presets(), entry->id(), &Preset::exhibit) == 0) continue;
        const bool unfolded = ImGui::BeginMenu(translatedLabel(entry->title()).c_str());
        if (!notedItem(*ui_, std::string("Presets/") + entry->title(), saysItself, unfolded)) continue;
        drawGroup(entry->id());
        ImGui::EndMenu();
    }
    return chosen;
}

} // namespace lockstep::demos
