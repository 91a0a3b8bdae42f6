#include "demos/exhibits/inside/shader_edits.h"

#include <algorithm>

#include "demos/kit/ready.h"
#include "demos/kit/sources.h"

namespace lockstep::demos {

ShaderEdits::~ShaderEdits() { cancel(); }

void ShaderEdits::setText(const std::string& file, std::string text) {
    if (text == sourceText(file))
        texts_.erase(file);
    else
        texts_[file] = std::move(text);
    if (trying() && texts_ != submitted_) cancel();
}

void ShaderEdits::setTexts(ShaderTexts texts) {
    texts_ = std::move(texts);
    std::erase_if(texts_, [](const auto& entry) { return entry.second == sourceText(entry.first); });
    submit();
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

void ShaderEdits::beginAnew() {
    cancel();
    running_.clear();
    wanted_ = !submitted_.empty();
}

bool ShaderEdits::builtInWanted() const {
    return std::ranges::any_of(running_,
                               [this](const auto& entry) { return !submitted_.contains(entry.first); });
}

void ShaderEdits::builtInRuns() { running_.clear(); }

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

// Nobody waits for what is no longer wanted.
void ShaderEdits::cancel() {
    wanted_ = false;
    if (!trial_.valid()) return;
    watch_->cancelled = true;
    leaving_.push_back(std::move(trial_));
}

} // namespace lockstep::demos
