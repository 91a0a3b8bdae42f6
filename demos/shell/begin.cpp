#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/shell/app.h"
#include "demos/shell/run_window.h"
#include "demos/shell/state_file.h"

namespace lockstep::demos {

gpu::DeviceOptions drawingOptions(const ShowOptions& options) {
    gpu::DeviceOptions device;
    device.validation = options.validation;
    device.messages = [](const gpu::ValidationMessage& message) {
        fmt::print(stderr, "validation: {} {}\n", message.id, message.text);
    };
    return device;
}

void beginWith(App& app, const ShowOptions& options) {
    if (!options.stateFile.empty()) app.setState(readStateFile(options.stateFile));
    if (!options.exhibit.empty()) app.showExhibit(options.exhibit);
    if (options.light) app.setDark(false);
    if (options.presenter) app.setPresenter(true);
    if (options.run) app.exhibit().run(app.ui());
}

void restoreLast(App& app) {
    const std::filesystem::path file = lastStateFile();
    std::error_code failure;
    if (file.empty() || !std::filesystem::exists(file, failure)) return;
    try {
        app.setState(readStateFile(file));
    } catch (const std::exception& error) {
        std::filesystem::path kept = file;
        kept += ".bad";
        std::filesystem::rename(file, kept, failure);
        app.ui().say(Severity::error, fmt::format("The last state does not come back: {}", error.what()),
                     failure ? "" : fmt::format("It is kept as {}.", kept.string()));
    }
}

void storeLast(const App& app) {
    const std::filesystem::path file = lastStateFile();
    if (file.empty()) return;
    try {
        writeStateFile(file, app.state());
    } catch (const std::exception& error) {
        fmt::print(stderr, "lockstep: the state is not kept for the next start: {}\n", error.what());
    }
}

} // namespace lockstep::demos
