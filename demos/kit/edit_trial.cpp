#include "demos/kit/edit_trial.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/words/language.h"
#include "engine/gpu/error.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

void TrialWatch::enter(TrialPhase next) {
    gpu::throwIfSet(&cancelled);
    phase = next;
}

void runTrial(TrialReport& report, const std::function<void()>& trial) {
    const double start = secondsNow();
    try {
        trial();
    } catch (const NonFiniteError& error) {
        report.message = translatedFormat("the loss is no longer finite at step {}", error.step);
    } catch (const std::exception& error) {
        report.message = error.what();
    }
    report.seconds = secondsNow() - start;
}

std::vector<std::string> changedShaders(const ShaderTexts& texts, const std::vector<std::string>& shaders) {
    std::vector<std::string> found;
    for (const std::string& shader : shaders) {
        const std::vector<std::string> files = withIncludes(texts, shader + ".comp");
        const auto changed = [&](const std::string& file) { return texts.contains(file); };
        if (std::ranges::any_of(files, changed)) found.push_back(shader);
    }
    return found;
}

ReplacedShaders compileForTrial(const ShaderTexts& texts, const std::vector<std::string>& shaders,
                                TrialWatch& watch, TrialReport& report) {
    ReplacedShaders replaced;
    for (const std::string& shader : shaders) {
        watch.enter(TrialPhase::compiling);
        CompiledShader compiled = compileShader(shader, texts);
        for (const CompileError& error : compiled.errors)
            if (std::ranges::find(report.errors, error) == report.errors.end())
                report.errors.push_back(error);
        replaced.emplace(shader, std::move(compiled.words));
    }
    if (!report.errors.empty()) report.verdict = Verdict::notCompiled;
    return replaced;
}

gpu::DeviceOptions ownDevice(const gpu::Device& window, const std::string& select) {
    gpu::DeviceOptions options;
    options.select = select.empty() ? window.report().uuid : select;
    options.validation = window.options().validation;
    options.messages = window.options().messages;
    options.cacheFolder = window.options().cacheFolder;
    return options;
}

std::unique_ptr<gpu::Device> openForTrial(gpu::DeviceOptions options) {
    options.robust = true;
    return std::make_unique<gpu::Device>(std::move(options));
}

} // namespace lockstep::demos
