// Recordings: what is read back from both formats is what was shown, for as long as it was shown.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "demos/draw/animation.h"
#include "demos/shell/recording.h"
#include "tests/picture_compare.h"
#include "tests/read_animation.h"
#include "tests/sanitized.h"
#include "tests/show_script.h"

using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

const std::vector<std::string> endings{"webp", "png"};

ReadAnimation readAnimation(const std::string& file) {
    return file.ends_with(".webp") ? readWebP(file) : readApng(file);
}

/// A smooth picture that looks different for every `phase`, beside a part that never changes.
Pixels smooth(std::uint32_t width, std::uint32_t height, int phase) {
    Pixels pixels{width, height, {}};
    for (std::uint32_t y = 0; y < height; ++y)
        for (std::uint32_t x = 0; x < width; ++x) {
            const double wave = std::sin(0.1 * x + 0.07 * y + (x < width / 4 ? 0 : 0.3 * phase));
            const auto value = static_cast<std::uint8_t>(127 + 120 * wave);
            const auto other = static_cast<std::uint8_t>(255 * y / height);
            pixels.rgba.insert(pixels.rgba.end(),
                               {value, other, static_cast<std::uint8_t>(255 - value), 255});
        }
    return pixels;
}

/// The largest difference of a channel.
int farthest(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    REQUIRE(a.size() == b.size());
    int most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

/// The frame in RGBA.
std::vector<std::uint8_t> pixelsOf(const std::string& png) {
    const ReadPicture picture = readPicture(png);
    return readRgba(contents(png), static_cast<std::uint32_t>(picture.width),
                    static_cast<std::uint32_t>(picture.height));
}

std::vector<int> durations(const ReadAnimation& animation) {
    std::vector<int> all;
    for (const ShownFrame& frame : animation.frames) all.push_back(frame.milliseconds);
    return all;
}

Recording::Limits briefly(double seconds) {
    Recording::Limits limits;
    limits.seconds = seconds;
    return limits;
}

} // namespace

TEST_CASE("frames come back from both formats: size, time and pixels") {
    const Folder folder;
    for (const std::string& ending : endings) {
        CAPTURE(ending);
        const std::string file = folder.file("a." + ending);
        Animation animation(file);
        animation.add(smooth(90, 50, 0), 0);
        animation.add(smooth(90, 50, 0), 40); // the same
        animation.add(smooth(90, 50, 1), 67);
        animation.add(smooth(90, 50, 2), 133);
        const std::size_t bytes = animation.save(90'000);
        CHECK(bytes == fs::file_size(file));
        const ReadAnimation read = readAnimation(file);
        CHECK(read.width == 90);
        CHECK(read.height == 50);
        // APNG says what is longer than 65 s in hundredths.
        CHECK(durations(read) == std::vector{67, 66, ending == "png" ? 89'860 : 89'867});
        CHECK(read.frames[0].rgba == smooth(90, 50, 0).rgba);
        for (int phase = 1; phase < 3; ++phase) {
            const int off =
                farthest(read.frames[static_cast<std::size_t>(phase)].rgba, smooth(90, 50, phase).rgba);
            CHECK(off <= Animation::tolerance);
        }
    }
}

TEST_CASE("slow changes add up to no error, and what does not move costs nothing") {
    const Folder folder;
    for (const std::string& ending : endings) {
        CAPTURE(ending);
        const auto recorded = [&](const std::string& name, int frames) {
            Animation animation(folder.file(name + "." + ending));
            Pixels grey{64, 64, std::vector<std::uint8_t>(std::size_t{4} * 64 * 64, 255)};
            for (int i = 0; i < frames; ++i) {
                for (std::size_t at = 0; at < grey.rgba.size() / 2; at += 4) // the upper half
                    grey.rgba[at] = grey.rgba[at + 1] = static_cast<std::uint8_t>(i);
                animation.add(grey, i * 66);
            }
            animation.save(frames * 66);
            return grey;
        };
        const Pixels last = recorded("slow", 200);
        const ReadAnimation read = readAnimation(folder.file("slow." + ending));
        CHECK(farthest(read.frames.back().rgba, last.rgba) <= Animation::tolerance);
        CHECK(read.frames.size() >= 200 / (2 * Animation::tolerance));
        CHECK(read.frames.size() <= 200 / (Animation::tolerance - Animation::tolerance / 2));
        CHECK(read.milliseconds() == 200 * 66);
    }
}

TEST_CASE("wide frames are scaled down, and keep their proportions") {
    const Folder folder;
    const Pixels wide = smooth(2560, 1440, 0);
    for (const std::string& ending : endings) {
        CAPTURE(ending);
        Animation animation(folder.file("wide." + ending));
        animation.add(wide, 0);
        animation.save(1000);
        const ReadAnimation read = readAnimation(folder.file("wide." + ending));
        CHECK(read.width == 1280);
        CHECK(read.height == 720);
        // Every pixel is the mean of four.
        const std::size_t at = (std::size_t{300} * 1280 + 700) * 4;
        int sum = 0;
        for (const std::size_t y : {600, 601})
            for (const std::size_t x : {1400, 1401}) sum += wide.rgba[(y * 2560 + x) * 4];
        CHECK(std::abs(read.frames[0].rgba[at] - sum / 4) <= 2);
    }
}

TEST_CASE("a recording has 15 frames a second, on its own clock") {
    const Folder folder;
    const std::string file = folder.file("r.webp");
    Recording recording(file, 100, briefly(120));
    int added = 0;
    for (int frame = 0; frame < 60; ++frame) { // a second at 60 frames/s, and a beginning a little later
        const double now = 100.5 + frame / 60.0;
        if (!recording.due(now)) continue;
        recording.add(smooth(60, 40, frame / 20), now);
        CHECK_FALSE(recording.tend(false, now).has_value());
        ++added;
    }
    CHECK(added == 15);
    const Message saved = recording.finish(101.5);
    CHECK(saved.text.starts_with("Recording saved to " + file + " (1.0 s, "));
    CHECK(saved.hint.empty());
    // Three of these look different.
    CHECK(durations(readWebP(file)) == std::vector{333, 334, 333});
}

TEST_CASE("nothing is encoded while the processor is timed, and frames become fewer when many wait") {
    const Folder folder;
    const std::string file = folder.file("r.png");
    constexpr std::size_t frameBytes = std::size_t{4} * 200 * 100;
    Recording recording(file, 0, {.seconds = 10, .waitingBytes = 6 * frameBytes});
    double now = 0;
    std::size_t added = 0;
    for (int frame = 0; frame < 150; ++frame, now = frame / 15.0) {
        recording.tend(true, now);
        if (!recording.due(now)) continue;
        recording.add(smooth(200, 100, frame), now);
        ++added;
    }
    // At most six and the one that went over.
    CHECK(added >= 5);
    CHECK(added <= 8);
    recording.tend(true, 10);
    CHECK(recording.ended());
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // far more than these frames take
    CHECK_FALSE(recording.tend(true, 11).has_value());
    CHECK_FALSE(fs::exists(file));
    recording.tend(false, 12);
    recording.wait();
    const auto saved = recording.tend(false, 13);
    REQUIRE(saved.has_value());
    CHECK(saved->hint == "It ended because its time was up.");
    const ReadAnimation read = readApng(file);
    CHECK(read.frames.size() == added);
    CHECK(read.milliseconds() == 10'000);
    // The half that lasts until the end is spread over the time.
    CHECK(read.frames.back().milliseconds < 3000);
}

TEST_CASE("a recording ends at its limits, and says why") {
    const Folder folder;
    const auto hintOf = [&](const Recording::Limits& limits, std::uint32_t otherWidth) {
        Recording recording(folder.file("r.webp"), 0, limits);
        recording.add(smooth(60, 40, 0), 0);
        recording.tend(false, 0);
        recording.add(smooth(otherWidth, 40, 5), 0.5);
        recording.tend(false, 1);
        CHECK(recording.ended());
        return recording.finish(2).hint;
    };
    CHECK(hintOf(briefly(120), 61) == "It ended because the window changed its size.");
    CHECK(hintOf(briefly(1), 60) == "It ended because its time was up.");
    CHECK(hintOf({.bytes = 15000}, 60) == "It ended because its file would become too large.");
    CHECK(readWebP(folder.file("r.webp")).milliseconds() == 1000);
}

TEST_CASE("a recording that is left is saved") {
    const Folder folder;
    { Recording(folder.file("none.webp"), 0, briefly(120)); }
    CHECK_FALSE(fs::exists(folder.file("none.webp")));
    {
        Recording recording(folder.file("left.webp"), 0, briefly(120));
        recording.add(smooth(60, 40, 0), 0);
        recording.add(smooth(60, 40, 1), 0.5);
    }
    CHECK(readWebP(folder.file("left.webp")).frames.size() == 2);
}

TEST_CASE("what cannot be written says why and what to try") {
    const Folder folder;
    const auto begin = [](const std::string& file) { Recording(file, 0, briefly(120)); };
    CHECK_THROWS_WITH_AS(begin(folder.file("race.gif")), doctest::Contains("race.webp, not"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(begin(folder.file("none/race.webp")), doctest::Contains("create its folder first"),
                         std::runtime_error);
    // Every write to this device finds a full disk.
    fs::create_symlink("/dev/full", folder.file("full.webp"));
    Recording recording(folder.file("full.webp"), 0, briefly(120));
    recording.add(smooth(60, 40, 0), 0);
    CHECK_THROWS_WITH_AS(recording.finish(1), doctest::Contains("free some space"), std::runtime_error);
    const auto again = recording.tend(false, 2);
    REQUIRE(again.has_value());
    CHECK(again->severity == Severity::error);
}

TEST_CASE("the program records an exhibit frame by frame, the same file every time, without the sign") {
    const Folder folder;
    const std::string show = "show " + stateOf("playground") + " --headless --mask --run --size 640x480 ";
    for (const std::string& ending : endings) {
        CAPTURE(ending);
        const auto record = [&](const std::string& name) {
            const Outcome outcome = run(show + "--record " + folder.file(name + "." + ending) +
                                        " --seconds 0.5 --png " + folder.file("last.png"));
            INFO(outcome.out << outcome.err);
            CHECK(outcome.code == 0);
            CHECK(outcome.says("Recording saved to "));
        };
        record("one");
        if (!sanitized || ending == endings[0]) { // the same program: sanitizers see nothing new in it
            record("two");
            CHECK(contents(folder.file("one." + ending)) == contents(folder.file("two." + ending)));
        }
        const ReadAnimation read = readAnimation(folder.file("one." + ending));
        CHECK(read.width == 640);
        CHECK(read.height == 480);
        CHECK(durations(read) == std::vector{67, 66, 67, 67, 66, 67, 67, 33}); // 30 frames
        // Frame 3 is the first that is recorded; the last but one is the last.
        REQUIRE(run(show + "--frames 3 --png " + folder.file("first.png")).code == 0);
        CHECK(read.frames.front().rgba == pixelsOf(folder.file("first.png")));
        REQUIRE(run(show + "--frames 31 --png " + folder.file("end.png")).code == 0);
        CHECK(farthest(read.frames.back().rgba, pixelsOf(folder.file("end.png"))) <= Animation::tolerance);
    }
}

TEST_CASE("a recording of a script ends where the script says, and has no File menu in it") {
    const Folder folder;
    const std::string record = "--record " + folder.file("r.webp");
    const Outcome outcome =
        showScript(folder, "map",
                   "frames 30\nclick menu/File\nframes 20\ncontrols\nclick menu/Stop recording\n"
                   "frames 3\ncontrols\nclick menu/File\nframes 9\ncontrols\n",
                   record);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const std::size_t saved = outcome.out.find("message: Recording saved to ");
    REQUIRE(saved != std::string::npos);
    const auto during = controlNames(outcome.out.substr(0, saved));
    const auto after = controlNames(outcome.out.substr(saved));
    CHECK(std::ranges::count(during, "Stop recording") == 1);
    CHECK(std::ranges::count(during, "menu/Stop recording") == 1);
    CHECK(std::ranges::count(after, "Stop recording") == 0);
    CHECK(std::ranges::count(after, "menu/Record") == 1);
    CHECK(readWebP(folder.file("r.webp")).frames.size() <= 3); // the mouse that moves to the menu

    const Outcome pressed = showScript(
        folder, "map",
        "frames 30\ntheme light\nframes 28\nclick Stop recording\nframes 60\nkey Shift+F12\nframes 60\n",
        record);
    REQUIRE(pressed.code == 0);
    const int milliseconds = readWebP(folder.file("r.webp")).milliseconds();
    CHECK(milliseconds > 1000);
    CHECK(milliseconds < 1300);
}

TEST_CASE("options that make no recording are refused") {
    const auto refused = [](const std::string& options, const std::string& why) {
        const Outcome outcome = run("show race " + options);
        INFO(outcome.out << outcome.err);
        CHECK(outcome.code != 0);
        CHECK(outcome.says(why));
    };
    refused("--headless --record race.gif --seconds 1", "name the file race.webp, not race.gif");
    refused("--headless --record race.webp", "--seconds N");
    refused("--headless --record race.webp --seconds 500", "at most 120");
    refused("--headless --record race.webp --seconds 0", "--seconds");
    refused("--headless --seconds 3", "--record");
    refused("--headless --record none/race.webp --seconds 1", "create its folder first");
}
