// The exhibits: which one is shown, at which speed each runs, and the list of them on the left. While a
// lesson is open, others of the same kinds stand in their place.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/exhibit.h"

namespace lockstep::demos {

inline constexpr const char* limitedWords = "Limits training to this many steps per second.";

/// A speed to choose.
struct NamedSpeed {
    const char* name;
    const char* words;
    Speed stepsPerSecond;
};

inline constexpr NamedSpeed speedTable[] = {
    {"flat out", "Trains as fast as the machine can.", 0},
    {"300 steps/s", limitedWords, 300},
    {"60 steps/s", limitedWords, 60},
    {"10 steps/s", limitedWords, 10},
    {"3 steps/s", limitedWords, 3},
    {"1 step/s", limitedWords, 1},
};

/// Explains the lessons in the list and in the menu.
inline constexpr const char* lessonsWords =
    "Lists the lessons: paths through the exhibits, with questions that this machine answers.";

class ExhibitList {
  public:
    explicit ExhibitList(std::vector<std::unique_ptr<Exhibit>> exhibits);

    const std::vector<std::unique_ptr<Exhibit>>& all() const { return exhibits_; }
    Exhibit& operator[](std::size_t index) const { return *exhibits_[index]; }
    Exhibit& shown() const { return *exhibits_[shown_]; }
    std::size_t shownIndex() const { return shown_; }
    /// Throws std::invalid_argument that names the nearest right one.
    void show(std::string_view id);
    /// Those that are not hidden, and the one that is shown.
    std::vector<std::size_t> listed(const Ui& ui) const;
    /// One exhibit for each entry of the list: of those that share one, the exhibit that was shown last.
    std::vector<std::size_t> entries(const Ui& ui) const;
    void clear() { exhibits_.clear(), aside_.exhibits.clear(); }

    /// A lesson sets the exhibits as it needs them: it gets others, the same each time, so that what a person
    /// has measured, trained and set stays untouched until bringBack(). The one that is shown pauses.
    void putAside();
    void bringBack();
    bool isAside() const { return isAside_; }
    /// For both, such as giving up their device.
    template <class Action> void forAll(Action action) {
        for (const auto* each : {&exhibits_, &aside_.exhibits})
            for (const auto& exhibit : *each) action(*exhibit);
    }

    /// Both by their place in their list.
    void setSpeed(std::size_t exhibit, std::size_t index);
    /// In the table; throws std::invalid_argument for a speed that is not there.
    static std::size_t speedIndex(Speed stepsPerSecond);
    /// Empty until a person or a state has chosen.
    std::optional<Speed> chosenSpeed(std::size_t exhibit) const;
    /// What is chosen, or else the shown exhibit's usual speed.
    std::size_t shownSpeed() const;
    /// Until a speed is chosen, every exhibit runs as fast as it can, whatever its usual speed.
    void setFlatOut();

    struct Press {
        std::optional<std::size_t> exhibit;
        bool lessons = false;
    };
    /// Draws all exhibits in their groups and, below them, the lessons: as high as there is room for. While
    /// controls are hidden by clicks, so are exhibits.
    Press draw(Ui& ui, bool lessonOpen);
    /// The exhibits that share the shown one's entry, side by side; draws nothing where it is alone. Returns
    /// the one that was pressed.
    std::optional<std::size_t> drawShared(Ui& ui) const;

  private:
    struct Set {
        std::vector<std::unique_ptr<Exhibit>> exhibits;
        std::size_t shown = 0;
        std::map<std::string_view, std::size_t> chosenSpeeds;
    };

    void exchange();
    std::string entryAt(std::size_t index) const { return entryOf(exhibits_[index]->id()); }
    /// The exhibit that the entry leads to.
    std::size_t leadsTo(const std::string& entry) const;
    void hide(Ui& ui, std::size_t index);
    /// Returns where it is on the screen.
    Place drawExhibit(Ui& ui, std::size_t index, float height, bool gone, Press& press);

    std::vector<std::unique_ptr<Exhibit>> exhibits_;
    std::size_t shown_ = 0;
    std::map<std::string, std::string, std::less<>> lastOf_; // entry: id of the exhibit that was shown last
    std::map<std::string_view, std::size_t> chosenSpeeds_;   // by exhibit
    bool flatOut_ = false;                                   // where none is chosen
    Set aside_; // the lesson's or, while one is open, the person's own
    bool isAside_ = false;
};

} // namespace lockstep::demos
