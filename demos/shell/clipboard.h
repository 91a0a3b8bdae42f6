// The system's clipboard, for text fields and for what exhibits copy.
#pragma once

namespace lockstep::demos {

/// Joins ImGui's clipboard to the one of the desktop, by GLFW. Needs an ImGui context; without this call,
/// what is copied stays within the program.
void shareClipboard();

} // namespace lockstep::demos
