// Typed access to the fields of a JSON object, and groups of settings that list their fields once for both
// directions; every error names the field.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/net/names.h"

namespace lockstep {

/// Returns the field `name` of `object`. Throws std::invalid_argument if it is missing.
inline const nlohmann::ordered_json& jsonField(const nlohmann::ordered_json& object, const char* name) {
    if (!object.is_object())
        throw std::invalid_argument("expected an object with the field '" + std::string(name) + "'");
    const auto found = object.find(name);
    if (found == object.end())
        throw std::invalid_argument("the field '" + std::string(name) + "' is missing");
    return *found;
}

/// True if `json` holds a T, without any conversion.
template <class T> bool jsonHolds(const nlohmann::ordered_json& json) {
    if constexpr (std::is_same_v<T, bool>)
        return json.is_boolean();
    else if constexpr (std::is_unsigned_v<T>)
        return json.is_number_unsigned();
    else if constexpr (std::is_floating_point_v<T>)
        return json.is_number();
    else if constexpr (std::is_same_v<T, std::string>)
        return json.is_string();
    else
        return json.is_array() && std::all_of(json.begin(), json.end(), jsonHolds<typename T::value_type>);
}

/// What a T is, in a message: "a whole number, 0 or more".
template <class T> std::string jsonKind() {
    if constexpr (std::is_same_v<T, bool>)
        return "true or false";
    else if constexpr (std::is_unsigned_v<T>)
        return "a whole number, 0 or more";
    else if constexpr (std::is_floating_point_v<T>)
        return "a number";
    else if constexpr (std::is_same_v<T, std::string>)
        return "a text";
    else
        return "a list whose every item is " + jsonKind<typename T::value_type>();
}

/// Returns the field as T: bool, an unsigned integer, float, double, std::string, or a vector of these.
/// Throws std::invalid_argument for any other type; converts nothing.
template <class T> T jsonValue(const nlohmann::ordered_json& object, const char* name) {
    const nlohmann::ordered_json& field = jsonField(object, name);
    if (!jsonHolds<T>(field))
        throw std::invalid_argument("the field '" + std::string(name) + "' must be " + jsonKind<T>());
    return field.get<T>();
}

/// Overload with a default for a missing field.
template <class T> T jsonValueOr(const nlohmann::ordered_json& object, const char* name, T otherwise) {
    return object.contains(name) ? jsonValue<T>(object, name) : otherwise;
}

/// The index of the word among `words` that the field says. Throws std::invalid_argument for any other word;
/// the message suggests the nearest one.
inline std::size_t jsonWord(const nlohmann::ordered_json& object, const char* name,
                            std::span<const std::string_view> words) {
    const auto word = jsonValue<std::string>(object, name);
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) throwUnknownName(name, word, words);
    return static_cast<std::size_t>(found - words.begin());
}

/// Overload with a default for a missing field.
inline std::size_t jsonWordOr(const nlohmann::ordered_json& object, const char* name,
                              std::span<const std::string_view> words, std::size_t otherwise = 0) {
    return object.contains(name) ? jsonWord(object, name, words) : otherwise;
}

/// Overrides `defaults` with the fields of `given`, recursively, so that a file needs to name only what it
/// changes. `where` names the object in messages. Throws std::invalid_argument if `given` is not an object or
/// has a field that `defaults` lacks; the message suggests the nearest name.
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

// A group of settings lists its fields once for both directions, in the order of the JSON: field("lr",
// group.rate) is a field that jsonValue() returns. A third argument says how to read a choice: the function
// that returns the value of a name (its reverse is called name()), the table of names, or the words for the
// values from 0 on.

struct JsonWriter {
    nlohmann::ordered_json& json;

    template <class T> void operator()(const char* key, const T& value) const { json[key] = value; }
    template <class T> void operator()(const char* key, const std::optional<T>& value) const {
        json[key] = value.value();
    }
    template <class T> void operator()(const char* key, const T& value, T (*)(std::string_view)) const {
        json[key] = name(value);
    }
    template <class T, std::size_t N>
    void operator()(const char* key, const T& value, const NameOf<T> (&table)[N]) const {
        json[key] = nameOf(table, value);
    }
    template <class T>
    void operator()(const char* key, const T& value, std::span<const std::string_view> words) const {
        json[key] = words[static_cast<std::size_t>(value)];
    }
};

/// Throws std::invalid_argument naming the missing or invalid field.
struct JsonReader {
    const nlohmann::ordered_json& json;

    template <class T> void operator()(const char* key, T& value) const { value = jsonValue<T>(json, key); }
    template <class T> void operator()(const char* key, std::optional<T>& value) const {
        value = jsonValue<T>(json, key);
    }
    template <class T> void operator()(const char* key, T& value, T (*fromName)(std::string_view)) const {
        value = fromName(jsonValue<std::string>(json, key));
    }
    template <class T, std::size_t N>
    void operator()(const char* key, T& value, const NameOf<T> (&table)[N]) const {
        value = valueFromName(table, key, jsonValue<std::string>(json, key));
    }
    template <class T>
    void operator()(const char* key, T& value, std::span<const std::string_view> words) const {
        value = static_cast<T>(jsonWord(json, key, words));
    }
};

} // namespace lockstep
