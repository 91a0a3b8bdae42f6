// The window's contents without a window, driven by scripts.
#pragma once

#include <cctype>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/run_program.h"

namespace lockstep::test {

inline const std::vector<std::string> exhibits{"race",      "playground", "inside", "ladder",  "memory",
                                               "precision", "mosaic",     "map",    "devices", "parallelism"};

/// The name of its entry in the list of exhibits.
inline std::string titleOf(const std::string& exhibit) {
    if (exhibit == "inside") return "Inside a step";
    if (exhibit == "precision") return "Memory"; // they share it
    std::string title = exhibit;
    title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
    return title;
}

/// Script lines that lead to it from wherever a script is.
inline std::string openExhibit(const std::string& exhibit) {
    const std::string shared = exhibit == "memory" ? "Memory" : exhibit == "precision" ? "Precision" : "";
    return "click " + titleOf(exhibit) + "\n" +
           (shared.empty() ? "" : "click ##shared entry/" + shared + "\n");
}

/// Small, quick settings for every exhibit, of whichever is shown: the suite's pictures need no
/// Fashion-MNIST.
inline std::string stateOf(const std::string& exhibit) {
    return (fs::path(LOCKSTEP_SOURCE_DIR) / "tests/window" / (exhibit + ".json")).string();
}

/// Script lines that unfold the settings, where an exhibit folds them away, and open the details.
inline std::string unfoldSettings(const std::string& exhibit) {
    return "frames 3\nkey D\ntry Settings\n" + (exhibit == "map" ? "" : "try Settings##" + exhibit + "\n");
}

inline Outcome showScript(const Folder& folder, const std::string& exhibit, const std::string& script,
                          const std::string& more = "") {
    std::ofstream(folder.file("script.txt")) << script;
    return run("show " + stateOf(exhibit) + " --headless --mask --script " + folder.file("script.txt") + " " +
               more);
}

/// "control X Y NAME" lines of a script's output.
inline std::vector<std::string> controlNames(const std::string& output) {
    std::vector<std::string> names;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("control ")) continue;
        std::size_t at = 8;
        for (int number = 0; number < 2; ++number) at = line.find(' ', at) + 1;
        names.push_back(line.substr(at));
    }
    return names;
}

/// Numbers of a script's verb `prose`: words in the panel of details.
inline std::vector<int> wordsSaid(const std::string& output) {
    std::vector<int> counts;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("prose ") && line.size() > 6) counts.push_back(std::stoi(line.substr(6)));
    return counts;
}

} // namespace lockstep::test
