// What a person has changed in the shaders of a step, and how far the changes have come: typed, on trial,
// running. A changed shader runs only once its trial has passed; until then runs what ran before.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/draw/theme.h"
#include "demos/exhibits/inside/shader_trial.h"
#include "demos/kit/source_text.h"

namespace lockstep::demos {

class ShaderEdits {
  public:
    ShaderEdits() = default;
    /// Ends a trial under way, and waits for that.
    ~ShaderEdits() { cancel(); }
    ShaderEdits(const ShaderEdits&) = delete;
    ShaderEdits& operator=(const ShaderEdits&) = delete;

    // For who edits.
    /// As they are typed; unmodified files are omitted.
    const ShaderTexts& texts() const { return texts_; }
    /// Another text for a file; one that is on trial is given up.
    void setText(const std::string& file, std::string text);
    /// Replaces all texts by others of the same person's, and tries them out.
    void setTexts(ShaderTexts texts);
    /// Replaces all texts, as a file has them, or after the device was lost: they wait until a person has
    /// seen them and submits them, because a shader can keep a GPU, and the desktop with it, from answering.
    void show(ShaderTexts texts);
    /// There are texts that wait so.
    bool unseen() const { return unseen_; }
    /// Back to the built-in text, and to the built-in kernel at once; other files' changes are tried again.
    void revert(const std::string& file);
    /// Tries the texts out as they are.
    void submit();
    /// There is something to be tried.
    bool canSubmit() const { return !trying() && !runs(texts_); }
    bool trying() const { return wanted_ || trial_.valid(); }
    TrialPhase phase() const { return watch_ ? watch_->phase.load() : TrialPhase::compiling; }
    /// How the last trial ended; null before the first, and once its texts are gone.
    const TrialReport* last() const { return last_ ? &*last_ : nullptr; }
    /// Trials that have ended.
    std::uint64_t ended() const { return ended_; }
    /// The texts that the last trial was of, or that the one under way is of.
    const ShaderTexts& submitted() const { return submitted_; }
    bool runs(const ShaderTexts& texts) const { return running_ == texts; }
    /// Of an operation that runs with a changed shader; null for others.
    const OperationTimes* timesOf(const TracedOperation& operation) const;

    // For who runs the kernels.
    /// The kernels are built-in ones now, and others are going to be wanted.
    void restart();
    bool builtInWanted() const;
    void builtInRuns() { running_.clear(); }
    bool trialWanted() const { return wanted_; }
    /// `data`: of the job, kept as long as it is used here.
    void begin(TrialRequest request, std::shared_ptr<const Dataset> data);
    /// The outcome of a trial that passed, once: its kernels run from now on. Waits for the trial if asked
    /// to.
    std::optional<TrialOutcome> takePassed(bool wait);

  private:
    void cancel();

    ShaderTexts texts_;
    ShaderTexts submitted_;
    ShaderTexts running_;
    std::vector<OperationTimes> runningTimes_;
    bool wanted_ = false; // a trial of submitted_
    bool unseen_ = false;
    std::optional<TrialReport> last_;
    std::uint64_t ended_ = 0;
    std::shared_ptr<TrialWatch> watch_; // of the trial; it uses this
    std::future<TrialOutcome> trial_;
    std::vector<std::future<TrialOutcome>> leaving_; // given up, and not yet ended
};

nlohmann::ordered_json toJson(const ShaderTexts& texts);
/// The field "shaders" of a state; none where it is missing. Throws std::invalid_argument naming the field.
ShaderTexts shaderTextsFromJson(const nlohmann::ordered_json& state);

struct EditStatus {
    std::string text;
    std::string timing; ///< goes behind it; differs from run to run
    ImU32 Theme::*colour = &Theme::muted;
};

/// Where the changes are: typed, on trial, refused, running.
EditStatus statusOf(const ShaderEdits& edits);

} // namespace lockstep::demos
