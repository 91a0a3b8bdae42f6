// The step of a lesson, as the window shows it.
#pragma once

#include <string>

#include "demos/draw/ui.h"
#include "demos/lesson/lesson_pictures.h"
#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

enum class LessonPress { none, back, next, close };

/// A number that a key began to type without a click on its field.
struct NumberTyping {
    char first = 0;      ///< its digit; 0: none, or the field has it
    bool active = false; ///< the field has the keyboard, as of the last frame
};

/// What the panel needs besides the lesson.
struct LessonView {
    const MeasuredValues& values;
    LessonPictures& pictures;
    NumberTyping& typing;
};

/// At the top of the side panel.
LessonPress drawLesson(Ui& ui, LessonRun& run, const LessonView& view);
/// Above the exhibit, where there is no side panel: the title, the first paragraph, the question and the
/// answer; for presenters, how long the step has been shown.
LessonPress drawLessonLine(Ui& ui, LessonRun& run, const LessonView& view);
/// In place of the exhibit, while LessonRun::covers().
void drawCover(Ui& ui);
/// The step has an answer that is not on the screen, and what it waits for has happened.
bool hidesAnswer(const LessonRun& run, const MeasuredValues& values);
/// A ring around the control that the step points at, over everything else; around Next once that was done.
/// Nothing where it is not on the screen.
void drawLessonRing(const Ui& ui, const LessonRun& run);
/// The step asks for a number, and has none yet.
bool wantsNumber(const LessonRun& run);

} // namespace lockstep::demos
