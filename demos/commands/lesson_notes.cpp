#include "demos/commands/lesson_notes.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "demos/kit/interrupt.h"
#include "demos/kit/pacer.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "demos/lesson/lesson_text.h"
#include "demos/shell/run_window.h"
#include "demos/shell/state_file.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/platform/terminal.h"

namespace lockstep::demos {

namespace {

constexpr std::chrono::milliseconds lookInterval(200);

std::string notesPage(const LessonRun& run) {
    const Lesson& lesson = run.lesson();
    const LessonStep& step = run.step();
    std::string page = fmt::format("{} of {}  {}\n\n", run.at() + 1, lesson.steps.size(), step.title);
    page += notesText(run);
    if (!run.last()) page += fmt::format("Next: {}\n", lesson.steps[run.at() + 1].title);
    return page;
}

/// What is shown, and since when.
class Follower {
  public:
    void look(const std::optional<OpenStep>& open) {
        if (open == shown_ && !page_.empty()) return;
        if (!open)
            page_ = "No lesson is open in a window.\n";
        else
            page_ = pageOf(*open);
        if (!shown_ || !open || shown_->lesson != open->lesson) begun_ = secondsNow();
        shown_ = open;
        changed_ = true;
    }
    void print(bool live) {
        const double seconds = std::floor(secondsNow());
        if (!changed_ && (!live || seconds == printed_)) return;
        changed_ = false;
        printed_ = seconds;
        if (live) writeText(stdout, "\x1b[2J\x1b[H");
        if (live && shown_)
            printOut("{} on this step, {} in all{}\n\n", clockTime(secondsNow() - stepBegun_),
                     clockTime(secondsNow() - begun_),
                     minutes_ > 0 ? fmt::format(" of {}", counted(minutes_, "minute")) : "");
        printOut("{}{}", page_, live ? "" : "\n");
        flushText(stdout);
    }

  private:
    std::string pageOf(const OpenStep& open) {
        try {
            LessonRun run(readLesson(open.lesson));
            run.resume(open.progress);
            if (!shown_ || shown_->lesson != open.lesson || at_ != run.at()) stepBegun_ = secondsNow();
            at_ = run.at();
            minutes_ = run.lesson().minutes;
            return notesPage(run);
        } catch (const std::exception& error) {
            return fmt::format("{}\n", error.what());
        }
    }

    std::optional<OpenStep> shown_;
    std::string page_;
    bool changed_ = false;
    std::size_t at_ = 0;
    std::size_t minutes_ = 0;
    double begun_ = 0;
    double stepBegun_ = 0;
    double printed_ = 0;
};

} // namespace

int printNotes(const std::filesystem::path& lesson) {
    LessonRun run(readLesson(lesson));
    LessonDesk desk; // what was measured here last
    if (const std::filesystem::path progress = lessonProgressFile(); !progress.empty()) desk.keepIn(progress);
    run.resume(desk.progressOf(run.lesson().name));
    run.go(0);
    printOut("{}\n\n", run.lesson().title);
    do printOut("{}\n", notesPage(run));
    while (run.go(run.at() + 1));
    return 0;
}

int followNotes() {
    const std::filesystem::path progress = lessonProgressFile();
    if (progress.empty()) throw std::runtime_error("there is no folder for stored state to look into");
    const bool live = platform::isTerminal(stdout);
    const InterruptGuard guard;
    Follower follower;
    while (guard.exitCode() == 0 && outputWorks()) {
        follower.look(openStepIn(progress));
        follower.print(live);
        std::this_thread::sleep_for(lookInterval);
    }
    return 0;
}

} // namespace lockstep::demos
