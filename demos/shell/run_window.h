// The program with a window, and without one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/lesson/lesson_run.h"
#include "demos/shell/script_lines.h"
#include "engine/gpu/device.h"

namespace lockstep::demos {

struct ShowOptions {
    std::string exhibit;             ///< its id; empty: the one of the last state, or the first
    std::filesystem::path stateFile; ///< to begin with, over the last state; empty: none
    std::string state;               ///< the same as JSON; empty: none
    std::string language; ///< "de"; empty: what the environment asks for, or English without a window
    std::string device;   ///< number, name or UUID; empty: the best
    std::size_t threads = 0;
    std::uint32_t width = 1280;
    std::uint32_t height = 800;
    float displayScale = 1; ///< headless only
    bool light = false;
    bool presenter = false;
    bool run = false;             ///< begin at once
    bool validation = false;      ///< Vulkan's own checks, each complaint on a line of standard error
    std::filesystem::path record; ///< an animated picture of all that is shown; empty: none
    double recordSeconds = 120;   ///< ends it then
    bool log = false;             ///< what happens in the window, line by line, on standard output

    // Headless only.
    std::uint64_t frames = 1;
    std::filesystem::path png;
    std::filesystem::path script;
    std::vector<ScriptLine> commands; ///< a script's lines themselves, in place of a file
    bool answersOnly = false;         ///< prints what a script's commands say, and not the commands
    bool savesNothing =
        false; ///< the commands are a lesson's: what they would save is refused with a message
    /// Gets the lesson's step and its values from a script's verb `tell`; empty: they are printed.
    std::function<void(const LessonRun&, const MeasuredValues&)> teller;
    bool platform =
        false;           ///< only say what pictures depend on besides the program: versions, driver, letters
    bool masked = false; ///< draw dashes for what differs from run to run
};

/// Opens the window and returns the exit code when it is closed: 0, or that of a signal (SIGTERM, SIGINT,
/// SIGHUP), which closes it as a person would. Throws std::runtime_error without a display,
/// gpu::GpuError without a device that can draw.
int runWindow(const ShowOptions& options);

/// Draws `frames` frames, or what the script says, each a sixtieth of a second after the last one. Returns 0,
/// or an interrupt's exit code; that ends it early and saves what was recorded.
int runHeadless(const ShowOptions& options);

/// How the device that draws is to be opened.
gpu::DeviceOptions drawingOptions(const ShowOptions& options);

class App;
/// Applies the options to a new window or picture.
void beginWith(App& app, const ShowOptions& options);

/// The state of the program as a file. Throws std::runtime_error naming file, place and reason.
nlohmann::ordered_json readStateFile(const std::filesystem::path& file);
/// Throws std::invalid_argument unless it is a state, or a list of states, in this program's format.
void checkVersion(const nlohmann::ordered_json& state);
/// Atomically. Throws std::runtime_error, also for what would be too large to be read again.
void writeStateFile(const std::filesystem::path& file, const nlohmann::ordered_json& state);

/// The state that is kept between starts, in $LOCKSTEP_STATE_FILE or state.json in the folder of caches. One
/// that cannot be read becomes a message, and its file gets another name (".bad"), so that storeLast() does
/// not replace it. A folder, a pipe or a device in its place stays.
void restoreLast(App& app);
/// Where progress in lessons is kept, beside that state. Empty: nowhere.
std::filesystem::path lessonProgressFile();
/// Throws nothing: an unwritable home must not keep the window from closing.
void storeLast(const App& app);

} // namespace lockstep::demos
