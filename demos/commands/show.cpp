// `lockstep show`: the window at an exhibit, or pictures of it without a window.
#include <memory>
#include <sstream>
#include <stdexcept>

#include "demos/commands/command.h"
#include "demos/options/parse.h"
#include "demos/shell/run_window.h"

namespace lockstep::demos {

namespace {

constexpr const char* about =
    R"(Opens the window at an exhibit, or with a state that was saved there. With --headless nothing is opened: frames are
drawn one after the other, each a sixtieth of a second later, and the last one can be saved as a picture.)";

constexpr const char* examples = R"(examples:
  lockstep show race
  lockstep show assets/presets/playground-spiral.json
  lockstep show race --headless --run --frames 120 --png race.png
  lockstep show playground --headless --script lesson.txt --size 1920x1080 --light
)";

struct ShowCommandOptions {
    ShowOptions show;
    std::string what;
    std::string size = "1280x800";
    bool headless = false;
};

void readSize(const std::string& text, ShowOptions& options) {
    std::istringstream stream(text);
    char by = 0;
    if (!(stream >> options.width >> by >> options.height) || by != 'x' || !stream.eof() ||
        options.width < 1 || options.height < 1 || options.width > 16384 || options.height > 16384)
        throw std::invalid_argument("--size takes WIDTHxHEIGHT in pixels, such as 1280x800, not '" + text +
                                    "'");
}

int show(ShowCommandOptions command) {
    ShowOptions& options = command.show;
    readSize(command.size, options);
    if (command.what.find('.') != std::string::npos)
        options.stateFile = command.what;
    else
        options.exhibit = command.what;
    return command.headless ? runHeadless(options) : runWindow(options);
}

} // namespace

Action addShow(CLI::App& command) {
    const auto options = std::make_shared<ShowCommandOptions>(); // as long as the command may be run
    ShowOptions& shown = options->show;
    addManual(command, about, examples);
    command
        .add_option(
            "what", options->what,
            "an exhibit (race, playground, inside, ladder, mosaic, map), or a file with a saved state")
        ->type_name("EXHIBIT|FILE");
    command.add_option("--size", options->size, "of the window or picture, in pixels")
        ->type_name("WxH")
        ->capture_default_str();
    command.add_flag("--light", shown.light, "dark letters on a light ground");
    command.add_flag("--presenter", shown.presenter, "for the back row: text doubled, side panels away");
    command.add_flag("--run", shown.run, "begin at once");
    command.add_option("--device", shown.device, "Vulkan device: number, part of a name, or UUID")
        ->type_name("DEVICE");
    command.add_option("--threads", shown.threads, "of the processor's lanes; 0: one per core")
        ->type_name("N");
    command.add_flag("--log", shown.log, "say on standard output what happens in the window");
    command.add_flag("--validation", shown.validation, "run under Vulkan's validation layer");
    constexpr const char* windowless = "Without a window";
    CLI::Option* headless =
        command.add_flag("--headless", options->headless, "draw pictures instead")->group(windowless);
    command.add_option("--frames", shown.frames, "to draw, the last one being saved")
        ->type_name("N")
        ->needs(headless)
        ->group(windowless);
    command.add_option("--png", shown.png, "where to save the last frame")
        ->type_name("FILE")
        ->needs(headless)
        ->group(windowless);
    command.add_option("--script", shown.script, "what a person does, line by line (demos/shell/script.h)")
        ->type_name("FILE")
        ->needs(headless)
        ->group(windowless);
    command.add_option("--scale", shown.displayScale, "of the display: 2 on most HiDPI screens")
        ->type_name("X")
        ->needs(headless)
        ->group(windowless);
    command.add_flag("--mask", shown.masked, "dashes for times and rates, which differ from run to run")
        ->needs(headless)
        ->group(windowless);
    command
        .add_flag("--platform", shown.platform, "say what pictures depend on besides the program, and end")
        ->needs(headless)
        ->group(windowless);
    return [options] { return show(*options); };
}

int showWindow() { return runWindow({}); }

} // namespace lockstep::demos
