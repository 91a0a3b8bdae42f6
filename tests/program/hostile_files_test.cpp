// Files that are damaged, or made to do harm, among the files that the program reads by itself.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include <sys/resource.h>

#include "tests/data_files.h"
#include "tests/sanitized.h"
#include "tests/show_script.h"

using namespace lockstep::test;
using namespace std::string_view_literals;

namespace {

constexpr const char* lessonHead = "---\ntitle: t\n---\n";

/// A PNG of 4x4 pixels with a chunk whose length is nonsense.
constexpr std::string_view damagedPng =
    "\x89PNG\r\n\x1a\n\0\0\0\x0DIHDR\0\0\0\x04\0\0\0\x04\x08\x06\0\0\0\xA9\xF1\x9E\x7E"
    "\xFF\xFF\xFF\xFFIDATx\xDA\x63\x08\x45\x03\x0C\xA4\x0B\0\0\xD2\xE2\x15\x41"sv;

/// The most memory that any child of this test has had so far, in MB.
long peakMegabytes() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_maxrss / 1024;
}

} // namespace

TEST_CASE("a damaged picture, lesson or state among a person's own lessons is listed, and ends no start") {
    const CacheFolder cache;
    const fs::path lessons = cache.path() / "lessons";
    fs::create_directories(lessons);
    std::ofstream(lessons / "damaged.md") << lessonHead << "## A\n\nT.\n\n![x](p.png)\n";
    std::ofstream(lessons / "p.png", std::ios::binary) << damagedPng;
    std::ofstream(lessons / "noise.md", std::ios::binary) << std::string("\0\xFF\x1b[2J", 6);
    std::ofstream(lessons / "sound.md") << lessonHead << "## A\n\nT.\n";
    fs::create_directories(lessons / "folder.md");
    const Outcome checked = run("lesson check " + (lessons / "damaged.md").string());
    INFO(checked.out << checked.err);
    CHECK(checked.code == 1);
    CHECK(checked.out.find("damaged.md") != std::string::npos);
    CHECK(checked.out.find("4: cannot read the PNG p.png: it is damaged\n") != std::string::npos);
    const Outcome list = run("lesson");
    INFO(list.out << list.err);
    CHECK(list.code == 0);
    CHECK(list.out.find("cannot read the PNG p.png: it is damaged") != std::string::npos);
    CHECK(list.out.find("sound") != std::string::npos);
    CHECK(list.out.find("noise") != std::string::npos);
    const Folder folder;
    const Outcome shown = showScript(folder, "playground",
                                     "click Lessons\nframes 3\nkey Escape\nlesson sound\nframes 3\ntell\n");
    INFO(shown.out << shown.err);
    CHECK(shown.code == 0);
    CHECK(shown.out.find("1 of 1  A") != std::string::npos);
}

// As the folder for stored state is read by itself, so are states that somebody sends.
TEST_CASE("no state, lesson or picture takes a gigabyte of memory, however little it says") {
    const Folder folder;
    // Sanitizers take memory of their own, so none is counted there: a look at each kind of file is enough.
    const int sections = sanitized ? 4 : 16;
    {
        std::ofstream state(folder.file("a.json"));
        state << "{\"lockstep\":1,\"x\":[";
        for (int i = 0; i < (sanitized ? 9'000'000 : 40'000'000) / 3; ++i) state << "[],";
        state << "0]}";
        std::ofstream nested(folder.file("b.json"));
        nested << "{\"lockstep\":1,\"x\":[";
        for (int i = 0; i < (sanitized ? 1'000'000 : 8'000'000) / 8; ++i) nested << "{\"\":{}},";
        nested << "0]}";
        std::ofstream lesson(folder.file("pics.md"));
        lesson << lessonHead;
        for (int i = 0; i < sections; ++i)
            lesson << "## S" << i << "\n\nT.\n\n![x](p" << i % 10 << ".png)\n\n![y](p9.png)\n\n";
        std::ofstream script(folder.file("walk.txt"));
        for (int i = 0; i < sections; ++i) script << "frames 3\nkey PageDown\n";
    }
    const std::string png = pngFile(4096, 2048, std::size_t{2048} * (4096 * 4 + 1));
    for (int i = 0; i < 10; ++i)
        std::ofstream(folder.file("p" + std::to_string(i) + ".png"), std::ios::binary) << png;

    const Outcome large = run("show " + folder.file("a.json") + " --headless --frames 1");
    CHECK(large.code == 1);
    CHECK(large.says("the limit is 8388608"));
    if (!sanitized) CHECK(peakMegabytes() < 1000);
    run("show " + folder.file("b.json") + " --headless --frames 1"); // unknown fields are passed over
    MESSAGE("states: ", peakMegabytes(), " MB");
    if (!sanitized) CHECK(peakMegabytes() < 1000);
    CHECK(run("lesson check " + folder.file("pics.md")).code == 0);
    const Outcome walked =
        run("show " + folder.file("pics.md") + " --headless --script " + folder.file("walk.txt"));
    INFO(walked.out << walked.err);
    CHECK(walked.code == 0);
    MESSAGE("pictures: ", peakMegabytes(), " MB");
    if (!sanitized) CHECK(peakMegabytes() < 1000);
}
