// The map without its looks: pixels are trained coarse to fine and none twice, windows come and go, and what
// still holds is kept; its settings, its words, and its picture in a file.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "demos/exhibits/map/map_lane.h"
#include "tests/data_files.h"
#include "tests/striped_map.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("pixels are trained coarse to fine, every one once") {
    for (const MapSize size : {MapSize{64, 64}, MapSize{1, 1}, MapSize{33, 17}, MapSize{100, 5}}) {
        CAPTURE(size.width);
        OutcomeGrid grid(size);
        const std::vector<std::uint32_t> order = grid.missing();
        CHECK(order.size() == size.pixels());
        CHECK(std::set(order.begin(), order.end()).size() == order.size());
        std::size_t seen = 0; // those of every 16th row and column come first
        while (seen < order.size() && order[seen] % size.width % 16 == 0 &&
               order[seen] / size.width % 16 == 0)
            ++seen;
        CHECK(seen == static_cast<std::size_t>((size.width + 15) / 16) * ((size.height + 15) / 16));
        for (std::size_t i = 0; i < seen; ++i) grid.set(order[i], 0.25f);
        for (std::uint32_t index = 0; index < size.pixels(); ++index) CHECK(grid.shown(index) == 0.25f);
        for (const std::uint32_t index : grid.missing()) grid.set(index, -1.0f);
        CHECK(grid.complete());
        CHECK(grid.missing().empty());
        CHECK(grid.shown(0) == 0.25f);
    }
}

TEST_CASE("a finer pixel is never painted over by a coarser one") {
    OutcomeGrid grid({32, 32});
    grid.set(8 * 32 + 8, -2.0f);
    grid.set(0, 0.5f); // the first pixel of a block of 16 x 16
    CHECK(grid.shown(9 * 32 + 9) == -2.0f);
    CHECK(grid.shown(1) == 0.5f);
    CHECK(std::isnan(grid.shown(20)));
    CHECK(grid.takeChangedRows().size() == 32);
    grid.set(20 * 32, 0.1f);
    CHECK(grid.takeChangedRows().size() == 4);
    CHECK_FALSE(grid.changed());
}

TEST_CASE("panning keeps what stays inside, at both edges, and the picture fills up again") {
    OutcomeGrid grid({40, 24});
    for (const std::uint32_t index : grid.missing()) grid.set(index, static_cast<float>(index));
    grid.pan({7, -3});
    CHECK(grid.known() == (40 - 7) * (24 - 3));
    CHECK(grid.shown(7) == static_cast<float>(3 * 40));
    CHECK(grid.missing().size() == 40 * 24 - grid.known());
    // The first pixels of what is missing are those of the coarsest lattice, and leave no hole at the edge.
    for (const std::uint32_t index : grid.missing()) {
        grid.set(index, 0.5f);
        if (!std::isnan(grid.shown(0))) break;
    }
    CHECK_FALSE(grid.trained(0));
    grid.pan({-100, 0});
    CHECK(grid.known() == 0);
    CHECK(std::isnan(grid.shown(0)));
}

TEST_CASE("another window shows what was seen, scaled, and has it trained anew") {
    const MapWindow whole{-2, 2, -2, 2};
    OutcomeGrid grid({16, 16});
    for (const std::uint32_t index : grid.missing()) grid.set(index, index / 16 < 8 ? 0.5f : -3.0f);
    grid.look(whole, {-1, 1, -1, 1}, {32, 32});
    CHECK(grid.known() == 0);
    CHECK(grid.shown(0) == 0.5f);
    CHECK(grid.shown(31 * 32) == -3.0f);
    grid.look({-1, 1, -1, 1}, {-10, 10, -10, 10}, {32, 32});
    CHECK(std::isnan(grid.shown(0)));
    CHECK_FALSE(std::isnan(grid.shown(16 * 32 + 16)));
}

TEST_CASE("a frame of a script trains a step's networks on each machine, and the picture becomes whole") {
    Map map;
    map.model.step();
    map.frame();
    CHECK(map.trained == 2 * MapModel::networksOfStep);
    CHECK(known(map, MapMachine::gpu) == MapModel::networksOfStep);
    CHECK_FALSE(map.model.busy());
    map.frame();
    CHECK(map.trained == 2 * MapModel::networksOfStep); // it does not run
    map.finish();
    CHECK(map.trained == 2 * map.model.size().pixels());
    CHECK(map.right(MapMachine::gpu));
    REQUIRE(map.model.agreement().has_value());
    CHECK(map.model.agreement()->identical == map.model.size().pixels());
    CHECK_FALSE(map.model.busy());
    map.model.reset();
    CHECK(known(map, MapMachine::gpu) == 0);
}

TEST_CASE("a complete picture is surveyed: the share that diverged, and how often lines cross the border") {
    Map map;
    map.model.step();
    map.frame();
    CHECK_FALSE(map.model.survey().has_value());
    map.finish();
    REQUIRE(map.model.survey().has_value()); // one straight border, from top to bottom
    const MapSize size = map.model.size();
    const MapWindow window = map.model.window();
    const double left = -window.left / (window.right - window.left);
    CHECK(map.model.survey()->divergedShare == doctest::Approx(1 - left).epsilon(0.02));
    CHECK(map.model.survey()->crossings ==
          doctest::Approx(static_cast<double>(size.height) / (size.width + size.height)));
    CHECK(map.model.look(zoomed(window, 0.1, 0.5, 0.1), true).empty());
    CHECK_FALSE(map.model.survey().has_value());
    map.finish();
    REQUIRE(map.model.survey().has_value()); // all of it on one side of the border
    CHECK(map.model.survey()->divergedShare == 0);
    CHECK(map.model.survey()->crossings == 0);

    OutcomeGrid board({4, 2}); // every pixel differs from its neighbours
    for (const std::uint32_t index : board.missing())
        board.set(index, (index + index / 4) % 2 == 0 ? 0.5f : -3.0f);
    CHECK(surveyOf(board).divergedShare == 0.5);
    CHECK(surveyOf(board).crossings == doctest::Approx((2 * 3 + 4 * 1) / 6.0));
}

TEST_CASE("without being waited for, the machines run by themselves") {
    Map map;
    map.model.run();
    while (!map.model.complete()) map.frame(false);
    CHECK(map.right(MapMachine::gpu));
    CHECK(map.right(MapMachine::cpu));
    CHECK(map.trained == 2 * map.model.size().pixels());
    // Zooms and moves in the midst of it leave nothing behind that belongs elsewhere.
    for (int turn = 0; turn < 20; ++turn) {
        CHECK(map.model.look(zoomed(map.model.window(), 0.3, 0.6, 0.7), true).empty());
        map.frame(false);
        CHECK(map.model.pan({turn - 10, 3 * turn}, false).empty());
        map.frame(false);
    }
    while (!map.model.complete()) map.frame(false);
    CHECK(map.right(MapMachine::gpu));
    CHECK(map.right(MapMachine::cpu));
}

TEST_CASE("moving the picture trains only what comes into it") {
    Map map;
    map.finish();
    const std::size_t before = map.trained;
    CHECK(map.model.pan({10, 0}, true).empty());
    CHECK_FALSE(map.model.complete());
    map.finish();
    CHECK(map.trained == before + 2 * 10 * 256);
    CHECK(map.right(MapMachine::gpu));
}

TEST_CASE("back and forth as in a browser") {
    Map map;
    const MapWindow first = map.model.window();
    CHECK_FALSE(map.model.history().canGoBack());
    CHECK(map.model.look(zoomed(first, 0.5, 0.5, 0.5), true).empty());
    const MapWindow second = map.model.window();
    CHECK(map.model.look(zoomed(second, 0.5, 0.5, 0.5), false).empty()); // the same turn of the wheel
    const MapWindow third = map.model.window();
    map.model.goBack();
    CHECK(map.model.window() == first);
    CHECK_FALSE(map.model.history().canGoBack());
    map.model.goForward();
    CHECK(map.model.window() == third);
    map.model.goBack();
    CHECK(map.model.look(zoomed(first, 0, 0, 0.5), true).empty());
    CHECK_FALSE(map.model.history().canGoForward());
}

TEST_CASE("going back leads to networks that were seen, not only to their window") {
    Map map;
    const MapSettings first = map.model.settings();
    MapSettings settings = first;
    settings.job.activation = Activation::relu; // the same window
    map.model.change(settings);
    settings.job = mapPresets()[6].job;
    settings.window = mapPresets()[6].window;
    REQUIRE(settings.job.axes != first.job.axes);
    map.model.change(settings);
    CHECK(map.model.look(zoomed(map.model.window(), 0.5, 0.5, 0.5), true).empty());
    const MapWindow last = map.model.window();
    map.finish();

    map.model.goBack();
    CHECK(map.model.settings().job == settings.job);
    CHECK(map.model.window() == fitted(settings.window, map.model.size()));
    map.model.goBack();
    CHECK(map.model.settings().job.activation == Activation::relu);
    CHECK(map.model.settings().job.axes == first.job.axes);
    const std::uint32_t seen = 170 * 256 + 128;                     // (1.5, 0) lies in both windows
    CHECK(std::isnan(map.model.grid(MapMachine::gpu).shown(seen))); // other networks' outcomes are gone
    map.model.goBack();
    CHECK(map.model.settings().job == first.job);
    CHECK(map.model.window() == first.window);
    CHECK_FALSE(map.model.history().canGoBack());
    map.finish();
    CHECK(map.right(MapMachine::gpu));
    for (int turn = 0; turn < 3; ++turn) map.model.goForward();
    CHECK(map.model.settings().job == settings.job);
    CHECK(map.model.window() == last);
    CHECK_FALSE(map.model.history().canGoForward());
}

TEST_CASE("a slider's way through its numbers is no journey, and a saved map has no past") {
    Map map;
    MapSettings settings = map.model.settings();
    for (std::uint32_t steps = 50; steps < 60; ++steps) {
        settings.job.steps = steps;
        settings.job.examples = steps;
        map.model.change(settings);
    }
    CHECK_FALSE(map.model.history().canGoBack());
    ++settings.job.seed;
    map.model.change(settings);
    CHECK(map.model.history().canGoBack());
    settings.job.axes = MapAxes::rateAndScale;
    map.model.begin(settings);
    CHECK(map.model.settings() == settings);
    CHECK_FALSE(map.model.history().canGoBack());
}

TEST_CASE("the zoom ends where fp32 does, and says so; the way out stays open") {
    Map map;
    std::string refused;
    int zooms = 0;
    while (refused.empty() && ++zooms < 200)
        refused = map.model.look(zoomed(map.model.window(), 0.5, 0.5, 0.8), false);
    CHECK(refused.find("fp32") != std::string::npos);
    CHECK(zooms > 10);
    CHECK(zooms < 100);
    CHECK(map.model.closest());
    MapSettings settings = map.model.settings();
    settings.resolution = 1024; // of smaller pixels
    map.model.change(settings);
    CHECK(map.model.look(zoomed(map.model.window(), 0.5, 0.5, 2), true).empty());
    while (refused.find("10^30") == std::string::npos)
        refused = map.model.look(zoomed(map.model.window(), 0.5, 0.5, 2), false);
    CHECK(map.model.window().right <= 30);
}

TEST_CASE("a picture that fits its pane shows all of the window, and more where the pane is longer") {
    Map map;
    MapSettings settings = map.model.settings();
    settings.resolution = 0;
    map.model.change(settings);
    map.model.setRoom({300, 100});
    CHECK(map.model.size() == MapSize{300, 100});
    const MapWindow wide = map.model.window();
    CHECK(wide.top - wide.bottom == doctest::Approx(settings.window.top - settings.window.bottom));
    CHECK(wide.right - wide.left == doctest::Approx(3 * (wide.top - wide.bottom)));
    map.model.setRoom({100, 100});
    CHECK(map.model.window() == settings.window); // and shrinks with it again
}

TEST_CASE("a finished picture outlasts another room; only a new one fits it") {
    Map map;
    MapSettings settings = map.model.settings();
    settings.resolution = 0;
    map.model.change(settings);
    map.model.setRoom({120, 90});
    map.finish();
    const MapWindow window = map.model.window();
    const std::size_t trained = map.trained;
    map.model.setRoom({80, 90}); // a panel opens beside it, or the window is resized
    map.frame();
    CHECK(map.model.complete());
    CHECK(map.model.survey().has_value());
    CHECK(map.model.size() == MapSize{120, 90});
    CHECK(map.model.window() == window);
    CHECK(map.trained == trained);
    settings.bookmarks.push_back({settings.place(), "here"}); // nor does it look elsewhere for that
    map.model.change(settings);
    map.model.setRoom({120, 90});
    map.model.setRoom({80, 90});
    CHECK(map.model.complete());
    CHECK(map.model.pan({5, 0}, true).empty()); // what stays inside stays trained
    CHECK(map.model.size() == MapSize{120, 90});
    map.finish();
    CHECK(map.trained == trained + 2 * 5 * 90);
    CHECK(map.model.look(zoomed(map.model.window(), 0.5, 0.5, 0.5), true).empty());
    CHECK(map.model.size() == MapSize{80, 90}); // another picture fits
    map.finish();
    map.model.setRoom({120, 90});
    CHECK(map.model.size() == MapSize{80, 90});
    CHECK(map.model.keepsForm());
    map.model.pause();
    map.model.reset();
    CHECK_FALSE(map.model.keepsForm());
    CHECK(map.model.size() == MapSize{120, 90});
    map.model.step();
    map.frame();
    map.model.setRoom({100, 90}); // a preview is soon made again
    CHECK(map.model.size() == MapSize{100, 90});
    map.model.step();
    map.model.step();
    map.frame();
    map.model.setRoom({120, 90});
    CHECK(map.model.size() == MapSize{100, 90}); // more of it is not
}

TEST_CASE("which machine painted faster is said with what stands in for a GPU") {
    Map map;
    CHECK(mapSpeedText(map.model).empty());
    map.useCpu(false);
    map.finish();
    CHECK(mapSpeedText(map.model).empty());
}

TEST_CASE("settings come back from JSON, and what is wrong names its field") {
    MapSettings settings;
    settings.job.axes = MapAxes::rateAndScale;
    settings.job.steps = 77;
    settings.window = {0.1, 0.30000000000000004, -1, -0.5};
    settings.resolution = 1024;
    settings.cpu = false;
    settings.bookmarks.push_back({mapPresets()[1].place(), "an edge"});
    CHECK(mapSettingsFromJson(toJson(settings)) == settings);
    CHECK(mapSettingsFromJson(nlohmann::ordered_json::object()) == MapSettings());
    for (const char* wrong :
         {"[]", R"({"network": [8]})", R"({"network": [8, 900]})", R"({"axes": "rate"})",
          R"({"window": [0, 1, 2]})", R"({"window": [1, 0, 0, 1]})", R"({"window": [0, 1e300, 0, 1]})",
          R"({"picture": 300})", R"({"steps": -1})", R"({"bookmarks": [{}]})", R"({"bookmarks": 3})",
          R"({"cpu": 1})", R"({"activation": "sigmoid"})"})
        CHECK_THROWS_AS(mapSettingsFromJson(nlohmann::ordered_json::parse(wrong)), std::invalid_argument);
}

TEST_CASE("a pixel in words") {
    MapJob job;
    OutcomeGrid grid({16, 16});
    grid.set(0, 0.5f);
    CHECK(grid.shown(1) == 0.5f); // its neighbour's
    CHECK(endingText(job, grid.outcome(1)) == "not trained yet");
    CHECK(endingText(job, grid.outcome(0)) == "converged: mean loss 50 % of initial");
    CHECK(endingText(job, 0.03f) == "converged: mean loss 3 % of initial");
    CHECK(endingText(job, -11.5f) == "diverged at step 12");
    CHECK(endingText(job, -200.0f) == "no better at the end than at the start");
    MapAgreement agreement{.both = 1000, .sameEnding = 999, .alike = 990, .identical = 900};
    CHECK(agreementText(agreement).starts_with("On CPU and GPU, 99.90 % of the networks ended the same way"));
    CHECK(agreementText(agreement).find("For 99.00 %") != std::string::npos);
    agreement.identical = 1000;
    CHECK(agreementText(agreement).find("to the last bit") != std::string::npos);
    CHECK(hyperparameterText(-3, 6) == "0.001");
    CHECK(hyperparameterText(6, 9) == "1,000,000");
    CHECK(hyperparameterText(std::log10(231.0), 2) == "230");
    CHECK(hyperparameterText(std::log10(99.9), 2) == "100");
    CHECK(hyperparameterText(0, 6) == "1");
    CHECK(hyperparameterText(-20, 6) == "10⁻²⁰");
    CHECK(hyperparameterText(std::log10(1234.5678), 1e-4) == "1,234.6");
    CHECK(mapSizeFromText("4096") == MapSize{4096, 4096});
    CHECK(mapSizeFromText("1,920 x 1,080") == MapSize{1920, 1080});
    for (const char* wrong : {"", "0", "x", "5000", "10x", "10x10x10", "-1"})
        CHECK_THROWS_AS(mapSizeFromText(wrong), std::invalid_argument);
}

TEST_CASE("the loss curve of one network ends as its training did") {
    const MapJob job = MapSettings().job;
    MapProbe probe;
    probe.update(job, {0.1f, 0.1f}, true);
    REQUIRE(probe.curve().has_value());
    CHECK(probe.curve()->losses.size() == job.steps);
    CHECK(probe.curve()->losses.back() < probe.curve()->losses.front());
    probe.update(job, {1e6f, 1e6f}, true);
    const std::size_t steps = probe.curve()->losses.size();
    CHECK(steps < job.steps);
    const auto ended = static_cast<double>(-plainMapOutcome(job, {1e6f, 1e6f}));
    CHECK(std::ceil(ended) == static_cast<double>(steps - 1));
}

TEST_CASE("a picture of any size is trained in the background, can be stopped, and is whole or not there") {
    const lockstep::test::TemporaryFolder folder;
    std::atomic<std::size_t> trained = 0;
    const MapJob job;
    const auto make = [&] { return std::make_unique<Striped>(job, trained); };
    const std::filesystem::path file = folder.path() / "map.png";
    MapExport saving;
    saving.start({file, {{job, {}}, {300, 170}}}, make);
    const auto saved = saving.takeFinished(true);
    REQUIRE(saved.has_value());
    CHECK(trained == 300 * 170);
    CHECK(std::filesystem::file_size(file) > 100);
    CHECK_FALSE(saving.busy());

    saving.start({folder.path() / "large.png", {{job, {}}, {4096, 4096}}}, make);
    saving.cancel();
    CHECK_FALSE(saving.takeFinished(true).has_value());
    CHECK_FALSE(std::filesystem::exists(folder.path() / "large.png"));
    saving.start({folder.path() / "none" / "map.png", {{job, {}}, {8, 8}}}, make);
    CHECK_THROWS(saving.takeFinished(true));
    CHECK_FALSE(saving.busy());
}
