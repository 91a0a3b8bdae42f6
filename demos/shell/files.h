// What the File menu needs: a file chooser inside the window, the files opened last, and the prepared states.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// "lockstep-20260131-140509.png": a name that no other file has.
std::string nameWithTime(const std::string& ending);

/// For messages: bytes that are not UTF-8 become a replacement character.
std::string shownName(const std::filesystem::path& file);

class FileChooser {
  public:
    enum class Purpose { open, save };

    /// Opens it, in the folder where it was last. `name` stands in the name field; what is saved gets the
    /// ending of that, unless it has it already.
    void ask(Purpose purpose, const std::string& name);
    void close() { open_ = false; }
    /// While it is open, no key means anything else: true. Escape closes it; Enter accepts the file that was
    /// clicked.
    bool takeKey(bool escape, bool enter);
    Purpose purpose() const { return purpose_; }
    /// Once per frame. Returns the file once one is chosen; saving asks before it names one that exists.
    std::optional<std::filesystem::path> draw(Ui& ui);
    /// Of the file that was chosen last; empty: none was.
    const std::filesystem::path& chosenFolder() const { return chosenFolder_; }

  private:
    struct Entry {
        std::filesystem::path name;
        bool folder = false;
    };

    void enter(const std::filesystem::path& folder);
    std::optional<std::filesystem::path> drawQuestion(Ui& ui);
    std::optional<std::filesystem::path> drawFolder(Ui& ui);
    bool drawEntries(Ui& ui);
    std::optional<std::filesystem::path> accept();

    bool open_ = false;
    bool entered_ = false;     // Enter was pressed
    bool focusWanted_ = false; // the name field takes what is typed
    Purpose purpose_ = Purpose::open;
    std::filesystem::path folder_; // absolute
    std::filesystem::path chosenFolder_;
    std::filesystem::path ending_; // of what is saved: ".json"
    std::vector<Entry> entries_;
    bool more_ = false; // than are listed
    std::string name_;
    std::string problem_;
    std::filesystem::path replaced_; // not empty: asks whether to
};

/// The files opened last, the newest first.
class RecentFiles {
  public:
    static constexpr std::size_t most = 10;

    /// Continues the list in `file`, and keeps it there from now on. An unreadable one counts as empty.
    void keepIn(std::filesystem::path file);
    void add(const std::filesystem::path& file);
    const std::vector<std::filesystem::path>& files() const { return files_; }

  private:
    void load();

    std::filesystem::path kept_;
    std::vector<std::filesystem::path> files_;
};

struct Preset {
    std::filesystem::path file;
    std::string title; ///< the file's name where it has none
    std::string about;
    std::string exhibit; ///< its id; empty: unreadable
};

/// By their files' names.
std::vector<Preset> findPresets();
/// Two lines of a menu: title, and the first sentence of `about`. True when it was chosen.
bool drawPreset(Ui& ui, const Preset& preset, float width);
/// Width that its lines need.
float presetWidth(const Ui& ui, const Preset& preset);

} // namespace lockstep::demos
