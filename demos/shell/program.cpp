#include "demos/shell/program.h"

#include <thread>

#include <fmt/format.h>

#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

// A driver that resets its device may need a moment before the device can be opened again.
constexpr std::chrono::milliseconds breath{300};

} // namespace

void Program::leave() {
    if (const std::string costs = app.releaseDevice(); !costs.empty()) costs_ = costs;
    graphics.detach();
}

void Program::enter(const std::string& device) {
    machines.close(device);
    graphics.attach(machines.openForDrawing(drawing_));
    app.attachDevice();
    device_ = device;
}

void Program::restart(const std::string& loss) {
    std::string reason = loss;
    for (;;) {
        if (limit_.exceededBy(LossLimit::Clock::now()))
            throw gpu::DeviceLostError(fmt::format(
                "the graphics device was lost {} times within a minute, so it is not restarted again. A "
                "newer driver may help, or another device (`lockstep devices`, --device). Last error: {}",
                LossLimit::most, reason));
        leave();
        try {
            try {
                enter(device_);
            } catch (const gpu::NoDeviceError&) {
                if (device_.empty()) throw;
                enter({}); // it was unplugged
                app.setDevice({});
            }
            app.ui().say(Severity::warning,
                         fmt::format("The graphics device was lost; {} has been restarted.",
                                     graphics.device().report().name),
                         costs_ + (costs_.empty() ? "" : " ") + "Curves, results and settings are kept.");
            costs_.clear();
            return;
        } catch (const gpu::DeviceLostError& again) {
            reason = again.what();
        }
        std::this_thread::sleep_for(breath);
    }
}

bool Program::usable(const DeviceWish& wish, const std::function<void(gpu::Device&)>& test) {
    const std::string present = graphics.device().report().name;
    try {
        gpu::DeviceOptions options = drawing_;
        options.select = wish.select;
        options.drawing = true;
        gpu::Device device(std::move(options));
        if (test) test(device);
        return true;
    } catch (const gpu::GpuError& error) {
        app.ui().say(
            Severity::error,
            fmt::format("'{}' cannot be used: {}", wish.name.empty() ? wish.select : wish.name, error.what()),
            fmt::format("The window stays on {}.", present));
        return false;
    }
}

void Program::change(const DeviceWish& wish) {
    leave();
    enter(wish.select);
    app.setDevice(wish);
    app.ui().say(
        Severity::info,
        fmt::format("The window and GPU lanes without @DEVICE now use {}.", graphics.device().report().name),
        costs_);
    costs_.clear();
}

bool LossLimit::exceededBy(Clock::time_point loss) {
    while (!losses_.empty() && loss - losses_.front() > within) losses_.pop_front();
    losses_.push_back(loss);
    return losses_.size() >= most;
}

} // namespace lockstep::demos
