// The sources of an experiment: kernels, which can be edited and measured, and the loops behind them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/exhibits/parallelism/parallelism_model.h"
#include "demos/kit/source_editor.h"

namespace lockstep::demos {

inline constexpr EditWords parallelismEdits{
    .passed = "passed and measured",
    .used = "is measured",
    .kept = "previous curves stay",
    .edit = "Lets you change the kernel's text.",
    .code = "The kernel's text. Ctrl+Enter compiles, verifies and measures it.",
    .check = "Compiles the edited kernel, checks its results, and measures it beside the built-in one.",
    .revert = "Returns to the built-in text of this file, and to its curves."};

class KernelView {
  public:
    /// Shows the kernels of the model's open experiment. Where a kernel is edited and there is room, the
    /// curves stand beside it.
    void draw(Ui& ui, ParallelismModel& model, LabView& curves);
    /// Shows the first kernel of the open experiment with a changed text; where there is none, what it
    /// showed.
    void showEdited(ParallelismModel& model);
    /// Another experiment is open.
    void restart() {
        file_ = 0;
        editor_ = SourceEditor("parallelism");
    }

    bool editing = false; ///< kernels' texts are fields to type into

  private:
    void drawEditor(Ui& ui, ParallelismModel& model, LabView& curves, const std::vector<std::string>& files);

    std::size_t file_ = 0; // of the experiment's, the one shown
    SourceEditor editor_{"parallelism"};
};

} // namespace lockstep::demos
