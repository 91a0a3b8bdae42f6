// Standard streams, signals and limits of the system: nothing is lost because something cannot be shown, and
// nothing ends well that was not written.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/tune/kernel_cache.h"
#include "tests/run_program.h"

using namespace lockstep::test;
using Json = nlohmann::ordered_json;

namespace {

/// What becomes of a stream that is written to.
enum class Stream { file, closed, full, unread };

const char* nameOf(Stream stream) {
    switch (stream) {
    case Stream::closed: return "closed";
    case Stream::full: return "/dev/full";
    case Stream::unread: return "a pipe without a reader";
    default: return "a file";
    }
}

void become(int descriptor, Stream stream, const std::string& file) {
    if (stream == Stream::closed) {
        close(descriptor);
        return;
    }
    int ends[2];
    int opened = -1;
    if (stream == Stream::unread && pipe(ends) == 0) {
        close(ends[0]);
        opened = ends[1];
    } else {
        opened =
            open(stream == Stream::full ? "/dev/full" : file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    dup2(opened, descriptor);
    close(opened);
}

/// Starts the program with these streams; its standard input is /dev/null.
Outcome runWith(const std::string& arguments, Stream out, Stream err) {
    const Folder folder;
    const std::string command = "exec '" + program() + "' " + arguments;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGPIPE, SIG_DFL);
        become(STDIN_FILENO, Stream::file, "/dev/null");
        become(STDERR_FILENO, err, folder.file("err"));
        become(STDOUT_FILENO, out, folder.file("out"));
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        _exit(127);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(folder.file("out")),
            contents(folder.file("err"))};
}

constexpr Stream unwritable[] = {Stream::closed, Stream::full, Stream::unread};

const std::string spiral = "--data spiral --layers 4 --lane cpu:best --threads 2 ";
const std::string smallPopulation = "population --size 2x2 --data spiral --steps 20 --lane cpu:best ";
const std::string smallMap = "map --size 8x8 --steps 5 --lane cpu:best ";

void writeLesson(const std::string& file) {
    std::ofstream(file) << "---\ntitle: A lesson\nabout: It tests.\n---\n## One\nText\n";
}

std::size_t filesIn(const Folder& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()));
}

} // namespace

TEST_CASE("a standard error that cannot be written ends nothing: models are saved, exit codes stay") {
    for (const Stream err : unwritable) {
        const Folder folder;
        const std::string model = folder.file("m.safetensors");
        const std::pair<std::string, int> commands[] = {
            {"train --steps 20 " + spiral + "--save " + model, 0},
            {"predict --model " + model, 0},
            {"predict --model " + model + " --json -", 0}, // its table goes to standard error
            {"race --quick --steps 20 " + spiral + "--lane cpu:simd", 0},
            {"race --repeat 2 --quick --steps 20 " + spiral, 0},
            {smallPopulation, 0},
            {smallMap, 0},
            {"lab launch --quick --lane cpu", 0},
            {"lesson results " + folder.path.string(), 1}, // there are none
            {"train --data nosuch", 2},
            {"nosuch", 2},
            {"predict --model " + folder.file("missing"), 1},
        };
        for (const auto& [command, expected] : commands) {
            const std::string words = command;
            CAPTURE(words);
            CAPTURE(nameOf(err));
            CHECK(runWith(words, Stream::file, err).code == expected);
        }
        CHECK(fs::file_size(model) > 500);
    }
}

TEST_CASE("a terminal that closes under a job that ignores its signal costs the job nothing") {
    const Folder folder;
    const std::string model = folder.file("m.safetensors");
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0);
    REQUIRE(grantpt(terminal) == 0);
    REQUIRE(unlockpt(terminal) == 0);
    const std::string name = ptsname(terminal);
    const std::string command = "exec '" + program() + "' train --seconds 2 " + spiral + "--save " + model;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(terminal);
        setsid();
        std::signal(SIGHUP, SIG_IGN);
        setenv("TERM", "xterm", 1);
        const int own = open(name.c_str(), O_RDWR);
        dup2(own, STDERR_FILENO);
        become(STDOUT_FILENO, Stream::file, folder.file("out"));
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        _exit(127);
    }
    char progress[3000];
    REQUIRE(read(terminal, progress, sizeof progress) > 0);
    close(terminal);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(fs::exists(model));
    CHECK(contents(folder.file("out")).find("saved to") != std::string::npos);
}

TEST_CASE("whatever cannot be written to standard output, the exit code is 1 and a message says so") {
    const Folder folder;
    const std::string model = folder.file("m.safetensors");
    const std::string lesson = folder.file("l.md");
    const std::string card = folder.file("card.json");
    REQUIRE(run("train --quiet --steps 20 " + spiral + "--save " + model).code == 0);
    REQUIRE(run("card --quick --quiet --seconds 1 --json " + card).code == 0);
    writeLesson(lesson);
    fs::create_directory(folder.path / "sheets");
    std::ofstream(folder.path / "sheets/a.json")
        << R"({"lockstep_answers": 1, "learner": "A", "lesson": "L", "date": "2025-01-01 10:00", "machine": "M",
               "answers": [{"step": "S", "question": "Q", "answer": "B", "verdict": "right"}]})";
    const std::string sheets = (folder.path / "sheets").string();
    std::ofstream(folder.file("script.txt")) << "frames 1\ncontrols\n";
    const std::vector<std::string> commands = {
        "--help",
        "--version",
        "race --help",
        "devices",
        "devices --json",
        "lesson",
        "lesson show what-is-a-gpu",
        "lesson check " + lesson,
        "lesson run " + lesson,
        "lesson notes " + lesson,
        "lesson print --html - " + lesson,
        "lesson results " + sheets,
        "lesson results --csv - " + sheets,
        "lab",
        "lab launch --quick --quiet --lane cpu",
        "lab launch --quick --quiet --lane cpu --json -",
        "lab launch --quick --quiet --lane cpu --csv -",
        "race --quick --quiet --steps 20 " + spiral,
        "race --quick --quiet --steps 20 " + spiral + "--json -",
        "race --quick --quiet --steps 20 " + spiral + "--csv -",
        "train --quiet --steps 20 " + spiral,
        "train --quiet --steps 20 " + spiral + "--json -",
        "train --quiet --steps 20 " + spiral + "--csv -",
        "predict --model " + model,
        "predict --model " + model + " --json -",
        smallPopulation + "--quiet",
        smallPopulation + "--quiet --json -",
        smallPopulation + "--quiet --csv -",
        smallMap + "--quiet",
        smallMap + "--quiet --json -",
        smallMap + "--quiet --csv -",
        "bench --widths 4,4,2 --batch 8 --seconds 0.01 --lane cpu:scalar",
        "bench --widths 4,4,2 --batch 8 --seconds 0.01 --lane cpu:scalar --json -",
        "card --quick --quiet --seconds 1",
        "card --quick --quiet --seconds 1 --json -",
        "card --compare " + card + " " + card,
        "tune --data spiral --layers 4 --batch 8",
        "show race --headless --platform",
        "show race --headless --script " + folder.file("script.txt"),
    };
    for (const std::string& command : commands) {
        CAPTURE(command);
        const Outcome written = runWith(command, Stream::file, Stream::file);
        CAPTURE(written.err);
        CHECK(written.code == 0);
        CHECK_FALSE(written.out.empty());
        for (const Stream out : unwritable) {
            CAPTURE(nameOf(out));
            const Outcome outcome = runWith(command, out, Stream::file);
            CHECK(outcome.code == 1);
            const char* reason = out == Stream::closed ? "Bad file descriptor"
                                 : out == Stream::full ? "No space left on device"
                                                       : "Broken pipe";
            CHECK(outcome.err.find(std::string("cannot write standard output: ") + reason) !=
                  std::string::npos);
        }
    }
    CHECK(fs::exists(model));
    // An error or an interrupt keeps its own code; where nothing is written, nothing has failed.
    CHECK(runWith("train --data nosuch", Stream::closed, Stream::file).code == 2);
    CHECK(runWith("show race --headless --frames 1", Stream::closed, Stream::file).code == 0);
}

TEST_CASE("notes that follow the window end once they cannot be written") {
    const Folder folder;
    setenv("LOCKSTEP_STATE_FILE", folder.file("state.json").c_str(), 1);
    for (const Stream out : unwritable) CHECK(runWith("lesson notes", out, Stream::file).code == 1);
    unsetenv("LOCKSTEP_STATE_FILE");
}

TEST_CASE("files do not take the place of standard streams that are closed at the start") {
    const Folder folder;
    const std::string model = folder.file("m.safetensors");
    const std::string json = folder.file("r.json");
    const std::string csv = folder.file("r.csv");
    const std::string command = "train --steps 20 --save-every 1 --log-every 1 " + spiral + "--save " +
                                model + " --json " + json + " --csv " + csv + " <&-";
    const Outcome outcome = runWith(command, Stream::closed, Stream::closed);
    CHECK(outcome.code == 1); // the table is lost
    CHECK(Json::parse(contents(json)).contains("lanes"));
    CHECK(contents(csv).starts_with("lane,step,loss,seconds\n"));
    CHECK(run("predict --model " + model).code == 0);
    CHECK(filesIn(folder) == 3);
}

TEST_CASE("a limit on file sizes is an error like a full disk, and leaves nothing behind") {
    const Folder folder;
    const Outcome outcome =
        run("train --quiet --layers 256,256 --data spiral --lane cpu:best --steps 5 --save " +
                folder.file("big.safetensors"),
            "ulimit -f 16;");
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("cannot write " + folder.file("big.safetensors") + ": File too large") !=
          std::string::npos);
    CHECK(outcome.out.find("cpu:best") != std::string::npos); // the results are shown all the same
    CHECK(filesIn(folder) == 0);
}

TEST_CASE("a model is saved, although the results cannot be written") {
    const Folder folder;
    const std::string model = folder.file("m.safetensors");
    const Outcome outcome = run("train --quiet --steps 5 " + spiral + "--json /dev/full --save " + model);
    CHECK(outcome.code == 1);
    CHECK(outcome.says("cannot write /dev/full: No space left on device"));
    CHECK(run("predict --model " + model).code == 0);
}

TEST_CASE(
    "a closed terminal, a dropped connection and a shutdown save the run, with the signal's exit code") {
    // A shell sends SIGHUP once more to what the closing terminal has sent it already: at whatever moment, so
    // that one comes after the results are written.
    const std::pair<std::vector<int>, int> cases[] = {
        {{SIGHUP}, 129}, {std::vector<int>(400, SIGHUP), 129}, {{SIGTERM}, 143}, {{SIGINT}, 130}};
    for (const auto& each : cases) {
        const int code = each.second;
        const Folder folder;
        const std::string model = folder.file("m.safetensors");
        CAPTURE(code);
        const Outcome outcome = interrupted({"train", "--data", "spiral", "--lane", "cpu:best", "--seconds",
                                             "60", "--quiet", "--save", model},
                                            "until", each.first);
        CHECK(outcome.code == code);
        CHECK(outcome.says("saved to"));
        CHECK(fs::exists(model));
    }
    for (const char* command : {"population", "map"}) {
        CAPTURE(command);
        const std::vector<std::string> words =
            command == std::string("map")
                ? std::vector<std::string>{"map", "--preset", "sohl-dickstein-tanh", "--size", "1024x1024"}
                : std::vector<std::string>{"population", "--size", "8x8", "--steps", "10000000"};
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--lane", "cpu:best", "--quiet"});
        CHECK(interrupted(all, "\n", {SIGHUP}).code == 129);
    }
}

TEST_CASE("under nohup, a closed terminal changes nothing") {
    const Folder folder;
    const std::string model = folder.file("m.safetensors");
    const Outcome outcome = interrupted(
        {"train", "--data", "spiral", "--lane", "cpu:best", "--seconds", "2", "--quiet", "--save", model},
        "until", {SIGHUP}, SIGHUP);
    CHECK(outcome.code == 0);
    CHECK(fs::exists(model));
}

TEST_CASE("a recording without a window is finished when it is interrupted") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const Folder folder;
        const std::string file = folder.file("r.webp");
        std::ofstream(folder.file("script.txt")) << "click Run\nframes 1000000\n";
        const Outcome outcome = interrupted({"show", "race", "--headless", "--size", "320x240", "--record",
                                             file, "--script", folder.file("script.txt")},
                                            "frames 1000000", {signal});
        CHECK(outcome.code == 128 + signal);
        CHECK(outcome.says("message: Recording saved to"));
        CHECK(contents(file).starts_with("RIFF"));
        CHECK(filesIn(folder) == 2);
    }
}

TEST_CASE("outputs that would overwrite each other, or what is read, are refused before anything runs") {
    const Folder folder;
    const std::string model = folder.file("m.safetensors");
    const std::string lesson = folder.file("l.md");
    const std::string table = folder.file("t.csv");
    REQUIRE(run("train --quiet --steps 5 " + spiral + "--save " + model).code == 0);
    writeLesson(lesson);
    std::ofstream(table) << "x,y,class\n1,2,a\n2,1,b\n3,4,a\n4,3,b\n";
    fs::create_symlink("later.json", folder.path / "link.json"); // to what does not exist yet
    fs::create_directory(folder.path / "sub");
    const std::string later = folder.file("later.json");
    const std::string again = (folder.path / "sub/../later.json").string();
    const std::string train = "train --steps 5 " + spiral;
    const std::pair<std::string, std::string> cases[] = {
        {train + "--json " + later + " --save " + later, "--save and --json name the same file"},
        {train + "--json " + later + " --save " + again, "--save and --json name the same file"},
        {train + "--json " + folder.file("link.json") + " --csv " + later,
         "--json and --csv name the same file"},
        {"race --steps 5 " + spiral + "--json " + later + " --csv " + again, "--json and --csv"},
        {smallPopulation + "--json " + later + " --csv " + later, "--json and --csv"},
        {smallPopulation + "--csv " + later + " --png " + later, "--png"},
        {smallMap + "--csv a.png --png ./a.png", "--csv and --png"},
        {train + "--init " + model + " --json " + model, "--init and --json"},
        {"train --resume " + model + " --csv " + model, "--resume and --csv"},
        {"train --data csv:" + table + " --lane cpu:best --steps 5 --csv " + table, "--data and --csv"},
        {"train --data csv:" + table + " --lane cpu:best --steps 5 --save " + table, "--data and --save"},
        {"predict --model " + model + " --json " + model, "--model and --json"},
        {"lesson print " + lesson + " --html " + lesson, "--html"},
        {"show race --headless --frames 1 --png a.png --record ./a.png", "--png and --record"},
        {train + "--save -", "--save needs the name of a file"},
        {"lab --all -", "--all needs the name of a file"},
        {smallMap + "--png -", "--png needs a file name"},
        {"show race --headless --frames 1 --png -", "--png needs the name of a file"},
        {"show race --headless --frames 1 --record -", "--record needs the name of a file"},
        {train + "--json - --csv /dev/stdout", "only one of --json and --csv"},
    };
    const std::string before = contents(model);
    for (const auto& [words, answer] : cases) {
        const std::string arguments = words;
        CAPTURE(arguments);
        const Outcome outcome = run(arguments);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.err.find(answer) != std::string::npos);
        CHECK(outcome.out.empty());
    }
    CHECK(contents(model) == before);
    CHECK_FALSE(fs::exists(later));
    // A device takes any number of writers, and a resumed run may replace what it began from.
    CHECK(run(train + "--quiet --json /dev/null --csv /dev/null").code == 0);
    CHECK(run("train --quiet --steps 9 --resume " + model + " --save " + model).code == 0);
}

TEST_CASE("- is standard output wherever a text is written, and tables then go to standard error") {
    const Folder folder;
    writeLesson(folder.file("l.md"));
    const std::string inFolder = "cd " + folder.path.string() + " &&";
    const Outcome page = run("lesson print l.md --html -", inFolder);
    CHECK(page.code == 0);
    CHECK(page.out.starts_with("<!"));
    CHECK(page.out.find("</html>") != std::string::npos);
    const std::string bench = "bench --widths 4,4,2 --batch 8 --seconds 0.01 --lane cpu:scalar --json ";
    for (const char* output : {"-", "/dev/stdout"}) {
        const Outcome results = run(bench + output, inFolder);
        CHECK(results.code == 0);
        CHECK(Json::parse(results.out)["lanes"].size() == 1);
        CHECK(results.err.find("whole training steps") != std::string::npos);
    }
    CHECK(filesIn(folder) == 1); // no file called "-"
}

TEST_CASE("a recording through a link writes what the link names, and keeps the link") {
    const Folder folder;
    fs::create_symlink("target.webp", folder.path / "link.webp");
    for (int round = 0; round < 2; ++round) { // the target is new, then it exists
        CHECK(
            run("show race --headless --size 320x240 --frames 6 --record " + folder.file("link.webp")).code ==
            0);
        CHECK(fs::is_symlink(folder.path / "link.webp"));
        CHECK(contents(folder.path / "target.webp").starts_with("RIFF"));
    }
}

TEST_CASE("saving removes what the program left behind, and nothing of a person's") {
    const Folder folder;
    for (const char* name : {"z.st.tmp-backup", "z.st.tmp-1-backup", "z.st.tmp-"})
        std::ofstream(folder.file(name)) << "precious";
    CHECK(run("train --quiet --steps 5 " + spiral + "--save " + folder.file("z.st")).code == 0);
    CHECK(contents(folder.file("z.st.tmp-backup")) == "precious");
    CHECK(filesIn(folder) == 4);
}

TEST_CASE("scripts come from regular files of limited size, and their numbers are checked") {
    const Folder folder;
    REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    std::ofstream(folder.file("long.txt")) << std::string(1'000'001, '#');
    const std::pair<std::string, std::string> files[] = {
        {folder.path.string(), "it is a folder"},
        {"/dev/zero", "it is a device or a pipe"},
        {folder.file("pipe"), "it is a device or a pipe"},
        {folder.file("long.txt"), "it has 1000001 bytes; the limit is 1000000"},
        {folder.file("missing"), "no such file"},
    };
    for (const auto& [name, answer] : files) {
        const std::string file = name;
        CAPTURE(file);
        const Outcome outcome = run("show race --headless --script " + file);
        CHECK(outcome.code == 1);
        CHECK(outcome.err.find("cannot read " + file + ": " + answer) != std::string::npos);
    }
    const std::pair<std::string, std::string> lines[] = {
        {"frames abc", "frames takes a whole number from 0 to 1000000, not 'abc'"},
        {"frames -1", "frames takes a whole number from 0 to 1000000, not '-1'"},
        {"frames 1.5", "not '1.5'"},
        {"frames 1e30", "not '1e30'"},
        {"frames", "not ''"},
        {"wheel abc", "wheel takes numbers from -1000 to 1000, not 'abc'"},
        {"resize 1e30 5", "resize takes numbers from 1 to 16384, not '1e30'"},
        {"resize 300", "not ''"},
        {"move nan 0.5", "not 'nan'"},
        {"drag Run 0.1 x", "not 'x'"},
    };
    for (const auto& [text, answer] : lines) {
        const std::string line = text;
        CAPTURE(line);
        std::ofstream(folder.file("script.txt")) << line << '\n';
        const Outcome outcome = run("show race --headless --script " + folder.file("script.txt"));
        CAPTURE(outcome.err);
        CHECK(outcome.code == 1);
        CHECK(outcome.err.find(answer) != std::string::npos);
    }
}

TEST_CASE("a command that gets no memory says so") {
    // Too little to train with, enough to start: address space of the program and of its libraries.
    const Outcome outcome = run(
        "train --quiet --data spiral --layers 60000,60000 --lane cpu:scalar --steps 1", "ulimit -v 2000000;");
    CHECK(outcome.code == 1);
    CHECK(outcome.says("out of memory"));
    CHECK_FALSE(outcome.says("bad_alloc"));
    const Outcome samples = run("train --quiet --data spiral --samples 1e15 --lane cpu:scalar --steps 1");
    CHECK(samples.code != 0);
    CHECK_FALSE(samples.says("bad_alloc"));
    CHECK_FALSE(samples.says("vector"));
}

TEST_CASE("a folder of caches that is not absolute is ignored") {
    const Folder folder;
    const char* own = std::getenv("LOCKSTEP_CACHE_DIR");
    const std::string kept = own == nullptr ? "" : own;
    unsetenv("LOCKSTEP_CACHE_DIR");
    setenv("HOME", folder.path.c_str(), 1);
    setenv("XDG_CACHE_HOME", "caches", 1);
    CHECK(lockstep::cacheFolder() == folder.path / ".cache/lockstep");
    setenv("XDG_CACHE_HOME", folder.file("caches").c_str(), 1);
    CHECK(lockstep::cacheFolder() == folder.path / "caches/lockstep");
    unsetenv("XDG_CACHE_HOME");
    CHECK(lockstep::cacheFolder() == folder.path / ".cache/lockstep");
    if (own != nullptr) setenv("LOCKSTEP_CACHE_DIR", kept.c_str(), 1);
}

TEST_CASE("only one place writes to standard streams: it is the one that knows that this may fail") {
    std::size_t files = 0;
    for (const char* room : {"demos", "engine"})
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / room)) {
            const std::string name = entry.path().filename().string();
            const fs::path folder = entry.path().parent_path().filename();
            const bool apart = folder == "embed" || folder == "mpi"; // programs; a module's last words
            if (!entry.is_regular_file() || name.starts_with("streams.") || apart) continue;
            ++files;
            const std::string text = contents(entry.path());
            CAPTURE(entry.path().string());
            for (const char* call :
                 {"fmt::print(", "fmt::println(", "std::cout", "std::cerr", "std::fputs", "std::fwrite",
                  "std::puts", "std::printf", "std::fprintf", "std::perror"})
                CHECK(text.find(call) == std::string::npos);
        }
    CHECK(files > 300);
}
