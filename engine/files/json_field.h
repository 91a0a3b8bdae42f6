// Reading a field of a JSON object, with its name in every complaint.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/net/names.h"

namespace lockstep {

/// The field `name` of `object`. Throws std::invalid_argument when it is missing.
inline const nlohmann::ordered_json& jsonField(const nlohmann::ordered_json& object, const char* name) {
    if (!object.is_object())
        throw std::invalid_argument("an object with '" + std::string(name) + "' was expected");
    const auto found = object.find(name);
    if (found == object.end())
        throw std::invalid_argument("the field '" + std::string(name) + "' is missing");
    return *found;
}

/// Whether a T can be read from `json` without converting anything.
template <class T> bool jsonHolds(const nlohmann::ordered_json& json) {
    if constexpr (std::is_same_v<T, bool>)
        return json.is_boolean();
    else if constexpr (std::is_unsigned_v<T>)
        return json.is_number_unsigned();
    else if constexpr (std::is_same_v<T, double>)
        return json.is_number();
    else if constexpr (std::is_same_v<T, std::string>)
        return json.is_string();
    else
        return json.is_array() && std::all_of(json.begin(), json.end(), jsonHolds<typename T::value_type>);
}

/// Its value as T: bool, an unsigned integer, double, std::string, or a vector of these. Nothing is converted
/// on the way. Throws std::invalid_argument when it is something else.
template <class T> T jsonValue(const nlohmann::ordered_json& object, const char* name) {
    const nlohmann::ordered_json& field = jsonField(object, name);
    if (!jsonHolds<T>(field))
        throw std::invalid_argument("the field '" + std::string(name) + "' must not be " + field.type_name() +
                                    (field.is_number() || field.is_array() ? " of that kind" : ""));
    return field.get<T>();
}

/// The same, or `otherwise` where the field is missing.
template <class T> T jsonValueOr(const nlohmann::ordered_json& object, const char* name, T otherwise) {
    return object.contains(name) ? jsonValue<T>(object, name) : otherwise;
}

/// `given` over `defaults`, in objects within them, too, so that a file may name only what it is about.
/// `where` names the object in complaints. Throws std::invalid_argument when it is none, and for a field that
/// `defaults` has not, with the nearest one that it has.
inline nlohmann::ordered_json jsonCompleted(nlohmann::ordered_json defaults,
                                            const nlohmann::ordered_json& given, std::string_view where) {
    if (!given.is_object())
        throw std::invalid_argument("the field '" + std::string(where) + "' must be an object");
    for (const auto& [field, value] : given.items()) {
        if (!defaults.contains(field)) {
            std::vector<std::string_view> known;
            for (const auto& entry : defaults.items()) known.push_back(entry.key());
            throwUnknownName("field of '" + std::string(where) + "'", field, known);
        }
        nlohmann::ordered_json& own = defaults[field];
        own = own.is_object() ? jsonCompleted(own, value, field) : value;
    }
    return defaults;
}

} // namespace lockstep
