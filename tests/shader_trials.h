// Trials of changed shaders on the tests' device.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "demos/exhibits/inside/shader_trial.h"
#include "demos/kit/source_text.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

namespace lockstep::test {

using namespace demos;

/// The built-in text with one thing in it replaced.
inline ShaderTexts changed(const std::string& file, const std::string& what, const std::string& by) {
    std::string text(sourceText(file));
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    text.replace(at, what.size(), by);
    return {{file, text}};
}

/// Widths that are no multiples of four, so that there is padding.
inline TrainJob smallJob(const Dataset& data) { return jobFor(data, {33, 13}); }

inline TrialOutcome tried(const TrainJob& job, const ShaderTexts& texts, Rung rung = Rung::naive) {
    TrialWatch watch;
    return tryShaders({job, rung, testDeviceOptions(), texts}, watch);
}

inline std::string refusal(const TrainJob& job, const ShaderTexts& texts, Rung rung = Rung::naive) {
    const TrialOutcome outcome = tried(job, texts, rung);
    CHECK(outcome.report.verdict == Verdict::refused);
    CHECK(outcome.trainer == nullptr);
    return outcome.report.message;
}

inline bool contains(const std::string& text, const std::string& part) {
    CAPTURE(text);
    CAPTURE(part);
    return text.find(part) != std::string::npos;
}

} // namespace lockstep::test
