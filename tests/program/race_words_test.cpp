// What is said about a race: lanes, their numbers, and why one was faster.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/race/race_replay.h"
#include "demos/exhibits/race/race_settings.h"
#include "demos/exhibits/race/race_words.h"
#include "demos/report/race_report.h"
#include "demos/words/text.h"

using namespace lockstep;
using namespace lockstep::demos;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

LaneResult laneOf(const char* spec, LaneStatus status, std::uint64_t step = 0) {
    LaneResult lane{.spec = laneSpecFromText(spec),
                    .machine = {},
                    .end = {},
                    .telemetry = Telemetry(BatchOrder{1000, 10, 1, true}),
                    .evaluation = {},
                    .operations = {},
                    .agreement = {}};
    lane.end.status = status;
    lane.end.step = step;
    return lane;
}

/// A processor that was faster than a GPU, of which one step took 1 ms.
struct LostRace {
    LostRace() {
        run.over = true;
        run.headline.valid = true;
        run.headline.slower = 1;
        run.headline.ratio = 2;
        run.job.shape.widths = {2, 3, 1};
        run.lanes.push_back(laneOf("cpu:best", LaneStatus::finished, 10));
        run.lanes.push_back(laneOf("gpu:best", LaneStatus::finished, 10));
        for (LaneResult& lane : run.lanes) {
            lane.end.runSteps = 10;
            lane.end.examples = 100;
            lane.end.trainingSeconds = 0.01;
        }
        run.lanes[0].end.trainingSeconds = 0.005;
        // Two steps were timed one launch at a time: a long and a short kernel, the short one twice a step.
        run.lanes[1].operations = {
            {.name = "dense", .milliseconds = 1.0, .calls = 2, .flops = 0, .bytes = 0},
            {.name = "update", .milliseconds = 0.4, .calls = 4, .flops = 0, .bytes = 0}};
    }
    RaceRun run;
};

/// All that an explanation may quote, from the lanes of a result file: CPU, then GPU.
std::vector<std::string> numbersOf(const Json& lanes, double batch) {
    std::vector<std::string> numbers;
    for (const Json& lane : lanes) {
        const double gflops = lane["gflops"];
        numbers.push_back(amountText(gflops * 1e9, "FLOP/s"));
        numbers.push_back(duration(batch / lane["samples_per_second"].get<double>()));
    }
    double calls = 0, sampled = 0, shortest = 0;
    for (const Json& operation : lanes[1]["operations"]) {
        const double count = operation["calls"];
        const double each = operation["milliseconds"].get<double>() * 1e-3 / count;
        calls += count;
        sampled = sampled > 0 ? std::min(sampled, count) : count;
        shortest = shortest > 0 ? std::min(shortest, each) : each;
    }
    numbers.push_back(duration(shortest));
    numbers.push_back(duration(shortest * calls / sampled));
    numbers.push_back(" " + threeDigits(calls / sampled) + " kernels");
    // The longest first, so that "1 ms" is not taken out of "21 ms".
    std::ranges::sort(numbers, {}, [](const std::string& text) { return -static_cast<int>(text.size()); });
    return numbers;
}

bool says(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

} // namespace

TEST_CASE("factors have two digits, and never an exponent") {
    CHECK(twoDigits(2.14) == "2.1");
    CHECK(twoDigits(20.8) == "21");
    CHECK(twoDigits(99.6) == "99.6");
    CHECK(twoDigits(207.6) == "208");
    CHECK(twoDigits(98765) == "98,800");
}

TEST_CASE("how much of the way a lane has made") {
    FinishLine steps{.steps = 100};
    LaneResult lane = laneOf("cpu:best", LaneStatus::running, 25);
    lane.end.progress = 0.25;
    CHECK(shareOfWay(steps, lane) == 0.25);
    lane.end.status = LaneStatus::finished; // also where it ended by another line
    CHECK(shareOfWay(steps, lane) == 1);
    lane.end.status = LaneStatus::running;

    // Towards an accuracy, epochs say nothing; before the first look nothing is known.
    FinishLine accuracy{.epochs = 10, .accuracy = 0.8};
    CHECK(shareOfWay(accuracy, lane) == 0);
    lane.end.testAccuracy = 0.6;
    CHECK(shareOfWay(accuracy, lane) == doctest::Approx(0.75));
    lane.end.testAccuracy = 0.9;
    CHECK(shareOfWay(accuracy, lane) == 1);

    // Towards a loss by the logarithm, from the first step's loss on: 0.1 is half the way from 1 to 0.01.
    FinishLine loss{.loss = 0.01};
    lane.end.testLoss = 0.1;
    CHECK(shareOfWay(loss, lane) == 0); // no first loss yet
    const LossPoint first{0, 1.0f, 0};
    lane.telemetry.addLosses({&first, 1});
    CHECK(shareOfWay(loss, lane) == doctest::Approx(0.5));
    lane.end.testLoss = 7; // worse than at the start
    CHECK(shareOfWay(loss, lane) == 0);
    lane.end.testLoss = std::numeric_limits<double>::infinity();
    CHECK(shareOfWay(loss, lane) == 0);
}

TEST_CASE("a lane's status in words") {
    RaceRun run;
    run.lanes.push_back(laneOf("cpu:best", LaneStatus::waiting));
    CHECK(statusText(run, 0) == "waits for its turn");
    run.settings.together = true;
    CHECK(statusText(run, 0) == "waiting");
    // In slow motion a lane is held between its steps; only a person pauses it.
    run.lanes[0].end.status = LaneStatus::paused;
    CHECK(statusText(run, 0) == "running");
    run.paused = true;
    CHECK(statusText(run, 0) == "paused");
    CHECK(matchText({laneSpecFromText("cpu"), laneSpecFromText("gpu:naive@0")}) ==
          "cpu:best against gpu:naive@0");
    run.lanes.push_back(laneOf("gpu:best", LaneStatus::waiting));
    run.lanes[0].end.status = LaneStatus::waiting;
    CHECK(liveText(run) == "cpu:best against gpu:best"); // nothing moves yet
}

TEST_CASE("while a race runs, its headline says who has finished and where the others are") {
    RaceRun run;
    run.lanes = {laneOf("cpu:best", LaneStatus::finished), laneOf("gpu:best", LaneStatus::waiting)};
    run.lanes[0].end.trainingSeconds = 0.73;
    CHECK(liveText(run) == "CPU finished in 730 ms; gpu:best waits for its turn"); // on a device yet unknown
    CHECK(liveText(run, false) == "CPU finished in -; gpu:best waits for its turn");
    CHECK(liveText(run, false, true) == "CPU finished in -; software Vulkan waits for its turn");
    CHECK(liveText(run, false, false) == "CPU finished in -; GPU waits for its turn");
    run.lanes[1].spec = laneSpecFromText("gpu:best@1"); // another device than the one that is known
    CHECK(liveText(run, false, true) == "CPU finished in -; gpu:best@1 waits for its turn");
    run.lanes[1].spec = laneSpecFromText("gpu:best");
    run.lanes[1].end.status = LaneStatus::running;
    run.lanes[1].end.progress = 0.59;
    run.lanes[1].machine.device = "llvmpipe";
    CHECK(liveText(run) == "CPU finished in 730 ms; GPU at 59 %");
    run.lanes[1].machine.software = true;
    CHECK(liveText(run) == "CPU finished in 730 ms; software Vulkan at 59 %");
    std::swap(run.lanes[0], run.lanes[1]);
    CHECK(liveText(run) == "Software Vulkan at 59 %; CPU finished in 730 ms");
    run.finish.accuracy = 0.8; // a share of it, once it is known
    CHECK(liveText(run) == "Software Vulkan at 0 %; CPU finished in 730 ms, aiming for 80 % test accuracy");
    run.finish.accuracy = 0;
    run.lanes.push_back(laneOf("cpu:simd", LaneStatus::running));
    run.lanes[2].end.progress = 0.2;
    CHECK(liveText(run) == "1 of 3 lanes finished; 2 lanes between 20 and 59 %");
    run.lanes[0].end.status = LaneStatus::failed;
    CHECK(liveText(run) == "1 of 3 lanes finished; cpu:simd at 20 %");
}

TEST_CASE("what a step costs, from its timings") {
    LostRace lost;
    LaneResult& gpu = lost.run.lanes[1];
    const StepCost cost = stepCost(gpu);
    CHECK(cost.seconds == doctest::Approx(1e-3));
    CHECK(cost.launches == doctest::Approx(3)); // one dense, two updates
    CHECK(cost.shortest == doctest::Approx(0.1e-3));
    CHECK_FALSE(cost.wholeSteps);
    const StepCost untimed = stepCost(lost.run.lanes[0]);
    CHECK(untimed.seconds > 0);
    CHECK(untimed.launches == 0);
    CHECK(stepCost(laneOf("gpu:best", LaneStatus::running)).seconds == 0);
    // The timed step has a launch to itself; of a run, this says nothing.
    gpu.operations = {{.name = "whole_step", .milliseconds = 2.0, .calls = 2, .flops = 0, .bytes = 0}};
    CHECK(stepCost(gpu).wholeSteps);
    CHECK(stepCost(gpu).launches == 0);
}

TEST_CASE("why the processor wins is said only where it did, and by the lanes' own numbers") {
    LostRace lost;
    LaneResult& gpu = lost.run.lanes[1];
    // Three launches of at least 0.1 ms are less than half of 1 ms: the arithmetic counts.
    CHECK(says(whyTheProcessorWins(lost.run), "it does this arithmetic faster"));
    gpu.operations[1].milliseconds = 0.8; // now launches are most of it
    CHECK(says(whyTheProcessorWins(lost.run), "launches 3 kernels per step"));
    const std::string why = "the shortest (" + duration(0.2e-3) + "), that would be " + duration(0.6e-3) +
                            " per step. One step takes " + duration(1e-3) + " there and " + duration(0.5e-3);
    CHECK_MESSAGE(says(whyTheProcessorWins(lost.run), why.c_str()), whyTheProcessorWins(lost.run));
    gpu.operations[1].milliseconds = 2; // more than a step takes: the timed steps were slower than the others
    CHECK_FALSE(says(whyTheProcessorWins(lost.run), "launches"));
    // A step of 1 ms cannot hold launches of 142 µs each, if many of them share one.
    gpu.operations = {{.name = "whole_step", .milliseconds = 2.0, .calls = 1, .flops = 0, .bytes = 0}};
    CHECK(says(whyTheProcessorWins(lost.run), "a single workgroup"));
    CHECK_FALSE(says(whyTheProcessorWins(lost.run), "launches"));
    gpu.machine.software = true;
    CHECK(says(whyTheProcessorWins(lost.run), "there is no GPU in this race"));
    lost.run.headline.ratio = 1.04; // equally fast
    CHECK(whyTheProcessorWins(lost.run).empty());
    lost.run.headline.ratio = 2;
    std::swap(lost.run.headline.faster, lost.run.headline.slower);
    CHECK(whyTheProcessorWins(lost.run).empty());
    std::swap(lost.run.headline.faster, lost.run.headline.slower);
    lost.run.headline.valid = false;
    CHECK(whyTheProcessorWins(lost.run).empty());
}

TEST_CASE("one sentence says why, from the lanes' own numbers") {
    LostRace lost;
    LaneResult& gpu = lost.run.lanes[1];
    lost.run.lanes[0].gflops = 8;
    gpu.gflops = 4;
    CHECK(becauseText(lost.run) ==
          "Because cpu:best does more arithmetic per second: " + amountText(8e9, "FLOP/s") + " against " +
              amountText(4e9, "FLOP/s") + ".");
    gpu.operations[1].milliseconds = 0.8;
    CHECK(becauseText(lost.run) == "Because starting work on the GPU costs more than the work.");
    gpu.machine.software = true;
    CHECK(says(becauseText(lost.run), "there is no GPU in this race: gpu:best runs on the CPU, too"));
    lost.run.headline.ratio = 1.04;
    CHECK(becauseText(lost.run).empty());
    // The other way round.
    lost.run.headline = {{.faster = 1, .slower = 0, .ratio = 2}, "", "", true};
    gpu.end.trainingSeconds = 0.002;
    gpu.gflops = 16;
    CHECK(says(becauseText(lost.run), "gpu:best does more arithmetic per second"));
    gpu.machine.software = false;
    CHECK(says(becauseText(lost.run), "the GPU computes many outputs at the same time"));
    lost.run.over = false;
    CHECK(becauseText(lost.run).empty());
}

// Races are run, and each number of the sentence is computed anew from what "Save JSON" writes.
TEST_CASE("every number of the explanation follows from the race's result") {
    const fs::path presets = fs::path(LOCKSTEP_SOURCE_DIR) / "assets/presets";
    Machines machines(1, "");
    std::size_t explained = 0;
    for (const char* preset : {"race-tiny.json", "race-batch-1.json"})
        for (const char* gpu : {"gpu:best", "gpu:naive", "gpu:tiled", "gpu:whole-step"}) {
            INFO(preset << " " << gpu);
            Json settings = Json::parse(std::ifstream(presets / preset))["exhibits"]["race"];
            settings["data"] = "circle"; // where it is fashion-mnist, which may be missing
            settings["finish"] = {{"steps", 130u}};
            settings["lanes"] = {"cpu:best", gpu};
            if (std::string_view(gpu) == "gpu:whole-step") settings["hidden"] = {8u, 8u}; // what fits into it
            RaceModel model;
            model.rough = true;
            model.settings = raceSettingsFromJson(settings);
            model.start();
            for (int i = 0; i < 400 && !(model.shown() && model.shown()->over); ++i)
                model.update(machines, 1.0 / 60, true);
            REQUIRE(model.shown());
            REQUIRE(model.shown()->over);
            RaceRun run;
            run.over = true;
            run.lanes = model.shown()->lanes;
            run.headline = model.shown()->headline;
            const Json result = raceJson(model.shown()->job, model.shown()->finish, false, run.lanes,
                                         run.figures(), model.shown()->headline)["lanes"];
            const auto batch = static_cast<double>(model.shown()->job.settings.batch);
            for (const bool software : {true, false}) {
                run.lanes[1].machine.software = software; // a GPU's words, too, where there is none
                std::string text = whyTheProcessorWins(run);
                explained += text.empty() ? 0 : 1;
                CHECK(says(text, "a single workgroup") ==
                      (!software && result[1]["operations"][0]["name"] == "whole_step" && !text.empty()));
                for (const std::string& number : numbersOf(result, batch))
                    for (std::size_t at = 0; (at = text.find(number)) != std::string::npos;)
                        text.erase(at, number.size());
                CHECK_MESSAGE(text.find_first_of("0123456789") == std::string::npos, text);
            }
        }
    MESSAGE(explained << " explanations");
    CHECK(explained > 0);
}

TEST_CASE("the result in a few words") {
    std::vector<LaneResult> lanes{laneOf("cpu:best", LaneStatus::finished),
                                  laneOf("gpu:best", LaneStatus::finished)};
    Headline headline;
    CHECK(verdict(lanes, headline) == "No comparison");
    headline.valid = true;
    headline.slower = 1;
    for (const auto& [ratio, words] : {std::pair{1.04, "Equally fast"},
                                       {1.083, "CPU 1.08× faster"},
                                       {5.87, "CPU 5.9× faster"},
                                       {46.1, "CPU 46× faster"},
                                       {99.7, "CPU 99.7× faster"},
                                       {1234.0, "CPU 1,230× faster"}}) {
        headline.ratio = ratio;
        CHECK(verdict(lanes, headline) == words);
    }
    lanes[1].machine.software = true;
    CHECK(verdict(lanes, headline) == "CPU 1,230× faster than software Vulkan");
    std::swap(headline.faster, headline.slower);
    CHECK(verdict(lanes, headline) == "Software Vulkan 1,230× faster than the CPU");
    std::swap(headline.faster, headline.slower);
    lanes[1].spec = laneSpecFromText("cpu:scalar");
    lanes[1].machine.software = false;
    CHECK(verdict(lanes, headline) == "cpu:best 1,230× faster");
}

TEST_CASE("no throttled result looks like a full one") {
    MachineInfo cpu{.device = "CPU", .driver = "", .threads = 1};
    CHECK(honestDevice(cpu) == "CPU, 1 thread");
    cpu.ofThreads = 2;
    CHECK(honestDevice(cpu) == "CPU, 1 of 2 threads");
    CHECK(fullName(laneSpecFromText("cpu:best"), cpu) == "cpu:best on CPU (1 of 2 threads)");
    MachineInfo gpu{.device = "GPU", .driver = "", .gpu = true};
    CHECK(honestDevice(gpu) == "GPU");
    gpu.workgroups = 8;
    CHECK(honestDevice(gpu) == "GPU, at most 8 workgroups at once");
    CHECK(fullName(laneSpecFromText("gpu:best"), gpu) == "gpu:best on GPU (at most 8 workgroups at once)");
    gpu.software = true;
    CHECK(honestDevice(gpu) == "GPU: software, not a GPU, at most 8 workgroups at once");
    CHECK(fullName(laneSpecFromText("gpu:best"), gpu) ==
          "gpu:best on GPU (software, not a GPU, at most 8 workgroups at once)");

    LostRace lost;
    const auto said = [&] { return verdict(lost.run.lanes, lost.run.headline); };
    CHECK(said() == "CPU 2× faster");
    lost.run.lanes[1].machine.workgroups = 8;
    CHECK(said() == "CPU 2× faster, GPU throttled");
    CHECK(whyTheProcessorWins(lost.run).find("at most 8 workgroups at once") != std::string::npos);
    lost.run.lanes[0].machine.ofThreads = 2;
    CHECK(said() == "CPU 2× faster, both throttled");
    lost.run.lanes[1].machine.workgroups = 0;
    CHECK(said() == "CPU 2× faster, CPU throttled");
    lost.run.headline.ratio = 1;
    CHECK(said() == "Equally fast, CPU throttled");
}

TEST_CASE("a race is shown again as it was recorded, on one clock") {
    RaceRun run;
    run.over = true;
    for (const char* spec : {"cpu:best", "gpu:best"}) {
        LaneResult& lane = run.lanes.emplace_back(laneOf(spec, LaneStatus::finished, 8));
        lane.end.runSteps = 8;
        lane.end.trainingSeconds = 1;
    }
    // The first lane slows down. The second gets its losses four at a time.
    for (const LossPoint& point : {LossPoint{0, 3, 0.1}, {3, 1, 0.3}, {7, 1, 1.0}})
        run.lanes[0].telemetry.addLosses({&point, 1});
    run.lanes[1].end.trainingSeconds = 5;
    for (std::uint64_t step = 0; step < 8; ++step) {
        const LossPoint point{step, 1, step < 4 ? 2.0 : 5.0};
        run.lanes[1].telemetry.addLosses({&point, 1});
    }
    const auto steps = [&](std::size_t lane, double seconds) { return stepsAfter(run.lanes[lane], seconds); };
    CHECK(steps(0, 0) == 0);
    CHECK(steps(0, 0.05) == doctest::Approx(0.5));
    CHECK(steps(0, 0.2) == doctest::Approx(2.5));
    CHECK(steps(0, 0.65) == doctest::Approx(6));
    CHECK(steps(0, 7) == 8);
    CHECK(steps(1, 1) == doctest::Approx(2));
    CHECK(steps(1, 2) == doctest::Approx(4));
    CHECK(steps(1, 3.5) == doctest::Approx(6));
    CHECK(shareAfter(run, 1, 3.5) == doctest::Approx(0.75));
    CHECK(snapshotAfter(run.lanes[0], 0.65).step == 6);
    CHECK(snapshotAfter(run.lanes[0], 0.2).loss == doctest::Approx(3));
    CHECK(snapshotAfter(run.lanes[0], 0.65).loss == doctest::Approx((3 * 0.98 + 1) / 1.98)); // of 2 records
    CHECK(std::isnan(snapshotAfter(run.lanes[1], 0).loss));                                  // none yet
    CHECK(snapshotAfter(run.lanes[0], 0.65).status == LaneStatus::running);
    CHECK(snapshotAfter(run.lanes[0], 1).status == LaneStatus::finished);

    CHECK(canReplay(run));
    RaceReplay replay;
    replay.start(run);
    CHECK(replay.stretch() == doctest::Approx(2.4)); // so that the slow lane takes 12 s, not 15
    replay.advance(1.2);
    CHECK(replay.seconds() == doctest::Approx(0.5));
    CHECK(replay.playing());
    replay.advance(10.9);
    CHECK_FALSE(replay.playing());
    run.lanes[0].end.trainingSeconds = 4;
    replay.start(run);
    CHECK(replay.stretch() == 1); // at true speed
    run.lanes[0].end.trainingSeconds = run.lanes[1].end.trainingSeconds = 0.5;
    replay.start(run);
    CHECK(replay.stretch() == doctest::Approx(6)); // so that the fastest lane takes 3 s

    // Where time ends the race, both take as long, and the one with more steps comes further.
    run.finish.seconds = 5;
    run.lanes[0].end.trainingSeconds = run.lanes[1].end.trainingSeconds = 5;
    run.lanes[1].end.runSteps = 4;
    CHECK(shareAfter(run, 1, 5) == doctest::Approx(0.5));
    run.stepped = true;
    CHECK_FALSE(canReplay(run));
}

TEST_CASE("a lane is drawn where it was when the fastest finished, on the basis that is compared") {
    LostRace race;
    RaceRun& run = race.run;
    CHECK_FALSE(gapOf(run, 0).has_value()); // it is the fastest
    REQUIRE(gapOf(run, 1).has_value());
    CHECK(gapOf(run, 1)->fastest == 0);
    CHECK(gapOf(run, 1)->share == doctest::Approx(0.5));
    CHECK_FALSE(gapOf(run, 1)->byRates);
    // The steps up to the finish line were few and slow; beyond it, the lane ran at a tenth of the speed.
    run.lanes[1].end.trainingSeconds = 0.5;
    run.lanes[1].end.extraSeconds = 1.5;
    run.lanes[1].end.extraExamples = 3900;
    run.lanes[0].end.extraSeconds = 0.995;
    run.lanes[0].end.extraExamples = 19900;
    CHECK(gapOf(run, 1)->share == doctest::Approx(0.1));
    CHECK(gapOf(run, 1)->byRates);
    // Times to a target are compared as they are.
    run.headline.bySeconds = true;
    CHECK(gapOf(run, 1)->share == doctest::Approx(0.01));
    CHECK_FALSE(gapOf(run, 1)->byRates);
    run.stepped = true;
    CHECK_FALSE(gapOf(run, 1).has_value());
}

TEST_CASE("threads are those that a lane may use, and once it is over those that it used") {
    RaceRun run;
    run.lanes.push_back(laneOf("cpu:best", LaneStatus::running, 5));
    run.lanes.push_back(laneOf("gpu:best", LaneStatus::waiting));
    run.lanes[0].machine.device = "AMD EPYC";
    run.lanes[0].machine.threads = 1; // of the team of two, the one that trains most of the time
    run.teams = std::make_shared<LaneTeams>(2);
    (*run.teams)[0] = 2;
    CHECK(threadsText(run, 0) == "up to 2 threads");
    CHECK(threadsText(run, 1).empty());
    run.lanes[0].end.status = LaneStatus::finished;
    CHECK(threadsText(run, 0) == "1 thread");
    run.lanes[0].end.status = LaneStatus::running;
    (*run.teams)[0] = 1;
    CHECK(threadsText(run, 0) == "1 thread");
    run.lanes[0].machine.ofThreads = 2; // throttled
    CHECK(threadsText(run, 0) == "1 of 2 threads");
}

TEST_CASE("durations") {
    CHECK(duration(12.34e-6) == "12.3 µs");
    CHECK(duration(0.00456) == "4.56 ms");
    CHECK(duration(1.234) == "1.23 s");
    CHECK(duration(0) == "0 µs");
    CHECK(duration(4.2e-9) == "4.20 ns");
}
