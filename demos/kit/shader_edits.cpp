#include "demos/kit/shader_edits.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/futures.h"

namespace lockstep::demos {

namespace {

// Bytes of a text; the longest built-in one has a fiftieth of that.
constexpr std::size_t longestText = 1u << 18;

/// where   begins what is wrong: field and file
std::string textFrom(const nlohmann::ordered_json& lines, const std::string& where) {
    const auto invalid = [&](const char* reason) { return std::invalid_argument(where + reason); };
    if (!lines.is_array() || lines.empty()) throw invalid("must be a list of lines");
    std::string text;
    for (const auto& each : lines) {
        if (!each.is_string()) throw invalid("has a line that is not a string");
        const auto& line = each.get_ref<const std::string&>();
        if (line.find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos)
            throw invalid("has a line with a line break in it");
        text.append(line).append("\n");
        if (text.size() > longestText + 1) throw invalid("is too long");
    }
    text.pop_back();
    return text;
}

/// By TrialPhase.
constexpr const char* phaseWords[] = {"compiling", "checking the results", "timing"};

EditStatus statusOfReport(const TrialReport& report, const EditWords& words) {
    switch (report.verdict) {
    case Verdict::passed: {
        if (report.timing.empty()) return {words.passed, "", &Theme::good};
        return {std::string(translated(words.passed)) + ": ",
                translatedFormat("{}; checked in {:.1f} s", report.timing, report.seconds), &Theme::good};
    }
    case Verdict::notCompiled:
        return {translatedFormat("does not compile; the {}", translated(words.kept)), "", &Theme::bad};
    case Verdict::notUsed:
        return {translatedFormat("not used: {}", translatedParts(report.message)), "", &Theme::warning};
    case Verdict::refused:
        return {translatedFormat("wrong: {}", translatedParts(report.message)), "", &Theme::bad};
    }
    return {};
}

} // namespace

void ShaderEdits::setText(const std::string& file, std::string text) {
    unseen_ = false;
    if (text == sourceText(file))
        texts_.erase(file);
    else
        texts_[file] = std::move(text);
    if (trying() && texts_ != submitted_) cancel();
}

void ShaderEdits::setTexts(ShaderTexts texts) {
    cancel();
    last_.reset();
    submitted_.clear();
    texts_ = std::move(texts);
    std::erase_if(texts_, [](const auto& entry) { return entry.second == sourceText(entry.first); });
    unseen_ = false;
}

void ShaderEdits::show(ShaderTexts texts) {
    setTexts(std::move(texts));
    passed_.clear();
    unseen_ = !texts_.empty();
}

void ShaderEdits::revert(const std::string& file) {
    texts_.erase(file);
    unseen_ = unseen_ && !texts_.empty();
    if (submitted_.erase(file) == 0) return;
    cancel();
    last_.reset();
    wanted_ = !submitted_.empty();
}

void ShaderEdits::submit() {
    cancel();
    last_.reset();
    unseen_ = false;
    submitted_ = texts_;
    wanted_ = !submitted_.empty() && !runs(submitted_);
}

void ShaderEdits::repeat() {
    cancel();
    last_.reset();
    submitted_ = running_;
    wanted_ = !submitted_.empty();
}

void ShaderEdits::stop() {
    if (!trying()) return;
    cancel();
    submitted_ = running_;
}

void ShaderEdits::forget() {
    cancel();
    last_.reset();
    submitted_.clear();
    running_.clear();
}

void ShaderEdits::restart() {
    cancel();
    running_.clear();
    wanted_ = !submitted_.empty();
}

bool ShaderEdits::builtInWanted() const {
    return std::ranges::any_of(running_,
                               [this](const auto& entry) { return !submitted_.contains(entry.first); });
}

void ShaderEdits::begin(std::shared_ptr<TrialWatch> watch, std::future<TrialReport> trial) {
    wanted_ = false;
    watch_ = std::move(watch);
    trial_ = std::move(trial);
}

bool ShaderEdits::takePassed(bool wait) {
    std::erase_if(leaving_, ready<TrialReport>);
    if (!trial_.valid() || (!wait && !ready(trial_))) return false;
    last_ = trial_.get();
    ++ended_;
    if (last_->passed()) {
        running_ = submitted_;
        if (!hasPassed(running_)) passed_.push_back(running_);
    }
    return last_->passed();
}

// Drops a result that is no longer wanted.
void ShaderEdits::cancel() {
    wanted_ = false;
    if (!trial_.valid()) return;
    watch_->cancelled = true;
    leaving_.push_back(std::move(trial_));
}

Measured measuredVerdict(const TrialReport* tried) {
    Measured verdict;
    if (tried != nullptr && tried->verdict == Verdict::passed) verdict.number = 1;
    if (tried != nullptr && tried->verdict == Verdict::refused) verdict.number = 0;
    return verdict;
}

Measured measuredFailure(const TrialReport* tried) {
    Measured failure;
    if (tried != nullptr) failure.number = tried->verdict == Verdict::notCompiled ? 1 : 0;
    return failure;
}

nlohmann::ordered_json toJson(const ShaderTexts& texts) {
    auto json = nlohmann::ordered_json::object();
    for (const auto& [file, text] : texts) {
        auto lines = nlohmann::ordered_json::array();
        const std::string ended = text + '\n';
        for (const std::string_view line : linesOf(ended)) lines.push_back(line);
        json[file] = std::move(lines);
    }
    return json;
}

ShaderTexts shaderTextsFromJson(const nlohmann::ordered_json& json, const std::string& field,
                                const std::function<bool(std::string_view)>& allowed, const char* kind) {
    ShaderTexts texts;
    if (!json.is_object()) throw std::invalid_argument(field + " must be an object of lists of strings");
    for (const auto& [file, lines] : json.items()) {
        const std::string where = field + ": " + file + " ";
        if (!allowed(file)) throw std::invalid_argument(where + "is not " + kind);
        texts[file] = textFrom(lines, where);
    }
    return texts;
}

EditStatus statusOf(const ShaderEdits& edits, const EditWords& words) {
    if (edits.trying()) return {phaseWords[static_cast<std::size_t>(edits.phase())], ""};
    const bool runs = edits.runs(edits.texts());
    if (edits.unseen())
        return {"not running yet: read it, then press Ctrl+Enter to check and run it", "", &Theme::warning};
    if (edits.texts() != edits.submitted() && !runs)
        return {"changed; press Ctrl+Enter to check and run it", ""};
    if (edits.texts() == edits.submitted() && edits.last() != nullptr)
        return statusOfReport(*edits.last(), words);
    if (!edits.texts().empty() && runs) return {words.used, "", &Theme::good};
    return {"unmodified; edit it, then press Ctrl+Enter to check and run it", ""};
}

void EditMessages::tell(Ui& ui, const ShaderEdits& edits, const EditWords& words) {
    if (edits.unseen() && !toldOfUnseen_)
        ui.say(Severity::info, "Edited shaders wait in Source: read them, then press Ctrl+Enter.");
    toldOfUnseen_ = edits.unseen();
    if (edits.ended() != seenTrials_) tellOfTrial(ui, edits, words);
    seenTrials_ = edits.ended();
    if (!complained_ || edits.trying() || !edits.runs(edits.texts())) return;
    complained_ = false;
    ui.say(Severity::info, translatedFormat("The rejected edit is gone: the source shown is what {}.",
                                            translated(words.used)));
}

void EditMessages::tellOfTrial(Ui& ui, const ShaderEdits& edits, const EditWords& words) {
    if (edits.last() == nullptr) return;
    const TrialReport& report = *edits.last();
    if (report.passed()) {
        if (complained_)
            ui.say(Severity::info,
                   translatedFormat("Correct now: the edited shader passed all checks and {}.",
                                    translated(words.used)));
        complained_ = false;
        return;
    }
    complained_ = true;
    const bool unused = report.verdict == Verdict::notUsed;
    ui.say(unused ? Severity::warning : Severity::error,
           report.errors.empty() ? statusOf(edits, words).text : describe(report.errors.front()),
           unused ? "" : translatedFormat("The {}.", translated(words.kept)));
}

} // namespace lockstep::demos
