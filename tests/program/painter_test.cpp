// Frames on a device that does not finish them.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "engine/gpu/error.h"
#include "tests/canvas.h"
#include "tests/faults/provoke.h"

using namespace lockstep;
using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

gpu::DeviceOptions impatient() {
    gpu::DeviceOptions options = drawingOptions();
    options.waitLimit = std::chrono::milliseconds(300); // a busy machine must not look like a hanging one
    return options;
}

} // namespace

TEST_CASE("a frame that is never done is waited for as long as the device may take, and no longer") {
    using Clock = std::chrono::steady_clock;
    const Faults faults("hang:1");
    gpu::Device device(impatient());
    Graphics graphics(device);
    Canvas canvas(graphics, 16, 16);
    canvas.paint();
    const auto start = Clock::now();
    const auto look = [&canvas, start] {
        while (!canvas.painter.idle() && Clock::now() - start < std::chrono::seconds(10))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    CHECK_THROWS_WITH_AS(look(), doctest::Contains("did not finish a frame in time"), gpu::TimeoutError);
    CHECK(Clock::now() - start > std::chrono::milliseconds(250));
    CHECK(device.abandoned());
    CHECK(Faults::report().misuses == 0);
}

TEST_CASE("the time between frames does not count") {
    const Faults none("");
    gpu::Device device(impatient());
    Graphics graphics(device);
    Canvas canvas(graphics, 16, 16);
    for (int frame = 0; frame < 2; ++frame) {
        canvas.paint();
        canvas.painter.wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
        CHECK(canvas.painter.idle());
    }
}

TEST_CASE("memory that the host reads is cached, and memory that it only writes is coherent") {
    const Faults faults("card:rx-6600"); // whose first mappable type is not cached
    gpu::Device device(impatient());
    Graphics graphics(device);
    const HostBuffer read(graphics, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    CHECK((Faults::report().memoryFlags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0);
    const HostBuffer written(graphics, 4096, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    CHECK((Faults::report().memoryFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0);
}
