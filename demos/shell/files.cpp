#include "demos/shell/files.h"

#include <algorithm>
#include <ctime>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/kit/assets.h"
#include "demos/kit/run_settings.h"
#include "demos/shell/state_file.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_text.h"

namespace lockstep::demos {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostEntries = 2000; // a folder of a million files must not stop the window
constexpr std::uint64_t largestRecent = 1u << 20;
constexpr std::size_t longestLine = 72; // of a menu

std::string firstSentence(const std::string& text) {
    const std::size_t end = text.find_first_of(".?!:");
    const bool whole = end == std::string::npos || end + 1 >= text.size() || text[end + 1] != ' ';
    return cut(whole ? text : text.substr(0, text[end] == ':' ? end : end + 1), longestLine);
}

} // namespace

std::string nameWithTime(const std::string& ending) {
    return fmt::format("lockstep-{:%Y%m%d-%H%M%S}.{}", fmt::localtime(std::time(nullptr)), ending);
}

std::string shownName(const fs::path& file) {
    using Json = nlohmann::json;
    const std::string valid = Json(file.string()).dump(-1, ' ', false, Json::error_handler_t::replace);
    return Json::parse(valid).get<std::string>();
}

void FileChooser::ask(Purpose purpose, const std::string& name) {
    open_ = focusWanted_ = true;
    purpose_ = purpose;
    name_ = name;
    ending_ = fs::path(name).extension();
    replaced_.clear();
    enter(folder_.empty() ? fs::path(".") : folder_);
}

bool FileChooser::takeKey(bool escape, bool enter) {
    const bool taken = open_;
    // With a control in the keyboard's focus, Enter is for that.
    entered_ = taken && enter && replaced_.empty() && !ImGui::GetIO().NavVisible;
    if (escape) close();
    return taken;
}

void FileChooser::enter(const fs::path& folder) {
    problem_.clear();
    std::error_code failure;
    const fs::path target = fs::canonical(folder, failure);
    fs::directory_iterator found;
    if (!failure) found = fs::directory_iterator(target, failure);
    if (failure) {
        const bool missing = failure == std::errc::no_such_file_or_directory;
        problem_ = fmt::format("{}: {}", shownName(folder),
                               missing ? std::string(translated("no such folder")) : failure.message());
        return;
    }
    folder_ = target;
    entries_.clear();
    more_ = false;
    for (; found != fs::directory_iterator(); found.increment(failure)) {
        if (failure) break;
        const fs::path name = found->path().filename();
        std::error_code unknown;
        const bool inside = found->is_directory(unknown);
        const bool readable = name.extension() == ".json" || isTableFile(name) ||
                              name.extension() == ".png" || name.extension() == ".md";
        const bool fits = purpose_ == Purpose::open ? readable : name.extension() == ending_;
        if (name.string().starts_with(".") || (!inside && !fits)) continue;
        if (more_ = entries_.size() == mostEntries; more_) break;
        entries_.push_back({name, inside});
    }
    std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
        return a.folder != b.folder ? a.folder : a.name < b.name;
    });
}

std::optional<fs::path> FileChooser::draw(Ui& ui) {
    constexpr const char* id = "choose a file";
    if (!open_ && !ImGui::IsPopupOpen(id)) return {};
    // Also after the device was lost, and ImGui's popups with it.
    if (!ImGui::IsPopupOpen(id)) ImGui::OpenPopup(id);
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize(
        {std::min(ui.px(620), display.x * 0.96f), std::min(ui.px(480), display.y * 0.96f)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(20), ui.px(16)});
    std::optional<fs::path> chosen;
    constexpr ImGuiWindowFlags flags =
        ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;
    if (ImGui::BeginPopupModal(id, nullptr, flags)) {
        ui.text(purpose_ == Purpose::open ? "Open" : "Save as", 0, ui.fonts.title);
        chosen = replaced_.empty() ? drawFolder(ui) : drawQuestion(ui);
        if (chosen) {
            open_ = false;
            chosenFolder_ = chosen->parent_path();
        }
        if (!open_) ImGui::CloseCurrentPopup();
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar();
    return chosen;
}

std::optional<fs::path> FileChooser::drawQuestion(Ui& ui) {
    ui.paragraph(translatedFormat("{} exists. Replace it?", shownName(replaced_)));
    std::optional<fs::path> chosen;
    if (ui.primaryButton("Replace##file", saysItself)) chosen = replaced_;
    ImGui::SameLine();
    if (ui.button("Keep##file", saysItself)) replaced_.clear();
    return chosen;
}

std::optional<fs::path> FileChooser::drawFolder(Ui& ui) {
    if (ui.button("Up##file", saysItself, folder_.has_relative_path())) enter(folder_.parent_path());
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-1);
    if (const auto typed = ui.typedText("##file/folder", saysItself, shownName(folder_))) enter(*typed);

    const float line = ImGui::GetFrameHeightWithSpacing();
    ImGui::BeginChild("entries", {0, std::max(line, ImGui::GetContentRegionAvail().y - 3 * line)}, true);
    bool done = drawEntries(ui);
    if (std::exchange(entered_, false)) done = !name_.empty();
    ImGui::EndChild();

    ImGui::SetNextItemWidth(-1);
    if (std::exchange(focusWanted_, false)) ImGui::SetKeyboardFocusHere();
    done |= ui.textField("##file/name", saysItself, name_);
    ui.text(fittedText(problem_, ImGui::GetContentRegionAvail().x), ui.theme.bad);
    done |=
        ui.primaryButton(purpose_ == Purpose::open ? "Open##file" : "Save##file", saysItself, !name_.empty());
    ImGui::SameLine();
    if (ui.button("Cancel##file", saysItself)) close();
    return done ? accept() : std::nullopt;
}

// True when a file was double-clicked.
bool FileChooser::drawEntries(Ui& ui) {
    bool done = false;
    std::optional<fs::path> entered;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        const std::string shown = shownName(entry.name) + (entry.folder ? "/" : "");
        ImGui::PushID(static_cast<int>(i));
        const bool pressed =
            ImGui::Selectable("##entry", entry.name == name_,
                              ImGuiSelectableFlags_DontClosePopups | ImGuiSelectableFlags_AllowDoubleClick);
        ImGui::PopID();
        ui.noteControl(("file/" + shown).c_str(), saysItself);
        const ImVec2 at = ImGui::GetItemRectMin();
        ImGui::GetWindowDrawList()->AddText({at.x + ui.px(4), at.y + ImGui::GetStyle().ItemSpacing.y / 2},
                                            entry.folder ? ui.theme.muted : ui.theme.text, shown.c_str());
        if (!pressed) continue;
        // The second click on a folder hits what the first one has brought here: it means nothing then.
        const bool twice = ImGui::IsMouseDoubleClicked(0);
        if (entry.folder) {
            if (!twice) entered = folder_ / entry.name;
        } else {
            done = twice && entry.name == name_;
            name_ = entry.name.string();
        }
    }
    if (entries_.empty()) ui.muted("No folders and no files of the right kind here.");
    if (more_) ui.muted(translatedFormat("Only {} entries are listed; type the name.", mostEntries));
    if (entered) enter(*entered);
    return done;
}

std::optional<fs::path> FileChooser::accept() {
    if (name_.empty()) return {};
    fs::path file = folder_ / name_;
    std::error_code unknown;
    if (fs::is_directory(file, unknown)) {
        name_.clear();
        enter(file);
        return {};
    }
    const bool saving = purpose_ == Purpose::save;
    if (saving && file.extension() != ending_) file += ending_;
    const bool exists = fs::exists(file, unknown);
    if (!saving && !exists) problem_ = translatedFormat("There is no {} here.", name_);
    if (saving && exists) replaced_ = file;
    return saving == exists ? std::nullopt : std::optional(file);
}

void RecentFiles::keepIn(fs::path file) {
    kept_ = std::move(file);
    load();
}

void RecentFiles::load() {
    try {
        std::vector<fs::path> files;
        for (const auto& entry : readJsonFile(kept_, largestRecent))
            if (files.size() < most) files.emplace_back(entry.get<std::string>());
        files_ = std::move(files);
    } catch (const std::exception&) {
        // Missing or broken: the list is a convenience, and starts again.
    }
}

void RecentFiles::add(const fs::path& file) {
    std::error_code failure;
    const fs::path whole = fs::absolute(file, failure).lexically_normal();
    if (failure || shownName(whole) != whole.string()) return; // JSON could not hold it
    if (!kept_.empty()) load();                                // another window may have added some
    std::erase(files_, whole);
    files_.insert(files_.begin(), whole);
    if (files_.size() > most) files_.resize(most);
    if (kept_.empty()) return;
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const fs::path& entry : files_) json.push_back(entry.string());
    try {
        createFoldersFor(kept_);
        writeFileAtomically(kept_, json.dump(2) + "\n");
    } catch (const std::exception&) {
        // An unwritable home must not keep anyone from opening files.
    }
}

std::vector<Preset> findPresets() {
    std::vector<Preset> presets;
    for (const fs::path& file : presetFiles()) {
        Preset preset{file, shownName(file.filename()), {}, {}};
        try {
            const auto json = readStateFile(preset.file);
            preset.title = json.value("title", preset.title);
            preset.about = json.value("about", "");
            preset.exhibit = json.value("exhibit", "");
        } catch (const std::exception& error) {
            preset.about = translatedParts(error.what());
        }
        presets.push_back(std::move(preset));
    }
    return presets;
}

float presetWidth(const Ui& ui, const Preset& preset) {
    return std::max(textWidth(preset.title) * 1.1f,
                    lettersWidth(firstSentence(std::string(translated(preset.about))))) +
           ui.px(8);
}

bool drawPreset(Ui& ui, const Preset& preset, float width) {
    const float letters = ImGui::GetTextLineHeight();
    ImGui::PushID(preset.file.c_str());
    const bool pressed = ImGui::Selectable("##preset", false, 0, {width, 2 * letters + ui.px(4)});
    ImGui::PopID();
    ui.noteControl(("menu/Presets/" + preset.title).c_str(), saysItself);
    ui.explainItem({.title = preset.title, .text = preset.about});
    const ImVec2 at = ImGui::GetItemRectMin();
    const float left = at.x + ui.px(4);
    const float top = at.y + ImGui::GetStyle().ItemSpacing.y / 2;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(ui.fonts.strong, ImGui::GetFontSize(), {left, top}, ui.theme.text,
                 std::string(translated(preset.title)).c_str());
    draw.AddText({left, top + letters + ui.px(2)}, ui.theme.muted,
                 firstSentence(std::string(translated(preset.about))).c_str());
    return pressed;
}

} // namespace lockstep::demos
