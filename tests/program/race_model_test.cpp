// Repeated races, and what stays of a race when the next one begins.
#include <chrono>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/race/race_model.h"
#include "demos/exhibits/race/race_words.h"
#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::demos;
using Json = nlohmann::ordered_json;

namespace {

/// Two quick lanes, driven frame by frame.
struct Track {
    explicit Track(std::size_t repeat) {
        model.settings.run.data = "circle";
        model.settings.run.hiddenWidths = {8};
        model.settings.run.finish.steps = 200;
        model.settings.run.lanes = {laneSpecFromText("cpu:scalar"), laneSpecFromText("cpu:simd")};
        model.settings.repeat = repeat;
        model.rough = true;
        model.start();
    }
    void frame() { model.update(machines, 1.0 / 60, true); }
    const RaceRun& run() const { return *model.shown(); }
    bool over() const { return model.shown() != nullptr && run().over; }
    /// Until so many runs are finished and the next one has begun to train.
    void runInto(std::size_t finished) {
        const auto there = [&] {
            return model.shown() != nullptr && run().race && run().finished.size() == finished &&
                   run().lanes[0].end.runSteps > 0;
        };
        for (int i = 0; i < 2000 && !there(); ++i) frame();
        REQUIRE(there());
        REQUIRE_FALSE(over());
    }
    void runToEnd() {
        for (int i = 0; i < 2000 && !over(); ++i) frame();
        REQUIRE(over());
    }

    Machines machines{1, ""};
    RaceModel model;
};

std::string refusal(const Json& history) {
    try {
        historyFromJson(history);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("a repeated race runs so many times, and is compared over all of them") {
    Track track(3);
    track.runInto(1);
    CHECK(liveText(track.run()).starts_with("run 2 of 3: "));
    CHECK(track.model.running());
    track.runToEnd();
    const RaceRun& run = track.run();
    REQUIRE(run.finished.size() == 3);
    for (std::size_t lane = 0; lane < 2; ++lane) {
        const auto rate = spreadOf(run.repeated, lane, &LaneFigures::rate);
        REQUIRE(rate);
        CHECK(rate->median == run.figures()[lane].rate);
        for (const std::vector<LaneResult>& each : run.finished) {
            CHECK(each[lane].end.runSteps == 200);
            CHECK(each[lane].telemetry.opening() == run.lanes[lane].telemetry.opening()); // the same weights
        }
    }
    CHECK(run.headline.valid);
    CHECK(run.headline.text.find("Over 3 runs") != std::string::npos);
    REQUIRE(track.model.history().size() == 1); // one race
    CHECK(track.model.history()[0].result.ends_with(", 3 runs"));
    CHECK_FALSE(track.model.running());
}

TEST_CASE("a comparison of kernels that is skipped leaves a trained race, which says so") {
    const test::CacheFolder folder; // nothing was compared before
    Track track(2);
    track.model.settings.run.data = "fashion-mnist";
    track.model.settings.run.hiddenWidths = {64};
    track.model.settings.run.finish.steps = 20;
    track.model.settings.run.lanes = {laneSpecFromText("gpu:naive"), laneSpecFromText("gpu:best")};
    track.model.start();
    const auto frameOfWindow = [&] { // nothing waits
        track.model.update(track.machines, 1.0 / 60, false);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    const auto comparing = [&] { return track.model.shown() != nullptr && track.run().tuningLane(); };
    for (int i = 0; i < 60000 && !comparing(); ++i) frameOfWindow();
    REQUIRE(comparing());
    CHECK(track.run().tuningLane() == 1u);
    CHECK(statusText(track.run(), 1) == "compares kernels");
    CHECK(track.model.running()); // and the window goes on drawing
    CHECK(track.model.busy());
    CHECK(skippedText(track.run()).empty());

    SUBCASE("skipped") {
        track.model.skipTuning();
        for (int i = 0; i < 60000 && !track.over(); ++i) frameOfWindow();
        REQUIRE(track.over());
        REQUIRE(track.run().finished.size() == 2);
        for (const std::vector<LaneResult>& run : track.run().finished) { // in both runs
            CHECK(run[1].end.runSteps == 20);
            CHECK(run[1].agreement.same());
            CHECK(run[1].end.tuning.skipped);
            CHECK(run[1].machine.kernels.find("comparison skipped after ") != std::string::npos);
        }
        CHECK(skippedText(track.run()).starts_with("The comparison of kernels was skipped after "));
        CHECK(skippedText(track.run()).find("gpu:best") != std::string::npos);
        std::ifstream file(folder.path() / "kernels.json");
        const Json kernels = file ? Json::parse(file).front() : Json::object();
        for (const auto& [operation, entry] : kernels.items()) CHECK(entry["complete"] == true);
    }
    SUBCASE("the race is given up meanwhile: at once") {
        track.model.reset();
        CHECK(track.model.shown() == nullptr);
        CHECK_FALSE(track.model.running());
        const auto begin = std::chrono::steady_clock::now();
        while (track.model.busy()) frameOfWindow(); // until its thread has gone
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)); // a kernel's compilation
    }
}

TEST_CASE("the processor is timed while one of its lanes may move") {
    Track track(1);
    CHECK_FALSE(track.model.timesProcessor()); // nothing is there yet
    track.runInto(0);
    CHECK(track.model.timesProcessor());
    CHECK(threadsText(track.run(), 0) == "1 thread"); // all that these machines give a lane
    track.model.pause();
    CHECK_FALSE(track.model.timesProcessor());
    track.model.start();
    track.runToEnd();
    CHECK_FALSE(track.model.timesProcessor());
}

TEST_CASE("what is done of a repeated race stays: reset, stepped by hand, without its device") {
    SUBCASE("reset") {
        Track track(3);
        track.runInto(2);
        track.model.reset();
        REQUIRE(track.model.history().size() == 1);
        CHECK(track.model.history()[0].result.ends_with(", 2 runs"));
        track.frame();
        CHECK(track.model.shown() == nullptr);
    }
    SUBCASE("stepped") {
        Track track(3);
        track.runInto(1);
        track.model.step(1);
        track.frame();
        track.model.start();
        track.runToEnd();
        CHECK(track.run().finished.size() == 1);
        CHECK(track.run().headline.valid);
        CHECK_FALSE(track.run().stepped); // what is shown was not
    }
    SUBCASE("paused") {
        Track track(2);
        track.runInto(1);
        track.model.pause();
        const std::uint64_t step = track.run().lanes[0].end.step;
        for (int i = 0; i < 5; ++i) track.frame();
        CHECK(track.run().lanes[0].end.step == step);
        CHECK_FALSE(track.model.running());
        track.model.start();
        track.runToEnd();
        CHECK(track.run().finished.size() == 2);
    }
    SUBCASE("without its device") {
        Track track(3);
        track.runInto(2);
        CHECK(track.model.release());
        CHECK(track.over());
        CHECK(track.run().headline.valid);
        CHECK(whereItEnded(track.run()) == "2 of 3 runs are finished");
        CHECK_FALSE(track.model.release());
    }
    SUBCASE("stopped in the first run, there is nothing to compare") {
        Track track(3);
        track.runInto(0);
        CHECK(track.model.release());
        CHECK_FALSE(track.run().headline.valid);
        CHECK(track.run().headline.text.find("the device was lost") != std::string::npos);
    }
}

TEST_CASE("the last 20 races are kept, and come back from JSON with their curves") {
    Track track(1);
    track.runToEnd();
    for (std::uint64_t number = 1; number < 21; ++number) {
        CHECK(track.run().number == number);
        CHECK(track.model.history().back().number == number);
        track.model.start();
        track.frame();
        track.runToEnd();
    }
    std::vector<PastRun> runs = track.model.history();
    REQUIRE(runs.size() == mostPastRuns);
    CHECK(runs.front().number == 2);
    REQUIRE(runs.back().lanes.size() == 2);
    CHECK(runs.back().lanes[0].losses.value.size() == 200);
    CHECK(runs.back().lanes[0].accuracies.value.size() > 0);
    track.model.setNote(21, "the fan was off");

    const Json json = Json::parse(historyJson(track.model.history()).dump());
    const std::vector<PastRun> back = historyFromJson(json);
    CHECK(historyJson(back) == json);
    CHECK(back.back().note == "the fan was off");
    CHECK(back.back().settings == track.model.settings);
    CHECK(back.back().lanes[1].losses.value == runs.back().lanes[1].losses.value);
    track.model.setHistory({back.begin(), back.begin() + 3});
    track.model.start();
    track.frame();
    track.runToEnd();
    CHECK(track.run().number == 22); // no number twice

    // Long curves are cut.
    RunCurve& curve = runs[0].lanes[0].losses;
    curve.step.clear();
    for (int i = 0; i < 2000; ++i) curve.step.push_back(i);
    curve.seconds = curve.value = curve.step;
    const std::vector<PastRun> cut = historyFromJson(historyJson(runs));
    CHECK(cut[0].lanes[0].losses.step.size() <= 256);
    CHECK(cut[0].lanes[0].losses.step.size() > 200);
}

TEST_CASE("a wrong history is refused by the field's name") {
    Track track(1);
    track.runToEnd();
    const Json good = historyJson(track.model.history());
    CHECK(refusal(good).empty());
    using Change = void (*)(Json&);
    const std::pair<Change, const char*> wrong[] = {
        {[](Json& h) { h = 3; }, "'history'"},
        {[](Json& h) {
             h = Json::array();
             for (int i = 0; i < 21; ++i) h.push_back(i);
         },
         "at most 20"},
        {[](Json& h) { h[0] = 3; }, "'number'"},
        {[](Json& h) { h[0]["number"] = 0u; }, "'number'"},
        {[](Json& h) { h.push_back(h[0]); }, "entry 2"},
        {[](Json& h) { h[0]["settings"]["data"] = "spirale"; }, "spiral"},
        {[](Json& h) { h[0].erase("note"); }, "'note'"},
        {[](Json& h) { h[0]["result"] = 1; }, "'result'"},
        {[](Json& h) { h[0]["lanes"] = Json::array(); }, "'lanes'"},
        {[](Json& h) { h[0]["lanes"][0]["lane"] = "gpu:fast"; }, "gpu:fast"},
        {[](Json& h) { h[0]["lanes"][0]["samples_per_second"] = -1; }, "'samples_per_second'"},
        {[](Json& h) { h[0]["lanes"][0]["losses"]["step"][0] = 1e9; }, "'losses'"},
        {[](Json& h) { h[0]["lanes"][0]["losses"]["value"].push_back(1); }, "'losses'"},
        {[](Json& h) { h[0]["lanes"][0]["losses"]["seconds"][0] = "soon"; }, "'seconds'"},
        {[](Json& h) { h[0]["lanes"][1].erase("accuracies"); }, "'accuracies'"},
    };
    for (const auto& [change, word] : wrong) {
        Json json = good;
        change(json);
        const std::string message = refusal(json);
        CHECK_MESSAGE(message.find(word) != std::string::npos, message);
    }
}

TEST_CASE("the race before is behind, unless a person picks another") {
    std::vector<PastRun> runs(3);
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].number = i + 4; // 4, 5, 6
    const auto picked = [&](RunPick pick, std::uint64_t current) {
        const PickedRuns found = pickedRuns(runs, pick, current);
        return std::pair(found.front ? found.front->number : 0, found.behind ? found.behind->number : 0);
    };
    using Numbers = std::pair<std::uint64_t, std::uint64_t>;
    CHECK(picked({}, 7) == Numbers(0, 6)); // it runs
    CHECK(picked({}, 6) == Numbers(0, 5)); // it is over
    CHECK(picked({}, 0) == Numbers(6, 5)); // none is shown
    CHECK(picked({.front = 5, .behind = {}}, 7) == Numbers(5, 4));
    CHECK(picked({.front = 5, .behind = 6}, 7) == Numbers(5, 6));
    CHECK(picked({.front = 5, .behind = 5}, 7) == Numbers(5, 0));
    CHECK(picked({.front = 0, .behind = 0}, 7) == Numbers(0, 0));
    CHECK(picked({.front = 1, .behind = 2}, 7) == Numbers(0, 0)); // no longer kept
    runs[2].settings.run.data = "spiral";                         // losses on other data are not drawn behind
    CHECK(picked({}, 6) == Numbers(0, 0));
    CHECK(picked({}, 0) == Numbers(6, 0));
    CHECK(picked({.front = 0, .behind = 5}, 6) == Numbers(0, 5)); // unless a person wants it
    CHECK(pickedRuns(runs, {}, 7, "spiral").behind == &runs[2]);
    CHECK(pickedRuns(runs, {}, 7, runs[0].settings.run.data).behind == &runs[1]);
    CHECK(pickedRuns(runs, {}, 7, "moons").behind == nullptr);
    runs.clear();
    CHECK(picked({}, 1) == Numbers(0, 0));
}

TEST_CASE("a timed lane is asked about its pictures only where it stops for an evaluation anyway") {
    std::string table = "label";
    for (int i = 0; i < 16; ++i) table += ",pixel" + std::to_string(i);
    for (int row = 0; row < 200; ++row) {
        table += "\n" + std::to_string(row % 2);
        for (int i = 0; i < 16; ++i) table += "," + std::to_string((row * 31 + i * 7) % 256);
    }
    const test::TemporaryFolder folder;
    RaceSettings settings;
    settings.run.data = "csv:" + folder.write("pixels.csv", table).string();
    settings.run.hiddenWidths = {8};
    settings.run.settings.batch = 10;
    settings.run.finish.epochs = 3;
    settings.run.lanes = {laneSpecFromText("cpu:scalar")};
    Machines machines{1, ""};
    RaceModel model;
    model.settings = settings;
    model.start();
    std::set<std::uint64_t> steps;
    for (int i = 0; i < 5000 && !(model.shown() && model.shown()->over); ++i) {
        model.update(machines, 1.0 / 60, false);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (model.shown() && model.shown()->probes[0].pictures)
            steps.insert(model.shown()->probes[0].pictures->step);
    }
    REQUIRE(model.shown());
    const RaceRun& run = *model.shown();
    REQUIRE(run.over);
    CHECK(run.timed);
    REQUIRE(pictureRows(*run.data) > 0);
    CHECK(run.probes[0].pictures->rows == pictureRows(*run.data));
    CHECK(run.probes[0].pictures->step == run.lastStep());
    for (const std::uint64_t step : steps) CHECK(step % run.job.order().stepsPerEpoch() == 0);
}
