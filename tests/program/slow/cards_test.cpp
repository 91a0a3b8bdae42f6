// The engine and the program on cards that nobody here has: the layer of tests/faults pretends to be them,
// and Khronos's validation, above it, holds the program to their limits, queues and memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/gpu/buffer.h"
#include "engine/gpu/error.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/gpu/recorder.h"
#include "engine/run/make_trainer.h"
#include "engine/step/gpu_memory.h"
#include "engine/step/rungs.h"
#include "engine/tune/kernel_cache.h"
#include "tests/faults/cards.h"
#include "tests/faults/provoke.h"
#include "tests/run_program.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;
using faults::Card;

namespace {

std::string cardFault(std::string_view id) { return "card:" + std::string(id); }

gpu::DeviceOptions drawingOptions() {
    gpu::DeviceOptions options;
    options.drawing = true;
    return options;
}

// Properties of the memory that a buffer of this kind gets.
VkMemoryPropertyFlags memoryOf(gpu::Device& device, gpu::Memory kind) {
    const gpu::Buffer buffer(device, 4096, kind, "a buffer");
    return Faults::report().memoryFlags;
}

/// Messages of the validation layer go to a file, in this process's children.
class ValidationFile {
  public:
    ValidationFile() {
        folder_.write(
            "vk_layer_settings.txt",
            "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n"
            "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
            "khronos_validation.report_flags = error,warn\n"
            "khronos_validation.log_filename = " +
                file() + "\n");
        setenv("VK_LAYER_SETTINGS_PATH", folder_.path().c_str(), 1);
    }
    ~ValidationFile() { unsetenv("VK_LAYER_SETTINGS_PATH"); }
    ValidationFile(const ValidationFile&) = delete;

    /// What the layer has said, which begins with an empty file.
    std::string take() const {
        REQUIRE(std::filesystem::exists(file()));
        const std::string text = contents(file());
        std::filesystem::remove(file());
        return text;
    }

  private:
    std::string file() const { return (folder_.path() / "messages.txt").string(); }
    TemporaryFolder folder_;
};

// In single precision.
std::string everyRung() {
    std::string lanes = " --lane cpu:scalar";
    for (const RungRow& row : rungTable)
        if (row.gpu() && row.trains && row.rung != Rung::matrix && row.rung != Rung::half)
            lanes += " --lane " + std::string(row.lane);
    return lanes;
}

void runOn(const Card& card, const std::string& arguments, const std::vector<std::string>& says) {
    const ValidationFile validation;
    const Faults faults(cardFault(card.id), Above::validation);
    const Outcome outcome = run(arguments);
    CAPTURE(arguments);
    CAPTURE(outcome.out + outcome.err);
    CHECK(outcome.code == 0);
    for (const std::string& text : says) CHECK(outcome.says(text));
    CHECK_FALSE(outcome.says("VK_LAYER_LOCKSTEP_faults:")); // leaks and misuses
    CHECK_FALSE(outcome.says("software"));
    for (const char* failure : {"has no memory", "did not finish"}) // which bench survives
        CHECK_FALSE(outcome.says(failure));
    CHECK(validation.take() == "");
}

} // namespace

TEST_CASE("a device is the card that the layer pretends, to the limits of the real one") {
    gpu::Device real(testDeviceOptions());
    for (const Card& card : faults::cards()) {
        CAPTURE(card.id);
        const Faults faults(cardFault(card.id));
        {
            const gpu::Device device(drawingOptions());
            const gpu::Limits& limits = device.limits();
            CHECK(device.report().name == card.name);
            CHECK(device.report().driver == std::string(card.driver) + " " + std::string(card.driverInfo));
            CHECK_FALSE(device.software());
            CHECK(limits.groupSize[2] == std::min(real.limits().groupSize[2], card.limits.groupSize[2]));
            CHECK(limits.storageAlignment ==
                  std::max<std::uint64_t>(real.limits().storageAlignment, card.limits.storageAlignment));
            CHECK(limits.storageBuffers ==
                  std::min(real.limits().storageBuffers, card.limits.storageBuffers));
            CHECK(limits.timestampNanoseconds == doctest::Approx(card.limits.tick));
            CHECK(limits.timestampBits == card.families[0].timestampValidBits);
        }
        checkNothingLeft();
    }
    const Faults unknown("card:voodoo-2");
    CHECK_THROWS_AS(gpu::Device{testDeviceOptions()}, gpu::GpuError);
}

TEST_CASE("drawing and training have a queue each wherever there are two") {
    for (const Card& card : faults::cards()) {
        CAPTURE(card.id);
        const Faults faults(cardFault(card.id));
        const gpu::Device device(drawingOptions());
        const gpu::DrawQueue& drawing = device.drawing();
        CHECK(drawing.shared == (card.id == "iris-xe")); // one queue in all
        CHECK((card.families[drawing.family].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0);
        CHECK((card.families[device.queueFamily()].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0);
        CHECK((drawing.family == device.queueFamily()) == drawing.shared);
    }
    const Faults faults("second-queue"); // of the software driver's only family
    const gpu::Device device(drawingOptions());
    CHECK_FALSE(device.drawing().shared);
    CHECK(device.drawing().family == device.queueFamily());
}

TEST_CASE("what the host reads is cached, what it writes is coherent, and special memory is left alone") {
    for (const Card& card : faults::cards()) {
        CAPTURE(card.id);
        const Faults faults(cardFault(card.id));
        {
            gpu::Device device(testDeviceOptions());
            CHECK((memoryOf(device, gpu::Memory::readback) & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0);
            CHECK((memoryOf(device, gpu::Memory::upload) & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0);
            CHECK((memoryOf(device, gpu::Memory::device) & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0);
        }
        checkNothingLeft(); // special memory would be a misuse
    }
}

TEST_CASE("training takes of every heap what was predicted, and finds room where the best heap has none") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {8});
    const StepKernels how{.layers = {}, .foldsUpdate = true, .half = false};
    for (const Card& card : faults::cards()) {
        CAPTURE(card.id);
        const Faults faults(cardFault(card.id));
        gpu::Device device(testDeviceOptions());
        const std::uint32_t heaps = device.memory().memoryHeapCount;
        const auto check = [&] {
            std::vector<std::uint64_t> expected =
                GpuMemory(device, job, Rung::wholeStep, how).heapBytes(device);
            for (std::uint32_t heap = 0; heap < heaps; ++heap)
                expected[heap] += device.counters().heapBytes[heap];
            CHECK_NOTHROW(requireMemory(device, job, Rung::wholeStep));
            const auto trainer = makeGpuTrainer(job, Rung::wholeStep, device);
            for (std::uint32_t heap = 0; heap < heaps; ++heap)
                CHECK(device.counters().heapBytes[heap] == expected[heap]);
        };
        check();
        // Other programs have filled all small heaps: small uploads go elsewhere.
        const auto size = [&](std::uint32_t heap) { return device.memory().memoryHeaps[heap].size; };
        for (std::uint32_t heap = 0; heap < heaps; ++heap)
            if (size(heap) <= std::uint64_t{256} << 20) device.counters().heapBytes[heap] += size(heap);
        check();
        for (std::uint32_t heap = 0; heap < heaps; ++heap)
            if (size(heap) <= std::uint64_t{256} << 20) device.counters().heapBytes[heap] -= size(heap);
    }
}

TEST_CASE("no more memory is taken than the driver's budget allows, and then the message says so") {
    constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
    for (const char* fault : {"budget:8", "card:rtx-3060,budget:8"}) {
        CAPTURE(fault);
        const Faults faults(fault);
        gpu::Device device(testDeviceOptions());
        CHECK(device.memoryLeft() == 8 * megabyte);
        const gpu::Buffer first(device, 3 * megabyte, gpu::Memory::device, "first");
        CHECK(device.memoryLeft() <= 5 * megabyte);
        try {
            const gpu::Buffer second(device, 9 * megabyte, gpu::Memory::device, "second");
            FAIL("nothing was thrown");
        } catch (const gpu::OutOfMemoryError& error) {
            CHECK(error.needed == 9 * megabyte);
            CHECK(error.available <= 8 * megabyte); // of a heap that holds nothing yet
        }
    }
    const Faults none("");
    gpu::Device device(testDeviceOptions());
    CHECK(device.memoryLeft() > 64 * megabyte);
}

TEST_CASE("every device keeps its own compiled pipelines") {
    const CacheFolder folder;
    const auto pipelinesOn = [](const std::string& fault) {
        const Faults faults(fault);
        gpu::DeviceOptions options;
        useCache(options);
        const gpu::Device device(options);
        const bool found = !options.pipelineCache(device.report()).empty();
        storePipelines(device);
        return found;
    };
    CHECK_FALSE(pipelinesOn("card:rtx-3060"));
    CHECK_FALSE(pipelinesOn("card:m1"));
    CHECK(pipelinesOn("card:rtx-3060"));
    CHECK(pipelinesOn("card:m1"));
}

TEST_CASE("a clock that wraps around within a second still measures") {
    const Faults faults("card:arc-a380"); // 36 bits; the layer's starts a second before their end
    gpu::Device device(testDeviceOptions());
    const gpu::Buffer buffer(device, 1 << 16, gpu::Memory::device, "filled");
    gpu::Recorder recorder(device);
    const auto begin = std::chrono::steady_clock::now();
    double longest = 0;
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1500)) {
        recorder.begin();
        recorder.fill(buffer.view(), 1);
        longest = std::max(longest, recorder.submitAndTime());
    }
    CHECK(longest > 0);
    CHECK(longest < 1500);
}

TEST_CASE("control: validation judges by the card's limits, not the driver's") {
    for (const char* id : {"m1", "rtx-3060"}) {
        CAPTURE(id);
        const Faults faults(cardFault(id), Above::validation);
        std::mutex mutex;
        std::vector<std::string> messages;
        gpu::DeviceOptions options;
        options.validation = true;
        options.messages = [&](const gpu::ValidationMessage& message) {
            const std::lock_guard lock(mutex);
            messages.push_back(message.id);
        };
        gpu::Device device(options);
        std::vector<VkDescriptorSetLayoutBinding> bindings;
        for (std::uint32_t binding = 0; binding < 32; ++binding)
            bindings.push_back(
                {binding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
        auto set = gpu::structure<VkDescriptorSetLayoutCreateInfo>(
            VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
        set.bindingCount = static_cast<std::uint32_t>(bindings.size());
        set.pBindings = bindings.data();
        const auto layout = gpu::create(device, device.vk().CreateDescriptorSetLayout,
                                        device.vk().DestroyDescriptorSetLayout, set, "layout");
        const VkDescriptorSetLayout handle = layout.get();
        auto info = gpu::structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
        info.setLayoutCount = 1;
        info.pSetLayouts = &handle;
        const auto pipeline = gpu::create(device, device.vk().CreatePipelineLayout,
                                          device.vk().DestroyPipelineLayout, info, "pipeline layout");
        CHECK(messages.empty() == (std::string(id) != "m1")); // which has 31 per stage
    }
}

TEST_CASE("on every card the program lists it, races, grows populations, draws maps, times and shows") {
    const CacheFolder folder;
    const std::string picture = (folder.path() / "picture.png").string();
    const std::string lab = (folder.path() / "lab").string();
    const std::string page = (folder.path() / "card.json").string();
    for (const Card& card : faults::cards()) {
        CAPTURE(card.id);
        const std::string name(card.word);
        runOn(card, "devices", {name});
        const std::string race = "race --quick --data circle --layers 8 --steps 20 --quiet";
        runOn(card, race + everyRung(), {name, "same mathematics: "});
        runOn(card, race + " --lane cpu:scalar --lane gpu:half", {"same mathematics in different precision"});
        runOn(card, "population --size 8x4 --layers 4 --steps 20 --quiet --lane cpu:best --lane gpu:best",
              {name, "same mathematics"});
        runOn(card,
              "map --network 2-4-1 --examples 6 --steps 40 --size 24x16 --quiet --lane cpu:best --lane "
              "gpu:best",
              {name, "same mathematics"});
        // What takes longest: every kernel on the card with the fewest means, after all rungs have raced on
        // each; every experiment there and on one that has memory and queues of its own.
        const bool fewest = card.id == "m1";
        const bool all = fewest || card.id == "rtx-3060";
        runOn(card,
              std::string("bench --widths 8,6,3 --batch 16 --seconds 0.01") +
                  (fewest ? "" : " --lane gpu:best --lane gpu:tiled"),
              {name});
        runOn(card, std::string("card --quick --quiet --seconds ") + (all ? "4" : "2") + " --json " + page,
              {name});
        const auto roofs = nlohmann::json::parse(contents(page))["parts"][0];
        CAPTURE(roofs.dump());
        REQUIRE(roofs["rows"][0]["name"] == "fp32");
        const auto& fp32 = roofs["rows"][0];
        CHECK((fp32["gpu"] > 0 || fp32.value("note", "") == "skipped: out of time")); // on a slow machine
        std::filesystem::remove_all(lab);
        if (all)
            runOn(card, "lab --quick --quiet --all " + lab, {name, "index.html"});
        else
            runOn(card, "lab launch --quick --quiet", {name});
        std::filesystem::remove(picture);
        runOn(card,
              "show " LOCKSTEP_SOURCE_DIR
              "/tests/window/inside.json --headless --size 640x480 --run --frames 6 "
              "--png " +
                  picture,
              {});
        CHECK(std::filesystem::exists(picture));
    }
}

TEST_CASE("a card's page goes on with the processor where the GPU is refused or lost") {
    const CacheFolder folder;
    const std::string page = (folder.path() / "card.json").string();
    const auto cardWith = [&](const char* fault) {
        const Faults faults(fault);
        const Outcome outcome = run("card --quick --quiet --seconds 20 --json " + page);
        CAPTURE(fault);
        CAPTURE(outcome.out + outcome.err);
        CHECK(outcome.code == 0);
        const auto json = nlohmann::json::parse(contents(page));
        CHECK(json["parts"][2]["rows"][0]["cpu"] > 0); // the first race
        CHECK(run("card --compare " + page + " " + page).code == 0);
        return json;
    };
    const auto refused = cardWith("vulkan-1.1");
    CHECK(refused["gpu"].is_null());
    CHECK(refused["no_gpu"].get<std::string>().find("1.2 is needed") != std::string::npos);
    const auto lost = cardWith("vkQueueSubmit:2"); // while roofs are measured
    CHECK_FALSE(lost["gpu"].is_null());
    const auto& roofs = lost["parts"][0]["rows"];
    CHECK(roofs.back()["note"] == "the GPU failed before");
}

// A layer cannot pretend another subgroup size: shaders get the driver's. Software Vulkan has three of them.
TEST_CASE("every rung agrees, and populations do, with subgroups of 4 and of 16 invocations") {
    if (testDevice().report().driver.find("llvmpipe") == std::string::npos) return; // a card has its own
    for (const auto& [bits, invocations] : {std::pair{"128", "4"}, {"512", "16"}}) {
        const std::string width = bits; // clang captures no structured bindings
        CAPTURE(width);
        const CacheFolder folder; // this driver would take what it compiled for another width
        const std::string environment = "LP_NATIVE_VECTOR_WIDTH=" + width;
        const Outcome devices = run("devices --json", environment);
        CHECK(devices.says(std::string("\"subgroup_size\": ") + invocations));
        const Outcome race =
            run("race --quick --data circle --layers 8 --steps 20 --quiet" + everyRung(), environment);
        CAPTURE(race.out + race.err);
        CHECK(race.code == 0);
        CHECK(race.says("same mathematics: "));
        const Outcome population =
            run("population --size 8x4 --layers 4 --steps 20 --quiet --lane cpu:best --lane gpu:best "
                "--lane gpu:invocation --lane gpu:subgroup --lane gpu:workgroup",
                environment);
        CAPTURE(population.out + population.err);
        CHECK(population.code == 0);
        CHECK(population.says("same mathematics"));
    }
}
