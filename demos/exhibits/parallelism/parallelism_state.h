// What a state says about "Parallelism".
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/kit/source_text.h"
#include "demos/lab/experiment.h"

namespace lockstep::demos {

enum class LabTab : std::size_t { measurements, explanation, source };
inline constexpr std::string_view labTabWords[] = {"measurements", "explanation", "source"};
inline constexpr std::string_view labTabNames[] = {"Measurements", "Explanation", "Source"}; ///< shown

struct ParallelismState {
    const Experiment* open = nullptr; ///< its page; null: the cards
    LabTab tab = LabTab::measurements;
    bool editing = false;
    std::vector<std::pair<const Experiment*, std::size_t>> predictions = {};
    std::vector<std::pair<const Experiment*, Sketch>> sketches = {};
    std::vector<std::pair<const Experiment*, LabResult>> results = {};
    std::map<const Experiment*, ShaderTexts> shaders = {}; ///< that are edited
};

/// Throws std::invalid_argument naming the field.
ParallelismState parallelismFromJson(const nlohmann::ordered_json& state);

/// Up to the first empty one.
template <std::size_t N>
std::span<const std::string_view> filled(const std::array<std::string_view, N>& all) {
    std::size_t count = 0;
    while (count < N && !all[count].empty()) ++count;
    return {all.data(), count};
}

} // namespace lockstep::demos
