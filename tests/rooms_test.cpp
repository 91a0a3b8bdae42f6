// The rooms of the house: which folder may include which, file by file. The linker keeps the engine's arrows
// between libraries; this test keeps all of them, those of header-only use and of the program's folders, too.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace fs = std::filesystem;

namespace {

// Room -> rooms that it may include, one arrow's length each: what is not listed is not allowed.
const std::map<std::string, std::set<std::string>> arrows{
    {"shaders/shared", {}},
    {"engine/platform", {}},
    {"engine/net", {"shaders/shared"}},
    {"engine/plan", {"engine/net"}},
    {"engine/files", {"engine/net", "engine/platform"}},
    {"engine/data", {"engine/files", "engine/net", "engine/platform"}},
    {"engine/cpu", {"engine/net", "engine/platform", "shaders/shared"}},
    {"engine/gpu", {"engine/platform"}},
    {"engine/many", {"engine/files", "engine/net", "engine/platform"}},
    {"engine/many/mpi", {"engine/many"}},
    {"engine/step",
     {"engine/plan", "engine/net", "engine/cpu", "engine/gpu", "engine/many", "shaders/shared"}},
    {"engine/tune",
     {"engine/step", "engine/plan", "engine/files", "engine/net", "engine/cpu", "engine/gpu",
      "engine/platform"}},
    {"engine/run",
     {"engine/tune", "engine/step", "engine/plan", "engine/data", "engine/files", "engine/net", "engine/cpu",
      "engine/gpu", "engine/many", "engine/platform"}},
    {"engine/plane",
     {"engine/tune", "engine/step", "engine/plan", "engine/net", "engine/gpu", "shaders/shared"}},
    {"engine/grid",
     {"engine/run", "engine/plane", "engine/tune", "engine/step", "engine/plan", "engine/data",
      "engine/files", "engine/net", "engine/cpu", "engine/gpu", "engine/many", "shaders/shared"}},
    {"engine/c_api",
     {"engine/run", "engine/tune", "engine/step", "engine/plan", "engine/data", "engine/files", "engine/net",
      "engine/cpu", "engine/gpu"}},
    {"demos/words", {"engine"}},
    {"demos/draw", {"demos/words", "engine"}},
    {"demos/options", {"demos/words", "engine"}},
    {"demos/report", {"demos/draw", "demos/options", "demos/words", "engine"}},
    {"demos/kit", {"demos/report", "demos/draw", "demos/options", "demos/words", "engine", "shaders/shared"}},
    {"demos/telling", {"demos/kit", "demos/words", "engine"}},
    {"demos/lab",
     {"demos/telling", "demos/kit", "demos/report", "demos/draw", "demos/words", "engine", "shaders/shared"}},
    {"demos/lab/experiments",
     {"demos/lab", "demos/kit", "demos/draw", "demos/words", "engine", "shaders/shared"}},
    {"demos/exhibits/*",
     {"demos/lab", "demos/card", "demos/kit", "demos/report", "demos/draw", "demos/options", "demos/words",
      "engine"}},
    {"demos/exhibits", {"demos/exhibits/*", "demos/kit"}},
    {"demos/card",
     {"demos/kit", "demos/report", "demos/draw", "demos/options", "demos/words", "engine", "shaders/shared"}},
    {"demos/embed", {"engine"}},
    {"demos/lesson", {"demos/telling", "demos/kit", "demos/draw", "demos/words", "engine"}},
    {"demos/sound", {"demos/kit", "demos/draw", "demos/words", "engine"}},
    {"demos/shell",
     {"demos/sound", "demos/lesson", "demos/telling", "demos/kit", "demos/draw", "demos/words", "engine"}},
    {"demos/commands",
     {"demos/shell", "demos/lesson", "demos/card", "demos/lab", "demos/kit", "demos/report", "demos/draw",
      "demos/options", "demos/words", "engine"}},
    {"demos", {"demos/commands", "demos/options", "demos/words", "engine/platform"}},
};

// Third-party headers that only these rooms may include.
const std::map<std::string, std::set<std::string>> privileges{
    {"vulkan/",
     {"engine/gpu", "engine/tune", "engine/plane", "engine/step", "engine/run", "engine/grid", "demos/draw",
      "demos/shell", "demos/kit", "demos/commands", "demos/embed"}},
    {"GLFW/", {"demos/shell"}},
    {"AL/", {"demos/sound"}},
    {"md4c.h", {"demos/telling"}},
    {"webp/", {"demos/draw"}},
    {"yaml-cpp/", {"demos/lesson"}},
    {"mpi.h", {"engine/many/mpi"}},
};

std::string roomOf(const std::string& path) {
    const std::string folder = fs::path(path).parent_path().generic_string();
    if (folder == "engine/cpu/simd") return "engine/cpu";
    return folder;
}

// The row of the table: all exhibits share one, and none may include another.
std::string rowOf(const std::string& room) {
    return room.starts_with("demos/exhibits/") ? "demos/exhibits/*" : room;
}

bool allowed(const std::string& from, const std::string& to) {
    if (from == to) return true;
    const auto row = arrows.find(rowOf(from));
    if (row == arrows.end()) return false;
    if (to.starts_with("engine/") && row->second.contains("engine")) return true;
    return row->second.contains(rowOf(to)) &&
           !(from.starts_with("demos/exhibits/") && rowOf(to) == rowOf(from));
}

struct Include {
    std::string file;
    std::string what;
};

std::vector<Include> includes() {
    std::vector<Include> found;
    const fs::path root = LOCKSTEP_SOURCE_DIR;
    for (const char* top : {"engine", "demos", "shaders/shared"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".h" && extension != ".cpp" && extension != ".inl") continue;
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) {
                if (!line.starts_with("#include ")) continue;
                found.push_back({fs::relative(entry.path(), root).generic_string(),
                                 line.substr(10, line.find_first_of("\">", 10) - 10)});
            }
        }
    return found;
}

bool ofTheProject(const std::string& include) {
    return include.starts_with("engine/") || include.starts_with("demos/") || include.starts_with("shaders/");
}

} // namespace

TEST_CASE("every include follows an arrow of the table") {
    const std::vector<Include> all = includes();
    CHECK(all.size() > 1000); // the search itself works
    for (const Include& include : all) {
        INFO(include.file, " includes ", include.what);
        if (ofTheProject(include.what)) CHECK(allowed(roomOf(include.file), roomOf(include.what)));
        for (const auto& [prefix, rooms] : privileges)
            if (include.what.starts_with(prefix)) CHECK(rooms.contains(roomOf(include.file)));
    }
}

TEST_CASE("the arrows run one way") {
    // Repeatedly removes rooms without outgoing arrows; a cycle would remain.
    std::map<std::string, std::set<std::string>> left = arrows;
    for (auto& [room, targets] : left)
        if (targets.erase("engine") > 0)
            for (const auto& [other, unused] : arrows)
                if (other.starts_with("engine/")) targets.insert(other);
    for (bool removed = true; removed && !left.empty();) {
        removed = false;
        for (auto room = left.begin(); room != left.end();) {
            std::erase_if(room->second, [&](const std::string& target) { return !left.contains(target); });
            if (room->second.empty()) {
                room = left.erase(room);
                removed = true;
            } else {
                ++room;
            }
        }
    }
    for (const auto& [room, targets] : left) FAIL_CHECK(room << " is part of a cycle");
    CHECK(left.empty());
}

TEST_CASE("only the platform's room knows which system it runs on") {
    const std::regex systems(R"(^#.*\b(_WIN32|WIN32|__linux__|__APPLE__|__unix__|_POSIX\w*)\b)");
    const std::regex headers(
        "^#include <(unistd|dlfcn|fcntl|sched|pthread|termios|poll|spawn|io|process|windows)[.]h>|^#include "
        "<(sys/|mach)");
    const std::regex folders(R"("/(proc|sys)/)");
    // A program of its own, built for Windows alone; the C header, which stands by itself.
    const std::set<std::string> elsewhere{"demos/windows/start.cpp", "engine/c_api/lockstep.h"};
    // A folder that callers and tests may replace, and a name of standard output.
    const std::set<std::string> exceptions{"engine/run/energy.h", "demos/report/result_files.cpp"};
    const fs::path root = LOCKSTEP_SOURCE_DIR;
    std::size_t inTheRoom = 0;
    for (const char* top : {"engine", "demos"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            if (!entry.is_regular_file()) continue;
            const std::string name = fs::relative(entry.path(), root).generic_string();
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) {
                const bool directive = line.starts_with('#') &&
                                       (std::regex_search(line, systems) || std::regex_search(line, headers));
                const bool folder =
                    line.find("/proc/") != std::string::npos || line.find("/sys/") != std::string::npos;
                if (!directive && !(folder && !exceptions.contains(name) && std::regex_search(line, folders)))
                    continue;
                CAPTURE(name);
                CAPTURE(line);
                CHECK((roomOf(name) == "engine/platform" || elsewhere.contains(name)));
                ++inTheRoom;
            }
        }
    CHECK(inTheRoom > 10); // the search itself works
}

TEST_CASE("the check detects violations") {
    CHECK_FALSE(allowed("engine/net", "engine/cpu"));
    CHECK_FALSE(allowed("engine/step", "engine/run"));
    CHECK_FALSE(allowed("demos/exhibits/race", "demos/exhibits/ladder"));
    CHECK_FALSE(allowed("engine/grid", "demos/kit"));
    CHECK(allowed("demos/exhibits/race", "engine/run"));
}

TEST_CASE("no folder has too many files") {
    std::map<std::string, int> files;
    const fs::path root = LOCKSTEP_SOURCE_DIR;
    for (const char* top : {"engine", "demos", "shaders"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top))
            if (entry.is_regular_file())
                ++files[fs::relative(entry.path().parent_path(), root).generic_string()];
    for (const auto& room : files) {
        CAPTURE(room.first);
        CHECK(room.second <= 40);
    }
}

TEST_CASE("every shader that a document names is a file") {
    const fs::path root = LOCKSTEP_SOURCE_DIR;
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(root / "shaders"))
        names.insert(entry.path().filename().string());
    std::vector<fs::path> documents{root / "README.md", root / "CONTRIBUTING.md"};
    for (const char* folder : {"docs", "assets/lessons", "assets/experiments"})
        for (const auto& entry : fs::directory_iterator(root / folder))
            if (entry.path().extension() == ".md") documents.push_back(entry.path());
    const std::regex shader("[A-Za-z0-9_/]+[.](comp|glsl)\\b");
    std::size_t found = 0;
    for (const fs::path& document : documents) {
        std::ifstream file(document);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        for (std::sregex_iterator at(text.begin(), text.end(), shader); at != std::sregex_iterator(); ++at) {
            const std::string name = at->str();
            if (name.find("NAME") != std::string::npos) continue; // a recipe's, for a file to come
            CAPTURE(document);
            CAPTURE(name);
            const bool path = name.find('/') != std::string::npos;
            CHECK((path ? fs::exists(root / name) : names.contains(name)));
            ++found;
        }
    }
    CHECK(found > 5); // the search itself works
}
