// A rung's source, and what has changed in it from the rung below.
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

/// The difference without what no compiler sees: where removed and added lines differ in comments and white
/// space alone, the new ones stand as unchanged. `hidden`: how many lines those are.
std::vector<DiffLine> codeChanges(const std::vector<DiffLine>& diff, std::size_t& hidden);

/// The line to look at first: where most old code and new code face each other, and an old loop before all,
/// for the loop is what a rung changes; else the first added line of code. diff.size(): there is none.
std::size_t tellingLine(const std::vector<DiffLine>& diff);

/// A stretch of a difference: lines [begin, end). Folded ones are not worth showing.
struct DiffPart {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool folded = false;

    bool operator==(const DiffPart&) const = default;
};

/// Unchanged lines that are more than `context` away from any change are folded, and changed lines that hold
/// nothing but comments; but never fewer than three.
std::vector<DiffPart> foldedParts(const std::vector<DiffLine>& diff, std::size_t context);

/// A rung's source, and what has changed in it from the rung below.
class SourceDiffView {
  public:
    /// With the changes, and a switch between these and all lines.
    void draw(Ui& ui, const RungRow& rung);
    /// Its lines alone, at first those around its first multiply-add.
    void drawPlain(Ui& ui, const RungRow& rung);

    bool whole = false; ///< all lines, also those far from a change

  private:
    void show(const RungRow& rung, bool compare);
    void drawLines(Ui& ui, const char* pane);

    std::string lane_; // of what is shown
    std::string title_;
    std::string before_; // the texts that diff_ points into
    std::string after_;
    std::vector<DiffLine> diff_;
    std::vector<DiffLine> changes_; // of code; empty unless compared
    std::size_t hidden_ = 0;        // lines of diff_ whose change is none of code
    bool compared_ = false;         // with the rung below
    std::size_t first_ = 0;         // the line to look at, where nothing is compared
    int scroll_ = 0;                // frames until the pane knows its height
};

} // namespace lockstep::demos
