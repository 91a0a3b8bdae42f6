// A curve drawn with the mouse as a prediction: one value per place, read and written exactly, compared by
// factors; and the experiments' plots, on which it is drawn.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/kit/sketch.h"
#include "demos/lab/experiment.h"
#include "tests/show_script.h"

using namespace lockstep::demos;
using lockstep::test::contents;
using lockstep::test::Folder;
using lockstep::test::Outcome;
using Json = nlohmann::ordered_json;

namespace {

const PlotAxis logX{.title = "pieces", .unit = {}, .log = true, .shown = PlotRange{1, 1e4}};
const PlotAxis logY{.title = "time", .unit = "s", .log = true, .shown = PlotRange{1, 1e6}};
const PlotAxis linear{.title = "share", .unit = {}, .shown = PlotRange{0, 48}};

/// The powers of ten as they are from 1 to 10,000.
Sketch diagonal() {
    Sketch sketch;
    sketch.penTo(logX, logY, 1, 1, true);
    sketch.penTo(logX, logY, 1e4, 1e4, false);
    return sketch;
}

} // namespace

TEST_CASE("the pen draws straight lines as the axes show them, and replaces what it passes over") {
    Sketch sketch = diagonal();
    CHECK(sketch.x().size() == Sketch::columns);
    for (const double x : {1.0, 10.0, 100.0, 300.0, 1e4})
        CHECK(sketch.at(x, true, true) == doctest::Approx(x).epsilon(1e-3));
    // Back over the right half, lower.
    sketch.penTo(logX, logY, 1e4, 5, true);
    sketch.penTo(logX, logY, 100, 5, false);
    CHECK(sketch.x().size() == Sketch::columns);
    CHECK(sketch.at(1000, true, true) == doctest::Approx(5));
    CHECK(sketch.at(10, true, true) == doctest::Approx(10));
    CHECK(std::isnan(sketch.at(0.5, true, true)));
    // A place beyond the axes is at their edge.
    sketch.penTo(logX, logY, 1e9, 1e9, true);
    CHECK(sketch.x().back() == doctest::Approx(1e4));
    CHECK(sketch.at(1e4, true, true) == doctest::Approx(1e6));
    for (std::size_t i = 1; i < sketch.x().size(); ++i) CHECK(sketch.x()[i] > sketch.x()[i - 1]);

    Sketch straight;
    straight.penTo(linear, linear, 10, 0, true); // no positive value
    CHECK(straight.empty());
    straight.penTo(linear, linear, 20, 20, false);
    CHECK(straight.x().size() == 10);
    CHECK(straight.at(15, false, false) == doctest::Approx(10));
    straight.clear();
    CHECK(straight.empty());
}

TEST_CASE("a sketch comes back from JSON, and broken ones are refused") {
    const Sketch sketch = diagonal();
    CHECK(Sketch::fromJson(Json::parse(sketch.json().dump()), "launch").json() == sketch.json());
    CHECK(Sketch::fromJson(Json::array(), "launch").empty());
    Json many = Json::array();
    for (std::size_t i = 0; i <= Sketch::mostPoints; ++i) many.push_back({i + 1, 1});
    for (const char* text :
         {"7", "{}", "[7]", "[[1]]", "[[1, 2, 3]]", "[[1, \"2\"]]", "[[1, null]]", "[[0, 1]]", "[[1, -1]]",
          "[[1, 1e300]]", "[[2, 1], [1, 1]]", "[[1, 1], [1, 2]]"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(Sketch::fromJson(Json::parse(text), "launch"), doctest::Contains("launch"),
                             std::invalid_argument);
    }
    CHECK_THROWS_WITH_AS(Sketch::fromJson(many, "launch"), doctest::Contains("256"), std::invalid_argument);
}

TEST_CASE("a sketch is compared by factors, where it reaches") {
    const Sketch sketch = diagonal();
    const std::vector<double> x{0.1, 1, 10, 100, 1000, 1e4, 1e5};
    const std::vector<double> y{7, 1, 5, 200, 10000, NAN, 7};
    const auto miss = missOf(sketch, x, y, true, true);
    REQUIRE(miss.has_value());
    CHECK(miss->points == 4);
    CHECK(miss->typical == doctest::Approx(2).epsilon(0.01));
    CHECK(miss->most == doctest::Approx(10).epsilon(0.01));
    CHECK(miss->at == 1000);
    CHECK_FALSE(miss->tooHigh);
    CHECK(
        missText(miss, "dispatches", "pieces") ==
        "Your sketch of dispatches is typically off by a factor of 2.0, and most at 1,000 (pieces): 10 times "
        "too low.");
    const auto one = missOf(sketch, std::vector{10.0}, std::vector{4.0}, true, true);
    CHECK(missText(one, "dispatches", "pieces") ==
          "Your sketch of dispatches is farthest off at 10 (pieces): 2.5 times too high.");
    const auto none = missOf(sketch, std::vector{0.1}, std::vector{7.0}, true, true);
    CHECK_FALSE(none.has_value());
    CHECK(missText(none, "dispatches", "pieces").find("none of the measured points") != std::string::npos);
    CHECK(missText(missOf(sketch, x, x, true, true), "dispatches", "pieces").find("is right") !=
          std::string::npos);
}

TEST_CASE("what is sketched is measured, on the axes that were sketched on") {
    std::size_t sketched = 0;
    std::atomic<bool> stop = false;
    Machines machines(2, "");
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        CHECK(each->sketched.empty() == !each->x.sketched.has_value());
        CHECK(each->sketched.empty() == !each->y.sketched.has_value());
        if (each->sketched.empty()) continue;
        ++sketched;
        LabBench bench(
            machines, true, [](const std::string&) {}, stop);
        const LabResult result = runExperiment(*each, bench);
        const LabSeries* series = result.find(true, each->sketched);
        REQUIRE(series != nullptr);
        REQUIRE_FALSE(series->points.empty());
        const LabReach reach{bench.subgroupSize(), bench.software()};
        const PlotRange x = each->axes != nullptr ? each->axes(reach).x : *each->x.sketched;
        for (const LabPoint& point : series->points) {
            CHECK(point.x >= x.low);
            CHECK(point.x <= x.high);
        }
        Sketch exact;
        CHECK(sketchText(*each, result, exact).empty());
        exact =
            Sketch::fromJson(Json::array({{series->points.front().x, series->points.front().median}}), "one");
        CHECK(sketchText(*each, {}, exact).empty());
        CHECK(sketchText(*each, result, exact).find("is right") != std::string::npos);
    }
    CHECK(sketched >= 5);
}

TEST_CASE("in the window: the mouse draws, Undo takes a whole drag back, and Clear all of it") {
    const Folder folder;
    const auto save = [&](const char* name) { return "state " + folder.file(name) + "\n"; };
    const Outcome outcome = lockstep::test::showScript(
        folder, "parallelism",
        "drag sketch##parallelism 0.2 0.8\n" + save("drawn") +
            "move 0.5 0.75\ndown\nmove 0.6 0.85\nmove 0.7 0.68\nup\n" + save("over") + "key Ctrl+Z\n" +
            save("undone") + "click Clear sketch##parallelism\n" + save("cleared") + "key Ctrl+Z\n" +
            "click Measure##parallelism\nframes 3\ncontrols\n" + save("measured"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto sketch = [&](const char* name) {
        const Json state = Json::parse(contents(folder.file(name)))["exhibits"]["parallelism"];
        return state.contains("sketches") ? state["sketches"].value("launch", Json::array()) : Json::array();
    };
    const Json drawn = sketch("drawn");
    CHECK(drawn.size() > Sketch::columns / 3);
    CHECK(drawn.size() < Sketch::columns);
    for (const Json& point : drawn) CHECK(point[1] == drawn[0][1]); // the script drags along a row
    const Json over = sketch("over");
    CHECK(over != drawn);
    CHECK(over.front() == drawn.front()); // only a part was drawn again
    CHECK(sketch("undone") == drawn);
    CHECK(sketch("cleared").empty());
    CHECK(sketch("measured") == drawn);
    // What was measured cannot be predicted any more.
    const auto controls = lockstep::test::controlNames(outcome.out);
    CHECK(std::ranges::count(controls, "your sketch##lab") == 1);
    CHECK(std::ranges::count(controls, "lab") == 1);
    CHECK(std::ranges::count(controls, "sketch##parallelism") == 0);
}

TEST_CASE("a state with a broken sketch is refused, and leaves all as it was") {
    const Folder folder;
    Json state = Json::parse(contents(lockstep::test::stateOf("parallelism")));
    state["exhibits"]["parallelism"]["sketches"]["launch"] = Json::array({{1, 2}, {10, -1}});
    std::ofstream(folder.file("bad.json")) << state.dump();
    const Outcome outcome = lockstep::test::run("show " + folder.file("bad.json") + " --headless --frames 1");
    CHECK(outcome.code != 0);
    CHECK(outcome.says("sketch 'launch'"));
}

TEST_CASE("a prediction in the words of an earlier version is left out, and the rest comes back") {
    const Folder folder;
    Json state = Json::parse(contents(lockstep::test::stateOf("parallelism")));
    Json& parallelism = state["exhibits"]["parallelism"];
    parallelism["predictions"]["branches"] = "up to a third as many times as branches";
    parallelism["predictions"]["launch"] = "3 to 10 times";
    parallelism["sketches"]["launch"] = Json::array({{1, 2}, {10, 20}});
    std::ofstream(folder.file("old.json")) << state.dump();
    std::ofstream(folder.file("script.txt")) << "state " << folder.file("now.json") << "\n";
    const Outcome outcome = lockstep::test::run("show " + folder.file("old.json") + " --headless --script " +
                                                folder.file("script.txt"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const Json now = Json::parse(contents(folder.file("now.json")))["exhibits"]["parallelism"];
    CHECK(now["predictions"] == Json{{"launch", "3 to 10 times"}});
    CHECK(now["sketches"]["launch"].size() == 2);
    parallelism["predictions"]["launch"] = 3;
    std::ofstream(folder.file("old.json")) << state.dump();
    CHECK(lockstep::test::run("show " + folder.file("old.json") + " --headless --frames 1").code != 0);
}
