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

} // namespace lockstep::demos
