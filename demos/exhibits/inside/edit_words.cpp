#include "demos/exhibits/inside/edit_words.h"

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"

namespace lockstep::demos {

namespace {

EditStatus statusOfTrial(TrialPhase phase) {
    switch (phase) {
    case TrialPhase::compiling: return {"compiling", "", Tone::plain};
    case TrialPhase::checking: return {"checking against the plain twin", "", Tone::plain};
    case TrialPhase::timing: return {"timing", "", Tone::plain};
    }
    return {};
}

/// Of all operations with changed shaders together: "2.1 ms, 43 GFLOP/s (built in: 1.2 ms, 75 GFLOP/s)".
std::string comparison(const TrialReport& report) {
    double flops = 0;
    double builtIn = 0;
    double changed = 0;
    for (const OperationTimes& times : report.times) {
        flops += times.flops;
        builtIn += times.builtInMs;
        changed += times.changedMs;
    }
    if (changed <= 0) return "";
    return fmt::format("{}, {} (built in: {}, {})", timeText(changed), rateText(flops, changed, "FLOP/s"),
                       timeText(builtIn), rateText(flops, builtIn, "FLOP/s"));
}

EditStatus statusOfReport(const TrialReport& report) {
    switch (report.verdict) {
    case Verdict::passed: {
        const std::string times = comparison(report);
        if (times.empty()) return {"passed, and runs", "", Tone::good};
        return {"passed, and runs: ", fmt::format("{}; checked in {:.1f} s", times, report.seconds),
                Tone::good};
    }
    case Verdict::notCompiled: return {"does not compile; what ran before goes on", "", Tone::bad};
    case Verdict::notUsed: return {"not used: " + report.message, "", Tone::warning};
    case Verdict::refused: return {"wrong: " + report.message, "", Tone::bad};
    }
    return {};
}

} // namespace

EditStatus statusOf(const ShaderEdits& edits) {
    if (edits.trying()) return statusOfTrial(edits.phase());
    if (edits.texts() != edits.submitted())
        return {"changed; Ctrl+Enter checks and runs it", "", Tone::plain};
    if (edits.last() != nullptr) return statusOfReport(*edits.last());
    if (!edits.texts().empty() && edits.runs(edits.texts())) return {"runs", "", Tone::good};
    return {"as built in; type, and Ctrl+Enter checks and runs it", "", Tone::plain};
}

ImU32 colourOf(const Theme& theme, Tone tone) {
    switch (tone) {
    case Tone::plain: return theme.muted;
    case Tone::good: return theme.good;
    case Tone::warning: return theme.warning;
    case Tone::bad: return theme.bad;
    }
    return theme.muted;
}

} // namespace lockstep::demos
