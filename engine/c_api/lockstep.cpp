#include "engine/c_api/lockstep.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"
#include "engine/files/json_text.h"
#include "engine/run/checkpoint.h"
#include "engine/run/make_trainer.h"
#include "engine/run/settings_json.h"
#include "engine/tune/kernel_cache.h"
#include "lockstep/version.h"

using namespace lockstep;

struct lockstep_trainer {
    Dataset data;
    TrainJob job;
    LaneSpec lane;
    std::string device;
    std::optional<gpu::Device> gpu;
    std::unique_ptr<Trainer> trainer; // goes first
    std::vector<LossPoint> losses;
};

namespace {

constexpr double mostMilliseconds = 24 * 3600 * 1e3;

thread_local std::string lastError;

/// No exception may reach C. Returns 0, or 1 if `work` threw.
template <class Work> int guarded(Work work) noexcept {
    try {
        work();
        return 0;
    } catch (const std::exception& error) {
        lastError = error.what();
    } catch (...) {
        lastError = "something was thrown that is no std::exception";
    }
    return 1;
}

template <class T> T& given(T* value, const char* what) {
    if (value == nullptr) throw std::invalid_argument(concat(what, " is NULL"));
    return *value;
}

struct Settings {
    NetShape shape;
    TrainSettings training;
    MachineShare share;
    std::string cache;
};

/// Everything that a host may leave out, with its default.
nlohmann::ordered_json defaultSettings(bool labels) {
    NetShape shape;
    shape.widths = {1, 1};
    shape.loss = labels ? Loss::crossEntropy : Loss::meanSquared;
    nlohmann::ordered_json training = toJson(TrainSettings{});
    training["lr"] = 0.0; // the optimizer's own
    training["weight_decay"] = -1.0;
    return {{"net", toJson(shape)}, {"settings", training}, {"threads", 0u}, {"cache", ""}};
}

Settings settingsFrom(const char* text, bool labels) {
    const nlohmann::ordered_json own = parseJson(&given(text, "settings"), "the settings");
    static_cast<void>(jsonField(jsonField(own, "net"), "widths")); // which alone has no default
    const nlohmann::ordered_json all = jsonCompleted(defaultSettings(labels), own, "settings");
    return {netShapeFromJson(all.at("net")),
            trainSettingsFromJson(all.at("settings")),
            {.threads = jsonValue<std::size_t>(all, "threads")},
            jsonValue<std::string>(all, "cache")};
}

void copyExamples(Examples& into, std::size_t first, std::size_t count, std::size_t inputs,
                  std::size_t outputs, const float* values, const float* targets,
                  const std::uint32_t* labels) {
    if (values != nullptr) std::copy_n(values, count * inputs, into.values.begin() + first * inputs);
    if (targets != nullptr) std::copy_n(targets, count * outputs, into.targets.begin() + first * outputs);
    if (labels != nullptr) std::copy_n(labels, count, into.labels.begin() + first);
}

void requireClasses(const std::uint32_t* labels, std::size_t count, std::size_t classes) {
    const auto* wrong =
        std::find_if(labels, labels + count, [&](std::uint32_t label) { return label >= classes; });
    if (wrong != labels + count)
        throw std::invalid_argument(concat("label ", *wrong, " is no class: there are ", classes));
}

// Losses with one output know two classes.
std::size_t classesOf(const NetShape& shape) { return std::max<std::size_t>(shape.outputs(), 2); }

std::unique_ptr<lockstep_trainer> created(const char* lane, const char* text, std::size_t examples,
                                          const float* inputs, const float* targets,
                                          const std::uint32_t* labels) {
    if ((targets == nullptr) == (labels == nullptr))
        throw std::invalid_argument("either targets or labels have to be given, and the others are NULL");
    static_cast<void>(given(inputs, "inputs"));
    auto made = std::make_unique<lockstep_trainer>();
    const Settings settings = settingsFrom(text, labels != nullptr);
    made->lane = laneSpecFromText(&given(lane, "lane"));
    made->job.data = &made->data;
    made->job.shape = settings.shape;
    made->job.settings = settings.training;
    Dataset& data = made->data;
    data.name = "the host program's";
    data.inputs = settings.shape.inputs();
    data.train.count = examples;
    data.train.values.resize(examples * data.inputs);
    if (labels != nullptr) {
        data.classes = classesOf(settings.shape);
        requireClasses(labels, examples, data.classes);
        for (std::size_t i = 0; i < data.classes; ++i) data.classNames.push_back(std::to_string(i));
        data.train.labels.resize(examples);
    } else {
        data.targetWidth = settings.shape.outputs();
        data.train.targets.resize(examples * data.targetWidth);
    }
    copyExamples(data.train, 0, examples, data.inputs, data.targetWidth, inputs, targets, labels);
    if (made->lane.gpu) {
        gpu::DeviceOptions options;
        options.select = made->lane.device;
        if (!settings.cache.empty()) useCache(options, settings.cache);
        made->gpu.emplace(std::move(options));
    }
    made->trainer = makeTrainer(made->job, made->lane, settings.share, made->gpu ? &*made->gpu : nullptr);
    made->device = made->trainer->machine().device;
    return made;
}

/// Trains by `work`, and tells the last loss. After a loss that is not finite, training may go on: from the
/// weights before that step.
template <class Work> void train(lockstep_trainer& own, double* loss, Work work) {
    try {
        work(*own.trainer);
        own.trainer->finish();
        own.losses.clear();
        own.trainer->takeLosses(own.losses);
    } catch (const NonFiniteError&) {
        own.trainer->restore(own.trainer->state());
        throw;
    }
    if (loss != nullptr && !own.losses.empty()) *loss = static_cast<double>(own.losses.back().loss);
}

// Training goes on from a run of the same settings; from anything else, with its weights.
TrainerState stateIn(const std::string& file, const TrainJob& job) {
    if (hasRun(file)) {
        Checkpoint run = loadCheckpoint(file);
        if (run.shape == job.shape && toJson(run.settings) == toJson(job.settings))
            return std::move(run.state);
    }
    TrainerState begun;
    begun.parameters = loadWeights(file, job.shape).parameters;
    begun.optimizerState.assign(job.settings.optimizer.stateArrays(),
                                std::vector<float>(begun.parameters.size()));
    return begun;
}

} // namespace

const char* lockstep_version(void) { return LOCKSTEP_VERSION; }

const char* lockstep_last_error(void) { return lastError.c_str(); }

lockstep_trainer* lockstep_create(const char* lane, const char* settings, size_t examples,
                                  const float* inputs, const float* targets, const uint32_t* labels) {
    std::unique_ptr<lockstep_trainer> made;
    guarded([&] { made = created(lane, settings, examples, inputs, targets, labels); });
    return made.release();
}

void lockstep_destroy(lockstep_trainer* trainer) {
    guarded([&] {
        const std::unique_ptr<lockstep_trainer> own(trainer);
        if (!own || !own->gpu) return;
        own->trainer.reset();
        storePipelines(*own->gpu);
    });
}

const char* lockstep_device(const lockstep_trainer* trainer) {
    return trainer == nullptr ? "" : trainer->device.c_str();
}

int lockstep_train(lockstep_trainer* trainer, uint64_t steps, double* loss) {
    return guarded(
        [&] { train(given(trainer, "trainer"), loss, [&](Trainer& machine) { machine.run(steps); }); });
}

int lockstep_train_for(lockstep_trainer* trainer, double milliseconds, uint64_t* steps, double* loss) {
    return guarded([&] {
        if (!(milliseconds >= 0 && milliseconds <= mostMilliseconds))
            throw std::invalid_argument("milliseconds have to be a number from 0 to those of a day");
        train(given(trainer, "trainer"), loss, [&](Trainer& machine) {
            const std::uint64_t made =
                machine.runFor(std::chrono::duration<double, std::milli>(milliseconds));
            if (steps != nullptr) *steps = made;
        });
    });
}

int lockstep_set_examples(lockstep_trainer* trainer, size_t first, size_t count, const float* inputs,
                          const float* targets, const uint32_t* labels) {
    return guarded([&] {
        Dataset& data = given(trainer, "trainer").data;
        if (first > data.train.count || count > data.train.count - first)
            throw std::invalid_argument(
                concat("there are ", data.train.count, " examples, not ", first, " + ", count));
        if (targets != nullptr && data.train.targets.empty())
            throw std::invalid_argument("these examples have labels, not targets");
        if (labels != nullptr && data.train.labels.empty())
            throw std::invalid_argument("these examples have targets, not labels");
        if (labels != nullptr) requireClasses(labels, count, data.classes);
        trainer->trainer->finish();
        copyExamples(data.train, first, count, data.inputs, data.targetWidth, inputs, targets, labels);
        trainer->trainer->reloadExamples(first, count);
    });
}

int lockstep_predict(lockstep_trainer* trainer, size_t rows, const float* inputs, float* outputs) {
    return guarded([&] {
        const std::size_t width = given(trainer, "trainer").job.shape.inputs();
        if (rows > std::numeric_limits<std::size_t>::max() / sizeof(float) / width)
            throw std::invalid_argument(concat("there cannot be ", rows, " rows"));
        const std::vector<float> found =
            trainer->trainer->predict(std::span(&given(inputs, "inputs"), rows * width));
        std::ranges::copy(found, &given(outputs, "outputs"));
    });
}

int lockstep_save(lockstep_trainer* trainer, const char* file) {
    return guarded([&] {
        const lockstep_trainer& own = given(trainer, "trainer");
        Checkpoint run{.dataSpec = own.data.name,
                       .dataOptions = {},
                       .lane = own.lane.text(),
                       .shape = own.job.shape,
                       .settings = own.job.settings,
                       .state = own.trainer->state()};
        run.dataOptions.classNames = own.data.classNames;
        saveCheckpoint(&given(file, "file"), run);
    });
}

int lockstep_load(lockstep_trainer* trainer, const char* file) {
    return guarded([&] {
        const TrainerState state = stateIn(&given(file, "file"), given(trainer, "trainer").job);
        trainer->trainer->restore(state);
    });
}
