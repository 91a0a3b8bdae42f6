// What the engine makes of bad devices, lost devices, hanging devices and full ones. The faults come from a
// Vulkan layer (tests/faults), the engine is the one that everybody uses.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "engine/gpu/buffer.h"
#include "engine/gpu/error.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/run/make_trainer.h"
#include "engine/run/race.h"
#include "tests/faults/provoke.h"
#include "tests/sanitized.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr std::uint64_t steps = 12;
constexpr std::string_view sweepRung = "naive"; // its kernels compile fastest

struct Training {
    CacheFolder cache;
    Dataset data = classData();
    TrainJob job = jobFor(data, {9});
};

struct Result {
    std::vector<LossPoint> losses;
    TrainerState state;
    Evaluation evaluation;
};

bool same(const Result& a, const Result& b) {
    return lossDistance(a.losses, b.losses) == 0 && sameBits(a.state, b.state) &&
           a.evaluation.loss == b.evaluation.loss && a.evaluation.confusion == b.evaluation.confusion;
}

Result trainOn(gpu::Device& device, const TrainJob& job, std::string_view rung = sweepRung,
               const TrainerState* start = nullptr, std::uint64_t count = steps) {
    const std::unique_ptr<Trainer> trainer = makeGpuTrainer(job, rung, device);
    if (start != nullptr) trainer->restore(*start);
    Result result;
    for (std::uint64_t step = 0; step < count; ++step) trainer->run(1); // many small submissions
    trainer->finish();
    trainer->takeLosses(result.losses);
    result.state = trainer->state();
    result.evaluation = trainer->evaluate(Split::test);
    return result;
}

Result trainOnNewDevice(const TrainJob& job, std::string_view rung = sweepRung) {
    gpu::Device device(testDeviceOptions());
    return trainOn(device, job, rung);
}

enum class Outcome { fine, lost, timeout, outOfMemory, other };

template <class Call> Outcome outcomeOf(Call&& call) {
    try {
        call();
    } catch (const gpu::DeviceLostError&) {
        return Outcome::lost;
    } catch (const gpu::TimeoutError&) {
        return Outcome::timeout;
    } catch (const gpu::OutOfMemoryError&) {
        return Outcome::outOfMemory;
    } catch (const std::exception& error) {
        MESSAGE(error.what());
        return Outcome::other;
    }
    return Outcome::fine;
}

std::string noDeviceMessage() {
    try {
        const gpu::Device device(testDeviceOptions());
    } catch (const gpu::NoDeviceError& error) {
        return error.what();
    }
    return "";
}

std::string contentsOf(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the layer is active and rejects an unknown fault") {
    const Training training;
    const Result expected = trainOnNewDevice(training.job);
    {
        const Faults none("");
        CHECK(same(trainOnNewDevice(training.job), expected));
        CHECK(Faults::report().devices == 1);
        CHECK(Faults::report().creations > 30);
        CHECK(Faults::report().submissions >= steps);
        checkNothingLeft();
    }
    const Faults misspelt("no-devise");
    CHECK_THROWS_AS(gpu::Device{testDeviceOptions()}, gpu::GpuError);
}

TEST_CASE("the layer detects leaked objects") {
    const Faults none("");
    {
        gpu::Device device(testDeviceOptions());
        auto info = gpu::structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
        VkCommandPool forgotten = VK_NULL_HANDLE;
        REQUIRE(device.vk().CreateCommandPool(device.handle(), &info, nullptr, &forgotten) == VK_SUCCESS);
    }
    CHECK(Faults::report().leaked == 1);
}

TEST_CASE("a missing device is an error that says what to install") {
    for (const char* fault : {"no-device", "empty-device-list", "incompatible-driver"}) {
        CAPTURE(fault);
        const Faults faults(fault);
        CHECK(contains(noDeviceMessage(), "mesa-vulkan-drivers"));
        CHECK(gpu::listDevices(testDeviceOptions()).empty());
    }
}

TEST_CASE("a device that is too old is listed with the reason and not used") {
    const Faults faults("vulkan-1.1");
    CHECK(contains(noDeviceMessage(), "its driver supports only Vulkan 1.1.200, but 1.2 is needed"));
    const std::vector<gpu::DeviceReport> devices = gpu::listDevices(testDeviceOptions());
    REQUIRE_FALSE(devices.empty());
    for (const gpu::DeviceReport& device : devices) {
        CHECK_FALSE(device.chosen);
        CHECK(contains(device.refused, "1.2 is needed"));
    }
}

TEST_CASE("devices with minimal features train to bit-identical results") {
    const Training training;
    const Result expected = trainOnNewDevice(training.job);
    const std::string everything = "low-limits,no-timestamps,no-push-descriptors,non-coherent,staged";
    const auto check = [&](const std::string& fault, std::string_view rung) {
        CAPTURE(fault);
        CAPTURE(rung);
        const Faults faults(fault);
        CHECK(same(trainOnNewDevice(training.job, rung), expected));
        const bool nonCoherent = contains(fault, "non-coherent");
        CHECK((Faults::report().flushes > 0) == nonCoherent);
        CHECK((Faults::report().invalidations > 0) == nonCoherent);
        checkNothingLeft();
    };
    for (const char* fault : {"non-coherent", "staged", "non-coherent,staged", "no-timestamps",
                              "no-push-descriptors", "low-limits"})
        check(fault, "tiled");
    for (const char* rung : {"one", "naive-strided", "naive", "tiled", "pipelined", "blocked", "texel",
                             "subgroup", "fused", "whole-step", "best"})
        check(everything, rung);
    const Result halves = trainOnNewDevice(training.job, "half");
    const Faults faults(everything);
    CHECK(same(trainOnNewDevice(training.job, "half"), halves));
    checkNothingLeft();
}

TEST_CASE("damaged and unwritable caches are ignored") {
    const Training training;
    gpu::Device device(testDeviceOptions());
    const Result expected = trainOn(device, training.job, "best");
    const auto file = training.cache.path() / "kernels.json";
    const std::string whole = contentsOf(file);
    const std::string identity = gpu::cacheIdentity(device.report());
    REQUIRE(contains(whole, identity));
    for (const std::string& damaged :
         {std::string(), whole.substr(0, whole.size() / 2), std::string("[1, 2]"), std::string("\xff\xfe"),
          "{\"" + identity + "\": 3}", "{\"" + identity + "\": {\"forward\": {\"rung\": 1}}}"}) {
        CAPTURE(damaged);
        std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
        CHECK(same(trainOn(device, training.job, "best"), expected));
        CHECK(contains(contentsOf(file), identity)); // written anew
    }
    std::filesystem::remove(file);
    std::filesystem::create_directory(file); // nothing can be written here
    CHECK(same(trainOn(device, training.job, "best"), expected));
}

TEST_CASE("without timestamps the host's clock times the device") {
    const Training training;
    const Faults faults("no-timestamps");
    gpu::Device device(testDeviceOptions());
    CHECK(device.limits().timestampNanoseconds == 0);
    const std::unique_ptr<Trainer> trainer = makeGpuTrainer(training.job, "tiled", device);
    train(*trainer, 20);
    CHECK(trainer->deviceSeconds() > 0);
    CHECK(trainer->deviceSeconds() <= trainer->trainingSeconds());
    CHECK(trainer->operations().empty());
}

TEST_CASE("limits are what the layer says") {
    const Faults faults("low-limits");
    const gpu::Device device(testDeviceOptions());
    CHECK(device.limits().groupInvocations == 128);
    CHECK(device.limits().sharedMemory == 16384);
}

TEST_CASE("nothing leaks if any allocation fails") {
    const Training training;
    for (const std::string also : {"", ",staged,no-push-descriptors"}) {
        const std::uint64_t stride = also.empty() ? 1 : 7; // the second configuration is mostly the same
        std::uint64_t number = 1;
        bool injected = true;
        for (; injected; number += stride) {
            const Faults faults("create:" + std::to_string(number) + also);
            CAPTURE(number);
            const Outcome outcome = outcomeOf([&] { trainOnNewDevice(training.job); });
            injected = Faults::report().injected > 0;
            CHECK(outcome == (injected ? Outcome::outOfMemory : Outcome::fine));
            checkNothingLeft();
        }
        CHECK(number > 30);
    }
}

TEST_CASE("a full device says how much was needed, and is as good as before") {
    const Training training;
    const Result expected = trainOnNewDevice(training.job);
    for (const std::string function :
         {"vkAllocateMemory", "vkCreateBuffer", "vkMapMemory", "vkCreateComputePipelines"}) {
        for (const std::uint64_t number : {1, 8}) {
            CAPTURE(function);
            CAPTURE(number);
            const Faults faults(function + ":" + std::to_string(number));
            {
                gpu::Device device(testDeviceOptions());
                const std::uint64_t before = device.counters().bytesAllocated;
                try {
                    makeGpuTrainer(training.job, "best", device);
                    FAIL("nothing was thrown");
                } catch (const gpu::OutOfMemoryError& error) {
                    const std::string message = error.what();
                    if (function == "vkAllocateMemory" || function == "vkCreateBuffer") {
                        CHECK(error.needed > 0);
                        CHECK(error.available > 0);
                        CHECK(contains(message, std::to_string(error.needed) + " bytes needed"));
                    }
                    CHECK(contains(message, "smaller batch or narrower layers"));
                }
                CHECK(device.counters().bytesAllocated == before);
                CHECK(same(trainOn(device, training.job), expected));
                CHECK(device.counters().bytesAllocated == before);
            }
            checkNothingLeft();
        }
    }
}

TEST_CASE("a device lost at any call is an error, and a new device goes on from the last state") {
    const Training training;
    const Result expected = trainOnNewDevice(training.job);
    TrainerState half;
    {
        gpu::Device device(testDeviceOptions());
        half = trainOn(device, training.job, sweepRung, nullptr, steps / 2).state;
    }
    for (const std::string function :
         {"vkQueueSubmit", "vkWaitSemaphores", "vkGetSemaphoreCounterValue", "lost-counter"}) {
        CAPTURE(function);
        const std::string fault =
            function == "lost-counter" ? "lost-counter,vkGetSemaphoreCounterValue:" : function + ":";
        int lost = 0;
        bool injected = true;
        for (std::uint64_t number = 1; injected; number += 1 + number / (sanitized ? 2 : 4)) {
            CAPTURE(number);
            const Faults faults(fault + std::to_string(number));
            Result result;
            const Outcome outcome = outcomeOf([&] { result = trainOnNewDevice(training.job); });
            injected = Faults::report().injected > 0;
            lost += outcome == Outcome::lost ? 1 : 0;
            // A loss after the last result is noticed only by destructors and is not an error.
            CHECK((outcome == Outcome::lost || outcome == Outcome::fine));
            CHECK((injected || outcome == Outcome::fine));
            if (outcome == Outcome::fine) CHECK(same(result, expected));
            checkNothingLeft();
        }
        CHECK(lost > 2);
        // Only the old device is lost; a new one in the same program works.
        const Faults faults(fault + "3");
        std::optional<gpu::Device> first(std::in_place, testDeviceOptions());
        CHECK(outcomeOf([&] { trainOn(*first, training.job); }) == Outcome::lost);
        CHECK(outcomeOf([&] { trainOn(*first, training.job); }) == Outcome::lost); // it stays lost
        CHECK(first->counters().bytesAllocated == 0);
    }
    for (const char* function : {"vkQueueSubmit:9", "vkGetSemaphoreCounterValue:20"}) {
        const Faults faults(function);
        CHECK(outcomeOf([&] { trainOnNewDevice(training.job); }) == Outcome::lost);
        const Faults none("");
        gpu::Device device(testDeviceOptions());
        const Result rest = trainOn(device, training.job, sweepRung, &half, steps - steps / 2);
        CHECK(sameBits(rest.state, expected.state));
        CHECK(rest.evaluation.loss == expected.evaluation.loss);
    }
}

TEST_CASE("a device lost at the very end is noticed, or does no harm") {
    const Training training;
    const Result expected = trainOnNewDevice(training.job);
    std::uint64_t reads = 0;
    {
        const Faults none("");
        trainOnNewDevice(training.job);
        reads = Faults::report().counterReads;
    }
    for (std::uint64_t number = reads - 12; number <= reads; ++number) {
        CAPTURE(number);
        const Faults faults("lost-counter,vkGetSemaphoreCounterValue:" + std::to_string(number));
        Result result;
        const Outcome outcome = outcomeOf([&] { result = trainOnNewDevice(training.job); });
        if (outcome == Outcome::fine)
            CHECK(same(result, expected));
        else
            CHECK(outcome == Outcome::lost);
        checkNothingLeft();
    }
}

TEST_CASE("a hang ends every wait in time, and objects that may be in use are not touched") {
    using Clock = std::chrono::steady_clock;
    const Training training;
    const Result expected = trainOnNewDevice(training.job);
    gpu::DeviceOptions options = testDeviceOptions();
    options.waitLimit = std::chrono::milliseconds(300); // a busy machine must not look like a hanging one
    for (const std::string also : {"", ",staged"})
        for (const std::uint64_t number : {1, 2, 5, 9}) {
            CAPTURE(number);
            const Faults faults("hang:" + std::to_string(number) + also);
            const auto start = Clock::now();
            CHECK(outcomeOf([&] {
                      gpu::Device device(options);
                      trainOn(device, training.job);
                  }) == Outcome::timeout);
            CHECK(Clock::now() - start < std::chrono::seconds(10));
            CHECK(Faults::report().misuses == 0);
            CHECK(Faults::report().destroyed == 0);
        }
    CHECK(same(trainOnNewDevice(training.job), expected)); // other devices still work
}

TEST_CASE("in a race a lane that loses its device stops, and the others go on") {
    const Training training;
    RaceOptions options;
    options.together = true;
    options.lane.finish.steps = 60;
    const auto loseAt = [&](std::uint64_t number) {
        CAPTURE(number);
        const Faults faults("vkQueueSubmit:" + std::to_string(number));
        LaneStatus ended = LaneStatus::waiting;
        {
            gpu::Device device(testDeviceOptions());
            Race race(
                training.job,
                {{laneSpecFromText("cpu:simd"), [&] { return makeCpuTrainer(training.job, "simd", 1); }},
                 {laneSpecFromText("gpu:tiled"),
                  [&] { return makeGpuTrainer(training.job, "tiled", device); }}},
                options);
            race.start();
            REQUIRE(race.waitFor(std::chrono::seconds(60)));
            const std::vector<LaneResult> results = race.results();
            CHECK(results[0].end.status == LaneStatus::finished);
            CHECK(results[0].end.step == 60);
            const LaneSnapshot& end = results[1].end;
            ended = end.status;
            if (ended == LaneStatus::failed) {
                CHECK(contains(end.message, "VK_ERROR_DEVICE_LOST"));
                CHECK(contains(end.message, "resumed from the last checkpoint"));
                CHECK(end.step <= 60);
                CHECK(results[1].telemetry.steps() == end.step); // the curve so far stays
                CHECK_FALSE(results[1].counts());
            } else {
                CHECK(ended == LaneStatus::finished);
                CHECK(results[1].agreement.same());
            }
        }
        CHECK((ended == LaneStatus::failed) == (Faults::report().injected > 0));
        checkNothingLeft();
        return ended;
    };
    std::uint64_t number = 1;
    while (loseAt(number) == LaneStatus::failed) number += 1 + number / (sanitized ? 1 : 3);
    CHECK(number > 3); // a fast device makes few, long submissions
}
