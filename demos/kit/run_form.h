// Forms: fields side by side, the kinds of fields there are, and every field of a training job that more than
// one exhibit shows, drawn in one way within one set of limits. An exhibit says which fields it has, and in
// which order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/kit/run_settings.h"
#include "demos/options/parse.h"

namespace lockstep::demos {

// Explanations of fields that exhibits also draw in a way of their own.
inline constexpr std::string_view settingsWords =
    "Shows or hides the settings of data, network and training.";
inline constexpr std::string_view activationWords =
    "The nonlinear function after each hidden layer's preactivation. Without one, all layers together would "
    "be one linear layer.";
inline constexpr std::string_view samplesWords =
    "How many points are generated, for training and test together.";
inline constexpr std::string_view batchWords =
    "Batch: examples per step. A larger batch gives a less noisy gradient and keeps a GPU busier.";
inline constexpr std::string_view laneWords =
    "The machine and the rung that this lane trains on, such as gpu:tiled.";

/// A choice among `names`, and the present value if it is not among them. True when it changed.
inline bool chooseText(Ui& ui, const char* control, std::string_view words, std::string& value,
                       std::vector<std::string> names) {
    auto found = std::ranges::find(names, value);
    if (found == names.end()) found = names.insert(found, value);
    auto chosen = static_cast<std::size_t>(found - names.begin());
    if (!ui.combo(control, words, chosen, names)) return false;
    value = names[chosen];
    return true;
}

/// One of the values, by its name. True when it changed.
template <class Enum>
bool chooseName(Ui& ui, const char* control, std::string_view words, Enum& value,
                std::span<const std::type_identity_t<Enum>> all) {
    std::vector<std::string> names;
    for (const Enum each : all) names.emplace_back(name(each));
    auto chosen = static_cast<std::size_t>(std::ranges::find(all, value) - all.begin());
    if (chosen == all.size()) names.emplace_back(name(value)); // such as a file has that was not made here
    if (!ui.combo(control, words, chosen, names)) return false;
    if (chosen < all.size()) value = all[chosen];
    return true;
}

/// A line that shows `text`: `read` is given what was typed, and what it throws becomes a message. True when
/// something was typed and taken.
template <class Read>
bool textEntered(Ui& ui, const char* control, std::string_view words, const std::string& text, Read read) {
    const std::optional<std::string> typed = ui.typedText(control, words, text);
    if (!typed) return false;
    try {
        read(*typed);
    } catch (const std::exception& error) {
        ui.say(Severity::error, error.what());
        return false;
    }
    return true;
}

/// Losses as lists of choices show them; those of values come last.
inline constexpr Loss allLosses[] = {Loss::binaryCrossEntropy, Loss::crossEntropy, Loss::meanSquared,
                                     Loss::huber};
inline constexpr std::span<const Loss> valueLosses = std::span(allLosses).last(2);

/// The names of all rungs, or of those of one machine.
std::vector<std::string> rungNames(std::optional<bool> gpu = std::nullopt);

/// Fields side by side, each with its name above it; a field that does not fit starts the next row. Placed by
/// hand, because ImGui aligns neighbours by their first line of text.
class RunForm {
  public:
    /// prefix   of the controls' names: "race " makes "##race data"
    /// inset    pixels on the right that are left free
    RunForm(Ui& ui, std::string prefix, float inset = 0)
        : ui_(ui), prefix_(std::move(prefix)), start_(ImGui::GetCursorScreenPos()), at_(start_),
          right_(start_.x + ImGui::GetContentRegionAvail().x - inset),
          row_(ImGui::GetTextLineHeight() + ui.px(3) + ImGui::GetFrameHeight()) {}

    /// Whether a field has changed its value.
    bool changed() const { return changed_; }

    void data(std::string& data, const std::vector<std::string>& names = dataNames()) {
        add("data", "Data", 130, [&](const char* control) {
            return chooseText(ui_, control, "The data set: its examples and their labels.", data, names);
        });
    }
    /// How many points are generated.
    void samples(std::size_t& samples) {
        add("samples", "Points", 110, [&](const char* control) {
            return ui_.powerSlider(control, samplesWords, samples, 64, std::size_t{1} << 20);
        });
    }
    void noise(double& noise) {
        number("noise", "Noise",
               "Standard deviation of the random shift of every generated point, in units of the plane.",
               noise, 0, static_cast<float>(mostNoise), "%.2f", Scale::linear);
    }
    /// For tables alone: a button "Table" with every option of how one is read, and below them how it was
    /// understood. Draws nothing for other data.
    ///   understood   sentences; empty while the table is not loaded
    void table(TableOptions& table, const std::string& data, const std::vector<std::string>& understood);
    void hidden(std::vector<std::size_t>& widths) {
        text("layers", "Hidden layers", layersWords, 110, widthsText(widths),
             [&](const std::string& typed) { widths = widthsFromText(typed); });
    }
    /// An empty field leaves the layers to the data; it shows which those are.
    void hidden(std::optional<std::vector<std::size_t>>& widths, const std::string& data);
    void activation(Activation& value) {
        choice("activation", "Activation", activationWords, 106, value, allActivations);
    }
    void outputActivation(Activation& value) {
        choice("output activation", "Output activation", "The function after the last layer's preactivation.",
               110, value, allActivations);
    }
    void loss(Loss& value, std::span<const Loss> losses) {
        choice("loss", "Loss",
               "The function that training minimises: how far predictions are from the labels.", 136, value,
               losses);
    }
    void init(InitScheme& value);
    /// A new optimizer begins with the rate and the weight decay that suit it.
    void optimizer(OptimizerSettings& settings);
    /// The row of engine/net/setting_table.h with this key: a slider, or a box to check.
    void setting(OptimizerSettings& settings, std::string_view key);
    void rate(OptimizerSettings& settings);
    void regularisation(OptimizerSettings& settings); ///< L2 and L1
    void moments(OptimizerSettings& settings);        ///< momentum, betas and what else the optimizer has
    void schedule(OptimizerSettings& settings);
    void batch(std::size_t& batch, std::size_t most = RunLimits{}.batch) {
        add("batch", "Batch", 110,
            [&](const char* control) { return ui_.powerSlider(control, batchWords, batch, 1, most); });
    }
    void seed(std::uint64_t& seed) {
        text("seed", "Seed",
             "Seed of the random numbers. Equal seeds give equal data, weights and order of the batches.", 70,
             std::to_string(seed), [&](const std::string& typed) { seed = seedFromText(typed); });
    }
    void shuffle(bool& value) {
        add("shuffle", "Shuffle", 60, [&](const char* control) {
            return ui_.checkbox(control, "Draws a new order of the training examples for every epoch.",
                                value);
        });
    }
    void format(OperandFormat& value) {
        choice("format", "Number format",
               "The number format in which products read their operands. All but fp32 are emulated: the "
               "numbers are those of the format, times and bytes are not.",
               96, value, allOperandFormats);
    }
    /// How parameters are stored, where the format allows a choice; else they keep their master weights.
    void parameters(PrecisionSettings& precision);
    /// How parameters are stored in those of several formats that allow a choice.
    void storage(PrecisionSettings& precision);
    /// A button that opens the remedies for memory.
    /// hiddenLayers   of the network, as far as they are known
    void memory(TrainSettings& settings, std::size_t hiddenLayers = 32);
    /// At most so many CPU threads; "all" is 0.
    void threads(std::size_t& threads, std::size_t all);
    /// At most so many workgroups of a GPU at once; "all" is 0.
    void workgroups(std::size_t& workgroups);
    /// field   of the control's name; a lane that is not among `names` is offered, too
    void lane(const char* field, const char* title, std::string_view words, std::string& lane,
              const std::vector<std::string>& names, float units = 122) {
        add(field, title, units,
            [&](const char* control) { return chooseText(ui_, control, words, lane, names); });
    }

    /// A choice among values by their names.
    template <class Enum>
    void choice(std::string_view field, const char* title, std::string_view words, float units, Enum& value,
                std::span<const std::type_identity_t<Enum>> all) {
        add(field, title, units,
            [&](const char* control) { return chooseName(ui_, control, words, value, all); });
    }
    /// Any other field; `draw(control)` draws the widget, which explains the field, and says whether it
    /// changed something.
    template <class Draw> void add(std::string_view field, const char* title, float units, Draw draw) {
        const std::string control = std::string("##").append(prefix_).append(field);
        this->field(control.c_str(), title, units, [&](const char* label) { changed_ |= draw(label); });
    }
    /// A choice among the values of a table of names.
    template <class Enum, std::size_t N>
    void choice(std::string_view field, const char* title, std::string_view words, float units, Enum& value,
                const NameOf<Enum> (&all)[N]) {
        add(field, title, units, [&](const char* control) {
            std::vector<std::string> names;
            for (const NameOf<Enum>& each : all) names.emplace_back(each.text);
            std::string chosen(nameOf(all, value));
            if (!chooseText(ui_, control, words, chosen, names)) return false;
            value = valueFromName(all, field, chosen);
            return true;
        });
    }
    /// A line of text that shows `text`; `read` takes what was typed, and what it throws becomes a message.
    template <class Read>
    void text(std::string_view field, const char* title, std::string_view words, float units,
              const std::string& text, Read read) {
        add(field, title, units,
            [&](const char* control) { return textEntered(ui_, control, words, text, read); });
    }

    /// `draw(control)` draws the widget. Of a hidden control, the name above it keeps its place, too.
    template <class Draw> void field(const char* control, const char* name, float units, Draw draw) {
        const float width = std::max(ui_.px(units), textWidth(name));
        if (at_.x + width > right_) newRow();
        ImGui::SetCursorScreenPos(at_);
        ImGui::BeginGroup();
        ui_.text(name, ui_.hidden(control) ? faded(ui_.theme.muted, 0) : ui_.theme.muted);
        ImGui::SetCursorScreenPos({at_.x, at_.y + row_ - ImGui::GetFrameHeight()});
        ImGui::SetNextItemWidth(std::min(width, right_ - at_.x));
        draw(control);
        ImGui::EndGroup();
        at_.x = std::max(at_.x + width, ImGui::GetItemRectMax().x) + ui_.px(10);
    }

    void newRow() {
        if (at_.x > start_.x) at_ = {start_.x, at_.y + row_ + ui_.px(8)};
    }
    /// The next fields, `units` wide in total, share a row.
    void keepTogether(float units) {
        if (at_.x + ui_.px(units) > right_) newRow();
    }
    /// A button that opens a popup in which `draw()` draws further fields, with a form of its own.
    template <class Draw> void popup(const char* control, std::string_view words, Draw draw) {
        ImVec2 below;
        field(control, "", 60, [&](const char* label) {
            if (ui_.button(label, words)) ImGui::OpenPopup("settings");
            below = {ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + ui_.px(4)};
        });
        // Its right edge below the button's, where there is room for it.
        const float width = std::min(ui_.px(440), ImGui::GetIO().DisplaySize.x);
        ImGui::SetNextWindowPos({std::max(below.x - width, start_.x), below.y}, ImGuiCond_Always);
        ImGui::SetNextWindowSize({width, 0});
        if (!ImGui::BeginPopup("settings")) return;
        ui_.heading("Settings");
        draw();
        ImGui::EndPopup();
    }
    /// What follows comes below.
    void end() {
        ImGui::SetCursorScreenPos({start_.x, at_.y});
        ImGui::Dummy({right_ - start_.x, at_.x > start_.x ? row_ : 0});
    }

  private:
    static constexpr std::string_view layersWords =
        "Widths of the hidden layers, in neurons, such as 64, 32. An empty field leaves them to the data.";

    enum class Scale { linear, logarithmic };
    /// True when it was moved.
    bool number(std::string_view field, const char* title, std::string_view words, double& value, float from,
                float to, const char* format, Scale scale = Scale::logarithmic);

    Ui& ui_;
    std::string prefix_;
    ImVec2 start_;
    ImVec2 at_; // of the next field
    float right_;
    float row_;
    bool changed_ = false;
};

} // namespace lockstep::demos
