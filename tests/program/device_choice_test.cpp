// Which device the window uses: the list to choose from, and when a lost one is given up.
#include <doctest/doctest.h>

#include "demos/shell/device_picker.h"
#include "demos/shell/program.h"
#include "engine/gpu/error.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

gpu::DeviceReport report(std::size_t index, const std::string& name, gpu::DeviceType type,
                         const std::string& uuid) {
    gpu::DeviceReport device;
    device.index = index;
    device.name = name;
    device.type = type;
    device.uuid = uuid;
    return device;
}

} // namespace

TEST_CASE("every device is a line, with what it is or why it cannot be used") {
    std::vector<gpu::DeviceReport> devices{
        report(0, "Big GPU", gpu::DeviceType::discrete, "0a"),
        report(1, "Small GPU", gpu::DeviceType::integrated, "0b"),
        report(2, "llvmpipe", gpu::DeviceType::software, "0c"),
        report(3, "Old GPU", gpu::DeviceType::discrete, "0d"),
    };
    devices[0].chosen = true;
    devices[3].refused = "its driver supports only Vulkan 1.1";
    const std::vector<DeviceLine> lines = deviceLines(devices, devices[1]);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].label == "0  Big GPU");
    CHECK(lines[0].remark == "discrete GPU");
    CHECK(lines[0].select.empty()); // it is the best anyway: nothing to be remembered
    CHECK(lines[1].select == "0b");
    CHECK(lines[1].current);
    CHECK_FALSE(lines[0].current);
    CHECK(lines[2].remark == "software, not a GPU");
    CHECK(lines[2].usable);
    CHECK_FALSE(lines[3].usable);
    CHECK(lines[3].remark.find("its driver supports only Vulkan 1.1") != std::string::npos);
}

TEST_CASE("the device in use is known by its UUID when others come or go") {
    const gpu::DeviceReport before = report(1, "GPU", gpu::DeviceType::discrete, "0b");
    const std::vector<gpu::DeviceReport> now{report(0, "GPU", gpu::DeviceType::discrete, "0b"),
                                             report(1, "llvmpipe", gpu::DeviceType::software, "0c")};
    const std::vector<DeviceLine> lines = deviceLines(now, before);
    CHECK(lines[0].current);
    CHECK_FALSE(lines[1].current);
}

TEST_CASE("devices that share a UUID, or have none, go by their numbers") {
    const std::vector<gpu::DeviceReport> twins{report(0, "GPU", gpu::DeviceType::discrete, "0a"),
                                               report(1, "GPU", gpu::DeviceType::discrete, "0a"),
                                               report(2, "GPU", gpu::DeviceType::discrete, "00")};
    const std::vector<DeviceLine> lines = deviceLines(twins, twins[1]);
    CHECK(lines[0].select == "0");
    CHECK(lines[1].select == "1");
    CHECK(lines[2].select == "2");
    CHECK_FALSE(lines[0].current);
    CHECK(lines[1].current);
}

TEST_CASE("what is lost three times within a minute is given up") {
    using namespace std::chrono_literals;
    const LossLimit::Clock::time_point start{};
    LossLimit limit;
    CHECK_FALSE(limit.exceededBy(start));
    CHECK_FALSE(limit.exceededBy(start + 30s));
    CHECK_FALSE(limit.exceededBy(start + 80s)); // the first is forgotten
    CHECK(limit.exceededBy(start + 85s));
    LossLimit seldom;
    for (int i = 0; i < 20; ++i) CHECK_FALSE(seldom.exceededBy(start + i * 31s));
}
