// The threads that share a step, and what the tables of kernels say about themselves.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/cpu/library_products.h"
#include "engine/cpu/thread_team.h"
#include "tests/cpu_tables.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("shares cover everything once, in order, and are nearly equal") {
    for (const std::size_t count : {0, 1, 7, 64, 1000})
        for (const std::size_t threads : {1, 2, 3, 16})
            for (const std::size_t grain : {1, 4}) {
                std::size_t next = 0;
                for (std::size_t thread = 0; thread < threads; ++thread) {
                    const Share share = shareOf(count, thread, threads, grain);
                    CHECK(share.begin == next);
                    CHECK(share.end >= share.begin);
                    CHECK(share.end - share.begin <= count / threads + grain);
                    next = share.end;
                }
                CHECK(next == count);
            }
}

TEST_CASE("a barrier shows every thread what all others wrote before it") {
    for (const std::size_t threads : {1, 2, 3, 5}) {
        ThreadTeam team(threads);
        std::vector<int> written(threads, -1);
        std::atomic<int> wrong{0};
        for (int repeat = 0; repeat < 20; ++repeat)
            team.run([&](std::size_t thread) {
                for (int round = 0; round < 50; ++round) {
                    written[thread] = round;
                    team.barrier();
                    for (const int value : written) wrong += value != round;
                    team.barrier();
                }
            });
        CHECK(wrong == 0);
    }
}

#if defined(__linux__)
TEST_CASE("a library call inside a team starts no threads of its own") {
    const auto threadsOfProcess = [] {
        using Iterator = std::filesystem::directory_iterator;
        return std::distance(Iterator("/proc/self/task"), Iterator());
    };
    const auto before = threadsOfProcess();
    const DenseShape shape{512, 512, 512, 512, 512};
    const auto x = numbers(512, 512, 512, 1);
    const std::vector<float> b(512);
    std::vector<float> y(x.size());
    ThreadTeam team(1);
    team.run([&](std::size_t) {
        bestKernels().dense(shape, x.data(), x.data(), b.data(), Activation::relu, y.data(), nullptr);
    });
    CHECK(threadsOfProcess() == before);
}
#endif

TEST_CASE("tables are named, and say what they run on") {
    CHECK(std::string(scalarKernels().name) == "scalar");
    CHECK(std::string(simdKernels().name) == "simd");
    CHECK(std::string(bestKernels().name) == "best");
    CHECK(describeKernels(bestKernels()).find(name(vectorLevel())) != std::string::npos);
    CHECK(describeKernels(bestKernels()).find("oneDNN") == (libraryName().empty() ? std::string::npos : 21));
    CHECK(describeKernels(simdKernels()).find(name(vectorLevel())) != std::string::npos);
    CHECK(usableCores() >= 1);
    CHECK(!cpuName().empty());
}
