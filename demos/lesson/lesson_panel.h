// The step of a lesson, as the window shows it.
#pragma once

#include "demos/draw/ui.h"
#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

enum class LessonPress { none, back, next, close };

/// At the top of the side panel.
LessonPress drawLesson(Ui& ui, LessonRun& run, const MeasuredValues& values);
/// Above the exhibit, where there is no side panel: the title, the first paragraph, the question and the
/// answer.
LessonPress drawLessonLine(Ui& ui, LessonRun& run, const MeasuredValues& values);
/// A ring around the control that the step points at, over everything else. Nothing where it is not on the
/// screen.
void drawLessonRing(const Ui& ui, const LessonStep& step);

} // namespace lockstep::demos
