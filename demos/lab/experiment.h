// An experiment on parallelism: one idea, tried on this machine. Each is a file in demos/lab/experiments, its
// explanation in assets/experiments, and its shaders in shaders/lab; nothing else names them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/kit/measured.h"
#include "demos/kit/sketch.h"
#include "demos/lab/lab_bench.h"
#include "demos/lab/lab_result.h"
#include "demos/lab/lab_scene.h"

namespace lockstep::demos {

struct LabAxis {
    std::string_view title;     ///< "dispatches"
    std::string_view unit = {}; ///< "µs"; empty: a count
    bool log = true;
    /// Values that one sketches over, and that stay on the axis after measuring; empty: nothing is sketched.
    std::optional<PlotRange> sketched = {};
    bool calendar = false; ///< years: written without a comma, "2012"
};

/// What decides, before a device is measured, how far its curves will reach.
struct LabReach {
    std::uint32_t subgroupSize = 1;
    bool software = false;
};

struct LabAxes {
    PlotRange x, y;
};

/// What limits the machine: how the work is shared, where its numbers lie, or how it gets there.
enum class LabGroup : std::size_t { work, memory, launch };

/// The result in a number, "GPU 1.8×", and what to make of it, "as fast with 17 workgroups; ideal would be
/// 17×". Both in the language spoken now; empty: nothing was measured that has one.
struct LabVerdict {
    std::string figure, beside;
};

/// "GPU 1.8×"; "GPU about 1.8×" where the middle half of a compared point's rounds spans a factor of more
/// than 2.
std::string gpuFactor(double factor, std::initializer_list<const LabPoint*> compared);
struct LabRatioWords {
    std::string_view times;     ///< "as fast as", after a number
    std::string_view equal;     ///< "No faster", in place of the number
    std::string_view than = {}; ///< after `equal`
};
/// "GPU 1.8×" (the figure) and "as fast as direct convolution"; of a ratio of about 1, "No faster" and "than
/// direct convolution".
///   rest   in the language spoken now: "direct convolution"
LabVerdict ratioVerdict(double ratio, std::string figure, const LabRatioWords& words,
                        const std::string& rest);
/// The point of a series at `x`; null: not measured.
const LabPoint* labPointAt(const LabResult& result, bool gpu, std::string_view series, double x);

/// Where in a training step the effect is at work: an exhibit, in a state.
struct LabLink {
    std::string_view label; ///< "See the launches of a step"
    std::string_view exhibit;
    std::string_view state; ///< JSON, as the exhibit's state has it
};

/// What a picture needs besides the numbers.
struct LabView {
    Plot plot;
    double seconds = 0;       ///< since the experiment was opened; time in an animation
    Sketch* sketch = nullptr; ///< to draw on until something is measured, and then to compare; null: none
    /// The result shown is that of edited kernels, and this one of the built-in ones; null: it is not.
    const LabResult* builtIn = nullptr;
    bool all = true; ///< every line, and a picture that folds; false: the two lines that the experiment names

    /// How a curve is called: "GPU with a stride, edited".
    std::string nameOf(const LabSeries& series) const {
        return series.fullName().append(builtIn != nullptr && series.gpu ? translated(", edited") : "");
    }
};

/// Makes a curve that of a machine's n-th series: the GPU's are dashed; the first has the machine's colour,
/// the others differ from it in colour and, in turns, in their marks.
void styleLabLine(const Theme& theme, PlotLine& line, bool gpu, std::size_t index);

/// Faint lines of the built-in kernels, for a plot of edited ones. The lines point into it.
class BuiltInLines {
  public:
    BuiltInLines(const Ui& ui, const LabView& view);
    BuiltInLines(const BuiltInLines&) = delete;
    BuiltInLines& operator=(const BuiltInLines&) = delete;

    const std::vector<PlotLine>& lines() const { return lines_; }

  private:
    std::deque<std::vector<double>> numbers_;
    std::vector<PlotLine> lines_;
};

/// What these lines are, in a plot's legend.
inline constexpr std::string_view labPlotWords =
    "Medians; a band holds the middle half of the rounds. The wheel zooms, a drag pans.";
inline constexpr const char* builtInLegend = "built-in kernels";

struct Experiment {
    int place;              ///< in the list: lower ones come first
    std::string_view name;  ///< "launch": in command lines and files
    std::string_view title; ///< "The price of a launch"
    std::string_view idea;  ///< what is tried, in two sentences
    LabGroup group;
    LabScene (*scene)(); ///< what it is about, for its card
    std::string_view question;
    std::array<std::string_view, 4> choices; ///< answers to predict; unused ones are empty
    LabAxis x, y;
    /// Full names of the series that its plot begins with; the others follow when a person wants more.
    std::array<std::string_view, 2> lines;
    std::string_view sketched = {};          ///< the GPU's series to sketch before measuring; empty: none
    std::array<std::string_view, 4> sources; ///< files whose text is shown; unused ones are empty
    LabLink link;
    bool animated = false; ///< the picture moves by itself
    /// The axes that one sketches on, where they depend on the device; null: as x and y have them.
    LabAxes (*axes)(const LabReach& reach) = nullptr;
    bool introduced = false; ///< its card's picture moves above the empty axes
    bool counts = false;     ///< its answer is a count: other programs take nothing from it
    bool folds = false;      ///< beside the curves, its picture only explains: it leaves them the room

    /// Measures both machines. Series that do not work say so in their notes.
    void (*measure)(LabBench& bench, LabResult& result);
    /// The choice that the measurement supports; empty: it supports none of them.
    std::optional<std::size_t> (*answer)(const LabResult& result);
    /// Of a measurement that has an answer.
    LabVerdict (*verdict)(const LabResult& result);
    /// Adds what follows from the result and its explanation needs: "gpu_too_busy", 0 or 1. Null: nothing.
    void (*conclude)(const LabResult& result, MeasuredValues& values) = nullptr;
    /// The picture, as large as there is room; null: the curves. Also called before anything is measured.
    void (*draw)(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) = nullptr;
};

/// All of them, in the order of their places.
std::span<const Experiment* const> experiments();
/// Throws std::invalid_argument with the nearest name.
const Experiment& experimentFromName(std::string_view name);

/// Measures the experiment, and says which machines did it. What fails is a note of its series. Throws
/// gpu::DeviceLostError.
LabResult runExperiment(const Experiment& experiment, LabBench& bench);

/// The measured series over the experiment's axes, with the sketch; until then, the axes to sketch on.
///   height   0: all there is
///   models   what a law says of the measured numbers, drawn with them
void drawLabCurves(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view,
                   float height = 0, std::span<const PlotLine> models = {});

/// Whether a plot of so much draws the series. Where none of the experiment's two lines was measured, it
/// draws all.
bool draws(const LabView& view, const Experiment& experiment, const LabResult& result,
           const LabSeries& series);

/// The experiment's verdict; empty where the measurement supports no answer.
LabVerdict verdictOf(const Experiment& experiment, const LabResult& result);

/// "✓ As you predicted: 3 to 6 times" or "✗ You predicted: 1 to 3 times; measured: 3 to 6 times"; without a
/// prediction, the answer. Empty where nothing was measured.
std::string verdictText(const Experiment& experiment, const LabResult& result,
                        std::optional<std::size_t> predicted);

/// The numbers of the result, and what the experiment concludes from them: what texts may quote.
MeasuredValues valuesOf(const Experiment& experiment, const LabResult& result);

/// The paragraphs of assets/experiments/NAME.md that hold, with the values in place, in the language spoken
/// now (NAME.de.md). They may also quote "machine.cpu.threads" and "machine.gpu.software". Empty where
/// nothing was measured. Throws as readExplanation(); a file is read once.
std::string explanationText(const Experiment& experiment, const LabResult& result);
/// The text of the file. Throws std::runtime_error with the file, and with the line for what cannot be read
/// in it.
std::string readExplanation(const std::filesystem::path& file);

/// How far the sketch was off. Empty where nothing was measured or sketched, or the sketch reaches no point.
std::optional<SketchMiss> sketchMiss(const Experiment& experiment, const LabResult& result,
                                     const Sketch& sketch);

/// The same in a sentence. Empty where nothing was measured or sketched.
std::string sketchText(const Experiment& experiment, const LabResult& result, const Sketch& sketch);

} // namespace lockstep::demos
