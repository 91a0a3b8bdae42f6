#include "demos/shell/run_window.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "demos/draw/painter.h"
#include "demos/draw/png.h"
#include "demos/kit/interrupt.h"
#include "demos/shell/app.h"
#include "demos/shell/files.h"
#include "demos/shell/frame_pace.h"
#include "demos/shell/program.h"
#include "demos/shell/recording.h"
#include "demos/shell/swapchain.h"
#include "demos/shell/window.h"
#include "demos/shell/window_log.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

// Where training uses the queue that shows frames, and showing one holds it for long (a driver that waits for
// the screen), showing takes at most this share of the time.
constexpr double showingShare = 1.0 / 4;
// How often exhibits are updated while the window is minimised, or a frame does not get onto the screen.
constexpr double hiddenSeconds = 1.0 / 20;
// The cause of the loss may need a moment to pass.
constexpr std::chrono::milliseconds surfaceBreath{300};

gpu::DeviceOptions deviceFor(const ShowOptions& options, const Window& window) {
    gpu::DeviceOptions device = drawingOptions(options);
    device.instanceExtensions = window.instanceExtensions();
    device.deviceExtensions = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    return device;
}

/// Brings the app into the window, for the lifetime of its device.
struct Screen {
    Screen(Graphics& graphics, const Window& window)
        : swapchain(graphics, window.createSurface(graphics.device().instance())),
          painter(graphics, swapchain.format(), VK_IMAGE_LAYOUT_PRESENT_SRC_KHR) {}
    ~Screen() {
        if (!swapchain.endShow()) return;
        try {
            painter.drain(); // presenting may still use the images
        } catch (const gpu::GpuError&) {
            // Lost or hung: nothing uses them, or nothing is destroyed.
        }
    }

    Swapchain swapchain;
    Painter painter;
    std::optional<Offscreen> recorded; // where frames are drawn to be recorded
};

/// What goes wrong becomes a message. False then.
bool trying(App& app, const std::function<void()>& action) {
    try {
        action();
        return true;
    } catch (const gpu::DeviceLostError&) {
        throw;
    } catch (const std::runtime_error& error) {
        app.ui().say(Severity::error, error.what());
        return false;
    }
}

void savePicture(App& app, VkExtent2D size, const ImDrawData& data, const PictureWish& wish) {
    const std::filesystem::path file = std::filesystem::absolute(wish.file);
    trying(app, [&] {
        Offscreen offscreen(app.ui().graphics);
        writePng(file, cropped(offscreen.paint(size.width, size.height, data), wish.area));
        app.ui().dismissFailure();
        app.ui().say(Severity::info, std::string(translated("Picture saved to ")) + shownName(file));
    });
}

/// The window with its app, over all devices that they come to use.
class WindowRun {
  public:
    explicit WindowRun(const ShowOptions& options)
        : window_(static_cast<int>(options.width), static_cast<int>(options.height), "Lockstep"),
          log_(options.log), program_(options, deviceFor(options, window_)) {
        window_.setInput(&app_.input());
        app_.setUpContexts(shareClipboard);
        if (!options.language.empty()) app_.fixLanguage(options.language);
        if (options.language.empty()) try {
                app_.speakLanguage(environmentLanguage());
            } catch (const std::exception& error) { // of a language that was only assumed
                app_.ui().say(Severity::warning, error.what());
            }
        restoreLast(app_);
        beginWith(app_, options);
        if (!options.record.empty())
            recording_.emplace(options.record, window_.seconds(), Recording::Limits{options.recordSeconds});
    }

    /// Returns the exit code: 0, or that of a signal, which closes the window as a person would.
    int untilClosed() {
        findDevice();
        try {
            while (!showUntilClosed()) {
            }
        } catch (...) {
            storeLast(app_); // what a person has set is no less worth when it ends like this
            throw;
        }
        storeLast(app_);
        if (recording_) recording_->finish(window_.seconds());
        return interrupt_.exitCode();
    }

  private:
    /// Takes the best device that can show the window. A laptop's faster one may offer the window's surface
    /// and fail as soon as it makes images for it.
    void findDevice() {
        for (;;) try {
                screen_.emplace(program_.graphics, window_);
                screen_->swapchain.rebuild(screen_->painter, window_.size());
                return;
            } catch (const gpu::DeviceLostError&) {
                return screen_.reset(); // the first frame meets it again
            } catch (const gpu::GpuError& error) {
                screen_.reset();
                if (!program_.fallBack(error.what())) throw;
            }
    }

    /// True when the window was closed; false when it goes on, on another device.
    bool showUntilClosed() {
        try {
            if (!screen_) screen_.emplace(program_.graphics, window_);
            now_ = {};
            now_.last = window_.seconds();
            while (!closes() && !now_.device) drawNext();
            if (closes() || !now_.device) return true;
            follow(*now_.device);
            return false;
        } catch (const gpu::DeviceLostError& loss) {
            screen_.reset();
            program_.restart(loss.what());
            return false;
        } catch (const SurfaceLostError& loss) {
            screen_.reset();
            if (surfaceLosses_.exceededBy(LossLimit::Clock::now()))
                throw gpu::GpuError(fmt::format("the window's surface was lost {} times within a minute. {}",
                                                LossLimit::most, loss.what()));
            std::this_thread::sleep_for(surfaceBreath);
            app_.ui().say(Severity::info, "The window's surface was lost and has been recreated.");
            return false;
        }
    }

    bool closes() const { return quit_ || window_.closeWanted() || interrupt_.exitCode() != 0; }

    void drawNext() {
        waitForWork();
        for (const auto& file : window_.takeDropped()) app_.openFile(file);
        if (recording_) tendRecording();
        const VkExtent2D size = window_.size();
        if (!screen_->painter.idle()) return;
        const bool shows = now_.toShow.has_value();
        if (shows && window_.seconds() < now_.showFrom) return;
        if (shows && !show() && window_.seconds() - *now_.showing < hiddenSeconds) return;
        if (!now_.showing) log_.reacted(window_);
        log_.noteTraining(window_, app_);
        if (shows && !now_.showing) return; // until the next frame is due
        if (size.width == 0 || size.height == 0) return goOnHidden();
        if (!wantsFrame() && sameSize(size) && !now_.showing) return;
        log_.reacting(window_);
        draw(size);
    }

    // While nothing moves, until something happens; else until the next frame is due.
    void waitForWork() {
        const bool visible = window_.size().width > 0;
        if (!visible)
            window_.handleEvents(app_.exhibit().moving() ? hiddenSeconds : 0.25);
        else if (!screen_->painter.idle())
            window_.handleEvents(0.001);
        else if (now_.showing)
            window_.handleEvents(window_.seconds() - *now_.showing < hiddenSeconds ? 0 : hiddenSeconds);
        else if (now_.toShow)
            window_.handleEvents(std::max(0.0, now_.showFrom - window_.seconds()));
        else if (!wantsFrame())
            window_.handleEvents(sameSize(window_.size()) ? 0.25 : 0.1);
        else
            waitForNextFrame();
    }

    void waitForNextFrame() {
        const auto missing = [this] { return now_.last + interval() - window_.seconds(); };
        do window_.handleEvents(std::max(0.0, missing()));
        while (missing() > 0 && !window_.closeWanted());
    }

    // Nothing is shown, but races take turns and slow motion takes steps.
    void goOnHidden() {
        const double now = window_.seconds();
        app_.update(now - now_.last);
        now_.last = now;
    }

    double interval() {
        const Exhibit& shown = app_.exhibit();
        return frameInterval({.input = !app_.input().empty(),
                              .training = shown.running(),
                              .timesProcessor = timesProcessor(),
                              .drawsInSoftware = app_.ui().graphics.device().software(),
                              .records = recording_ && !recording_->ended(),
                              .cost = now_.cost});
    }

    bool timesProcessor() { return app_.exhibit().timesProcessor(); }
    bool wantsFrame() const { return app_.wantsFrame() || now_.again; }

    // The frame that was drawn, once it is first seen to be done. False while the driver keeps it.
    bool show() {
        if (!now_.showing) now_.showing = window_.seconds();
        const std::optional<bool> shown = screen_->swapchain.show();
        const double now = window_.seconds();
        if (!shown) return false;
        if (*shown) now_.drawn = *now_.toShow;
        now_.toShow.reset();
        now_.showing.reset();
        const double rest = screen_->swapchain.heldSeconds() * (1 / showingShare - 1);
        now_.showFrom = app_.exhibit().running() ? now + rest : now;
        log_.note(app_, now_.drawn);
        return true;
    }

    bool sameSize(VkExtent2D size) const {
        return size.width == now_.drawn.width && size.height == now_.drawn.height;
    }

    void draw(VkExtent2D size) {
        const double now = window_.seconds();
        const bool kept = now_.showing.has_value(); // the queue is the driver's: this frame only takes input
        const double drawn = app_.ui().graphics.drawnSeconds().value_or(0);
        now_.cost = std::max(0.0, drawn - std::exchange(now_.drawnSeconds, drawn));
        const ImDrawData& data = app_.frame(size.width, size.height, window_.displayScale(), now - now_.last);
        now_.last = now;
        if (!kept && screen_->swapchain.draw(screen_->painter, size, data))
            now_.toShow = size;
        else
            log_.note(app_, now_.drawn); // what show() would
        if (!kept) record(size, data);
        const AppWishes wishes = app_.takeWishes();
        if (wishes.record) toggleRecording(*wishes.record);
        if (wishes.picture) now_.picture = wishes.picture;
        if (now_.picture && !kept) {
            screen_->painter.wait();
            app_.leaveOutSign();
            savePicture(app_, size, data, *std::exchange(now_.picture, std::nullopt));
        }
        now_.device = wishes.device;
        if (wishes.fullScreen) window_.toggleFullScreen();
        if (wishes.quit) quit_ = true;
    }

    /// file   of one that begins
    void toggleRecording(const std::filesystem::path& file) {
        const double now = window_.seconds();
        if (!recording_)
            return void(trying(app_, [&] { recording_.emplace(file, now, Recording::Limits{}); }));
        recording_->end(now);
        app_.ui().say(Severity::info, "Saving the recording",
                      timesProcessor() ? "It is encoded once the timed run has ended." : "");
    }

    // Drawn once more, because the window's own images can often not be read.
    void record(VkExtent2D size, const ImDrawData& data) {
        const double now = window_.seconds();
        const bool due = recording_ && recording_->due(now);
        now_.again = recording_ && !recording_->ended() && !due;
        if (!due || app_.fileMenuOpen()) return;
        screen_->painter.wait();
        app_.leaveOutSign();
        const bool added = trying(app_, [&] {
            if (!screen_->recorded) screen_->recorded.emplace(program_.graphics);
            recording_->add(screen_->recorded->paint(size.width, size.height, data), now);
        });
        if (!added) recording_->end(now);
    }

    void tendRecording() {
        const double now = window_.seconds();
        const std::optional<Message> news = recording_->tend(timesProcessor(), now);
        app_.showRecording(recording_->ended() ? std::nullopt : std::optional(recording_->seconds(now)));
        if (!news) return;
        app_.ui().say(news->severity, news->text, news->hint);
        recording_.reset();
        now_.again = true;
    }

    void follow(const DeviceWish& wish) {
        const auto canShow = [this](gpu::Device& device) {
            Graphics trial(device);
            Screen screen(trial, window_);
            screen.swapchain.rebuild(screen.painter, window_.size());
        };
        const bool usable = program_.usable(wish, canShow);
        screen_.reset();
        if (usable)
            program_.change(wish);
        else if (program_.graphics.device().abandoned()) // with a frame that the driver keeps
            program_.restart("The driver keeps a frame that it was to show.");
    }

    const InterruptGuard interrupt_;
    Window window_;
    WindowLog log_;
    Program program_;
    App& app_ = program_.app;
    LossLimit surfaceLosses_;
    std::optional<Screen> screen_;
    bool quit_ = false;
    std::optional<Recording> recording_; // or one that is being saved

    /// How the present screen's frames come.
    struct Frames {
        double last = 0;
        double showFrom = 0;              // the next one: until then, training has the queue to itself
        double drawnSeconds = 0;          // of the device, with frames, when the last one began
        double cost = 0;                  // seconds that the last frame took
        std::optional<VkExtent2D> toShow; // a frame that is being drawn
        std::optional<double> showing;    // since then the driver has it
        VkExtent2D drawn{};               // the last one that was shown
        std::optional<DeviceWish> device; // wished for
        std::optional<PictureWish> picture;
        bool again = false; // one more is needed: to be recorded, or to show a message
    };
    Frames now_;
};

} // namespace

int runWindow(const ShowOptions& options) { return WindowRun(options).untilClosed(); }

} // namespace lockstep::demos
