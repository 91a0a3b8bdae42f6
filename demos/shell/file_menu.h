// The File menu, and the files behind it: states, presets, and what was opened before.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "demos/kit/exhibit.h"
#include "demos/shell/files.h"

namespace lockstep::demos {

/// What Ctrl+S writes to, in the current folder, until a name is chosen.
inline constexpr const char* usualStateFile = "lockstep-state.json";

/// Explains both the menu's entry and the sign of a recording.
inline constexpr const char* stopRecordingWords = "Ends the recording and saves it (Shift+F12).";

/// What a person asks for in the menu or in the file chooser.
struct FileWish {
    std::optional<std::filesystem::path> open;
    bool save = false;   ///< the state, to FileMenu::stateFile()
    bool record = false; ///< begin or end a recording
    bool quit = false;
    std::function<void()> write; ///< another file, where a person said; empty: none
};

class FileMenu {
  public:
    /// The menu; presets are grouped by the exhibits that they are of.
    FileWish draw(Ui& ui, std::span<const std::unique_ptr<Exhibit>> exhibits, bool recording);
    /// It is unfolded in this frame.
    bool unfolded() const { return unfolded_; }

    /// Opens the file chooser: to open a file, or to save the state under a name.
    void ask(Ui& ui, FileChooser::Purpose purpose);
    /// Asks where to write another file; FileWish::write then does it.
    void askFor(Ui& ui, SaveWish wish);
    /// The folder that a person chose last, in this run of the program; empty: none yet.
    const std::filesystem::path& chosenFolder() const { return chooser_.chosenFolder(); }
    /// As FileChooser::takeKey().
    bool takeKey(bool escape, bool enter) { return chooser_.takeKey(escape, enter); }
    /// The file chooser, over everything else.
    FileWish drawChooser(Ui& ui);

    /// The file of the last Save as, or usualStateFile.
    std::filesystem::path stateFile() const { return saveFile_.empty() ? usualStateFile : saveFile_; }
    /// The files opened last, kept from now on in `file`.
    void keepRecentFiles(const std::filesystem::path& file) { recent_.keepIn(file); }
    const std::vector<std::filesystem::path>& recentFiles() const { return recent_.files(); }
    void noteOpened(const std::filesystem::path& file) { recent_.add(file); }

  private:
    const std::vector<Preset>& presets();
    const Preset* drawPresets(Ui& ui, std::span<const std::unique_ptr<Exhibit>> exhibits);

    FileChooser chooser_;
    std::optional<SaveWish> asked_; // the chooser is open for it
    RecentFiles recent_;
    std::filesystem::path saveFile_;             // of the last Save as
    std::optional<std::vector<Preset>> presets_; // once they were looked for
    bool unfolded_ = false;
};

} // namespace lockstep::demos
