// The strip of settings above the timeline.
#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <vector>

#include "demos/exhibits/inside/inside_exhibit.h"
#include "engine/net/data_source.h"

namespace lockstep::demos {

namespace {

std::vector<std::string> dataNames(const std::string& current) {
    std::vector<std::string> names;
    for (const std::string_view spec : dataSpecs())
        if (spec.find(':') == std::string_view::npos) names.emplace_back(spec);
    if (std::ranges::find(names, current) == names.end()) names.push_back(current);
    return names;
}

std::vector<std::string> laneNames(bool gpu, const std::string& current) {
    std::vector<std::string> names;
    for (const std::string_view lane : knownLanes())
        if (lane.starts_with(gpu ? "gpu" : "cpu")) names.emplace_back(lane);
    if (std::ranges::find(names, current) == names.end()) names.push_back(current);
    return names;
}

template <class Enum> std::vector<std::string> namesUpTo(Enum last) {
    std::vector<std::string> names;
    for (std::uint32_t value = 0; value <= static_cast<std::uint32_t>(last); ++value)
        names.emplace_back(name(static_cast<Enum>(value)));
    return names;
}

/// True when another of the names was chosen.
bool choose(Ui& ui, const char* widget, std::string& current, const std::vector<std::string>& names) {
    auto chosen = static_cast<std::size_t>(std::ranges::find(names, current) - names.begin());
    if (!ui.combo(widget, chosen, names)) return false;
    current = names[chosen];
    return true;
}

template <class Enum> bool chooseEnum(Ui& ui, const char* widget, Enum& current, Enum last) {
    auto chosen = static_cast<std::size_t>(current);
    if (!ui.combo(widget, chosen, namesUpTo(last))) return false;
    current = static_cast<Enum>(chosen);
    return true;
}

std::uint64_t seedFromText(const std::string& text) {
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc{} || end != text.data() + text.size())
        throw std::invalid_argument("a seed is a whole number from 0 on, not '" + text + "'");
    return seed;
}

// A caption, and the widget below it; on the next line where there is no room.
class Fields {
  public:
    explicit Fields(Ui& ui) : ui_(ui) {}

    /// The next field begins a line of its own, unless `width` has room on one.
    void breakUnlessFits(float width) { first_ = first_ || ImGui::GetContentRegionAvail().x < ui_.px(width); }

    template <class Draw> void draw(const char* name, const char* caption, float width, Draw drawWidget) {
        if (ui_.hidden(name)) return;
        const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
        // Placed by hand: SameLine() would move the captions down to the text of the widgets.
        const float beside = ImGui::GetItemRectMax().x + ui_.px(8);
        if (!first_ && beside + ui_.px(width) <= right)
            ImGui::SetCursorScreenPos({beside, top_});
        else
            top_ = ImGui::GetCursorScreenPos().y;
        first_ = false;
        ImGui::BeginGroup();
        ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, ui_.px(2)});
        ui_.muted(caption);
        ImGui::SetNextItemWidth(ui_.px(width));
        drawWidget(name);
        ImGui::PopStyleVar();
        ImGui::EndGroup();
    }

  private:
    Ui& ui_;
    bool first_ = true;
    float top_ = 0; // of the line at hand
};

} // namespace

void InsideExhibit::drawSettings(Ui& ui) {
    InsideSettings settings = model_.settings();
    if (textsStale_) {
        hiddenText_ = hiddenText(settings.hidden);
        seedText_ = std::to_string(settings.seed);
        textsStale_ = false;
    }
    bool changed = false;
    bool typed = false;
    Fields fields(ui);
    fields.draw("##inside/data", "Data", 130, [&](const char* widget) {
        changed |= choose(ui, widget, settings.data, dataNames(settings.data));
    });
    fields.draw("##inside/layers", "Hidden layers", 98,
                [&](const char* widget) { typed |= ui.textField(widget, hiddenText_); });
    fields.draw("##inside/activation", "Activation", 106, [&](const char* widget) {
        changed |= chooseEnum(ui, widget, settings.activation, Activation::silu);
    });
    fields.draw("##inside/optimizer", "Optimizer", 106, [&](const char* widget) {
        changed |= chooseEnum(ui, widget, settings.optimizer, Optimizer::adamw);
    });
    fields.draw("##inside/batch", "Batch", 86,
                [&](const char* widget) { changed |= ui.powerSlider(widget, settings.batch, 1, 4096); });
    fields.draw("##inside/seed", "Seed", 50,
                [&](const char* widget) { typed |= ui.textField(widget, seedText_); });
    fields.breakUnlessFits(875); // the machines stay together
    for (LaneSpec& lane : settings.lanes)
        fields.draw(lane.gpu ? "##inside/gpu" : "##inside/cpu", lane.gpu ? "GPU, below" : "CPU, above", 122,
                    [&](const char* widget) {
                        std::string text = lane.text();
                        if (!choose(ui, widget, text, laneNames(lane.gpu, text))) return;
                        lane = laneSpecFromText(text);
                        changed = true;
                    });
    // Only now, when nothing is half drawn, may a typing error be thrown; the fields then show what holds.
    if (!typed && !changed) return;
    textsStale_ = true;
    if (typed) {
        settings.hidden = hiddenFromText(hiddenText_);
        settings.seed = seedFromText(seedText_);
    }
    change(settings);
}

} // namespace lockstep::demos
