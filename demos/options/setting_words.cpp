#include "demos/options/setting_words.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

/// "sgd 0.1, momentum 0.1, ..."
std::string defaultRates() {
    std::string text;
    for (const Optimizer optimizer : allOptimizers)
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : ", ", name(optimizer), infoOf(optimizer).learningRate);
    return text;
}

template <class Rows> const auto& rowOfKey(const Rows& rows, std::string_view key) {
    const auto found = std::ranges::find_if(rows, [&](const auto& row) { return row.key == key; });
    if (found == std::end(rows)) throw std::logic_error("there is no setting '" + std::string(key) + "'");
    return *found;
}

} // namespace

std::span<const SettingWords> settingWords() {
    static const std::string rates = defaultRates();
    static const std::string decouples = optimizersWith(decouplesDecay);
    static const std::string decays = fmt::format(
        "0; {} {}", decouples, OptimizerSettings{.kind = Optimizer::adamw}.effectiveWeightDecay());
    static const SettingWords all[] = {
        {"lr", "learning rate", rates, "rate", "Learning rate",
         "Learning rate: how far each step moves the weights against the gradient. "
         "Too large a rate diverges; too small a rate learns slowly.",
         1e-5F, 10, "%.3g", true},
        {"momentum", "momentum coefficient", "", "momentum", "Momentum",
         "Momentum: the share of the past gradients' sum that each step keeps, from 0.01 to 0.999.", 0.01F,
         0.999F, "%.3f"},
        {"nesterov", "Nesterov momentum", "", "nesterov", "Nesterov",
         "Nesterov momentum: looks one step ahead along the momentum."},
        {"beta1", "decay of the gradient average", "", "beta1", "Beta 1",
         "Beta 1: how slowly the running mean of the gradient forgets, from 0 to below 1.", 0, 0.999F,
         "%.3f"},
        {"beta2", "decay of the squared-gradient average", "", "beta2", "Beta 2",
         "Beta 2: how slowly the running mean of the squared gradient forgets, from 0 to below 1.", 0,
         0.9999F, "%.4f"},
        {"alpha", "decay of the squared-gradient average", "", "alpha", "Alpha",
         "Alpha: how slowly the running mean of the squared gradient forgets, from 0 to below 1.", 0, 0.999F,
         "%.3f"},
        {"epsilon", "added to the denominator of the update", "", "epsilon", "Epsilon",
         "A small number added to the denominator of the update, so that it never divides by 0.", 1e-10F,
         1e-2F, "%.1e", true},
        {"weight_decay", "L2 regularisation; decoupled weight decay for " + decouples, decays, "l2", "L2",
         "L2: pulls every weight towards 0 in proportion to its size. AdamW does so in its update, the "
         "others "
         "through the gradient. 0 turns it off.",
         0, 1, "%.3g", true},
        {"l1", "L1 regularisation", "", "l1", "L1",
         "L1: pulls every weight towards 0 by a constant amount, so many become almost 0. 0 turns it off.", 0,
         1, "%.3g", true},
        {"schedule_steps", "steps between drops (step) or until the rate is 0 (cosine)", "", "schedule steps",
         "Schedule steps", "Steps until the rate falls by the factor, or until the cosine reaches 0.", 10,
         100000, "%.0f", true},
        {"schedule_gamma", "factor of each drop, for --schedule step", "", "gamma", "Factor",
         "The factor that multiplies the learning rate each time the schedule's steps have passed.", 0.01F, 1,
         "%.2f"},
        {"warmup_steps", "steps over which the learning rate rises to its full value", "", "warm-up",
         "Warm-up steps",
         "Warm-up: the number of first steps over which the learning rate rises linearly to its value.", 0,
         10000, "%.0f", true},
    };
    static_assert(std::size(all) == std::size(settingTable), "words for every setting");
    return all;
}

const SettingWords& settingWords(std::string_view key) { return rowOfKey(settingWords(), key); }
const SettingRow& settingRow(std::string_view key) { return rowOfKey(settingTable, key); }

std::string optionOf(const SettingRow& row) {
    std::string name = "--" + std::string(row.key);
    std::ranges::replace(name, '_', '-');
    return name;
}

} // namespace lockstep::demos
