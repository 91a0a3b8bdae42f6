// `--parallel data` as people type it: ranks as threads and as processes, what they write, and what becomes
// of the others when one of them is lost.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/run_program.h"

using namespace lockstep::test;
using Json = nlohmann::json;

namespace {

const std::string endless =
    "train --data spiral --layers 24,16 --activation tanh --batch 37 --lane cpu:scalar "
    "--quiet --log-every 1";
const std::string job = endless + " --steps 100";

double seconds(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

Json resultOf(const std::string& arguments, const std::string& launcher = "") {
    const Folder folder;
    const Outcome outcome = run(arguments + " --json " + folder.file("result.json"), launcher);
    CAPTURE(outcome.out);
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return Json::parse(contents(folder.file("result.json")));
}

std::vector<double> lossesOf(const Json& result) {
    std::vector<double> losses;
    for (const Json& step : result["lanes"][0]["steps"]) losses.push_back(step["loss"]);
    return losses;
}

double largestDifference(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(a[i] - b[i]) / std::max(std::abs(a[i]), std::abs(b[i])));
    return largest;
}

std::uint64_t optimizerBytes(const Json& memory) {
    return memory["categories"]["optimizer"]["allocated_bytes"];
}

#ifdef LOCKSTEP_MPIRUN
std::string mpirun(std::size_t ranks) {
    return std::string(LOCKSTEP_MPIRUN) +
           " --allow-run-as-root --oversubscribe --bind-to none "
           "--mca mpi_yield_when_idle 1 -n " +
           std::to_string(ranks);
}
#endif

} // namespace

TEST_CASE("ranks as threads of one process: the same losses, the memory of each, one result") {
    const Json alone = resultOf(job);
    CHECK_FALSE(alone.contains("ranks"));
    std::uint64_t whole = 0;
    for (const int shard : {0, 1}) {
        CAPTURE(shard);
        const Json shared = resultOf(job + " --parallel data --ranks 3 --shard " + std::to_string(shard));
        CHECK(largestDifference(lossesOf(alone), lossesOf(shared)) < 1e-5);
        CHECK(shared["ranks"] == 3);
        CHECK(shared["parallel"]["shard"] == shard);
        CHECK(shared["parallel"]["processes"] == false);
        const Json& memory = shared["lanes"][0]["memory"];
        REQUIRE(memory.size() == 3);
        for (const Json& rank : memory) CHECK(rank["predicted_bytes"] == rank["allocated_bytes"]);
        for (const Json& rank : memory) {
            if (shard == 0) whole = optimizerBytes(rank);
            CHECK((shard == 0 ? optimizerBytes(rank) == whole : optimizerBytes(rank) < whole / 2));
        }
    }
    const Json device = resultOf("train --data spiral --layers 24,16 --steps 20 --parallel data --lane "
                                 "gpu:texel --quiet --device 0,0");
    CHECK(device["ranks"] == 2);
}

TEST_CASE("what does not fit together is refused, with exit code 2") {
    const auto refused = [](const std::string& arguments, const std::string& text,
                            const std::string& environment = "") {
        CAPTURE(arguments);
        const Outcome outcome = run(arguments, environment);
        CHECK(outcome.code == 2);
        CHECK(outcome.says(text));
    };
    refused(job + " --shard 1", "--shard would have no effect; it applies only to --parallel data");
    refused(job + " --parallel tensor", "unknown way of sharing 'tensor'");
    refused(job + " --device 0,1", "--device takes several devices only with --parallel");
    refused(job + " --parallel data --ranks 40", "cannot be shared by 40 ranks");
    refused(job + " --parallel data --shard 1 --exchange top-k",
            "--exchange top-k cannot be combined with --shard");
    refused(job + " --parallel data --shard 1 --all-reduce tree", "--all-reduce would have no effect");
    refused("train --data spiral --steps 5 --lane gpu:fused --parallel data",
            "keeps no gradients that ranks could add up");
    refused(job + " --parallel data --ranks 1000", "--ranks takes 1 to 64");
    refused("race --data spiral --parallel data --together", "ranks share one lane at a time");
    refused("train --data spiral --steps 5 --lane gpu:half --parallel data",
            "ranks share a batch on rungs of fp32");
    refused(job + " --parallel data --exchange int3", "unknown format of exchanges");
    // Under mpirun, but without the library that knows MPI.
    const Folder folder;
    std::filesystem::copy_file(program(), folder.file("lockstep"));
    const std::string command = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 " + folder.file("lockstep") +
                                " " + job + " --parallel data 2>" + folder.file("err");
    CHECK(WEXITSTATUS(std::system(command.c_str())) == 2);
    CHECK(contents(folder.file("err")).find("libopenmpi-dev") != std::string::npos);
}

#ifdef LOCKSTEP_MPIRUN

TEST_CASE("1 to 4 processes: the losses of one, and the bits of as many threads") {
    const std::vector<double> alone = lossesOf(resultOf(job));
    for (const std::size_t ranks : {1, 2, 3, 4}) {
        CAPTURE(ranks);
        const std::string shares = job + " --parallel data --shard 1";
        const Json result = resultOf(shares, mpirun(ranks));
        CHECK(largestDifference(alone, lossesOf(result)) < 1e-5);
        CHECK(lossesOf(resultOf(shares, mpirun(ranks))) == lossesOf(result));
        if (ranks == 1) continue;
        CHECK(result["ranks"] == ranks);
        CHECK(result["parallel"]["processes"] == true);
        CHECK(result["lanes"][0]["memory"].size() == ranks);
        CHECK(lossesOf(resultOf(shares + " --ranks " + std::to_string(ranks))) == lossesOf(result));
    }
    const Folder folder;
    resultOf(job + " --parallel data --trace " + folder.file("steps.trace"), mpirun(3));
    const Json trace = Json::parse(contents(folder.file("steps.trace")));
    CHECK(trace["ranks"] == 3);
    std::vector<std::size_t> spans(3);
    for (const Json& span : trace["spans"]) ++spans.at(span["rank"]);
    CHECK(std::ranges::min(spans) > 100);
    resultOf(job + " --parallel data --trace " + folder.file("threads.trace"));
    CHECK(Json::parse(contents(folder.file("threads.trace")))["ranks"] == 2);
    const Json device = resultOf("train --data spiral --layers 24,16 --steps 20 --parallel data --lane "
                                 "gpu:texel --quiet --log-every 1",
                                 mpirun(2));
    CHECK(lossesOf(device).size() == 20);
}

TEST_CASE("equal lanes of one command train alike; one process that is interrupted stops all") {
    const Json race =
        resultOf("race --data spiral --layers 24,16 --steps 60 --quick --quiet --log-every 1 --parallel data "
                 "--exchange top-k --lane cpu:scalar --lane cpu:scalar",
                 mpirun(2));
    CHECK(race["lanes"][0]["steps"].size() == 60);
    for (std::size_t step = 0; step < 60; ++step)
        CHECK(race["lanes"][0]["steps"][step]["loss"] == race["lanes"][1]["steps"][step]["loss"]);
    CHECK(race["lanes"][0]["of_threads"] == nullptr); // ranks are no throttling
    const Folder folder;
    for (const int child : {1, 2}) {
        CAPTURE(child);
        const std::string command = mpirun(2) + " '" + program() +
                                    "' race --data spiral --layers 24,16 --steps 100000000 --quick --quiet "
                                    "--parallel data --lane cpu:scalar --lane cpu:simd --json " +
                                    folder.file("race.json") + " >" + folder.file("out") +
                                    " 2>&1 & mpi=$!; sleep 2; kill -INT $(pgrep -P $mpi | sort -n | sed -n " +
                                    std::to_string(child) + "p); wait $mpi";
        const auto start = std::chrono::steady_clock::now();
        std::system(command.c_str());
        CHECK(seconds(start) < 20);
        CAPTURE(contents(folder.file("out")));
        const Json stopped = Json::parse(contents(folder.file("race.json")), nullptr, false);
        REQUIRE_FALSE(stopped.is_discarded());
        CHECK(stopped["lanes"][0]["status"] == "stopped");
        std::filesystem::remove(folder.file("race.json"));
    }
}

TEST_CASE("processes save once, and any number of ranks goes on") {
    const Folder folder;
    const std::string file = folder.file("model.safetensors");
    const std::string shares = " --parallel data --shard 1";
    const std::string first = job + " --save " + file;
    REQUIRE(run(first + shares, mpirun(3)).code == 0);
    REQUIRE(run("predict --model " + file + " --data spiral").code == 0);
    const Json whole = resultOf(endless + " --steps 150");
    const Json rest =
        resultOf("train --resume " + file + " --steps 150 --quiet --log-every 1" + shares, mpirun(2));
    std::vector<double> expected = lossesOf(whole);
    expected.erase(expected.begin(), expected.begin() + 100);
    CHECK(largestDifference(expected, lossesOf(rest)) < 1e-5);
    CHECK(largestDifference(expected, lossesOf(resultOf("train --resume " + file +
                                                        " --steps 150 --quiet --log-every 1"))) < 1e-5);
}

TEST_CASE("processes of another mind are named before anything trains") {
    const auto ends = [](const std::string& first, const std::string& second, const std::string& text) {
        const Folder folder;
        const std::string one = "'" + program() + "' " + job + " --parallel data ";
        const std::string command =
            mpirun(1) + " " + one + first + " : -n 1 " + one + second + " >" + folder.file("out") + " 2>&1";
        const auto start = std::chrono::steady_clock::now();
        CHECK(WEXITSTATUS(std::system(command.c_str())) != 0);
        CHECK(seconds(start) < 20);
        CAPTURE(contents(folder.file("out")));
        CHECK(contents(folder.file("out")).find(text) != std::string::npos);
    };
    ends("--seed 1", "--seed 2", "ranks do not agree about the seed: rank 0 has '1', rank 1 has '2'");
    ends("--samples 500", "--samples 600", "ranks do not agree about the data");
    ends("--shard 1", "--shard 2", "ranks do not agree about the shard");
    const Folder folder;
    const std::string weights = "--init " + folder.file("w.safetensors");
    REQUIRE(run(job + " --save " + folder.file("w.safetensors")).code == 0);
    ends(weights, "", "ranks do not agree about the initial weights");
    ends("--lr 0.1", "--lr 0.1 --init no-such-file", "rank 1 ends all ranks: ");
}

TEST_CASE("a process that is killed or stopped ends the others, in time, and what was saved is whole") {
    // Which process, and when: a handful here, and as many as LOCKSTEP_KILLS says.
    const char* asked = std::getenv("LOCKSTEP_KILLS");
    const int kills = asked == nullptr ? 4 : std::atoi(asked);
    const Folder folder;
    const std::string file = folder.file("model.safetensors");
    const std::string trains =
        endless + " --steps 100000000 --save-every 1 --save " + file + " --parallel data --patience 5";
    // The n-th child of mpirun that is our program, by its number among them.
    const auto script = [&](std::size_t rank, const std::string& signal, double after) {
        return mpirun(3) + " '" + program() + "' " + trains + " >" + folder.file("out") + " 2>&1 & mpi=$!; " +
               "n=0; while [ ! -s " + file + " ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n+1)); done; sleep " +
               std::to_string(after) + "; kill -" + signal + " $(pgrep -P $mpi | sort -n | sed -n " +
               std::to_string(rank + 1) + "p); wait $mpi";
    };
    for (int kill = 0; kill < kills; ++kill) {
        CAPTURE(kill);
        std::filesystem::remove(file);
        const auto start = std::chrono::steady_clock::now();
        const int status =
            std::system(script(static_cast<std::size_t>(kill % 3), "KILL", 0.13 * (kill % 7)).c_str());
        CHECK(WEXITSTATUS(status) != 0);
        CHECK(seconds(start) < 40);
        CAPTURE(contents(folder.file("out")));
        CHECK(contents(folder.file("out")).find("rank") != std::string::npos);
        CHECK(run("predict --model " + file + " --data spiral").code == 0);
    }
    std::filesystem::remove(file);
    const auto start = std::chrono::steady_clock::now();
    CHECK(WEXITSTATUS(std::system(script(1, "STOP", 0.1).c_str())) != 0);
    CAPTURE(contents(folder.file("out")));
    const std::string said = contents(folder.file("out"));
    const std::size_t first = said.find("ends all ranks: "); // whoever misses it directly speaks first
    REQUIRE(first != std::string::npos);
    // On a busy machine, rank 0 may speak before rank 2, for which it waits. Then it says so.
    const std::string named = said.substr(first + 16, 6);
    CHECK((named == "rank 1" || named == "rank 2"));
    CHECK(said.find("; " + named + " may itself be waiting for another") != std::string::npos);
    CHECK(said.find("waiting for 5") != std::string::npos);
    CHECK(seconds(start) < 5 + 15);
    CHECK(run("predict --model " + file + " --data spiral").code == 0);
}

#endif
