// The device, its memory and its recorder: choosing, refusing, staging, limits, finite waits.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <string>

#include "engine/gpu/buffer.h"
#include "engine/gpu/error.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/gpu/recorder.h"
#include "engine/net/optimizer.h"
#include "engine/step/shaders.h"
#include "shaders/shared/params.h"
#include "tests/test_device.h"

using namespace lockstep;

namespace {

std::vector<float> numbers(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

gpu::KernelSource updateSource() {
    return {"update", shaderWords("update"), {{0, 64}, {7, static_cast<std::uint32_t>(Optimizer::sgd)}}};
}

template <class Call> std::string messageOf(Call&& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

// weights -= rate * gradients, `count` floats, through a device of the given options.
std::vector<float> runSgd(gpu::DeviceOptions options, std::size_t count) {
    gpu::Device device(std::move(options));
    gpu::Buffer weights(device, count * 4, gpu::Memory::device, "weights");
    gpu::Buffer gradients(device, count * 4, gpu::Memory::device, "gradients");
    gpu::Buffer status(device, 4, gpu::Memory::device, "status");
    const std::uint32_t none = shared::noStep;
    status.uploadValues<std::uint32_t>({&none, 1});
    weights.uploadValues<float>(numbers(count));
    gradients.uploadValues<float>(numbers(count));
    const gpu::Kernel<shared::UpdateParams> kernel(device, updateSource());
    shared::UpdateParams params{};
    params.count = static_cast<std::uint32_t>(count);
    params.stride = (params.count / 4 + 63) / 64 * 64;
    params.learningRate = 0.5f;
    params.weightKeep = 1;
    gpu::Recorder recorder(device);
    recorder.begin();
    recorder.dispatch(kernel, {params.count / 4, 1, 1}, params,
                      {status.view(), gradients.view(), weights.view(), weights.view(), weights.view()});
    recorder.submit();
    recorder.finish();
    return weights.downloadValues<float>(count);
}

} // namespace

TEST_CASE("the list of devices marks one choice, with reasons for all") {
    const std::vector<gpu::DeviceReport> devices = gpu::listDevices(testDeviceOptions());
    REQUIRE_FALSE(devices.empty());
    std::size_t chosen = 0;
    for (const gpu::DeviceReport& device : devices) {
        chosen += device.chosen ? 1 : 0;
        CHECK_FALSE(device.name.empty());
        CHECK(device.uuid.size() == 32);
        CHECK((device.refused.empty() != device.reason.empty() || device.chosen));
    }
    CHECK(chosen == 1);
}

TEST_CASE("a device can be selected by number, part of its name or UUID") {
    const gpu::DeviceReport& report = testDevice().report();
    for (const std::string& select : {std::to_string(report.index), report.name.substr(0, 5), report.uuid}) {
        gpu::DeviceOptions options;
        options.select = select;
        CHECK(gpu::Device(options).report().uuid == report.uuid);
    }
    gpu::DeviceOptions unknown;
    unknown.select = "Voodoo 2";
    const std::string message = messageOf([&] { gpu::Device device(unknown); });
    CHECK(message.find("Voodoo 2") != std::string::npos);
    CHECK(message.find(report.name) != std::string::npos); // lists the available devices
    // A number that no device has is not looked for in names such as "llvmpipe (LLVM 15.0.6, 256 bits)".
    for (const std::string number : {"15", "5", "6"}) {
        if (std::stoul(number) < gpu::listDevices().size()) continue;
        unknown.select = number;
        CHECK(messageOf([&] { gpu::Device device(unknown); }).find("no usable device") != std::string::npos);
    }
}

TEST_CASE("direct and staged memory hold the same") {
    for (const bool staging : {false, true}) {
        CAPTURE(staging);
        gpu::DeviceOptions options = testDeviceOptions();
        options.forceStaging = staging;
        const std::vector<float> result = runSgd(options, 1000);
        for (std::size_t at = 0; at < result.size(); ++at)
            REQUIRE(result[at] == 0.5f * static_cast<float>(at + 1));
    }
}

TEST_CASE("buffers start as zeros and keep what is written, at any offset") {
    for (const bool staging : {false, true}) {
        gpu::DeviceOptions options = testDeviceOptions();
        options.forceStaging = staging;
        gpu::Device device(options);
        gpu::Buffer buffer(device, 1001, gpu::Memory::device, "odd");
        CHECK(buffer.size() == 1008);
        for (const std::uint8_t byte : buffer.downloadValues<std::uint8_t>(1008)) REQUIRE(byte == 0);
        const std::vector<std::uint8_t> some{1, 2, 3, 4, 5};
        buffer.uploadValues<std::uint8_t>(some, 999);
        CHECK(buffer.downloadValues<std::uint8_t>(5, 999) == some);
        CHECK(buffer.downloadValues<std::uint8_t>(1, 998)[0] == 0);
        CHECK_THROWS_AS(buffer.view(1000, 9), std::out_of_range);
        CHECK_THROWS_AS(buffer.view(0, 0), std::out_of_range);
        CHECK_THROWS_AS(buffer.view(~std::uint64_t{0}, 2), std::out_of_range);
    }
}

TEST_CASE("an oversized allocation fails with the bytes needed and available, and nothing leaks") {
    gpu::Device& device = testDevice();
    const std::uint64_t before = device.counters().bytesAllocated;
    try {
        gpu::Buffer huge(device, device.report().memory * 4, gpu::Memory::device, "everything");
        FAIL("was allocated");
    } catch (const gpu::OutOfMemoryError& error) {
        CHECK(error.needed >= device.report().memory * 4);
        CHECK(error.available <= device.report().memory);
        CHECK(std::string(error.what()).find("everything") != std::string::npos);
        CHECK(std::string(error.what()).find(std::to_string(error.needed)) != std::string::npos);
    }
    CHECK(device.counters().bytesAllocated == before);
}

TEST_CASE("a dispatch rejects wrong bindings and sizes") {
    gpu::Device& device = testDevice();
    gpu::Buffer buffer(device, 4096, gpu::Memory::device, "buffer");
    const gpu::Kernel<shared::UpdateParams> kernel(device, updateSource());
    gpu::Recorder recorder(device);
    const shared::UpdateParams params{};
    CHECK(messageOf([&] {
              recorder.dispatch(kernel, {1, 1, 1}, params, {});
          }).find("outside") != std::string::npos);
    recorder.begin();
    const std::string count = messageOf([&] {
        recorder.dispatch(kernel, {1, 1, 1}, params, {buffer.view(), buffer.view()});
    });
    CHECK(count.find("'update'") != std::string::npos);
    CHECK(count.find("5 bindings, but 2 views") != std::string::npos);
    const gpu::BufferView crooked = buffer.view(4, 16);
    if (device.limits().storageAlignment > 4)
        CHECK_THROWS_AS(
            recorder.dispatch(kernel, {1, 1, 1}, params, {crooked, crooked, crooked, crooked, crooked}),
            std::runtime_error);
    CHECK_THROWS_AS(
        recorder.dispatch(kernel, {0xFFFFFFFFu, 1, 1}, params,
                          {buffer.view(), buffer.view(), buffer.view(), buffer.view(), buffer.view()}),
        gpu::GpuError); // more workgroups than any device has
    recorder.submit();
    recorder.finish();
}

TEST_CASE("a kernel names the limit it exceeds and rejects a wrong params struct") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    gpu::KernelSource large = updateSource();
    large.constants[0] = 129;
    const std::string message = messageOf([&] { gpu::Kernel<shared::UpdateParams> kernel(device, large); });
    CHECK(message.find("129 invocations per workgroup") != std::string::npos);
    CHECK(message.find("128") != std::string::npos);
    const gpu::KernelSource hungry{
        "dense_tiled",
        shaderWords("dense_tiled"),
        {{0, 64}, {1, 8}, {2, 8}, {3, 8}, {4, 0}, {5, 64}}}; // 32 KiB of shared memory
    CHECK(messageOf([&] { gpu::Kernel<shared::DenseParams> kernel(device, hungry); }).find("shared memory") !=
          std::string::npos);
    CHECK(messageOf([&] {
              gpu::Kernel<shared::DenseParams> kernel(device, updateSource());
          }).find("push constants") != std::string::npos);
}

TEST_CASE("a shader is compiled once for all kernels of a device that specialise it alike") {
    gpu::Device device(testDeviceOptions());
    const auto pipelineOf = [&](const gpu::KernelSource& source) {
        return gpu::Kernel<shared::UpdateParams>(device, source).pipeline(); // and the kernel is gone
    };
    const VkPipeline first = pipelineOf(updateSource());
    CHECK(pipelineOf(updateSource()) == first);
    gpu::KernelSource other = updateSource();
    other.constants[7] = static_cast<std::uint32_t>(Optimizer::adam);
    CHECK(pipelineOf(other) != first);
    gpu::KernelSource edited = updateSource();
    edited.edited = true; // what becomes of it is not the same
    CHECK(pipelineOf(edited) != first);
}

TEST_CASE("waits are finite") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.waitLimit = std::chrono::milliseconds(20);
    gpu::Device device(options);
    CHECK_FALSE(device.done(1000));
    CHECK_THROWS_AS(device.wait(1000),
                    gpu::TimeoutError); // a ticket that is never submitted simulates a hang
    device.waitForAll();                // the device itself is fine
}

TEST_CASE("submissions are timed, and several are in flight without waiting") {
    gpu::Device& device = testDevice();
    gpu::Buffer buffer(device, 1 << 20, gpu::Memory::device, "buffer");
    gpu::Recorder recorder(device);
    const std::uint64_t waits = device.counters().hostWaits;
    std::vector<gpu::Ticket> tickets;
    for (int submission = 0; submission < 3; ++submission) {
        recorder.begin();
        recorder.fill(buffer.view(), static_cast<std::uint32_t>(submission));
        tickets.push_back(recorder.submit());
    }
    CHECK(device.counters().hostWaits == waits);
    recorder.finish();
    const std::vector<gpu::FinishedSubmission> finished = recorder.takeFinished();
    REQUIRE(finished.size() == 3);
    for (std::size_t at = 0; at < 3; ++at) CHECK(finished[at].ticket == tickets[at]);
    CHECK(recorder.deviceSeconds() > 0);
    CHECK(buffer.downloadValues<std::uint32_t>(1)[0] == 2);
}

TEST_CASE("a pipeline cache is used only if intact and from the same device") {
    gpu::Device& device = testDevice();
    const std::string identity = gpu::cacheIdentity(device.report());
    std::vector<std::byte> data(100);
    for (std::size_t at = 0; at < data.size(); ++at) data[at] = static_cast<std::byte>(at);
    const std::vector<std::byte> stored = gpu::wrapPipelineCache(data, identity);
    const auto unwrapped = gpu::unwrapPipelineCache(stored, identity);
    REQUIRE(unwrapped.size() == data.size());
    CHECK(std::memcmp(unwrapped.data(), data.data(), data.size()) == 0);
    CHECK(gpu::unwrapPipelineCache(stored, identity + "'").empty());
    for (std::size_t length = 0; length < stored.size(); ++length)
        REQUIRE(gpu::unwrapPipelineCache(std::span(stored).first(length), identity).empty());
    for (std::size_t at = 0; at < stored.size(); ++at) {
        std::vector<std::byte> damaged = stored;
        damaged[at] ^= std::byte{1};
        REQUIRE(gpu::unwrapPipelineCache(damaged, identity).empty());
    }
    // A device works with its own cache and with an invalid one.
    gpu::DeviceOptions options = testDeviceOptions();
    options.pipelineCache = [&](const gpu::DeviceReport& report) {
        CHECK(report.uuid == device.report().uuid);
        return device.pipelineCacheData();
    };
    CHECK(runSgd(options, 8)[7] == 4.0f);
    options.pipelineCache = [](const gpu::DeviceReport&) { return std::vector(1000, std::byte{0x5A}); };
    CHECK(runSgd(options, 8)[7] == 4.0f);
}
