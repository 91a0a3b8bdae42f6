// What is chosen must not depend on when it was timed: on a device whose clocks are still rising, the kernels
// that come first look slow. Time is simulated here, and the fault layer's in the last test.
#include <doctest/doctest.h>

#include <functional>

#include "engine/tune/comparison.h"

using namespace lockstep;

namespace {

/// A device whose work takes slowness(t) times as long as at its full speed, t seconds after it was woken.
struct Device {
    std::function<double(double)> slowness;
    std::vector<double> candidates; ///< milliseconds at full speed
    double seconds = 0;
    int measured = 0;

    double measure(std::size_t at) {
        const double now = candidates[at] * slowness(seconds);
        seconds += 20 * 1e-3 * now; // compiled, checked, timed a few times
        ++measured;
        return now;
    }
};

const auto awake = [](double) { return 1.0; };
const auto waking = [](double t) { return std::max(1.0, 4 - 3 * t); };
const auto resting = [](double t) {
    return t < 0.25 ? 4 - 6 * t : t < 0.75 ? 2.5 : std::max(1.0, 2.5 - 6 * (t - 0.75));
};
/// Slower and slower, as a card that becomes hot.
const auto tiring = [](double t) { return std::min(2.0, 1 + t); };

/// As the comparison of kernels goes on: it settles, if at all, and compares.
Fastest chosen(Device device, bool settles) {
    if (settles)
        settle([&] { return device.measure(0); }, [] { return true; }, [&] { return device.seconds; });
    const auto measure = [&](std::size_t at) { return device.measure(at); };
    return fastestOf(
        device.candidates.size(), settles, [&](std::size_t at, double) { return measure(at); }, measure,
        [] { return true; });
}

} // namespace

TEST_CASE("the same candidate wins on a device that wakes up, rests on the way, or tires") {
    const std::vector<double> kernels[] = {{3, 3.4, 6, 9, 4.5, 12, 3.3}, // the likeliest is the fastest
                                           {5, 4, 6, 4.4, 9, 5, 4.5},
                                           {1, 1.6, 2, 1.7, 1.8, 1.9, 3, 4, 1.8, 1.9, 2, 2, 2, 2, 2, 2},
                                           {9, 8, 7, 6, 5, 4, 3, 2}};
    for (const std::vector<double>& candidates : kernels) {
        const Fastest expected = chosen({awake, candidates}, true);
        CHECK(candidates[expected.at] == std::ranges::min(candidates));
        CHECK(expected.milliseconds == doctest::Approx(candidates[expected.at]));
        for (const auto& slowness : std::vector<std::function<double(double)>>{waking, resting, tiring})
            CHECK(chosen({slowness, candidates}, true).at == expected.at);
    }
    // This is why: those that are timed first lose.
    CHECK(chosen({waking, kernels[0]}, false).at != chosen({awake, kernels[0]}, false).at);
    CHECK(chosen({resting, kernels[2]}, false).at != chosen({awake, kernels[2]}, false).at);
}

TEST_CASE("a device settles once two looks agree, and is not waited for beyond a second") {
    const auto secondsOf = [](const std::function<double(double)>& slowness, double milliseconds) {
        Device device{slowness, {milliseconds}};
        settle([&] { return device.measure(0); }, [] { return true; }, [&] { return device.seconds; });
        return device.seconds;
    };
    CHECK(secondsOf(awake, 0.1) == doctest::Approx(0.2).epsilon(0.05));
    CHECK(secondsOf(waking, 0.1) > 0.9);
    CHECK(secondsOf(waking, 0.1) < 1.2);
    CHECK(secondsOf([](double t) { return std::exp2(-t); }, 0.1) < 1.2); // never settles
    CHECK(secondsOf(awake, 100) == doctest::Approx(2)); // one measurement is a look, and the second too late
    int asked = 0;
    settle([] { return neverDone; }, [&] { return ++asked < 100; },
           [] { return 0.0; }); // a kernel that fails
    CHECK(asked < 101);
    settle([]() -> double { throw std::logic_error("measured"); }, [] { return false; });
}

TEST_CASE("candidates that fail, alone or all, and times that run out") {
    const auto compare = [](const std::vector<double>& first, double again, bool timeLeft) {
        return fastestOf(
            first.size(), true, [&](std::size_t at, double) { return first[at]; },
            [&](std::size_t) { return again; }, [&] { return timeLeft; });
    };
    CHECK(compare({}, 1, true).milliseconds == neverDone);
    CHECK(compare({neverDone, neverDone}, 1, true).milliseconds == neverDone);
    CHECK(compare({neverDone, 2, neverDone}, 1, true).at == 1);
    CHECK(compare({neverDone, 2, neverDone}, 1, true).milliseconds == 2);
    CHECK(compare({neverDone, 2, neverDone}, 1, false).decided); // there is nothing to decide
    CHECK(compare({2, 1.5}, 1, false).at == 1);
    CHECK_FALSE(compare({2, 1.5}, 1, false).decided);
    CHECK(compare({2, 1}, neverDone, true).at == 1); // what failed the second time is out
    CHECK_FALSE(compare({1, 1}, neverDone, true).decided);
}
