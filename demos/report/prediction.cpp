#include "demos/report/prediction.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/text.h"
#include "engine/net/plain_ops.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t mostColumns = 16;
constexpr std::size_t nameWidth = 12;

} // namespace

std::size_t answeredClass(const NetShape& shape, const float* outputs) {
    return plain::predictedClass(outputs, shape.outputs(), shape.outputActivation);
}

std::vector<double> probabilities(const NetShape& shape, const float* outputs) {
    if (shape.loss == Loss::binaryCrossEntropy && shape.outputs() == 1) {
        const double one = 1 / (1 + std::exp(-static_cast<double>(outputs[0])));
        return {1 - one, one};
    }
    if (shape.loss != Loss::crossEntropy) return {};
    std::vector<double> result(outputs, outputs + shape.outputs());
    const double largest = *std::ranges::max_element(result);
    double sum = 0;
    for (double& value : result) sum += value = std::exp(value - largest);
    for (double& value : result) value /= sum;
    return result;
}

Evaluation merged(const std::vector<SplitAnswers>& splits) {
    Evaluation all;
    for (const SplitAnswers& split : splits) {
        const Evaluation& part = split.evaluation;
        const auto weight = static_cast<double>(part.count);
        all.loss += part.loss * weight;
        all.accuracy += part.accuracy * weight;
        all.count += part.count;
        all.confusion.resize(part.confusion.size());
        std::ranges::transform(all.confusion, part.confusion, all.confusion.begin(), std::plus<>());
    }
    all.loss /= static_cast<double>(all.count);
    all.accuracy /= static_cast<double>(all.count);
    return all;
}

std::string confusionText(const Evaluation& evaluation, const std::vector<std::string>& classNames) {
    const std::size_t classes = classNames.size();
    if (evaluation.confusion.empty()) return {};
    if (classes > mostColumns)
        return fmt::format("the confusion matrix of {} classes is too wide to print; --json has it\n",
                           classes);
    std::vector<std::vector<std::string>> rows = {{"is \\ says"}};
    for (std::size_t column = 0; column < classes; ++column)
        rows[0].push_back(cut(classNames[column], classes > 8 ? 6 : nameWidth));
    rows[0].emplace_back("found");
    for (std::size_t row = 0; row < classes; ++row) {
        rows.push_back({cut(classNames[row], nameWidth)});
        std::uint64_t sum = 0;
        for (std::size_t column = 0; column < classes; ++column) {
            const std::uint64_t count = evaluation.confusion[row * classes + column];
            sum += count;
            rows.back().push_back(count == 0 ? "." : grouped(count));
        }
        const auto right = static_cast<double>(evaluation.confusion[row * classes + row]);
        rows.back().push_back(sum == 0 ? "-" : percent(right / static_cast<double>(sum)));
    }
    return table(rows, 1);
}

Json predictionsJson(const TrainJob& job, const std::vector<SplitAnswers>& splits) {
    const Dataset& data = *job.data;
    const std::size_t width = job.shape.outputs();
    Json all = Json::array();
    for (const SplitAnswers& answers : splits) {
        const Examples& examples = data.of(answers.split);
        for (std::size_t example = 0; example < examples.count; ++example) {
            const float* outputs = answers.outputs.data() + example * width;
            Json json = {{"split", answers.split == Split::train ? "train" : "test"}, {"example", example}};
            if (data.classes > 0) {
                json["label"] = examples.labels[example];
                json["answer"] = answeredClass(job.shape, outputs);
            } else {
                const float* target = examples.targets.data() + example * data.targetWidth;
                json["target"] = std::vector<float>(target, target + data.targetWidth);
            }
            json["outputs"] = std::vector<float>(outputs, outputs + width);
            if (const auto shares = probabilities(job.shape, outputs); !shares.empty())
                json["probabilities"] = shares;
            all.push_back(std::move(json));
        }
    }
    return all;
}

} // namespace lockstep::demos
