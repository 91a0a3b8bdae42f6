// Files are replaced whole or not at all, and what a killed writer leaves behind is cleared away.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path = fs::temp_directory_path() / ("lockstep-atomic-file-test-" + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

std::string contents(const fs::path& path) { return std::string(asText(readFileBytes(path))); }

} // namespace

TEST_CASE("a file is created, then replaced, and keeps its permissions") {
    const Folder folder;
    const fs::path path = folder.path / "file";
    writeFileAtomically(path, "first");
    CHECK(contents(path) == "first");
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    writeFileAtomically(path, "second, longer");
    CHECK(contents(path) == "second, longer");
    CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(folder.files() == 1);
}

TEST_CASE("symbolic links are followed, devices written directly") {
    const Folder folder;
    writeFileAtomically(folder.path / "target", "old");
    fs::create_symlink("target", folder.path / "link");
    writeFileAtomically(folder.path / "link", "new");
    CHECK(fs::is_symlink(folder.path / "link"));
    CHECK(contents(folder.path / "target") == "new");
    writeFileAtomically("/dev/null", "nothing");
    CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("links to what does not exist yet are kept, too, and links in a circle refused") {
    const Folder folder;
    fs::create_directory(folder.path / "sub");
    fs::create_symlink("sub/second", folder.path / "first");
    fs::create_symlink("../target", folder.path / "sub/second");
    for (const char* text : {"new", "newer"}) {
        writeFileAtomically(folder.path / "first", text);
        CHECK(fs::is_symlink(folder.path / "first"));
        CHECK(fs::is_symlink(folder.path / "sub/second"));
        CHECK(contents(folder.path / "target") == text);
    }
    fs::create_symlink("circle", folder.path / "circle");
    CHECK_THROWS_WITH_AS(writeFileAtomically(folder.path / "circle", "x"),
                         doctest::Contains("Too many levels of symbolic links"), std::runtime_error);
}

TEST_CASE("a pipe is written to if somebody reads it, and otherwise not waited for") {
    const Folder folder;
    const fs::path pipe = folder.path / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH_AS(writeFileAtomically(pipe, "x"), doctest::Contains("no program reads this pipe"),
                         std::runtime_error);
    const std::string longText(1 << 20, 'x'); // more than a pipe holds
    std::string read;
    std::thread reader([&] {
        std::ifstream file(pipe);
        read.assign(std::istreambuf_iterator<char>(file), {});
    });
    const int alsoRead = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK); // the thread may not have opened it yet
    ::usleep(200000);
    writeFileAtomically(pipe, longText);
    ::close(alsoRead);
    reader.join();
    CHECK(read.size() == longText.size());
    CHECK(fs::is_fifo(pipe));
}

TEST_CASE("files are the same however they are spelt and linked, whether or not they exist") {
    const Folder folder;
    const auto in = [&](const char* name) { return folder.path / name; };
    fs::create_directory(in("sub"));
    fs::create_symlink("later", in("link"));
    CHECK(sameFile(in("later"), in("sub/../later")));
    CHECK(sameFile(in("link"), in("./later")));
    CHECK_FALSE(sameFile(in("later"), in("sub/later")));
    CHECK(sameFile("some-file", "./some-file"));
    writeFileAtomically(in("file"), "x");
    fs::create_hard_link(in("file"), in("hard"));
    CHECK(sameFile(in("file"), in("hard")));
    CHECK_FALSE(sameFile(in("file"), in("later")));
    CHECK_FALSE(sameFile("/dev/null", "/dev/null"));
}

TEST_CASE("requireWritable checks without writing") {
    const Folder folder;
    requireWritable(folder.path / "new");
    CHECK(folder.files() == 0);
    writeFileAtomically(folder.path / "file", "kept");
    requireWritable(folder.path / "file");
    CHECK(contents(folder.path / "file") == "kept");
    CHECK(folder.files() == 1);
    requireWritable("/dev/null");
    CHECK_THROWS_WITH_AS(requireWritable(folder.path / "nowhere" / "file"),
                         doctest::Contains("create its folder first"), std::runtime_error);
    CHECK_THROWS_AS(requireWritable(folder.path), std::runtime_error); // a folder
}

TEST_CASE("errors name the path, the reason and what to do") {
    const Folder folder;
    CHECK_THROWS_WITH_AS(writeFileAtomically(folder.path / "none" / "file", "x"),
                         doctest::Contains("No such file or directory; create its folder first"),
                         std::runtime_error);
    CHECK_THROWS_WITH_AS(writeFileAtomically(folder.path, "x"), doctest::Contains("Is a directory"),
                         std::runtime_error);
    CHECK_THROWS_WITH_AS(writeFileAtomically(folder.path / std::string(300, 'n'), "x"),
                         doctest::Contains("choose a shorter name"), std::runtime_error);
}

TEST_CASE("if the disk is full, the old file stays and no temporary is left") {
    const Folder folder;
    const fs::path path = folder.path / "file";
    writeFileAtomically(path, "old");
    // A limit on file sizes fails in write(), half-way, just as a full disk does.
    struct ::rlimit kept {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &kept) == 0);
    const auto oldHandler = ::signal(SIGXFSZ, SIG_IGN);
    const struct ::rlimit small { 1 << 16, kept.rlim_max };
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_THROWS_WITH_AS(writeFileAtomically(path, std::string(1 << 20, 'x')),
                         doctest::Contains("File too large"), std::runtime_error);
    ::setrlimit(RLIMIT_FSIZE, &kept);
    ::signal(SIGXFSZ, oldHandler);
    CHECK(contents(path) == "old");
    CHECK(folder.files() == 1);
}

TEST_CASE("temporaries of killed writers are removed, other files are not") {
    const Folder folder;
    const fs::path path = folder.path / "file";
    const ::pid_t killed = ::fork();
    if (killed == 0) ::_exit(0);
    REQUIRE(::waitpid(killed, nullptr, 0) == killed);
    const std::string writer = std::to_string(killed);
    const std::string present = std::to_string(::getpid());
    const std::vector<std::string> stale{"file.tmp-" + writer + "-0", "file.tmp-" + writer + "-17",
                                         "file.tmp-" + present + "-99"}; // its number was another's before
    const std::vector<std::string> others{"file.tmp",
                                          "file.tmp-",
                                          "file.tmp-backup",
                                          "file.tmp-" + writer,
                                          "file.tmp-1-0", // a process that runs
                                          "file.tmp--1-0",
                                          "file.tmp-0-0",
                                          "file.tmp-" + writer + "-",
                                          "file.tmp-" + writer + "-0.bak",
                                          "file.tmp-1e3-0",
                                          "file.tmp-99999999999999999999-0",
                                          "other.tmp-" + writer + "-0"};
    const std::string pipe = "file.tmp-" + writer + "-5";
    for (const std::string& name : stale) std::ofstream(folder.path / name) << "stray";
    for (const std::string& name : others) std::ofstream(folder.path / name) << "precious";
    REQUIRE(::mkfifo((folder.path / pipe).c_str(), 0600) == 0);
    writeFileAtomically(path, "new");
    CHECK(contents(path) == "new");
    for (const std::string& name : stale) CHECK_MESSAGE(!fs::exists(folder.path / name), name);
    for (const std::string& name : others) CHECK_MESSAGE(fs::exists(folder.path / name), name);
    CHECK(fs::exists(folder.path / pipe));
}

TEST_CASE("two writers of one path leave the complete contents of one of them") {
    const Folder folder;
    const fs::path path = folder.path / "file";
    const auto writeMany = [&](char letter) {
        for (int i = 0; i < 50; ++i) writeFileAtomically(path, std::string(100'000, letter));
    };
    std::thread other(writeMany, 'b');
    writeMany('a');
    other.join();
    const std::string text = contents(path);
    CHECK(text.size() == 100'000);
    CHECK((text.find('a') == std::string::npos || text.find('b') == std::string::npos));
    CHECK(folder.files() == 1);
}

TEST_CASE("while writes are refused, nothing is written, and the message says why; other threads go on") {
    const Folder folder;
    const fs::path file = folder.path / "kept";
    writeFileAtomically(file, "old");
    const fs::path other = folder.path / "new" / "other";
    {
        const WritesRefused outer("an outer reason");
        {
            const WritesRefused refused("a lesson's 'try' saves nothing");
            CHECK_THROWS_WITH_AS(writeFileAtomically(file, "new"),
                                 doctest::Contains("kept: a lesson's 'try' saves nothing"),
                                 std::runtime_error);
        }
        CHECK_THROWS_WITH_AS(requireWritable(file), doctest::Contains("an outer reason"), std::runtime_error);
        createFoldersFor(other);
        CHECK_FALSE(fs::exists(other.parent_path()));
        std::thread([&] { writeFileAtomically(folder.path / "elsewhere", "x"); }).join();
    }
    CHECK(fs::exists(folder.path / "elsewhere"));
    CHECK(fs::file_size(file) == 3);
    createFoldersFor(other);
    writeFileAtomically(other, "x");
    CHECK(fs::exists(other));
}
