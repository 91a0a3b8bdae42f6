// Exchanges between processes, started by mpirun: the same bits as between threads, and ranks that are lost.
#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/many/exchange.h"
#include "engine/many/mpi.h"
#include "engine/platform/clock.h"
#include "tests/engine/many/ranks.h"
#include "tests/environment.h"
#define LOCKSTEP_PROGRAM LOCKSTEP_MPIRUN
#include "tests/run_program.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// It is told not to mind being root, and more ranks than cores. Memory that MPI never frees is not looked
// for.
Outcome underMpi(std::size_t ranks, const std::string& arguments) {
    return test::run("--allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n " +
                         std::to_string(ranks) +
                         " timeout 100 '" LOCKSTEP_MPI_RANKS "' '" LOCKSTEP_MPI_FOLDER "' " + arguments,
                     "ASAN_OPTIONS=detect_leaks=0");
}

std::string checksumBetweenThreads(std::size_t ranks, const ExchangeSettings& settings) {
    std::vector<std::uint64_t> sums(ranks);
    onRanks(ranks, settings,
            [&](Exchange& exchange, std::size_t rank) { sums[rank] = checksumOfSums(exchange); });
    for (const std::uint64_t each : sums) CHECK(each == sums[0]);
    return std::to_string(sums[0]) + "\n";
}

} // namespace

TEST_CASE("processes come to the same bits as threads") {
    for (std::size_t ranks = 1; ranks <= 4; ++ranks)
        for (const ExchangeFormat format : {ExchangeFormat::fp32, ExchangeFormat::fp16, ExchangeFormat::topK})
            for (const AllReduce allReduce : {AllReduce::ring, AllReduce::tree, AllReduce::naive}) {
                if (format == ExchangeFormat::topK && allReduce != AllReduce::ring)
                    continue; // has its own way
                const std::string words = std::string(name(format)) + " " + std::string(name(allReduce));
                CAPTURE(ranks);
                CAPTURE(words);
                const Outcome outcome = underMpi(ranks, "sums " + words);
                CHECK(outcome.code == 0);
                CHECK(outcome.out ==
                      checksumBetweenThreads(ranks, {.format = format, .allReduce = allReduce}));
                CHECK(outcome.err == "");
            }
}

TEST_CASE("a process that is missing, or about something else, ends all, with its name") {
    const double began = platform::secondsNow();
    const Outcome missing = underMpi(3, "missing 1");
    CHECK(missing.code != 0);
    CHECK(missing.says("rank 1 has kept rank "));
    CHECK(missing.says("sum, layer 3, step 12"));
    CHECK_FALSE(missing.says("nobody was missed"));
    const Outcome sizes = underMpi(2, "sizes");
    CHECK(sizes.code != 0);
    CHECK(sizes.says("is about something else"));
    const Outcome aborted = underMpi(3, "abort");
    CHECK(aborted.code == 1);
    CHECK(aborted.says("rank 1 ends all ranks: the disk is full"));
    const Outcome threw = underMpi(3, "throws");
    CHECK(threw.code != 0);
    CHECK(threw.says("rank 1 has ended by an error"));
    CHECK(platform::secondsNow() - began < 60);
}

TEST_CASE("a process that was started by itself has no ranks, and where MPI is missing, it is named") {
    CHECK_FALSE(ranksByEnvironment());
    CHECK(rankByEnvironment() == 0);
    {
        const Environment ranks("PMI_SIZE", "4"), rank("PMI_RANK", "3");
        CHECK(ranksByEnvironment() == 4u);
        CHECK(rankByEnvironment() == 3);
    }
    {
        const Environment ranks("SLURM_STEP_NUM_TASKS", "1"), rank("SLURM_PROCID", "0");
        CHECK_FALSE(ranksByEnvironment()); // a shell of its own
    }
    const Folder folder;
    CHECK_THROWS_WITH_AS(mpiTransport(folder.path), doctest::Contains("libopenmpi-dev"), std::runtime_error);
    std::ofstream(folder.path / "lockstep_mpi.so") << "no library";
    CHECK_THROWS_WITH_AS(mpiTransport(folder.path), doctest::Contains("apt-get install openmpi-bin"),
                         std::runtime_error);
}
