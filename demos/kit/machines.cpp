#include "demos/kit/machines.h"

#include <stdexcept>
#include <utility>

#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/run/make_trainer.h"
#include "engine/tune/kernel_cache.h"

namespace lockstep::demos {

namespace {

// A lane may have lost it before anything else used it.
bool isLost(gpu::Device& device) {
    if (device.abandoned()) return true;
    try {
        device.runOnce([](VkCommandBuffer) {});
    } catch (const gpu::DeviceLostError&) {
        return true;
    }
    return false;
}

} // namespace

Lane::MakeTrainer Machines::maker(const TrainJob& job, const LaneSpec& spec, MachineShare share) {
    if (share.threads == 0) share.threads = threads_;
    return [job, spec, share, device = deviceOf(spec)](const std::atomic<bool>* cancelled, Tuning* tuning) {
        return makeTrainer(job, spec, share, device, cancelled, tuning);
    };
}

gpu::Device* Machines::deviceOf(const LaneSpec& spec) {
    if (!spec.gpu) return nullptr;
    gpu::DeviceOptions options;
    options.select = spec.device.empty() ? device_ : spec.device;
    return &open(std::move(options));
}

gpu::Device& Machines::open(gpu::DeviceOptions options) {
    std::unique_ptr<gpu::Device>& device = devices_[options.select];
    // The window reopens the device that draws.
    if (device && !device->options().drawing && isLost(*device))
        lost_.push_back(std::exchange(device, nullptr));
    if (!device) {
        useCache(options);
        device = std::make_unique<gpu::Device>(std::move(options));
    }
    return *device;
}

gpu::Device& Machines::openForDrawing(gpu::DeviceOptions options) {
    options.select = device_;
    options.drawing = true;
    return open(std::move(options));
}

bool Machines::drawsInSoftware() const {
    return std::ranges::any_of(devices_, [](const auto& entry) {
        const gpu::Device* device = entry.second.get();
        return device != nullptr && device->options().drawing && device->software();
    });
}

void Machines::close(std::string device) {
    storeCaches();
    devices_.clear();
    lost_.clear();
    device_ = std::move(device);
}

void Machines::storeCaches() {
    for (const auto& [select, device] : devices_)
        if (device && !device->abandoned()) storePipelines(*device);
}

LaneChoice chooseRaceLanes(const std::vector<LaneSpec>& asked, Machines& machines, const char* withoutGpu) {
    for (const LaneSpec& spec : asked) machines.deviceOf(spec);
    if (!asked.empty()) return {asked, {}};
    const LaneSpec cpu = laneSpecFromText("cpu:best");
    const LaneSpec gpu = laneSpecFromText("gpu:best");
    try {
        machines.deviceOf(gpu);
    } catch (const gpu::GpuError& error) {
        if (machines.deviceAsked()) throw;
        return {{cpu}, std::string(withoutGpu) + error.what()};
    }
    return {{cpu, gpu}, {}};
}

LaneChoice chooseTrainLane(const std::vector<LaneSpec>& asked, Machines& machines) {
    if (asked.size() > 1)
        throw std::invalid_argument("this trains one lane; use `lockstep race` for several");
    LaneChoice choice = chooseRaceLanes(asked, machines, "cpu:best, because no GPU can be used: ");
    if (choice.lanes.size() == 1) return choice;
    const LaneSpec cpu = choice.lanes.front();
    const LaneSpec gpu = choice.lanes.back();
    if (!machines.software(gpu)) return {{gpu}, "gpu:best, because there is a GPU (--lane chooses)"};
    return {{cpu}, "cpu:best, because the only Vulkan device is software, not a GPU (--lane chooses)"};
}

} // namespace lockstep::demos
