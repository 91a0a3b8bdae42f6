// The lessons that there are, the one that is open, and how far somebody has come in each.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

/// A lesson in the list.
struct LessonEntry {
    std::filesystem::path file;
    std::string name;
    std::string title;
    std::string about;
    std::size_t minutes = 0;
    std::size_t place = 0;
    std::string group; ///< heading that it stands under; empty: none
    std::size_t steps = 0;
    std::size_t questions = 0;
    std::string problem; ///< why it cannot be opened; empty: nothing
};

/// The files of all lessons in all languages, readable or not.
std::vector<std::filesystem::path> allLessonFiles();

/// "8 minutes" in the language spoken now; empty for 0.
std::string minutesText(std::size_t minutes);

/// Those that come with the program, and those in the folder "lessons" beside the stored state, in their
/// order. Of a lesson and its translations, the one in the language spoken now.
std::vector<LessonEntry> findLessons();
/// "what-is-a-gpu", in the language spoken now, or "what-is-a-gpu.de". Throws std::invalid_argument with the
/// nearest name.
std::filesystem::path lessonFile(std::string_view name);

/// The file that a link in a lesson leads to: beside the lesson, or in the list. Throws std::invalid_argument
/// with the nearest name.
std::filesystem::path linkedLesson(const Lesson& from, std::string_view link);

/// Where a window has a lesson open, as its progress file says it.
struct OpenStep {
    std::filesystem::path lesson;
    nlohmann::ordered_json progress; ///< LessonRun::progress()

    bool operator==(const OpenStep&) const = default;
};
/// Empty where none is open, or the file cannot be read.
std::optional<OpenStep> openStepIn(const std::filesystem::path& progressFile);

class LessonDesk;
/// How far somebody has come in a lesson of the list: "done, 4 of 6 as predicted", "step 3 of 7"; empty: not
/// begun.
std::string progressText(const LessonEntry& entry, const LessonDesk& desk);
/// Progress over all lessons: "3 of 26 lessons done, 14 of 18 questions as predicted"; empty: none was begun.
std::string progressText(const std::vector<LessonEntry>& entries, const LessonDesk& desk);

class LessonDesk {
  public:
    /// Goes on with the progress in `file`, and keeps it there. An unreadable one counts as empty.
    void keepIn(std::filesystem::path file);

    /// Null: none is open.
    LessonRun* open() { return run_ ? &*run_ : nullptr; }
    const LessonRun* open() const { return run_ ? &*run_ : nullptr; }
    /// At the step where it was left, and its answers.
    void start(Lesson lesson);
    void close();
    /// Writes how far the open one has come. Throws nothing: an unwritable home must not keep anyone from
    /// learning.
    void save();
    /// Reads the open one again if its file has changed; true when it was. Throws what is wrong with the
    /// file.
    bool reload();
    /// Goes on with the open one in the language spoken now, where it is translated. Throws likewise.
    void retell();

    std::string learner; ///< as typed for an answer file, kept with the progress
    /// Tells the learner from others of the same name, in a class that works on other machines: made once for
    /// each name, and kept with the progress.
    std::string pupil();

    /// As of the last look.
    const std::vector<LessonEntry>& list();
    void look() { list_.reset(); }
    /// The step where it was left, from 0; empty: not begun.
    std::optional<std::size_t> reached(std::string_view name) const;
    bool done(std::string_view name) const;
    /// LessonRun::progress() as of the last time; null: not begun.
    nlohmann::ordered_json progressOf(std::string_view name) const {
        return progress_.value(std::string(name), nlohmann::ordered_json());
    }
    /// Steps that were done, and predictions that were right; 0 where it was not begun.
    std::size_t stepsDone(std::string_view name) const;
    std::size_t asPredicted(std::string_view name) const;

    /// True until a lesson was begun here, or the offer declined.
    bool offers() const { return !kept_.empty() && !declined_ && progress_.empty() && !run_; }
    /// Where a lesson stood when the program was left, until one is begun or the offer declined.
    const std::optional<OpenStep>& left() const { return left_; }
    void decline();

  private:
    void readAgain(const std::filesystem::path& file);

    std::optional<LessonRun> run_;
    std::filesystem::file_time_type written_; // the file of the open one, when it was read
    std::filesystem::path kept_;
    nlohmann::ordered_json progress_ = nlohmann::ordered_json::object(); // by name
    std::map<std::string, std::string, std::less<>> pupils_;             // by learner
    bool declined_ = false;
    std::optional<OpenStep> left_;
    std::optional<std::vector<LessonEntry>> list_;
};

} // namespace lockstep::demos
