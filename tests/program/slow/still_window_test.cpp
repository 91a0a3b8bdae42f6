// A window that nobody touches: it draws a frame only where App::wantsFrame() asks for one, and still shows
// what its exhibits have finished.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "demos/kit/machines.h"
#include "demos/kit/worker.h"
#include "demos/lab/experiment.h"
#include "demos/shell/app.h"

using namespace lockstep;
using namespace lockstep::demos;
using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

namespace {

struct Window {
    const char* device = std::getenv("LOCKSTEP_TEST_DEVICE");
    Machines machines{0, device == nullptr ? "" : device};
    Graphics graphics{machines.openForDrawing({})};
    App app{graphics, machines};

    Window() { app.ui().masked = true; } // measured roughly

    void show(const char* exhibit, const Json& state) {
        app.setState({{"lockstep", 1}, {"exhibit", exhibit}, {"exhibits", {{exhibit, state}}}});
        app.frame(1280, 800, 1, 1.0 / 60);
        app.exhibit().run(app.ui());
    }
    /// As the window's loop without any input. Whether a frame has shown `done` before they stopped.
    bool shows(const std::function<bool()>& done) {
        const auto deadline = std::chrono::steady_clock::now() + 2min;
        auto last = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() < deadline) {
            if (app.wantsFrame()) {
                app.frame(1280, 800, 1, 1.0 / 60);
                last = std::chrono::steady_clock::now();
                if (done()) return true;
            } else if (std::chrono::steady_clock::now() > last + 3s) {
                return false; // and so it would stay
            }
            std::this_thread::sleep_for(5ms);
        }
        return false;
    }
    /// A value with that beginning has been measured.
    bool measured(const std::string& beginning) const {
        for (const auto& [name, value] : app.measured())
            if (name.starts_with(beginning) && value.known()) return true;
        return false;
    }
};

} // namespace

TEST_CASE("every experiment's result appears by itself") {
    Window window;
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        window.show("parallelism", {{"experiment", each->name}});
        CHECK(window.shows([&] { return !window.app.exhibit().running(); }));
        CHECK(window.measured("lab." + std::string(each->name) + "."));
    }
}

TEST_CASE("the cards of experiments move by themselves, and nothing is measured for them") {
    Window window;
    window.app.setState({{"lockstep", 1}, {"exhibit", "parallelism"}});
    int frames = 0;
    CHECK(window.shows([&] { return ++frames == 20; }));
    CHECK_FALSE(window.app.exhibit().running());
    CHECK_FALSE(window.measured("lab."));
}

TEST_CASE("every exhibit comes to its end by itself") {
    Window window;
    const auto ended = [&] { return !window.app.exhibit().running(); };
    window.show("race", {{"data", "circle"},
                         {"hidden", {8u}},
                         {"finish", {{"steps", 200u}}},
                         {"lanes", {"cpu:best", "gpu:naive"}}});
    CHECK(window.shows(ended));
    CHECK(window.measured("race.finished"));
    window.show("map", {{"picture", 256u}, {"steps", 5u}});
    CHECK(window.shows(ended));
    CHECK(window.measured("map.finished"));
    window.show("mosaic", {{"columns", 3u}, {"rows", 3u}, {"steps", 50u}});
    CHECK(window.shows(ended));
    CHECK(window.measured("mosaic.finished"));
}

TEST_CASE("a window's first map and mosaic are not empty, but nothing runs in them") {
    for (const char* exhibit : {"map", "mosaic"}) {
        CAPTURE(exhibit);
        Window window;
        window.app.ui().masked = false;
        Json state = Json::parse(R"({"lockstep": 1, "exhibits": {"map": {"picture": 256, "steps": 5},
            "mosaic": {"columns": 3, "rows": 3, "steps": 5000}}})");
        state["exhibit"] = exhibit;
        window.app.setState(state);
        window.app.frame(1280, 800, 1, 1.0 / 60);
        CHECK(window.shows([&] { return window.app.exhibit().trainedExamples() > 0; }));
        CHECK_FALSE(window.app.exhibit().running());
        CHECK_FALSE(window.measured(std::string(exhibit) + ".finished"));
    }
    Window masked;
    masked.app.setState({{"lockstep", 1}, {"exhibit", "map"}});
    masked.app.frame(1280, 800, 1, 1.0 / 60);
    CHECK_FALSE(masked.shows([&] { return masked.app.exhibit().trainedExamples() > 0; }));
}

TEST_CASE("a worker is at rest once its news was taken, and not before") {
    WorkQueue queue;
    CHECK(queue.idle());
    bool told = false;
    queue.post("", [&](const std::atomic<bool>&) { queue.tell([&] { told = true; }); });
    queue.wait();
    CHECK_FALSE(queue.idle());
    while (!queue.idle())
        for (const auto& news : queue.takeNews()) news();
    CHECK(told);
}
