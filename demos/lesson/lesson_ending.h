// What became of a lesson: the page after its last step, and a picture of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "demos/draw/read_png.h"
#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

/// A step that asked or measured something.
struct EndingRow {
    std::size_t step = 0; ///< from 1
    std::string title;
    bool asks = false;
    AnswerVerdict verdict = AnswerVerdict::none; ///< on the prediction
    std::string prediction;                      ///< empty: none was given, or it was not asked for
    std::string result; ///< the first sentence that quotes what was measured, or what is right; may be empty
};

struct LessonEnding {
    std::string title; ///< of the lesson
    std::string machine;
    std::string date;
    LessonRun::Score score;
    std::vector<EndingRow> rows;
};

LessonEnding endingOf(const LessonRun& run, const MeasuredValues& values);

/// "4 of 6 as predicted"; that none was answered; of a lesson without questions that it is done.
std::string scoreText(const LessonEnding& ending);
/// What a row says of the prediction: "You predicted: The GPU."
std::string predictionText(const EndingRow& row);

/// The page as a picture to share, 1200 pixels wide. It names no learner.
Pixels endingPicture(const LessonEnding& ending);

} // namespace lockstep::demos
