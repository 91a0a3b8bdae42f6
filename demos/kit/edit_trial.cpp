#include "demos/kit/edit_trial.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/words/language.h"
#include "engine/gpu/error.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

namespace {

/// What was compiled of the last texts: on another rung, or once more, only the rest is. Any thread.
class LastCompiled {
  public:
    CompiledShader get(const std::string& shader, const ShaderTexts& texts) {
        {
            const std::lock_guard lock(mutex_);
            if (texts != texts_) {
                texts_ = texts;
                shaders_.clear();
            }
            if (const auto found = shaders_.find(shader); found != shaders_.end()) return found->second;
        }
        CompiledShader compiled = compileShader(shader, texts);
        const std::lock_guard lock(mutex_);
        if (texts == texts_) shaders_.insert_or_assign(shader, compiled); // else another trial has begun
        return compiled;
    }

  private:
    std::mutex mutex_;
    ShaderTexts texts_;
    std::map<std::string, CompiledShader> shaders_;
};

} // namespace

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
    static LastCompiled last;
    ReplacedShaders replaced;
    for (const std::string& shader : shaders) {
        watch.enter(TrialPhase::compiling);
        CompiledShader compiled = last.get(shader, texts);
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
