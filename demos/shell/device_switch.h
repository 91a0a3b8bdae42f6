// Moves the running program from one device to another: after a loss, or because the user wants it.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>

#include "demos/shell/app.h"

namespace lockstep::demos {

/// Counts losses of one kind, of the device or of the window's surface.
class LossLimit {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t most = 3;
    static constexpr std::chrono::minutes within{1};

    /// Counts one more; true when it is one too many.
    bool exceededBy(Clock::time_point loss);

  private:
    std::deque<Clock::time_point> losses_;
};

/// Callers release what they have on the old device first, and take the new one afterwards.
class DeviceSwitch {
  public:
    /// options   how the device that draws is opened
    /// device    the present one (DeviceOptions::select)
    DeviceSwitch(App& app, Graphics& graphics, Machines& machines, gpu::DeviceOptions options,
                 std::string device)
        : app_(app), graphics_(graphics), machines_(machines), options_(std::move(options)),
          device_(std::move(device)) {}

    /// After a loss: reopens the same device, or the best one if it is gone. Throws
    /// gpu::DeviceLostError when it is lost too often, gpu::GpuError when there is none any more.
    void restart(const std::string& loss);
    /// Whether the device that is wished for can be opened, and stands the test; else the window says why.
    bool usable(const DeviceWish& wish, const std::function<void(gpu::Device&)>& test = {});
    /// To that device, which is usable. Throws gpu::GpuError.
    void change(const DeviceWish& wish);

  private:
    void leave();
    void enter(const std::string& device);

    App& app_;
    Graphics& graphics_;
    Machines& machines_;
    gpu::DeviceOptions options_;
    std::string device_;
    LossLimit limit_;
    std::string costs_; // of leaving, as the exhibits say it
};

} // namespace lockstep::demos
