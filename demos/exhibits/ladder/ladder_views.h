// What the ladder draws: all rungs in one chart, by speed as a staircase or by intensity below the roof
// (rung_charts.cpp), losses (loss_chart.cpp), a kernel's accesses as an animation (access_view.cpp,
// access_grids.cpp), and its source (source_diff.cpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/ladder_model.h"

namespace lockstep::demos {

/// A rung's question in the rest of a line, and its answer below.
void drawQuestion(Ui& ui, const RungRow& rung, bool& answerShown);
/// Idea, question and answer below each other.
void drawIdea(Ui& ui, const RungRow& rung, bool& answerShown);

/// Draws in large letters how many times as fast as the slowest GPU rung the fastest is, and what was timed.
void drawClimb(Ui& ui, const LadderModel& model);

/// Draws the rungs, the lowest at the bottom, so close that `height` pixels hold them, as far as they can be
/// read then. Returns the one that was clicked.
std::optional<std::size_t> drawStaircase(Ui& ui, const LadderModel& model, float height);

/// A rung's dots, one per batch size that was measured, in the order of x.
struct RungDots {
    std::size_t rung = 0;
    std::vector<double> x;          ///< FLOP per byte
    std::vector<double> y;          ///< GFLOP/s
    std::optional<std::size_t> now; ///< the dot of the current batch
};

/// The dots of all GPU rungs whose times are known and whose bytes were counted.
std::vector<RungDots> rooflineDots(const LadderModel& model);

struct Curve {
    std::vector<double> x;
    std::vector<double> y;
};

/// The roof as a line: it rises with the bandwidth, then is level.
Curve rooflineOf(const Roof& roof, double lowest, double highest);

/// Draws it and the dots, with a slider for the batch. Returns the batch if the user chose another one.
std::optional<std::size_t> drawRoofline(Ui& ui, const LadderModel& model, Plot& plot);

/// The rung to look at beside this one: the first that improves on it, or else the one that it improves on.
/// None where one of the two has no picture of its accesses.
std::optional<std::size_t> rungBeside(const std::vector<RungRow>& rungs, std::size_t rung);

/// Draws the losses of the network's training, a line for every rung that trained it; faint: of the run
/// before.
void drawLosses(Ui& ui, const LadderModel& model, Plot& plot);

/// Which invocation of one workgroup reads and writes which element, on the picked rung and the one beside
/// it.
struct AccessView {
    /// `height`: pixels for all of it. Returns the rungs that are shown, from left to right.
    std::vector<std::size_t> draw(Ui& ui, LadderModel& model, float height);
    /// Moves on while it is played.
    void update(double seconds);

    Product product = Product::forward;
    std::size_t moment = 0;
    std::size_t last = 0; ///< moment of what is shown
    std::string shown;    ///< lanes and product
    bool kept = true;     ///< the moment belongs to what will be shown first
    bool playing = false;
    double played = 0;
};

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
    bool compared_ = false; // with the rung below
    std::size_t first_ = 0; // the line to begin with
    int scroll_ = 0;        // frames until the pane knows its height
};

} // namespace lockstep::demos
