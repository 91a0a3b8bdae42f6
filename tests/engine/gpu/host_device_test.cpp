// Training on a device that the host has opened: the same bits, under the host's lock, with what the host
// enabled and no more, and it stays the host's.
#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "engine/gpu/device_features.h"
#include "engine/gpu/owned.h"
#include "engine/tune/kernel_cache.h"
#include "engine/tune/tuning.h"
#include "tests/data_files.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// What a game does before it draws. `change` may leave out what the engine wants.
class Host {
  public:
    using Change = std::function<void(gpu::DeviceFeatures&)>;
    explicit Host(const Change& change = [](gpu::DeviceFeatures&) {}) {
        const gpu::GlobalApi& loader = gpu::loadVulkan();
        auto application = gpu::structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
        application.apiVersion = VK_API_VERSION_1_2;
        auto instanceInfo = gpu::structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
        instanceInfo.pApplicationInfo = &application;
        given.getInstanceProcAddr = loader.GetInstanceProcAddr;
        REQUIRE(loader.CreateInstance(&instanceInfo, nullptr, &given.instance) == VK_SUCCESS);
        instanceApi = gpu::loadInstanceApi(loader.GetInstanceProcAddr, given.instance);
        const auto all = gpu::enumerate<VkPhysicalDevice>([&](auto* count, auto* out) {
            instanceApi.EnumeratePhysicalDevices(given.instance, count, out);
        });
        given.physical = all.at(testDevice().report().index);
        given.queueFamily = testDevice().queueFamily();
        wanted.emplace(loader.GetInstanceProcAddr, given.instance, given.physical);
        change(*wanted);
        const float priority = 1;
        queueInfo.queueFamilyIndex = given.queueFamily;
        queueInfo.queueCount = 1;
        queueInfo.pQueuePriorities = &priority;
        info.pNext = wanted->chain();
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queueInfo;
        info.enabledExtensionCount = static_cast<std::uint32_t>(wanted->extensions.size());
        info.ppEnabledExtensionNames = wanted->extensions.data();
        REQUIRE(instanceApi.CreateDevice(given.physical, &info, nullptr, &given.device) == VK_SUCCESS);
        api = gpu::loadDeviceApi(instanceApi, given.device);
        api.GetDeviceQueue(given.device, given.queueFamily, 0, &given.queue);
        given.queueMutex = &mutex;
        given.created = &info;
    }
    ~Host() {
        api.DestroyDevice(given.device, nullptr);
        instanceApi.DestroyInstance(given.instance, nullptr);
    }
    Host(const Host&) = delete;

    gpu::DeviceOptions options() const {
        gpu::DeviceOptions options;
        options.host = given;
        return options;
    }

    gpu::HostDevice given;
    gpu::InstanceApi instanceApi;
    gpu::DeviceApi api;
    std::mutex mutex;
    std::optional<gpu::DeviceFeatures> wanted;
    VkDeviceQueueCreateInfo queueInfo =
        gpu::structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    VkDeviceCreateInfo info = gpu::structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
};

std::vector<float> weightsAfter(gpu::Device& device, std::string_view rung) {
    const Dataset data = classData();
    const auto trainer = makeGpuTrainer(jobFor(data, {9, 6}), rung, device);
    trainer->run(12);
    return trainer->state().parameters;
}

} // namespace

TEST_CASE("a host's device trains to the bits of one of the engine's own, and is the host's afterwards") {
    Host host;
    {
        gpu::Device device(host.options());
        CHECK(device.handle() == host.given.device);
        CHECK(device.report().name == testDevice().report().name);
        CHECK(device.report().reason == "the host program's");
        CHECK(device.limits().pushDescriptors == testDevice().limits().pushDescriptors);
        CHECK(device.limits().halfArithmetic == testDevice().limits().halfArithmetic);
        CHECK(device.limits().matrixTiles.tile() == testDevice().limits().matrixTiles.tile());
        CHECK(device.limits().timestampBits == testDevice().limits().timestampBits);
        for (const char* rung : {"tiled", "texel", "whole-step"}) {
            CAPTURE(rung);
            CHECK(weightsAfter(device, rung) == weightsAfter(testDevice(), rung));
        }
    }
    CHECK(host.api.DeviceWaitIdle(host.given.device) == VK_SUCCESS); // it is still there
    gpu::Device again(host.options());
    CHECK(weightsAfter(again, "tiled") == weightsAfter(testDevice(), "tiled"));
}

TEST_CASE("training submits under the host's lock") {
    Host host;
    gpu::Device device(host.options());
    const Dataset data = classData();
    const auto trainer = makeGpuTrainer(jobFor(data, {9}), "tiled", device);
    trainer->run(1);
    trainer->finish();
    std::future<void> more;
    {
        const std::lock_guard lock(host.mutex);
        const std::uint64_t before = device.counters().submissions;
        more = std::async(std::launch::async, [&] {
            trainer->run(200);
            trainer->finish();
        });
        CHECK(more.wait_for(std::chrono::milliseconds(200)) == std::future_status::timeout);
        CHECK(device.counters().submissions == before);
    }
    more.get();
    CHECK(trainer->completedSteps() == 201);
}

TEST_CASE("what the host has not enabled is not used") {
    const std::vector<float> expected = weightsAfter(testDevice(), "tiled");
    Host plain([](gpu::DeviceFeatures& wanted) {
        wanted.extensions.clear();
        wanted.features.features = {};
        wanted.vulkan12.pNext = nullptr;
        wanted.vulkan12.shaderFloat16 = wanted.vulkan12.subgroupBroadcastDynamicId = VK_FALSE;
    });
    gpu::Device device(plain.options());
    const gpu::Limits& limits = device.limits();
    CHECK(limits.pushDescriptors == 0);
    CHECK_FALSE(limits.halfArithmetic);
    CHECK_FALSE(limits.doubleArithmetic);
    CHECK_FALSE(limits.dotProducts);
    CHECK_FALSE(limits.deviceClock);
    CHECK(limits.broadcastInvocations == 0);
    CHECK(limits.matrixTiles.dialect() == gpu::MatrixDialect::none);
    CHECK(weightsAfter(device, "tiled") == expected);

    Host timeless([](gpu::DeviceFeatures& wanted) { wanted.vulkan12.timelineSemaphore = VK_FALSE; });
    CHECK_THROWS_AS(gpu::Device{timeless.options()}, std::invalid_argument);
}

TEST_CASE("what is enabled is found in every structure that can say so") {
    gpu::Limits all;
    all.pushDescriptors = 32;
    all.broadcastInvocations = 4;
    all.halfArithmetic = all.doubleArithmetic = all.dotProducts = all.deviceClock = true;
    all.matrixTiles = {{16, 16, 16}, {16, 16, 16}, {16, 16, 32}, {16, 16, 32}};
    // What comes of limits where one structure after another is left out of the chain, and what is lost then.
    const gpu::DeviceFeatures wanted(all, {});
    VkDeviceCreateInfo info = gpu::structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = wanted.chain();
    info.enabledExtensionCount = static_cast<std::uint32_t>(wanted.extensions.size());
    info.ppEnabledExtensionNames = wanted.extensions.data();
    const auto enabled = [&] { return gpu::limitsEnabled(all, info); };
    CHECK(enabled().pushDescriptors == 32);
    CHECK(enabled().broadcastInvocations == 4);
    CHECK(enabled().halfArithmetic);
    CHECK(enabled().doubleArithmetic);
    CHECK(enabled().dotProducts);
    CHECK(enabled().deviceClock);
    CHECK(enabled().matrixTiles.nv == all.matrixTiles.nv);
    CHECK(enabled().matrixTiles.khrInt8 == all.matrixTiles.khrInt8);

    info.enabledExtensionCount = 0;
    CHECK(enabled().pushDescriptors == 0);
    const VkPhysicalDeviceFeatures none{};
    info.pEnabledFeatures = &none; // which then says it, and no VkPhysicalDeviceFeatures2
    CHECK_FALSE(enabled().doubleArithmetic);
    VkPhysicalDeviceFeatures doubles{};
    doubles.shaderFloat64 = VK_TRUE;
    info.pEnabledFeatures = &doubles;
    CHECK(enabled().doubleArithmetic);

    // A structure for each feature, as hosts of long ago have it.
    auto timeline = gpu::structure<VkPhysicalDeviceTimelineSemaphoreFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES);
    info.pNext = &timeline;
    CHECK_THROWS_AS(enabled(), std::invalid_argument);
    timeline.timelineSemaphore = VK_TRUE;
    CHECK_FALSE(enabled().halfArithmetic);
    CHECK_FALSE(enabled().dotProducts);
    CHECK_FALSE(enabled().deviceClock);
    CHECK(enabled().broadcastInvocations == 0);
    CHECK(enabled().matrixTiles.dialect() == gpu::MatrixDialect::none);
    auto halves = gpu::structure<VkPhysicalDeviceShaderFloat16Int8Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, &timeline);
    halves.shaderFloat16 = VK_TRUE;
    auto thirteen = gpu::structure<VkPhysicalDeviceVulkan13Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &halves);
    thirteen.shaderIntegerDotProduct = thirteen.computeFullSubgroups = VK_TRUE;
    auto matrices = gpu::structure<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, &thirteen);
    matrices.cooperativeMatrix = VK_TRUE;
    info.pNext = &matrices;
    CHECK(enabled().halfArithmetic);
    CHECK(enabled().dotProducts);
    CHECK(enabled().matrixTiles.dialect() == gpu::MatrixDialect::none); // without the memory model
    auto model = gpu::structure<VkPhysicalDeviceVulkanMemoryModelFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, &matrices);
    model.vulkanMemoryModel = model.vulkanMemoryModelDeviceScope = VK_TRUE;
    info.pNext = &model;
    CHECK(enabled().matrixTiles.khr == all.matrixTiles.khr);
    CHECK(enabled().matrixTiles.khrInt8 == gpu::MatrixTile{});
    halves.shaderInt8 = VK_TRUE;
    CHECK(enabled().matrixTiles.khrInt8 == all.matrixTiles.khrInt8);
    CHECK(enabled().matrixTiles.nv == gpu::MatrixTile{});
}

TEST_CASE("a host's device without an entry, or for drawing, is refused") {
    Host host;
    const auto refused = [&](auto change) {
        gpu::DeviceOptions options = host.options();
        change(options);
        CHECK_THROWS_AS(gpu::Device{options}, std::invalid_argument);
    };
    refused([](gpu::DeviceOptions& options) { options.host->getInstanceProcAddr = nullptr; });
    refused([](gpu::DeviceOptions& options) { options.host->device = VK_NULL_HANDLE; });
    refused([](gpu::DeviceOptions& options) { options.host->queue = VK_NULL_HANDLE; });
    refused([](gpu::DeviceOptions& options) { options.host->created = nullptr; });
    refused([](gpu::DeviceOptions& options) { options.host->queueFamily = 77; });
    refused([](gpu::DeviceOptions& options) { options.drawing = true; });
    refused([](gpu::DeviceOptions& options) { options.robust = true; });
}

TEST_CASE("nothing is written to the user's cache unless the host asks for it") {
    const CacheFolder folder; // where it would be
    const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder.path()), {}); };
    gpu::DeviceOptions options = testDeviceOptions();
    options.cacheFolder.clear();
    {
        gpu::Device device(options);
        const Dataset data = classData();
        const auto compared = [&] {
            Tuning tuning(600); // seconds: on a slow machine, too, it comes to its end
            makeGpuTrainer(jobFor(data, {9, 6}), Rung::best, device, {}, nullptr, 0, &tuning);
            return tuning.progress().kernels;
        };
        CHECK(compared() > 0);
        CHECK(compared() == 0); // what was chosen lasts as long as the process
        storePipelines(device);
        CHECK(files() == 0);
    }
    useCache(options);
    CHECK(options.cacheFolder == folder.path());
    gpu::Device device(options);
    weightsAfter(device, "best");
    storePipelines(device);
    CHECK(files() == 2);
}
