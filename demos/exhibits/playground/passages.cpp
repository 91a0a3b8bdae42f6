#include "demos/exhibits/playground/passages.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

constexpr double layerSeconds = 0.8; // from one to the next
constexpr double readSeconds = 1.6;  // at the end: a short sentence
constexpr double longestFrame = 0.1; // a window that stood still does not skip what it would have shown

Passage passageOf(const PlaygroundModel& model, const LabelledPoint& point) {
    return {point, forward(model.shape(), model.parameters(),
                           planeFeatures(point.x, point.y, model.settings().features), 1)};
}

} // namespace

std::string passageText(const PlaygroundSettings& settings, Loss loss, const Passage& passage) {
    const std::vector<float> answer = answerOf(loss, passage.values.back().row(0));
    const std::size_t classes = settings.classes();
    if (classes < 2 || (loss != Loss::crossEntropy && loss != Loss::binaryCrossEntropy))
        return translatedFormat("Untrained, it says {:.2f}.", answer.front());
    // One output is the second class's probability.
    const std::vector<float> all = answer.size() > 1 ? answer : std::vector{1 - answer[0], answer[0]};
    const auto best = static_cast<std::size_t>(std::ranges::max_element(all) - all.begin());
    const std::string said = classes > 2 ? translatedFormat("class {}", best + 1)
                                         : std::string(translated(best == 0 ? "blue" : "orange"));
    const float sure = 100 * all[best];
    return best == passage.point.label
               ? translatedFormat("Untrained, it says {}, {:.0f} %: right.", said, sure)
               : translatedFormat("Untrained, it says {}, {:.0f} %: wrong.", said, sure);
}

void Passages::update(const PlaygroundModel& model, double seconds) {
    const std::vector<PlanePoint>& all = model.points();
    if (model.running() || model.step() > 0 || model.edits() > 0 || model.failed() || all.empty()) left_ = 0;
    if (left_ > 0 && revision_ != model.revision()) { // a state was opened, or the first look has come
        if (model.changed()) left_ = 0;
        passage_.reset();
        revision_ = model.revision();
    }
    if (left_ == 0) {
        passage_.reset();
        return;
    }
    if (passage_) passage_->layers += std::min(seconds, longestFrame) / layerSeconds;
    const double end = static_cast<double>(model.shape().layers()) + readSeconds / layerSeconds;
    if (passage_ && passage_->layers > end) {
        passage_.reset();
        if (--left_ == 0) return;
    }
    const std::size_t at = (points - left_) * 97 % all.size(); // far from each other in most data
    if (!passage_) passage_ = passageOf(model, all[at].at);
}

} // namespace lockstep::demos
