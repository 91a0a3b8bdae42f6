// Buffers that are lent to a frame must stay as they are until it is done. Software drivers, and a second
// queue that is pretended, run one thing after the other: only the layer sees who writes too early.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/draw/picture.h"
#include "demos/shell/app.h"
#include "engine/plane/plane_map.h"
#include "tests/canvas.h"
#include "tests/faults/provoke.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr std::uint32_t side = 16;
constexpr std::uint64_t pictureBytes = std::uint64_t{side} * side * 4;

std::uint64_t misuses() { return Faults::report().misuses; }

/// That of the windows' tests, training for longer than the test lasts.
nlohmann::ordered_json stateOf(const std::string& exhibit) {
    const std::string file = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/window/" + exhibit + ".json";
    auto state = nlohmann::ordered_json::parse(std::ifstream(file));
    if (exhibit == "mosaic") state["exhibits"][exhibit]["steps"] = 100000u;
    return state;
}

/// Two pictures' bytes, the first of them lent to a frame.
struct Lender {
    gpu::Device device{drawingOptions()};
    demos::Graphics graphics{device};
    Canvas canvas{graphics, side, side};
    gpu::Buffer bytes{device, 2 * pictureBytes, gpu::Memory::device, "lent"};
    gpu::BufferView lent = bytes.view(0, pictureBytes);
    gpu::BufferView kept = bytes.view(pictureBytes, pictureBytes);
    gpu::Recorder recorder{device};
    demos::Picture picture{graphics, side, side, false};
    ~Lender() { canvas.painter.wait(); }

    gpu::Ticket fill(const gpu::BufferView& view) {
        recorder.begin();
        recorder.fill(view, 0);
        return recorder.submit();
    }
    void show(gpu::Ticket ready, VkSemaphore rendered = VK_NULL_HANDLE) {
        picture.show(lent, ready);
        canvas.paint(ImDrawData(), rendered);
    }
};

} // namespace

TEST_CASE("a kernel that writes to bytes which a frame still copies from is found") {
    for (const std::string name : {"second-queue", "second-queue,no-push-descriptors", "card:m1"}) {
        for (const bool waits : {false, true}) {
            CAPTURE(name);
            CAPTURE(waits);
            const Faults faults(name);
            gpu::Device device(drawingOptions());
            REQUIRE_FALSE(device.drawing().shared);
            demos::Graphics graphics(device);
            Canvas canvas(graphics, side, side);
            const NetShape shape{{2, 4, 1}, Activation::tanh, Activation::tanh, Loss::meanSquared};
            PlaneMap map(device, shape, {PlaneFeature::x, PlaneFeature::y}, {side, 4});
            const std::vector<float> parameters(ParamLayout(shape).size());
            demos::Picture picture(graphics, side, side, false);
            for (int frame = 0; frame < 2; ++frame) {
                const gpu::Ticket ready =
                    map.compute(parameters, {}); // first: it decides which buffer is meant
                picture.show(map.outputPicture(), ready);
            }
            canvas.paint();
            CHECK(Faults::report().lent == 1);
            map.compute(parameters, {}); // into the other buffers
            CHECK(misuses() == 0);
            if (waits) canvas.painter.wait();
            map.compute(parameters, {});
            CHECK(misuses() == (waits ? 0 : 1));
            canvas.painter.wait();
        }
    }
}

TEST_CASE("a fill is found where it meets the picture's bytes, until the frame is seen to be done") {
    const Faults faults("second-queue");
    Lender lender;
    lender.show(lender.fill(lender.lent));
    lender.fill(lender.kept);
    CHECK(misuses() == 0);
    lender.fill(lender.lent);
    CHECK(misuses() == 1);
    lender.fill(lender.bytes.view());
    CHECK(misuses() == 2);
    while (!lender.canvas.painter.idle()) {
    }
    lender.fill(lender.lent);
    CHECK(misuses() == 2);
}

TEST_CASE("a frame waits for all that was submitted before and writes to what it copies") {
    const Faults faults("second-queue");
    Lender lender;
    const gpu::Ticket first = lender.fill(lender.lent);
    const gpu::Ticket second = lender.fill(lender.lent);
    lender.show(second);
    lender.canvas.painter.wait();
    CHECK(misuses() == 0);
    lender.fill(lender.lent);
    lender.show(second);
    CHECK(misuses() == 1);
    lender.canvas.painter.wait();
    lender.device.waitForAll();
    lender.show(first);
    CHECK(misuses() == 1);
}

TEST_CASE(
    "what waits for the frame on the device may write, and so may what comes after the frame on its queue") {
    {
        const Faults faults("second-queue");
        Lender lender;
        const gpu::DeviceApi& vk = lender.device.vk();
        const auto info = gpu::structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
        const auto drawn =
            gpu::create(lender.device, vk.CreateSemaphore, vk.DestroySemaphore, info, "semaphore");
        const VkSemaphore rendered = drawn.get();
        lender.show(lender.fill(lender.lent), rendered);
        VkQueue queue = VK_NULL_HANDLE;
        vk.GetDeviceQueue(lender.device.handle(), lender.device.queueFamily(), 0, &queue);
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        auto waiting = gpu::structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
        waiting.waitSemaphoreCount = 1;
        waiting.pWaitSemaphores = &rendered;
        waiting.pWaitDstStageMask = &stage;
        gpu::check(vk.QueueSubmit(queue, 1, &waiting, VK_NULL_HANDLE), "vkQueueSubmit");
        lender.fill(lender.lent);
        CHECK(misuses() == 0);
        lender.device.waitForAll();
    }
    const Faults faults("");
    Lender lender;
    REQUIRE(lender.device.drawing().shared);
    lender.show(lender.fill(lender.lent));
    lender.fill(lender.lent);
    CHECK(misuses() == 0);
}

// The map's picture comes from the host.
TEST_CASE("exhibits leave what they have lent alone until the frame is done") {
    for (const std::string name : {"second-queue", "card:m1"})
        for (const std::string exhibit : {"playground", "mosaic", "map"}) {
            CAPTURE(name);
            CAPTURE(exhibit);
            const Faults faults(name);
            demos::Machines machines(0, testDeviceOptions().select);
            demos::Graphics graphics(machines.openForDrawing({}));
            {
                demos::App app(graphics, machines);
                app.setState(stateOf(exhibit));
                Canvas canvas(graphics, 640, 480);
                // A lane of its own draws the mosaic's next pictures meanwhile.
                const std::chrono::milliseconds frameTime(exhibit == "mosaic" ? 300 : 5);
                const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
                const auto enough = [&] {
                    return Faults::report().lent >= 10 || exhibit == "map" ||
                           std::chrono::steady_clock::now() > end;
                };
                for (int frame = 0; frame < 12 || !enough(); ++frame) {
                    canvas.painter.wait();
                    const ImDrawData& data = app.frame(640, 480, 1, 1.0 / 30);
                    if (frame == 1) app.exhibit().run(app.ui());
                    if (frame % 7 < 5) canvas.paint(data); // a window sometimes has no image for it
                    std::this_thread::sleep_for(frameTime);
                }
                canvas.painter.wait();
            }
            CHECK((Faults::report().lent > 0) == (exhibit != "map"));
            CHECK(misuses() == 0);
        }
}
