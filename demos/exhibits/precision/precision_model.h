// "Precision" without its looks: the same training in every number format, the numbers that a layer's
// products read, and one weight bit by bit.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/machines.h"
#include "demos/kit/run_settings.h"
#include "demos/kit/worker.h"
#include "engine/net/float_formats.h"
#include "engine/net/param_layout.h"
#include "engine/plan/rounding.h"

namespace lockstep::demos {

/// A weight, from input `input` to neuron `neuron` of layer `layer`, all from 0.
struct WeightPlace {
    std::size_t layer = 0;
    std::size_t neuron = 0;
    std::size_t input = 0;

    bool operator==(const WeightPlace&) const = default;
};

struct PrecisionOptions {
    RunOptions run;                   ///< with one lane, and no format
    PrecisionSettings switches;       ///< of every format that has them; its own format is none
    std::uint64_t steps = 1000;       ///< that every format trains
    FloatKind kind = FloatKind::e4m3; ///< the layout that is looked at
    WeightPlace place{.layer = 1};    ///< that is looked at; beyond the network: its last one
    std::uint32_t flipped = 0;        ///< the bits of its code in `kind` that are flipped

    bool operator==(const PrecisionOptions&) const = default;
};

/// The spiral, on a small network.
PrecisionOptions usualPrecision();
/// Throws std::invalid_argument naming the field.
PrecisionOptions precisionOptionsFromJson(const nlohmann::ordered_json& state);
nlohmann::ordered_json toJson(const PrecisionOptions& options);
/// Lanes that train in every format, with kernels that are known before any is compared.
std::vector<std::string> precisionLanes();
/// The formats in which the lane trains: all that operands can be rounded to, and fp64 where it has that.
std::vector<OperandFormat> formatsOf(const LaneSpec& lane);
/// The format of training in which products read numbers of this kind.
OperandFormat formatOf(FloatKind kind);

inline constexpr std::uint64_t mostPrecisionSteps = 1'000'000;

/// Training in one format, as far as it is.
struct PrecisionRun {
    PrecisionSettings precision;
    std::vector<double> steps, losses;
    TrainerState state; ///< after the last of these steps
    bool done = false;
    double accuracy = 0; ///< of the test split, once it is done; NaN in regression
    double loss = 0;     ///< likewise
    double secondsPerStep = 0;
    std::string failure; ///< what ended it early; empty: nothing

    /// What came after it.
    void add(const PrecisionRun& later);
};

/// What rounding to a format does to a number.
enum class Fate : std::uint32_t {
    kept,   ///< to as many digits as the format has
    coarse, ///< subnormal: to fewer digits
    lost,   ///< becomes 0
    over,   ///< beyond the largest number
};
inline constexpr std::size_t fateCount = 4;

/// The numbers of one tensor by their size.
struct Magnitudes {
    int first = 0; ///< of the first entry of `counts`: numbers from 2^first to below 2^(first + 1)
    std::vector<std::array<std::size_t, fateCount>> counts;
    std::size_t zeros = 0; ///< that were 0 before
    std::size_t all = 0;   ///< with these
    Rounding rounding;
    int scale = 0; ///< numbers are multiplied by 2^scale before they are rounded

    std::size_t count(Fate fate) const;
    /// The fate's share of the numbers that are not 0.
    double share(Fate fate) const;
};
/// The scale follows from the numbers, as in training.
Magnitudes magnitudesOf(std::span<const double> numbers, const Rounding& rounding);

/// What a layer's products read: the operands of one batch.
struct LayerNumbers {
    std::vector<double> weights, inputs, dSums; ///< without padding
    double loss = 0;                            ///< of the batch
};

/// A weight in a format whose numbers are divided by 2^scale.
struct WeightCode {
    std::uint32_t code = 0;
    double value = 0; ///< that the code stands for
    /// From this number to the next larger one in size; NaN behind the largest.
    double gap = 0;
};
/// The nearest number.
WeightCode codeOf(double weight, FloatKind kind, int scale);
/// With these bits flipped.
WeightCode flippedCode(const WeightCode& code, std::uint32_t bits, FloatKind kind, int scale);
/// The number that a code stands for, in such a format.
double valueOf(std::uint32_t code, FloatKind kind, int scale);
/// How many of the format's numbers are not above `value`, counted from the lowest one: as a number line has
/// them.
std::int64_t placeOnLine(double value, FloatKind kind, int scale);

class PrecisionModel {
  public:
    const PrecisionOptions& options() const { return options_; }
    void change(PrecisionOptions options);

    /// Once per frame: loads the data, looks at the numbers where something has changed, and takes what
    /// training tells. With `wait`, all of it is there when this returns. Throws what is wrong with settings,
    /// data or device.
    void update(Machines& machines, bool wait);

    /// Trains in every format, from where each run has got to; while the data are being loaded, once they are
    /// there.
    void train(Machines& machines);
    void stop() {
        wanted_ = false;
        work_.cancel();
    }
    bool training() const { return wanted_ || !work_.idle(); }
    /// Something is on its way.
    bool busy() const { return training() || !looking_.idle(); }
    void forget();
    /// Gives up everything on the device, and waits for it. What was trained is kept. Returns whether it was
    /// training.
    bool releaseDevice();

    /// The network and its settings; null while the data are being loaded.
    const TrainJob* job() const { return job_ ? &*job_ : nullptr; }
    bool loading() const { return !job_ && !failed_; }
    /// How a format trains with the present switches.
    PrecisionSettings precisionOf(OperandFormat format) const;
    /// Null: it has not begun.
    const PrecisionRun* run(OperandFormat format) const;
    /// Runs of this training with other switches than the present ones.
    std::vector<const PrecisionRun*> others() const;

    /// The weight that is looked at, inside of the network at hand.
    WeightPlace place() const;
    /// The bits of its code that are flipped.
    std::uint32_t flipped() const;
    const LayerLayout& layer() const { return layout_.layer(place().layer); }
    std::size_t layers() const { return layout_.layers(); }
    /// As the format's run has them, or the first ones before it has begun.
    const std::vector<float>& parameters() const;
    double weight(WeightPlace place) const {
        const LayerLayout& layer = layout_.layer(place.layer);
        return static_cast<double>(
            parameters()[layer.weightOffset + place.neuron * layer.rowStride + place.input]);
    }
    double weight() const { return weight(place()); }
    /// The scale of the chosen layer's weights in a format.
    int weightScale(FloatKind kind) const;

    /// The numbers of the chosen layer; null before the first look.
    const LayerNumbers* numbers() const { return numbers_ ? &*numbers_ : nullptr; }
    /// The sizes of weights, inputs and gradients of sums, as the chosen format rounds them.
    const std::array<Magnitudes, 3>& magnitudes() const { return magnitudes_; }
    /// The batch's loss with the flipped bits; empty: none is flipped, or it is being computed.
    std::optional<double> flippedLoss() const { return flippedLoss_; }

  private:
    void takeJob(Machines& machines, bool wait);
    void look();
    std::string keyOf(const PrecisionSettings& precision) const;

    PrecisionOptions options_ = usualPrecision();
    DataLoader loader_;
    std::shared_ptr<const Dataset> data_;
    std::optional<TrainJob> job_;
    ParamLayout layout_;
    std::vector<float> first_;                 // parameters before training
    std::string settingsKey_;                  // everything that a run depends on, but for its precision
    std::map<std::string, PrecisionRun> runs_; // by keyOf()
    bool failed_ = false;                      // settings or data are wrong
    bool changed_ = true;                      // settings, since the last update()
    bool wanted_ = false;                      // to be trained, as soon as there is a job

    std::string looked_; // what numbers_ and flippedLoss_ are of
    std::optional<LayerNumbers> numbers_;
    std::array<Magnitudes, 3> magnitudes_;
    std::optional<double> flippedLoss_;

    WorkQueue looking_; // last: their threads use none of the above, but tell news to them
    WorkQueue work_;
};

} // namespace lockstep::demos
