// Inside a step: one training step of both machines, operation by operation.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/inside/element_sum.h"
#include "demos/exhibits/inside/equation_parts.h"
#include "demos/exhibits/inside/image_tiles.h"
#include "demos/exhibits/inside/inside_model.h"
#include "demos/exhibits/inside/workgroup_tiles.h"
#include "demos/kit/operations.h"
#include "demos/kit/source_editor.h"
#include "demos/kit/workgroup_chart.h"

namespace lockstep::demos {

/// The largest magnitude of the finite ones; 0 if there are none.
float largestOf(std::span<const float> values);

/// An operation of a machine's trace.
struct OperationAt {
    std::size_t machine = 0;
    std::size_t index = 0;

    bool operator==(const OperationAt&) const = default;
};

/// One step of both machines as bars on one time axis: timeline.cpp.
struct Timeline {
    /// A stretch without an operation.
    struct Gap {
        std::size_t machine = 0;
        bool first = false; ///< before the first operation
        bool last = false;  ///< after the last one
        double beginMs = 0;
        double endMs = 0;
    };

    /// Milliseconds shown; empty: all of the longer step.
    std::optional<std::array<double, 2>> view;
    std::optional<OperationAt> hovered; ///< under the mouse, as of the last draw()
    std::optional<Gap> gap;             ///< likewise

    /// Draws as wide as there is room and `height` high. Returns the operation that was clicked.
    /// low   without the axis' numbers, which each row's time makes up for
    std::optional<OperationAt> draw(Ui& ui, const InsideModel& model, OperationAt selected, float height,
                                    bool low);
    /// Moves what is shown so that the operation is in sight.
    void reveal(const TracedOperation& operation);
};

struct TensorPicture {
    std::unique_ptr<Picture> picture;
    TileGrid tiles = {};                          ///< the images that it is made of; none: a cell per number
    std::tuple<std::uint64_t, bool, bool> origin; ///< revision of the traces, of the GPU, theme is dark
    float largest = 0;                            ///< size of the largest value
    bool stale = true;                            ///< the picture is of another origin
    std::optional<double> difference; ///< from the other machine's, at most; empty: nothing to compare
    bool used = false;                ///< in this frame
};

using TensorPictures = std::map<TensorId, TensorPicture>;

/// A function's place in a source text: lines [begin, end), counted from 0.
struct SourceRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Where the definition of `function` is, its template line included; empty when it is not there.
SourceRange functionIn(const std::vector<std::string_view>& lines, std::string_view function);

/// Where the first function that a shader's file defines is; empty when it defines none.
SourceRange firstFunctionIn(const std::vector<std::string_view>& lines);

inline constexpr EditWords insideEdits{};

/// The sources of an operation beside each other: its shader, which can be changed in place, and the plain
/// loop.
class SourceView {
  public:
    /// gpu     the operation in the GPU's trace, or null: then only the plain loops are shown
    /// parts   of its formula, which the lines that compute them name
    /// ran     the changed shaders with which it ran
    void draw(Ui& ui, const TracedOperation& operation, const TracedOperation* gpu,
              std::vector<EquationPart> parts, const ShaderTexts& ran, ShaderEdits& edits);

    bool editing = false;  ///< the shader's text is a field to type into
    std::size_t panes = 0; ///< both, GLSL, C++

  private:
    void show(const ShaderEdits& edits, const std::string& shader, const OperationWords& row);
    void drawChoices(Ui& ui);
    void drawEditor(Ui& ui, ShaderEdits& edits, float width);
    struct Pane {
        std::string title;
        std::string_view text;
        SourceRange lit;    ///< the function that computes the operation
        SourceRange linked; ///< where lines may compute parts of its formula
        ImU32 colour;
    };
    void drawPane(Ui& ui, const Pane& pane, float width) const;

    std::string shader_;             // stem of what is shown
    std::vector<std::string> files_; // of the shader
    std::size_t file_ = 0;           // of these, the one shown
    const OperationWords* row_ = nullptr;
    std::vector<EquationPart> parts_;
    SourceRange lit_; // the lines of the plain function
    int scroll_ = 0;  // frames: to the functions, until the panes have their height
    SourceEditor editor_{"inside"};
};

/// By which a part of a formula and the lines that compute it are seen to belong together.
ImU32 colourOfPart(const Theme& theme, std::size_t part);

/// Underlines the parts in a formula whose lines have been written from `at` on, in the present letters.
void underlineParts(const Ui& ui, std::span<const EquationPart> parts,
                    std::span<const std::string_view> lines, ImVec2 at);

enum InsideTab : std::size_t { networkTab, tensorsTab, sourceTab, workgroupsTab };

/// All of the view that a person sets.
struct InsideView {
    OperationAt selected{1, 1};   ///< of the GPU, its first product
    std::size_t tab = networkTab; ///< an InsideTab
    bool examples = true;         ///< the network shows the batch's examples one after another
    float slowSpeed = 2;          ///< operations per second of slow motion
    bool settingsShown = false;
};

/// The selected operation's workgroups in rows: laid out once, drawn in every frame.
struct WorkgroupRows {
    std::tuple<std::uint64_t, std::size_t> origin{0, 0}; ///< revision of the traces, operation
    std::vector<GroupSpan> spans = {};
    std::optional<GroupTiles> tiles = {}; ///< what they compute
};

/// An example of the batch on its way through the network; then what its step does to correct it, and then
/// the next.
struct PassingExample {
    std::size_t example = 0; ///< row of the batch
    double seconds = 0;      ///< since it entered

    /// Layers that it has passed so far, the last of them in part.
    float layersPassed() const;
    /// Operations after those layers that have been shown, the last of them in part; below 0: it has not come
    /// so far, or its outputs are still to be read.
    float correctionsShown(std::size_t layers) const;
    /// Time goes on; after so many layers, a rest and so many operations comes the next of `examples`.
    void advance(double delta, std::size_t layers, std::size_t examples, std::size_t corrections = 0);
};

/// What the exhibit shows, and where a person has come in it.
struct Inside {
    InsideModel model;
    InsideView view;
    Timeline timeline;
    TensorPictures tensors;
    SourceView source;
    WorkgroupRows workgroups;
    bool playing = false;   ///< slow motion: operation by operation, and the next step after the last one
    bool startOver = false; ///< the next step's trace is looked at from its first operation
    double played = 0;      ///< share of the selected operation that slow motion has shown
    bool neuronsLeftOut = false;     ///< the network view had no room for all, when it was last drawn
    std::optional<ElementAt> picked; ///< of a tensor that the selected operation writes: shown as a sum
    PassingExample passing;

    /// Null where there is none.
    const TracedOperation* operation(OperationAt at) const;
    /// The selected operation, as far as the shown step has it: of the other machine where it is of one that
    /// has none yet, and the last one of a shorter step.
    OperationAt chosen() const;
    /// The same; while examples pass, the operation of the layer that one is in, or that corrects it.
    OperationAt at() const;
    /// The share, 0 to 1, that is shown of an operation after the forward pass of a passing example; empty:
    /// it is still predicted.
    std::optional<float> correction() const;
    /// How many operations of the shown step come after its forward pass.
    std::size_t corrections() const;
    const TracedOperation* selected() const { return operation(at()); }
    /// A person looks at one operation: examples no longer pass.
    void select(OperationAt wanted);
    /// Along the operations, and after the last one to the next step.
    void moveSelection(std::ptrdiff_t by);
    /// Examples pass through the network that is in sight.
    bool examplesPass() const { return view.tab == networkTab && view.examples && !playing; }
    /// As InsideModel::change().
    void change(const RunOptions& settings);
};

/// A time in which a machine waits, as "waiting" in Race.
void fillWaiting(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max);

/// A number of a time axis in milliseconds, with its unit.
std::string tickText(double milliseconds, double step);

/// That the operation in the rectangle has a changed shader; a line as long as the built-in one takes, to
/// `builtInX`.
void drawEditedMark(Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, float builtInX);

/// The layers of a network whose data are still being loaded: inputs and outputs as many as drawNet() draws
/// at most.
NetShape outlineOf(const RunOptions& settings);

/// A network to draw, and the moment of its step.
struct NetMoment {
    const NetShape& shape;
    const StepTrace* trace = nullptr;           ///< null: nothing is known of it but its layers
    const Dataset* data = nullptr;              ///< names of classes, size of images; null: without them
    std::size_t example = 0;                    ///< row of the batch whose values are shown
    const TracedOperation* operation = nullptr; ///< null: the example passes forwards
    /// Of the operation, 0 to 1: how far a signal has come along the links; below 0: nothing moves. Without
    /// an operation: layers passed.
    float phase = -1;
};

/// Draws into `size` at the cursor. Neurons show the values of an example: activations, and gradients where
/// the backward pass has been. Where there is room, an image stands before the inputs and the classes'
/// probabilities behind the outputs. Layers that are too wide show some neurons of the more active half in
/// this batch, the same for every example. Returns whether there are such layers.
bool drawNet(Ui& ui, const NetMoment& moment, ImVec2 size);

/// The colours of tensors, at the cursor, as high as a line.
void drawScale(Ui& ui);
float scaleWidth(const Ui& ui);

/// Draws the tensors of the selected operation as large as they fit, written beside read, and keeps their
/// pictures. Their values are compared with the other machine's. A click picks an element; then its sum is
/// drawn.
void drawTensors(Ui& ui, Inside& inside);

/// Draws an element as the sum that it is. True when the tensors are to be seen again.
bool drawElement(Ui& ui, const ElementSum& element);

/// When the workgroups of a GPU's operation ran, as large as there is room, or why that is not known:
/// workgroup_view.cpp.
void drawWorkgroupView(Ui& ui, Inside& inside);

/// The middle of the window: the timeline, the player below it, and what is known about the selected
/// operation.
void drawInside(Ui& ui, Inside& inside);
void drawInsideDetails(Ui& ui, Inside& inside);

} // namespace lockstep::demos
