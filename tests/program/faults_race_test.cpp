// A race whose device is lost: what the window hears of it.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "demos/exhibits/race/race_model.h"
#include "engine/gpu/error.h"
#include "tests/faults/provoke.h"

using namespace lockstep;
using namespace lockstep::demos;
using namespace lockstep::test;

TEST_CASE("the loss of a device after the race is a message, not the loss of the window's device") {
    const CacheFolder folder;
    const Faults watching("");
    {
        Machines machines(1, "");
        RaceModel model;
        model.rough = true;
        model.settings.run.data = "circle";
        model.settings.run.hiddenWidths = {8};
        model.settings.run.finish.steps = 20;
        model.settings.run.lanes = {laneSpecFromText("gpu:naive")};
        const auto frame = [&] { model.update(machines, 1.0 / 60, true); };
        model.start();
        for (int i = 0; i < 200 && !(model.shown() && model.shown()->over); ++i) frame();
        REQUIRE(model.shown()->over);
        CHECK(model.shown()->lanes[0].end.status == LaneStatus::finished);

        Faults::failNext("vkQueueSubmit");
        ProbeWish answers;
        answers.rows = 10;
        std::string message;
        try {
            model.probe(answers, true);
            frame();
        } catch (const gpu::DeviceLostError& loss) {
            FAIL(std::string(loss.what()));
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK(message.starts_with("gpu:naive: "));
        CHECK(message.find("VK_ERROR_DEVICE_LOST") != std::string::npos);
        CHECK_NOTHROW(frame()); // said once
    }
    checkNothingLeft();
}
