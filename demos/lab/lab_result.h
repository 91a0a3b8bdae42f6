// What an experiment on parallelism has measured.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/kit/workgroup_chart.h"
#include "demos/report/other_load.h"
#include "demos/words/language.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

struct Experiment; // demos/lab/experiment.h

/// The note of a series whose machine was not to be measured.
inline constexpr const char* leftOutNote = "left out";

/// One setting of what the experiment turns, measured in several rounds. Units: the experiment's axes.
struct LabPoint {
    double x = 0;
    double median = 0;
    double low = 0;  ///< a quarter of the rounds lie at or below it
    double high = 0; ///< a quarter of the rounds lie at or above it
};

/// Whether the middle halves of two points do not overlap.
inline bool apart(const LabPoint& a, const LabPoint& b) { return a.high < b.low || b.high < a.low; }

/// One way to do the work, on one machine.
struct LabSeries {
    bool gpu = false;
    std::string name; ///< "atomic"; differs from the machine's other series
    std::vector<LabPoint> points = {};
    std::string note = {}; ///< why there are no points, or no more; empty: there are all

    /// The median at `x`; NaN where that was not measured.
    double at(double x) const;
    /// "GPU atomic", in the language spoken.
    std::string fullName() const { return std::string(gpu ? "GPU " : "CPU ").append(translated(name)); }
};

struct LabResult {
    std::vector<LabSeries> series = {};
    /// When workgroups ran, of the GPU and of the CPU (pieces on threads), in microseconds.
    std::vector<GroupSpan> gpuSpans = {};
    std::vector<GroupSpan> cpuSpans = {};

    std::vector<GroupSpan>& spans(bool ofGpu) { return ofGpu ? gpuSpans : cpuSpans; }
    const std::vector<GroupSpan>& spans(bool ofGpu) const { return ofGpu ? gpuSpans : cpuSpans; }

    /// Measured values that texts quote, by name: "microseconds_per_launch".
    std::map<std::string, double, std::less<>> numbers = {};
    MachineInfo cpu = {};               ///< no device: it was left out
    MachineInfo gpu = {};               ///< no device: none was used
    std::string noGpu = {};             ///< why
    bool rough = false;                 ///< measured in passing, to try the program: numbers mean little
    std::string prediction = {};        ///< the choice that was made before; empty: none
    std::optional<OtherLoad> load = {}; ///< what other programs used meanwhile; empty: unknown

    bool measured() const { return !series.empty(); }
    /// Null: not measured.
    const LabSeries* find(bool gpu, std::string_view name) const;
    /// The median at `x`; NaN where that was not measured.
    double at(bool gpu, std::string_view name, double x) const;
    /// NaN: not measured.
    double number(std::string_view name) const {
        const auto found = numbers.find(name);
        return found == numbers.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
    }
    /// The same as a count, for texts; 0: not measured.
    std::uint64_t count(std::string_view name) const {
        const double value = number(name);
        return value > 0 ? static_cast<std::uint64_t>(value) : 0;
    }
    bool has(std::string_view name) const { return numbers.contains(name); }
};

/// Which machine measured, or why it did not.
std::string machineText(const LabResult& result, bool gpu);

/// docs/json.md describes it.
nlohmann::ordered_json labJson(const Experiment& experiment, const LabResult& result);
/// Reads what labJson() wrote, texts excepted. Throws std::invalid_argument naming the field.
LabResult labFromJson(const nlohmann::ordered_json& json);
/// A line per point: machine, series, x, median, and the quartiles.
std::string labCsv(const Experiment& experiment, const LabResult& result);

} // namespace lockstep::demos
