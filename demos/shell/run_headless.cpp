// The program without a window: every frame is drawn into an image, time passes in frames, and a script does
// what a user would.
#include <optional>
#include <sstream>
#include <stdexcept>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "demos/draw/fonts.h"
#include "demos/draw/painter.h"
#include "demos/draw/png.h"
#include "demos/shell/app.h"
#include "demos/shell/device_switch.h"
#include "demos/shell/input_queue.h"
#include "demos/shell/run_window.h"
#include "engine/cpu/cpu_info.h"

namespace lockstep::demos {

namespace {

constexpr double secondsPerFrame = 1.0 / 60;

class Headless {
  public:
    explicit Headless(const ShowOptions& options)
        : options_(options), machines_(options.threads, options.device),
          graphics_(machines_.openForDrawing(drawingOptions(options))), app_(graphics_, machines_),
          devices_(app_, graphics_, machines_, drawingOptions(options), options.device),
          width_(options.width), height_(options.height) {
        if (!options.device.empty()) app_.fixDevice();
        app_.ui().scripted = true;
        app_.ui().masked = options.masked;
        beginWith(app_, options);
    }

    int run() {
        if (options_.platform) {
            const gpu::DeviceReport& device = graphics_.device().report();
            fmt::print("Dear ImGui {}\n{}, {}\n{}\n{}", ImGui::GetVersion(), device.name, device.driver,
                       cpuName(), fontFiles());
            return 0;
        }
        if (options_.script.empty()) {
            for (std::uint64_t i = 0; i < std::max<std::uint64_t>(options_.frames, 1); ++i) frame();
        } else {
            // The first frame fixes fonts and sizes.
            frames(2);
            for (const ScriptLine& line : readScript(options_.script)) perform(line);
            frames(2);
        }
        if (!options_.png.empty()) writePng(options_.png, last_);
        return 0;
    }

  private:
    void frame() {
        while (!drawn()) {
        }
        for (; reported_ < app_.ui().messages.size(); ++reported_) {
            const Message& message = app_.ui().messages[reported_];
            fmt::print("message: {}{}{}\n", message.text, message.hint.empty() ? "" : " ", message.hint);
        }
        const AppWishes wishes = app_.takeWishes();
        if (wishes.picture && !wishes.picture->empty())
            writePng(*wishes.picture, cropped(last_, wishes.pictureArea));
        if (!wishes.device || !devices_.usable(*wishes.device)) return;
        offscreen_.reset();
        devices_.change(*wishes.device);
    }

    /// False when the device was lost on the way; there is another one now.
    bool drawn() {
        try {
            if (!offscreen_) offscreen_.emplace(graphics_);
            const ImDrawData& data = app_.frame(width_, height_, options_.displayScale, secondsPerFrame);
            last_ = offscreen_->paint(width_, height_, data);
            return true;
        } catch (const gpu::DeviceLostError& loss) {
            offscreen_.reset();
            devices_.restart(loss.what());
            return false;
        }
    }

    void frames(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) frame();
    }

    // Everything pushed is taken in, and shown.
    void settle() {
        while (!app_.input().empty()) frame();
        frames(2);
    }

    void move(float x, float y) { app_.input().push({InputKind::move, x, y, 0, false}); }
    void button(int which, bool down) { app_.input().push({InputKind::button, 0, 0, which, down}); }

    Ui::Place place(const ScriptLine& line, const std::string& name) {
        const auto found = app_.ui().controls.find(name);
        if (found != app_.ui().controls.end()) return found->second;
        std::string known;
        for (const auto& [label, where] : app_.ui().controls) known += "\n  " + label;
        throw std::runtime_error(fmt::format(
            "script, line {}: nothing called '{}' is on the screen; there are:{}", line.number, name, known));
    }

    void click(const ScriptLine& line, int which) {
        const Ui::Place at = place(line, line.argument);
        move((at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2);
        settle();
        button(which, true);
        button(which, false);
        settle();
    }

    void drag(const ScriptLine& line) {
        // The last two words are shares of the control's width; its name may contain blanks.
        const std::size_t second = line.argument.rfind(' ');
        const std::size_t first = line.argument.rfind(' ', second - 1);
        if (second == std::string::npos || first == std::string::npos)
            throw std::runtime_error(fmt::format("script, line {}: drag NAME FROM TO", line.number));
        const Ui::Place at = place(line, line.argument.substr(0, first));
        const auto x = [&](const std::string& share) {
            return at.min.x + (at.max.x - at.min.x) * std::stof(share);
        };
        const float y = (at.min.y + at.max.y) / 2;
        move(x(line.argument.substr(first + 1, second - first - 1)), y);
        settle();
        button(0, true);
        settle();
        move(x(line.argument.substr(second + 1)), y);
        settle();
        button(0, false);
        settle();
    }

    std::pair<float, float> twoNumbers(const ScriptLine& line) {
        std::istringstream words(line.argument);
        float a = 0;
        float b = 0;
        if (!(words >> a >> b))
            throw std::runtime_error(fmt::format("script, line {}: two numbers are needed", line.number));
        return {a, b};
    }

    void press(const std::string& name) {
        const KeyPress key = keyFromText(name);
        const auto push = [this](KeyCode code, bool down) {
            app_.input().push({InputKind::key, 0, 0, code, down});
        };
        if (key.control) push(GLFW_KEY_LEFT_CONTROL, true);
        if (key.shift) push(GLFW_KEY_LEFT_SHIFT, true);
        if (key.alt) push(GLFW_KEY_LEFT_ALT, true);
        push(key.key, true);
        push(key.key, false);
        if (key.alt) push(GLFW_KEY_LEFT_ALT, false);
        if (key.shift) push(GLFW_KEY_LEFT_SHIFT, false);
        if (key.control) push(GLFW_KEY_LEFT_CONTROL, false);
        settle();
    }

    void perform(const ScriptLine& line) {
        fmt::print("{} {}\n", line.verb, line.argument);
        const auto inWindow = [this](std::pair<float, float> share) {
            move(share.first * static_cast<float>(width_), share.second * static_cast<float>(height_));
        };
        if (line.verb == "frames")
            frames(std::stoull(line.argument));
        else if (line.verb == "click")
            click(line, 0);
        else if (line.verb == "try") {
            if (app_.ui().controls.contains(line.argument)) click(line, 0);
        } else if (line.verb == "rightclick")
            click(line, 1);
        else if (line.verb == "hover") {
            const Ui::Place at = place(line, line.argument);
            move((at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2);
            settle();
        } else if (line.verb == "drag")
            drag(line);
        else if (line.verb == "move") {
            inWindow(twoNumbers(line));
            settle();
        } else if (line.verb == "dragto") {
            button(0, true);
            settle();
            inWindow(twoNumbers(line));
            settle();
            button(0, false);
            settle();
        } else if (line.verb == "down" || line.verb == "up") {
            button(0, line.verb == "down");
            settle();
        } else if (line.verb == "wheel") {
            app_.input().push({InputKind::wheel, 0, std::stof(line.argument), 0, false});
            settle();
        } else if (line.verb == "key")
            press(line.argument);
        else if (line.verb == "type") {
            for (const char letter : line.argument)
                app_.input().push({InputKind::character, 0, 0, static_cast<unsigned char>(letter), false});
            settle();
        } else if (line.verb == "resize") {
            const auto [width, height] = twoNumbers(line);
            width_ = static_cast<std::uint32_t>(std::max(width, 1.0f));
            height_ = static_cast<std::uint32_t>(std::max(height, 1.0f));
            frames(3);
        } else if (line.verb == "theme") {
            app_.setDark(line.argument != "light");
            frames(2);
        } else if (line.verb == "drop") {
            app_.openFile(options_.script.parent_path() / line.argument);
            frames(3);
        } else if (line.verb == "controls") {
            for (const auto& [name, at] : app_.ui().controls)
                fmt::print("control {:.0f} {:.0f} {}\n", (at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2,
                           name);
        } else if (line.verb == "state")
            app_.saveState(line.argument);
        else if (line.verb == "picture") {
            frame();
            writePng(line.argument, last_);
        }
    }

    ShowOptions options_;
    Machines machines_;
    Graphics graphics_;
    App app_;
    DeviceSwitch devices_;
    std::optional<Offscreen> offscreen_;
    std::uint32_t width_;
    std::uint32_t height_;
    Pixels last_;
    std::size_t reported_ = 0;
};

} // namespace

int runHeadless(const ShowOptions& options) { return Headless(options).run(); }

} // namespace lockstep::demos
