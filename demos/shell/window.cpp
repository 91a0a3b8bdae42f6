#include "demos/shell/window.h"

#include <algorithm>
#include <stdexcept>

#include <imgui.h>

// The engine loads Vulkan itself; GLFW only needs its types, so these come first.
#include <vulkan/vulkan.h>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "engine/gpu/error.h"
#include "engine/platform/messages.h"

namespace lockstep::demos {

namespace {

// With GLFW's last error as the reason.
std::runtime_error displayError(const char* what) {
    const char* reason = nullptr;
    glfwGetError(&reason);
    return std::runtime_error(fmt::format("{}: {}. Without a display: `lockstep race`, `lockstep train`, or "
                                          "`lockstep show EXHIBIT --headless --png FILE`",
                                          what, reason == nullptr ? "unknown reason" : reason));
}

} // namespace

Window::Window(int width, int height, const std::string& title) {
    if (glfwInit() != GLFW_TRUE) throw displayError("no window can be opened");
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    window_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
    if (window_ == nullptr) {
        const std::runtime_error error = displayError("no window can be opened");
        glfwTerminate();
        throw error;
    }
    listen();
}

Window::~Window() {
    glfwDestroyWindow(window_);
    glfwTerminate();
}

void Window::listen() {
    glfwSetWindowUserPointer(window_, this);
    static const auto self = [](GLFWwindow* window) {
        return static_cast<Window*>(glfwGetWindowUserPointer(window));
    };
    static const auto push = [](GLFWwindow* window, const InputEvent& event) {
        if (InputQueue* input = self(window)->input_) input->push(event);
        double& first = self(window)->firstEvent_;
        if (first < 0) first = glfwGetTime();
    };
    glfwSetCursorPosCallback(window_, [](GLFWwindow* window, double x, double y) {
        // In screen coordinates, which are not pixels everywhere.
        int screen = 0;
        int pixels = 0;
        glfwGetWindowSize(window, &screen, nullptr);
        glfwGetFramebufferSize(window, &pixels, nullptr);
        const double ratio = screen > 0 ? static_cast<double>(pixels) / screen : 1.0;
        push(window,
             {InputKind::move, static_cast<float>(x * ratio), static_cast<float>(y * ratio), 0, false});
    });
    glfwSetCursorEnterCallback(window_, [](GLFWwindow* window, int entered) {
        if (entered == GLFW_FALSE) push(window, {InputKind::leave, 0, 0, 0, false});
    });
    glfwSetMouseButtonCallback(window_, [](GLFWwindow* window, int button, int action, int) {
        if (button < 3) push(window, {InputKind::button, 0, 0, button, action == GLFW_PRESS});
    });
    glfwSetScrollCallback(window_, [](GLFWwindow* window, double x, double y) {
        push(window, {InputKind::wheel, static_cast<float>(x), static_cast<float>(y), 0, false});
    });
    glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int code, int action, int) {
        // Letters as the keyboard's layout has them: on some, Y and Z are the other way round.
        const char* name = glfwGetKeyName(key, code);
        if (name != nullptr && name[0] >= 'a' && name[0] <= 'z' && name[1] == 0)
            key = GLFW_KEY_A + (name[0] - 'a');
        if (key != GLFW_KEY_UNKNOWN && action != GLFW_REPEAT)
            push(window, {InputKind::key, 0, 0, key, action == GLFW_PRESS});
    });
    glfwSetCharCallback(window_, [](GLFWwindow* window, unsigned codePoint) {
        push(window, {InputKind::character, 0, 0, static_cast<int>(codePoint), false});
    });
    glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** files) {
        for (int i = 0; i < count; ++i) self(window)->dropped_.emplace_back(files[i]);
    });
}

std::vector<std::string> Window::instanceExtensions() const {
    std::uint32_t count = 0;
    const char** names = glfwGetRequiredInstanceExtensions(&count);
    if (names == nullptr) throw displayError("this display cannot show Vulkan");
    return {names, names + count};
}

VkSurfaceKHR Window::createSurface(VkInstance instance) const {
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    gpu::check(glfwCreateWindowSurface(instance, window_, nullptr, &surface), "glfwCreateWindowSurface");
    return surface;
}

void Window::handleEvents(double seconds) {
    if (seconds < 0)
        glfwWaitEvents();
    else if (seconds > 0 && !platform::waitForMessages(seconds))
        glfwWaitEventsTimeout(seconds);
    else
        glfwPollEvents();
}

bool Window::closeWanted() const { return glfwWindowShouldClose(window_) == GLFW_TRUE; }

VkExtent2D Window::size() const {
    if (glfwGetWindowAttrib(window_, GLFW_ICONIFIED) == GLFW_TRUE) return {0, 0};
    int width = 0;
    int height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    return {static_cast<std::uint32_t>(std::max(width, 0)), static_cast<std::uint32_t>(std::max(height, 0))};
}

float Window::displayScale() const {
    float x = 1;
    float y = 1;
    glfwGetWindowContentScale(window_, &x, &y);
    return std::clamp(x, 1.0f, 4.0f);
}

double Window::seconds() const { return glfwGetTime(); }

void Window::toggleFullScreen() {
    if (full_) {
        glfwSetWindowMonitor(window_, nullptr, before_[0], before_[1], before_[2], before_[3],
                             GLFW_DONT_CARE);
        full_ = false;
        return;
    }
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
    if (mode == nullptr) return;
    glfwGetWindowPos(window_, &before_[0], &before_[1]);
    glfwGetWindowSize(window_, &before_[2], &before_[3]);
    glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    full_ = true;
}

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
