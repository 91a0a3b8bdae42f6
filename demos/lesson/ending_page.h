// The last page of a lesson, as the window shows it in place of the exhibit.
#pragma once

#include <string>

#include "demos/draw/ui.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_ending.h"

namespace lockstep::demos {

enum class EndingAct { none, nextLesson, savePicture, saveAnswers, goBack };

struct EndingPress {
    EndingAct act = EndingAct::none;
    std::size_t step = 0; ///< to go back to, from 0
};

/// next      the lesson to go on with; null: none
/// learner   as typed
EndingPress drawEnding(Ui& ui, const LessonEnding& ending, const LessonEntry* next, std::string& learner);

} // namespace lockstep::demos
