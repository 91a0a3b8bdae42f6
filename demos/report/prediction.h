// What a trained network answers to examples, for people and for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/net/dataset.h"

namespace lockstep::demos {

/// A split's answers.
struct SplitAnswers {
    Split split = Split::test;
    std::vector<float> outputs; ///< [count][outputs], after the output activation
    Evaluation evaluation;
};

/// plain::predictedClass() of a row of outputs.
std::size_t answeredClass(const NetShape& shape, const float* outputs);

/// The probability of every class (cross-entropy: softmax; one output with bce: sigmoid); empty for other
/// losses, whose outputs are no probabilities.
std::vector<double> probabilities(const NetShape& shape, const float* outputs);

/// Several splits as one. Losses are weighted by the number of examples.
Evaluation merged(const std::vector<SplitAnswers>& splits);

/// The confusion matrix: a row per true class, a column per answer, with the share of right answers of each
/// class. Empty in regression, and a remark for more than 16 classes.
std::string confusionText(const Evaluation& evaluation, const std::vector<std::string>& classNames);

/// One object per example: {"split", "example", "label" or "target", "answer", "outputs", "probabilities"}.
nlohmann::ordered_json predictionsJson(const TrainJob& job, const std::vector<SplitAnswers>& splits);

} // namespace lockstep::demos
