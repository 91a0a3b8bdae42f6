#include "demos/shell/run_window.h"

#include <algorithm>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/shell/app.h"
#include "demos/shell/clipboard.h"
#include "demos/shell/offscreen.h"
#include "demos/shell/png.h"
#include "demos/shell/state_file.h"
#include "demos/shell/swapchain.h"
#include "demos/shell/window.h"
#include "demos/shell/window_log.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

constexpr double frameSeconds = 1.0 / 60;
// On a software device, window and training share the processor: what the one draws, the other lacks.
constexpr double trainingFrameSecondsInSoftware = 1.0 / 15;

/// All that lives on the device, in order of its making.
struct Stage {
    static gpu::DeviceOptions deviceFor(const ShowOptions& options, const Window& window) {
        gpu::DeviceOptions device = drawingOptions(options);
        device.instanceExtensions = window.instanceExtensions();
        device.deviceExtensions = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
        return device;
    }

    Stage(const ShowOptions& options, Window& window)
        : machines(options.threads, options.device),
          graphics(machines.openForDrawing(deviceFor(options, window))),
          swapchain(graphics, window.createSurface(graphics.device().instance())),
          renderer(graphics, swapchain.format(), VK_IMAGE_LAYOUT_PRESENT_SRC_KHR), app(graphics, machines),
          painter(graphics) {
        window.setInput(&app.input());
        shareClipboard();
    }

    Machines machines;
    Graphics graphics;
    Swapchain swapchain;
    UiRenderer renderer;
    App app;
    Painter painter;
};

void savePicture(Stage& stage, VkExtent2D size, const ImDrawData& data, const AppWishes& wishes) {
    const std::string& wanted = *wishes.picture;
    stage.painter.wait();
    Offscreen offscreen(stage.graphics);
    const std::string file =
        wanted.empty() ? fmt::format("lockstep-{:%Y%m%d-%H%M%S}.png", fmt::localtime(std::time(nullptr)))
                       : wanted;
    try {
        writePng(file, cropped(offscreen.paint(size.width, size.height, data), wishes.pictureArea));
        stage.app.ui().say(Severity::info, "Picture saved to " + file);
    } catch (const std::runtime_error& error) {
        stage.app.ui().say(Severity::error, error.what());
    }
}

class Loop {
  public:
    Loop(Window& window, Stage& stage, WindowLog& log) : window_(window), stage_(stage), log_(log) {}

    void untilClosed() {
        last_ = window_.seconds();
        while (!quit_ && !window_.closeWanted()) {
            waitForWork();
            for (const auto& file : window_.takeDropped()) stage_.app.openFile(file);
            const VkExtent2D size = window_.size();
            if (!stage_.painter.idle()) continue;
            log_.reacted(window_, stage_.app);
            if (size.width == 0 || size.height == 0) continue;
            if (!stage_.app.wantsFrame() && sameSize(size)) continue;
            log_.reacting(window_);
            draw(size);
            log_.note(stage_.app, drawn_);
        }
    }

  private:
    // While nothing moves, until something happens; else until the next frame is due.
    void waitForWork() {
        const bool visible = window_.size().width > 0;
        if (visible && !stage_.painter.idle()) {
            window_.handleEvents(0.001);
            return;
        }
        if (!stage_.app.wantsFrame() || !visible) {
            window_.handleEvents(visible && sameSize(window_.size()) ? 0.25 : 0.1);
            return;
        }
        const double due = last_ + interval();
        do window_.handleEvents(std::max(0.0, due - window_.seconds()));
        while (window_.seconds() < due && stage_.app.input().empty() && !window_.closeWanted());
    }

    double interval() {
        const bool slow = stage_.graphics.device().software() && stage_.app.exhibit().running();
        // A person who does something is answered at once.
        if (slow && stage_.app.input().empty()) return trainingFrameSecondsInSoftware;
        return frameSeconds;
    }

    bool sameSize(VkExtent2D size) const {
        return size.width == drawn_.width && size.height == drawn_.height;
    }

    void draw(VkExtent2D size) {
        const double now = window_.seconds();
        const ImDrawData& data =
            stage_.app.frame(size.width, size.height, window_.displayScale(), now - last_);
        last_ = now;
        if (stage_.swapchain.present(stage_.painter, stage_.renderer, size, data)) drawn_ = size;
        const AppWishes wishes = stage_.app.takeWishes();
        if (wishes.picture) savePicture(stage_, size, data, wishes);
        if (wishes.fullScreen) window_.toggleFullScreen();
        if (wishes.quit) quit_ = true;
    }

    Window& window_;
    Stage& stage_;
    WindowLog& log_;
    double last_ = 0;
    VkExtent2D drawn_{};
    bool quit_ = false;
};

// The last state comes back, if it can be read.
void restoreLast(App& app) {
    const std::filesystem::path file = lastStateFile();
    std::error_code ignored;
    if (file.empty() || !std::filesystem::exists(file, ignored)) return;
    app.openFile(file);
}

void storeLast(App& app) {
    const std::filesystem::path file = lastStateFile();
    if (file.empty()) return;
    try {
        writeStateFile(file, app.state());
    } catch (const std::runtime_error&) {
        // It is a convenience; an unwritable home must not keep the window from closing.
    }
}

} // namespace

int runWindow(const ShowOptions& options) {
    Window window(static_cast<int>(options.width), static_cast<int>(options.height), "Lockstep");
    WindowLog log(options.log);
    nlohmann::ordered_json kept; // across a lost device
    for (bool first = true;; first = false) {
        Stage stage(options, window);
        try {
            if (first && options.stateFile.empty()) restoreLast(stage.app);
            if (first)
                beginWith(stage.app, options);
            else {
                stage.app.setState(kept);
                stage.app.ui().say(Severity::warning,
                                   "The graphics device was lost and has been started anew.",
                                   "Settings are kept; Run begins again.");
            }
            Loop(window, stage, log).untilClosed();
            storeLast(stage.app);
            return 0;
        } catch (const gpu::DeviceLostError&) {
            kept = stage.app.state();
        }
        window.setInput(nullptr);
    }
}

} // namespace lockstep::demos
