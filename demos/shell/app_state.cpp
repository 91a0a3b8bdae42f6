// The app's state as JSON:
//   {"lockstep": 1, "title": "...", "about": "...", "task": "...", "answer": "...",
//    "exhibit": "race", "theme": "dark", "presenter": false, "zoom": 1.0, "animations": true,
//    "details": true, "hidden": ["Reset", "exhibit/map"],
//    "device": {"id": "3f0c9a5e...", "name": "..."}, "exhibits": {"race": {...}, ...}}
// "speed" (steps per second; 0: flat out; of the exhibit) and "speeds" (of others, by their ids) are there
// when a person has chosen them; so are "language", and "details", when a person has opened or closed these.
// "device" is there when it is not the best one. If that device is missing, the window says so and stays
// where it is. Every field but "lockstep" may be missing: then it stays as it is, but the texts of another
// state go.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/lesson/lesson_file.h"
#include "demos/shell/app.h"
#include "demos/shell/run_window.h"
#include "demos/words/streams.h"
#include "engine/files/atomic_file.h"
#include "engine/files/json_text.h"
#include "engine/tune/kernel_cache.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr int stateVersion = 1;
constexpr std::uint64_t largestState = 8u << 20; // as JSON in memory, it can be 25 times as much

bool isListOfNumbers(const ordered_json& json) {
    return json.is_array() && std::ranges::all_of(json, &ordered_json::is_number);
}

// As dump(2) writes it, but lists of numbers in one line: weights can be millions.
void append(std::string& text, const ordered_json& json, std::size_t indent) {
    if (json.is_primitive() || json.empty() || isListOfNumbers(json)) {
        text += json.dump();
        return;
    }
    text += json.is_object() ? '{' : '[';
    const char* separator = "\n";
    for (const auto& [key, value] : json.items()) {
        text += separator + std::string(indent + 2, ' ');
        if (json.is_object()) text += ordered_json(key).dump() + ": ";
        append(text, value, indent + 2);
        separator = ",\n";
    }
    text += '\n' + std::string(indent, ' ') + (json.is_object() ? '}' : ']');
}

// Empty when there is nowhere to keep it.
std::filesystem::path lastStateFile() {
    if (const char* named = std::getenv("LOCKSTEP_STATE_FILE")) return named;
    const std::filesystem::path folder = cacheFolder();
    return folder.empty() ? folder : folder / "state.json";
}

/// Whether there is something else than a regular file: a folder, a pipe, a device.
bool isOtherThanFile(const std::filesystem::path& path) {
    std::error_code failure;
    const std::filesystem::file_status status = std::filesystem::status(path, failure);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

template <class T> T field(const ordered_json& json, const char* name, T otherwise) {
    const auto found = json.find(name);
    if (found == json.end()) return otherwise;
    try {
        return found->get<T>();
    } catch (const nlohmann::json::exception&) {
        throw std::invalid_argument(fmt::format("the state's field '{}' has the wrong type", name));
    }
}

} // namespace

void checkVersion(const ordered_json& state) {
    if (!state.is_object() || !state.contains("lockstep"))
        throw std::invalid_argument("not a Lockstep state file: the field 'lockstep' is missing");
    if (field(state, "lockstep", 0) != stateVersion)
        throw std::invalid_argument(
            fmt::format("this state file was written by another version of Lockstep "
                        "(its format is not {}); use that version, or start from a new state",
                        stateVersion));
}

// All of the state but the exhibits.
ordered_json App::frameOfState() const {
    ordered_json json;
    json["lockstep"] = stateVersion;
    if (lessonIsHere()) json.update(stateTexts_);
    json["exhibit"] = exhibits_[shown_]->id();
    json["theme"] = ui_->theme.dark ? "dark" : "light";
    json["presenter"] = ui_->presenter;
    json["zoom"] = zoom_;
    json["animations"] = ui_->animations;
    if (!language_.empty()) json["language"] = language_;
    if (detailsChosen_) json["details"] = *detailsChosen_;
    json["hidden"] = ui_->hiddenControls;
    if (const std::optional<Speed> speed = chosenSpeed(shown_)) json["speed"] = *speed;
    for (std::size_t i = 0; i < exhibits_.size(); ++i)
        if (const std::optional<Speed> speed = chosenSpeed(i); speed && i != shown_)
            json["speeds"][std::string(exhibits_[i]->id())] = *speed;
    if (!device_.select.empty()) json["device"] = {{"id", device_.select}, {"name", device_.name}};
    return json;
}

ordered_json App::state() const {
    ordered_json json = frameOfState();
    for (const auto& entry : exhibits_) json["exhibits"][std::string(entry->id())] = entry->state();
    return json;
}

ordered_json App::lastState() const {
    if (!aside_.is_null()) return aside_; // the next start goes on with a person's own settings
    ordered_json json = frameOfState();
    for (const auto& entry : exhibits_) json["exhibits"][std::string(entry->id())] = entry->lastState();
    return json;
}

void App::setState(const ordered_json& state) {
    Lesson texts = lessonOfState(state);
    readState(state)();
    desk_.close();
    aside_ = nullptr;
    stepState_.clear();
    stateTexts_ = ordered_json::object();
    if (texts.steps.empty()) return;
    for (const char* name : {"title", "about", "task", "answer"})
        if (state.contains(name)) stateTexts_[name] = state[name];
    desk_.start(std::move(texts));
    lessonExhibit_ = exhibit().id();
}

// Checks it, and returns what applies it.
std::function<void()> App::readState(const ordered_json& state) {
    checkVersion(state);
    const auto theme = field<std::string>(state, "theme", ui_->theme.dark ? "dark" : "light");
    const auto exhibitName = field<std::string>(state, "exhibit", std::string(exhibit().id()));
    const auto hidden = field(state, "hidden", ui_->hiddenControls);
    const auto presenter = field(state, "presenter", ui_->presenter);
    const auto zoom = field(state, "zoom", zoom_);
    const auto animations = field(state, "animations", ui_->animations);
    const auto language = field(state, "language", language_);
    std::optional<bool> details = detailsChosen_;
    if (state.contains("details")) details = field(state, "details", false);
    std::optional<std::size_t> speed;
    if (state.contains("speed")) speed = speedIndex(field(state, "speed", Speed{}));
    std::vector<std::pair<std::size_t, std::size_t>> others; // exhibits and their speeds
    const auto ofOthers = field(state, "speeds", std::map<std::string, Speed>{});
    for (std::size_t i = 0; i < exhibits_.size(); ++i)
        if (const auto found = ofOthers.find(std::string(exhibits_[i]->id())); found != ofOthers.end())
            others.emplace_back(i, speedIndex(found->second));
    const auto device = field(state, "device", ordered_json::object());
    const DeviceWish wish{field(device, "id", device_.select), field(device, "name", device_.name)};
    const auto entries = field(state, "exhibits", ordered_json::object());
    if (std::ranges::none_of(exhibits_, [&](const auto& entry) { return entry->id() == exhibitName; }))
        showExhibit(exhibitName); // throws and names the nearest
    std::vector<std::function<void()>> bringBack;
    for (const auto& entry : exhibits_)
        if (const auto found = entries.find(std::string(entry->id())); found != entries.end())
            bringBack.push_back([apply = entry->readState(*found), exhibit = entry.get()] {
                apply();
                exhibit->edits().forget();
            });
    return [=, this] {
        showExhibit(exhibitName);
        for (const auto& exhibitState : bringBack) exhibitState();
        setDark(theme != "light");
        if (ui_->hiddenControls != hidden) hiding_.forget(); // what it would bring back is of another state
        ui_->hiddenControls = hidden;
        ui_->presenter = presenter;
        ui_->animations = animations;
        detailsChosen_ = details;
        setZoom(zoom);
        if (!languageFixed_ && language != language_) guarded([&] { setLanguage(language); });
        if (speed) setSpeed(shown_, *speed);
        for (const auto& [index, chosen] : others) setSpeed(index, chosen);
        if (!deviceFixed_ && wish.select != device_.select) wishes_.device = wish;
    };
}

// Once nothing of this frame is being drawn any more.
void App::grantExhibit() {
    if (!ui_->exhibitWish) return;
    const ExhibitWish wish = *std::exchange(ui_->exhibitWish, std::nullopt);
    settle_ = 3;
    guarded([&] {
        const auto found = std::ranges::find(exhibits_, wish.id, &Exhibit::id);
        if (found == exhibits_.end())
            throw std::invalid_argument(fmt::format("there is no exhibit '{}'", wish.id));
        const auto bringBack = (*found)->readState(ordered_json::parse(wish.state));
        showExhibit(wish.id);
        bringBack();
    });
}

void App::openFile(const std::filesystem::path& file) {
    settle_ = 3;
    try {
        if (file.extension() == ".json")
            openState(file);
        else if (file.extension() == ".md")
            openLesson(file);
        else if (const std::string name = shownName(file); name != file.string())
            ui_->say(Severity::error,
                     fmt::format("{}: the file name is not UTF-8, so a state could not store it.", name),
                     "Rename the file and drop it again.");
        else if (!exhibit().dropFile(*ui_, file))
            ui_->say(Severity::warning, fmt::format("{}: this exhibit cannot read this kind of file.", name),
                     "States end in .json, lessons in .md, tables in .csv, pictures in .png.");
        else
            recent_.add(file);
    } catch (const std::exception& error) {
        ui_->say(Severity::error, error.what());
    }
}

void App::saveState(const std::filesystem::path& file) {
    const std::filesystem::path usual = saveFile_.empty() ? usualStateFile : saveFile_;
    const std::filesystem::path target = file.empty() ? usual : file;
    try {
        writeStateFile(target, state());
        recent_.add(target);
        ui_->say(Severity::info, fmt::format("State saved to {}", std::filesystem::absolute(target).string()),
                 "Drop the file onto the window to bring it back.");
    } catch (const std::exception& error) {
        ui_->say(Severity::error, error.what());
    }
}

ordered_json readStateFile(const std::filesystem::path& file) { return readJsonFile(file, largestState); }

void writeStateFile(const std::filesystem::path& file, const ordered_json& state) {
    std::string text;
    append(text, state, 0);
    text += '\n';
    if (text.size() > largestState)
        throw std::runtime_error(
            fmt::format("cannot write {}: the state has {} bytes, and at most {} can be read back; "
                        "save it without weights, or train a smaller network",
                        file.string(), text.size(), largestState));
    createFoldersFor(file);
    writeFileAtomically(file, text);
}

gpu::DeviceOptions drawingOptions(const ShowOptions& options) {
    gpu::DeviceOptions device;
    device.validation = options.validation;
    device.messages = [](const gpu::ValidationMessage& message) {
        printError("validation: {} {}\n", message.id, message.text);
    };
    return device;
}

void beginWith(App& app, const ShowOptions& options) {
    if (!options.stateFile.empty() && options.stateFile.extension() == ".md")
        app.openLesson(options.stateFile);
    else if (!options.stateFile.empty())
        app.openState(options.stateFile);
    if (!options.state.empty()) app.setState(nlohmann::ordered_json::parse(options.state));
    if (!options.exhibit.empty()) app.showExhibit(options.exhibit);
    if (options.light) app.setDark(false);
    if (options.presenter) app.ui().presenter = true;
    if (options.run) app.exhibit().run(app.ui());
}

std::filesystem::path lessonProgressFile() {
    const std::filesystem::path file = lastStateFile();
    return file.empty() ? file : file.parent_path() / "lessons.json";
}

void restoreLast(App& app) {
    const std::filesystem::path file = lastStateFile();
    std::error_code failure;
    if (!file.empty()) {
        app.keepRecentFiles(file.parent_path() / "recent.json");
        app.keepLessons(lessonProgressFile());
    }
    if (file.empty() || !std::filesystem::exists(file, failure)) return;
    try {
        app.setState(readStateFile(file));
    } catch (const std::exception& error) {
        if (isOtherThanFile(file)) // the system's, perhaps
            return app.ui().say(Severity::error,
                                fmt::format("The last state cannot be restored: {}", error.what()),
                                "It stays as it is, and this session's state will not be saved.");
        std::filesystem::path kept = file;
        kept += ".bad";
        std::filesystem::rename(file, kept, failure);
        app.ui().say(Severity::error, fmt::format("The last state cannot be restored: {}", error.what()),
                     failure ? "" : fmt::format("The file is kept as {}.", kept.string()));
    }
}

void storeLast(const App& app) {
    const std::filesystem::path file = lastStateFile();
    if (file.empty()) return;
    try {
        if (isOtherThanFile(file)) throw std::runtime_error(file.string() + " is not a regular file");
        writeStateFile(file, app.lastState());
    } catch (const std::exception& error) {
        printError("lockstep: the state cannot be saved for the next start: {}\n", error.what());
    }
}

} // namespace lockstep::demos
