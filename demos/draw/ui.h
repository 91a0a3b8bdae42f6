// What exhibits draw with: colours, letters, widgets that can be found by name, and the ways to tell the user
// something. One Ui is passed down through every frame.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <imgui.h>

#include "demos/draw/easing.h"
#include "demos/draw/fonts.h"
#include "demos/draw/graphics.h"
#include "demos/draw/theme.h"
#include "demos/words/language.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

class Machines; // demos/kit/machines.h

/// What is said of the item under the mouse: in the panel of details, or in a box beside the pointer.
struct Detail {
    std::string title;
    std::string formula = {};                                     ///< empty: none
    std::vector<std::pair<std::string, std::string>> values = {}; ///< name and live number
    std::string text = {};                                        ///< a sentence or two
    bool atOnce = false; ///< the box does not wait for the pointer to rest
};

enum class Severity { info, warning, error };

/// A message in the window: what happened, and what to try.
struct Message {
    Severity severity = Severity::info;
    std::string text;
    std::string hint;
    double time = 0; ///< when it came
};

/// A place on the screen, in pixels.
struct Place {
    ImVec2 min;
    ImVec2 max;
};

/// A picture of the window, or of a part of it, once menus are closed.
struct PictureWish {
    std::string file; ///< empty: where a person says, under a name with the time
    std::optional<Place> area;
};

/// Another exhibit to be shown, in a state that it is handed: exhibits know each other by name only.
struct ExhibitWish {
    std::string id;
    std::string state; ///< JSON, as that exhibit's state() has it
};

/// A file to be written where a person says.
struct SaveWish {
    std::string name; ///< proposed; its ending stays
    /// May throw what is wrong with the file.
    std::function<void(const std::filesystem::path& file)> write;
};

/// In place of an explanation: the control's name, or a Detail, says all.
inline constexpr std::string_view saysItself{};

class Ui {
  public:
    Ui(Graphics& windowGraphics, Machines& lanesMachines)
        : graphics(windowGraphics), machines(lanesMachines) {}

    Graphics& graphics; ///< of the window
    Machines& machines; ///< for lanes

    Theme theme = makeTheme(true);
    Fonts fonts;
    float scale = 1;        ///< pixels of one unit: at 1, the body's letters are 16 pixels high
    bool presenter = false; ///< text larger, lines thicker
    bool animations = true; ///< a selection moves to its new place instead of jumping there
    bool scripted = false; ///< time is counted in frames: exhibits wait for their lanes instead of looking on
    bool unseen = false;   ///< this frame is not painted: what only its picture would show need not be made
    bool masked = false;   ///< what differs from run to run (times, rates) is drawn as dashes
    double now = 0;        ///< seconds since the start
    double delta = 0;      ///< seconds since the last frame

    float px(float units) const { return units * scale; }
    /// Width of a line, at least one pixel; thicker for presenters.
    float line(float units = 1) const;
    /// A length or position that follows `target` within `seconds`. Scripts see the target at once.
    float eased(std::string_view id, float target, double seconds = Easing::duration) {
        return animations && !scripted && !masked ? easing_.toward(id, target, now, seconds) : target;
    }
    /// Whether something eased is still on its way, so that frames are needed without any input.
    bool easing() const { return easing_.moving(); }
    ImU32 colour(const LaneSpec& lane) const { return lane.gpu ? theme.gpu : theme.cpu; }
    /// What belongs to a machine stands on this.
    ImU32 surface(const LaneSpec& lane) const { return surface(colour(lane)); }
    ImU32 surface(ImU32 machine) const { return mixed(theme.panel, machine, 0.16f); }

    /// What a device's name is written in. Numbers of a software device mislead, so it looks the same
    /// everywhere.
    ImU32 deviceColour(bool software) const { return software ? theme.warning : theme.muted; }

    /// A time, rate or other text that differs from run to run.
    std::string timing(std::string text) const { return masked ? "-" : text; }

    // Widgets. `label` is what is shown, up to "##", in the language spoken now; all of it, in English, is
    // the widget's name, by which scripts find it and teachers hide it. A hidden widget keeps its place,
    // draws nothing and answers false; so does every widget while a click hides it instead. `words` explain
    // it in a box beside it, in one or two sentences: what it is and what happens when it is used, with the
    // unit.
    bool button(const char* label, std::string_view words, bool enabled = true) {
        return namedButton(label, label, words, enabled);
    }
    /// Shows `shown` (an ImGui label) and goes by the name `name`.
    bool namedButton(const char* shown, const char* name, std::string_view words, bool enabled = true);
    /// The main button of a panel.
    bool primaryButton(const char* label, std::string_view words, bool enabled = true,
                       const char* name = nullptr);
    /// A button that stays down.
    bool toggle(const char* label, std::string_view words, bool on, bool enabled = true) {
        return on ? primaryButton(label, words, enabled) : button(label, words, enabled);
    }
    bool checkbox(const char* label, std::string_view words, bool& value) {
        offer(label);
        return done(label, words, ImGui::Checkbox(translatedLabel(label).c_str(), &value));
    }
    /// The value chosen among names. True when it changed.
    bool combo(const char* label, std::string_view words, std::size_t& chosen,
               std::span<const std::string> names);
    /// typed   whether the number itself can be typed; not where `format` shows another one
    bool slider(const char* label, std::string_view words, float& value, float from, float to,
                const char* format = "%.2f", bool typed = true);
    /// Logarithmic.
    bool logSlider(const char* label, std::string_view words, float& value, float from, float to,
                   const char* format = "%.4g");
    bool intSlider(const char* label, std::string_view words, int& value, int from, int to,
                   const char* format = "%d");
    /// One of so many stops, counted from 0; the slider says `shown` of the present one.
    bool stopSlider(const char* label, std::string_view words, std::size_t& stop, std::size_t stops,
                    const std::string& shown);
    /// Powers of two from `from` to `to`.
    bool powerSlider(const char* label, std::string_view words, std::size_t& value, std::size_t from,
                     std::size_t to);
    bool textField(const char* label, std::string_view words, std::string& text);
    /// A line that shows `text` until somebody types. Returns what was typed once Enter is pressed or the
    /// field is left.
    std::optional<std::string> typedText(const char* label, std::string_view words, const std::string& text);
    /// A row of names, one of them chosen. True when it changed.
    /// lastWords   explain the last name in place of `words`; empty: as the others
    bool segments(const char* label, std::string_view words, std::size_t& chosen,
                  std::span<const std::string> names, std::string_view lastWords = {});
    // In menus, a label's name begins with "menu/"; nothing there can be hidden.
    /// on   with a tick
    bool menuItem(const char* label, std::string_view words, const char* key = nullptr, bool on = false,
                  bool enabled = true);
    /// One that unfolds: true while it is, and then ImGui::EndMenu() ends it.
    bool menu(const char* label, std::string_view words, bool enabled = true);
    /// Registers the menu's entry just drawn. Returns `used`.
    bool noteMenu(const std::string& name, std::string_view words, bool used);
    /// An area to press, drawn by the caller unless it is hidden().
    bool tile(const char* name, std::string_view words, ImVec2 size) {
        offer(name);
        return done(name, words, ImGui::InvisibleButton(name, size));
    }
    /// Around a widget that is drawn with ImGui itself: a hidden one is laid out, but neither seen nor
    /// reached. Then whether it was used, which `used` says of the item just drawn.
    void offer(const char* name);
    bool done(const char* name, std::string_view words, bool used);
    /// While a click hides controls: frames the item just drawn. True when it was clicked.
    /// gone   it is hidden: a faint frame, and a click brings it back
    bool hidingClick(const char* name, std::string_view words, bool gone);
    /// Registers the ImGui item just drawn under `name`; it cannot be hidden.
    void noteControl(const char* name, std::string_view words);
    bool hidden(const char* label) const { return hiddenControls.contains(label); }

    /// After everything else of a frame: says what the control under the mouse or the keyboard is for, once
    /// it has been there for half a second. Without a panel for details, it shows these.
    void drawExplanation();
    /// Whether an explanation is about to be shown, so that frames are needed without any input.
    bool explanationPending() const { return (pointed_ || detailUnshown()) && !explained_ && !quiet_; }
    /// The item just drawn explains itself: no words beside the pointer.
    void explainNothing() { pointed_.reset(); }
    /// Whether the pointer has moved since the window opened: before, it only happens to lie where it lies.
    bool pointerMoved() const { return pointerMoved_ || scripted; }
    /// Begins to type a number, with this digit, into the slider that was used last; false if that was none.
    bool typeDigit(char digit);
    /// Moves the keyboard `by` controls on, in the order in which the last frame drew them. A field that
    /// takes tabs as text gets one instead.
    void moveFocus(int by);

    // Text. All of it is translated.
    void text(std::string_view text, ImU32 colour = 0, ImFont* font = nullptr);
    void muted(std::string_view text) { this->text(text, theme.muted); }
    void heading(std::string_view text) { this->text(text, 0, fonts.strong); }
    /// The one sentence of a screen: in display type where it fits into a line of `width` pixels (0: all
    /// there is), else smaller and wrapped.
    void headline(std::string_view text, float width = 0);
    /// Wrapped at `width` pixels; 0: at the panel's edge.
    void paragraph(std::string_view text, ImU32 colour = 0, float width = 0);
    /// What few people need, folded away under "More": true while it is open, and the caller draws it.
    bool more(const char* name);
    /// Name on the left, value flush right.
    void row(std::string_view name, std::string_view value);
    /// A filled, rounded panel for everything drawn until endCard(). width 0: all there is; ground 0: the
    /// theme's panel.
    void beginCard(const char* id, ImVec2 size = {0, 0}, ImU32 ground = 0);
    void endCard() {
        ImGui::EndChild();
        ImGui::PopStyleColor();
    }

    /// Shown until the end of this frame, unless something drawn later says more.
    void detail(Detail detail) { hovered = std::move(detail); }
    /// The same without a wait for the pointer to rest; where the panel shows it, `brief` stands beside the
    /// pointer.
    void detailAtOnce(const std::string& brief, Detail detail) {
        if (detailPanel && pointerMoved()) ImGui::SetTooltip("%s", std::string(translated(brief)).c_str());
        detail.atOnce = true;
        hovered = std::move(detail);
    }
    /// The same when the item just drawn is hovered.
    void explainItem(const Detail& explained) {
        if (ImGui::IsItemHovered()) hovered = explained;
    }
    void say(Severity severity, const std::string& english, const std::string& englishHint = {});

    std::optional<Detail> hovered;
    bool detailsWanted = false; ///< somebody asked for the panel of details, or a lesson brings it
    bool detailPanel = false;   ///< it is there, and shows what is hovered
    bool lessonShown = false;   ///< in the panel for details: exhibits need no introduction there
    bool lessonAsks = false;    ///< about this exhibit: it keeps a question of its own back
    std::size_t prose = 0;      ///< words drawn by paragraph() in the panel for details
    std::optional<PictureWish> pictureWish;
    std::optional<ExhibitWish> exhibitWish;
    std::optional<SaveWish> saveWish; ///< asks for the file, unless a script drives: that has no chooser
    std::string linkWish; ///< a link that was pressed: an address, or the file of a lesson; empty: none
    std::vector<Message> messages; ///< the newest last
    /// A person goes on: what was said before needs no place on the screen any more.
    void dismissMessages() { dismissed = messages.size(); }
    /// Something was done: why the last thing could not be is of no interest any more.
    void dismissFailure() {
        if (messages.size() > dismissed && messages.back().severity == Severity::error) dismissMessages();
    }
    std::size_t dismissed = 0; ///< of the messages, the oldest
    std::set<std::string, std::less<>> hiddenControls;
    bool hidingControls = false; ///< the teacher's mode: a click hides a control instead of using it
    /// Widgets of the last frame: name, and where on the screen.
    using Place = demos::Place;
    std::map<std::string, Place, std::less<>> controls;

    /// Begins a frame: forgets what the last one showed.
    void beginFrame() {
        controls.clear();
        hovered.reset();
        pointed_.reset();
        focusWish_.clear();
        lastStops_ = std::exchange(stops_, {});
        easing_.beginFrame();
    }

  private:
    std::map<std::string, std::string, std::less<>> typed_; // by field: texts that are being typed
    std::set<std::string, std::less<>> open_;               // names of more()
    Easing easing_;

    // Where Tab stops: controls, and the windows that they are in.
    struct Stop {
        std::string name;
        const void* window;
        bool current; ///< where the keyboard is
    };
    std::vector<Stop> stops_;
    std::vector<Stop> lastStops_; // of the last frame
    std::string focusWish_;       // takes the keyboard when it is drawn
    std::string lastUsed_;
    void noteStop(const char* name);

    /// The slider about to be drawn, once it takes text: gives it the digit that began it.
    void feedSlider(const char* label);
    /// The slider just drawn: a double click begins to type into it. False where it takes no text.
    bool noteSlider(const char* label);
    std::string lastSlider_; // used, and takes text
    struct Typing {
        std::string slider;
        char first = 0; // what was typed already; 0: nothing
    };
    std::optional<Typing> typing_; // about to begin

    struct Pointed {
        std::string name;
        std::string words;
        Place place;
        bool byKeyboard;
        bool typed = false; ///< a slider that takes text
    };
    std::optional<Pointed> pointed_; // the control under the mouse or the keyboard
    std::string explainedName_;
    double pointedSince_ = 0;
    ImVec2 pressedAt_{-1, -1};
    bool explained_ = false;               // it is shown
    bool quiet_ = false;                   // it was pressed, and the mouse has not moved since
    ImVec2 pointerAt_{-FLT_MAX, -FLT_MAX}; // in the frame before
    bool pointerMoved_ = false;
    void notePointer();
    bool detailUnshown() const { return hovered && !detailPanel; }

    Place nextFrame() const;
    void drawComboFrame(ImDrawList& draw, const Place& frame, std::string_view chosen) const;
    /// A label beside a widget belongs to it, but not to the part that a script presses or drags.
    void narrowControl(const char* label, const Place& frame) {
        if (const auto found = controls.find(label); found != controls.end()) found->second = frame;
    }
    template <class Slide, class Share>
    bool drawSlider(const char* label, std::string_view words, Slide slide, Share share);
};

/// The width of these letters as they are, in the present font.
inline float lettersWidth(std::string_view letters) {
    return ImGui::CalcTextSize(letters.data(), letters.data() + letters.size()).x;
}
/// The width of the text as it is shown: translated.
inline float textWidth(std::string_view text) { return lettersWidth(translated(text)); }

/// Writes the text, translated.
void drawText(ImDrawList& draw, ImVec2 at, ImU32 colour, std::string_view text);

/// As much of the translated line as `width` pixels hold in the present letters, "…" where it was cut.
std::string fittedText(std::string_view text, float width);

/// Where a box of `size` stands beside `place`, apart from it and `edge` pixels or more inside the window:
/// below or above, else to a side (the other way round if `sideways`). Beside a place that leaves no room, it
/// stands inside, in the half without the pointer.
ImVec2 beside(const Place& place, ImVec2 size, ImVec2 window, float edge, bool sideways, ImVec2 pointer);

/// Where the box that explains `item` stands: below or above it, near the pointer, else to a side. Of the
/// places that leave the item free, the first that covers the fewest of `others` (of large ones, the
/// titles). An item that leaves no such place, as high as the window, is covered at the end away from the
/// pointer.
ImVec2 explanationPlace(const Place& item, ImVec2 size, ImVec2 window, float edge, ImVec2 pointer,
                        std::span<const Place> others);

/// Small letters until the end of the scope: for axes, legends and captions.
class SmallLetters {
  public:
    explicit SmallLetters(const Ui& ui) { ImGui::PushFont(ui.fonts.small); }
    ~SmallLetters() { ImGui::PopFont(); }
    SmallLetters(const SmallLetters&) = delete;
    SmallLetters& operator=(const SmallLetters&) = delete;
};

/// The label as shown: up to "##".
std::string_view shownLabel(std::string_view label);

} // namespace lockstep::demos
