// Fewer threads where cores are taken: who decides it, and that nothing but the time changes.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "engine/run/team_sizing.h"
#include "engine/step/cpu_ops.h"
#include "engine/step/ops.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// Seconds that are spent in teams of each size, when a step takes secondsOf(threads).
template <class SecondsOf>
std::vector<double> simulate(TeamSizing& sizing, std::size_t most, double seconds,
                             const SecondsOf& secondsOf) {
    std::vector<double> spent(most + 1);
    for (double passed = 0; passed < seconds;) {
        const TeamSizing::Stretch stretch = sizing.next();
        REQUIRE(stretch.threads >= 1);
        REQUIRE(stretch.threads <= most);
        REQUIRE(stretch.steps >= 1);
        const double took = static_cast<double>(stretch.steps) * secondsOf(stretch.threads);
        sizing.took(stretch.steps, took);
        spent[stretch.threads] += took;
        passed += took;
    }
    return spent;
}

} // namespace

TEST_CASE("while all cores are free, all threads work") {
    for (const std::size_t most : {2, 8}) {
        TeamSizing sizing(most);
        const auto spent = simulate(sizing, most, 10,
                                    [](std::size_t threads) { return 1e-3 / static_cast<double>(threads); });
        CHECK(spent[most] > 9.8);
    }
}

TEST_CASE("a team begins with the fast cores, and takes in the slow ones where they help") {
    const auto alike = [](std::size_t threads) { return 1e-3 / static_cast<double>(threads); };
    const auto held = [](std::size_t threads) {
        return threads > 4 ? 1e-3 / 2 : 1e-3 / static_cast<double>(threads);
    };
    TeamSizing growing(8, 4);
    CHECK(growing.next().threads == 4);
    CHECK(simulate(growing, 8, 10, alike)[8] > 8);
    TeamSizing staying(8, 4);
    CHECK(simulate(staying, 8, 10, held)[4] > 9);
    CHECK(TeamSizing(2, 8).next().threads == 2);
}

TEST_CASE("a thread whose core is taken is left out, and comes back") {
    TeamSizing sizing(2);
    const auto quiet = [](std::size_t threads) { return threads == 2 ? 0.5e-3 : 1e-3; };
    const auto taken = [](std::size_t threads) { return threads == 2 ? 5e-3 : 1.1e-3; };
    simulate(sizing, 2, 1, quiet);
    CHECK(simulate(sizing, 2, 10, taken)[1] > 9);
    CHECK(simulate(sizing, 2, 10, quiet)[2] > 8);
}

TEST_CASE("of many threads, as many are left out as there are cores taken") {
    TeamSizing sizing(8);
    const auto taken = [](std::size_t threads) {
        return threads > 6 ? 5e-3 : 1e-3 / static_cast<double>(threads);
    };
    CHECK(simulate(sizing, 8, 10, taken)[6] > 8);
}

TEST_CASE("one thread needs no trials") {
    TeamSizing sizing(1);
    for (int i = 0; i < 100; ++i) {
        CHECK(sizing.next().threads == 1);
        CHECK(sizing.next().steps == 4096);
        sizing.took(4096, i % 2 == 0 ? 1.0 : 10.0);
    }
}

TEST_CASE("a team runs with as many of its threads as are asked for") {
    ThreadTeam team(4);
    for (int repeat = 0; repeat < 200; ++repeat)
        for (const std::size_t threads : {4, 1, 2, 3}) {
            std::atomic<int> calls{0};
            std::atomic<int> seen{0};
            team.run(
                [&](std::size_t) {
                    ++calls;
                    team.barrier();
                    seen += calls;
                    team.barrier();
                },
                threads);
            const auto count = static_cast<int>(threads);
            CHECK(calls == count);
            CHECK(seen == count * count);
        }
}

TEST_CASE("who computes a part changes nothing, to the bit") {
    const Dataset data = pixelData(784, 10, 500);
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
        TrainJob job = largeJob(data);
        job.settings.optimizer.kind = optimizer;
        std::vector<std::vector<float>> results;
        for (const std::size_t threads : {3, 2, 1}) {
            CpuArenas arenas(job, bestKernels(), 3);
            ThreadTeam team(3);
            std::vector<std::unique_ptr<CpuOps>> ops;
            for (int i = 0; i < 3; ++i) ops.push_back(std::make_unique<CpuOps>(arenas, team, nullptr));
            for (std::size_t thread = 0; thread < threads; ++thread)
                ops[thread]->takeParts(shareOf(arenas.parts(), thread, threads, arenas.partGrain()));
            team.run(
                [&](std::size_t thread) {
                    for (std::uint64_t step = 0; step < 20; ++step) {
                        execute(*ops[thread], arenas.plan, stepSettings(job.settings, arenas.order, step));
                        ops[thread]->endStep();
                    }
                },
                threads);
            results.emplace_back(arenas.parameters.data(),
                                 arenas.parameters.data() + arenas.parameters.size());
        }
        CHECK(results[0] == results[1]);
        CHECK(results[0] == results[2]);
    }
}
