// The plain loops repeat PyTorch's training runs: every activation, loss, kind of target, optimizer, option
// and schedule of tests/reference/make_traces.py, 40 steps each, the last batch of an epoch smaller; and
// every activation, loss and optimizer on features of thousands, 12 steps each.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "engine/net/plain_training.h"
#include "tests/reference_traces.h"

using namespace lockstep;

namespace {

struct Differences {
    double loss = 0;       ///< largest over the steps, relative
    double parameters = 0; ///< largest at the end, absolute
};

template <class T> Differences repeat(const ReferenceTrace& trace) {
    PlainNetwork<T> net(*trace.data, trace.shape, trace.initial);
    std::vector<double> losses;
    for (std::uint64_t step = 0; step < trace.losses.size(); ++step)
        losses.push_back(net.trainStep(trace.settings, step));
    return {largestRelativeDifference(losses, trace.losses),
            largestDifference(net.parameters, trace.finalParameters)};
}

/// Checks every run in T, and reports the largest differences of all.
template <class T> void repeatAll(double exactTolerance, double roundedTolerance, Differences farTolerance) {
    Differences exact, rounded, far;
    for (const ReferenceTrace& trace : readReferenceTraces()) {
        CAPTURE(trace.name);
        const Differences found = repeat<T>(trace);
        const double tolerance = trace.exactRates ? exactTolerance : roundedTolerance;
        CHECK(found.loss < (trace.far ? farTolerance.loss : tolerance));
        CHECK(found.parameters < (trace.far ? farTolerance.parameters : tolerance));
        Differences& largest = trace.far ? far : trace.exactRates ? exact : rounded;
        largest.loss = std::fmax(largest.loss, found.loss);
        largest.parameters = std::fmax(largest.parameters, found.parameters);
    }
    MESSAGE("largest differences, loss (relative) and parameters (absolute): exact rates "
            << exact.loss << " " << exact.parameters << ", rounded rates " << rounded.loss << " "
            << rounded.parameters << ", features of thousands " << far.loss << " " << far.parameters);
}

} // namespace

TEST_CASE("the stored runs cover every choice there is") {
    std::set<std::string_view> seen;
    for (const ReferenceTrace& trace : readReferenceTraces()) {
        CHECK(trace.losses.size() == (trace.far ? 12 : 40));
        seen.insert(name(trace.shape.activation));
        seen.insert(name(trace.shape.loss));
        seen.insert(name(trace.settings.optimizer.kind));
        seen.insert(name(trace.settings.optimizer.schedule));
        if (trace.settings.optimizer.nesterov) seen.insert("nesterov");
        if (trace.settings.optimizer.l1 > 0) seen.insert("l1");
        if (trace.settings.optimizer.warmupSteps > 0) seen.insert("warm-up");
    }
    CHECK(seen.size() == 8 + 4 + 5 + 3 + 3);
    std::set<std::string_view> farOut;
    for (const ReferenceTrace& trace : readReferenceTraces()) {
        if (!trace.far) continue;
        farOut.insert(name(trace.shape.activation));
        farOut.insert(name(trace.shape.loss));
        farOut.insert(name(trace.settings.optimizer.kind));
    }
    CHECK(farOut.size() == 8 + 4 + 5);
}

// With rates that floats hold exactly, the two differ by the order of their sums alone: 3e-15 measured. Else
// by the rounding of the rates to float, 6e-8 relative each: 1e-6 measured, from RMSprop's 1 - alpha = 0.01,
// which float(0.99) misses by 1e-6.
TEST_CASE("in double, losses and weights are PyTorch's") { repeatAll<double>(1e-13, 2e-6, {1e-6, 1e-6}); }

// 1.6e-6 measured.
TEST_CASE("in float, they are PyTorch's up to rounding") { repeatAll<float>(1e-5, 1e-5, {1e-5, 1e-5}); }
