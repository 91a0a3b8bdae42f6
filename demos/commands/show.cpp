// `lockstep show`: opens the window at an exhibit, or saves pictures of it without a window.
#include <cmath>
#include <cstdint>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/commands/command.h"
#include "demos/draw/animation.h"
#include "demos/kit/exhibit.h"
#include "demos/lesson/languages.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/options/parse.h"
#include "demos/report/result_files.h"
#include "demos/shell/files.h"
#include "demos/shell/recording.h"
#include "demos/shell/run_window.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr const char* showAbout =
    R"(Opens the window at an exhibit, a preset or a lesson, or with a saved state. --headless opens no window: it draws frames, 1/60 s apart,
and can save the last one as a picture.)";

constexpr const char* showExamples = R"(examples:
  lockstep show race
  lockstep show --list                             every exhibit, preset and lesson by name
  lockstep show playground-spiral                  a preset
  lockstep show lockstep-state.json                a state that the window has saved
  lockstep show race --headless --run --frames 120 --png race.png
  lockstep show playground --headless --run --record playground.webp --seconds 10
  lockstep show playground --headless --script lesson.txt --size 1920x1080 --light
)";

struct ShowCommandOptions : ShowOptions {
    std::string what;
    std::string size = "1280x800";
    bool headless = false;
    bool list = false;
};

void readSize(const std::string& text, ShowOptions& options) {
    std::istringstream stream(text);
    char by = 0;
    if (!(stream >> options.width >> by >> options.height) || by != 'x' || !stream.eof() ||
        options.width < 1 || options.height < 1 || options.width > 16384 || options.height > 16384)
        throw std::invalid_argument("--size takes WIDTHxHEIGHT in pixels, such as 1280x800, not '" + text +
                                    "'");
}

/// What can be shown by its name.
struct Shown {
    std::string name;
    std::string title;
    std::string kind;           ///< "exhibit", "preset of race", "lesson"
    std::filesystem::path file; ///< empty: an exhibit
};

/// Exhibits, each with its presets, then lessons.
std::vector<Shown> everythingShown() {
    std::vector<Shown> all;
    const std::vector<Preset> presets = findPresets();
    const auto addPresets = [&](std::string_view exhibit, const std::string& kind) {
        for (const Preset& preset : presets)
            if (preset.exhibit == exhibit)
                all.push_back({preset.file.stem().string(), preset.title, kind, preset.file});
    };
    for (const std::unique_ptr<Exhibit>& exhibit : makeExhibits()) {
        const std::string id(exhibit->id());
        all.push_back({id, exhibit->title(), "exhibit", {}});
        addPresets(id, "preset of " + id);
    }
    addPresets("", "preset that cannot be read");
    for (const LessonEntry& lesson : findLessons())
        all.push_back({lesson.name, lesson.title, "lesson", lesson.file});
    return all;
}

int listShown() {
    std::vector<std::vector<std::string>> rows;
    for (const Shown& each : everythingShown()) rows.push_back({each.name, each.kind, each.title});
    printOut("{}", table(rows, 3));
    return 0;
}

/// Before a window is opened, which may fail for other reasons.
void chooseShown(const std::string& name, ShowOptions& options) {
    std::vector<std::string_view> known;
    const std::vector<Shown> all = everythingShown();
    for (const Shown& each : all) {
        known.push_back(each.name);
        if (each.name != name) continue;
        if (each.file.empty()) options.exhibit = name;
        options.stateFile = each.file;
        return;
    }
    throwUnknownName("exhibit, preset or lesson", name, known, "`lockstep show --list`");
}

int show(ShowCommandOptions options, bool framesGiven, bool secondsGiven) {
    readSize(options.size, options);
    if (!options.language.empty()) // in which a lesson is looked for
        for (const std::string& problem : chooseLanguage(options.language))
            printError("warning: {}\n", problem);
    if (options.list) return listShown();
    if (options.what.find('.') != std::string::npos)
        options.stateFile = options.what;
    else if (!options.what.empty())
        chooseShown(options.what, options);
    requirePngName(options.png);
    requireSeparateFiles({{"--png", options.png.string()}, {"--record", options.record.string()}},
                         {{"--script", options.script.string()}, {"the state", options.stateFile.string()}});
    if (!options.record.empty()) requireAnimationName(options.record);
    if (options.recordSeconds > Recording::Limits{}.seconds)
        throw std::invalid_argument("--seconds takes at most 120: a recording is no longer than two minutes");
    if (secondsGiven && !framesGiven)
        options.frames = static_cast<std::uint64_t>(std::lround(options.recordSeconds * 60));
    if (options.headless && options.png.empty() && options.script.empty() && !options.platform &&
        !framesGiven && !secondsGiven)
        throw std::invalid_argument(
            "--headless alone shows nothing: add --png FILE to save a picture, --script "
            "FILE to play input, --record FILE --seconds N to record, or --frames N to only draw");
    return options.headless ? runHeadless(options) : runWindow(options);
}

} // namespace

Action addShow(CLI::App& command) {
    const auto options = std::make_shared<ShowCommandOptions>(); // as long as the command may be run
    ShowOptions& shown = *options;
    addManual(command, showAbout, showExamples);
    addValue(command, "what", "NAME|FILE", options->what,
             "an exhibit (" + exhibitIds() + "),\na preset, a lesson or a saved state file");
    command.add_flag("--list", options->list, "list every exhibit, preset and lesson by name");
    addValue(command, "--size", "WxH", options->size, "size of the window or picture, in pixels")
        ->capture_default_str();
    command.add_flag("--light", shown.light, "light theme");
    command.add_flag("--presenter", shown.presenter,
                     "presenter mode: larger text, thicker lines, fewer side panels");
    command.add_flag("--run", shown.run, "start training at once");
    addValue(command, "--device", "DEVICE", shown.device, "Vulkan device: number, part of a name, or UUID");
    addValue(command, "--language", "CODE", shown.language,
             "language of the window and of lessons, such as de");
    addNumber(command, "--threads", "N", shown.threads, notNegative(),
              "threads for CPU lanes; 0: one per core");
    command.add_flag("--log", shown.log, "print the window's events on standard output");
    command.add_flag("--validation", shown.validation, "run with the Vulkan validation layer");
    addValue(command, "--record", "FILE", shown.record,
             "record an animated picture for slides: FILE.webp, or FILE.png (larger)");
    CLI::Option* seconds = addNumber(command, "--seconds", "N", shown.recordSeconds, aboveZero(),
                                     "end the recording after N seconds (at most 120)");
    seconds->needs(command.get_option("--record"));
    command.option_defaults()->group("Without a window");
    CLI::Option* headless =
        command.add_flag("--headless", options->headless, "draw without opening a window");
    addNumber(command, "--frames", "N", shown.frames, notNegative(),
              "number of frames to draw; --png saves the last");
    addValue(command, "--png", "FILE", shown.png, "save the last frame to this file");
    addValue(command, "--script", "FILE", shown.script,
             "scripted user input, one action per line (demos/shell/run_headless.cpp)");
    addNumber(command, "--scale", "X", shown.displayScale, aboveZero(),
              "display scale: 2 on most HiDPI screens");
    command.add_flag("--mask", shown.masked,
                     "replace times and rates, which vary from run to run, by dashes");
    command.add_flag("--platform", shown.platform,
                     "print the versions that pictures depend on (Dear ImGui, device, fonts), and exit");
    for (const char* option : {"--frames", "--png", "--script", "--scale", "--mask", "--platform"})
        command.get_option(option)->needs(headless);
    return [options, &command] {
        return show(*options, given(command, "--frames"), given(command, "--seconds"));
    };
}

int showWindow(const std::string& language) {
    ShowOptions options;
    options.language = language;
    return runWindow(options);
}

} // namespace lockstep::demos
