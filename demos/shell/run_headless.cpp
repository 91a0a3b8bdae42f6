// The program without a window: every frame is drawn into an image, time passes in frames, and a script does
// what a user would.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui_internal.h>

#include "demos/draw/fonts.h"
#include "demos/draw/painter.h"
#include "demos/draw/png.h"
#include "demos/kit/interrupt.h"
#include "demos/lesson/lesson_text.h"
#include "demos/shell/app.h"
#include "demos/shell/input_queue.h"
#include "demos/shell/program.h"
#include "demos/shell/recording.h"
#include "demos/shell/run_window.h"
#include "demos/shell/script_lines.h"
#include "demos/words/language.h"
#include "demos/words/streams.h"
#include "engine/cpu/cpu_info.h"
#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr double secondsPerFrame = 1.0 / 60;
constexpr std::uint64_t mostFrames = 1'000'000; // of one line of a script: more than four hours
constexpr double largestSide = 16384;           // of a window, in pixels
constexpr const char* nothingSaved = "nothing is saved while a lesson's 'try' is done";

/// The characters that `type` types. Throws scriptError() for what no text field can take.
std::vector<int> charactersOf(const ScriptLine& line) {
    const std::string& text = line.argument;
    if (const std::size_t at = findInvalidUtf8(text); at != std::string::npos)
        throw scriptError(line, fmt::format("byte {} of the text to type is not UTF-8; save the script as "
                                            "UTF-8",
                                            at + 1));
    std::vector<int> characters;
    for (std::size_t at = 0; at < text.size();) {
        unsigned letter = 0;
        const char* end = text.data() + text.size();
        const auto bytes = static_cast<std::size_t>(ImTextCharFromUtf8(&letter, text.data() + at, end));
        const std::string bytesOfLetter = text.substr(at, bytes);
        if (letter == IM_UNICODE_CODEPOINT_INVALID && bytesOfLetter != "\xEF\xBF\xBD")
            throw scriptError(line, fmt::format("'{}' cannot be typed: this build of Dear ImGui takes "
                                                "characters up to U+{:X}",
                                                bytesOfLetter, IM_UNICODE_CODEPOINT_MAX));
        characters.push_back(static_cast<int>(letter));
        at += bytes;
    }
    return characters;
}

class Headless {
  public:
    explicit Headless(const ShowOptions& options)
        : options_(options), program_(options, drawingOptions(options)), width_(options.width),
          height_(options.height) {
        app_.ui().scripted = true;
        app_.fixLanguage(options.language.empty() ? "en" : options.language);
        app_.setFlatOut();
        app_.ui().masked = options.masked;
        if (options.still) app_.ui().animations = false;
        if (options.savesNothing) app_.uncoverLessons(); // nobody answers
        beginWith(app_, options);
    }

    /// Returns the exit code: 0, or that of an interrupt, which saves what was recorded and nothing else.
    int run() {
        try {
            perform();
        } catch (const Interrupted&) {
            if (recording_) endRecording();
            reportMessages();
        }
        return interrupt_.exitCode();
    }

  private:
    struct Interrupted {};

    void perform() {
        if (options_.platform) {
            const gpu::DeviceReport& device = program_.graphics.device().report();
            printOut("Dear ImGui {}\n{}, {}\n{}\n{}", ImGui::GetVersion(), device.name, device.driver,
                     cpuName(), fontFiles());
            return;
        }
        const bool scripted = !options_.script.empty() || !options_.commands.empty();
        // The first frame fixes fonts and sizes.
        if (scripted || !options_.record.empty()) frames(2);
        if (!options_.record.empty())
            recording_.emplace(options_.record, now_, Recording::Limits{options_.recordSeconds});
        if (!scripted) {
            paintAll_ = !recording_;
            frames(std::max<std::uint64_t>(options_.frames, 1));
        } else {
            for (const ScriptLine& line : script()) {
                if (!options_.answersOnly) printOut("{} {}\n", line.verb, line.argument);
                flushText(stdout); // a line may take long
                perform(line);
            }
            frames(2);
        }
        if (recording_) endRecording();
        reportMessages();
        if (!options_.png.empty()) writePng(options_.png, last_);
    }

    /// A script's frames pass without being painted where nothing looks at them: its input goes through the
    /// window all the same, and software Vulkan would spend most of the time on pictures that are thrown
    /// away.
    enum class Look { pass, paint };

    void frame(Look look) {
        if (interrupt_.exitCode() != 0) throw Interrupted();
        std::optional<WritesRefused> refused;
        if (options_.savesNothing) refused.emplace(nothingSaved);
        now_ += secondsPerFrame;
        while (!drawn(look)) {
        }
        if (recording_) tendRecording();
        reportMessages();
        const AppWishes wishes = app_.takeWishes();
        if (wishes.record && recording_) endRecording();
        if (options_.savesNothing && (wishes.picture || wishes.record))
            app_.ui().say(Severity::error, fmt::format("No picture: {}.", nothingSaved));
        else if (wishes.picture && !wishes.picture->file.empty())
            writePng(wishes.picture->file, cropped(last_, wishes.picture->area));
        if (!wishes.device || !program_.usable(*wishes.device)) return;
        offscreen_.reset();
        program_.change(*wishes.device);
    }

    /// False when the device was lost on the way; there is another one now.
    bool drawn(Look look) {
        try {
            if (!offscreen_) offscreen_.emplace(program_.graphics);
            const bool due = recording_ && recording_->due(now_);
            app_.ui().unseen = look == Look::pass && !due && !app_.mayWantPicture();
            const ImDrawData& data = app_.frame(width_, height_, options_.displayScale, secondsPerFrame);
            const bool recorded = due && !app_.fileMenuOpen();
            app_.leaveOutSign();
            if (look == Look::paint || recorded || app_.wantsPicture())
                last_ = offscreen_->paint(width_, height_, data);
            if (recorded) recording_->add(last_, now_);
            return true;
        } catch (const gpu::DeviceLostError& loss) {
            offscreen_.reset();
            program_.restart(loss.what());
            return false;
        }
    }

    void reportMessages() {
        for (; reported_ < app_.ui().messages.size(); ++reported_) {
            const Message& message = app_.ui().messages[reported_];
            // The window writes the hint below the text; in one line a full stop divides them.
            const bool closed = message.text.ends_with('.') || message.text.ends_with(':');
            const char* between = message.hint.empty() ? "" : closed ? " " : ". ";
            // With a teller, somebody else has standard output.
            printTo(options_.teller ? stderr : stdout, "message: {}{}{}\n", message.text, between,
                    message.hint);
        }
    }

    void tendRecording() {
        recording_->tend(false, now_);
        recording_->wait(); // what is recorded does not depend on how fast it is encoded
        if (recording_->ended()) return endRecording();
        app_.showRecording(recording_->seconds(now_));
    }

    void endRecording() {
        const Message message = recording_->finish(now_ + secondsPerFrame);
        recording_.reset();
        app_.showRecording({});
        app_.ui().say(message.severity, message.text, message.hint);
    }

    /// The last one is painted.
    void frames(std::uint64_t count) {
        for (std::uint64_t i = 1; i <= count; ++i) frame(i == count || paintAll_ ? Look::paint : Look::pass);
    }

    // Everything pushed is taken in, and shown; `last` is the frame after which it is.
    void settle(Look last = Look::paint) {
        const Look others = paintAll_ ? Look::paint : Look::pass;
        while (!app_.input().empty()) frame(others);
        frame(others);
        frame(paintAll_ ? Look::paint : last);
    }

    void move(float x, float y) { app_.input().push({InputKind::move, x, y, 0, false}); }
    void button(int which, bool down) { app_.input().push({InputKind::button, 0, 0, which, down}); }

    void leftButton(bool down, Look last = Look::paint) {
        button(0, down);
        settle(last);
    }

    void moveInWindow(const ScriptLine& line, Look last = Look::paint) {
        const ImVec2 share = twoNumbers(line, -100, 100);
        move(share.x * static_cast<float>(width_), share.y * static_cast<float>(height_));
        settle(last);
    }

    Ui::Place place(const ScriptLine& line, const std::string& name) {
        const auto found = app_.ui().controls.find(name);
        if (found != app_.ui().controls.end()) return found->second;
        std::vector<std::string_view> known;
        for (const auto& control : app_.ui().controls) known.push_back(control.first);
        std::string listed;
        for (const std::string_view label : nearestFirst(name, known)) listed.append("\n  ").append(label);
        throw scriptError(line,
                          fmt::format("nothing called '{}' is on the screen; there are:{}", name, listed));
    }

    void hover(const ScriptLine& line, Look last = Look::paint) {
        const Place at = place(line, line.argument);
        move((at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2);
        settle(last);
    }

    void click(const ScriptLine& line, int which) {
        hover(line, Look::pass);
        button(which, true);
        button(which, false);
        settle();
    }

    void drag(const ScriptLine& line) {
        // The last two words are shares of the control's width; its name may contain blanks.
        const std::size_t second = line.argument.rfind(' ');
        const std::size_t first = line.argument.rfind(' ', second - 1);
        if (second == std::string::npos || first == std::string::npos)
            throw scriptError(line, "drag NAME FROM TO");
        const Ui::Place at = place(line, line.argument.substr(0, first));
        const auto x = [&](const std::string& share) {
            return at.min.x + (at.max.x - at.min.x) * numberIn(line, share, -100, 100);
        };
        const float y = (at.min.y + at.max.y) / 2;
        move(x(line.argument.substr(first + 1, second - first - 1)), y);
        settle(Look::pass);
        leftButton(true, Look::pass);
        move(x(line.argument.substr(second + 1)), y);
        settle(Look::pass);
        leftButton(false);
    }

    ImVec2 twoNumbers(const ScriptLine& line, double least, double most) {
        const std::size_t blank = std::min(line.argument.find(' '), line.argument.size());
        return {numberIn(line, std::string_view(line.argument).substr(0, blank), least, most),
                numberIn(line, std::string_view(line.argument).substr(blank), least, most)};
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

    void resize(ImVec2 size) {
        width_ = static_cast<std::uint32_t>(size.x);
        height_ = static_cast<std::uint32_t>(size.y);
        frames(3);
    }

    void listControls() {
        for (const auto& [name, at] : app_.ui().controls)
            printOut("control {:.0f} {:.0f} {}\n", (at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2,
                     name);
    }

    static void listTexts() {
        for (std::string text : takeShownTexts()) {
            std::ranges::replace(text, '\n', ' ');
            printOut("text {}\n", text);
        }
        keepShownTexts();
    }

    // What can be known to be wrong is said before anything is done.
    std::vector<ScriptLine> script() const {
        std::vector<ScriptLine> lines =
            options_.commands.empty() ? readScript(options_.script) : options_.commands;
        std::vector<std::string_view> verbs;
        for (const auto& command : commands_) verbs.push_back(command.first);
        for (const ScriptLine& line : lines) {
            if (!commands_.contains(line.verb))
                throw scriptError(
                    line, fmt::format("there is no command '{}'{}", line.verb, rightNames(line.verb, verbs)));
            if (line.verb == "type") charactersOf(line);
        }
        return lines;
    }

    void perform(const ScriptLine& line) {
        try {
            commands_.at(line.verb)(line);
        } catch (const std::invalid_argument& error) { // a key or a lesson that does not exist
            throw scriptError(line, error.what());
        }
    }

    // What the step waits for, if it comes of running.
    void await(const ScriptLine& line) {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point end = Clock::now() + std::chrono::minutes(5);
        const LessonRun* lesson = app_.lesson();
        if (lesson == nullptr) throw scriptError(line, "no lesson is open");
        Clock::time_point worked = Clock::now();
        frames(2);
        if (lesson->waits() && !app_.exhibit().running() && !app_.exhibit().timesProcessor())
            app_.exhibit().run(app_.ui());
        while (lesson->waits()) {
            frame(Look::pass);
            // A loss that is not finite ends training, for instance.
            const bool busy = app_.exhibit().running() || app_.exhibit().timesProcessor();
            if (busy) worked = Clock::now();
            if (Clock::now() - worked > std::chrono::seconds(20))
                throw scriptError(
                    line, fmt::format("'{}' does not happen: nothing runs any more", lesson->step().title));
            if (Clock::now() > end)
                throw scriptError(
                    line, fmt::format("'{}' has not happened within five minutes", lesson->step().title));
        }
        frames(2);
    }

    void tell(const ScriptLine& line) {
        if (app_.lesson() == nullptr) throw scriptError(line, "no lesson is open");
        if (options_.teller)
            options_.teller(*app_.lesson(), app_.lessonValues());
        else
            printOut("{}\n", stepText(*app_.lesson(), app_.lessonValues()));
    }

    using Perform = std::function<void(const ScriptLine& line)>;

    // One line of a script:
    //   frames N               lets N frames pass
    //   click NAME             of a control ("Run"), or of one in an open list ("##speed/1 step/s")
    //   try NAME               the same, if there is such a control at the moment
    //   rightclick NAME
    //   hover NAME
    //   drag NAME FROM TO      from one share of the control's width to another: drag Rate 0.2 0.8
    //   dragto X Y             with the left button held, from the mouse to that share of the window
    //   move X Y               the mouse, to that share of the window (0 to 1)
    //   down, up               the left button
    //   wheel N                N notches away from the person
    //   key KEY                "Space", "Ctrl+S", "F11"
    //   type TEXT              in UTF-8
    //   resize WIDTH HEIGHT
    //   theme dark|light
    //   drop FILE              a file onto the window; relative to the script's folder
    //   lesson NAME            opens a lesson
    //   await                  runs the exhibit until what the lesson's step waits for has happened
    //   tell                   prints the lesson's step, with what was measured
    //   prose                  prints "prose N": the words of sentences in the panel for details
    //   texts                  prints "text ..." for everything that was said since the last one; the first
    //   one
    //                          prints nothing
    //   paint all              from now on, every frame is painted, not only the last of a line
    //   controls               prints "control X Y NAME" for everything that can be pressed or set
    //   state FILE             saves the state
    //   picture FILE [exhibit] saves the next frame, or its exhibit alone
    // Empty lines and lines that begin with # are passed over.
    const std::map<std::string, Perform> commands_{
        {"frames", [this](const ScriptLine& line) { frames(countIn(line, mostFrames)); }},
        {"click", [this](const ScriptLine& line) { click(line, 0); }},
        {"try",
         [this](const ScriptLine& line) {
             if (app_.ui().controls.contains(line.argument)) click(line, 0);
         }},
        {"rightclick", [this](const ScriptLine& line) { click(line, 1); }},
        {"hover", [this](const ScriptLine& line) { hover(line); }},
        {"drag", [this](const ScriptLine& line) { drag(line); }},
        {"dragto",
         [this](const ScriptLine& line) {
             leftButton(true, Look::pass);
             moveInWindow(line, Look::pass);
             leftButton(false);
         }},
        {"move", [this](const ScriptLine& line) { moveInWindow(line); }},
        {"down", [this](const ScriptLine&) { leftButton(true); }},
        {"up", [this](const ScriptLine&) { leftButton(false); }},
        {"wheel",
         [this](const ScriptLine& line) {
             app_.input().push({InputKind::wheel, 0, numberIn(line, line.argument, -1000, 1000), 0, false});
             settle();
         }},
        {"key", [this](const ScriptLine& line) { press(line.argument); }},
        {"type",
         [this](const ScriptLine& line) {
             for (const int character : charactersOf(line))
                 app_.input().push({InputKind::character, 0, 0, character, false});
             settle();
         }},
        {"resize", [this](const ScriptLine& line) { resize(twoNumbers(line, 1, largestSide)); }},
        {"theme",
         [this](const ScriptLine& line) {
             app_.setDark(line.argument != "light");
             frames(2);
         }},
        {"drop",
         [this](const ScriptLine& line) {
             app_.openFile(options_.script.parent_path() / line.argument);
             frames(3);
         }},
        {"lesson",
         [this](const ScriptLine& line) {
             app_.openLesson(lessonFile(line.argument));
             frames(3);
         }},
        {"await", [this](const ScriptLine& line) { await(line); }},
        {"tell", [this](const ScriptLine& line) { tell(line); }},
        {"prose", [this](const ScriptLine&) { printOut("prose {}\n", app_.ui().prose); }},
        {"texts", [](const ScriptLine&) { listTexts(); }},
        {"paint",
         [this](const ScriptLine& line) {
             if (line.argument != "all") throw scriptError(line, "paint all");
             paintAll_ = true;
         }},
        {"controls", [this](const ScriptLine&) { listControls(); }},
        {"state", [this](const ScriptLine& line) { app_.saveState(line.argument); }},
        {"picture",
         [this](const ScriptLine& line) {
             frame(Look::paint);
             constexpr std::string_view part = " exhibit";
             const bool exhibit = line.argument.ends_with(part);
             const std::string file =
                 line.argument.substr(0, line.argument.size() - (exhibit ? part.size() : 0));
             writePng(file, cropped(last_, exhibit ? std::optional(app_.exhibitPlace()) : std::nullopt));
         }},
    };

    ShowOptions options_;
    const InterruptGuard interrupt_;
    Program program_;
    App& app_ = program_.app;
    std::optional<Offscreen> offscreen_;
    std::uint32_t width_;
    std::uint32_t height_;
    Pixels last_;
    bool paintAll_ = false; // frames of a script
    std::size_t reported_ = 0;
    double now_ = 0; // the last frame, in seconds of the script's clock
    std::optional<Recording> recording_;
};

} // namespace

int runHeadless(const ShowOptions& options) { return Headless(options).run(); }

} // namespace lockstep::demos
