// The program `lockstep`: selects the command, and catches all exceptions.
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/commands/command.h"
#include "demos/options/parse.h"
#include "demos/words/streams.h"
#include "engine/platform/apart.h"
#include "engine/platform/terminal.h"
#include "lockstep/version.h"

namespace lockstep::demos {

namespace {

struct CommandEntry {
    const char* name;
    const char* summary;
    Action (*add)(CLI::App&);
};

constexpr CommandEntry commands[] = {
    {"show", "open the window at an exhibit, or save pictures of it", addShow},
    {"race", "train the same network on several machines and compare them", addRace},
    {"train", "train one network on one machine; save and resume it", addTrain},
    {"population", "train a grid of small networks over two hyperparameters", addPopulation},
    {"predict", "evaluate a trained network: accuracy, confusion matrix, every prediction", addPredict},
    {"map", "train one network per pixel, coloured by whether it converges or diverges", addMap},
    {"bench", "check every kernel and rung against plain loops, then time it", addBench},
    {"tune", "compare all kernels for a network once, so that gpu:best starts with the fastest", addTune},
    {"lesson", "list, read, check and try lessons: paths through the exhibits", addLesson},
    {"lab", "measure an experiment on parallelism: why a GPU is fast, and when it is not", addLab},
    {"card", "measure this machine: one page to look at and to compare", addCard},
    {"data", "say what a data set holds, and export it", addData},
    {"devices", "list the Vulkan devices, which one is used, and why", addDevices},
};

constexpr const char* examples = R"(examples:
  lockstep                                         the window
  lockstep race                                    processor against graphics card on Fashion-MNIST
  lockstep race --data spiral --layers 32,32       a small network on 2-D points
  lockstep population                              a thousand networks: learning rate by scale of the initial weights
  lockstep train --epochs 5 --save model.safetensors
  lockstep predict --model model.safetensors --data fashion-mnist
  lockstep map --png map.png                       where training converges, and where it diverges
  lockstep COMMAND --help                          the options of a command
)";

/// Rewords the parser's message: "--lr: 1 required X missing" becomes "--lr needs a value".
std::string inPlainWords(const CLI::ParseError& error) {
    const std::string text = error.what();
    const bool valueMissing = text.ends_with(" missing") && text.find(" required ") != std::string::npos;
    return valueMissing ? text.substr(0, text.find(':')) + " needs a value" : text;
}

int run(int argc, char** argv) {
    CLI::App app(
        "Lockstep trains neural networks on your graphics card and races it against your processor.");
    app.name("lockstep");
    app.set_version_flag("--version", "lockstep " LOCKSTEP_VERSION);
    app.footer(examples);
    app.allow_extras();
    app.allow_windows_style_options(false); // "/x" is a path there, too, as everywhere
    std::string language;
    addValue(app, "--language", "CODE", language, "language of the window, such as de");
    app.require_subcommand(0, 1); // in `show race`, "race" is an argument, not a second command
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const CommandEntry& entry : commands) {
        CLI::App* command = app.add_subcommand(entry.name, entry.summary);
        command->allow_extras(); // so that requireNoExtras can suggest the nearest option
        actions.emplace_back(command, entry.add(*command));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) { // --help, --version
            std::ostringstream text;
            const int code = app.exit(error, text, text);
            writeText(stdout, text.str());
            return code;
        }
        throw std::invalid_argument(inPlainWords(error));
    }
    for (const auto& [command, action] : actions) {
        if (!command->parsed()) continue;
        requireNoExtras(*command);
        if (!language.empty())
            throw std::invalid_argument("--language comes after the command: lockstep show --language de");
        return action();
    }
    requireNoExtras(app);
    return showWindow(language);
}

constexpr const char* outOfMemory = "lockstep: out of memory: the system gives the program no more; close "
                                    "other programs, raise its limit (ulimit "
                                    "-v), or ask for less\n";

/// On standard error, and in a box where that leads to no window. Throws nothing.
template <class... Args> void sayWhy(fmt::format_string<Args...> format, Args&&... args) noexcept {
    try {
        const std::string text = fmt::format(format, std::forward<Args>(args)...);
        writePlain(stderr, "lockstep: " + text);
        platform::showWithoutTerminal(text);
    } catch (...) { // NOLINT(bugprone-empty-catch): no memory for a message
    }
}

/// Says what went wrong. Returns the exit code.
int runOrSayWhy(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::invalid_argument& error) {
        sayWhy("{}\n(lockstep COMMAND --help lists a command's options)\n", error.what());
        return 2;
    } catch (const std::bad_alloc&) {
        writeText(stderr, outOfMemory); // formatting would take some
        return 1;
    } catch (const std::length_error&) { // more than there could be
        writeText(stderr, outOfMemory);
        return 1;
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::resource_unavailable_try_again) // a thread has no memory, or no number
            sayWhy("no further thread can be started: {}; close other programs, or give --threads a smaller "
                   "number\n",
                   error.what());
        else
            sayWhy("{}\n", error.what());
        return 1;
    } catch (const std::exception& error) {
        sayWhy("{}\n", error.what());
        return 1;
    }
}

} // namespace

} // namespace lockstep::demos

int main(int argc, char** argv) {
    lockstep::platform::serveApart();
    lockstep::demos::prepareStreams();
    return lockstep::demos::exitCodeAfter(lockstep::demos::runOrSayWhy(argc, argv));
}
