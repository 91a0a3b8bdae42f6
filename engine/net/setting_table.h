// The numbers of OptimizerSettings, once: their keys in files, their fields, the values that are allowed, and
// who uses them. Files (engine/run/settings_json.h), options and forms (demos/options/setting_words.h) and
// OptimizerSettings::validate() read this table. Forms show the rows that have users; another row they name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "engine/net/settings.h"

namespace lockstep {

/// An optional number, and the function that returns it or the optimizer's own.
struct OwnOrSet {
    std::optional<double> OptimizerSettings::*field;
    double (OptimizerSettings::*effective)() const;
};

struct SettingRow {
    std::string_view key;   ///< in files: "weight_decay"
    std::string_view title; ///< of a double, in messages: "the weight decay"
    std::variant<OwnOrSet, double OptimizerSettings::*, std::uint64_t OptimizerSettings::*,
                 bool OptimizerSettings::*>
        field;
    double most = 0;                     ///< of a double
    bool mostIncluded = true;            ///< else values are below it
    OptimizerTraits users = usesNothing; ///< the trait of the optimizers that use it; usesNothing: all do
    bool aboveZero = false;              ///< else it may be 0
};

inline constexpr SettingRow settingTable[] = {
    {"lr", "the learning rate",
     OwnOrSet{&OptimizerSettings::learningRate, &OptimizerSettings::effectiveLearningRate}, 1e6, true,
     usesNothing, true},
    {"momentum", "momentum", &OptimizerSettings::momentum, 1, false, usesMomentum},
    {"nesterov", "", &OptimizerSettings::nesterov, 0, true, usesMomentum},
    {"beta1", "beta1", &OptimizerSettings::beta1, 1, false, usesBetas},
    {"beta2", "beta2", &OptimizerSettings::beta2, 1, false, usesBetas},
    {"alpha", "alpha", &OptimizerSettings::alpha, 1, false, usesAlpha},
    {"epsilon", "epsilon", &OptimizerSettings::epsilon, 1, true, usesEpsilon, true},
    {"weight_decay", "the weight decay",
     OwnOrSet{&OptimizerSettings::weightDecay, &OptimizerSettings::effectiveWeightDecay}, 1e6},
    {"l1", "l1", &OptimizerSettings::l1, 1e6},
    {"schedule_steps", "", &OptimizerSettings::scheduleSteps, 0, true, usesNothing, true},
    {"schedule_gamma", "the schedule's gamma", &OptimizerSettings::scheduleGamma, 1e6},
    {"warmup_steps", "", &OptimizerSettings::warmupSteps},
};

/// `settings` with the optimizer's own numbers in place of empty ones.
OptimizerSettings effectiveSettings(OptimizerSettings settings);

} // namespace lockstep
