// Runs the program as its users do: as a process, judged by what it prints, writes and returns.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

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
    const std::string command = environment + " '" LOCKSTEP_PROGRAM "' " + arguments + " >" +
                                folder.file("out") + " 2>" + folder.file("err") + " </dev/null";
    const int status = std::system(command.c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                    contents(folder.file("out")), contents(folder.file("err"))};
    INFO(command);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code < 128 + 3); // never a crash
    return outcome;
}

} // namespace lockstep::test
