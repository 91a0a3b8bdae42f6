// What the shell expects of an exhibit: it draws itself, and it can be run, stepped and reset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/draw/ui.h"
#include "demos/kit/edit_history.h"
#include "demos/kit/machines.h"
#include "demos/kit/measured.h"
#include "engine/run/lane.h"

namespace lockstep::demos {

enum class StepUnit { kernel, batch, epoch };

/// Through the views of an exhibit, as in a browser.
enum class Travel { back, forward };

/// Steps per second; 0: as fast as possible.
using Speed = double;

/// Exhibits never include each other; what they share is in the kit. All calls come from the window's thread
/// and must return within milliseconds: training has threads of its own. An exhibit overrides what it needs:
/// the rest does nothing.
class Exhibit {
  public:
    virtual ~Exhibit() = default;
    Exhibit() = default;
    Exhibit(const Exhibit&) = delete;
    Exhibit& operator=(const Exhibit&) = delete;

    virtual std::string_view id() const = 0; ///< "race": in command lines and state files
    virtual const char* title() const = 0;
    virtual const char* blurb() const = 0; ///< one line, for the list
    virtual const char* words() const = 0; ///< explain its control in the list and the menu, in a sentence
    /// About `size` pixels wide around `centre`.
    virtual void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const = 0;

    /// Once per frame while it is shown, before draw(). With ui.scripted, waits for everything that this
    /// frame shows, so that pictures do not depend on a machine's speed.
    virtual void update(Ui&) {}
    /// The middle of the window.
    virtual void draw(Ui& ui) = 0;
    /// The panel on the right while nothing is hovered.
    virtual void drawDetails(Ui& ui) { ui.paragraph(blurb()); }
    /// The exhibit's entries in the window's menu.
    virtual void drawMenu(Ui&) {}

    /// It trains a network: with weights to draw anew, at a speed. Others only run and reset.
    virtual bool trains() const { return true; }
    virtual bool running() const { return false; }
    /// A lane on the processor is being timed, to be compared: the window draws less often meanwhile.
    virtual bool timesProcessor() const { return false; }
    /// Examples trained by its lanes since they started, to measure training beside a window.
    virtual std::uint64_t trainedExamples() const { return 0; }
    /// Its lanes as it shows them at this moment: what is heard of it.
    virtual std::vector<LaneSnapshot> lanesShown() const { return {}; }
    virtual void run(Ui&) {}
    virtual void pause() {}
    virtual bool canStep(StepUnit) const { return false; }
    virtual void step(Ui&, StepUnit) {}
    /// Back to the start with the same weights.
    virtual void reset(Ui&) {}
    /// Back to the start with another seed.
    virtual void reroll(Ui&) {}
    virtual void setSpeed(Speed) {}
    /// Until a person chooses one.
    virtual Speed usualSpeed() const { return 0; }
    /// What Ctrl with Z takes back, and Ctrl with Y makes again: settings, not views.
    virtual EditHistory& edits() = 0;
    /// Alt with an arrow to the left or right.
    virtual void travel(Ui&, Travel) {}
    /// Something moves by itself, so that frames are needed without any input.
    virtual bool moving() const { return running(); }
    /// Fills the first view with seconds of small work that is named as a preview. Called once per run of the
    /// program, when a window shows the exhibit and nothing else is under way; what a person starts replaces
    /// it.
    virtual void preview(Ui&) {}

    /// Adds what it has measured, and with it the names of what it can measure in its present state.
    virtual void measured(MeasuredValues&) const {}

    /// Everything that a person has set.
    virtual nlohmann::ordered_json state() const = 0;
    /// The same for the program's next start: with what was trained, where that can go on from there.
    virtual nlohmann::ordered_json lastState() const;
    /// Reads and checks what state() returned, and returns a function that restores it; until that is called,
    /// the exhibit stays as it is. Throws std::invalid_argument naming the field.
    virtual std::function<void()> readState(const nlohmann::ordered_json& state) = 0;

    /// A key from 1 to 9; false: it selects an exhibit, as usual.
    virtual bool takeDigit(int) { return false; }
    /// A file was dropped onto the window; false: not a kind that this exhibit reads. Throws with file and
    /// reason.
    virtual bool dropFile(Ui&, const std::filesystem::path&) { return false; }
    /// The device is about to be replaced: gives up everything on it, keeps results and settings. Returns in
    /// a sentence what was lost and how it continues; empty when nothing was under way.
    virtual std::string releaseDevice() = 0;
};

/// The ids of all exhibits, for help: "race, playground, ...".
std::string exhibitIds();

/// The caption above the exhibit in the list on the left; of an unknown id the first one.
const char* groupOf(std::string_view id);
/// The exhibit whose entry in that list it shares: its own id, for most.
std::string entryOf(std::string_view id);

/// All exhibits, in the order of the list on the left.
std::vector<std::unique_ptr<Exhibit>> makeExhibits();

/// Widths in pixels, 0 where there is none.
struct SidePanels {
    float list = 0;    ///< of exhibits, on the left
    float details = 0; ///< on the right
};

/// What an exhibit needs comes first: details that were asked for go where they would leave too little, then
/// the list (menus and keys have both).
inline SidePanels sidePanels(const Ui& ui) {
    const float width = ImGui::GetIO().DisplaySize.x;
    const float list = ui.presenter ? 0 : ui.px(92);
    const float details = ui.detailsWanted ? ui.px(width >= ui.px(1200) ? 330 : 286) : 0;
    if (width < list + ui.px(420)) return {};
    const bool roomy = width - list - details >= ui.px(ui.presenter ? 620 : 680);
    return {.list = list, .details = roomy ? details : 0};
}

} // namespace lockstep::demos
