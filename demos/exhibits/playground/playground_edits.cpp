// The playground's way back through what a person changed.
#include <algorithm>
#include <utility>

#include "demos/exhibits/playground/playground_model.h"
#include "demos/kit/edit_history.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostEdits = 100;
constexpr std::size_t mostEditBytes = std::size_t{128} << 20;

std::size_t editBytes(const PlaygroundSettings& settings, const TrainerState* state) {
    std::size_t numbers = 0;
    if (state != nullptr) numbers = state->parameters.size() * (1 + state->optimizerState.size());
    return numbers * sizeof(float) + settings.own.size() * sizeof(LabelledPoint);
}

} // namespace

/// The playground as it is. Weights that have diverged are not worth keeping.
PlaygroundModel::Edit PlaygroundModel::present(bool weights) const {
    Edit edit{.number = 0, .settings = settings_, .weights = {}, .history = {}};
    if (weights && !failed()) {
        edit.weights = Kept{moment_.state, moment_.optimizer, settingsRevision_};
        edit.history = history_;
    }
    return edit;
}

/// Before an edit: keeps what it is about to replace.
void PlaygroundModel::note(bool weights) {
    undone_.clear();
    if (!editOpen_) {
        edits_.push_back(present(weights));
        edits_.back().number = nextEditNumber();
    } else if (weights && !edits_.back().weights) {
        Edit now = present(true);
        now.number = edits_.back().number;
        now.settings = std::move(edits_.back().settings);
        edits_.back() = std::move(now);
    }
    editOpen_ = held_;
    std::size_t bytes = 0;
    std::size_t kept = 0;
    for (; kept < std::min(edits_.size(), mostEdits); ++kept) {
        const Edit& edit = edits_[edits_.size() - 1 - kept];
        bytes += editBytes(edit.settings, edit.weights ? &edit.weights->state : nullptr);
        if (kept > 0 && bytes > mostEditBytes) break;
    }
    edits_.erase(edits_.begin(), edits_.end() - static_cast<std::ptrdiff_t>(kept));
}

void PlaygroundModel::travel(std::vector<Edit>& from, std::vector<Edit>& to) {
    if (from.empty()) return;
    const Edit edit = std::move(from.back());
    from.pop_back();
    to.push_back(present(edit.weights.has_value()));
    to.back().number = edit.number;
    editOpen_ = false;
    apply(edit.settings);
    if (!edit.weights) return;
    ring_.clear();
    adopt(edit.weights->state, edit.weights->optimizer);
    history_ = edit.history;
    remember();
}

} // namespace lockstep::demos
