// The program's plot: curves over an axis, with readout, zoom, smoothing and export as CSV or PNG.
//
//   plot_.draw(ui, "loss", "The loss, step by step.", lines, {.x = {"step"}, .y = {"loss"}});
//
// The wheel zooms at the mouse (over an axis: that axis only), dragging pans, a double click fits everything
// again. With a pen, dragging draws instead. The menu (right click, or the button with three dots) has the
// axes, smoothing, CSV and PNG. Its controls are called "log x##ID", "log y##ID", "more##ID", and each line's
// legend "NAME##ID".
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/draw/plot_math.h"
#include "demos/draw/ui.h"

namespace lockstep::demos {

/// The area between two curves, behind all lines; where one of them is infinite, up to the plot's edge.
struct PlotBand {
    ImU32 colour = 0;
    std::span<const double> x; ///< ascending; same length as both
    std::span<const double> low;
    std::span<const double> high;
    std::string name = {}; ///< written at the top; empty: none
    bool shown = false;    ///< the axis reaches to both edges, whatever the lines are
};

struct PlotAxis {
    std::string title;
    std::string unit;      ///< "s", "%"; empty: none
    bool log = false;      ///< until a person chooses otherwise
    bool measured = false; ///< a time or rate, other in every run: masked pictures show no curve
    bool whole = false;    ///< of whole numbers: steps, epochs
    std::optional<PlotRange> shown = {}; ///< values that are on the axis whatever the lines are
};

/// Draws over a plot whose axes both have `shown` values.
struct PlotPen {
    const char* name;       ///< of the area among the controls, in place of the plot's
    std::string_view words; ///< likewise
    /// The mouse has drawn to these values; `begins`: it was pressed there.
    std::function<void(double x, double y, bool begins)> to;
};

struct PlotOptions {
    PlotAxis x, y;
    ImVec2 size{0, 0}; ///< 0: all there is
    std::string empty = "no data yet";
    std::span<const PlotBand> bands{};
    bool legend = true;                   ///< above the curves; else the menu has it
    std::string overlay = "earlier runs"; ///< what faint lines are, in the legend
    float lead = 0;                       ///< pixels on the legend's left that the caller has drawn on
    float smoothing = 0;                  ///< weight of the running mean until a person chooses another
    const PlotPen* pen = nullptr;         ///< dragging draws with it instead of panning
};

struct PlotFrame;

/// The user's view of one plot: zoom, hidden lines, smoothing, logarithms. A member of its exhibit.
class Plot {
  public:
    /// `id` is the plot's name among the controls; one per window. `words` explain it.
    void draw(Ui& ui, const char* id, std::string_view words, std::span<const PlotLine> lines,
              const PlotOptions& options);

    /// The zoom is not part of it: another run has other numbers.
    nlohmann::ordered_json state() const;
    /// Fields that are missing stay as they are. Throws std::invalid_argument, naming the field.
    void setState(const nlohmann::ordered_json& state);

  private:
    void fitAll() { viewX_ = viewY_ = std::nullopt; }
    void drawBar(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options, float width);
    void drawLegend(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options, float room);
    std::vector<const PlotLine*> legendLines(std::span<const PlotLine> lines) const;
    void toggle(const std::string& name);
    void legendEntry(Ui& ui, const PlotLine& line);
    void drawArea(Ui& ui, std::string_view words, std::span<const PlotLine> lines, const PlotOptions& options,
                  ImVec2 size);
    void handleMouse(const PlotFrame& frame, const PlotPen* pen);
    void zoomAt(const PlotFrame& frame, ImVec2 mouse, double byX, double byY);
    void drawMenu(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options);
    const std::string& legendName(const PlotLine& line) const;
    bool shows(const PlotLine& line) const { return !hidden_.contains(legendName(line)); }
    std::string named(std::string_view label) const { return std::string(label) + "##" + id_; }

    std::string id_;
    std::optional<bool> logX_; ///< what a person chose, if anything
    std::optional<bool> logY_;
    std::optional<float> smoothing_;
    std::set<std::string, std::less<>> hidden_;
    std::optional<PlotRange> viewX_; ///< positions; empty: everything
    std::optional<PlotRange> viewY_;
    std::string shownAxes_; ///< the zoom belongs to these
    bool nowLogX_ = false;  ///< of this frame
    bool nowLogY_ = false;
    float nowSmoothing_ = 0;
    std::string overlay_;
    bool legendShown_ = true;
    bool openMenu_ = false;
    double zoomWish_ = 1; ///< from the menu, around the middle
    Ui::Place whole_{};   ///< on the screen, with the legend
};

} // namespace lockstep::demos
