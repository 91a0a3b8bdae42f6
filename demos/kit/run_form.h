// The form of a training job: every field that more than one exhibit shows, drawn in one way within one set
// of limits. An exhibit says which fields it has, and in which order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/fields.h"
#include "demos/kit/run_settings.h"
#include "demos/options/parse.h"

namespace lockstep::demos {

/// Losses as lists of choices show them; those of values come last.
inline constexpr Loss allLosses[] = {Loss::binaryCrossEntropy, Loss::crossEntropy, Loss::meanSquared,
                                     Loss::huber};
inline constexpr std::span<const Loss> valueLosses = std::span(allLosses).last(2);

/// The names of all rungs, or of those of one machine.
std::vector<std::string> rungNames(std::optional<bool> gpu = std::nullopt);

class RunForm : public FieldFlow {
  public:
    /// prefix   of the controls' names: "race " makes "##race data"
    /// inset    pixels on the right that are left free
    RunForm(Ui& ui, std::string prefix, float inset = 0) : FieldFlow(ui, inset), prefix_(std::move(prefix)) {}

    /// Whether a field has changed its value.
    bool changed() const { return changed_; }

    void data(std::string& data, const std::vector<std::string>& names = dataNames()) {
        add("data", "Data", 130, [&](const char* control) { return chooseText(ui(), control, data, names); });
    }
    /// Of generated points.
    void samples(std::size_t& samples) {
        add("samples", "Points", 110, [&](const char* control) {
            return ui().powerSlider(control, samples, 64, std::size_t{1} << 20);
        });
    }
    void noise(double& noise) {
        number("noise", "Noise", noise, 0, static_cast<float>(mostNoise), "%.2f", Scale::linear);
    }
    void hidden(std::vector<std::size_t>& widths) {
        text("layers", "Hidden layers", 110, widthsText(widths),
             [&](const std::string& typed) { widths = widthsFromText(typed); });
    }
    /// An empty field leaves the layers to the data; it shows which those are.
    void hidden(std::optional<std::vector<std::size_t>>& widths, const std::string& data);
    void activation(Activation& value) { choice("activation", "Activation", 106, value, allActivations); }
    void outputActivation(Activation& value) {
        choice("output activation", "Output activation", 110, value, allActivations);
    }
    void loss(Loss& value, std::span<const Loss> losses) { choice("loss", "Loss", 136, value, losses); }
    void init(InitScheme& value);
    /// A new optimizer begins with the rate and the weight decay that suit it.
    void optimizer(OptimizerSettings& settings);
    void rate(OptimizerSettings& settings);
    void regularisation(OptimizerSettings& settings); ///< L2 and L1
    void moments(OptimizerSettings& settings);        ///< momentum, betas and what else the optimizer has
    void schedule(OptimizerSettings& settings);
    void batch(std::size_t& batch, std::size_t most = RunLimits{}.batch) {
        add("batch", "Batch", 110,
            [&](const char* control) { return ui().powerSlider(control, batch, 1, most); });
    }
    void seed(std::uint64_t& seed) {
        text("seed", "Seed", 70, std::to_string(seed),
             [&](const std::string& typed) { seed = seedFromText(typed); });
    }
    void shuffle(bool& value) {
        add("shuffle", "Shuffle", 60, [&](const char* control) { return ui().checkbox(control, value); });
    }
    /// field   of the control's name; a lane that is not among `names` is offered, too
    void lane(const char* field, const char* title, std::string& lane, const std::vector<std::string>& names,
              float units = 122) {
        add(field, title, units, [&](const char* control) { return chooseText(ui(), control, lane, names); });
    }

    /// A choice among values by their names.
    template <class Enum>
    void choice(std::string_view field, const char* title, float units, Enum& value,
                std::span<const std::type_identity_t<Enum>> all) {
        add(field, title, units, [&](const char* control) { return chooseName(ui(), control, value, all); });
    }
    /// Any other field; `draw(control)` says whether it changed something.
    template <class Draw> void add(std::string_view field, const char* title, float units, Draw draw) {
        const std::string control = std::string("##").append(prefix_).append(field);
        this->field(control.c_str(), title, units, [&](const char* label) { changed_ |= draw(label); });
    }
    /// A line of text that shows `text`; `read` takes what was typed, and what it throws becomes a message.
    template <class Read>
    void text(std::string_view field, const char* title, float units, const std::string& text, Read read) {
        add(field, title, units, [&](const char* control) { return textEntered(ui(), control, text, read); });
    }

  private:
    enum class Scale { linear, logarithmic };
    /// True when it was moved.
    bool number(std::string_view field, const char* title, double& value, float from, float to,
                const char* format, Scale scale = Scale::logarithmic);
    void count(std::string_view field, const char* title, std::uint64_t& value, float from, float to);

    std::string prefix_;
    bool changed_ = false;
};

} // namespace lockstep::demos
