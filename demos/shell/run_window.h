// The program with a window, and without one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "demos/lesson/lesson_run.h"
#include "demos/shell/script_lines.h"

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
    bool still = false;  ///< without animations: a picture does not depend on when it is drawn
    bool masked = false; ///< draw dashes for what differs from run to run
};

/// Opens the window and returns the exit code when it is closed: 0, or that of a signal (SIGTERM, SIGINT,
/// SIGHUP), which closes it as a person would. Throws std::runtime_error without a display,
/// gpu::GpuError without a device that can draw.
int runWindow(const ShowOptions& options);

/// Draws `frames` frames, or what the script says, each a sixtieth of a second after the last one. Returns 0,
/// or an interrupt's exit code; that ends it early and saves what was recorded.
int runHeadless(const ShowOptions& options);

} // namespace lockstep::demos
