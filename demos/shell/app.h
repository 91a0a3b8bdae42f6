// The window's contents: exhibits on the left, the one shown in the middle, details on the right, and the
// bars above and below. It does not know where frames come from and go to.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/kit/exhibit.h"
#include "demos/lesson/languages.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_panel.h"
#include "demos/shell/files.h"
#include "demos/shell/input_queue.h"
#include "demos/shell/machine_page.h"
#include "engine/gpu/device.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

/// A device in the list that people choose from.
struct DeviceLine {
    std::string name;        ///< "NVIDIA GeForce RTX 4090"
    std::string label;       ///< with its number in front, as `lockstep devices` shows it
    std::string select;      ///< chooses it (DeviceOptions::select); empty for the one that is best anyway
    std::string remark;      ///< "discrete GPU", "software, not a GPU", or why it cannot be used
    std::string reason = {}; ///< of the automatic choice
    gpu::DeviceReport report = {}; ///< its limits
    bool usable = false;           ///< else it is shown and cannot be chosen
    bool current = false;
};

/// `devices` as gpu::listDevices returns them when none is asked for. A device is chosen by its UUID; by its
/// number where several have the same one, or none.
std::vector<DeviceLine> deviceLines(const std::vector<gpu::DeviceReport>& devices,
                                    const gpu::DeviceReport& current);

/// The device to draw and train with, as chosen in the window or named by a state.
struct DeviceWish {
    std::string select; ///< as in gpu::DeviceOptions; empty: the best
    std::string name;
};

/// What the shell asks of the window's owner.
struct AppWishes {
    bool quit = false;
    bool fullScreen = false; ///< toggle
    std::optional<PictureWish> picture;
    bool record = false; ///< begin or end a recording
    std::optional<DeviceWish> device;
};

/// What Ctrl+S writes to, in the current folder, until a name is chosen.
inline constexpr const char* usualStateFile = "lockstep-state.json";

// Explanations of controls that stand in two places.
inline constexpr const char* lessonsWords =
    "Lists the lessons: paths through the exhibits, with questions that this machine answers.";
inline constexpr const char* stopRecordingWords =
    "Ends the recording and saves it in the current folder (Shift+F12).";

class App {
  public:
    /// `graphics` and `machines` outlive it.
    App(Graphics& graphics, Machines& machines,
        std::vector<std::unique_ptr<Exhibit>> exhibits = makeExhibits());
    ~App();

    Ui& ui() { return *ui_; }
    InputQueue& input() { return *input_; }
    Exhibit& exhibit() { return *exhibits_[shown_]; }
    /// Throws std::invalid_argument that names the nearest right one.
    void showExhibit(std::string_view id);
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
    /// state(), with what was trained where an exhibit can keep that until the next start.
    nlohmann::ordered_json lastState() const;
    /// Applies a state file. Throws naming the file, and then nothing has changed.
    void openState(const std::filesystem::path& file);
    /// Opens a lesson where it was left; what was set before comes back when it is closed. Throws naming file
    /// and line, and then nothing has changed.
    void openLesson(const std::filesystem::path& file);
    /// How far people come in lessons is kept from now on in `file`.
    void keepLessons(const std::filesystem::path& file) { desk_.keepIn(file); }
    /// The lesson that is open; null: none.
    const LessonRun* lesson() const { return desk_.open(); }
    /// To a neighbour of the lesson's step, if there is one.
    void turnLesson(int by);
    /// What the exhibits and the machine have to be quoted.
    MeasuredValues measured() const;
    /// The same as of the last frame, with what was measured in earlier steps of the lesson.
    const MeasuredValues& lessonValues() const { return measured_; }
    /// A file that was dropped or named: a state, a lesson, data, weights; what is wrong with it becomes a
    /// message.
    void openFile(const std::filesystem::path& file);
    /// An empty path: the file of the last Save as, or usualStateFile.
    void saveState(const std::filesystem::path& file);
    /// The files opened last, kept from now on in `file`.
    void keepRecentFiles(const std::filesystem::path& file) { recent_.keepIn(file); }
    const std::vector<std::filesystem::path>& recentFiles() const { return recent_.files(); }

    void setDark(bool dark) { ui_->theme = makeTheme(dark); }
    /// Until a speed is chosen, every exhibit runs as fast as it can, whatever its usual speed: then a
    /// script's frame trains a fixed number of steps.
    void setFlatOut();
    /// Sets the language of the window and of lessons; what a person chooses is kept in states. Throws
    /// std::invalid_argument.
    void setLanguage(const std::string& code);
    /// Named in the command line, or by its absence there: states do not change it. Throws likewise.
    void fixLanguage(const std::string& code);
    /// The language of the environment, which the user did not name here. Throws likewise.
    void speakLanguage(const std::string& code);
    void setZoom(float zoom) { zoom_ = std::clamp(zoom, 0.5f, 3.0f); }

    AppWishes takeWishes() { return std::exchange(wishes_, {}); }
    /// The machine is being measured: frames cost as little as while a lane of the processor is timed.
    bool measuresMachine() const { return machine_.measuring(); }
    /// A picture of the last frame is among them.
    bool wantsPicture() const { return wishes_.picture.has_value(); }

    /// A recording is under way, for so many seconds: shown by a sign, which also ends it. Empty: none.
    void showRecording(std::optional<double> seconds);
    /// Takes that sign out of the last frame: recordings show what the window shows without it.
    void leaveOutSign() {
        if (sign_ != nullptr) sign_->CmdBuffer.clear();
    }
    /// The File menu begins and ends recordings, and is not part of them.
    bool fileMenuOpen() const { return fileMenuOpen_; }

    /// How long a frame took from its beginning until it was drawn, for the status bar. Without that nothing
    /// is shown there: frames of a script are not timed.
    void noteFrameTime(double seconds);

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
    void setDevice(DeviceWish device) { device_ = std::move(device); }
    /// Named in the command line: states do not change it.
    void fixDevice() { deviceFixed_ = true; }

  private:
    void openContext();
    void closeContext();
    void abandonFrame(const char* why);
    void drawFrame(std::uint32_t width, std::uint32_t height, float displayScale, double seconds);
    void drawWindow(const std::vector<KeyPress>& pressed, bool typing, double seconds);
    void drawFailure();
    void fitLetters(std::uint32_t height, float displayScale);
    void handleKey(const KeyPress& press);
    EditHistory* undoHistory();
    EditHistory* redoHistory();
    void undo();
    void redo();
    void toggleDetails();
    /// A lesson is open, and its step is about the exhibit that is shown.
    bool lessonIsHere() const { return desk_.open() != nullptr && lessonExhibit_ == exhibits_[shown_]->id(); }
    void showStep();
    void closeLesson();
    void saveAnswers();
    void followLink();
    /// The presenter's clock shows another second than the last frame did.
    bool clockMoves() const;
    void lookAtLesson();
    std::vector<std::size_t> listedExhibits() const;
    void hideExhibit(std::size_t index);
    nlohmann::ordered_json frameOfState() const;
    std::function<void()> readState(const nlohmann::ordered_json& state);
    void askForFile(FileChooser::Purpose purpose);
    void drawChooser();
    void drawFileMenu();
    const Preset* drawPresets();
    void drawLessonPart(bool inSidePanel);
    void drawMenus();
    void drawLanguages();
    void drawTransport();
    void drawRecordingSign();
    void drawDevice(float left, float right);
    void drawDeviceList(const char* prefix);
    void listDevices();
    void drawMiddle();
    /// Returns where it is on the screen.
    Place drawExhibitEntry(std::size_t index, bool gone);
    void drawLessonEntry();
    void drawLessons();
    void drawOffer();
    const std::vector<Preset>& presets();
    void drawDetails();
    void drawStatus();
    void drawHelp();
    void drawKeys();
    void drawGlossary();
    void drawMachine();
    /// What a person asks for: the messages of what came before go, and an exception becomes a new one.
    void command(const std::function<void()>& action);
    void choose(const Exhibit& entry);
    void toggleRun();
    /// Both by their place in their list.
    void setSpeed(std::size_t exhibit, std::size_t index);
    /// In the list; throws std::invalid_argument for a speed that is not there.
    static std::size_t speedIndex(Speed stepsPerSecond);
    /// Empty until a person or a state has chosen.
    std::optional<Speed> chosenSpeed(std::size_t exhibit) const;
    /// What is chosen, or else the shown exhibit's usual speed.
    std::size_t shownSpeed() const;
    void grantPicture();
    void grantExhibit();
    /// An exception becomes a message; the window stays open. Not around what draws: Dear ImGui would miss
    /// the ends of what was begun.
    template <class Action> void guarded(Action action) {
        try {
            action();
        } catch (const gpu::DeviceLostError&) {
            throw; // the owner recreates everything
        } catch (const std::exception& error) {
            ui_->say(Severity::error, error.what());
        }
    }

    ImGuiContext* context_ = nullptr;
    std::function<void()> contextSetUp_;
    int abandoned_ = 0; // frames, one after the other
    static constexpr int mostAbandoned = 2;
    std::unique_ptr<Ui> ui_;
    std::unique_ptr<InputQueue> input_;
    std::unique_ptr<Picture> letters_;
    std::vector<std::unique_ptr<Exhibit>> exhibits_;
    std::size_t shown_ = 0;
    // Exhibits that are not listed are among the hidden controls, as "exhibit/race".
    using HiddenControls = decltype(Ui::hiddenControls);
    ValueHistory<HiddenControls> hiding_{
        [this] { return ui_->hiddenControls; },
        [this](const HiddenControls& wanted, const HiddenControls&) { ui_->hiddenControls = wanted; }};
    std::optional<bool> detailsChosen_; // else they come and go with a lesson
    float zoom_ = 1;
    float bakedPixels_ = 0;
    bool bakedDark_ = false;
    std::map<std::string_view, std::size_t> chosenSpeeds_; // by exhibit
    bool flatOut_ = false;                                 // where none is chosen
    static constexpr std::size_t machinePage = 2;
    static constexpr std::size_t lessonsPage = 3;
    bool help_ = false;
    std::size_t helpPage_ = 0; // keys, glossary, my machine, lessons
    MachinePage machine_;
    std::string soughtTerm_; // in the glossary
    int settle_ = 3;         // frames to draw after the last input: ImGui answers a frame late
    std::optional<float> frameMilliseconds_; // a running mean
    int pictureWaits_ = 0;                   // frames until menus are closed
    bool recordWished_ = false;
    std::optional<double> recordedSeconds_;
    ImDrawList* sign_ = nullptr; // of the last frame
    bool fileMenuOpen_ = false;
    AppWishes wishes_;
    FileChooser chooser_;
    RecentFiles recent_;
    std::filesystem::path saveFile_;             // of the last Save as
    std::optional<std::vector<Preset>> presets_; // once they were looked for
    LessonDesk desk_;
    std::string lessonExhibit_;         // the id of the one that the lesson's step is about
    std::string stepState_;             // what the lesson has set last
    nlohmann::ordered_json stateTexts_; // of the state that is open, where it is no lesson's
    nlohmann::ordered_json aside_;      // the state before the lesson
    MeasuredValues measured_;           // as of this frame, while a lesson is open
    LessonPictures pictures_;
    Place exhibitPlace_{};
    bool offerGone_ = false;      // of the first lesson, until the next start
    double clockShown_ = 0;       // seconds on the lesson's step, as of the last frame
    double lookedAtLesson_ = 0;   // when its file was looked at
    std::function<void()> later_; // before the next frame: nothing may change while one is being drawn
    DeviceWish device_;
    bool deviceFixed_ = false;
    std::string language_; // that a person has chosen; empty: none
    bool languageFixed_ = false;
    std::vector<LanguageEntry> languages_; // once they were looked for
    std::vector<DeviceLine> devices_;      // as last listed
    std::future<std::vector<gpu::DeviceReport>> listing_;
};

} // namespace lockstep::demos
