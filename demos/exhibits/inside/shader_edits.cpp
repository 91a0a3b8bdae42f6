#include "demos/exhibits/inside/shader_edits.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/kit/futures.h"

namespace lockstep::demos {

namespace {

// Bytes of a text; the longest built-in one has a fiftieth of that.
constexpr std::size_t longestText = 1u << 18;

std::string textFrom(const std::string& file, const nlohmann::ordered_json& lines) {
    const auto invalid = [&](const char* reason) {
        return std::invalid_argument(fmt::format("the field 'shaders' of 'inside': {} {}", file, reason));
    };
    if (!isStepShaderFile(file)) throw invalid("is not a shader of a training step");
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
constexpr const char* phaseWords[] = {"compiling", "checking against the plain CPU version", "timing"};

/// Of all operations with changed shaders together: "2.1 ms, 43 GFLOP/s (built in: 1.2 ms, 75 GFLOP/s)".
std::string comparison(const TrialReport& report) {
    double flops = 0;
    double builtIn = 0;
    double changed = 0;
    for (const OperationTimes& times : report.times) {
        flops += times.flops;
        builtIn += times.builtInMs;
        changed += times.changedMs;
    }
    if (changed <= 0) return "";
    return fmt::format("{}, {} (built in: {}, {})", timeText(changed), rateText(flops, changed, "FLOP/s"),
                       timeText(builtIn), rateText(flops, builtIn, "FLOP/s"));
}

EditStatus statusOfReport(const TrialReport& report) {
    switch (report.verdict) {
    case Verdict::passed: {
        const std::string times = comparison(report);
        if (times.empty()) return {"passed and running", "", &Theme::good};
        return {"passed and running: ", fmt::format("{}; checked in {:.1f} s", times, report.seconds),
                &Theme::good};
    }
    case Verdict::notCompiled:
        return {"does not compile; the previous kernels keep running", "", &Theme::bad};
    case Verdict::notUsed: return {"not used: " + report.message, "", &Theme::warning};
    case Verdict::refused: return {"wrong: " + report.message, "", &Theme::bad};
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
    show(std::move(texts));
    submit();
}

void ShaderEdits::show(ShaderTexts texts) {
    cancel();
    last_.reset();
    submitted_.clear();
    texts_ = std::move(texts);
    std::erase_if(texts_, [](const auto& entry) { return entry.second == sourceText(entry.first); });
    unseen_ = !texts_.empty();
}

void ShaderEdits::revert(const std::string& file) {
    texts_.erase(file);
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

const OperationTimes* ShaderEdits::timesOf(const TracedOperation& operation) const {
    if (!operation.replaced) return nullptr;
    const auto found = std::ranges::find_if(runningTimes_, [&](const OperationTimes& times) {
        return times.source == operation.source && times.layer == operation.layer;
    });
    return found == runningTimes_.end() ? nullptr : &*found;
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

void ShaderEdits::begin(TrialRequest request, std::shared_ptr<const Dataset> data) {
    wanted_ = false;
    watch_ = std::make_shared<TrialWatch>();
    trial_ = std::async(std::launch::async, [asked = std::move(request), kept = std::move(data),
                                             watch = watch_] { return tryShaders(asked, *watch); });
}

std::optional<TrialOutcome> ShaderEdits::takePassed(bool wait) {
    std::erase_if(leaving_, ready<TrialOutcome>);
    if (!trial_.valid() || (!wait && !ready(trial_))) return std::nullopt;
    TrialOutcome outcome = trial_.get();
    last_ = outcome.report;
    ++ended_;
    if (last_->verdict != Verdict::passed) return std::nullopt;
    running_ = submitted_;
    runningTimes_ = last_->times;
    return outcome;
}

// Drops a result that is no longer wanted.
void ShaderEdits::cancel() {
    wanted_ = false;
    if (!trial_.valid()) return;
    watch_->cancelled = true;
    leaving_.push_back(std::move(trial_));
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

ShaderTexts shaderTextsFromJson(const nlohmann::ordered_json& state) {
    ShaderTexts texts;
    const auto found = state.find("shaders");
    if (found == state.end()) return texts;
    if (!found->is_object())
        throw std::invalid_argument("the field 'shaders' of 'inside' must be an object of lists of strings");
    for (const auto& [file, lines] : found->items()) texts[file] = textFrom(file, lines);
    return texts;
}

EditStatus statusOf(const ShaderEdits& edits) {
    if (edits.trying()) return {phaseWords[static_cast<std::size_t>(edits.phase())], ""};
    const bool runs = edits.runs(edits.texts());
    if (edits.unseen())
        return {"not running yet: read it, then press Ctrl+Enter to check and run it", "", &Theme::warning};
    if (edits.texts() != edits.submitted() && !runs)
        return {"changed; press Ctrl+Enter to check and run it", ""};
    if (edits.texts() == edits.submitted() && edits.last() != nullptr) return statusOfReport(*edits.last());
    if (!edits.texts().empty() && runs) return {"runs", "", &Theme::good};
    return {"unmodified; edit it, then press Ctrl+Enter to check and run it", ""};
}

} // namespace lockstep::demos
