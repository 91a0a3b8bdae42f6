#include "demos/lesson/lesson_desk.h"

#include <algorithm>
#include <random>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/assets.h"
#include "demos/lesson/languages.h"
#include "demos/lesson/lesson_file.h"
#include "engine/files/atomic_file.h"
#include "engine/files/json_text.h"
#include "engine/net/names.h"
#include "engine/tune/kernel_cache.h"

namespace lockstep::demos {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr std::uint64_t largestProgress = 8u << 20; // steps keep what they have measured
constexpr std::size_t mostPupils = 100;
constexpr std::size_t mostLessons = 500;

LessonEntry entryOf(const fs::path& file) {
    LessonEntry entry;
    entry.file = file;
    entry.name = entry.title = textFileName(file).name;
    try {
        const Lesson lesson = readLesson(file);
        entry.title = lesson.title;
        entry.about = lesson.about;
        entry.minutes = lesson.minutes;
        entry.place = lesson.place;
        entry.group = lesson.group;
        entry.steps = lesson.steps.size();
        const auto asks = [](const LessonStep& step) { return step.ask.has_value(); };
        entry.questions = static_cast<std::size_t>(std::ranges::count_if(lesson.steps, asks));
    } catch (const std::exception& error) {
        entry.problem = error.what();
    }
    return entry;
}

fs::file_time_type writtenAt(const fs::path& file) {
    std::error_code unknown;
    return fs::last_write_time(file, unknown);
}

/// Not where it stands there in another language.
bool standsInList(const fs::path& file) { return fileInLanguage(file) == file; }

} // namespace

std::string minutesText(std::size_t minutes) {
    if (minutes == 0) return {};
    return minutes == 1 ? std::string(translated("1 minute")) : translatedFormat("{} minutes", minutes);
}

std::vector<fs::path> allLessonFiles() {
    std::vector<fs::path> files;
    for (const fs::path& folder : {assetFolder("lessons"), cacheFolder() / "lessons"}) {
        std::error_code failure;
        for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
             entry.increment(failure))
            if (entry->path().extension() == ".md" && files.size() < mostLessons)
                files.push_back(entry->path());
    }
    return files;
}

std::vector<LessonEntry> findLessons() {
    std::vector<LessonEntry> entries;
    for (const fs::path& file : allLessonFiles())
        if (standsInList(file)) entries.push_back(entryOf(file));
    // Groups stand where their first lesson does; lessons without a group come last, in the order of their
    // own.
    std::map<std::string, std::size_t> groups;
    for (const LessonEntry& entry : entries) {
        const auto [group, added] = groups.emplace(entry.group, entry.place);
        group->second = std::min(group->second, entry.place);
    }
    std::ranges::sort(entries, {}, [&](const LessonEntry& entry) {
        return std::tuple(entry.group.empty(), groups.at(entry.group), entry.group, entry.place, entry.name);
    });
    return entries;
}

fs::path lessonFile(std::string_view name) {
    const std::vector<LessonEntry> entries = findLessons();
    std::vector<std::string_view> known;
    known.reserve(entries.size());
    for (const LessonEntry& entry : entries) {
        if (entry.name == name) return entry.file;
        known.push_back(entry.name);
        std::error_code unknown;
        const fs::path named = entry.file.parent_path() / (std::string(name) + ".md"); // "what-is-a-gpu.de"
        if (textFileName(named).name == entry.name && fs::is_regular_file(named, unknown)) return named;
    }
    throwUnknownName("lesson", name, known);
}

fs::path linkedLesson(const Lesson& from, std::string_view link) {
    const fs::path name(link);
    if (name != name.filename())
        throw std::invalid_argument(
            fmt::format("the link '{}' must be a lesson's name without a folder", link));
    std::error_code unknown;
    const fs::path beside = from.file.parent_path() / name;
    return !from.file.empty() && fs::is_regular_file(beside, unknown) ? fileInLanguage(beside)
                                                                      : lessonFile(name.stem().string());
}

std::optional<OpenStep> openStepIn(const fs::path& progressFile) {
    try {
        const ordered_json json = readJsonFile(progressFile, largestProgress);
        const ordered_json& open = json.at("open");
        return OpenStep{open.at("file").get<std::string>(),
                        json.at("lessons").at(open.at("lesson").get<std::string>())};
    } catch (const std::exception&) {
        return std::nullopt; // it may be being written
    }
}

void LessonDesk::keepIn(fs::path file) {
    kept_ = std::move(file);
    left_ = openStepIn(kept_);
    try {
        const ordered_json json = readJsonFile(kept_, largestProgress);
        declined_ = json.value("declined", false);
        learner = json.value("learner", "");
        if (json.contains("lessons") && json["lessons"].is_object()) progress_ = json["lessons"];
        if (json.contains("pupils")) pupils_ = json["pupils"].get<decltype(pupils_)>();
    } catch (const std::exception&) {
        // Missing or broken: the lessons begin anew.
    }
}

void LessonDesk::start(Lesson lesson) {
    close();
    left_.reset();
    written_ = writtenAt(lesson.file);
    const ordered_json progress = progress_.value(lesson.name, ordered_json::object());
    run_.emplace(std::move(lesson));
    run_->resume(progress);
    if (run_->last() && run_->done()) run_->go(0);
    save();
}

void LessonDesk::close() {
    save();
    if (std::exchange(run_, std::nullopt)) save(); // without "open"
}

void LessonDesk::save() {
    if (run_ && !run_->lesson().name.empty()) progress_[run_->lesson().name] = run_->progress();
    if (kept_.empty() || (progress_.empty() && !declined_)) return;
    ordered_json json{
        {"declined", declined_}, {"learner", learner}, {"pupils", pupils_}, {"lessons", progress_}};
    if (run_ && !run_->lesson().file.empty())
        json["open"] = {{"lesson", run_->lesson().name}, {"file", run_->lesson().file.string()}};
    try {
        createFoldersFor(kept_);
        std::string text = json.dump(1) + "\n";
        if (text.size() > largestProgress) { // answers stay; what was measured can be measured again
            for (auto& [name, lesson] : json["lessons"].items()) lesson.erase("kept");
            text = json.dump(1) + "\n";
        }
        writeFileAtomically(kept_, text);
    } catch (const std::exception&) {
        // It is a convenience.
    }
}

std::string LessonDesk::pupil() {
    if (pupils_.size() > mostPupils) pupils_.clear();
    std::string& mark = pupils_[learner];
    if (mark.empty()) {
        std::random_device random;
        mark = fmt::format("{:08x}{:08x}", random(), random());
    }
    return mark;
}

bool LessonDesk::reload() {
    if (!run_ || run_->lesson().file.empty()) return false;
    const fs::file_time_type now = writtenAt(run_->lesson().file);
    if (now == written_) return false;
    readAgain(run_->lesson().file);
    return true;
}

void LessonDesk::retell() {
    if (!run_ || run_->lesson().file.empty()) return;
    const fs::path file = fileInLanguage(run_->lesson().file);
    if (file != run_->lesson().file) readAgain(file);
}

void LessonDesk::readAgain(const fs::path& file) {
    written_ = writtenAt(file);
    Lesson lesson = readLesson(file);
    const ordered_json progress = run_->progress();
    const bool ended = run_->ended();
    run_.emplace(std::move(lesson));
    run_->resume(progress);
    if (ended) run_->end();
}

const std::vector<LessonEntry>& LessonDesk::list() {
    if (!list_) list_ = findLessons();
    return *list_;
}

std::optional<std::size_t> LessonDesk::reached(std::string_view name) const {
    const auto found = progress_.find(name);
    if (found == progress_.end() || !found->is_object() || !found->contains("at") ||
        !(*found)["at"].is_number_unsigned())
        return std::nullopt;
    return (*found)["at"].get<std::size_t>();
}

bool LessonDesk::done(std::string_view name) const {
    const auto found = progress_.find(name);
    return found != progress_.end() && found->is_object() && found->value("done", ordered_json()) == true;
}

std::size_t LessonDesk::stepsDone(std::string_view name) const {
    const auto found = progress_.find(name);
    if (found == progress_.end() || !found->is_object()) return 0;
    const auto steps = found->find("steps_done");
    return steps == found->end() || !steps->is_array() ? 0 : steps->size();
}

std::size_t LessonDesk::asPredicted(std::string_view name) const {
    const auto found = progress_.find(name);
    if (found == progress_.end() || !found->is_object()) return 0;
    const auto predictions = found->find("predictions");
    if (predictions == found->end() || !predictions->is_object()) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(*predictions, [](const ordered_json& each) {
        return each.is_object() &&
               each.value("verdict", ordered_json()) == static_cast<unsigned>(AnswerVerdict::right);
    }));
}

std::string progressText(const LessonEntry& entry, const LessonDesk& desk) {
    const std::optional<std::size_t> reached = desk.reached(entry.name);
    if (!reached) return {};
    if (!desk.done(entry.name)) return translatedFormat("step {} of {}", *reached + 1, entry.steps);
    if (entry.questions == 0) return std::string(translated("done"));
    return translatedFormat("done, {} of {} as predicted",
                            std::min(desk.asPredicted(entry.name), entry.questions), entry.questions);
}

std::string progressText(const std::vector<LessonEntry>& entries, const LessonDesk& desk) {
    std::size_t begun = 0;
    std::size_t done = 0;
    std::size_t right = 0;
    std::size_t questions = 0; // of those that were begun
    for (const LessonEntry& entry : entries) {
        if (!desk.reached(entry.name)) continue;
        ++begun;
        done += desk.done(entry.name) ? 1u : 0u;
        right += std::min(desk.asPredicted(entry.name), entry.questions);
        questions += entry.questions;
    }
    if (begun == 0) return {};
    return translatedFormat(
        "{} of {} lessons done. In those that you began, {} of {} questions as predicted.", done,
        entries.size(), right, questions);
}

void LessonDesk::decline() {
    declined_ = declined_ || !left_; // going on with a lesson is another offer
    left_.reset();
    save();
}

} // namespace lockstep::demos
