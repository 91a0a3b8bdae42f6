// A window of the system, by GLFW: its surface, its size, and the user's input.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "demos/shell/input_queue.h"
#include "engine/gpu/device.h"

struct GLFWwindow;

namespace lockstep::demos {

class Window {
  public:
    /// Throws std::runtime_error when there is no display, with the commands that need none.
    Window(int width, int height, const std::string& title);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// Extensions of a Vulkan instance that can show on it. Throws std::runtime_error when there are none.
    std::vector<std::string> instanceExtensions() const;
    VkSurfaceKHR createSurface(VkInstance instance) const;

    /// Where events go from now on.
    void setInput(InputQueue* input) { input_ = input; }
    /// Handles what has happened; waits at most `seconds` for something to happen (negative: for ever).
    void handleEvents(double seconds);

    bool closeWanted() const;
    VkExtent2D size() const;    ///< in pixels; 0 while minimised
    float displayScale() const; ///< 2 on most HiDPI screens
    double seconds() const;     ///< since the start
    void toggleFullScreen();
    std::vector<std::filesystem::path> takeDropped() { return std::exchange(dropped_, {}); }
    /// When the oldest event came that takeFirstEvent() has not been asked for since; negative: none.
    double takeFirstEvent() { return std::exchange(firstEvent_, -1); }

  private:
    void listen();

    GLFWwindow* window_ = nullptr;
    InputQueue* input_ = nullptr;
    std::vector<std::filesystem::path> dropped_;
    int before_[4] = {0, 0, 0, 0}; // place and size before full screen
    bool full_ = false;
    double firstEvent_ = -1;
};

/// Connects ImGui's clipboard to the desktop's, by GLFW. Needs an ImGui context; without this call,
/// copied text stays within the program.
void shareClipboard();

} // namespace lockstep::demos
