// Memory: whether a network fits, what takes the room, and what buys some.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/memory/memory_model.h"
#include "demos/exhibits/memory/memory_picture.h"
#include "demos/kit/exhibit.h"
#include "demos/kit/run_form.h"
#include "demos/report/memory_report.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::string_view measureMemoryWords = "Allocates the network in each of these ways, compares what "
                                                "was taken with the prediction, and times some "
                                                "steps.";

constexpr std::string_view oneMemoryWords =
    "This device has one memory for all: what it leaves to the host is still in there.";

/// MiB; 0: what is free.
constexpr std::uint64_t budgets[] = {0,    1,    2,     4,     8,     12,    16,   24,   32,
                                     48,   64,   80,    128,   256,   512,   1024, 2048, 4096,
                                     6144, 8192, 12288, 16384, 24576, 49152, 81920};

class MemoryExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "memory"; }
    const char* title() const override { return "Memory"; }
    const char* blurb() const override { return "What training holds in memory, and what makes it fit"; }
    const char* words() const override {
        return "Predicts what a network takes while it trains, byte by byte, and what each remedy saves and "
               "costs.";
    }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // Blocks of several sizes in a frame.
        const float r = size / 2;
        const auto block = [&](float x, float y, float width, float height) {
            draw.AddRectFilled({centre.x + x * r, centre.y + y * r},
                               {centre.x + (x + width) * r, centre.y + (y + height) * r}, colour, size / 20);
        };
        draw.AddRect({centre.x - 0.9f * r, centre.y - 0.9f * r}, {centre.x + 0.9f * r, centre.y + 0.9f * r},
                     colour, size / 12, 0, size / 14);
        block(-0.65f, 0.3f, 1.3f, 0.35f);
        block(-0.65f, -0.15f, 0.85f, 0.3f);
        block(-0.3f, -0.6f, 0.95f, 0.3f);
    }

    void update(Ui& ui) override { model_.update(ui.machines, ui.scripted); }

    void draw(Ui& ui) override {
        drawHeadline(ui);
        // A presenter's letters leave no room for all of it.
        if (ui.presenter && ui.toggle("Settings##memory", settingsWords, settingsShown_))
            settingsShown_ = !settingsShown_;
        if (!ui.presenter || settingsShown_) drawForm(ui);
        if (model_.job() == nullptr) return ui.muted(model_.loading() ? "The data are being loaded." : "");
        const float gap = ui.px(10);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        const float list = categoriesHeight(ui);
        const bool beside = room.x >= ui.px(720);
        const float blocks = beside ? std::floor((room.x - gap) * 0.52f) : room.x;
        const float height = beside ? room.y : std::floor(room.y * 0.45f);
        ui.beginCard("memory/blocks", {blocks, height});
        ui.heading("One step, tensor by tensor");
        const std::string most =
            translatedFormat("at most {} of {} needed at once",
                             binaryBytes(model_.chosen().forecast.mostNeeded()), binaryBytes(passingBytes()));
        if (const float free = ImGui::GetContentRegionAvail().x - textWidth("One step, tensor by tensor");
            free > textWidth(most) + ui.px(16)) {
            ImGui::SameLine(ImGui::GetContentRegionAvail().x - textWidth(most) +
                            ImGui::GetStyle().WindowPadding.x);
            ui.muted(most);
        }
        drawMemoryBlocks(ui, model_);
        ui.endCard();
        if (beside) ImGui::SameLine(0, gap);
        ImGui::BeginGroup();
        const float below = beside && room.y > ui.px(380) ? list : 0;
        ui.beginCard("memory/choices",
                     {0, room.y - (beside ? 0 : height + gap) - (below > 0 ? below + gap : 0)});
        ui.heading("The same network, in other ways");
        if (const MemoryChoice* pressed = drawMemoryBars(ui, model_)) model_.choose(*pressed);
        ui.endCard();
        if (below > 0) {
            ui.beginCard("memory/categories", {0, below});
            drawCategories(ui);
            ui.endCard();
        }
        ImGui::EndGroup();
    }

    void drawDetails(Ui& ui) override {
        ui.paragraph(blurb());
        if (model_.job() == nullptr) return;
        ui.paragraph(
            "Gaps between blocks are allocated, but not needed at that moment, or only by evaluations.");
        if (model_.oneMemory()) ui.paragraph(oneMemoryWords, ui.theme.muted);
    }

    bool trains() const override { return false; }
    bool running() const override { return model_.measuring(); }
    bool timesProcessor() const override { return model_.measuring(); }
    void run(Ui& ui) override { model_.measure(ui.machines, ui.masked); }
    void pause() override { model_.stop(); }
    void reset(Ui&) override {
        model_.stop();
        model_.forgetMeasured();
    }
    EditHistory& edits() override { return edits_; }

    /// "memory.mebibytes" of the settings as they are, and of each part: "memory.activations_mebibytes". Of
    /// each choice "memory.fused.mebibytes", and once it is measured ".times": its step's time over the one
    /// of "as_it_is". "memory.fitting": how many choices fit.
    void measured(MeasuredValues& values) const override {
        constexpr double mebibyte = 1 << 20;
        values["memory.mebibytes"];
        values["memory.fitting"];
        for (const std::string_view category : memoryCategories)
            values[fmt::format("memory.{}_mebibytes", category)];
        for (const char* id : {"as_it_is", "recompute", "parts", "offload", "fused", "half", "together"}) {
            values[fmt::format("memory.{}.mebibytes", id)];
            values[fmt::format("memory.{}.times", id)];
        }
        if (model_.job() == nullptr) return;
        const MemoryForecast& chosen = model_.chosen().forecast;
        values["memory.mebibytes"].number = static_cast<double>(chosen.bytes()) / mebibyte;
        for (std::size_t at = 0; at < std::size(memoryCategories); ++at)
            values[fmt::format("memory.{}_mebibytes", memoryCategories[at])].number =
                static_cast<double>(chosen.own[at]) / mebibyte;
        double fitting = 0;
        const MemoryMeasure* usual = model_.measured(model_.choices().front());
        for (const MemoryChoice& choice : model_.choices()) {
            fitting += choice.forecast.fits ? 1 : 0;
            values[fmt::format("memory.{}.mebibytes", choice.id)].number =
                static_cast<double>(choice.forecast.bytes()) / mebibyte;
            const MemoryMeasure* measure = model_.measured(choice);
            if (usual != nullptr && measure != nullptr && usual->failure.empty() && measure->failure.empty())
                values[fmt::format("memory.{}.times", choice.id)].number =
                    measure->secondsPerStep / usual->secondsPerStep;
        }
        values["memory.fitting"].number = fitting;
    }

    nlohmann::ordered_json state() const override { return toJson(model_.options()); }
    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        return [this, options = memoryOptionsFromJson(state)] { model_.change(options); };
    }
    bool dropFile(Ui& ui, const std::filesystem::path& file) override {
        if (!isTableFile(file)) return false;
        MemoryOptions options = model_.options();
        const std::string filled = takeDroppedFile(options.run, file);
        if (!filled.empty()) ui.say(Severity::warning, filled);
        model_.change(options);
        return true;
    }
    std::string releaseDevice() override {
        return model_.releaseDevice() ? "The measurement was stopped. Run starts it again." : "";
    }

  private:
    /// Whether it fits: the answer, as large as a question.
    void drawHeadline(Ui& ui) const {
        if (model_.job() == nullptr) return ui.headline("Does it fit?");
        const MemoryForecast& forecast = model_.chosen().forecast;
        const std::string bytes = binaryBytes(forecast.bytes());
        const bool set = model_.options().budgetMebibytes.has_value();
        const std::string budget = binaryBytes(model_.budget());
        if (model_.budget() == 0)
            ui.headline(bytes); // the system does not tell what there is
        else if (!forecast.fits && forecast.bytes() <= model_.budget())
            ui.headline("This device cannot train it.");
        else if (!forecast.fits)
            ui.headline(set ? translatedFormat("{} do not fit into {}.", bytes, budget)
                            : translatedFormat("{} do not fit here.", bytes));
        else if (!model_.options().run.lanes.front().gpu && !set)
            ui.headline(translatedFormat("{} fit: this machine has {}.", bytes, ui.timing(budget)));
        else
            ui.headline(set ? translatedFormat("{} fit into {}.", bytes, budget)
                            : translatedFormat("{} fit: {} are free.", bytes, ui.timing(budget)));
        ui.paragraph(forecast.fits ? whatIsLeft() : whatFits(), ui.theme.muted);
    }

    std::string whatIsLeft() const {
        const MemoryForecast& forecast = model_.chosen().forecast;
        std::string text =
            model_.options().budgetMebibytes
                ? translatedFormat("{} are left.", binaryBytes(model_.budget() - forecast.bytes()))
                : std::string(translated("Set a budget to see whether it fits a smaller device."));
        if (forecast.left() > 0 && model_.oneMemory()) text.append(" ").append(translated(oneMemoryWords));
        return text;
    }
    std::string whatFits() const {
        std::vector<std::string> ways;
        for (const MemoryChoice& choice : model_.choices())
            if (choice.forecast.fits) ways.push_back(fmt::format("\"{}\"", translated(choice.label)));
        std::string text = ways.empty() ? std::string(translated("None of the ways on the right fits."))
                                        : translatedFormat("Of the ways on the right, these fit: {}.",
                                                           fmt::join(ways, ", "));
        const std::string& refusal = model_.chosen().forecast.refusal;
        if (const std::string& more = refusal.empty() ? model_.advice() : refusal; !more.empty())
            text += " " + translatedParts(more);
        return text;
    }

    void drawForm(Ui& ui) {
        MemoryOptions options = model_.options();
        RunOptions& run = options.run;
        RunForm form(ui, "memory ");
        form.data(run.data);
        std::vector<std::size_t> widths = run.hiddenWidths.value_or(std::vector<std::size_t>{});
        if (!run.hiddenWidths && model_.job() != nullptr) {
            widths = model_.job()->shape.widths;
            widths.erase(widths.begin());
            widths.pop_back();
        }
        std::size_t width = widths.empty() ? 64 : *std::ranges::max_element(widths);
        form.add("layers", "Hidden layers", 110, [&](const char* control) {
            int layers = static_cast<int>(widths.size());
            if (!ui.intSlider(control, "How many layers lie between the inputs and the outputs.", layers, 0,
                              64))
                return false;
            run.hiddenWidths =
                std::vector<std::size_t>(static_cast<std::size_t>(std::clamp(layers, 0, 64)), width);
            return true;
        });
        form.add("width", "Width", 110, [&](const char* control) {
            if (!ui.powerSlider(control, "Neurons in each hidden layer.", width, 8, 16384)) return false;
            run.hiddenWidths = std::vector<std::size_t>(widths.size(), width);
            return true;
        });
        form.batch(run.settings.batch);
        form.optimizer(run.settings.optimizer);
        std::string lane = run.lanes.front().text();
        form.lane("lane", "Kernels", laneWords, lane, memoryLanes());
        run.lanes = {laneSpecFromText(lane)};
        const std::size_t layers = model_.job() == nullptr ? 2 : model_.job()->shape.layers();
        form.memory(run.settings, layers > 1 ? layers - 1 : 1);
        form.add("budget", "Budget", 120,
                 [&](const char* control) { return chooseBudget(ui, control, options); });
        form.add("classic", "", 70, [&](const char*) {
            if (!ui.button(
                    "Example##memory",
                    "Weights, gradients, optimizer state and activations in the proportions of a large "
                    "language model on a card of 80 GB, in MiB instead of GB."))
                return false;
            options = classicMemory();
            return true;
        });
        form.end();
        if (form.changed()) model_.change(options);
    }

    static bool chooseBudget(Ui& ui, const char* control, MemoryOptions& options) {
        const std::uint64_t set = options.budgetMebibytes.value_or(0);
        const auto nearest = std::ranges::lower_bound(budgets, set);
        std::size_t stop = std::min<std::size_t>(static_cast<std::size_t>(nearest - std::begin(budgets)),
                                                 std::size(budgets) - 1);
        const std::string shown = set == 0 ? std::string(translated("what is free")) : binaryBytes(set << 20);
        if (!ui.stopSlider(control,
                           "How much memory the run may take: all that the device has left, or less.", stop,
                           std::size(budgets), shown))
            return false;
        options.budgetMebibytes.reset();
        if (stop > 0) options.budgetMebibytes = budgets[stop];
        return true;
    }

    /// Bytes of what a step writes and needs no more after its end.
    std::uint64_t passingBytes() const {
        const CategoryBytes& own = model_.chosen().forecast.own;
        return own[static_cast<std::size_t>(MemoryCategory::activations)] +
               own[static_cast<std::size_t>(MemoryCategory::gradients)];
    }

    float categoriesHeight(const Ui& ui) const {
        const MemoryForecast& forecast = model_.chosen().forecast;
        std::size_t rows = 1; // what is said below them
        for (std::size_t at = 0; at < std::size(memoryCategories); ++at)
            if (forecast.own[at] + forecast.away[at] > 0) ++rows;
        const MemoryMeasure* measure = model_.measured(model_.chosen());
        if (measure != nullptr && !measure->failure.empty()) rows += 2; // why it did not run
        const ImGuiStyle& style = ImGui::GetStyle();
        return static_cast<float>(rows) * (ui.fonts.small->FontSize + style.ItemSpacing.y) +
               2 * style.WindowPadding.y;
    }

    /// Predicted and, once measured, allocated.
    void drawCategories(Ui& ui) const {
        const MemoryChoice& choice = model_.chosen();
        const SmallLetters small(ui);
        const float line = ImGui::GetTextLineHeight();
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        for (std::size_t at = 0; at < std::size(memoryCategories); ++at) {
            const auto category = static_cast<MemoryCategory>(at);
            const std::uint64_t own = choice.forecast.own[at];
            const std::uint64_t away = choice.forecast.away[at];
            if (own == 0 && away == 0) continue;
            const ImVec2 from = ImGui::GetCursorScreenPos();
            draw.AddRectFilled({from.x, from.y + line * 0.2f}, {from.x + line * 0.6f, from.y + line * 0.8f},
                               categoryColour(ui.theme, category), ui.px(2));
            ImGui::SetCursorScreenPos({from.x + line, from.y});
            const std::uint64_t left = choice.forecast.left(category);
            ui.row(name(category), own == 0   ? translatedFormat("{} in the host's memory", binaryBytes(away))
                                   : left > 0 ? translatedFormat("{}, and {} in the host's memory",
                                                                 binaryBytes(own), binaryBytes(left))
                                              : binaryBytes(own));
        }
        const MemoryMeasure* measure = model_.measured(choice);
        if (measure == nullptr)
            ui.muted("Predicted. Run allocates every way, and times it.");
        else if (!measure->failure.empty())
            ui.paragraph(translatedParts(measure->failure), ui.theme.bad);
        else if (measure->asPredicted)
            ui.text("Allocated as predicted, to the byte.", legible(ui.theme, ui.theme.good));
        else
            ui.paragraph(translatedFormat("{} were allocated, not as predicted.", binaryBytes(measure->own)),
                         ui.theme.bad);
    }

    MemoryModel model_;
    bool settingsShown_ = false; // to a presenter
    ValueHistory<MemoryOptions> edits_{
        [this] { return model_.options(); },
        [this](const MemoryOptions& wanted, const MemoryOptions&) { model_.change(wanted); }};
};

} // namespace

std::unique_ptr<Exhibit> makeMemory() { return std::make_unique<MemoryExhibit>(); }

} // namespace lockstep::demos
