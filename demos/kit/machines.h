// The machines that a command's lanes run on, opened once and shared by the lanes.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/run/lane.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

class Machines {
  public:
    /// threads   of cpu:threads, cpu:best and cpu:bf16; 0 for one per core
    /// device    for GPU lanes that name none; empty: the best
    Machines(std::size_t threads, std::string device) : threads_(threads), device_(std::move(device)) {}
    /// Stores what the devices' drivers have compiled, for the next start.
    ~Machines() { storeCaches(); }
    Machines(const Machines&) = delete;
    Machines& operator=(const Machines&) = delete;

    /// Opens the device of lanes that name none so that a window or pictures can be drawn with it, too. To be
    /// called before any lane. `options` need not select nor say that drawing is wanted. Throws
    /// gpu::GpuError.
    gpu::Device& openForDrawing(gpu::DeviceOptions options);
    /// Whether the lane computes on the device that draws. Opens its device.
    bool draws(const LaneSpec& spec) {
        const gpu::Device* device = deviceOf(spec);
        return device != nullptr && device->options().drawing;
    }
    /// Whether the device that draws does so on the processor.
    bool drawsInSoftware() const;
    /// Gives up all devices, which nothing may use any more; lanes that name none get `device` from now on.
    void close(std::string device);
    /// Whether the lane's device is a Vulkan driver that computes on the processor. Opens it.
    bool software(const LaneSpec& spec) {
        const gpu::Device* device = deviceOf(spec);
        return device != nullptr && device->software();
    }
    bool anySoftware(const std::vector<LaneSpec>& lanes) {
        return std::ranges::any_of(lanes, [this](const LaneSpec& spec) { return software(spec); });
    }
    /// Whether somebody has chosen the device of lanes that name none: then it has to be that one.
    bool deviceAsked() const { return !device_.empty(); }
    /// The device of lanes that name none, as in gpu::DeviceOptions; empty: the best.
    const std::string& device() const { return device_; }
    /// What makes the lane's trainer. Opens its device. This object has to outlive the trainer.
    /// share   of the machine; its 0 threads are threads()
    Lane::MakeTrainer maker(const TrainJob& job, const LaneSpec& spec, MachineShare share = {});
    /// The lane's device, opened, so that what is wrong with it is known before anything runs; null for a CPU
    /// lane. Throws gpu::GpuError.
    gpu::Device* deviceOf(const LaneSpec& spec);
    /// The threads of cpu:best; 0: one per core.
    std::size_t threads() const { return threads_; }

  private:
    gpu::Device& open(gpu::DeviceOptions options);
    void storeCaches();

    std::size_t threads_;
    std::string device_;
    std::map<std::string, std::unique_ptr<gpu::Device>> devices_; // by what they were asked for
    std::vector<std::unique_ptr<gpu::Device>> lost_;              // trainers may still be on them
};

/// The lanes to use, and what has to be said about the choice (empty: nothing).
struct LaneChoice {
    std::vector<LaneSpec> lanes;
    std::string remark;
};

/// For a race: `asked`, or cpu:best and gpu:best, without the latter where no Vulkan device works (and the
/// remark says why, after `withoutGpu`). Throws gpu::GpuError when a lane or a device that was asked for
/// cannot be had.
LaneChoice chooseRaceLanes(const std::vector<LaneSpec>& asked, Machines& machines,
                           const char* withoutGpu = "gpu:best is left out: ");

/// For a single lane: the one asked for, or gpu:best where that is a real GPU, else cpu:best.
LaneChoice chooseTrainLane(const std::vector<LaneSpec>& asked, Machines& machines);

} // namespace lockstep::demos
