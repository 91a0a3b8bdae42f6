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
    std::string right;  ///< what is right; empty: not known, or nothing was answered and measured
    std::string result; ///< the first sentence that quotes what the step has measured; may be empty

    /// Neither answered nor measured: there is nothing to say of it.
    bool open() const { return asks && prediction.empty() && right.empty() && result.empty(); }
};

struct LessonEnding {
    std::string title; ///< of the lesson
    std::string machine;
    std::string date;
    LessonRun::Score score;
    std::vector<EndingRow> rows;
};

LessonEnding endingOf(const LessonRun& run, const MeasuredValues& values);

/// "4 of 6 as predicted", "1 of 1 right; 5 not answered"; that none was answered; of a lesson without
/// questions that it is done.
std::string scoreText(const LessonEnding& ending);
/// What a row says of the prediction: "You predicted: The GPU."
std::string predictionText(const EndingRow& row);
/// "Right: 3 lines"; empty: not known.
std::string rightText(const EndingRow& row);
/// "Not answered: step 2, step 3"; empty: all were.
std::string openText(const LessonEnding& ending);

/// The page as a picture to share, 1200 pixels wide. It names no learner.
Pixels endingPicture(const LessonEnding& ending);

} // namespace lockstep::demos
