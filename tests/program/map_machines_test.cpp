// The map's machines: what is wrong with one, how long each has painted, how much it is given to do.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "tests/striped_map.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE(
    "another network begins anew, another resolution is seen scaled, and without the CPU only one paints") {
    Map map;
    map.finish();
    MapSettings settings = map.model.settings();
    settings.resolution = 512;
    map.model.change(settings);
    CHECK(known(map, MapMachine::gpu) == 0);
    CHECK_FALSE(std::isnan(map.model.grid(MapMachine::gpu).shown(0)));
    settings.cpu = false;
    map.model.change(settings);
    map.finish();
    CHECK(known(map, MapMachine::cpu) == 0);
    CHECK_FALSE(map.model.agreement().has_value());
    settings.job.hidden = 4;
    map.model.change(settings);
    CHECK(std::isnan(map.model.grid(MapMachine::gpu).shown(0)));
    settings.job.hidden = 1000;
    CHECK_THROWS_AS(map.model.change(settings), std::invalid_argument);
    CHECK(map.model.settings().job.hidden == 4);
}

TEST_CASE(
    "what is wrong with a machine is said once, the other goes on, and nothing is tried again by itself") {
    Map map;
    map.model.run();
    CHECK_THROWS_WITH(map.frameWithoutMemory(), "no memory");
    CHECK(map.model.side(MapMachine::gpu).failure == "no memory");
    CHECK_NOTHROW(map.frameWithoutMemory());
    CHECK(known(map, MapMachine::cpu) > 0);
    map.model.pause();
    map.model.run(); // a new attempt
    CHECK_THROWS(map.frameWithoutMemory());
}

TEST_CASE("without the device what was painted stays, and goes on") {
    Map map;
    map.model.run();
    map.frame();
    CHECK(map.model.releaseDevice());
    CHECK(known(map, MapMachine::gpu) == MapModel::networksOfStep);
    map.finish();
    CHECK_FALSE(map.model.releaseDevice());
    CHECK(map.trained == 2 * map.model.size().pixels());
}

TEST_CASE("a picture's time is its machine's, and none is told of one that two have painted") {
    Map map;
    const MapSide& gpu = map.model.side(MapMachine::gpu);
    const MapSide& cpu = map.model.side(MapMachine::cpu);
    CHECK(gpu.painter() == nullptr);
    map.finish();
    CHECK(gpu.pictureNetworks == map.model.size().pixels()); // over their time: the picture's rate
    REQUIRE(gpu.pictureSeconds.has_value());
    CHECK(gpu.pictureSeconds > 0);

    // Whole, it stays the old card's.
    map.model.releaseDevice();
    map.card = "another card";
    map.frame();
    REQUIRE(gpu.painter() != nullptr);
    CHECK(gpu.painter()->device == "a card");
    CHECK(gpu.pictureSeconds.has_value());

    map.model.reset();
    CHECK(gpu.painter() == nullptr);
    map.frame();
    CHECK(gpu.painter()->device == "another card");
    map.model.releaseDevice(); // lost, and made anew
    map.frame();
    CHECK(gpu.pictureSeconds.has_value());
    map.model.releaseDevice();
    map.card = "a third card";
    map.finish();
    CHECK(gpu.painter()->device == "a third card");
    CHECK_FALSE(gpu.pictureSeconds.has_value());
    CHECK(cpu.pictureSeconds.has_value()); // still the same processor
    CHECK(map.model.look(zoomed(map.model.window(), 0.5, 0.5, 0.5), true).empty());
    CHECK(gpu.pictureNetworks == 0);
    map.finish();
    CHECK(gpu.pictureSeconds.has_value());
    CHECK(map.model.pan({10, 0}, true).empty());
    map.finish();
    CHECK(gpu.pictureNetworks == map.model.size().pixels() + 10 * 256);
    CHECK(gpu.trained > gpu.pictureNetworks);
}

TEST_CASE("a machine that was taken away begins with nothing when it comes back") {
    Map map;
    map.finish();
    const MapSide& cpu = map.model.side(MapMachine::cpu);
    CHECK(cpu.pictureSeconds > 0);
    map.useCpu(false);
    map.useCpu(true);
    CHECK(cpu.pictureSeconds == 0);
    CHECK(cpu.trained == 0);
    CHECK(cpu.painter() == nullptr);
    map.finish();
    CHECK(cpu.trained == map.model.size().pixels());
}

TEST_CASE("a map at rest: a machine that has failed or is switched off has nothing left to do") {
    Map map;
    CHECK_FALSE(map.model.painting());
    map.model.run();
    CHECK(map.model.painting());
    CHECK_THROWS(map.frameWithoutMemory());
    CHECK(map.model.painting()); // the other one does
    while (!map.model.side(MapMachine::cpu).grid.complete()) map.frameWithoutMemory();
    CHECK_FALSE(map.model.complete());
    CHECK_FALSE(map.model.painting());
    map.model.run(); // a new attempt
    CHECK(map.model.painting());
    CHECK_THROWS(map.frameWithoutMemory());
    map.useCpu(false);
    CHECK_FALSE(map.model.painting());
}

TEST_CASE("a pace that a machine cannot keep up with piles up no work, and a slower one counts at once") {
    std::atomic<bool> open = false;
    Map map;
    map.useCpu(false);
    const auto hurry = [&] {
        open = false;
        map.model.setRate(300); // 5 steps in every frame
        map.model.run();
        for (int frame = 0; frame < 60; ++frame)
            map.model.update(
                [&](const MapJob& job, MapMachine) {
                    return [&, job] { return std::make_unique<Held>(job, map.trained, open); };
                },
                1.0 / 60, false);
    };
    const auto rest = [&] {
        open = true;
        open.notify_all();
        map.model.side(MapMachine::gpu).lane->wait();
    };
    hurry();
    rest();
    CHECK(map.trained > 0);
    CHECK(map.trained <= 2 * 5 * MapModel::networksOfStep);
    const std::size_t before = map.trained;
    hurry();
    map.model.setRate(1);
    rest();
    CHECK(map.trained - before <= 300); // the batch under way
}

TEST_CASE("a pace that a machine keeps up with is kept") {
    Map map;
    map.useCpu(false);
    map.model.setRate(60);
    map.model.run();
    for (int frame = 0; frame < 10; ++frame) map.frame();
    CHECK(map.trained >= 9 * MapModel::networksOfStep); // a frame's sixtieth is a little less than one
    CHECK(map.trained <= 10 * MapModel::networksOfStep);
}
