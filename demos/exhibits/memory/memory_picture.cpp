#include "demos/exhibits/memory/memory_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/operations.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// From below, as they are stacked.
constexpr MemoryCategory stacked[] = {MemoryCategory::data,      MemoryCategory::parameters,
                                      MemoryCategory::copies,    MemoryCategory::gradients,
                                      MemoryCategory::optimizer, MemoryCategory::activations,
                                      MemoryCategory::workspace};

std::uint64_t of(const CategoryBytes& bytes, MemoryCategory category) {
    return bytes[static_cast<std::size_t>(category)];
}

const char* wordsOfTensor(TensorKind kind) {
    switch (kind) {
    case TensorKind::activations:
        return "A layer's outputs for every example of the batch. The backward pass needs them again.";
    case TensorKind::targets: return "The labels of the batch's examples.";
    case TensorKind::sums:
        return "The layer's preactivations, from which the derivative of its activation follows.";
    case TensorKind::dSums:
        return "The gradient of the loss at the layer's preactivations, for every example.";
    case TensorKind::weights: return "Weights stay from step to step.";
    case TensorKind::bias: return "Biases stay from step to step.";
    case TensorKind::dWeights: return "The gradient of the weights, until the update has read it.";
    case TensorKind::dBias: return "The gradient of the biases, until the update has read it.";
    case TensorKind::weightState1:
    case TensorKind::biasState1:
    case TensorKind::weightState2:
    case TensorKind::biasState2: return "What the optimizer keeps from step to step.";
    case TensorKind::weightCopies: return "Copies of the weights, rounded, for the products to read.";
    case TensorKind::hostActivations:
    case TensorKind::hostSums: break; // not on the device
    }
    return "";
}

std::string titleOf(const TensorId& id) {
    switch (id.kind) {
    case TensorKind::weightState1: return translatedFormat("m of {}", name({TensorKind::weights, id.layer}));
    case TensorKind::biasState1: return translatedFormat("m of {}", name({TensorKind::bias, id.layer}));
    case TensorKind::weightState2: return translatedFormat("v of {}", name({TensorKind::weights, id.layer}));
    case TensorKind::biasState2: return translatedFormat("v of {}", name({TensorKind::bias, id.layer}));
    default: return name(id);
    }
}

std::string operationText(const PlannedOperation& operation) {
    const std::string label(translated(wordsOf(operation.operation).label));
    return rowOf(operation.operation).ofLayer
               ? fmt::format("{}, {}", label, translatedFormat("layer {}", operation.layer))
               : label;
}

MemoryCategory categoryOf(TensorArena arena) {
    switch (arena) {
    case TensorArena::parameters: return MemoryCategory::parameters;
    case TensorArena::gradients: return MemoryCategory::gradients;
    case TensorArena::state1:
    case TensorArena::state2: return MemoryCategory::optimizer;
    case TensorArena::weightCopies: return MemoryCategory::copies;
    default: return MemoryCategory::activations;
    }
}

/// The arenas of a category lie one above the other, in the order of TensorArena.
std::uint64_t beforeArena(const TensorTable& tensors, TensorArena arena) {
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; at < static_cast<std::size_t>(arena); ++at)
        if (const auto other = static_cast<TensorArena>(at); categoryOf(other) == categoryOf(arena))
            bytes += tensors.arenaBytes(other);
    return bytes;
}

ImU32 tensorColour(const Theme& theme, const StoredTensor& tensor) {
    const ImU32 colour = categoryColour(theme, categoryOf(tensor.arena));
    switch (tensor.arena) {
    case TensorArena::sums: return mixed(colour, theme.text, 0.35f);
    case TensorArena::dSums: return mixed(colour, theme.warning, 0.6f);
    case TensorArena::targets: return theme.muted;
    default: return colour;
    }
}

void drawBudgetLine(Ui& ui, const MemoryModel& model, float left, float right, float y) {
    const ImU32 colour = model.chosen().forecast.fits ? ui.theme.text : ui.theme.bad;
    for (float x = left; x < right; x += ui.px(9))
        ImGui::GetWindowDrawList()->AddLine({x, y}, {std::min(x + ui.px(5), right), y}, colour,
                                            ui.line(1.5f));
}

/// What stands above the line at its right end, and below it.
std::array<std::string, 2> budgetTexts(const Ui& ui, const MemoryModel& model) {
    const bool set = model.options().budgetMebibytes.has_value();
    const std::string bytes = binaryBytes(model.budget());
    return {std::string(translated(set ? "Budget" : "free")), set ? bytes : ui.timing(bytes)};
}

} // namespace

ImU32 categoryColour(const Theme& theme, MemoryCategory category) {
    const ImU32 purple = seriesColour(theme, 3);
    switch (category) {
    case MemoryCategory::parameters: return purple;
    case MemoryCategory::gradients: return mixed(purple, theme.background, 0.45f);
    case MemoryCategory::optimizer: return mixed(seriesColour(theme, 4), theme.background, 0.2f);
    case MemoryCategory::activations: return seriesColour(theme, 2);
    case MemoryCategory::copies: return mixed(purple, theme.text, 0.55f);
    case MemoryCategory::data: return theme.muted;
    case MemoryCategory::workspace: return theme.text;
    }
    return theme.muted;
}

const MemoryChoice* drawMemoryBars(Ui& ui, const MemoryModel& model) {
    const std::vector<MemoryChoice>& choices = model.choices();
    const MemoryChoice* pressed = nullptr;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ui.fonts.small->FontSize;
    const float base = start.y + room.y - 2 * line - ui.px(8);
    const float height = base - start.y - 2 * line - ui.px(8);
    std::uint64_t most = 0;
    for (const MemoryChoice& choice : choices)
        most = std::max(most, choice.forecast.bytes() + choice.forecast.left());
    // A budget far beyond all of them is no line of this picture.
    const std::uint64_t budget = model.budget();
    const bool budgetShown = budget > 0 && budget < 3 * most;
    if (budgetShown) most = std::max(most, budget + budget / 8);
    const double scale = most == 0 ? 0 : static_cast<double>(height) / static_cast<double>(most);
    const auto tall = [&](std::uint64_t bytes) {
        return static_cast<float>(static_cast<double>(bytes) * scale);
    };
    const SmallLetters small(ui);
    const std::array<std::string, 2> budgetSays = budgetTexts(ui, model);
    const float margin = // on the right
        budgetShown ? std::max(lettersWidth(budgetSays[0]), lettersWidth(budgetSays[1])) + ui.px(8) : 0;
    const float slot = (room.x - margin) / static_cast<float>(choices.size());
    const MemoryMeasure* usual = model.measured(choices.front());
    if (usual != nullptr && !usual->failure.empty()) usual = nullptr;
    // All alike, and smaller where the bars are narrow.
    float widest = 1;
    for (const MemoryChoice& choice : choices)
        widest = std::max({widest, textWidth(choice.label), textWidth(binaryBytes(choice.forecast.bytes()))});
    const float share = std::clamp((slot - ui.px(3)) / widest, 0.65f, 1.0f);
    const auto centred = [&](float at, float y, ImU32 colour, std::string_view text) {
        const std::string shown = fittedText(text, slot / share);
        draw.AddText(ImGui::GetFont(), ImGui::GetFontSize() * share,
                     {at - lettersWidth(shown) * share / 2, y + line * (1 - share) / 2}, colour,
                     shown.c_str());
    };
    std::vector<std::function<void()>> numbers; // above the bars, and above the budget's line
    for (std::size_t at = 0; at < choices.size(); ++at) {
        const MemoryChoice& choice = choices[at];
        const bool chosen = &choice == &model.chosen();
        const float left = start.x + slot * static_cast<float>(at);
        const float middle = left + slot / 2;
        const float half = std::min(slot * 0.36f, ui.px(34));
        ImGui::SetCursorScreenPos({left, start.y});
        const std::string name = fmt::format("memory/{}", choice.id);
        if (ui.tile(name.c_str(), choice.words, {slot, room.y})) pressed = &choice;
        if (ui.hidden(name.c_str())) continue;
        const bool hovered = ImGui::IsItemHovered();
        if (chosen || hovered)
            draw.AddRectFilled({left + ui.px(1), start.y}, {left + slot - ui.px(1), start.y + room.y},
                               chosen ? ui.theme.raised : faded(ui.theme.raised, 0.5f), ui.px(6));
        float y = base;
        for (const MemoryCategory category : stacked) {
            const float part = tall(of(choice.forecast.own, category));
            if (part <= 0) continue;
            draw.AddRectFilled({middle - half, y - part}, {middle + half, y},
                               categoryColour(ui.theme, category));
            y -= part;
        }
        // What the host keeps stands above it, hollow and faint.
        float hollow = y;
        for (const MemoryCategory category : {MemoryCategory::optimizer, MemoryCategory::activations}) {
            const float away = tall(choice.forecast.left(category));
            if (away < ui.px(2)) continue;
            draw.AddRect({middle - half, hollow - away}, {middle + half, hollow},
                         faded(categoryColour(ui.theme, category), 0.45f), 0, 0, ui.line());
            if (away > 4 * line) centred(middle, hollow - away / 2 - line / 2, ui.theme.muted, "host");
            hollow -= away;
        }
        numbers.emplace_back([&, middle, top = y - line - ui.px(3), ground = chosen || hovered] {
            const std::string bytes = binaryBytes(choice.forecast.bytes());
            const float reach = lettersWidth(bytes) * share / 2 + ui.px(2);
            if (const float crossed = base - tall(budget);
                budgetShown && crossed > top && crossed < top + line)
                draw.AddRectFilled({middle - reach, top}, {middle + reach, top + line},
                                   ground ? ui.theme.raised : ui.theme.panel);
            centred(middle, top, choice.forecast.fits ? ui.theme.text : legible(ui.theme, ui.theme.bad),
                    bytes);
        });
        centred(middle, base + ui.px(3), chosen ? ui.theme.text : ui.theme.muted, translated(choice.label));
        const MemoryMeasure* const measure = model.measured(choice);
        if (measure != nullptr)
            centred(middle, base + ui.px(4) + line, ui.theme.muted,
                    !measure->failure.empty() ? std::string(translated("no run"))
                    : usual == nullptr || measure == usual
                        ? ui.timing(duration(measure->secondsPerStep))
                        : ui.timing(twoDigits(measure->secondsPerStep / usual->secondsPerStep) + "×"));
        else if (model.measuring() && model.doing() == translated(choice.label))
            centred(middle, base + ui.px(4) + line, ui.theme.muted, "…");
        if (!hovered) continue;
        Detail detail{.title = std::string(translated(choice.label)), .text = choice.words};
        // The most important first: a box has room for a few lines.
        if (measure != nullptr && measure->failure.empty()) {
            detail.values.emplace_back("one step", ui.timing(duration(measure->secondsPerStep)));
            if (usual != nullptr && measure != usual)
                detail.values.emplace_back(
                    "against as it is",
                    ui.timing(translatedFormat("{}× as long",
                                               twoDigits(measure->secondsPerStep / usual->secondsPerStep))));
        }
        if (const std::uint64_t away = choice.forecast.left(); away > 0)
            detail.values.emplace_back("in the host's memory", binaryBytes(away));
        constexpr std::uint64_t worthALine = 64 << 10;
        for (const MemoryCategory category : stacked)
            if (const std::uint64_t taken = of(choice.forecast.own, category); taken >= worthALine)
                detail.values.emplace_back(lockstep::name(category), binaryBytes(taken));
        if (measure != nullptr && !measure->failure.empty()) detail.text = translatedParts(measure->failure);
        ui.detail(std::move(detail));
    }
    if (budgetShown) {
        const float at = base - tall(budget);
        const float right = start.x + room.x;
        const ImU32 colour = legible(ui.theme, model.chosen().forecast.fits ? ui.theme.text : ui.theme.bad);
        drawBudgetLine(ui, model, start.x, right, at);
        draw.AddText({right - lettersWidth(budgetSays[0]), at - line - ui.px(2)}, colour,
                     budgetSays[0].c_str());
        draw.AddText({right - lettersWidth(budgetSays[1]), at + ui.px(2)}, colour, budgetSays[1].c_str());
    }
    for (const auto& drawNumber : numbers) drawNumber();
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy(room);
    return pressed;
}

void drawMemoryBlocks(Ui& ui, const MemoryModel& model) {
    const MemoryForecast& forecast = model.chosen().forecast;
    const std::vector<PlannedOperation>& operations = forecast.plan.operations;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const SmallLetters small(ui);
    const float line = ImGui::GetTextLineHeight();
    const float names = ui.px(82); // of the categories, on the left
    const float left = start.x + names;
    const float right = start.x + room.x;
    const float strip = ui.px(14);
    const float base = start.y + room.y - strip - line - ui.px(8);
    const float top = start.y + ui.px(4);
    const double perByte =
        static_cast<double>(base - top) / static_cast<double>(std::max<std::uint64_t>(1, forecast.bytes()));
    const float perOperation =
        (right - left) / static_cast<float>(std::max<std::size_t>(1, operations.size()));
    const auto x = [&](std::size_t operation) { return left + perOperation * static_cast<float>(operation); };
    const auto y = [&](std::uint64_t byte) {
        return base - static_cast<float>(static_cast<double>(byte) * perByte);
    };

    ui.offer("memory/step");
    ImGui::InvisibleButton("memory/step", room);
    ui.done("memory/step",
            "The tensors of a step: where they lie in memory, and for how long their numbers are needed.",
            false);
    if (ui.hidden("memory/step")) return;
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 mouse = ImGui::GetMousePos();

    // Every category reaches from the beginning to the end of the step: it is allocated for all of it.
    std::array<std::uint64_t, std::size(memoryCategories)> bases{};
    std::uint64_t below = 0;
    float lastName = base + line;
    std::optional<Detail> detail;
    for (const MemoryCategory category : stacked) {
        const std::uint64_t bytes = of(forecast.own, category);
        bases[static_cast<std::size_t>(category)] = below;
        if (bytes == 0) continue;
        const ImU32 colour = categoryColour(ui.theme, category);
        const float low = y(below);
        below += bytes;
        const float high = y(below);
        const bool always = category == MemoryCategory::data || category == MemoryCategory::parameters ||
                            category == MemoryCategory::copies || category == MemoryCategory::optimizer;
        draw.AddRectFilled({left, high}, {right, low}, faded(colour, always ? 0.8f : 0.14f));
        draw.AddLine({left, high}, {right, high}, ui.theme.panel, ui.line());
        const float middle = (low + high) / 2 - line / 2;
        if (const float at = std::min(middle, lastName - line); low - high > ui.px(3) && at > top - line) {
            const std::string fitting = fittedText(lockstep::name(category), names - ui.px(6));
            draw.AddText({left - ui.px(6) - lettersWidth(fitting), at}, ui.theme.text, fitting.c_str());
            lastName = at;
        }
        if (hovered && mouse.x >= left && mouse.y <= low && mouse.y > high)
            detail = Detail{.title = std::string(translated(lockstep::name(category))),
                            .values = {{"allocated", binaryBytes(bytes)}}};
    }
    for (const StoredTensor& tensor : forecast.tensors.rows()) {
        const MemoryCategory category = categoryOf(tensor.arena);
        if (of(forecast.own, category) == 0 || tensor.arena == TensorArena::hostActivations)
            continue; // it is in the host's memory
        const std::uint64_t from = bases[static_cast<std::size_t>(category)] +
                                   beforeArena(forecast.tensors, tensor.arena) + tensor.offset;
        const float low = y(from);
        const float high = std::min(y(from + forecast.usedBytes(tensor)), low - 1);
        for (const Lifetime& life : tensor.lifetimes) {
            const float begin = x(tensor.trains ? 0 : life.first);
            const float end = tensor.trains ? right : x(life.last + 1);
            const bool here =
                hovered && mouse.x >= begin && mouse.x < end && mouse.y <= low && mouse.y > high;
            if (!tensor.trains || here)
                draw.AddRectFilled({begin, high}, {end, low},
                                   here ? ui.theme.text : tensorColour(ui.theme, tensor));
            if (low - high >= ui.px(4) && !here)
                draw.AddRect({begin, high}, {end, low}, ui.theme.panel, 0, 0, ui.line());
            if (!here) continue;
            detail = Detail{.title = titleOf(tensor.id),
                            .values = {{"shape", fmt::format("{} × {}", grouped(forecast.usedRows(tensor)),
                                                             grouped(tensor.columns))},
                                       {"format", tensor.format == NumberFormat::fp16 ? "fp16" : "fp32"},
                                       {"size", binaryBytes(forecast.usedBytes(tensor))},
                                       {"first needed by", operationText(operations[life.first])},
                                       {"last needed by", operationText(operations[life.last])}},
                            .text = wordsOfTensor(tensor.id.kind),
                            .atOnce = true};
        }
    }
    // Which operation is under way, below.
    const float stripTop = base + ui.px(4);
    float drawn = left - 1; // of many operations, one per pixel is drawn
    for (std::size_t at = 0; at < operations.size(); ++at) {
        const ImVec2 min{x(at), stripTop};
        const ImVec2 max{x(at + 1), stripTop + strip};
        if (max.x < drawn + 1) continue;
        drawn = max.x;
        fillOperation(ui, draw, min, max, operations[at].operation);
        if (hovered && mouse.x >= min.x && mouse.x < max.x && mouse.y >= stripTop &&
            mouse.y < base + strip + ui.px(4))
            detail = Detail{.title = operationText(operations[at]),
                            .values = {{"needed at once", binaryBytes(forecast.needed[at])}},
                            .text = std::string(rowOf(operations[at].operation).purpose)};
    }
    // Names of stretches: "forward", "backward", as far as they have room. Copies are parts of these.
    const auto stretch = [&](std::size_t at) {
        const Operation shown = rowOf(operations[at].operation).shownAs;
        if (shown == Operation::storeActivations) return std::string_view(wordsOf(Operation::dense).label);
        return shown == Operation::denseBackwardInputs || shown == Operation::denseBackwardWeights ||
                       shown == Operation::fetchActivations
                   ? std::string_view("backward")
                   : std::string_view(wordsOf(operations[at].operation).label);
    };
    float free = left;
    for (std::size_t at = 0; at < operations.size();) {
        std::size_t end = at + 1;
        while (end < operations.size() && stretch(end) == stretch(at)) ++end;
        const float width = textWidth(stretch(at));
        if (const float centre = (x(at) + x(end)) / 2;
            centre - width / 2 >= free && centre + width / 2 <= right) {
            drawText(draw, {centre - width / 2, stripTop + strip + ui.px(2)}, ui.theme.muted, stretch(at));
            free = centre + width / 2 + ui.px(8);
        }
        at = end;
    }
    if (const std::uint64_t budget = model.budget(); budget > 0 && budget < forecast.bytes()) {
        draw.AddRectFilled({left, top}, {right, y(budget)}, faded(ui.theme.bad, 0.12f));
        drawBudgetLine(ui, model, left, right, y(budget));
    }
    if (detail) ui.detail(std::move(*detail));
}

} // namespace lockstep::demos
