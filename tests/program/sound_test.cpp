// What is heard of a race: in the samples themselves, and in a file that OpenAL writes in place of playing.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/sound/sound.h"
#include "tests/show_script.h"

using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

constexpr double unheard = std::numeric_limits<double>::quiet_NaN();

struct Stereo {
    double rate = RaceTune::sampleRate;
    std::vector<float> left, right;

    double seconds() const { return static_cast<double>(left.size()) / rate; }
};

/// Goes on with `tune` for so long; `lanes` are as of the seconds since then.
Stereo played(RaceTune& tune, double seconds, const std::function<std::vector<HeardLane>(double)>& lanes,
              float volume = 1) {
    Stereo stereo;
    std::array<float, 2 * RaceTune::frames> block{};
    while (stereo.seconds() < seconds - 1e-6) {
        tune.hear(lanes(stereo.seconds()), volume);
        tune.write(block);
        for (std::size_t i = 0; i < block.size(); i += 2) {
            stereo.left.push_back(block[i]);
            stereo.right.push_back(block[i + 1]);
        }
    }
    return stereo;
}

/// Two lanes that train steadily.
std::vector<HeardLane> training(double seconds, double loss, double otherLoss, double stepsPerSecond = 2000) {
    const auto steps = static_cast<std::uint64_t>(1e-6 + seconds * stepsPerSecond);
    return {{loss, steps, sideOf(0, 2)}, {otherLoss, steps, sideOf(1, 2)}};
}

std::vector<int> notesOfTheScale() {
    std::vector<int> notes;
    for (int i = -15; i <= 10; ++i) notes.push_back(noteOf(std::exp2(i / 2.5)));
    return notes;
}

float loudest(std::span<const float> samples) {
    float most = 0;
    for (const float sample : samples) most = std::max(most, std::abs(sample));
    return most;
}

/// The largest step from one sample to the next.
float steepest(std::span<const float> samples) {
    float most = 0;
    for (std::size_t i = 1; i < samples.size(); ++i)
        most = std::max(most, std::abs(samples[i] - samples[i - 1]));
    return most;
}

/// How much of that frequency is in them.
double energyAt(std::span<const float> samples, double frequency, double rate) {
    double real = 0, imaginary = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double angle = 2 * std::numbers::pi * frequency * static_cast<double>(i) / rate;
        real += samples[i] * std::cos(angle);
        imaginary += samples[i] * std::sin(angle);
    }
    return real * real + imaginary * imaginary;
}

int strongestNote(std::span<const float> samples, double rate) {
    return std::ranges::max(notesOfTheScale(), {},
                            [&](int note) { return energyAt(samples, frequencyOf(note), rate); });
}

/// When each tick begins, in seconds, where nothing else is heard.
std::vector<double> ticks(const std::vector<float>& samples) {
    std::vector<double> begins;
    int quiet = 1000;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (samples[i] == 0) {
            ++quiet;
            continue;
        }
        if (quiet > 100) begins.push_back(static_cast<double>(i) / RaceTune::sampleRate);
        quiet = 0;
    }
    return begins;
}

/// A file that OpenAL wrote, in 16-bit samples of two channels.
Stereo readWave(const std::string& file) {
    const std::string bytes = contents(file);
    const auto number = [&]<class T>(std::size_t at, T value) {
        REQUIRE(at + sizeof value <= bytes.size());
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
    };
    const std::size_t format = bytes.find("fmt ");
    const std::size_t data = bytes.find("data");
    REQUIRE(format != std::string::npos);
    REQUIRE(data != std::string::npos);
    REQUIRE(number(format + 10, std::uint16_t{}) == 2);
    REQUIRE(number(format + 22, std::uint16_t{}) == 16);
    Stereo stereo;
    stereo.rate = static_cast<double>(number(format + 12, std::uint32_t{}));
    for (std::size_t at = data + 8; at + 4 <= bytes.size(); at += 4) {
        stereo.left.push_back(static_cast<float>(number(at, std::int16_t{})) / 32768);
        stereo.right.push_back(static_cast<float>(number(at + 2, std::int16_t{})) / 32768);
    }
    return stereo;
}

} // namespace

TEST_CASE("a quarter of the loss is an octave lower, on a scale of five notes") {
    CHECK(noteOf(1) == 0);
    CHECK(noteOf(0.25) == -12);
    CHECK(noteOf(4) == 12);
    CHECK(noteOf(1e30) == 24);
    CHECK(noteOf(0) == -36);
    CHECK(noteOf(-1) == -36);
    CHECK(frequencyOf(0) == 440);
    CHECK(frequencyOf(-12) == 220);
    CHECK(frequencyOf(3) == doctest::Approx(523.25).epsilon(1e-4)); // C5
    const std::vector<int> notes = notesOfTheScale();
    CHECK(std::ranges::is_sorted(notes, std::less_equal<>{})); // each higher than the last
    for (const int note : notes) CHECK(std::ranges::count(std::array{0, 3, 5, 7, 10}, (note + 36) % 12) == 1);
}

TEST_CASE("each lane plays its loss on its side, and a falling loss falls") {
    RaceTune tune;
    const Stereo first = played(tune, 1, [](double seconds) { return training(seconds, 2.3, 0.9); });
    const Stereo later = played(tune, 1, [](double seconds) { return training(1 + seconds, 0.4, 0.05); });
    const auto end = [](const std::vector<float>& samples) { return std::span(samples).last(12000); };
    CHECK(strongestNote(end(first.left), first.rate) == noteOf(2.3));
    CHECK(strongestNote(end(first.right), first.rate) == noteOf(0.9));
    CHECK(strongestNote(end(later.left), later.rate) == noteOf(0.4));
    CHECK(strongestNote(end(later.right), later.rate) == noteOf(0.05));
    CHECK(loudest(first.left) > 0.3f);
    CHECK(loudest(first.left) < 1.0f);
    // Half of their harmonics tell the two apart: a hollow tone has no even ones.
    const auto second = [&](const std::vector<float>& samples, double loss) {
        const double frequency = frequencyOf(noteOf(loss));
        return energyAt(end(samples), 2 * frequency, later.rate) /
               energyAt(end(samples), frequency, later.rate);
    };
    CHECK(second(later.left, 0.4) > 0.1);
    CHECK(second(later.right, 0.05) < 0.02);

    RaceTune alone;
    const Stereo one = played(alone, 1, [](double seconds) {
        return std::vector{HeardLane{1, static_cast<std::uint64_t>(100 * seconds), sideOf(0, 1)}};
    });
    CHECK(loudest(one.left) == doctest::Approx(loudest(one.right)));
}

TEST_CASE("nothing is heard where nothing trains, and nothing clicks on the way there") {
    RaceTune tune;
    CHECK(loudest(played(tune, 0.5, [](double) { return std::vector<HeardLane>(); }).left) == 0);
    // What was done before is past, as of a race that is over.
    const auto still = [](double) { return training(3, 1, 1); };
    CHECK(loudest(played(tune, 0.5, still).left) == 0);
    Stereo all = played(tune, 1, [](double seconds) { return training(3 + seconds, 1, 1); });
    CHECK(loudest(all.left) > 0.3f);
    const Stereo after = played(tune, 1, [](double) { return training(4, 1, 1); });
    CHECK(loudest(std::span(after.left).last(12000)) == 0);
    all.left.insert(all.left.end(), after.left.begin(), after.left.end());
    // The volume goes in the middle of a note.
    const auto on = [](double seconds) { return training(4 + seconds, 1, 1); };
    for (const float volume : {1.0f, 0.0f, 0.5f}) {
        const Stereo next = played(tune, 0.3, on, volume);
        if (volume == 0) CHECK(loudest(std::span(next.left).last(2400)) == 0);
        all.left.insert(all.left.end(), next.left.begin(), next.left.end());
    }
    CHECK(all.left.front() == 0);
    CHECK(steepest(all.left) < 0.25f); // what a tone and a tick have by themselves
    // A loss that is no number has no note.
    RaceTune broken;
    const Stereo failed =
        played(broken, 1, [](double seconds) { return training(seconds, unheard, unheard, 1); });
    CHECK(loudest(failed.left) == 0);
}

TEST_CASE("every step of a slow lane ticks, those of a fast one become an even purr") {
    const auto ticksOf = [](double stepsPerSecond) {
        RaceTune tune;
        return ticks(played(tune, 10, [&](double seconds) {
                         return training(seconds, unheard, unheard, stepsPerSecond);
                     }).left);
    };
    for (const double rate : {1.0, 3.0, 5.0}) {
        CAPTURE(rate);
        CHECK(std::abs(static_cast<double>(ticksOf(rate).size()) - 10 * rate) <= 1);
    }
    CHECK(ticksPerSecond(8) == 8);
    CHECK(ticksPerSecond(16) == 10);
    CHECK(ticksPerSecond(1e9) == 30);
    for (const double rate : {100.0, 10000.0}) {
        CAPTURE(rate);
        const std::vector<double> begins = ticksOf(rate);
        CHECK(static_cast<double>(begins.size()) == doctest::Approx(10 * ticksPerSecond(rate)).epsilon(0.05));
        for (std::size_t i = begins.size() / 2; i < begins.size(); ++i)
            CHECK(begins[i] - begins[i - 1] == doctest::Approx(1 / ticksPerSecond(rate)).epsilon(0.1));
    }
    RaceTune tune;
    played(tune, 0.1, [](double) { return training(1, unheard, unheard, 7); });
    CHECK(ticks(played(tune, 2, [](double) { return training(1, unheard, unheard, 8); }).left).size() == 1);
}

TEST_CASE("a race is heard, and its pitch falls with its loss") {
    const Folder folder;
    const std::vector<std::string> menu =
        controlNames(showScript(folder, "race", "click menu/View\nframes 3\ncontrols\n").out);
    CHECK(std::ranges::count(menu, "menu/Animations") == 1);
    CHECK(std::ranges::count(menu, "menu/Sound") == (Sound::available() ? 1 : 0));
    if (!Sound::available()) return; // nothing more to offer
    std::ofstream(folder.file("openal.conf"))
        << "[general]\nchannels = stereo\nsample-type = int16\n[wave]\nfile = " << folder.file("race.wav")
        << "\n";
    nlohmann::json state = nlohmann::json::parse(contents(stateOf("race")));
    state["exhibits"]["race"]["lanes"] = {"cpu:simd", "cpu:scalar"};
    state["exhibits"]["race"]["together"] = true;
    state["exhibits"]["race"]["finish"] = {{"steps", 3000u}};
    state["speed"] = 300u; // 5 steps a frame: long enough to be heard
    // Slow enough for the loss to be still high when a busy machine is late with the first sounds.
    state["exhibits"]["race"]["settings"] = {{"lr", 0.003}};
    std::ofstream(folder.file("race.json")) << state;
    const auto raced = [&](const char* frames, const std::string& environment) {
        std::ofstream(folder.file("script.txt"))
            << "click menu/View\nhover menu/Sound\nframes 5\nclick menu/Loud\nframes 3\nclick Run\n"
            << frames << "\nstate " << folder.file("after.json") << "\n";
        return run("show " + folder.file("race.json") + " --headless --script " + folder.file("script.txt"),
                   environment);
    };
    // The race takes 600 frames; the rest is for the last of it to be heard.
    const Outcome heard =
        raced("frames 1000", "ALSOFT_DRIVERS=wave ALSOFT_CONF=" + folder.file("openal.conf"));
    INFO(heard.out << heard.err);
    REQUIRE(heard.code == 0);
    CHECK(nlohmann::json::parse(contents(folder.file("after.json")))["sound"] == "loud");
    const Stereo stereo = readWave(folder.file("race.wav"));
    for (const std::vector<float>& lane : {stereo.left, stereo.right}) {
        std::vector<int> notes; // of the parts that are loud
        const auto part = static_cast<std::size_t>(stereo.rate / 8);
        for (std::size_t at = 0; at + part <= lane.size(); at += part) {
            const auto samples = std::span(lane).subspan(at, part);
            if (loudest(samples) > 0.3f) notes.push_back(strongestNote(samples, stereo.rate));
        }
        REQUIRE(notes.size() >= 3);
        CHECK(notes.back() < notes.front() - 4);
    }

    // Where nothing can play it, the program says so and goes on.
    const Outcome silent = raced("frames 30", "ALSOFT_DRIVERS=none");
    CHECK(silent.code == 0);
    CHECK(silent.says(
        "message: The sound is off: no sound device can be opened. Choose View, Sound to try again."));
    CHECK_FALSE(nlohmann::json::parse(contents(folder.file("after.json"))).contains("sound"));
}
