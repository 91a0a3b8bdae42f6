// Runs the program as its users do: as a process, judged by what it prints, writes and returns.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lockstep::test {

namespace fs = std::filesystem;
/// A folder of the test's own, gone at its end.
struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "lockstep-cli-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { fs::remove_all(path); }
    std::string file(const std::string& name) const { return (path / name).string(); }
};

/// The start of a command under which a Vulkan loader finds no driver: what it is told does not exist.
inline std::string withoutDriver(const Folder& folder) {
    const std::string missing = folder.file("no-driver");
    return "VK_DRIVER_FILES=" + missing + " VK_ICD_FILENAMES=" + missing;
}

/// The program under test: by default this build's own, or what LOCKSTEP_TEST_PROGRAM names, such as a
/// Windows build under Wine.
inline std::string program() {
    const char* other = std::getenv("LOCKSTEP_TEST_PROGRAM");
    return other == nullptr ? LOCKSTEP_PROGRAM : other;
}

inline std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
    /// Line breaks count as blanks.
    bool says(const std::string& text) const {
        std::string all = out + err;
        std::ranges::replace(all, '\n', ' ');
        return all.find(text) != std::string::npos;
    }
};

/// Runs the program. `environment` is put before it, as a shell reads it.
inline Outcome run(const std::string& arguments, const std::string& environment = "") {
    const Folder folder;
    const std::string command = environment + " '" + program() + "' " + arguments + " >" +
                                folder.file("out") + " 2>" + folder.file("err") + " </dev/null";
    const int status = std::system(command.c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                    contents(folder.file("out")), contents(folder.file("err"))};
    INFO(command);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code < 128 + 3); // never a crash
    return outcome;
}

/// Runs the program until its standard output has `announcement`, which tells that work begins, and then for
/// another half second; interrupts it by these signals, and gives it thirty seconds to end.
///   ignored   a signal that is ignored from the start, as nohup has it; 0: none
inline Outcome interrupted(const std::vector<std::string>& words, const std::string& announcement,
                           const std::vector<int>& signals = {SIGINT}, int ignored = 0) {
    const Folder folder;
    const std::string out = folder.file("out");
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::vector<char*> arguments{const_cast<char*>("lockstep")};
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        if (ignored != 0) std::signal(ignored, SIG_IGN);
        const int file = open(out.c_str(), O_WRONLY | O_CREAT, 0600);
        if (file >= 0 && dup2(file, STDOUT_FILENO) >= 0) execv(program().c_str(), arguments.data());
        _exit(127);
    }
    for (int waited = 0; contents(out).find(announcement) == std::string::npos && waited < 3000; ++waited)
        usleep(10000);
    usleep(500000);
    for (const int signal : signals) {
        kill(child, signal);
        usleep(2000);
    }
    int status = 0;
    pid_t ended = 0;
    for (int waited = 0; ended == 0 && waited < 3000; ++waited) {
        ended = waitpid(child, &status, WNOHANG);
        usleep(10000);
    }
    if (ended == 0) kill(child, SIGKILL);
    REQUIRE(ended == child);
    REQUIRE(WIFEXITED(status));
    return {WEXITSTATUS(status), contents(out), ""};
}

} // namespace lockstep::test
