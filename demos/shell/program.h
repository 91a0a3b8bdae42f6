// The running program apart from its window, and how it moves from one device to another: after a loss, or
// because the user wants it.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <string>

#include "demos/shell/app.h"
#include "demos/shell/run_window.h"

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

/// What the window's program and the one without a window have in common, over all devices that they come to
/// use. Before a move, callers release what they have on the old device; then they take the new one.
class Program {
  public:
    /// drawing   how the device that draws is opened
    Program(const ShowOptions& options, const gpu::DeviceOptions& drawing)
        : machines(options.threads, options.device), graphics(machines.openForDrawing(drawing)),
          app(graphics, machines), drawing_(drawing), device_(options.device) {
        if (!device_.empty()) app.fixDevice();
    }

    Machines machines;
    Graphics graphics;
    App app;

    /// After a loss: reopens the same device, or the best one if it is gone. Throws
    /// gpu::DeviceLostError when it is lost too often, gpu::GpuError when there is none any more.
    void restart(const std::string& loss);
    /// Whether the device that is wished for can be opened, and stands the test; else the window says why.
    bool usable(const DeviceWish& wish, const std::function<void(gpu::Device&)>& test = {});
    /// Moves to the next best device, because the present one cannot show the window; the window says so.
    /// False where there is no other, and where the present one was asked for.
    bool fallBack(const std::string& failure);
    /// To that device, which is usable. Throws gpu::GpuError.
    void change(const DeviceWish& wish);

  private:
    void leave();
    void enter(const std::string& device);

    gpu::DeviceOptions drawing_;
    std::string device_;                // DeviceOptions::select
    std::set<std::size_t> showNothing_; // devices that cannot show the window, as they are numbered
    LossLimit limit_;
    std::string costs_; // of leaving, as the exhibits say it
};

/// How the device that draws is to be opened.
gpu::DeviceOptions drawingOptions(const ShowOptions& options);
/// Applies the options to a new window or picture.
void beginWith(App& app, const ShowOptions& options);
/// Brings back the state that is kept between starts (lastStateFile). One that cannot be read becomes a
/// message, and its file gets another name (".bad"), so that storeLast() does not replace it. A folder, a
/// pipe or a device in its place stays.
void restoreLast(App& app);
/// Throws nothing: an unwritable home must not keep the window from closing.
void storeLast(const App& app);

} // namespace lockstep::demos
