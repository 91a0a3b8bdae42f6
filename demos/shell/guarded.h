#pragma once

#include <exception>

#include "demos/draw/ui.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

/// Performs `action`; its exception becomes a message, and the window stays open. Not around what draws:
/// Dear ImGui would miss the ends of what was begun.
template <class Action> void guarded(Ui& ui, Action action) {
    try {
        action();
    } catch (const gpu::DeviceLostError&) {
        throw; // the owner recreates everything
    } catch (const std::exception& error) {
        ui.say(Severity::error, error.what());
    }
}

} // namespace lockstep::demos
