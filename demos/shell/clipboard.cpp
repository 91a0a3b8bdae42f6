#include "demos/shell/clipboard.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

namespace lockstep::demos {

void shareClipboard() {
#if IMGUI_VERSION_NUM >= 19110
    ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
    platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
        glfwSetClipboardString(nullptr, text);
    };
    platform.Platform_GetClipboardTextFn = [](ImGuiContext*) { return glfwGetClipboardString(nullptr); };
#else
    ImGuiIO& io = ImGui::GetIO();
    io.SetClipboardTextFn = [](void*, const char* text) { glfwSetClipboardString(nullptr, text); };
    io.GetClipboardTextFn = [](void*) { return glfwGetClipboardString(nullptr); };
#endif
}

} // namespace lockstep::demos
