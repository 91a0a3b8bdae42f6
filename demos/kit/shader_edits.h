// What a person has changed in shaders, and how far the changes have come: typed, on trial, in use. A changed
// shader is used only once its trial has passed; until then what was used before stays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/draw/ui.h"
#include "demos/kit/edit_trial.h"
#include "demos/kit/measured.h"
#include "demos/kit/source_text.h"

namespace lockstep::demos {

class ShaderEdits {
  public:
    ShaderEdits() = default;
    /// Ends a trial under way; one that std::async runs is waited for.
    ~ShaderEdits() { cancel(); }
    ShaderEdits(const ShaderEdits&) = delete;
    ShaderEdits& operator=(const ShaderEdits&) = delete;

    // For who edits.
    /// As they are typed; unmodified files are omitted.
    const ShaderTexts& texts() const { return texts_; }
    /// Another text for a file; one that is on trial is given up.
    void setText(const std::string& file, std::string text);
    /// Replaces all texts by others of the same person's; submit() tries them out.
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
    /// Tries those in use once more.
    void repeat();
    /// Gives a trial up; what was in use stays.
    void stop();
    /// The built-in kernels are in use from now on; the texts stay, as changes that nobody has tried.
    void forget();
    /// These texts have passed a trial here, since the last show().
    bool hasPassed(const ShaderTexts& texts) const {
        return std::ranges::find(passed_, texts) != passed_.end();
    }
    /// There is something to be tried.
    bool canSubmit() const { return !trying() && !runs(texts_); }
    bool trying() const { return wanted_ || trial_.valid(); }
    TrialPhase phase() const { return watch_ ? watch_->phase.load() : TrialPhase::compiling; }
    /// How the last trial ended; null before the first, and once its texts are gone.
    const TrialReport* last() const { return last_ ? &*last_ : nullptr; }
    /// The same of the texts as they are typed; null: they are built in, or have not been tried.
    const TrialReport* tried() const {
        return texts_.empty() || texts_ != submitted_ || trying() ? nullptr : last();
    }
    /// Trials that have ended.
    std::uint64_t ended() const { return ended_; }
    /// The texts that the last trial was of, or that the one under way is of.
    const ShaderTexts& submitted() const { return submitted_; }
    bool runs(const ShaderTexts& texts) const { return running_ == texts; }
    /// Those in use; empty: the built-in ones.
    const ShaderTexts& running() const { return running_; }

    // For who runs the kernels.
    /// The kernels are built-in ones now, and others are going to be wanted.
    void restart();
    bool builtInWanted() const;
    void builtInRuns() { running_.clear(); }
    bool trialWanted() const { return wanted_; }
    /// A trial of submitted() is under way.
    void begin(std::shared_ptr<TrialWatch> watch, std::future<TrialReport> trial);
    /// True once for a trial that has passed: its kernels are used from now on. Waits for it if asked to.
    bool takePassed(bool wait);

  private:
    void cancel();

    ShaderTexts texts_;
    ShaderTexts submitted_;
    ShaderTexts running_;
    std::vector<ShaderTexts> passed_;
    bool wanted_ = false; // a trial of submitted_
    bool unseen_ = false;
    std::optional<TrialReport> last_;
    std::uint64_t ended_ = 0;
    std::shared_ptr<TrialWatch> watch_; // of the trial; it uses this
    std::future<TrialReport> trial_;
    std::vector<std::future<TrialReport>> leaving_; // given up, and not yet ended
};

/// How ShaderEdits::tried() ended, for lessons: 1: the kernels passed; 0: they were refused. Not measured
/// where nothing ran.
Measured measuredVerdict(const TrialReport* tried);
/// Likewise whether they did not compile: 1; 0: they did.
Measured measuredFailure(const TrialReport* tried);

/// "dense_naive.comp": a list of lines.
nlohmann::ordered_json toJson(const ShaderTexts& texts);
/// What toJson() wrote. Throws std::invalid_argument naming the file.
///   field     "the field 'shaders' of 'inside'"
///   allowed   which files may be changed, and what others are not: "a shader of a training step"
ShaderTexts shaderTextsFromJson(const nlohmann::ordered_json& json, const std::string& field,
                                const std::function<bool(std::string_view file)>& allowed, const char* kind);

/// What an exhibit does with kernels, in the words of its messages and controls.
struct EditWords {
    const char* passed = "passed and running";          ///< a trial
    const char* used = "runs";                          ///< a shader
    const char* kept = "previous kernels keep running"; ///< after one that was refused
    std::string_view edit = "Lets you change the shader's text.";
    std::string_view code = "The shader's text. Ctrl+Enter compiles, verifies and times it.";
    std::string_view check =
        "Compiles the edited shader, verifies it against the built-in one, and then uses it.";
    std::string_view revert = "Returns to the built-in text of this file.";
};

struct EditStatus {
    std::string text;
    std::string timing; ///< goes behind it; differs from run to run
    ImU32 Theme::*colour = &Theme::muted;
};

/// Where the changes are: typed, on trial, refused, in use.
EditStatus statusOf(const ShaderEdits& edits, const EditWords& words);

/// Messages about trials: the source may be out of sight, and a log has nothing else.
class EditMessages {
  public:
    /// Once per frame: says what is new.
    void tell(Ui& ui, const ShaderEdits& edits, const EditWords& words);

  private:
    void tellOfTrial(Ui& ui, const ShaderEdits& edits, const EditWords& words);

    std::uint64_t seenTrials_ = 0;
    bool toldOfUnseen_ = false;
    bool complained_ = false; // about the last one; a complaint stays, so what ends it is said, too
};

} // namespace lockstep::demos
