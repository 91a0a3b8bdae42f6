#include "demos/exhibits/parallelism/parallelism_state.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/kit/shader_edits.h"
#include "demos/lab/lab_trial.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

const Experiment* openIn(const nlohmann::ordered_json& state) {
    if (state["experiment"] == "") return nullptr;
    std::vector<std::string_view> names;
    for (const Experiment* each : experiments()) names.push_back(each->name);
    return experiments()[jsonWord(state, "experiment", names)];
}

} // namespace

ParallelismState parallelismFromJson(const nlohmann::ordered_json& state) {
    nlohmann::ordered_json plain = state; // without the fields that have a field for each experiment
    if (plain.is_object())
        for (const char* field : {"predictions", "sketches", "results", "shaders"}) plain.erase(field);
    plain = jsonCompleted({{"experiment", ""}, {"tab", labTabWords[0]}, {"editing", false}}, plain,
                          "parallelism");
    ParallelismState read{.open = openIn(plain),
                          .tab = static_cast<LabTab>(jsonWord(plain, "tab", labTabWords)),
                          .editing = jsonValue<bool>(plain, "editing")};
    if (state.contains("predictions"))
        for (const auto& [name, choice] : jsonField(state, "predictions").items()) {
            const Experiment& experiment = experimentFromName(name);
            const auto choices = filled(experiment.choices);
            const auto words = jsonValue<std::string>(state["predictions"], name.c_str());
            const auto found = std::ranges::find(choices, words);
            if (found != choices.end()) // else a choice of an earlier version: the rest is worth no less
                read.predictions.emplace_back(&experiment, static_cast<std::size_t>(found - choices.begin()));
        }
    if (state.contains("sketches"))
        for (const auto& [name, sketch] : jsonField(state, "sketches").items())
            read.sketches.emplace_back(&experimentFromName(name), Sketch::fromJson(sketch, name));
    if (state.contains("results"))
        for (const auto& [name, result] : jsonField(state, "results").items())
            read.results.emplace_back(&experimentFromName(name), labFromJson(result));
    if (state.contains("shaders"))
        for (const auto& entry : jsonField(state, "shaders").items()) {
            const Experiment& experiment = experimentFromName(entry.key());
            read.shaders[&experiment] = shaderTextsFromJson(
                entry.value(), fmt::format("the field 'shaders' of 'parallelism', {}", experiment.name),
                [&](std::string_view file) { return isEditable(experiment, file); },
                "a kernel of this experiment");
        }
    return read;
}

} // namespace lockstep::demos
