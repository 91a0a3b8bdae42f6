// Reading a field of a JSON object, with its name in every complaint.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

#include <nlohmann/json.hpp>

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

/// Its value as T: bool, an unsigned integer, double or std::string. Nothing is converted on the way. Throws
/// std::invalid_argument when it is something else.
template <class T> T jsonValue(const nlohmann::ordered_json& object, const char* name) {
    const nlohmann::ordered_json& field = jsonField(object, name);
    bool fits = false;
    if constexpr (std::is_same_v<T, bool>)
        fits = field.is_boolean();
    else if constexpr (std::is_unsigned_v<T>)
        fits = field.is_number_unsigned();
    else if constexpr (std::is_same_v<T, double>)
        fits = field.is_number();
    else
        fits = field.is_string();
    if (!fits)
        throw std::invalid_argument("the field '" + std::string(name) + "' must not be " + field.type_name() +
                                    (field.is_number() ? " of that kind" : ""));
    return field.get<T>();
}

} // namespace lockstep
