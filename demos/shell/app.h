// The window's contents: exhibits on the left, the one shown in the middle, details on the right, and the
// bars above and below. It does not know where frames come from and go to. Each part of it is a class; App
// brings them together, and does what a person asks for in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/kit/exhibit.h"
#include "demos/lesson/languages.h"
#include "demos/shell/device_picker.h"
#include "demos/shell/exhibit_list.h"
#include "demos/shell/file_menu.h"
#include "demos/shell/help_pages.h"
#include "demos/shell/input_queue.h"
#include "demos/shell/lesson_guide.h"
#include "demos/shell/status_line.h"
#include "demos/sound/sound.h"

namespace lockstep::demos {

/// What the shell asks of the window's owner.
struct AppWishes {
    bool quit = false;
    bool fullScreen = false; ///< toggle
    std::optional<PictureWish> picture;
    /// Begin a recording in this file, or end the one under way.
    std::optional<std::filesystem::path> record;
    std::optional<DeviceWish> device;
};

class App {
  public:
    /// `graphics` and `machines` outlive it.
    App(Graphics& graphics, Machines& machines,
        std::vector<std::unique_ptr<Exhibit>> exhibits = makeExhibits());
    ~App();

    Ui& ui() { return *ui_; }
    InputQueue& input() { return *input_; }
    Exhibit& exhibit() { return exhibits_.shown(); }
    /// Throws std::invalid_argument that names the nearest right one.
    void showExhibit(std::string_view id) { exhibits_.show(id); }
    /// Where the last frame had it on the screen, without the lesson above it.
    Place exhibitPlace() const { return exhibitPlace_; }

    /// One frame of that size in pixels, `seconds` after the last one. `displayScale` is the system's (2 on
    /// most HiDPI screens). The result lives until the next call. What goes wrong while it is drawn becomes a
    /// message, and the frame begins again without what was open in it; where that does not help, the message
    /// stands alone until a person goes on.
    const ImDrawData& frame(std::uint32_t width, std::uint32_t height, float displayScale, double seconds);
    /// For frames that are not drawn, as in a minimised window: exhibits go on, `seconds` after the last call
    /// of this or of frame().
    void update(double seconds);
    /// Whether the next frame would look otherwise than the last.
    bool wantsFrame() const;

    /// The whole state as a settings file holds it, and back. Throws std::invalid_argument, and then nothing
    /// has changed.
    nlohmann::ordered_json state() const;
    void setState(const nlohmann::ordered_json& state);
    /// state(), with all that an exhibit can keep of what was measured and trained.
    nlohmann::ordered_json presentState() const;
    /// For the next start: the same, or what a person had before the lesson that is open.
    nlohmann::ordered_json lastState() const;
    /// Applies a state file. Throws naming the file, and then nothing has changed.
    void openState(const std::filesystem::path& file);
    /// Opens a lesson where it was left; what was set before comes back when it is closed. Throws naming file
    /// and line, and then nothing has changed.
    void openLesson(const std::filesystem::path& file);
    /// How far people come in lessons is kept from now on in `file`.
    void keepLessons(const std::filesystem::path& file) { guide_.desk().keepIn(file); }
    /// A lesson's exhibits are seen before its questions are answered, as on paper.
    void uncoverLessons() { guide_.uncover(); }
    /// The lesson that is open; null: none.
    const LessonRun* lesson() const { return guide_.open(); }
    /// To a neighbour of the lesson's step, if there is one.
    void turnLesson(int by);
    /// Empty: nowhere.
    void goToStep(std::optional<std::size_t> to);
    /// What the exhibits and the machine have to be quoted.
    MeasuredValues measured() const;
    /// The same as of the last frame, with what was measured in earlier steps of the lesson.
    const MeasuredValues& lessonValues() const { return guide_.values(); }
    /// A file that was dropped or named: a state, a lesson, data, weights; what is wrong with it becomes a
    /// message.
    void openFile(const std::filesystem::path& file);
    /// An empty path: the file of the last Save as, or usualStateFile.
    void saveState(const std::filesystem::path& file);
    /// The files opened last, kept from now on in `file`.
    void keepRecentFiles(const std::filesystem::path& file) { files_.keepRecentFiles(file); }
    const std::vector<std::filesystem::path>& recentFiles() const { return files_.recentFiles(); }

    void setDark(bool dark) { ui_->theme = makeTheme(dark); }
    /// Until a speed is chosen, every exhibit runs as fast as it can, whatever its usual speed: then a
    /// script's frame trains a fixed number of steps.
    void setFlatOut() { exhibits_.setFlatOut(); }
    /// Sets the language of the window and of lessons; what a person chooses is kept in states. Throws
    /// std::invalid_argument.
    void setLanguage(const std::string& code);
    /// Named in the command line, or by its absence there: states do not change it. Throws likewise.
    void fixLanguage(const std::string& code);
    /// The language of the environment, which the user did not name here. Throws likewise.
    void speakLanguage(const std::string& code);
    void setZoom(float zoom) { zoom_ = std::clamp(zoom, 0.5f, 3.0f); }

    AppWishes takeWishes() { return std::exchange(wishes_, {}); }
    /// A picture of the last frame is among them.
    bool wantsPicture() const { return wishes_.picture.has_value(); }
    /// Whether the next frame may be one of which a picture is wanted.
    bool mayWantPicture() const { return picture_.has_value() || ui_->pictureWish.has_value(); }

    /// A recording is under way, for so many seconds: shown by a sign, which also ends it. Empty: none.
    void showRecording(std::optional<double> seconds);
    /// Takes that sign out of the last frame: recordings show what the window shows without it.
    void leaveOutSign() {
        if (sign_ != nullptr) sign_->CmdBuffer.clear();
    }
    /// The File menu begins and ends recordings, and is not part of them.
    bool fileMenuOpen() const { return files_.unfolded(); }

    /// `action` sets up every new context of Dear ImGui, and the present one.
    void setUpContexts(std::function<void()> action) {
        contextSetUp_ = std::move(action);
        contextSetUp_();
    }

    /// Releases everything on the device. Weights, results and settings stay. Returns what that has cost,
    /// as the exhibits say it.
    std::string releaseDevice();
    /// After that, once `graphics` and `machines` have another device.
    void attachDevice();
    /// The device in use is one that was wished for, and states remember it.
    void setDevice(DeviceWish device) { devices_.choose(std::move(device)); }
    /// Named in the command line: states do not change it.
    void fixDevice() { devices_.fix(); }

  private:
    void openContext();
    void closeContext();

    // A frame.
    void abandonFrame(const char* why);
    void drawFrame(std::uint32_t width, std::uint32_t height, float displayScale, double seconds);
    void fitLetters(std::uint32_t height, float displayScale);
    void drawWindow(const std::vector<KeyPress>& pressed, bool typing, double seconds);
    void drawFailure();
    void handleKey(const KeyPress& press);
    void drawMenus();
    void drawEditMenu();
    void drawRunMenu();
    void drawExhibitMenu();
    void drawViewMenu();
    void drawHelpMenu();
    void drawLanguages();
    void drawTransport();
    void drawMiddle();
    void drawLessonPart(bool inSidePanel);
    void drawDetails();
    void drawRecordingSign();
    void grantPicture();
    void grantExhibit();
    void grantSaving();
    void grantPreview();
    void noteEdits();

    // What a person asks for.
    /// The messages of what came before go, and an exception becomes a new one.
    void command(const std::function<void()>& action);
    void choose(const Exhibit& entry);
    void toggleRun();
    EditHistory* undoHistory();
    EditHistory* redoHistory();
    void undo();
    void redo();
    void toggleDetails();
    /// Calls `write` with a file of that name: in the folder that a person chose last, or once one is chosen.
    void placeFile(const std::string& name, std::function<void(const std::filesystem::path&)> write);
    void placePicture(const PictureWish& wish);
    void placeRecording();
    void openHelp(HelpPage page);
    void grant(const FileWish& wish);
    void follow(const std::optional<DeviceWish>& device);

    // The lesson.
    /// A lesson is open, and its step is about the exhibit that is shown.
    bool lessonIsHere() const { return guide_.isAbout(exhibits_.shown().id()); }
    void openLater(const std::optional<std::filesystem::path>& lesson);
    void showStep();
    void closeLesson();
    void lookAtLesson();
    void followLink();

    // The state.
    nlohmann::ordered_json frameOfState() const;
    std::function<void()> readState(const nlohmann::ordered_json& state);

    ImGuiContext* context_ = nullptr;
    std::function<void()> contextSetUp_;
    int abandoned_ = 0; // frames, one after the other
    static constexpr int mostAbandoned = 2;
    std::unique_ptr<Ui> ui_;
    std::unique_ptr<InputQueue> input_;
    ExhibitList exhibits_;
    LessonGuide guide_;
    FileMenu files_;
    DevicePicker devices_;
    HelpPages help_;
    Sound sound_;
    std::function<void()> later_; // before the next frame: nothing may change while one is being drawn
    AppWishes wishes_;
    int settle_ = 3; // frames to draw after the last input: ImGui answers a frame late

    std::unique_ptr<Picture> letters_;
    float zoom_ = 1;
    float bakedPixels_ = 0;
    bool bakedDark_ = false;
    // Exhibits that are not listed are among the hidden controls, as "exhibit/race".
    using HiddenControls = decltype(Ui::hiddenControls);
    ValueHistory<HiddenControls> hiding_{
        [this] { return ui_->hiddenControls; },
        [this](const HiddenControls& wanted, const HiddenControls&) { ui_->hiddenControls = wanted; }};
    std::optional<bool> detailsChosen_; // else they come and go with a lesson
    Place exhibitPlace_{};
    int pictureWaits_ = 0;               // frames until menus are closed
    std::optional<PictureWish> picture_; // waits for that
    std::optional<std::filesystem::path> record_;
    std::set<std::string_view> previewed_; // ids of exhibits
    std::optional<double> recordedSeconds_;
    ImDrawList* sign_ = nullptr; // of the last frame
    std::string language_;       // that a person has chosen; empty: none
    bool languageFixed_ = false;
    std::vector<LanguageEntry> languages_; // once they were looked for
};

} // namespace lockstep::demos
