#include "demos/shell/program.h"

#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/shell/state_file.h"
#include "demos/words/streams.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

// A driver that resets its device may need a moment before the device can be opened again.
constexpr std::chrono::milliseconds breath{300};

/// Whether there is something else than a regular file: a folder, a pipe, a device.
bool isOtherThanFile(const std::filesystem::path& path) {
    std::error_code failure;
    const std::filesystem::file_status status = std::filesystem::status(path, failure);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

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
                         translatedFormat("The graphics device was lost; {} has been restarted.",
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
        app.ui().say(Severity::error,
                     translatedFormat("'{}' cannot be used: {}", wish.name.empty() ? wish.select : wish.name,
                                      error.what()),
                     translatedFormat("The window stays on {}.", present));
        return false;
    }
}

bool Program::fallBack(const std::string& failure) {
    if (!device_.empty() && showNothing_.empty()) return false;
    const gpu::DeviceReport failed = graphics.device().report();
    showNothing_.insert(failed.index);
    gpu::DeviceOptions options = drawing_;
    options.drawing = true;
    const gpu::DeviceReport* next = nullptr;
    const std::vector<gpu::DeviceReport> devices = gpu::listDevices(options);
    for (const gpu::DeviceReport& device : devices)
        if (device.refused.empty() && !showNothing_.contains(device.index) &&
            (next == nullptr || device.type < next->type))
            next = &device;
    if (next == nullptr) return false;
    leave();
    enter(std::to_string(next->index));
    app.ui().say(Severity::warning,
                 translatedFormat("'{}' cannot show this window: {}", failed.name, failure),
                 translatedFormat("The window and GPU lanes without @DEVICE now use {}.", next->name));
    return true;
}

void Program::change(const DeviceWish& wish) {
    leave();
    enter(wish.select);
    app.setDevice(wish);
    app.ui().say(Severity::info,
                 translatedFormat("The window and GPU lanes without @DEVICE now use {}.",
                                  graphics.device().report().name),
                 costs_);
    costs_.clear();
}

bool LossLimit::exceededBy(Clock::time_point loss) {
    while (!losses_.empty() && loss - losses_.front() > within) losses_.pop_front();
    losses_.push_back(loss);
    return losses_.size() >= most;
}

gpu::DeviceOptions drawingOptions(const ShowOptions& options) {
    gpu::DeviceOptions device;
    device.validation = options.validation;
    device.messages = [](const gpu::ValidationMessage& message) {
        printError("validation: {} {}\n", message.id, message.text);
    };
    return device;
}

void beginWith(App& app, const ShowOptions& options) {
    if (!options.stateFile.empty() && options.stateFile.extension() == ".md")
        app.openLesson(options.stateFile);
    else if (!options.stateFile.empty())
        app.openState(options.stateFile);
    if (!options.state.empty()) app.setState(nlohmann::ordered_json::parse(options.state));
    if (!options.exhibit.empty()) app.showExhibit(options.exhibit);
    if (options.light) app.setDark(false);
    if (options.presenter) app.ui().presenter = true;
    if (options.run) app.exhibit().run(app.ui());
}

void restoreLast(App& app) {
    const std::filesystem::path file = lastStateFile();
    std::error_code failure;
    if (!file.empty()) {
        app.keepRecentFiles(file.parent_path() / "recent.json");
        app.keepLessons(lessonProgressFile());
    }
    if (file.empty() || !std::filesystem::exists(file, failure)) return;
    try {
        app.setState(readStateFile(file));
    } catch (const std::exception& error) {
        if (isOtherThanFile(file)) // the system's, perhaps
            return app.ui().say(Severity::error,
                                translatedFormat("The last state cannot be restored: {}", error.what()),
                                "It stays as it is, and this session's state will not be saved.");
        std::filesystem::path kept = file;
        kept += ".bad";
        std::filesystem::rename(file, kept, failure);
        app.ui().say(Severity::error, translatedFormat("The last state cannot be restored: {}", error.what()),
                     failure ? "" : translatedFormat("The file is kept as {}.", kept.string()));
    }
}

void storeLast(const App& app) {
    const std::filesystem::path file = lastStateFile();
    if (file.empty()) return;
    try {
        if (isOtherThanFile(file)) throw std::runtime_error(file.string() + " is not a regular file");
        writeStateFile(file, app.lastState());
    } catch (const std::exception& error) {
        printError("lockstep: the state cannot be saved for the next start: {}\n", error.what());
    }
}

} // namespace lockstep::demos
