#include "demos/words/language.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "demos/words/composed.h"

namespace lockstep::demos {

namespace {

struct Language {
    std::string code;
    WordTable words;
    std::unique_ptr<const ComposedTexts> composed = {}; // of `words`
};

// Kept for ever, as texts of theirs may still be shown: a person changes the language a few times at most.
struct Languages {
    std::mutex adding;
    std::deque<Language> all;
    std::atomic<const Language*> spoken = nullptr; // none: English
};

Languages& languages() {
    static Languages known;
    return known;
}

thread_local int englishHere = 0; // how many of them live in this thread

/// What was shown, once somebody asks for it.
struct ShownTexts {
    std::atomic<bool> kept = false;
    std::mutex adding;
    std::set<std::string> texts;
};

ShownTexts& shownTexts() {
    static ShownTexts shown;
    return shown;
}

std::string_view shown(std::string_view text) {
    if (ShownTexts& all = shownTexts(); all.kept) {
        const std::lock_guard lock(all.adding);
        all.texts.emplace(text);
    }
    return text;
}

/// Null: English, here or everywhere.
const Language* spokenHere() {
    const Language* spoken = languages().spoken;
    return spoken == nullptr || spoken->words.empty() || englishHere > 0 ? nullptr : spoken;
}

std::string_view lookedUp(std::string_view english) {
    const Language* spoken = spokenHere();
    if (spoken == nullptr) return english;
    const auto found = spoken->words.find(english);
    return found == spoken->words.end() ? english : std::string_view(found->second);
}

} // namespace

EnglishHere::EnglishHere() { ++englishHere; }
EnglishHere::~EnglishHere() { --englishHere; }

void speak(const std::string& code, WordTable words) {
    Languages& known = languages();
    const std::lock_guard lock(known.adding);
    Language& added = known.all.emplace_back(Language{code, std::move(words)});
    added.composed = std::make_unique<ComposedTexts>(added.words);
    known.spoken = &added;
}

std::string spokenLanguage() {
    const Language* spoken = languages().spoken;
    return spoken == nullptr ? "en" : spoken->code;
}

bool isLanguageCode(std::string_view text) {
    const auto letter = [](char each) { return each >= 'a' && each <= 'z'; };
    return text.size() == 2 && std::ranges::all_of(text, letter);
}

TextFileName textFileName(const std::filesystem::path& file) {
    const std::filesystem::path stem = file.stem();
    const std::string ending = stem.extension().string();
    if (ending.empty() || !isLanguageCode(std::string_view(ending).substr(1))) return {stem.string(), {}};
    return {stem.stem().string(), ending.substr(1)};
}

std::filesystem::path fileInLanguage(const std::filesystem::path& file) {
    const std::string name = textFileName(file).name;
    std::error_code unknown;
    for (const std::string& each : {fmt::format("{}.{}.md", name, spokenLanguage()), name + ".md"})
        if (const auto beside = file.parent_path() / each; std::filesystem::is_regular_file(beside, unknown))
            return beside;
    return file;
}

std::string_view translated(std::string_view english) { return shown(lookedUp(english)); }

std::string translatedParts(std::string_view english) {
    const Language* spoken = spokenHere();
    return spoken == nullptr ? std::string(english) : spoken->composed->translated(english);
}

void keepShownTexts() { shownTexts().kept = true; }

std::set<std::string> takeShownTexts() {
    const std::lock_guard lock(shownTexts().adding);
    return std::exchange(shownTexts().texts, {});
}

char decimalSign() { return translated("0.5") == "0,5" ? ',' : '.'; }

std::string withDecimalSign(std::string numbers) {
    std::ranges::replace(numbers, '.', decimalSign());
    return numbers;
}

std::string translatedLabel(std::string_view label) {
    const std::string_view visible = label.substr(0, label.find("##"));
    const std::string_view whole = lookedUp(label);
    const std::string_view words = whole == label ? translated(visible) : whole;
    // Dear ImGui identifies a widget by what follows "###", whatever is shown.
    return words == visible ? std::string(label) : std::string(words).append("###").append(label);
}

} // namespace lockstep::demos
