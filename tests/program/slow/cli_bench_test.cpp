// `lockstep bench`: everything is verified before it is timed, and what was found is written down.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/data_files.h"
#include "tests/run_program.h"
#include "tests/sanitized.h"

namespace {

using Json = nlohmann::ordered_json;
using lockstep::test::CacheFolder;
using lockstep::test::contents;
using lockstep::test::Folder;
using lockstep::test::Outcome;
using lockstep::test::run;

} // namespace

TEST_CASE("bench checks and times the requested lanes and writes JSON") {
    const Folder folder;
    const std::string json = folder.file("bench.json");
    const Outcome outcome =
        run("bench --widths 8,6,3 --batch 16 --seconds 0.01 --lane cpu:simd --lane gpu:naive --json " + json);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("cpu:simd"));
    CHECK(outcome.says("gpu:naive"));
    CHECK(outcome.says("\"of roof\" compares GFLOP/s"));
    const Json results = Json::parse(contents(json));
    CHECK(results["gpu"].is_null()); // kernels are timed only if no lane is requested
    REQUIRE(results["lanes"].size() == 2);
    REQUIRE(results["roofs"].size() == 2); // of the processor's thread and of the device
    for (const Json& roof : results["roofs"]) {
        CHECK(roof["gflops"] > 0);
        CHECK(outcome.says(roof["device"].get<std::string>() + ": "));
    }
    for (const Json& lane : results["lanes"]) {
        CAPTURE(lane.dump());
        CHECK_FALSE(lane.contains("error"));
    }
}

TEST_CASE("nothing passes the roof, neither a kernel nor whole steps, on either machine") {
    // Roof and kernels are timed one after the other, each the best of some rounds. On a machine that other
    // programs share, all rounds of the roof may be slowed: hence a tenth more.
    constexpr double most = 1.1;
    const Folder folder;
    const std::string json = folder.file("bench.json");
    const Outcome outcome = run("bench --widths 256,128,12 --batch 64 --seconds 0.02 --json " + json);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const Json results = Json::parse(contents(json));
    CHECK(results["gpu"]["roof"]["gflops"] > 0);
    CHECK(results["gpu"]["roof"]["gigabytes_per_second"] > 0);
    CHECK(results["gpu"]["fastest_product_gflops"] > 0);
    // A sanitizer slows software Vulkan's roof, whose many workgroups each allocate, more than its products.
    if (!lockstep::test::sanitized)
        CHECK(results["gpu"]["fastest_product_gflops"] <
              most * results["gpu"]["roof"]["gflops"].get<double>());
    std::size_t shares = 0;
    for (const Json& all : {results["gpu"]["products"], results["lanes"]})
        for (const Json& entry : all) {
            CAPTURE(entry.dump());
            if (!entry.value("verified", false)) continue; // refused, and so without a time
            CHECK(entry["share_of_roof"] > 0);
            // Sanitizers slow this program down, but not the library that multiplies for cpu:best.
            if (!lockstep::test::sanitized) CHECK(entry["share_of_roof"] < most);
            ++shares;
        }
    CHECK(shares > 20);
}

TEST_CASE("bench rejects what it cannot time") {
    CHECK(run("bench --widths 8").code == 2);
    CHECK(run("bench --widths 8,0,3").code == 2);
    CHECK(run("bench --lane gpu:fastest").code == 2);
}

TEST_CASE("tuning compares every kernel once, and gpu:best starts with its choice") {
    const CacheFolder folder;
    const std::string network = "--data spiral --layers 8 --batch 20";
    const Outcome first = run("tune " + network);
    CHECK(first.code == 0);
    CHECK(first.says("dense_backward_inputs"));
    CHECK(first.says(" kernels compared in "));
    CHECK(first.says("gpu:best: "));
    const Outcome again = run("tune " + network);
    CHECK(again.says("nothing was left to compare"));
    const std::string chosen = first.out.substr(first.out.find("gpu:best: ") + 10);
    CHECK(
        run("race --quick --steps 20 --lane gpu:best " + network).says(chosen.substr(0, chosen.find('\n'))));
}
