#include "demos/shell/file_menu.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep::demos {

namespace {

namespace fs = std::filesystem;

} // namespace

FileWish FileMenu::draw(Ui& ui, std::span<const std::unique_ptr<Exhibit>> exhibits, bool recording) {
    FileWish wish;
    unfolded_ = ui.menu(
        "File", "Opens and saves states, lists the presets, saves pictures and recordings, and quits.");
    if (!unfolded_) return wish;
    if (ui.menuItem("Open", "Opens a state, or a file of data or weights.", "Ctrl+O"))
        ask(ui, FileChooser::Purpose::open);
    if (ui.menu("Open recent", "The last ten files that you opened.", !recent_.files().empty())) {
        for (const fs::path& file : recent_.files()) {
            const std::string name = file.filename().string();
            const bool pressed =
                ImGui::MenuItem((name + "##" + file.string()).c_str(), file.parent_path().string().c_str());
            if (ui.noteMenu("Open recent/" + name, saysItself, pressed)) wish.open = file;
        }
        ImGui::EndMenu();
    }
    if (ui.menu("Presets", "Prepared states, each with a task to try.")) {
        if (const Preset* chosen = drawPresets(ui, exhibits)) wish.open = chosen->file;
        ImGui::EndMenu();
    }
    ImGui::Separator();
    if (ui.menuItem(
            "Save state",
            "Saves the state to the file of the last Save as, or to lockstep-state.json in the current "
            "folder.",
            "Ctrl+S"))
        wish.save = true;
    if (ui.menuItem("Save as", "Saves the state under a name. Save state then uses that name.",
                    "Ctrl+Shift+S"))
        ask(ui, FileChooser::Purpose::save);
    if (ui.menuItem("Save picture",
                    "Saves this window as a PNG file. Asks for the folder, then keeps to it until the end.",
                    "F12"))
        ui.pictureWish.emplace();
    if (ui.menuItem(recording ? "Stop recording" : "Record",
                    recording ? stopRecordingWords
                              : "Records this window as an animated picture, a WebP file, for at most two "
                                "minutes (Shift+F12). Asks for the folder first.",
                    "Shift+F12"))
        wish.record = true;
    ImGui::Separator();
    if (ui.menuItem("Quit", "Closes Lockstep. The next start continues with this state.", "Ctrl+Q"))
        wish.quit = true;
    ImGui::EndMenu();
    return wish;
}

const std::vector<Preset>& FileMenu::presets() {
    if (!presets_) presets_ = findPresets();
    return *presets_;
}

// A menu for each exhibit.
const Preset* FileMenu::drawPresets(Ui& ui, std::span<const std::unique_ptr<Exhibit>> exhibits) {
    const Preset* chosen = nullptr;
    const auto drawGroup = [&](std::string_view exhibit) {
        float width = 0;
        for (const Preset& preset : presets())
            if (preset.exhibit == exhibit) width = std::max(width, presetWidth(ui, preset));
        for (const Preset& preset : presets())
            if (preset.exhibit == exhibit && drawPreset(ui, preset, width)) chosen = &preset;
    };
    if (presets().empty()) ui.muted("No presets were found beside the program.");
    drawGroup(""); // what cannot be read says so
    for (const auto& entry : exhibits) {
        if (std::ranges::count(presets(), entry->id(), &Preset::exhibit) == 0) continue;
        const bool unfolded = ImGui::BeginMenu(translatedLabel(entry->title()).c_str());
        if (!ui.noteMenu(std::string("Presets/") + entry->title(), saysItself, unfolded)) continue;
        drawGroup(entry->id());
        ImGui::EndMenu();
    }
    return chosen;
}

void FileMenu::ask(Ui& ui, FileChooser::Purpose purpose) {
    const bool saving = purpose == FileChooser::Purpose::save;
    ui.hidingControls = false; // else a click would hide the chooser's buttons
    asked_.reset();
    chooser_.ask(purpose, !saving             ? ""
                          : saveFile_.empty() ? usualStateFile
                                              : shownName(saveFile_.filename()));
}

void FileMenu::askFor(Ui& ui, SaveWish wish) {
    ui.hidingControls = false;
    chooser_.ask(FileChooser::Purpose::save, wish.name);
    asked_ = std::move(wish);
}

FileWish FileMenu::drawChooser(Ui& ui) {
    FileWish wish;
    const auto chosen = chooser_.draw(ui);
    if (!chosen) return wish;
    if (asked_) {
        wish.write = [write = std::exchange(asked_, std::nullopt)->write, file = *chosen] { write(file); };
    } else if (chooser_.purpose() == FileChooser::Purpose::open) {
        wish.open = *chosen;
    } else {
        saveFile_ = *chosen;
        wish.save = true;
    }
    return wish;
}

} // namespace lockstep::demos
