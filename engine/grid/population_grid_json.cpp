// A grid's settings as JSON.
#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"
#include "engine/grid/population_grid.h"
#include "engine/run/settings_json.h"

namespace lockstep {

using nlohmann::ordered_json;

ordered_json toJson(const PopulationSpec& spec) {
    return {{"columns", spec.columns},
            {"rows", spec.rows},
            {"x", spec.x.text()},
            {"y", spec.y.text()},
            {"data", spec.data},
            {"data_options", toJson(spec.dataOptions)},
            {"hidden", spec.hidden},
            {"activation", name(spec.activation)},
            {"output_activation", name(spec.outputActivation)},
            {"loss", spec.loss ? ordered_json(name(*spec.loss)) : ordered_json()},
            {"init", name(spec.init)},
            {"init_scale", spec.initialScale},
            {"steps", spec.steps},
            {"settings", toJson(spec.train)}};
}

PopulationSpec populationSpecFromJson(const ordered_json& json) {
    PopulationSpec spec;
    spec.columns = jsonValue<std::size_t>(json, "columns");
    spec.rows = jsonValue<std::size_t>(json, "rows");
    spec.x = populationAxisFromText(jsonValue<std::string>(json, "x"));
    spec.y = populationAxisFromText(jsonValue<std::string>(json, "y"));
    spec.data = jsonValue<std::string>(json, "data");
    spec.dataOptions = dataOptionsFromJson(jsonField(json, "data_options"));
    spec.hidden = jsonValue<std::vector<std::size_t>>(json, "hidden");
    spec.activation = activationFromName(jsonValue<std::string>(json, "activation"));
    spec.outputActivation = activationFromName(jsonValue<std::string>(json, "output_activation"));
    if (!jsonField(json, "loss").is_null()) spec.loss = lossFromName(jsonValue<std::string>(json, "loss"));
    spec.init = initSchemeFromName(jsonValue<std::string>(json, "init"));
    spec.initialScale = jsonValue<double>(json, "init_scale");
    spec.steps = jsonValue<std::uint64_t>(json, "steps");
    spec.train = trainSettingsFromJson(jsonField(json, "settings"));
    spec.validate();
    return spec;
}

} // namespace lockstep
