// What has changed from one text to another, line by line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "demos/draw/ui.h"
#include "engine/step/rungs.h"

namespace lockstep::demos {

enum class LineChange { same, added, removed };

struct DiffLine {
    LineChange change = LineChange::same;
    std::string_view text;  ///< of the old text where removed, else of the new one
    std::size_t number = 0; ///< its line there, from 1
};

/// All lines of both: a longest common subsequence stays, and what was removed stands before what was added.
/// For texts of some hundred lines. The texts have to outlive the result.
std::vector<DiffLine> lineDiff(std::string_view before, std::string_view after);

/// A stretch of a difference: lines [begin, end). Folded ones are not worth showing.
struct DiffPart {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool folded = false;

    bool operator==(const DiffPart&) const = default;
};

/// Unchanged lines that are more than `context` away from any change are folded; but never fewer than three.
std::vector<DiffPart> foldedParts(const std::vector<DiffLine>& diff, std::size_t context);

class SourceDiffView {
  public:
    void draw(Ui& ui, const RungRow& rung);

    bool whole = false; ///< all lines, also those far from a change

  private:
    void show(const RungRow& rung);
    void drawLines(Ui& ui);

    std::string lane_; // of what is shown
    std::string title_;
    std::string before_; // the texts that diff_ points into
    std::string after_;
    std::vector<DiffLine> diff_;
    bool compared_ = false; // with the rung below
    bool toTop_ = true;
};

} // namespace lockstep::demos
